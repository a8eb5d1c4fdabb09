"""From one notion of neighbours to another: groups, units, replacement."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ZCDP, ApproxDP, GaussianDP, PureDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude, conclusions, conclusions_of_any_rows
from privately.rounding import Enclosure, tidy, whole


def group(premise: Derivation, *, size: int) -> Derivation:
    """Protection of several rows (or units) at once.

    Theorem: for k changes at once, epsilon becomes k epsilon, delta becomes
        delta (1 + e^epsilon + ... + e^((k-1) epsilon)), rho becomes k^2 rho and mu becomes k mu.
    Reference: Vadhan 2017, Lemma 2.2; Bun-Steinke 2016, Proposition 1.9; Dong-Roth-Su 2022
    Proof: docs/theory/neighbors.md#groups
    Checked-by: tests/guarantees/rules/test_neighborhoods.py::test_group_dominates_enumeration
    """
    (statement,) = conclusions([premise])
    times = whole(size, "size")
    found = _several(statement, times, statement.neighbors.times(times), wanted=f"a group of {times}")
    return conclude("group", [premise], found, parameters={"size": times})


def add_remove_to_replace(premise: Derivation) -> Derivation:
    """Replacing a row is removing it and adding another: twice the change.

    Theorem: addition and removal gives replacement with 2 epsilon, (1 + e^epsilon) delta, 4 rho, 2 mu. The reverse is
        false: the size of the data set is 0-DP under replacement and not private at all under addition and removal.
    Reference: Dwork-Roth 2014, Theorem 2.2; Bun-Steinke 2016, Proposition 1.9
    Proof: docs/theory/neighbors.md#replacement
    Checked-by: tests/guarantees/rules/test_neighborhoods.py::test_replacement_dominates_enumeration
    """
    (statement,) = conclusions([premise])
    if statement.neighbors.change != "add_remove":
        raise NoSuchRule(premise=statement, wanted="a statement about adding and removing", hint=REPLACE_HINT)
    replaced = replace(statement.neighbors, change="replace")
    return conclude("add_remove_to_replace", [premise], _several(statement, 2, replaced, wanted="replacement"))


def bounded_unit(premise: Derivation, *, unit: str) -> Derivation:
    """From `size` rows to one unit that has at most `size` rows.

    Theorem: among data sets in which each unit has at most L rows, adding or removing a unit adds or removes at most
        L rows.
    Reference: the definition of neighbours
    Proof: docs/theory/neighbors.md#units
    Checked-by: tests/guarantees/rules/test_neighborhoods.py::test_bounded_unit_dominates_enumeration
    """
    (statement,) = conclusions_of_any_rows([premise], wanted="a statement about units")
    if not isinstance(unit, str):
        raise InvalidParameter("unit", "must be the name of the column that identifies a unit.")
    rows = statement.neighbors
    if rows.unit is not None or rows.change != "add_remove":
        raise NoSuchRule(
            premise=statement,
            wanted=f"a statement about one {unit}",
            hint="Start from a statement about adding or removing rows, for as many rows as a unit has, by group().",
        )
    found = restated(statement, Neighbors.ADD_REMOVE.of_unit(unit, max_rows=rows.size))
    return conclude("bounded_unit", [premise], found)


REPLACE_HINT = (
    "It would be false: the number of rows is 0-DP under replacement and not private under adding and removing."
    " Derive the mechanism under ADD_REMOVE instead."
)


def restated(statement: Guarantee, neighbors: Neighbors) -> Guarantee:
    """The same numbers about other neighbours."""
    return type(statement)(**statement.parameters, neighbors=neighbors)  # type: ignore[call-arg]  # own numbers


def _several(statement: Guarantee, times: int, neighbors: Neighbors, *, wanted: str) -> Guarantee:
    numbers = statement.parameters
    match statement:
        case PureDP():
            return PureDP(epsilon=tidy(times * numbers["epsilon"]), neighbors=neighbors)
        case ApproxDP():
            delta = _group_delta(numbers["epsilon"], numbers["delta"], times)
            return ApproxDP(epsilon=tidy(times * numbers["epsilon"]), delta=delta, neighbors=neighbors)
        case ZCDP():
            return ZCDP(rho=tidy(times**2 * numbers["rho"]), neighbors=neighbors)
        case GaussianDP():
            return GaussianDP(mu=tidy(times * numbers["mu"]), neighbors=neighbors)
    raise NoSuchRule(premise=statement, wanted=wanted, hint="Convert it to ApproxDP first, or group before converting.")


def _group_delta(epsilon: Fraction, delta: Fraction, times: int) -> Fraction:
    if delta == 0 or times == 1:
        return delta
    if epsilon == 0:
        return tidy(min(times * delta, Fraction(1)))
    moderate(times * epsilon, "size")
    return min((delta * _geometric_sum(Enclosure.of(epsilon).exp(), times)).claim(), Fraction(1))


def _geometric_sum(ratio: Enclosure, terms: int) -> Enclosure:
    """1 + r + ... + r^(terms-1), by doubling: no division, so nothing cancels."""
    total, power = Enclosure.of(0), Enclosure.of(1)
    for bit in f"{terms:b}":
        total, power = total * (1 + power), power * power
        if bit == "1":
            total, power = 1 + ratio * total, ratio * power
    return total
