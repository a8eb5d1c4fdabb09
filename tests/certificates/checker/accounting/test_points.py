import itertools

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.accounting.points import Points, shared_exponent, total_weight, turns
from privately.certificates.checker.intervals import Interval, enclose, whole
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.building import mpf, rational

weights = st.lists(st.fractions("1/1000", 10**9), min_size=1, max_size=4)
losses = st.lists(st.fractions(-100, 100), min_size=4, max_size=4)


@given(weights, losses, st.integers(0, 2**60), st.integers(1, 20))
def test_sums_are_as_near_as_they_say(mass: list[int], loss: list[int], vague: int, count: int) -> None:
    exact = [enclose(rational(value), 256) for value in mass]
    wide = [Interval(x.low - vague, x.high + vague, x.exponent, 256) for x in exact]
    step = rational("3/7")
    for listed in (exact, wide):
        found = turns(Points(listed, [enclose(rational(x), 256) for x in loss[: len(mass)]], 0), step, count, Work())
        total = mpmath.fsum(map(mpf, mass))
        for n, (real, imaginary) in enumerate(found.values, 1):
            true = mpmath.fsum(mpf(a) * mpmath.expj(n * mpf("3/7") * mpf(x)) for a, x in zip(mass, loss, strict=False))
            assert abs(mpmath.mpc(real, imaginary) - true / total * 2**192) <= found.constant + n * found.slope


def test_vague_weights_are_counted() -> None:
    """Whatever they are, of two that are at least 1 and at most 9/8."""
    vague = Interval(8, 9, -3, 256)
    found = turns(Points([vague, vague], [whole(1, 256), whole(3, 256)], 0), rational(1), 4, Work())
    for n, (real, imaginary) in enumerate(found.values, 1):
        for one, other in itertools.product((1, mpf("9/8")), repeat=2):
            true = (one * mpmath.expj(n) + other * mpmath.expj(3 * n)) / (one + other)
            assert abs(mpmath.mpc(real, imaginary) / 2**192 - true) <= mpf(found.constant + n * found.slope) / 2**192


def test_what_the_points_miss_is_kept() -> None:
    one = Points([whole(1, 256)], [whole(1, 256)], 12345)
    assert turns(one, rational(1), 1, Work()).constant == 12345 + 3


def test_sums_of_weights() -> None:
    listed = [enclose(rational(value), 256) for value in ("1/3", 5, "1/1000")]
    total = total_weight(Points(listed, listed, 0))
    exact = mpf("1/3") + 5 + mpf("1/1000")
    assert mpmath.ldexp(total.low, total.exponent) <= exact <= mpmath.ldexp(total.high, total.exponent)
    assert shared_exponent(listed) == 3


def test_what_will_not_do() -> None:
    with pytest.raises(Invalid, match="vague"):
        turns(Points([whole(1, 256)], [Interval(0, 1, 0, 256)], 0), rational(1), 10, Work())
    with pytest.raises(Invalid, match="no weight"):
        turns(Points([Interval(0, 1, 0, 256)], [whole(1, 256)], 0), rational(1), 1, Work())
    with pytest.raises(Invalid, match="work"):
        turns(Points([whole(1, 256)] * 1000, [whole(1, 256)] * 1000, 0), rational(1), 10**5, Work())
