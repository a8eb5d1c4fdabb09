from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.elementary import OutOfReach, logarithm
from privately.certificates.checker.intervals import Interval, Undecided
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import FEWEST_BITS, MOST_BITS, Work
from tests.certificates.checker.building import rational

LOG_TWO = Fraction("0.693147180559945309417232121458176568075500134360255254120680")


def log_two(bits: int) -> Interval:
    return logarithm(rational(2), bits)


@given(st.lists(st.tuples(st.fractions(), st.integers(0, 10**9))))
def test_totals_are_exact(terms: list[tuple[Fraction, int]]) -> None:
    found = Work().total((rational(number), count) for number, count in terms)
    assert found == rational(sum((number * count for number, count in terms), Fraction(0)))


def test_work_ends() -> None:
    work = Work(10)
    work.spend(10)
    with pytest.raises(Invalid, match="more work"):
        work.spend(1)


def test_sums_of_strange_denominators_cost_work() -> None:
    terms = [(rational(Fraction(1, 2**4000 + 2 * i + 1)), 1) for i in range(3000)]
    with pytest.raises(Invalid, match="more work"):
        Work(100_000).total(terms)


def test_bounds_are_compared_with_certainty() -> None:
    Work().require_bound("x", rational(LOG_TWO + Fraction(1, 10**50)), log_two)
    with pytest.raises(Invalid, match=r"x: claims 0\.6931471806, which is too small: the rule gives 0\.6931471806"):
        Work().require_bound("x", rational(LOG_TWO - Fraction(1, 10**50)), log_two)


def test_what_stays_uncertain_is_refused() -> None:
    with pytest.raises(Invalid, match="too close"):
        Work().require_bound("x", rational(0), lambda bits: Interval(-1, 1, -bits, bits))
    with pytest.raises(Invalid, match="too close"):
        Work().require_bound("x", rational(1), lambda bits: Interval((1 << bits) - 1, (1 << bits) + 1, -bits, bits + 2))


def test_undecided_asks_for_more_bits() -> None:
    asked = []

    def shy(bits: int) -> Interval:
        asked.append(bits)
        if bits < 1024:
            raise Undecided
        return log_two(bits)

    Work().require_bound("x", rational(1), shy)
    assert asked == [128, 256, 512, 1024]
    assert asked[0] == FEWEST_BITS < MOST_BITS


def test_out_of_reach_is_refused() -> None:
    def far(bits: int) -> Interval:
        raise OutOfReach(f"not with {bits} bits")

    with pytest.raises(Invalid, match="not with 128 bits"):
        Work().require_bound("x", rational(1), far)


def test_ratios_are_compared_with_one() -> None:
    Work().require_ratio("x", rational(7), log_two)
    with pytest.raises(Invalid, match=r"x: claims 7, which is too small$"):
        Work().require_ratio("x", rational(7), lambda bits: logarithm(rational(3), bits))
