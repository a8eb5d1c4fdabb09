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
    exp_and_expm1,
    exp_one,
    expm1,
    expm1_one,
    log,
    log1p,
    log_between,
    log_one,
    normal_tail,
    normal_tail_one,
    turn,
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


def fixed(value: arb) -> float:
    """The nearest float."""
    return float(value.mid())


def test_tables() -> None:
    """Every entry is the float nearest to the truth."""
    with bits(BITS):
        ln2, pi = arb(2).log(), arb.pi()
        pieces = np.arange(-512, 512).tolist()
        assert elementary._POWERS.tolist() == [fixed((ln2 * j / 1024).exp()) for j in pieces]
        assert elementary._LESS_ONE.tolist() == [fixed((ln2 * j / 1024).expm1()) for j in pieces]
        centres = [*range(176, 256), *range(256, 352, 2)]
        assert elementary._LOGS.tolist() == [fixed((arb(n) / 256).log()) for n in centres]
        assert [high for high, _ in elementary._LOG_PAIRS] == [fixed((arb(j) / 128).log()) for j in range(90, 184)]
        for j, (high, rest) in zip(range(90, 184), elementary._LOG_PAIRS, strict=True):
            assert rest == fixed((arb(j) / 128).log() - arb(high))
        quarters = {0: (1.0, 0.0), 1024: (0.0, 1.0), 2048: (-1.0, 0.0), 3072: (0.0, -1.0)}
        circle = [quarters.get(j) or (fixed((pi * j / 2048).cos()), fixed((pi * j / 2048).sin())) for j in range(4096)]
        assert list(zip(elementary._CIRCLE.real.tolist(), elementary._CIRCLE.imag.tolist(), strict=True)) == circle
        high, low = float(elementary._LN2_HIGH), float(elementary._LN2_LOW)
        assert low == fixed(ln2 / 1024 - arb(high))
        assert high * 2.0**43 == int(high * 2.0**43)
        high, low = float(elementary._ANGLE_HIGH), float(elementary._ANGLE_LOW)
        assert low == fixed(pi / 2048 - arb(high))
        assert high * 2.0**32 == int(high * 2.0**32)
        assert abs(arb(elementary.PI_EXACT.numerator) / elementary.PI_EXACT.denominator - pi) < 2.0**-240


PIECES: Floats = np.concatenate([np.arange(-700.0, 700.0) * 600 + 0.5, np.arange(-700.0, 700.0) * 37])
REDUCTION = around(PIECES * math.log(2) / 1024)
EXPONENTS = np.concatenate(
    [
        RANDOM.uniform(LOWEST, HIGHEST, 1500),
        RANDOM.uniform(-1, 1, 500),
        REDUCTION[np.abs(REDUCTION) < LOWEST * -1],
        (np.arange(-1021, 1022) + 0.5) * math.log(2),  # where the scale changes
        np.nextafter([LOWEST, HIGHEST], 0.0),
        [LOWEST, HIGHEST, 0.0, -0.0, math.log(2), -math.log(2)],
    ]
)
STEPS = around((np.arange(-40.0, 41.0) + 0.5) * math.log(2) / 1024)


def test_exp() -> None:
    assert worst(exp(EXPONENTS), EXPONENTS, arb.exp) <= 2.0**-51
    tiny = np.concatenate([signed_scales(-1074, -1, 300), STEPS])
    assert worst(exp(tiny), tiny, arb.exp) <= 2.0**-51


def test_exp_is_zero_below_its_range() -> None:
    below = np.array([np.nextafter(LOWEST, -math.inf), -709.0, -745.0, -1e4, -1e300])
    assert not exp(below).any()
    assert math.exp(LOWEST) < 1e-307
    assert exp(np.array([LOWEST])).item() > 0


def test_a_table_that_is_rounded_beside_one_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the proofs are not loose by orders of magnitude: a small fault shows."""
    monkeypatch.setattr(elementary, "_LESS_ONE", elementary._POWERS - 1)
    x = RANDOM.uniform(-0.02, 0.02, 3000)
    assert worst(expm1(x), x, arb.expm1) > PROVED


@pytest.mark.parametrize("name", ["_LN2_LOW", "_THREE", "_TWELVE"])
def test_constants_of_the_exponential_are_needed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(elementary, name, getattr(elementary, name) * (1 - 2.0**-20))
    assert worst(exp(EXPONENTS), EXPONENTS, arb.exp) > 2.0**-51


def test_expm1() -> None:
    moderate = EXPONENTS[EXPONENTS > -64]
    assert worst(expm1(moderate), moderate, arb.expm1) <= PROVED
    small = np.concatenate([signed_scales(-1074, 0, 600), around(np.arange(-40, 41) * math.log(2) / 1024), STEPS])
    small = small[small != 0]
    assert worst(expm1(small), small, arb.expm1) <= PROVED
    assert expm1(np.array([0.0, -0.0])).tolist() == [0, 0]
    low = -RANDOM.uniform(60, 1e6, 200)
    assert worst(expm1(low), low, arb.expm1) <= PROVED


def test_one_exponential() -> None:
    """The same operations as for many, with the same results."""
    small = signed_scales(-300, 0, 300)
    for x in (EXPONENTS, small):
        assert [exp_one(one) for one in x.tolist()] == exp(x).tolist()
        assert [expm1_one(one) for one in x.tolist()] == expm1(x).tolist()
    assert exp_one(math.nextafter(LOWEST, -math.inf)) == 0
    assert exp_one(-1e300) == 0
    assert expm1_one(-1e300) == -1
    assert log_one(1.0) == 0
    assert (
        worst(np.array([log_one(one) for one in (3.0, 1e-300, 0.7)]), np.array([3.0, 1e-300, 0.7]), arb.log) <= PROVED
    )


def test_both_exponentials() -> None:
    found, less = exp_and_expm1(EXPONENTS)
    assert worst(found, EXPONENTS, arb.exp) <= 2.0**-51
    assert worst(less, EXPONENTS, arb.expm1) <= PROVED
    assert (less == expm1(EXPONENTS)).all()
    below = np.array([-709.0, -1e4, -1e300])
    found, less = exp_and_expm1(below)
    assert found.max() < 1e-307
    assert (less == -1).all()


LOG1P_EDGES = around(np.concatenate([(np.arange(90, 182) + 0.5) / 128 - 1, np.arange(90, 182) / 128 - 1]))


CENTRES = np.concatenate([np.arange(176, 256) / 256, np.arange(256, 352, 2) / 256])
BETWEEN = np.concatenate([np.arange(176, 256) + 0.5, np.arange(256, 352, 2) + 1.0]) / 256
CELLS = around(np.concatenate([CENTRES, BETWEEN]))


def test_log1p() -> None:
    x = np.concatenate(
        [
            signed_scales(-1000, -1, 500),
            2.0 ** RANDOM.uniform(-3, 1023, 800),
            -1 + 2.0 ** RANDOM.uniform(-40, 0, 500),
            LOG1P_EDGES,
            around(4.0 * (np.arange(90, 182) + 0.5) / 128 - 1),
            *(CELLS * scale - 1 for scale in (1, 2, 0.5, 4, 2.0**-20, 2.0**-39, 2.0**44, 2.0**46, 2.0**60)),
            around(BETWEEN[(BETWEEN > 0.98) & (BETWEEN < 1.02)] - 1),
            [-1 + 2.0**-40, 1.0, -0.5, 2.0**53, 2.0**53 - 1, 2.0**54 + 2, math.exp(600), 1e300, 2.0**1023],
        ]
    )
    x = x[x != 0]
    assert worst(log1p(x), x, arb.log1p) <= 2.0**-50
    assert log1p(np.array([0.0])).item() == 0


def test_log1p_of_the_smallest_numbers() -> None:
    x = signed_scales(-1074, -1000, 200)
    assert (log1p(x) == x).all()


def test_log() -> None:
    ordinary = [2.0 ** RANDOM.uniform(-1021, 1020, 1000), around(1 + 2.0 ** -np.arange(1, 52.0)), CELLS, 2 * CELLS]
    x = np.concatenate([*ordinary, CELLS * 2.0**-900, [2.0**-1022, 1e308]])
    assert worst(log(x), x, arb.log) <= 2.0**-50
    below = 1 - 2.0 ** RANDOM.uniform(-52, -1, 500)
    assert worst(log(below), below, arb.log) <= 2.0**-50
    mixed = np.concatenate([2.0 ** RANDOM.uniform(-1074, -1020, 300), x, [5e-324, np.nextafter(2.0**-1022, 0)]])
    assert worst(log(mixed), mixed, arb.log) <= PROVED


@pytest.mark.parametrize("name", ["_CUBE", "_LN2_NEAREST", "_LOGS"])
def test_constants_of_the_logarithm_are_needed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(elementary, name, getattr(elementary, name) * (1 - 2.0**-30))
    x = np.concatenate([CELLS - 1, 2 * CELLS])
    assert worst(log1p(x), x, arb.log1p) > 2.0**-50


FUNCTIONS = [exp, expm1, log1p, log, atan, normal_tail, turn_minus_one]
PAIRS = [exp_and_expm1, cos_sin]


@pytest.mark.parametrize("function", [*FUNCTIONS, *PAIRS], ids=lambda function: function.__name__)
def test_shapes(function: Callable[[Floats], Floats]) -> None:
    """Empty arrays, tables, every second number and single numbers are answered alike, and left as they were."""
    x = RANDOM.uniform(0.1, 5, 60)
    before = x.copy()
    found = np.array(function(x))
    assert (x == before).all()
    axes = found.shape[:-1]
    assert (np.array(function(x.reshape(5, 12))) == found.reshape(*axes, 5, 12)).all()
    assert (np.array(function(x.reshape(5, 12).T)) == found.reshape(*axes, 5, 12).swapaxes(-1, -2)).all()
    assert (np.array(function(x[::2])) == found[..., ::2]).all()
    assert (np.array(function(np.array(x[0]))) == found[..., 0]).all()
    assert np.array(function(x[:0])).shape == (*axes, 0)
    assert (x == before).all()


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
        around((np.arange(-170, 170) + 0.5) * math.pi / 2048),
        around((RANDOM.integers(-(2**29), 2**29, 300) + 0.5) * math.pi / 2048),
        np.rint(RANDOM.uniform(-(2**18), 2**18, 300)) * (math.pi / 2),
        [LARGEST_ANGLE, -LARGEST_ANGLE, 0.0],
    ]
)


def test_cos_sin() -> None:
    """The proof's figure, 4u, and less than what is claimed."""
    x = ANGLES[np.abs(ANGLES) <= LARGEST_ANGLE]
    cosine, sine = cos_sin(x)
    one: Exact = lambda _: arb(1)  # noqa: E731
    turned = turn(x)
    assert max(worst(cosine, x, arb.cos, one), worst(turned.real, x, arb.cos, one)) <= 2.0**-51
    assert max(worst(sine, x, arb.sin, one), worst(turned.imag, x, arb.sin, one)) <= 2.0**-51


def test_the_sine_near_zero() -> None:
    x = np.concatenate([ANGLES, RANDOM.uniform(-0.13, 0.13, 3000), RANDOM.uniform(-0.01, 0.01, 2000)])
    x = x[(np.abs(x) <= LARGEST_ANGLE) & (np.abs(x) > 2.0**-1000)]
    off = [
        worst(sine, at, arb.sin, lambda _: arb(1)) for sine, at in zip(cos_sin(x)[1][:, None], x[:, None], strict=True)
    ]
    assert (np.array(off) <= 2.0**-47 * np.abs(x)).all()


@pytest.mark.parametrize("name", ["_MINUS_SIXTH", "_MINUS_24TH", "_ANGLE_LOW"])
def test_constants_of_the_angles_are_needed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(elementary, name, getattr(elementary, name) * (1 - 2.0**-5))
    x = ANGLES[np.abs(ANGLES) <= LARGEST_ANGLE]
    found = [worst(one, x, exact, lambda _: arb(1)) for one, exact in zip(cos_sin(x), (arb.cos, arb.sin), strict=True)]
    assert max(found) > 2.0**-51


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


def test_normal_tail_one() -> None:
    x = np.concatenate([RANDOM.uniform(-37, 37, 300), signed_scales(-60, 5, 60), [0.0, 8.88, 8.89, 36.99]])
    x = x[np.abs(x) <= 37]
    assert worst(np.array([normal_tail_one(one) for one in x.tolist()]), x, normal_survival) <= ERROR


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_random_points(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.uniform(LOWEST, HIGHEST, 20_000)
    assert worst(exp(x), x, arb.exp) <= 2.0**-51
    x = np.concatenate([random.uniform(-2, 2, 20_000), random.uniform(-0.003, 0.003, 10_000)])
    assert worst(expm1(x), x, arb.expm1) <= PROVED
    x = np.concatenate([random.uniform(-1 + 2.0**-40, 3, 20_000), random.uniform(-0.02, 0.02, 10_000)])
    assert worst(log1p(x), x, arb.log1p) <= 2.0**-50
    assert worst(log(1 + x), 1 + x, arb.log) <= 2.0**-50
    x = random.uniform(-LARGEST_ANGLE, LARGEST_ANGLE, 20_000)
    assert worst(cos_sin(x)[0], x, arb.cos, lambda _: arb(1)) <= 2.0**-51
    x = random.uniform(0, 37, 5_000)
    assert worst(normal_tail(x), x, normal_survival) <= ERROR
