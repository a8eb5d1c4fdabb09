"""A hundred answers of one person accounted for in five ways, the best of them certified, and two lies refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

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
BEST = "optimal composition"


def show_composition(*, save: Path | None = None, as_json: bool = False) -> None:
    """Composition, and a certificate that is checked; kept in a file, if one is named."""
    one = rules.finite_table(randomized_response(), neighbors=Neighbors.REPLACE)
    ways = compositions(one)
    certificate = certify(ways[BEST])
    if save:
        certificate.save(save)
    if as_json:
        epsilons = {name: float(way.conclusion.parameters["epsilon"]) for name, way in ways.items()}
        print(json.dumps({"epsilon": epsilons, "delta": DELTA, "certificate": check(certificate).plain()}))
    else:
        tell(Console(highlight=False, soft_wrap=True), one, ways, certificate)


def randomized_response() -> FiniteMechanism:
    """A yes-no question answered truthfully with probability 21/40."""

    def law(data: Input) -> dict[str, str]:
        other = "no" if data[0] == "yes" else "yes"
        return {data[0]: "21/40", other: "19/40"}

    return FiniteMechanism.tabulate(law, records=["yes", "no"], sizes=[1])


def compositions(one: Derivation) -> dict[str, Derivation]:
    """The same hundred questions, accounted for in five ways."""
    counts = [QUESTIONS]
    concentrated = rules.sequential(rules.convert(one, ZCDP), counts=counts)
    gaussian = rules.sequential(rules.convert(one, GaussianDP), counts=counts)
    return {
        "basic composition (delta = 0)": rules.sequential(one, counts=counts),
        "Gaussian": rules.convert(gaussian, ApproxDP, delta=DELTA),
        "advanced composition": rules.advanced_composition(one, counts=counts, slack=DELTA),
        "zero-concentrated": rules.convert(concentrated, ApproxDP, delta=DELTA),
        BEST: rules.optimal_composition(one, counts=counts, delta=DELTA),
    }


def tell(console: Console, one: Derivation, ways: dict[str, Derivation], certificate: Certificate) -> None:
    """The story for people."""
    console.print("[bold]1. A survey by randomized response[/]: the truth with probability 21/40, a lie otherwise.")
    console.print(f"   Comparing all neighbours exactly: {one.conclusion}\n")
    console.print(f"[bold]2. {QUESTIONS} such questions to the same person[/]")
    console.print(table_of(ways, bar="█" if "utf" in console.encoding else "#"))
    console.print(
        f"\n[bold]3. The certificate[/] of the last line, {len(certificate.document)} bytes, checked by other code:"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        certificate.save(path)
        show(check(path), console)
    console.print("\n[bold]4. The same certificate claiming half the epsilon[/], its hash made right again:")
    try:
        check(forged(certificate))
    except CertificateInvalid as fault:
        console.print(f"[bold red]refused[/]: {fault}")
    console.print("\n[bold]5. What is false cannot be derived[/]: the same guarantee for adding and removing people?")
    try:
        rules.convert(one, PureDP, neighbors=Neighbors.ADD_REMOVE)
    except NoSuchRule as fault:
        console.print(f"[bold red]refused[/]: {fault}")


def table_of(ways: dict[str, Derivation], bar: str) -> Table:
    """Each way of composing with the epsilon it gives, and a bar to see it by."""
    table = Table("by", f"epsilon at delta {DELTA}, at most", "")
    for name, way in ways.items():
        epsilon = float(way.conclusion.parameters["epsilon"])
        table.add_row(name, f"{epsilon:.4f}", bar * round(2 * epsilon))
    return table


def forged(certificate: Certificate) -> Certificate:
    """The certificate with its claimed epsilon halved and its hash recomputed."""
    data = json.loads(certificate.document)
    claim = data["nodes"][-1]["conclusion"]
    claim["epsilon"] = str(certificate.guarantee.parameters["epsilon"] / 2)
    return Certificate(canonical_bytes({**data, "hash": content_hash(data)}))
