"""The largest ratio, and claims about it."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.exact.claims import read_claim
from privately.proving.exact.places import Between, Exponential
from privately.proving.exact.ratios import Ratio, distinct, epsilon, largest, pieces, probability, ratios, within
from privately.proving.exact.tails import Geometric
from privately.proving.exact.weights import ONE, UNKNOWN, Quotient, weight

INPUTS = ((0,), (1,))


def ratio(value: object) -> Ratio:
    return Ratio(value, 0, INPUTS, (ONE, ONE))


def test_tight_claims_hold_and_smaller_ones_do_not() -> None:
    third = Exponential(3)
    assert within(ratio(weight(3)), read_claim("ln(3)", {}), None)
    assert not within(ratio(weight(Fraction(300000001, 10**8))), read_claim("ln(3)", {}), None)
    assert within(ratio(Quotient.power(-3)), read_claim("1", {}), third)
    assert not within(ratio(Quotient.power(-4)), read_claim("1", {}), third)
    assert within(ratio(Quotient.power(-4)), read_claim("4/3", {}), third)
    assert not within(ratio(Quotient.power(-4) * weight(Fraction(10**20 + 1, 10**20))), read_claim("4/3", {}), third)
    assert within(ratio(weight(2)), read_claim("0.7", {}), None)
    assert not within(ratio(weight(2)), read_claim("0.69", {}), None)
    assert within(ratio(Quotient.power(-1)), read_claim("ln(2)", {}), third)
    assert not within(ratio(None), read_claim("1000", {}), None)


def test_open_parameters() -> None:
    place = Between(Fraction(0), Fraction(1))
    assert within(ratio(1 + UNKNOWN), read_claim("ln(2)", {}), place)
    assert not within(ratio(1 + UNKNOWN), read_claim("ln(1.999)", {}), place)
    with pytest.raises(NotSupported):
        within(ratio(1 + UNKNOWN), read_claim("1", {}), place)


def test_the_upper_envelope() -> None:
    place = Between(Fraction(0), Fraction(1))
    found = pieces([ratio(1 + UNKNOWN), ratio(2 - UNKNOWN * 2)], place)
    assert [(str(one.lower), str(one.upper), repr(one.largest.value)) for one in found] == [
        ("0", "1/3", "2 - 2*t"),
        ("1/3", "1", "1 + t"),
    ]
    assert len(pieces([ratio(None)], place)) == 1


def test_all_ratios_of_a_pair() -> None:
    left, right = {0: weight(Fraction(1, 2)), 1: weight(Fraction(1, 2))}, {0: ONE}
    found = list(ratios(INPUTS, left, right))
    assert [one.value for one in found] == [weight(Fraction(1, 2)), None]
    assert largest(found, None).value is None
    assert len(distinct(found)) == 1
    assert len(distinct([ratio(ONE), ratio(ONE)])) == 1
    with pytest.raises(NotSupported, match="no two neighbours"):
        largest([], None)


def test_epsilon_encloses_the_logarithm() -> None:
    found = epsilon(ratio(weight(3)), None)
    assert found.lower < Fraction("1.0986122886681096913952452369225257046474905578227") < found.upper
    assert epsilon(ratio(Quotient.power(-2)), Exponential(4)).lower <= Fraction(1, 2)
    assert epsilon(ratio(Quotient.power(-2)), Exponential(4)).upper >= Fraction(1, 2)
    assert epsilon(ratio(ONE), None).upper == 0
    assert epsilon(ratio(None), None).lower == float("inf")


def test_probabilities_as_intervals() -> None:
    assert probability(weight(Fraction(1, 3)), None).lower == Fraction(1, 3)
    found = probability(Quotient.power(1), Exponential(1))
    assert found.lower < Fraction("0.36787944117144232159552377016146086744581113103176783450783680") < found.upper


def test_an_impossible_output_comes_before_ratios_that_grow() -> None:
    noise = Geometric(0, weight(Fraction(1, 2)))
    grows = Ratio(None, 0, INPUTS, (ONE, ONE), ((noise, noise),))
    never = Ratio(None, 1, INPUTS, (ONE, ONE * 0))
    for found in (distinct([ratio(ONE), grows, never]), [largest([grows, never, ratio(ONE)], None)]):
        assert found == [never]
    assert distinct([ratio(ONE), grows]) == [grows] == [largest([ratio(ONE), grows, ratio(ONE)], None)]
