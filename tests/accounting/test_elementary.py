"""Every function keeps the error that its proof gives, at random and at hard points, against Arb's balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from flint import arb, ctx

from privately.accounting import elementary
from privately.accounting.elementary import (
    ERROR,
    HIGHEST,
    LARGEST_ANGLE,
    LOWEST,
    Floats,
    atan,
    cos_sin,
    exp,
    expm1,
    log,
    log1p,
    log_between,
    normal_tail,
    turn_minus_one,
)

BITS = 250
PROVED = 2.0**-49
RANDOM = np.random.default_rng(20)
Exact = Callable[[arb], arb]


@contextmanager
def bits(many: int) -> Iterator[None]:
    before, ctx.prec = ctx.prec, many
    yield
    ctx.prec = before


def around(places: Floats, width: float = 2.0**-30) -> Floats:
    """The places themselves, their neighbours among the floats, and points a little further away."""
    nearest = [places, np.nextafter(places, -math.inf), np.nextafter(places, math.inf)]
    return np.concatenate([*nearest, places * (1 - width), places * (1 + width)])


def signed_scales(low: float, high: float, many: int) -> Floats:
    """Both signs, evenly spread over the exponents from 2^low to 2^high."""
    sizes = 2.0 ** RANDOM.uniform(low, high, many)
    return np.concatenate([sizes, -sizes])


def worst(found: Floats, x: Floats, exact: Exact, scale: Exact | None = None) -> float:
    """The largest |found - exact| over |exact|, or over another scale."""
    most = 0.0
    with bits(BITS):
        for value, place in zip(found.tolist(), x.tolist(), strict=True):
            truth = exact(arb(place))
            size = abs(truth) if scale is None else scale(truth)
            most = max(most, float((abs(arb(value) - truth) / size).upper()) if size != 0 else abs(value))
    return most


REDUCTION = around((np.arange(-700, 700) * 37.5 + 0.5) * math.log(2) / 64)
EXPONENTS = np.concatenate(
    [
        RANDOM.uniform(LOWEST, HIGHEST, 1500),
        RANDOM.uniform(-1, 1, 500),
        REDUCTION[np.abs(REDUCTION) < LOWEST * -1],
        [LOWEST, HIGHEST, 0.0, -0.0, math.log(2), -math.log(2)],
    ]
)


def test_exp() -> None:
    assert worst(exp(EXPONENTS), EXPONENTS, arb.exp) <= 2.0**-50
    tiny = signed_scales(-1074, -1, 300)
    assert worst(exp(tiny), tiny, arb.exp) <= 2.0**-50


def test_exp_is_zero_below_its_range() -> None:
    below = np.array([np.nextafter(LOWEST, -math.inf), -709.0, -745.0, -1e4, -1e300])
    assert not exp(below).any()
    assert math.exp(LOWEST) < 1e-307
    assert exp(np.array([LOWEST])).item() > 0


def test_a_table_without_its_second_parts_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the proofs are not loose by orders of magnitude: a small fault shows."""
    monkeypatch.setattr(elementary, "_POWERS_REST", np.zeros_like(elementary._POWERS_REST))
    x = np.concatenate([RANDOM.uniform(-0.02, 0.02, 3000)])
    assert worst(expm1(x), x, arb.expm1) > PROVED


def test_expm1() -> None:
    moderate = EXPONENTS[EXPONENTS > -64]
    assert worst(expm1(moderate), moderate, arb.expm1) <= PROVED
    small = np.concatenate([signed_scales(-1022, 0, 600), around(np.arange(-8, 9) * math.log(2) / 128)])
    assert worst(expm1(small), small, arb.expm1) <= PROVED
    low = -RANDOM.uniform(60, 1e6, 200)
    assert worst(expm1(low), low, arb.expm1) <= PROVED


def test_both_exponentials() -> None:
    found, less = elementary.exp_and_expm1(EXPONENTS)
    assert worst(found, EXPONENTS, arb.exp) <= PROVED
    assert worst(less, EXPONENTS, arb.expm1) <= PROVED
    below = np.array([-709.0, -1e4, -1e300])
    found, less = elementary.exp_and_expm1(below)
    assert found.max() < 1e-307
    assert (less == -1).all()


LOG1P_EDGES = around(np.concatenate([(np.arange(90, 182) + 0.5) / 128 - 1, np.arange(90, 182) / 128 - 1]))


def test_log1p() -> None:
    x = np.concatenate(
        [
            signed_scales(-1000, -1, 500),
            2.0 ** RANDOM.uniform(-3, 1000, 800),
            -1 + 2.0 ** RANDOM.uniform(-40, 0, 500),
            LOG1P_EDGES,
            around(4.0 * (np.arange(90, 182) + 0.5) / 128 - 1),
            [-1 + 2.0**-40, 1.0, -0.5, 2.0**53, 2.0**53 - 1, 2.0**54 + 2, math.exp(600), 1e300],
        ]
    )
    x = x[np.abs(x) > 2.0**-1000]
    assert worst(log1p(x), x, arb.log1p) <= PROVED
    assert log1p(np.array([0.0])).item() == 0


def test_log1p_of_the_smallest_numbers() -> None:
    """Below 2^-1000 only the absolute error is small."""
    x = signed_scales(-1074, -1000, 200)
    assert np.abs(log1p(x) - x).max() <= 2.0**-1000 * 2.0**-49


def test_log() -> None:
    x = np.concatenate([2.0 ** RANDOM.uniform(-1070, 1020, 1000), around(1 + 2.0 ** -np.arange(1, 52.0)), [1.0]])
    assert worst(log(x), x, arb.log, lambda truth: max(abs(truth), arb(0.125))) <= ERROR
    below = 1 - 2.0 ** RANDOM.uniform(-52, -1, 500)
    assert worst(log(below), below, arb.log) <= PROVED


def test_log_between() -> None:
    """Both ends are on their sides, and close."""
    plain = [*(2.0 ** RANDOM.uniform(-900, 1000, 200)).tolist(), 1.0, 1 + 2.0**-52, 1 - 2.0**-53]
    plain += [*around((np.arange(90, 182) + 0.5) / 128).tolist(), *around(np.arange(90, 182) / 128).tolist()]
    shifted = [*signed_scales(-300, -1, 100).tolist(), 0.0, 1e-300, -0.5, -1 + 2.0**-53, 1e200]
    shifted += [*LOG1P_EDGES.tolist(), *RANDOM.uniform(-0.999, 3, 500).tolist(), *(3 * LOG1P_EDGES + 2).tolist()]
    with bits(1500):
        for x, plus in [*((x, 0) for x in plain), *((x, 1) for x in shifted)]:
            low, high = log_between(x, plus)
            assert arb(low) <= (arb(x).log1p() if plus else arb(x).log()) <= arb(high)
            assert high - low <= 16 * 2.0**-53 * abs(low) + 1e-300


def test_one_logarithm_is_as_exact_as_proved() -> None:
    x = np.concatenate([LOG1P_EDGES, RANDOM.uniform(-0.9, 3, 3000), signed_scales(-50, -3, 500)])
    found = np.array([elementary._log_of(one, 1) for one in x.tolist()])
    assert worst(found, x, arb.log1p) <= 5.2 * 2.0**-53


def test_one_logarithm_needs_its_second_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementary, "_LOG_PAIRS", [(high, 0.0) for high, _ in elementary._LOG_PAIRS])
    with bits(300):
        ends = [(x, *log_between(x)) for x in (np.arange(91, 127) / 128).tolist()]
        exact = sum(arb(low) <= arb(x).log() <= arb(high) for x, low, high in ends)
    assert exact == len(ends)  # the tables are rounded to nearest, so that 6.5 units still cover it
    monkeypatch.setattr(elementary, "_LN2_WHOLE_LOW", 0.0)
    with bits(300):
        assert not all(arb(log_between(x)[0]) <= arb(x).log() <= arb(log_between(x)[1]) for x in (3.0, 1e5, 1e-9))


ANGLES = np.concatenate(
    [
        RANDOM.uniform(-LARGEST_ANGLE, LARGEST_ANGLE, 1500),
        signed_scales(-1022, 20, 500),
        around(np.arange(-96, 97) * math.pi / 64),
        np.rint(RANDOM.uniform(-(2**18), 2**18, 300)) * (math.pi / 2),
        [LARGEST_ANGLE, -LARGEST_ANGLE, 0.0],
    ]
)


def test_cos_sin() -> None:
    """The proof's figure, 4u, and less than what is claimed."""
    x = ANGLES[np.abs(ANGLES) <= LARGEST_ANGLE]
    cosine, sine = cos_sin(x)
    one: Exact = lambda _: arb(1)  # noqa: E731
    assert worst(cosine, x, arb.cos, one) <= 2.0**-51
    assert worst(sine, x, arb.sin, one) <= 2.0**-51


def test_cos_sin_needs_its_range() -> None:
    """Far beyond the largest angle the products are no longer exact: callers have to check."""
    x = RANDOM.uniform(2.0**44, 2.0**45, 200)
    assert worst(cos_sin(x)[0], x, arb.cos, lambda _: arb(1)) > PROVED


def test_turn_minus_one() -> None:
    x = np.concatenate([ANGLES, around(np.array([0.25, -0.25, 0.5])), signed_scales(-500, -2, 500)])
    x = x[(x != 0) & (np.abs(x) > 2.0**-1000)]
    turned = turn_minus_one(x)
    with bits(BITS):
        for value, place in zip(turned.tolist(), x.tolist(), strict=True):
            half = arb(place) / 2
            real, imaginary = -2 * half.sin() ** 2, arb(place).sin()
            assert abs(arb(value.real) - real) + abs(arb(value.imag) - imaginary) <= ERROR * abs(arb(place)), place


def test_atan() -> None:
    x = np.concatenate([2.0 ** RANDOM.uniform(-500, 500, 1000), RANDOM.uniform(0, 3, 1000), [math.tan(math.pi / 16)]])
    assert worst(atan(x), x, arb.atan) <= 2.0**-48
    assert atan(np.array([0.0])).item() == 0


def normal_survival(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


def test_normal_tail() -> None:
    turning = math.pi * 2 * math.sqrt(2)  # where the part of the pole is left out
    x = np.concatenate([RANDOM.uniform(0, 37, 1500), signed_scales(-60, 5, 300), around(np.array([turning, 36.99]))])
    x = x[x <= 37]
    assert worst(normal_tail(x), x, normal_survival) <= ERROR
    assert normal_tail(np.array([0.0])).item() == 0.5
    negative = -RANDOM.uniform(0, 40, 300)
    negative = negative[negative > -37]
    assert worst(normal_tail(negative), negative, normal_survival) <= ERROR


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_random_points(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.uniform(LOWEST, HIGHEST, 20_000)
    assert worst(exp(x), x, arb.exp) <= 2.0**-50
    x = random.uniform(-2, 2, 20_000)
    assert worst(expm1(x), x, arb.expm1) <= PROVED
    x = random.uniform(-1 + 2.0**-40, 3, 20_000)
    assert worst(log1p(x), x, arb.log1p) <= PROVED
    x = random.uniform(-LARGEST_ANGLE, LARGEST_ANGLE, 20_000)
    assert worst(cos_sin(x)[0], x, arb.cos, lambda _: arb(1)) <= 2.0**-51
    x = random.uniform(0, 37, 5_000)
    assert worst(normal_tail(x), x, normal_survival) <= ERROR
