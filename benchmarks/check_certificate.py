"""Claim: checking a certificate of 1,000 nodes costs less than 0.2 s of CPU, start and imports included.

Measured three ways: the single file that a stranger runs, the library's `privately.check`, and the checker's package.

The certificate uses every rule with premises that can lead to one claim about replacing a row: all but `bounded_unit`.
Its numbers differ from block to block, so that nothing is found in a cache. Claims are a little larger than what the
rules give.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from math import exp, expm1, log, sqrt, tanh
from pathlib import Path
from statistics import NormalDist

from benchmarks.harness import compare, report
from tools.build_checker import SOURCE, archive

ROUNDS = 15
TARGET_SECONDS = 0.2
BARE = "bare python"
BLOCK = 25
SMALL = 1e-8

Statement = dict[str, object]
Node = dict[str, object]


def neighbors(change: str, size: int = 1) -> dict[str, object]:
    return {"change": change, "size": size, "unit": None, "max_rows": None}


def above(value: float) -> str:
    """A short rational a little larger."""
    return str(Fraction(f"{value * (1 + 1e-5) + 1e-300:.8e}"))


def statement(kind: str, change: str = "add_remove", size: int = 1, **numbers: float) -> Statement:
    written = {name: above(value) for name, value in numbers.items()}
    return {"kind": kind, "neighbors": neighbors(change, size), **written}


class Builder:
    """Collects nodes and gives each its place."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def add(
        self,
        rule: str,
        premises: Sequence[int],
        conclusion: Statement,
        parameters: dict[str, object] | None = None,
        witness: dict[str, object] | None = None,
    ) -> int:
        node = {"rule": rule, "premises": list(premises), "conclusion": conclusion}
        self.nodes.append({**node, "parameters": parameters or {}, "witness": witness or {}})
        return len(self.nodes) - 1


def response(build: Builder, change: str, lie: Fraction) -> int:
    """Randomized response on one row, or on the presence of a row."""
    truth = [["yes", str(1 - lie)], ["no", str(lie)]]
    other = [["yes", str(lie)], ["no", str(1 - lie)]]
    inputs = [["a"], ["b"]] if change == "replace" else [["a"], []]
    parameters: dict[str, object] = {
        "records": ["a", "b"] if change == "replace" else ["a"],
        "sizes": [1] if change == "replace" else [0, 1],
        "table": [{"input": inputs[0], "law": truth}, {"input": inputs[1], "law": other}],
    }
    return build.add("finite_table", [], statement("PureDP", change, epsilon=log((1 - lie) / lie)), parameters)


def renyi_epsilon(order: float, divergence: float, delta: float) -> float:
    return divergence + log((order - 1) / order) - (log(delta) + log(order)) / (order - 1)


def conversions(build: Builder, pure: int, epsilon: float) -> list[int]:
    """Four ways from a pure guarantee to an approximate one: 9 nodes, the last of each way returned."""
    rho = epsilon * tanh(epsilon / 2) * (1 + 1e-4)
    mu = -2 * NormalDist().inv_cdf(1 / (1 + exp(epsilon))) * (1 + 1e-4)
    orders = [1.5, 2, 4, 8, 16, 32, 64, 256]
    zcdp = build.add("pure_to_zcdp", [pure], statement("ZCDP", rho=rho))
    gaussian = build.add("pure_to_gaussian", [pure], statement("GaussianDP", mu=mu))
    renyi_statement: Statement = {"kind": "RenyiDP", "neighbors": neighbors("add_remove")}
    once = {**renyi_statement, "bounds": [[str(Fraction(a)), above(a * rho * 1.001)] for a in orders]}
    twice = {**renyi_statement, "bounds": [[str(Fraction(a)), above(a * rho * 2.01)] for a in orders]}
    renyi = build.add("zcdp_to_renyi", [zcdp], once)
    both = build.add("sequential", [renyi, renyi], twice, {"counts": [1, 1]})
    wanted = statement("ApproxDP", epsilon=renyi_epsilon(32, 32 * rho * 2.02, SMALL), delta=SMALL)
    ends = [build.add("renyi_to_approx", [both], wanted, witness={"order": "32"})]
    order = 1 + sqrt(log(1 / SMALL) / rho)
    found = renyi_epsilon(order, order * rho * 1.001, SMALL)
    witness: dict[str, object] = {"order": str(Fraction(order).limit_denominator(1000))}
    wanted = statement("ApproxDP", epsilon=found * 1.01, delta=SMALL)
    ends.append(build.add("zcdp_to_approx", [zcdp], wanted, witness=witness))
    ends.append(build.add("gaussian_to_approx", [gaussian], statement("ApproxDP", epsilon=mu * 6, delta=SMALL)))
    other = build.add("gaussian_to_zcdp", [gaussian], statement("ZCDP", rho=mu * mu / 2 * 1.001))
    wanted = statement("ApproxDP", epsilon=found * 2, delta=SMALL)
    ends.append(build.add("zcdp_to_approx", [other], wanted, witness=witness))
    return ends


def compositions(build: Builder, premises: Sequence[int], sample: int, epsilon: float, sampled: float) -> list[int]:
    """Optimal composition of 80 sampled answers, advanced composition of 10 others: 2 nodes."""
    witness: dict[str, object] = {"unit": above(sampled * 1.001), "multiples": [1, 2]}
    wanted = statement("ApproxDP", epsilon=66 * sampled, delta=2 * SMALL)
    optimal = build.add("optimal_composition", [sample, sample], wanted, {"counts": [60, 20]}, witness)
    spread = sqrt(2 * log(1 / SMALL) * 10) * epsilon
    wanted = statement("ApproxDP", epsilon=(10 * epsilon * tanh(epsilon / 2) + spread) * 1.01, delta=2 * SMALL)
    parameters: dict[str, object] = {"counts": [5, 5], "slack": str(Fraction(f"{SMALL}"))}
    return [optimal, build.add("advanced_composition", premises, wanted, parameters)]


def block(build: Builder, number: int) -> int:
    """25 nodes that use every rule; the last is about replacing a row."""
    lie = Fraction(45, 100) - Fraction(number, 10_000)
    epsilon = log((1 - lie) / lie) * (1 + 1e-4)
    local, central = response(build, "replace", lie), response(build, "add_remove", lie)
    tidy = build.add("postprocessing", [central], statement("PureDP", epsilon=epsilon), {"description": "rounded"})
    approx = build.add("weaken", [tidy], statement("ApproxDP", epsilon=epsilon * 1.001, delta=1e-12))
    rate = Fraction(1, 7 + number)
    sampled = log(1 + float(rate) * expm1(epsilon)) * 1.001
    sample = build.add("poisson_sampling", [central], statement("PureDP", epsilon=sampled), {"rate": str(rate)})
    total = statement("PureDP", epsilon=epsilon * 4)
    together = build.add("sequential", [central, tidy, sample], total, {"counts": [1, 2, 1]})
    ends = conversions(build, central, epsilon) + compositions(build, [central, approx], sample, epsilon, sampled)
    largest = max(float(Fraction(str(build.nodes[end]["conclusion"]["epsilon"]))) for end in ends)  # type: ignore[index]
    parts = build.add("parallel_by_value", ends, statement("ApproxDP", epsilon=largest, delta=3 * SMALL))
    pair = statement("ApproxDP", size=2, epsilon=2 * largest * 1.001, delta=4 * SMALL * (1 + exp(largest)))
    two = build.add("group", [parts], pair, {"size": 2})
    deltas = 5 * SMALL * (1 + exp(largest))
    one = build.add("weaken", [two], statement("ApproxDP", epsilon=2.01 * largest, delta=deltas))
    replaced = statement("ApproxDP", "replace", epsilon=4.1 * largest, delta=2 * deltas * exp(2.1 * largest))
    central_part = build.add("add_remove_to_replace", [one], replaced)
    drawn = build.add(
        "sampling_without_replacement",
        [local],
        statement("PureDP", "replace", epsilon=log(1 + 0.3 * expm1(epsilon)) * 1.001),
        {"sample": 3, "population": 10},
    )
    halves = build.add("parallel_by_position", [local, drawn], statement("PureDP", "replace", epsilon=epsilon * 1.001))
    groups = build.add(
        "parallel_by_value_replace",
        [together, central, halves, local],
        statement("PureDP", "replace", epsilon=epsilon * 6),
    )
    everything = statement(
        "ApproxDP", "replace", epsilon=4.2 * largest + 12.1 * epsilon, delta=3 * deltas * exp(2.1 * largest)
    )
    return build.add("sequential", [central_part, groups], everything, {"counts": [1, 2]})


def certificate(blocks: int, nodes: int) -> bytes:
    """The canonical bytes of a certificate of so many blocks and nodes."""
    build = Builder()
    ends = [block(build, number) for number in range(blocks)]
    claim: Statement = {"kind": "ApproxDP", "neighbors": neighbors("replace"), "epsilon": "1000000", "delta": "1"}
    build.add("sequential", ends, claim, {"counts": [1] * len(ends)})
    while len(build.nodes) < nodes:
        build.add("postprocessing", [len(build.nodes) - 1], claim, {"description": "a table"})
    content = {"schema": "privately.certificate/1", "subject": None, "nodes": build.nodes}
    return _canonical({**content, "hash": "sha256:" + sha256(_canonical(content)).hexdigest()})


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path, single = Path(folder) / "certificate.json", Path(folder) / "check.pyz"
        path.write_bytes(certificate(blocks=39, nodes=1000))
        single.write_bytes(archive(SOURCE))
        library = f"import privately; privately.check({str(path)!r})"
        commands = {
            BARE: [sys.executable, "-c", "pass"],
            "check.pyz, 1,000 nodes": [sys.executable, str(single), str(path)],
            "privately.check, 1,000 nodes": [sys.executable, "-c", library],
            "checker package, 1,000 nodes": [sys.executable, "-m", "privately.certificates.checker", str(path)],
        }
        rows = compare(commands, base=BARE, rounds=ROUNDS)
    report("check_certificate", rows)
    slowest = max(row.cpu_seconds for row in rows)
    print(f"slowest: {slowest:.3f} s of CPU, target {TARGET_SECONDS} s")
    return 0 if slowest < TARGET_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
