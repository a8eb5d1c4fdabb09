"""Amplification by sampling: a mechanism that sees only a random part of the data reveals less."""

from __future__ import annotations

from fractions import Fraction

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ApproxDP, PureDP
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude, conclusions_of_any_rows
from privately.rounding import Enclosure, Number, rational, tidy, whole


def poisson_sampling(premise: Derivation, *, rate: Number) -> Derivation:
    """Each row is kept independently with probability `rate`; the mechanism sees only what is kept.

    A statement about units needs *units* to be kept or dropped whole.

    Theorem: under addition and removal of one row (one unit), (epsilon, delta) becomes
        (ln(1 + q (e^epsilon - 1)), q delta).
    Reference: Balle-Barthe-Gaboardi 2018, Theorem 8
    Proof: docs/theory/sampling.md#poisson-sampling
    Checked-by: tests/guarantees/rules/test_sampling.py::test_poisson_dominates_enumeration
    """
    (statement,) = conclusions_of_any_rows([premise], wanted="the cost of a sample")
    kept = rational(rate, "rate", minimum=0, maximum=1)
    _require(statement, "add_remove", "Poisson sampling")
    return conclude("poisson_sampling", [premise], _amplified(statement, kept), parameters={"rate": str(kept)})


def sampling_without_replacement(premise: Derivation, *, sample: int, population: int) -> Derivation:
    """A uniformly random subset of `sample` of the `population` rows, in random order; both numbers are public.

    A mechanism that ignores the order of its rows may get them in any order. A statement about units needs a sample
    of *units*, and both numbers count them.

    Theorem: under replacement of one row (one unit), (epsilon, delta) becomes
        (ln(1 + (m/n)(e^epsilon - 1)), (m/n) delta), if the sample comes in uniformly random order.
    Reference: Balle-Barthe-Gaboardi 2018, Theorem 9
    Proof: docs/theory/sampling.md#sampling-without-replacement
    Checked-by: tests/guarantees/rules/test_sampling.py::test_without_replacement_dominates_enumeration
    """
    (statement,) = conclusions_of_any_rows([premise], wanted="the cost of a sample")
    size, total = whole(sample, "sample"), whole(population, "population")
    if size > total:
        raise InvalidParameter("sample", f"{size} is more than the population of {total}.")
    _require(statement, "replace", "sampling without replacement")
    found = _amplified(statement, Fraction(size, total))
    parameters = {"sample": size, "population": total}
    return conclude("sampling_without_replacement", [premise], found, parameters=parameters)


def _require(statement: Guarantee, change: str, sampling: str) -> None:
    neighbors = statement.neighbors
    if not isinstance(statement, (PureDP, ApproxDP)):
        raise NoSuchRule(premise=statement, wanted=f"{sampling} in closed form", hint="Convert it to ApproxDP first.")
    if neighbors.change != change or neighbors.size != 1:
        raise NoSuchRule(
            premise=statement,
            wanted=f"{sampling}",
            hint=f"This theorem needs single changes of the kind {change!r}; sample first, then form groups.",
        )


def _amplified(statement: Guarantee, rate: Fraction) -> Guarantee:
    epsilon = _amplified_epsilon(statement.parameters["epsilon"], rate)
    if isinstance(statement, PureDP):
        return PureDP(epsilon=epsilon, neighbors=statement.neighbors)
    return ApproxDP(epsilon=epsilon, delta=tidy(rate * statement.parameters["delta"]), neighbors=statement.neighbors)


def _amplified_epsilon(epsilon: Fraction, rate: Fraction) -> Fraction:
    if rate in (0, 1) or epsilon == 0:
        return rate * epsilon
    grown = Enclosure.of(moderate(epsilon)).exp() - 1
    return min((1 + rate * grown).log().claim(), epsilon)
