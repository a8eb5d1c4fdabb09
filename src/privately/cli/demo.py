"""`privately demo`: the main job, shown on an example."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from privately.certificates import Certificate, certify, check
from privately.certificates.checker import canonical_bytes, content_hash
from privately.cli.checking import show
from privately.errors import CertificateInvalid, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, Derivation, FiniteMechanism, GaussianDP, Neighbors, PureDP, rules
from privately.guarantees.finite import Input

DELTA = "1e-6"
QUESTIONS = 100


def demo(
    save: Annotated[Path | None, typer.Option("--save", help="Keep the certificate in this file.")] = None,
) -> None:
    """Show composition and a checked certificate.

    Example: privately demo --save certificate.json
    """
    console = Console(highlight=False, soft_wrap=True)
    survey = randomized_response()
    one = rules.finite_table(survey, neighbors=Neighbors.REPLACE)
    console.print("[bold]1. A survey by randomized response[/]: the truth with probability 21/40, a lie otherwise.")
    console.print(f"   Comparing all neighbours exactly: {one.conclusion}\n")
    tightest = compose(console, one)
    keep_and_check(console, tightest, save)
    refuse(console, one)


def randomized_response() -> FiniteMechanism:
    """A yes-no question answered truthfully with probability 21/40."""

    def law(data: Input) -> dict[str, str]:
        other = "no" if data[0] == "yes" else "yes"
        return {data[0]: "21/40", other: "19/40"}

    return FiniteMechanism.tabulate(law, records=["yes", "no"], sizes=[1])


def compose(console: Console, one: Derivation) -> Derivation:
    """The same hundred questions, accounted for in five ways; returns the best."""
    counts = [QUESTIONS]
    basic = rules.sequential(one, counts=counts)
    ways = {
        "basic composition (delta = 0)": basic,
        "advanced composition": rules.advanced_composition(one, counts=counts, slack=DELTA),
        "zero-concentrated": rules.convert(
            rules.sequential(rules.convert(one, ZCDP), counts=counts), ApproxDP, delta=DELTA
        ),
        "Gaussian": rules.convert(
            rules.sequential(rules.convert(one, GaussianDP), counts=counts), ApproxDP, delta=DELTA
        ),
        "optimal composition": rules.optimal_composition(one, counts=counts, delta=DELTA),
    }
    table = Table(title=f"2. {QUESTIONS} such questions to the same person", title_justify="left", title_style="bold")
    table.add_column("by")
    table.add_column(f"epsilon at delta {DELTA}, at most", justify="right")
    table.add_column("steps", justify="right")
    for name, way in ways.items():
        epsilon = way.conclusion.parameters["epsilon"]
        table.add_row(name, f"{float(epsilon):.4f}", str(len(way.nodes())))
    console.print(table)
    return ways["optimal composition"]


def keep_and_check(console: Console, derivation: Derivation, save: Path | None) -> None:
    """Writes the certificate, checks the file, and shows that a better claim is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = save or Path(folder) / "certificate.json"
        certify(derivation).save(path)
        console.print(f"\n[bold]3. The certificate[/], {path.stat().st_size} bytes, checked without our code:")
        show(check(path), console)
    console.print("\n[bold]4. The same certificate claiming half the epsilon[/], its hash made right again:")
    try:
        check(forged(certify(derivation)))
    except CertificateInvalid as fault:
        console.print(f"[bold red]refused[/]: {fault}")


def forged(certificate: Certificate) -> Certificate:
    """The certificate with its claimed epsilon halved and its hash recomputed."""
    data = json.loads(certificate.document)
    claim = data["nodes"][-1]["conclusion"]
    claim["epsilon"] = str(certificate.guarantee.parameters["epsilon"] / 2)
    del data["hash"]
    return Certificate(canonical_bytes({**data, "hash": content_hash(data)}))


def refuse(console: Console, one: Derivation) -> None:
    """A false step has no rule."""
    console.print("\n[bold]5. What is false cannot be derived[/]: the same guarantee for adding and removing people?")
    try:
        rules.convert(one, PureDP, neighbors=Neighbors.ADD_REMOVE)
    except NoSuchRule as fault:
        console.print(f"[bold red]refused[/]: {fault}")
