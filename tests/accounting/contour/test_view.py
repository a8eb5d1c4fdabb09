"""Sums of turning points, and their powers, stay within the bounds that come with them."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import view
from privately.accounting.contour.view import Complex, View, enlarged, exp_above, power, product
from privately.accounting.elementary import UNIT, Floats, cos_sin
from tests.accounting.contour.exact_transforms import precision

RANDOM = np.random.default_rng(7)


def seen(losses: Floats | Complex, weights: Floats | Complex) -> View:
    """A view whose points are exactly right."""
    return View((0.0, 0.0), 0.0, weights, losses, 0.0, 0.0)


def points(scale: float, size: int, beside: bool) -> View:
    losses = RANDOM.normal(size=size) * scale
    weights = RANDOM.dirichlet(np.ones(size))
    if beside:
        turned = weights * (0.6 + 0.8j) * np.exp(1j * RANDOM.uniform(-1, 1, size))
        return seen(losses + 1j * np.abs(RANDOM.normal(size=size)) * scale, turned)
    return seen(losses, weights)


def exact_transform(of: View, step: float, n: int) -> acb:
    total = acb(0)
    for weight, loss in zip(of.weights.tolist(), of.losses.tolist(), strict=True):
        turn = (acb(0, 1) * n * arb(step) * acb(loss)).exp() - 1
        total += acb(weight) * turn
    return total


def excess(of: View, step: float, count: int, places: list[int]) -> float:
    """The largest error over its bound."""
    found, bounds = of.transforms(step, count)
    with precision(200):
        return max(
            float((abs(acb(complex(found[n - 1])) - exact_transform(of, step, n)) / arb(float(bounds[n - 1]))).upper())
            for n in places
        )


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("scale", [1e-12, 1e-4, 1.0, 300.0])
@pytest.mark.parametrize("count", [1, 2, 3, 64, 65, 1000])
def test_turning_by_doubling(count: int, scale: float, beside: bool) -> None:
    of = points(scale, 20, beside)
    places = sorted({1, 2, 3, count // 2, count - 1, count} & set(range(1, count + 1)))
    assert excess(of, 0.7, count, places) <= 1


def test_the_bound_is_useful() -> None:
    of = points(1e-6, 50, False)
    _, bounds = of.transforms(0.5, 256)
    assert bounds[-1] <= 2.0**-42 * 128 * 1e-6


def test_subtracting_one_too_late_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(angle: Floats) -> Complex:
        cosine, sine = cos_sin(angle)
        return (cosine - 1) + 1j * (sine + 1 - 1)

    monkeypatch.setattr(view, "turn_minus_one", late)
    assert excess(points(1e-10, 20, False), 0.7, 64, [1, 2, 64]) > 1


def test_forgetting_the_imaginary_parts_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "expm1", np.zeros_like)
    assert excess(points(1.0, 20, True), 0.7, 8, [1, 8]) > 1


def in_the_disk(size: int, scale: float) -> Complex:
    """Numbers a with |1 + a| at most 1, |a| about `scale`."""
    fall = np.abs(RANDOM.normal(size=size)) * scale**2 + 1e-15
    angle = RANDOM.normal(size=size) * scale
    real = np.expm1(-fall) * np.cos(angle) - 2 * np.sin(angle / 2) ** 2
    return np.asarray(real + 1j * np.exp(-fall) * np.sin(angle), dtype=np.complex128)


TIMES = [1, 2, 3, 7, 1000, 4096, 999_983, 10**9 + 7, 10**12, 10**12 - 1]


def power_excess(times: int, a: Complex, error: float) -> float:
    """How far the true powers of numbers of the unit disk within `error` may be off, over the bound."""
    found, bounds = power(a, np.full(a.size, error), times)
    worst = 0.0
    with precision(400):
        for one, value, bound in zip(a.tolist(), found.tolist(), bounds.tolist(), strict=True):
            for direction in (1, -1, 1j, -1j, 0):
                true = 1 + acb(one) + acb(direction) * arb(error)
                if abs(true) > 1:
                    continue
                worst = max(worst, float((abs(true**times - 1 - acb(value)) / arb(bound)).upper()))
    return worst


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("part", [1e-9, 1e-2])
def test_powers(times: int, part: float) -> None:
    for scale in (times**-0.5 / 3, 1e-3, 0.3):
        assert power_excess(times, in_the_disk(40, scale), part / times) <= 1


@pytest.mark.parametrize("part", [0.1, 0.2, 0.245, 0.25, 0.4, 0.5])
def test_powers_of_what_is_hardly_known(part: float) -> None:
    """1 in truth and a little more as it is known: at the edge of what is faithful, and beyond it."""
    times = 10**6
    found, bounds = power(np.array([part / times + 0j]), np.array([part / times]), times)
    assert abs(found[0]) == pytest.approx(math.expm1(part), rel=1e-5)
    assert abs(found[0]) <= bounds[0]


def test_powers_lose_little() -> None:
    """While a is small the rounding is relative to T a, not to T."""
    a = in_the_disk(40, 1e-10)
    _, bounds = power(a, np.zeros(a.size), 10**9)
    assert bounds.max() <= 2.0**-43


def test_the_rounding_of_powers_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With exact inputs the bound is the rounding alone; without it the bound is broken."""
    a = in_the_disk(60, 1e-3)

    def gap(times: int) -> tuple[float, float]:
        found, bounds = power(a, np.zeros(a.size), times)
        with precision(400):
            gaps = [
                abs((1 + acb(complex(one))) ** times - 1 - acb(complex(value)))
                for one, value in zip(a, found, strict=True)
            ]
        return max(float(each.upper()) for each in gaps), float(bounds.max())

    most, bound = gap(10_000)
    assert 0 < most <= bound
    monkeypatch.setattr(view, "UNIT", 0.0)
    most, bound = gap(10_000)
    assert most > bound


def test_products() -> None:
    a, b = in_the_disk(50, 0.5), in_the_disk(50, 1e-5)
    found, bounds = product(a, np.full(50, 1e-15), b, np.full(50, 1e-16))
    with precision(200):
        for one, two, value, bound in zip(a, b, found, bounds, strict=True):
            true = (1 + acb(complex(one))) * (1 + acb(complex(two))) - 1
            assert abs(true - acb(complex(value))) <= arb(float(bound))
    _, (bound,) = product(np.zeros(1, dtype=complex), np.array([0.25]), np.zeros(1, dtype=complex), np.array([0.5]))
    assert bound >= 1.25 * 1.5 - 1  # both off in the same direction


def test_what_a_view_states_is_in_its_bounds() -> None:
    known = seen(np.array([0.3, -0.2]), np.array([0.4, 0.6]))
    _, bounds = replace(known, error=0.25, slope=0.5).transforms(2.0, 2)
    assert (bounds >= [0.25 + 1.0, 0.25 + 2.0]).all()


def test_powers_of_two_above_exponentials() -> None:
    with precision(200):
        for x in [*RANDOM.uniform(-690, 690, 300).tolist(), 0.0, -math.log(2), math.log(2), 5 * math.log(2)]:
            assert arb(x).exp() <= arb(exp_above(x)) <= 4 * arb(x).exp()
    assert exp_above(1e6) == math.inf
    assert exp_above(-1e6) > 0
    assert enlarged(1.0) > 1


def test_threads_share_no_memory() -> None:
    """Turns are kept in memory that is used again, by the same thread only."""
    views = [points(0.3, 200, beside=False) for _ in range(24)]
    alone = [one.transforms(0.5, 100)[0] for one in views]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: one.transforms(0.5, 100)[0], views * 4))
    assert all(np.allclose(a, b, rtol=1e-12, atol=1e-15) for a, b in zip(alone * 4, together, strict=True))


@pytest.mark.parametrize("alone", [1, 1 << 15])
@pytest.mark.parametrize("block", [1, 64, 1 << 15])
def test_sums_of_turns(monkeypatch: pytest.MonkeyPatch, block: int, alone: int) -> None:
    """However many points are turned at once, and multiplied at once; few or many of them."""
    monkeypatch.setattr(view, "BLOCK", block)
    monkeypatch.setattr(view, "_ALONE", alone)
    for size in (1, 4, 5, 90):
        for beside in (False, True):
            of = points(0.4, size, beside)
            for count in (1, 2, 7, 33, 200):
                assert excess(of, 0.7, count, sorted({1, min(5, count), count})) <= 1


def fading(size: int) -> View:
    """Points whose turns die out, the first long before the last."""
    of = points(0.4, size, True)
    return seen(of.losses.real + 1j * np.geomspace(2.0, 0.01, size), of.weights)


def test_turns_that_have_died_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond where they end nothing is turned, and the sum is right all the same: at the edge of every part, too."""
    of, step, count = fading(90), 0.7, 8000
    monkeypatch.setattr(view, "BLOCK", 2048)
    edges = [view._alive(step * of.losses[k : k + 11], count) for k in range(0, 90, 11)]
    assert edges[0] < count / 100 < edges[-1] < count
    assert excess(of, step, count, sorted({n for edge in edges for n in (edge, edge + 1)} | {1, count})) <= 1


def test_turns_that_are_cut_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the way is too little."""
    of, step, count = fading(90), 0.7, 8000
    monkeypatch.setattr(view, "BLOCK", 2048)
    monkeypatch.setattr(view, "_DEAD", 14.0)
    edge = view._alive(step * of.losses[:11], count)
    assert excess(of, step, count, [edge + 1]) > 1


@pytest.mark.parametrize("fault", ["a multiple less", "no multiples", "without the whole turns"])
def test_lost_turns_break_the_bound(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    of = points(0.4, 30, False)
    whole = view.Turns.of

    def turned(angles: Floats, count: int) -> view.Turns:
        found = whole(angles, count)
        match fault:
            case "a multiple less":
                return view.Turns(found.small, np.concatenate([found.small[:1], found.large[:-1]]))
            case "no multiples":
                return view.Turns(found.small, np.zeros_like(found.large))
        return view.Turns(found.small, found.large * (1 - 1e-9))

    monkeypatch.setattr(view.Turns, "of", turned)
    assert excess(of, 0.7, 100, [17, 99, 100]) > 1


@pytest.mark.parametrize("count", [300, 9000])
def test_products_in_parts_are_the_same(count: int) -> None:
    turns = view.Turns.of(np.linspace(0.01, 0.3, 400), count)
    assert turns.large.shape[0] * turns.small.shape[0] * 400 > view._ALONE
    whole = turns.large @ turns.small.T
    assert np.allclose(view._product(turns.large, turns.small), whole, rtol=1e-13, atol=0)


@pytest.mark.parametrize("times", [1, 2, 255, 256, 1000, 999_983, 10**9 + 7])
def test_whole_powers(times: int) -> None:
    """The first digits are done plainly: what that adds is covered, and not by much."""
    for scale in (times**-0.5 / 3, 0.3):
        a = in_the_disk(40, scale)
        by_error, by_size = view.power_errors(times)
        found, added = view.whole_power(a, times)
        with precision(400):
            for one, value in zip(a.tolist(), found.tolist(), strict=True):
                off = float(abs((1 + acb(one)) ** times - acb(value)).upper())
                bound = by_size * (abs(one.real) + abs(one.imag)) + by_error * 0
                assert off <= added + (bound if bound <= view.FAITHFUL else 2)
        assert added <= 2.0**-42


def test_the_rounding_of_plain_powers_counts() -> None:
    """Numbers of size 1, whose plain products are rounded: more than a part in 1000 of what is charged is lost."""
    a = np.asarray(np.exp(1j * RANDOM.uniform(-3, 3, 200)) - 1, dtype=np.complex128)
    found, added = view.whole_power(a, 255)
    with precision(400):
        gaps = [abs((1 + acb(one)) ** 255 - acb(value)) for one, value in zip(a.tolist(), found.tolist(), strict=True)]
    assert added / 1000 <= max(float(gap.upper()) for gap in gaps) <= added + view.power_errors(255)[1] * 4


@pytest.mark.parametrize("count", [2, 3, 8, 29, 100, 256])
def test_plain_transforms(count: int) -> None:
    """Sums of turns by plain products, for two rows of weights, within what is claimed and not by much."""
    angles, weights = RANDOM.uniform(-2, 2, 40), RANDOM.uniform(0, 1, (2, 40))
    weights /= weights.sum(axis=1)[:, None]
    found, claimed = view.plain_transforms(weights, angles, count), (16 * count + 4 * 40 + 16) * UNIT
    assert found.shape == (2, count)
    worst = 0.0
    with precision(200):
        for row, sums in zip(weights.tolist(), found.tolist(), strict=True):
            for n in {1, count // 2, count - 1, count} - {0}:
                exact = sum(
                    (w * (acb(0, 1) * n * arb(x)).exp() for w, x in zip(row, angles.tolist(), strict=True)), acb(0)
                )
                worst = max(worst, float(abs(acb(sums[n - 1]) - exact).upper()))
    assert claimed / 1000 < worst <= claimed


@pytest.mark.parametrize("times", [1, 2, 51, 1000, 999_983])
def test_plain_powers(times: int) -> None:
    """Numbers of size 1: what is lost is at most 4 u a factor."""
    value = np.asarray(np.exp(1j * RANDOM.uniform(-3, 3, (2, 20))), dtype=np.complex128)
    found = view.plain_power(value, times)
    with precision(400):
        pairs = zip(value.ravel().tolist(), found.ravel().tolist(), strict=True)
        gaps = [abs(acb(power) / acb(one) ** times - 1) for one, power in pairs]
    assert max(float(gap.upper()) for gap in gaps) <= 4 * times * UNIT
