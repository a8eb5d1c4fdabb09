"""Answers that people give about themselves, with a known chance of not being true."""

from __future__ import annotations

from fractions import Fraction

from privately.errors import InvalidParameter
from privately.guarantees.derivations import Derivation
from privately.guarantees.kinds import PureDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude
from privately.rounding import Enclosure, Number, rational, whole


def randomized_response(*, categories: int, truth: Number) -> Derivation:
    """The true category with probability `truth`, otherwise any of the *others*, all alike. Each row answers alone.

    Theorem: with K categories and the truth with probability p it is epsilon-DP under replacement of one row, where
        epsilon is the absolute value of ln(p (K-1)/(1-p)), and no less.
    Reference: Warner 1965; Kairouz-Oh-Viswanath 2016
    Proof: docs/theory/mechanisms.md#randomized-response
    Checked-by: tests/guarantees/rules/test_answers.py::test_randomized_response_equals_enumeration
    """
    number = whole(categories, "categories", minimum=2)
    chance = rational(truth, "truth", above=0, maximum=1)
    if chance == 1:
        raise InvalidParameter("truth", "must be below 1.")
    ratio = chance * (number - 1) / (1 - chance)
    worst = max(ratio, 1 / ratio)
    epsilon = Fraction(0) if worst == 1 else moderate(Enclosure.of(worst).log().claim(), "truth")
    found = PureDP(epsilon=epsilon, neighbors=Neighbors.REPLACE)
    parameters = {"categories": number, "truth": str(chance)}
    return conclude("randomized_response", [], found, parameters=parameters)
