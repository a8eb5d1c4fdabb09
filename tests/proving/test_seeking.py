"""Programs that are not finite."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving import Refuted, Unknown, inside, prove
from privately.proving.seeking import _short
from privately.proving.verdicts import Witness
from privately.rounding import Interval
from tests.endless import ends

HALF = "def f(x: each(1), epsilon):\n    return x + laplace(1 / (2 * epsilon))\n"


def test_a_witness_can_be_replayed() -> None:
    verdict = prove(HALF, "epsilon", public={"epsilon": 1})
    assert isinstance(verdict, Refuted)
    first, second = verdict.witness.replay(300)
    assert first + second <= 600
    assert verdict.model == "real"
    assert verdict.witness.as_data()["event"]


def test_an_open_epsilon_is_looked_at_for_one_value() -> None:
    assert isinstance(prove(HALF, "ln(2)"), Refuted)


def test_the_value_that_is_looked_at_lies_in_the_domain() -> None:
    text = "def f(x: each(1), p):\n    if p > 1/2:\n        return x\n    return x + laplace(1)\n"
    assert isinstance(prove(text, 1, public={"p": inside(0, "1/2")}), Unknown)
    coin = "def f(x: each(1), p):\n    if flip(p):\n        return x\n    return x + laplace(1)\n"
    verdict = prove(coin, "ln(3)")
    assert isinstance(verdict, Refuted)
    assert verdict.claim == "ln(3) at p = 1/2"


@pytest.mark.parametrize("law", ["laplace", "gaussian", "discrete_laplace", "geometric"])
@pytest.mark.parametrize("size", ["1/10**400", "10**400", "1/10**6"])
def test_extreme_noise_is_not_searched(law: str, size: str) -> None:
    try:
        verdict = prove(f"def f(x: each(1)):\n    return x + {law}({size})\n", 1)
    except NotSupported:
        return
    assert isinstance(verdict, Unknown)


def test_what_no_list_of_paths_describes_is_looked_at_in_cells() -> None:
    verdict = prove("def f(x: each(1)):\n    z = laplace(1)\n    return z * z + x\n", 1)
    assert isinstance(verdict, Refuted)
    assert verdict.witness.epsilon.lower == float("inf")


def test_finite_witnesses_can_be_replayed_too() -> None:
    verdict = prove("def f(x: replaced(0, 1)):\n    return x\n", 1)
    assert isinstance(verdict, Refuted)
    assert verdict.witness.replay(10) == (10, 0)
    one = Interval(1, 1)
    bare = Witness(inputs={}, neighbor={}, event="", probability=one, neighbor_probability=one, epsilon=one)
    with pytest.raises(NotSupported, match="no program"):
        bare.replay()


def test_events_far_out_in_a_tail_can_be_told() -> None:
    verdict = prove("def f(x: each(1)):\n    return x + gaussian(1)\n", 1)
    assert isinstance(verdict, Refuted)
    assert len(str(verdict)) < 1000


def test_probabilities_far_out_have_digits() -> None:
    verdict = prove("def f(x: each(1)):\n    return x + rounded_gaussian(3)\n", 1)
    assert isinstance(verdict, Refuted)
    for shown in (verdict.witness.probability, verdict.witness.neighbor_probability):
        assert 0 < shown.upper < shown.lower * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("low", [Fraction(1, 3), Fraction(1, 3**900), Fraction(1, 3**9000), Fraction(0), Fraction(1)])
def test_shortened_probabilities_hold_the_long_ones(low: Fraction) -> None:
    high = low * (1 + Fraction(1, 7**50))
    shown = _short(Interval(low, high))
    assert shown.lower <= low <= high <= shown.upper
    if low > Fraction(1, 2**9900):
        assert shown.upper <= shown.lower * (1 + Fraction(1, 2**60))
    assert max(Fraction(end).denominator.bit_length() for end in shown) <= 10_001


@pytest.mark.parametrize("body", ["y = x + laplace(1)", "if x > 0:\n        return laplace(1)", "pass"])
def test_programs_that_can_end_without_an_output_are_refused(body: str) -> None:
    with pytest.raises(NotSupported, match="can end without an output"):
        prove(f"def f(x: each(1)):\n    {body}\n", 1)


def test_unknown_says_what_could_not_be_looked_at() -> None:
    wide = "discrete_laplace(1000000)"
    verdict = prove(f"def f(x: each(1)):\n    return x + {wide} * {wide}\n", 1)
    assert isinstance(verdict, Unknown)
    assert "product" in verdict.why


@pytest.mark.parametrize(
    "body",
    ["(y*y) ** 3000", "1/7 + (y*y) ** 200", "[y * y] * 20000", pytest.param("[y * y] * 1000", marks=pytest.mark.slow)],
)
def test_huge_powers_and_long_lists_are_answered_in_time(body: str) -> None:
    with ends():
        verdict = prove(f"def f(x: each(1, whole(0, 3))):\n    y = x + discrete_laplace(1)\n    return {body}\n", "1/2")
        assert verdict.word in {"refuted", "unknown"}
