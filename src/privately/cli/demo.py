"""`privately demo`: the main job, shown on an example."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from privately.certificates.files import write_whole
from privately.cli.account.numbers import options
from privately.errors import InvalidParameter


def demo(
    *,
    out: Annotated[Path, typer.Option("--out", help="The HTML file to write.")] = Path("privately-demo/report.html"),
    composition: Annotated[
        bool, typer.Option("--composition", help="Show how guarantees compose instead, without SQL.")
    ] = False,
    save: Annotated[Path | None, typer.Option("--save", help="Keep the certificate in this file, too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Ask a made-up hospital five questions privately, and write a report with pictures.

    Example: privately demo --out report.html
    """
    if composition:
        from privately.cli.demonstrating.composition import show_composition

        show_composition(save=save, as_json=as_json)
    else:
        show_hospital(out, save=save, as_json=as_json)


def show_hospital(out: Path, *, save: Path | None = None, as_json: bool = False, rows: int | None = None) -> None:
    """The hospital's story on the terminal, and as a page."""
    from privately.cli.demonstrating.hospital import ROWS
    from privately.cli.demonstrating.page import page
    from privately.cli.demonstrating.story import happened
    from privately.cli.sql.telling import say

    start = time.perf_counter()
    if out.suffix.lower() != ".html":
        raise InvalidParameter("--out", f"{out.name!r} must end in .html.")
    try:
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InvalidParameter("--out", f"cannot make {str(out.parent)!r}: {fault.strerror}.") from None
    number = 0

    def tell(title: str, text: str) -> None:
        nonlocal number
        number += 1
        if not as_json:
            say(f"{number}. {title}\n" + "\n".join(f"   {line}".rstrip() for line in text.splitlines()) + "\n")

    with tempfile.TemporaryDirectory(prefix="privately-demo-") as folder:
        certificate = Path(folder) / "certificate.json"
        story = happened(Path(folder), certificate, tell, rows or ROWS)
        proof = certificate.read_bytes()
    with options({"path": "--out"}):
        write_whole(out, page(story).encode())
    if save is not None:
        with options({"path": "--save"}):
            write_whole(save, proof)
    if as_json:
        answers = [{"sql": told.question.sql, "rows": told.result.to_dicts()} for told in story.answers]
        print(json.dumps({"answers": answers, "refused": story.refused, "checked": story.checked, "report": str(out)}))
    else:
        say(f"The report with pictures: {out} ({time.perf_counter() - start:.0f} s)")
