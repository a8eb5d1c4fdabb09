"""Small mechanisms written out in full, the mechanisms that the rules speak of built from them, and neighbours.

A table gives the exact law of every data set, and a data set is a tuple of records, as in `FiniteMechanism`. With
units, the first character of a record names the unit that it belongs to. Nothing here knows a rule. Which statements
a mechanism refutes is decided in `tests.guarantees.rules.refutation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

from hypothesis import strategies as st

from privately.guarantees import FiniteMechanism, Neighbors

Data = tuple[str, ...]
Law = Mapping[Any, Fraction]
Table = Mapping[Data, Law]
Pair = tuple[Law, Law]

WEIGHTS = {
    "ordinary": st.integers(1, 9),
    "nearly equal": st.integers(97, 103),
    "extreme": st.sampled_from([1, 10, 1000, 10**6]),
    "with zeros": st.integers(0, 3),
}


# Laws and tables


def normalised(weights: Sequence[int], outcomes: Sequence[Any] | None = None) -> dict[Any, Fraction]:
    """The law with these weights; outcomes without any are left out."""
    names = [f"o{i}" for i in range(len(weights))] if outcomes is None else outcomes
    total = sum(weights)
    return {name: Fraction(weight, total) for name, weight in zip(names, weights, strict=True) if weight}


def data_sets(records: Sequence[str], sizes: Iterable[int]) -> list[Data]:
    return [data for size in sizes for data in product(records, repeat=size)]


@st.composite
def tables(
    draw: st.DrawFn, records: Sequence[str], sizes: Sequence[int], *, outcomes: int = 2, zeros: bool = False
) -> dict[Data, dict[Any, Fraction]]:
    """Random laws of up to `outcomes` outcomes (at least 2); with `zeros`, some outcomes are impossible somewhere."""
    flavour = "with zeros" if zeros else draw(st.sampled_from(["ordinary", "nearly equal", "extreme"]))
    count = draw(st.integers(2, outcomes))
    inputs = data_sets(records, sizes)
    weights = st.lists(WEIGHTS[flavour], min_size=count, max_size=count).filter(any)
    drawn = draw(st.lists(weights, min_size=len(inputs), max_size=len(inputs)))
    return {data: normalised(listed) for data, listed in zip(inputs, drawn, strict=True)}


@st.composite
def stochastic_maps(draw: st.DrawFn, outcomes: Sequence[Any], *, images: int = 3) -> dict[Any, Law]:
    """A random law on `images` outcomes for each of the outcomes."""
    weights = st.lists(st.integers(0, 4), min_size=images, max_size=images).filter(any)
    return {outcome: normalised(draw(weights)) for outcome in outcomes}


def mechanism(table: Table) -> FiniteMechanism:
    """As the library takes it: outcomes become texts."""
    records = sorted({record for data in table for record in data})
    sizes = sorted({len(data) for data in table})
    laws = {data: {str(outcome): mass for outcome, mass in law.items()} for data, law in table.items()}
    return FiniteMechanism(records=tuple(records), sizes=tuple(sizes), table=laws)


def symmetric(table: Table) -> Table:
    """The same mechanism on the sorted data: the order of the rows no longer matters."""
    return {data: table[tuple(sorted(data))] for data in table}


def response(ratio: Fraction | int, *, records: Sequence[str] = ("0", "1")) -> Table:
    """Randomized response of one record: the truth is `ratio` times as likely as each other answer."""
    ratio = Fraction(ratio)
    lie = 1 / (ratio + len(records) - 1)
    return {(truth,): {said: lie * (ratio if said == truth else 1) for said in records} for truth in records}


def present(ratio: Fraction | int, *, records: Sequence[str] = ("0",), most: int = 1) -> Table:
    """How many rows there are, by randomized response that moves by one `ratio` for each row."""
    inputs = data_sets(records, range(most + 1))
    return {data: clamped_noise(len(data), ratio, range(most + 1)) for data in inputs}


def clamped_noise(value: int, ratio: Fraction | int, allowed: range) -> dict[Any, Fraction]:
    """value + noise, clamped to `allowed`: the noise is k with probability in proportion to ratio^-|k|."""
    shrink = 1 / Fraction(ratio)
    scale = (1 - shrink) / (1 + shrink)
    least, most = allowed[0], allowed[-1]
    assert least <= value <= most
    law = {k: scale * shrink ** abs(k - value) for k in allowed if least < k < most}
    for end in (least, most):
        law[end] = shrink ** abs(end - value) / (1 + shrink)
    return law


def size_table(records: Sequence[str], most: int) -> Table:
    """M(x) = size(x), with no noise at all."""
    return {data: {len(data): Fraction(1)} for data in data_sets(records, range(most + 1))}


# Mechanisms made of mechanisms


def joint(laws: Sequence[Law]) -> dict[Any, Fraction]:
    """Independent outcomes, as a tuple."""
    found: dict[Any, Fraction] = {(): Fraction(1)}
    for law in laws:
        found = {(*before, o): mass * law[o] for before, mass in found.items() for o in law}
    return found


def mixture(parts: Iterable[tuple[Fraction, Law]]) -> dict[Any, Fraction]:
    found: dict[Any, Fraction] = {}
    for weight, law in parts:
        for outcome, mass in law.items():
            if weight * mass:
                found[outcome] = found.get(outcome, Fraction(0)) + weight * mass
    return found


def adaptive(first: Table, second: Callable[[Any], Table]) -> Table:
    """Both outcomes; which second mechanism runs depends on the first outcome."""
    return {
        data: {(a, b): mass * then for a, mass in law.items() for b, then in second(a)[data].items()}
        for data, law in first.items()
    }


def postprocessed(table: Table, stochastic: Mapping[Any, Law]) -> Table:
    return {data: mixture((mass, stochastic[o]) for o, mass in law.items()) for data, law in table.items()}


def by_position(parts: Sequence[Table]) -> Table:
    """The data is cut in runs, as long as each part's own data sets, and every part answers its run."""
    runs = list(product(*parts))
    return {sum(run, ()): joint([part[piece] for part, piece in zip(parts, run, strict=True)]) for run in runs}


def by_value(parts: Sequence[Table], route: Mapping[str, int], inputs: Iterable[Data]) -> Table:
    """Every record goes to the part that `route` gives it."""

    def law(data: Data) -> Law:
        pieces = [tuple(record for record in data if route[record] == i) for i in range(len(parts))]
        return joint([part[piece] for part, piece in zip(parts, pieces, strict=True)])

    return {data: law(data) for data in inputs}


def revealing(table: Table, delta: Fraction) -> Table:
    """Tells everything with probability delta."""
    return {data: mixture([(delta, {("all", data): Fraction(1)}), (1 - delta, law)]) for data, law in table.items()}


def poisson_sampled(table: Table, rate: Fraction, inputs: Iterable[Data], *, units: bool = False) -> Table:
    """The mechanism sees each row (with `units`, each unit with all its rows) with probability `rate`."""

    def law(data: Data) -> Law:
        owner = [record[0] if units else str(place) for place, record in enumerate(data)]
        names = sorted(set(owner))
        choices = [chosen for size in range(len(names) + 1) for chosen in combinations(names, size)]
        return mixture(
            (
                rate ** len(chosen) * (1 - rate) ** (len(names) - len(chosen)),
                table[tuple(record for record, own in zip(data, owner, strict=True) if own in chosen)],
            )
            for chosen in choices
        )

    return {data: law(data) for data in inputs}


def sampled_without_replacement(table: Table, sample: int, inputs: Iterable[Data], *, in_order: bool = False) -> Table:
    """`sample` of the rows, all choices alike, in random order or in the order of the data."""

    def law(data: Data) -> Law:
        choose = combinations if in_order else permutations
        drawn = list(choose(data, sample))
        return mixture((Fraction(1, len(drawn)), table[tuple(rows)]) for rows in drawn)

    return {data: law(data) for data in inputs}


# Neighbours


def neighbour_pairs(table: Table, neighbors: Neighbors) -> list[Pair]:
    """The laws of all data sets that differ by 1 to `size` changes, each unordered pair once, equal laws left out."""
    inputs = [data for data in table if _admissible(data, neighbors)]
    edges = _single_changes(inputs, neighbors)
    rank = {data: i for i, data in enumerate(inputs)}
    return [
        (table[data], table[other])
        for data in inputs
        for other in _within(data, edges, neighbors.size)
        if rank[other] > rank[data] and table[data] != table[other]
    ]


def _admissible(data: Data, neighbors: Neighbors) -> bool:
    if neighbors.unit is None or neighbors.max_rows is None:
        return True
    units = [record[0] for record in data]
    return all(units.count(unit) <= neighbors.max_rows for unit in set(units))


def _single_changes(inputs: Sequence[Data], neighbors: Neighbors) -> dict[Data, set[Data]]:
    edges: dict[Data, set[Data]] = {data: set() for data in inputs}
    if neighbors.change == "add_remove":
        for data in inputs:
            for shorter in _removals(data, neighbors):
                edges[data].add(shorter)
                edges[shorter].add(data)
        return edges
    for data, other in combinations(inputs, 2):
        if _replaced(data, other, neighbors):
            edges[data].add(other)
            edges[other].add(data)
    return edges


def _removals(data: Data, neighbors: Neighbors) -> set[Data]:
    """The data sets that one removal leaves."""
    if neighbors.unit is None:
        return {data[:place] + data[place + 1 :] for place in range(len(data))}
    return {tuple(record for record in data if record[0] != unit) for unit in {record[0] for record in data}}


def _replaced(data: Data, other: Data, neighbors: Neighbors) -> bool:
    """Whether one replacement leads from one to the other: of a row in its place, of a unit with all its rows."""
    if neighbors.unit is None:
        return len(data) == len(other) and sum(a != b for a, b in zip(data, other, strict=True)) == 1
    return bool(_removals(data, neighbors) & _removals(other, neighbors))


def _within(data: Data, edges: Mapping[Data, set[Data]], size: int) -> set[Data]:
    seen, border = {data}, {data}
    for _ in range(size):
        border = {step for reached in border for step in edges[reached]} - seen
        seen |= border
    return seen
