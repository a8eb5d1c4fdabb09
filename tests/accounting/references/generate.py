"""Reference values of epsilon(delta), by mpmath and Arb, which share nothing with the library: no code, no import.

    python -m tests.accounting.references.generate                     all cases, about an hour on one core
    python -m tests.accounting.references.generate laplace mixture     only these families (or texts); others stay

Writes references.csv beside this file: family, text, event (the JSON encoding of events), delta, epsilon,
error (a bound on |epsilon - truth|; an estimate from two resolutions where the method is an integral), method.
Methods: closed forms in 60 digits and exact sums (exact.py), tail integrals in 50 digits (inversion.py),
recursion over the steps in real space (recursion.py). Sampled events: the larger of both directions.
"""

import csv
import json
import sys
import time
from fractions import Fraction
from pathlib import Path

from tests.accounting.references.grid import Case, cases

FILE = Path(__file__).with_name("references.csv")
FIELDS = ["family", "text", "event", "delta", "epsilon", "error", "method"]


def rows(case: Case) -> list[dict[str, str]]:
    answers = case.solve([Fraction(delta) for delta in case.deltas])
    event = json.dumps({"version": 1, "event": case.event}, sort_keys=True, separators=(",", ":"))
    shared = {"family": case.family, "text": case.text, "event": event, "method": case.method}
    return [
        shared | {"delta": delta, "epsilon": epsilon, "error": error}
        for delta, (epsilon, error) in zip(case.deltas, answers, strict=True)
    ]


def stored() -> dict[tuple[str, str], list[dict[str, str]]]:
    """The rows that are there, by family and text."""
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    if FILE.exists():
        with FILE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found.setdefault((row["family"], row["text"]), []).append(row)
    return found


def store(fresh: dict[tuple[str, str], list[dict[str, str]]], order: list[Case]) -> None:
    """Put fresh rows among those that are there, in the order of the grid."""
    merged = stored() | fresh
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for case in order:
            writer.writerows(merged.get((case.family, case.text), []))


def main(names: list[str]) -> None:
    everything = cases()
    for case in everything:
        if names and case.family not in names and case.text not in names:
            continue
        start = time.process_time()
        fresh = rows(case)
        store({(case.family, case.text): fresh}, everything)
        worst = max(float(row["error"]) / max(float(row["epsilon"]), 1e-9) for row in fresh)
        print(f"{case.text:60} {worst:.0e} {time.process_time() - start:8.1f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
