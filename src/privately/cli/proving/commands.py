"""The commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privately.errors import InvalidParameter, NotSupported

if TYPE_CHECKING:
    from privately.proving import Analysis, Program
    from privately.proving.verdicts import Verdict

File = Annotated[Path, typer.Argument(help="A program: a restricted Python function, or While text.")]
NeighborsOption = Annotated[
    list[str] | None, typer.Option("--neighbors", help="How neighbours differ, such as d=replaced(0,1). Repeatable.")
]
PublicOption = Annotated[
    list[str] | None, typer.Option("--public", help="A public value, such as epsilon=1 or p=inside(0,1/2). Repeatable.")
]
SizeOption = Annotated[list[int] | None, typer.Option("--size", help="A length of private lists. Repeatable.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

PAGE_WORK, PAGE_SECONDS = 1_000_000, 2.0
"""What a page may take beside the verdict."""


def prove(
    file: File,
    *,
    claim: Annotated[
        str, typer.Option("--claim", help="A formula for epsilon, such as 2*epsilon or ln(3).")
    ] = "epsilon",
    neighbors: NeighborsOption = None,
    public: PublicOption = None,
    size: SizeOption = None,
    as_json: JsonOption = False,
    page: Annotated[Path | None, typer.Option("--html", help="Write a page with the trees and the curve.")] = None,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="Save the certificate of a proof.")] = None,
) -> None:
    """Prove that a program keeps a claim, or refute it.

    Exit code 0 when it is proved, 1 when it is refuted or unknown, 2 when it cannot be read.

    Example: privately prove response.txt --claim "ln(3)" --neighbors "F(x)=replaced(0,1)"
    """
    from privately import proving
    from privately.cli.proving import asking, telling

    known: dict[str, Any] = {
        "neighbors": asking.neighborhoods(neighbors or []),
        "public": asking.public_values(public or []),
    }
    program = proving.read_program(file)
    verdict = proving.prove(program, claim, sizes=size or None, **known)
    if certificate is not None:
        _save(verdict, certificate)
    if page is not None:
        from privately.cli.proving.page import page as written

        _write(page, written(verdict, _analysis(program, size, known), program.source, file.name))
    print(telling.verdict_json(verdict) if as_json else telling.verdict_text(verdict))
    raise typer.Exit(0 if isinstance(verdict, proving.Proved) else 1)


def analyze(
    file: File,
    *,
    neighbors: NeighborsOption = None,
    public: PublicOption = None,
    size: SizeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Analyse a finite program exactly: laws of its outputs, tight epsilon, curve.

    Example: privately analyze response.txt --neighbors "F(x)=replaced(0,1)"
    """
    from privately import proving
    from privately.cli.proving import asking, telling

    found = proving.analyze(
        file,
        neighbors=asking.neighborhoods(neighbors or []),
        public=asking.public_values(public or []),
        sizes=size or None,
    )
    print(telling.analysis_json(found) if as_json else telling.analysis_text(found))


def _save(verdict: Verdict, path: Path) -> None:
    """The certificate of a proof; where nothing is proved, a word that there is none."""
    from privately.proving import Proved

    if not isinstance(verdict, Proved):
        print(f"there is no certificate: the claim is {verdict.word}.", file=sys.stderr)
        return
    if verdict.certificate is None:
        raise InvalidParameter("certificate", f"there is none: {verdict.uncertified}")
    verdict.certificate.save(path)


def _analysis(program: Program, size: list[int] | None, known: dict[str, Any]) -> Analysis | None:
    """The analysis for the page, if the program is finite and it takes little."""
    from privately import proving
    from privately.proving.exact.budgets import Budget

    try:
        asked = proving.analyze(program, sizes=size or None, **known).asked
        found = proving.Analysis(asked, Budget(PAGE_WORK, seconds=PAGE_SECONDS, renewed=True))
        _ = found.epsilon if asked.open_parameter is None else found.pieces
    except NotSupported:
        return None
    return found


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter("html", f"{path} cannot be written: {error.strerror}.") from None
