"""Normal noise on a sample, against quadrature at high precision."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.certificates.checker.accounting.points import turns
from privately.certificates.checker.accounting.sampled_normal import Grid, SampledNormal
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import high, law, sampled_normal
from tests.certificates.checker.building import Number, mpf, rational

Case = tuple[Fraction, Fraction, Fraction, Grid]


def grid(spacing: Number, first: int, last: int, strip: Number, height: Number) -> Grid:
    return Grid(rational(spacing), first, last, rational(strip), rational(height))


CASES: list[Case] = [
    (Fraction(1), Fraction(1, 100), Fraction(3), grid("1/8", -96, 128, 2, "1/8")),
    (Fraction(1), Fraction(1, 100), Fraction(3), grid("1/8", -96, 128, 2, "1")),
    (Fraction(4), Fraction(1, 2), Fraction(1), grid("1/16", -250, 290, 1, "1/4")),
    (Fraction(1, 9), Fraction(9, 10), Fraction(7), grid("1/4", -60, 60, 5, "1/2")),
    # coarse: what the sum misses matters
    (Fraction(1), Fraction(1, 10), Fraction(2), grid("3/4", -10, 14, 2, "1/2")),
    (Fraction(1), Fraction(1, 10), Fraction(2), grid("1/4", -12, 20, 2, "1/2")),
]
each = pytest.mark.parametrize("case", CASES)
both = pytest.mark.parametrize("removes", [True, False])


def made(case: Case, reach: Number, *, removes: bool) -> SampledNormal:
    mu_squared, rate, c, points = case
    found = law("sampled normal", mu_squared, rate)
    return SampledNormal(found, rational(c), points, rational(reach), removes=removes, work=Work())


def truth(case: Case, w: Number, *, removes: bool) -> mpmath.mpc:
    mu_squared, rate, c, _ = case
    return sampled_normal(mu_squared, rate, mpmath.mpc(mpf(c), mpf(w)), removes=removes)


@each
@both
def test_the_mass_is_bounded(case: Case, removes: bool) -> None:
    found = high(made(case, 0, removes=removes).log_mass())
    exact = mpmath.log(mpmath.re(truth(case, 0, removes=removes)))
    assert exact <= found + mpmath.mpf(10) ** -24
    if case in CASES[:4]:
        assert found - exact < mpmath.mpf(10) ** -15


@pytest.mark.thinned(2)
@each
@both
def test_turns_are_as_near_as_they_say(case: Case, removes: bool) -> None:
    step, count = Fraction(1), 3
    one = made(case, step * count, removes=removes)
    found = turns(one.points(), rational(step), count, Work())
    whole = mpmath.re(truth(case, 0, removes=removes))
    for n, (real, imaginary) in enumerate(found.values, 1):
        exact = truth(case, n * step, removes=removes) / whole
        off = abs(mpmath.mpc(real, imaginary) - exact * 2**192)
        assert off <= found.constant + n * found.slope + mpmath.ldexp(1, 192 - 80)
    if case in CASES[:4]:
        assert found.constant + count * found.slope < 2**192 * 1e-12


@pytest.mark.thinned(3)
@each
@both
@pytest.mark.parametrize("frequency", [Fraction(1, 10), 3])
def test_what_remains_is_bounded_for_all_frequencies_beyond(case: Case, removes: bool, frequency: Number) -> None:
    found = high(made(case, frequency, removes=removes).remains(rational(frequency)))
    whole = mpmath.re(truth(case, 0, removes=removes))
    for factor in (1, Fraction(4, 3), 3):
        assert abs(truth(case, factor * Fraction(frequency), removes=removes)) / whole <= found


@pytest.mark.parametrize(
    ("case", "removes"),
    [
        ((Fraction(1), Fraction(1, 10), Fraction(2), grid("1/4", -40, 16, 2, 0)), True),
        ((Fraction(1), Fraction(1, 10), Fraction(2), grid("1/4", -4, 60, 2, 0)), True),
        ((Fraction(1, 9), Fraction(9, 10), Fraction(7), grid("1/4", -12, 60, 5, 0)), False),
        ((Fraction(1, 9), Fraction(9, 10), Fraction(7), grid("1/4", -60, 4, 5, 0)), False),
    ],
)
def test_what_is_beyond_either_end_is_counted(case: Case, *, removes: bool) -> None:
    mu_squared, rate, c, points = case
    mu, q = mpmath.sqrt(mpf(mu_squared)), mpf(rate)

    def weight(k: int) -> mpmath.mpf:
        x = k * mpf("1/4")
        mix = 1 - q + q * mpmath.exp(mu * x - mu * mu / 2)
        return mix ** (mpf(c) + 1 if removes else -mpf(c)) * mpmath.exp(-x * x / 2)

    beyond = mpmath.fsum(weight(k) for k in [*range(-120, points.first), *range(points.last + 1, 120)])
    assert beyond <= high(made(case, 0, removes=removes).outside) <= 20 * beyond


@both
def test_sums_at_high_frequencies_may_say_nothing(removes: bool) -> None:
    """As the points are about as far apart as the integrand turns."""
    case = (Fraction(1, 9), Fraction(99, 100), Fraction(1, 10), grid(1, -12, 12, 6, 0))
    found = turns(made(case, 12, removes=removes).points(), rational(12), 1, Work())
    exact = truth(case, 12, removes=removes) / mpmath.re(truth(case, 0, removes=removes))
    off = abs(mpmath.mpc(*found.values[0]) / 2**192 - exact)
    assert mpf("1/100") < off <= mpf(found.constant + found.slope) / 2**192


def test_what_remains_is_little() -> None:
    remains = [high(made(CASES[2], 0, removes=removes).remains(rational(8))) for removes in (True, False)]
    assert remains[0] < 0.04
    assert remains[1] < 0.7
    assert (
        high(made((*CASES[2][:3], CASES[2][3]._replace(height=rational(0))), 0, removes=True).remains(rational(8))) == 1
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"spacing": rational(13), "first": -9, "last": 9}, "too far apart"),
        ({"first": 1}, "end too early"),
        ({"last": 8}, "end too early"),
        ({"strip": rational(4)}, "too wide"),
        ({"height": rational(2)}, "too large"),
    ],
)
def test_points_that_will_not_do(change: dict[str, Any], reason: str) -> None:
    case = (*CASES[0][:3], CASES[0][3]._replace(**change))
    with pytest.raises(Invalid, match=reason):
        made(case, 1, removes=True).remains(rational(1))


@both
def test_sums_over_few_points_are_off_by_no_more_than_they_say(removes: bool) -> None:
    case = (Fraction(1, 9), Fraction(1, 2), Fraction(1, 10), grid(2, -8, 8, 3, 0))
    one = made(case, 0, removes=removes)
    exact = mpmath.re(truth(case, 0, removes=removes))
    found = 2 * mpmath.ldexp(one.total.low, one.total.exponent) / mpmath.sqrt(2 * mpmath.pi)
    assert high(one.start) / 5 <= abs(found - exact) / exact <= high(one.start)


def test_a_sum_that_is_too_small_is_made_up_for() -> None:
    """Its points are on both sides of the middle, and none of them near it."""
    case = (Fraction(1, 9), Fraction(99, 100), Fraction(2), grid(2, -8, 8, 3, 0))
    one = made(case, 0, removes=True)
    exact = mpmath.re(truth(case, 0, removes=True))
    assert 2 * high(one.total) / mpmath.sqrt(2 * mpmath.pi) < exact < mpmath.exp(high(one.log_mass()))


def test_what_is_beyond_the_ends_remains() -> None:
    """The points begin late, and what they leave out need not turn at any frequency."""
    one = made((Fraction(16), Fraction(1, 4), Fraction(1, 10), grid("1/8", -2, 60, "1/2", "1/4")), 1, removes=True)
    assert high(one.remains(rational(100))) >= high(one.outside) / high(one.total) > 1


def test_without_the_cosine_the_sum_would_be_trusted_too_far() -> None:
    """The factor for added rows is needed: a coarse sum is off by more than the bound without it."""
    case = (Fraction(4), Fraction(1, 2), Fraction(30), grid("1/2", -80, 30, "5/4", 0))
    one = made(case, 0, removes=False)
    exact = mpmath.re(truth(case, 0, removes=False))
    found = mpmath.ldexp(one.total.low, one.total.exponent) * mpf("1/2") / mpmath.sqrt(2 * mpmath.pi)
    off = abs(found - exact) / exact
    bound = high(one.start)
    without = bound * mpmath.cos(mpf("5/4")) ** 30
    assert without < off <= bound


def test_work_is_bounded() -> None:
    huge = (*CASES[0][:3], CASES[0][3]._replace(first=-50_000, last=50_000))
    with pytest.raises(Invalid, match="more work"):
        made(huge, 1, removes=True)
