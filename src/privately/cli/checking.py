"""`privately check FILE`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from privately.certificates import Report
from privately.certificates import check as check_certificate
from privately.errors import CertificateInvalid


def check(
    file: Annotated[Path, typer.Argument(help="A certificate, such as one saved by release.certificate.save(...).")],
    *,
    allow_assumptions: Annotated[
        bool, typer.Option("--allow-assumptions", help="Accept a certificate that takes something for granted.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check a certificate: derive its claim again, step by step, without the data.

    Exit code 0 when it holds, 2 when it does not or cannot be read.

    Example: privately check release.json
    """
    try:
        report = check_certificate(file, allow_assumptions=allow_assumptions)
    except CertificateInvalid as fault:
        if as_json:
            print(json.dumps({"valid": False, "field": fault.field, "reason": fault.reason}))
        raise
    if as_json:
        print(json.dumps(report.plain(), sort_keys=True))
    else:
        show(report, Console(highlight=False, soft_wrap=True))


def show(report: Report, console: Console) -> None:
    """A report for people."""
    console.print(Text.assemble(("valid", "bold green"), ": ", report.claim_text))
    console.print(f"  derived again in {report.node_count} steps, by {', '.join(report.rules)}")
    if report.plan:
        console.print("  from the table:")
    for step in report.plan:
        console.print(f"    {step}", markup=False)
    for claim in report.claimed:
        console.print("  claimed, not derived from a table:", claim, style="yellow", markup=False)
    for assumption in report.assumptions:
        console.print("  assumed, not proved:", assumption, style="yellow", markup=False)
    console.print("  trusted, not proved:")
    for sentence in report.trusted:
        console.print(f"  - {sentence}", markup=False)
    console.print(f"  {report.hash}", style="dim")
