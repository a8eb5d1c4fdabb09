"""Where derivations start: a mechanism given by its finite table, or an assumption."""

from collections.abc import Iterator
from itertools import pairwise
from math import lcm

from ..elementary import OutOfReach, exponential
from ..intervals import enclose
from ..rationals import Rational
from ..schema import Invalid, array, integers, members, rational, show, text
from ..work import Work
from .step import Rule, Step, read_text

INPUTS = 4_096
COMPARISONS = 10**6
DENOMINATOR_BITS = 2**16

Input = tuple[str, ...]
Law = dict[str, int]
Table = dict[Input, list[tuple[str, Rational]]]


def _read_records(value: object, field: str) -> list[str]:
    records = [text(item, f"{field}[{i}]") for i, item in enumerate(array(value, field))]
    if not records or len(set(records)) != len(records):
        raise Invalid(field, "must be distinct texts, at least one")
    return records


def _read_sizes(value: object, field: str) -> list[int]:
    sizes = integers(value, field, least=0)
    if not sizes or any(later <= earlier for earlier, later in pairwise(sizes)):
        raise Invalid(field, "must be strictly increasing, at least one")
    return sizes


def _read_table(value: object, field: str) -> Table:
    rows = array(value, field)
    if len(rows) > INPUTS:
        raise Invalid(field, f"has more than {INPUTS} inputs")
    table: Table = {}
    for i, row in enumerate(rows):
        place = f"{field}[{i}]"
        raw = members(row, _ROW, place)
        records = tuple(text(item, f"{place}.input") for item in array(raw["input"], f"{place}.input"))
        if records in table:
            raise Invalid(f"{place}.input", "is listed twice")
        table[records] = _read_law(raw["law"], f"{place}.law")
    return table


_ROW = frozenset({"input", "law"})


def _read_law(value: object, field: str) -> list[tuple[str, Rational]]:
    law = []
    for j, pair in enumerate(array(value, field)):
        if len(array(pair, f"{field}[{j}]")) != 2:
            raise Invalid(f"{field}[{j}]", "must be a pair of outcome and probability")
        probability = rational(pair[1], f"{field}[{j}][1]")
        if probability.numerator <= 0:
            raise Invalid(f"{field}[{j}][1]", "must be above 0")
        law.append((text(pair[0], f"{field}[{j}][0]"), probability))
    if len({outcome for outcome, _ in law}) != len(law):
        raise Invalid(field, "has an outcome twice")
    return law


def _check_domain(records: list[str], sizes: list[int], table: Table) -> None:
    """Every tuple over the records of every size, each once (the reader has refused repeats)."""
    known, lengths = set(records), set(sizes)
    for place in table:
        if len(place) not in lengths or not known.issuperset(place):
            raise Invalid("parameters.table", f"has the input {show(place)}, which is outside of the domain")
    expected = 0
    for size in sizes:
        expected += 1 if len(records) == 1 else len(records) ** min(size, 13)
    if len(table) != expected:
        raise Invalid("parameters.table", "does not list every input of the domain")


def _pairs(table: Table, records: list[str], change: str) -> Iterator[tuple[Input, Input]]:
    """All neighbouring inputs, each pair once."""
    for place in table:
        for i, record in enumerate(place):
            if change == "replace":
                for other in records[records.index(record) + 1 :]:
                    yield place, (*place[:i], other, *place[i + 1 :])
            elif i == 0 or record != place[i - 1]:  # within a run of equal records all deletions are the same
                yield place, place[:i] + place[i + 1 :]


def _whole_laws(table: Table, work: Work) -> tuple[dict[Input, Law], int]:
    """All probabilities as integers over one common denominator."""
    common = 1
    for bottom in {p.denominator for law in table.values() for _, p in law}:
        work.spend(1 + (common.bit_length() * bottom.bit_length() >> 18))
        common = lcm(common, bottom)
        if common.bit_length() > DENOMINATOR_BITS:
            raise Invalid("parameters.table", "has probabilities without a common denominator of 65,536 bits")
    laws = {}
    work.spend(sum(map(len, table.values())) * (1 + common.bit_length() // 1024))
    for i, (place, law) in enumerate(table.items()):
        laws[place] = {outcome: p.numerator * (common // p.denominator) for outcome, p in law}
        if sum(laws[place].values()) != common:
            raise Invalid(f"parameters.table[{i}].law", "does not sum to 1")
    return laws, common


def _finite_table(step: Step) -> None:
    step.claim_must_be("PureDP", "ApproxDP")
    neighbors = step.claim.neighbors
    if neighbors.unit is not None or neighbors.size != 1:
        raise Invalid("conclusion.neighbors", "a table speaks of one row")
    records, sizes, table = (step.parameters[name] for name in ("records", "sizes", "table"))
    if neighbors.change == "add_remove" and sizes != list(range(len(sizes))):
        raise Invalid("parameters.sizes", "must be 0, 1, ..., N under add_remove")
    _check_domain(records, sizes, table)
    pairs = []
    comparisons = 0
    for pair in _pairs(table, records, neighbors.change):
        comparisons += max(len(table[pair[0]]), len(table[pair[1]]))
        if comparisons > COMPARISONS:
            raise Invalid("parameters.table", "needs more than 10^6 comparisons")
        pairs.append(pair)
    if not pairs:
        raise Invalid("parameters.table", "has no two neighbouring inputs, so it says nothing")
    laws, common = _whole_laws(table, step.work)
    worst = Rational(0)
    for bits in (128, 1024):
        step.work.spend(comparisons * (2 + (common.bit_length() + bits) // 512) // 4 + bits)
        worst = _worst_excess(laws, pairs, _growth(step.claim.number("epsilon"), bits))
        if not step.claim.number("delta") < worst / Rational(common):
            return
    name = "epsilon" if step.claim.kind == "PureDP" else "delta"
    pair_text = "two neighbouring inputs need delta of " + (worst / Rational(common)).text()
    raise Invalid(f"conclusion.{name}", f"is too small: {pair_text}")


def _growth(epsilon: Rational, bits: int) -> Rational:
    """A lower bound of e^epsilon; exactly 1 for 0."""
    if epsilon.is_zero():
        return Rational(1)
    try:
        return exponential(enclose(epsilon, bits + 16)).lower_end()
    except OutOfReach as error:
        raise Invalid("conclusion.epsilon", f"cannot be checked: {error}") from None


def _worst_excess(laws: dict[Input, Law], pairs: list[tuple[Input, Input]], growth: Rational) -> Rational:
    """The largest sum of max(0, P(o) - growth Q(o)) over the pairs, in both directions.

    growth has a power of two below the line. Its numerator multiplies Q and its denominator P, once for each law.
    """
    raised = {place: {outcome: p * growth.denominator for outcome, p in law.items()} for place, law in laws.items()}
    grown = {place: {outcome: q * growth.numerator for outcome, q in law.items()} for place, law in laws.items()}
    worst = 0
    for one, other in pairs:
        for first, second in ((one, other), (other, one)):
            find = grown[second].get
            excess = 0
            for outcome, p in raised[first].items():
                difference = p - find(outcome, 0)
                if difference > 0:
                    excess += difference
            worst = max(worst, excess)
    return Rational(worst, growth.denominator)


def _assumption(step: Step) -> None:
    if not step.parameters["statement"].strip():
        raise Invalid("parameters.statement", "is empty")


RULES = {
    "finite_table": Rule(
        _finite_table,
        premises=0,
        parameters={"records": _read_records, "sizes": _read_sizes, "table": _read_table},
    ),
    "assumption": Rule(_assumption, premises=0, parameters={"statement": read_text, "reference": read_text}),
}
