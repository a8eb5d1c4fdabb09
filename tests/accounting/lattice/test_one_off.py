"""Paths with one step off the atoms, against integrals in many digits; and what they are good for."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.compositions import Composition
from privately.accounting.lattice import road
from privately.accounting.lattice.atoms import Atoms, atoms
from privately.accounting.lattice.bases import ExponentialBase
from privately.accounting.lattice.composing import Sum
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.multiplying import Part
from privately.accounting.lattice.one_off import OneOff
from privately.accounting.lattice.pieces import Piece
from privately.accounting.lattice.smooth import Smooth, smooth
from privately.accounting.losses import GaussianLoss, SampledLaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

WIDTH = Fraction(1, 10**6)
STEP, OFFSET = 2.0**-6, 0.25
LAWS = [
    SampledLaplaceLoss(epsilon=Fraction(2), rate=Fraction(1, 4), direction="remove"),
    SampledLaplaceLoss(epsilon=Fraction(3), rate=Fraction(1, 8), direction="add"),
]


def dense_of(law: SampledLaplaceLoss | GaussianLoss) -> Smooth:
    found = smooth(law)
    assert found is not None
    return found


def profile(law: SampledLaplaceLoss, x: mpmath.mpf) -> mpmath.mpf:
    """E[(1 - e^(x - L))+] of the density, by an integral over the losses y without sampling."""
    top, q = mpmath.mpf(law.epsilon.numerator), mpmath.mpf(1) / law.rate.denominator

    def inner(y: mpmath.mpf) -> mpmath.mpf:
        ratio = 1 - q + q * mpmath.exp(y)
        gained = ratio - mpmath.exp(x) if law.direction == "remove" else 1 - mpmath.exp(x) * ratio
        return mpmath.exp(-(y + top) / 2) / 4 * max(gained, 0)

    level = 1 + (mpmath.exp(x if law.direction == "remove" else -x) - 1) / q
    kink = mpmath.log(level) if level > 0 else -top
    return mpmath.quad(inner, sorted({-top, min(max(kink, -top), top), top}))


def one_off(law: SampledLaplaceLoss, times: int) -> tuple[OneOff, list[int]]:
    points = [40, -7]
    found = OneOff.of(dense_of(law), atoms(law), np.array(points, dtype=float), times, step=STEP, offset=OFFSET)
    assert found is not None
    return found, points


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("times", [2, 5])
def test_one_step_off_the_atoms(law: SampledLaplaceLoss, times: int) -> None:
    found, points = one_off(law, times)
    masses = [mpmath.mpf(mass) for mass in atoms(law).masses.tolist()]
    for epsilon in (Fraction(-3), Fraction(0), Fraction(1, 3), Fraction(9, 8), Fraction(2), Fraction(7)):
        with mpmath.workdps(30):
            exact = mpmath.mpf(0)
            for i in range(times):
                place = epsilon + Fraction(OFFSET) - Fraction(STEP) * (i * points[0] + (times - 1 - i) * points[1])
                weight = times * math.comb(times - 1, i) * masses[0] ** i * masses[1] ** (times - 1 - i)
                exact += weight * profile(law, mpmath.mpf(place.numerator) / place.denominator)
            value, error = found.at(epsilon)
            assert abs(value - exact) <= error <= 1e-11 + 1e-9 * exact
        assert not exact or abs(value * (times - 1) / times - exact) > error, "so that a missing path is seen"


def test_far_from_all_losses() -> None:
    found, _ = one_off(LAWS[1], 3)
    assert found.at(Fraction(10**4))[0] == 0
    whole, error = found.at(Fraction(-(10**4)))
    mass = dense_of(LAWS[1]).mass()[0]
    assert whole == pytest.approx(3 * mass * sum(atoms(LAWS[1]).masses) ** 2, rel=1e-12)
    assert error < 1e-11


def test_where_there_are_none() -> None:
    law, none = LAWS[0], np.zeros(1)
    dense, many = dense_of(law), Atoms(np.zeros(3), np.zeros(3), np.ones(3) / 3, np.zeros(3))
    of = OneOff.of
    assert of(dense, atoms(law), np.array([1.0, 0.0]), 1, step=STEP, offset=0.0) is None
    assert of(dense, atoms(law), np.array([1.0, 0.0]), 65, step=STEP, offset=0.0) is None
    assert of(dense, many, np.zeros(3), 3, step=STEP, offset=0.0) is None
    assert of(dense, Atoms(none, none, none, none), none, 3, step=STEP, offset=0.0) is None
    normal = dense_of(GaussianLoss(mu_squared=Fraction(1)))
    assert of(normal, Atoms(none, none, none + 0.5, none), none, 3, step=STEP, offset=0.0) is None


def random_pieces(draw: np.random.Generator, frame: Frame, size: float, off: float) -> tuple[Piece, Piece]:
    """The same numbers twice, the second time moved by up to `off`."""
    nodes = frame.count // 2 + 1
    values = size * draw.random(nodes) * np.exp(2j * np.pi * draw.random(nodes))
    values[0] = size
    moved = values + off * np.exp(2j * np.pi * draw.random(nodes))
    moved[0] = size
    bounds, empty = np.full(nodes, size + 2 * off), (np.zeros(0), np.zeros(0))
    first, second = (Piece(one, np.full(nodes, off), bounds, size, empty, empty) for one in (values, moved))
    return first, second


@pytest.mark.parametrize("times", [2, 3, 9])
@pytest.mark.parametrize("size", [0.02, 0.5])
@pytest.mark.parametrize("offs", [(1e-6, 0.0), (0.0, 1e-6), (1e-3, 1e-4)])
def test_powers_less_one_step(times: int, size: float, offs: tuple[float, float]) -> None:
    """Random numbers in place of transforms, moved by their errors: terms move by no more than is allowed for."""
    draw, frame = np.random.default_rng(5), Frame(0.25, 64, 1.0)
    once = one_off(LAWS[0], times)[0]
    base, extra = random_pieces(draw, frame, 1 - size, offs[0]), random_pieces(draw, frame, size, offs[1])
    one, two = (Sum(frame, [Part(times, base[i], extra[i], once)], height=2.0) for i in (0, 1))
    b, t = base[0].values, extra[0].values
    exact = ((b + t) ** times - b**times - times * b ** (times - 1) * t) / frame.weight
    assert np.abs(one.terms - exact)[:-1].max() < 1e-13
    moved = float(np.abs(one.terms - two.terms) @ frame.repeats) / frame.period
    allowed = one.rounding - one._beyond()
    assert moved <= allowed
    assert times == 2 or allowed <= 100 * times**2 * moved + 1e-12  # t^2 does not depend on b


def test_the_last_nodes_less_one_step() -> None:
    """The terms that are left out, added up one by one."""
    frame, empty = Frame(0.25, 64, 1.0), (np.zeros(0), np.zeros(0))
    w = 2 * np.pi * np.arange(32.0, 2e5) / frame.period
    nodes = np.ones(frame.count // 2 + 1)
    for base, extra, times in ((0.5, 0.1, 4), (0.7, 0.3, 2), (0.6, 0.01, 9)):
        kept = Piece(base * nodes.astype(np.complex128), 0 * nodes, base * nodes, base, empty, empty)
        rest = Piece((1 - base) * nodes.astype(np.complex128), 0 * nodes, (1 - base) * nodes, extra, empty, empty)
        found = Sum(frame, [Part(times, kept, rest, one_off(LAWS[0], times)[0])], height=2.0)
        size = (base + extra) ** times - base**times - times * base ** (times - 1) * extra
        terms = float(2 * (size / np.abs((1 + 1j * w) * (2 + 1j * w))).sum() / frame.period)
        assert terms <= found._beyond() <= 6 * terms + 1e-12


def test_only_of_one_law() -> None:
    frame = Frame(0.25, 64, 1.0)
    base, extra = (random_pieces(np.random.default_rng(1), frame, 0.5, 0.0)[0] for _ in range(2))
    with_one, without = Part(3, base, extra, one_off(LAWS[0], 3)[0]), Part(3, base, extra)
    for parts in ([with_one, without], [without, with_one]):
        with pytest.raises(NotApplicable):
            Sum(frame, parts, height=2.0)


def two_steps(a: int, q: Fraction) -> Callable[[Fraction], mpmath.mpf]:
    """The profile of two steps of sampled Laplace noise, remove, by an integral over the first loss."""
    top, rate = mpmath.mpf(a), mpmath.mpf(q.numerator) / q.denominator

    def single(x: mpmath.mpf) -> mpmath.mpf:
        level = 1 + (mpmath.exp(x) - 1) / rate
        if level <= mpmath.exp(-top):
            return 1 - mpmath.exp(x)
        return rate * max(1 - mpmath.exp((mpmath.log(level) - top) / 2), 0)

    def loss(y: mpmath.mpf) -> mpmath.mpf:
        return mpmath.log(1 - rate + rate * mpmath.exp(y))

    def profile(epsilon: Fraction) -> mpmath.mpf:
        place = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        kinks = [1 + (mpmath.exp(place - loss(y)) - 1) / rate for y in (top, -top)]
        inside = [mpmath.log(kink) for kink in kinks if mpmath.exp(-top) < kink < mpmath.exp(top)]
        smooth_part = mpmath.quad(
            lambda y: mpmath.exp(-(y + top) / 2) / 4 * mpmath.exp(loss(y)) * single(place - loss(y)),
            sorted([-top, *inside, top]),
        )
        ends = ((top, mpmath.exp(-top) / 2), (-top, mpmath.mpf(1) / 2))
        return smooth_part + sum(mass * mpmath.exp(loss(y)) * single(place - loss(y)) for y, mass in ends)

    return profile


@pytest.mark.parametrize(("a", "q", "allowed"), [(3, "1/20", "1e-4"), (1, "1/2", "1e-3"), (2, "1/5", "1e-2")])
def test_two_steps_are_enclosed(a: int, q: str, allowed: str) -> None:
    law = SampledLaplaceLoss(epsilon=Fraction(a), rate=Fraction(q), direction="remove")
    found = road.epsilon(Composition(parts=((law, 2),)), Fraction(allowed), WIDTH)
    assert found.width < 1e-8
    with mpmath.workdps(25):
        profile, delta = two_steps(a, Fraction(q)), mpmath.mpf(allowed)
        assert profile(Fraction(found.upper)) <= delta <= profile(Fraction(found.lower))


def test_far_narrower_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    law = SampledLaplaceLoss(epsilon=Fraction(2), rate=Fraction(1, 5), direction="remove")
    monkeypatch.setattr(road, "_MORE", 1 << 15)

    def answer() -> Interval:
        return road.epsilon(Composition(parts=((law, 10),)), Fraction(1, 10**6), WIDTH)

    found = answer()
    with monkeypatch.context() as patched:
        patched.setattr(OneOff, "of", lambda *_, **__: None)
        plain = answer()
    assert max(found.lower, plain.lower) <= min(found.upper, plain.upper)
    assert 5 * found.width < plain.width
    for factor in (Fraction(9, 10), Fraction(11, 10)):  # too little or too much of these paths is seen
        with monkeypatch.context() as patched:
            at = OneOff.at
            patched.setattr(
                OneOff, "at", lambda self, x, at=at, factor=factor: tuple(float(factor) * one for one in at(self, x))
            )
            wrong = answer()
        assert wrong.upper < found.lower or wrong.lower > found.upper


def test_masses_that_may_be_off_are_charged_for_every_step() -> None:
    dense = Smooth(ExponentialBase(1.0), 1.0, "remove")
    found = OneOff(dense, (64, -64), (0.5, 0.2), (0.5e-6, 0.2e-6), 5, 2.0**-6, 0.0)
    assert found._weights[1] >= 4e-6
