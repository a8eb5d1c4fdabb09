"""Sums over a period against exact compositions."""

import itertools
import math
import weakref
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import cast

import mpmath
import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.bases import ExponentialBase, NormalBase
from privately.accounting.lattice.blurring import normal_piece
from privately.accounting.lattice.composing import Sum, exactly
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.multiplying import Part
from privately.accounting.lattice.one_off import OneOff
from privately.accounting.lattice.pieces import Piece, Wrong, smooth_piece
from privately.accounting.lattice.placing import atom_piece
from privately.accounting.lattice.smooth import Smooth
from privately.accounting.roads import NotApplicable
from privately.guarantees.curves import gaussian_delta
from privately.rounding import Enclosure

STEP = 0.125


def piece_of(losses: list[float], masses: list[float], frame: Frame) -> Piece:
    none = np.zeros(len(losses))
    return atom_piece(Atoms(np.array(losses), none, np.array(masses), none), frame, 0.0, "upper")[0]


def truth(parts: list[tuple[list[float], list[float], int]], epsilon: Fraction) -> mpmath.mpf:
    """E[(1 - e^(epsilon - S))+] by enumeration."""
    sums = {mpmath.mpf(0): mpmath.mpf(1)}
    for losses, masses, times in parts:
        for _ in range(times):
            grown: dict[mpmath.mpf, mpmath.mpf] = {}
            for total, weight in sums.items():
                for loss, mass in zip(losses, masses, strict=True):
                    grown[total + loss] = grown.get(total + loss, mpmath.mpf(0)) + weight * mass
            sums = grown
    place = mpmath.mpf(epsilon.numerator) / epsilon.denominator
    return mpmath.fsum(w * max(1 - mpmath.exp(place - s), 0) for s, w in sums.items())


FINITE = [([0.5, -0.25, 0.0], [0.3, 0.5, 0.2], 6), ([0.375, -0.5], [0.6, 0.4], 5)]


def finite_sum(tilt: float = 1.5, count: int = 512) -> Sum:
    frame = Frame(STEP, count, tilt)
    return Sum(frame, [Part(times, piece_of(l, m, frame), None) for l, m, times in FINITE], height=2 * tilt)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 8), Fraction(1, 3), Fraction(2), Fraction(331, 100)])
@pytest.mark.parametrize("tilt", [0.8, 1.5, 4.0])
def test_lattice_sums_are_exact(epsilon: Fraction, tilt: float) -> None:
    found = finite_sum(tilt)
    share = found.share(epsilon, up=False)
    value = found.profile(share)
    with mpmath.workdps(30):
        exact = truth(FINITE, found.epsilon(share))
    assert value.lower <= exact <= value.upper
    assert value.upper - value.lower <= 1e-7 * float(exact) + 1e-12


def test_what_a_missing_tilt_or_a_shifted_period_would_do() -> None:
    found, other = finite_sum(1.5), finite_sum(1.6)
    share = found.share(Fraction(2), up=False)
    with mpmath.workdps(30):
        exact = float(truth(FINITE, found.epsilon(share)))
    value = found.at(share)
    untilted = value.total * math.exp(float(found.log_unit.lower))
    assert abs(untilted - exact) > 0.5 * exact, "without e^(-c epsilon)"
    assert abs(value.total - other.at(share).total) > 1e-3, "two tilts have two sums"
    assert float(found.profile(share).upper) == pytest.approx(float(other.profile(share).upper), rel=1e-8)
    assert float(found.profile(share + Fraction(1, 512)).upper) < 0.99 * exact


def smooth_sum(law: Smooth, times: int, frame: Frame, right: float) -> Sum:
    return Sum(frame, [Part(times, None, smooth_piece(law, frame, 0.0, right))], height=1.6 * frame.tilt)


@pytest.mark.parametrize("times", [1, 3, 16])
def test_normal_losses(times: int) -> None:
    mu = 0.5
    frame = Frame(0.02, 1024, 5.0 / math.sqrt(times))
    found = smooth_sum(Smooth(NormalBase(mu), 1.0, "remove"), times, frame, 5.01)
    epsilon = Fraction(mu * math.sqrt(times) * 3)
    share = found.share(epsilon, up=False)
    value, exact = found.profile(share), gaussian_delta(Fraction(mu) * int(math.sqrt(times)), found.epsilon(share))
    if times != 3:
        assert value.lower <= exact.upper
        assert exact.lower <= value.upper
        assert value.upper - value.lower <= 1e-3 * float(exact.upper)


def test_powers_are_within_their_error() -> None:
    """Random numbers in place of transforms, moved by up to their errors."""
    draw = np.random.default_rng(5)
    frame = Frame(0.25, 64, 1.0)
    nodes = frame.count // 2 + 1

    def piece(size: float, off: float) -> tuple[Piece, Piece]:
        values = size * draw.random(nodes) * np.exp(2j * np.pi * draw.random(nodes))
        values[0] = size
        moved = values + off * draw.random(nodes) * np.exp(2j * np.pi * draw.random(nodes))
        moved[0] = size
        bounds, empty = np.full(nodes, size + 2 * off), (np.zeros(0), np.zeros(0))
        return tuple(Piece(one, np.full(nodes, off), bounds, 0.0, empty, empty) for one in (values, moved))  # type: ignore[return-value]

    for times in (1, 2, 9):
        for size in (0.02, 0.5):
            for off_base, off_extra in ((1e-6, 0.0), (0.0, 1e-6), (1e-3, 1e-4)):
                pairs = [(piece(1 - size, off_base), piece(size, off_extra)) for _ in range(2)]
                one, two = (
                    Sum(frame, [Part(times, base[i], extra[i]) for base, extra in pairs], height=2.0) for i in (0, 1)
                )
                differences = np.abs(one.terms - two.terms)
                assert differences @ frame.repeats / frame.period <= one.rounding


@pytest.mark.parametrize("once", [None, cast("OneOff", object())], ids=["plain", "without paths of one step"])
@pytest.mark.parametrize(("off_base", "off_extra"), [(1e-3, 0.0), (0.0, 1e-3), (1e-3, 1e-3)])
def test_the_worst_errors_of_powers(once: OneOff | None, off_base: float, off_extra: float) -> None:
    """All transforms real and as large as they may be, and wrong in one direction."""
    frame = Frame(0.25, 64, 1.0)
    nodes, empty = frame.count // 2 + 1, (np.zeros(0), np.zeros(0))

    def piece(size: float, off: float, moved: float) -> Piece:
        values = np.full(nodes, size - moved, dtype=np.complex128)
        values[0] = size
        return Piece(values, np.full(nodes, off), np.full(nodes, size), 0.0, empty, empty)

    for times, size in ((2, 0.3), (9, 0.05), (9, 0.2), (40, 0.02)):
        one, two = (
            Sum(
                frame,
                [Part(times, piece(1 - size, off_base, base), piece(size, off_extra, extra), once)],
                height=2.0,
            )
            for base, extra in ((0.0, 0.0), (off_base, off_extra))
        )
        gap = float(np.abs(one.terms - two.terms) @ frame.repeats) / frame.period
        assert gap <= two.rounding
        assert two.rounding < 0.1
        alone, moved = (Sum(frame, [Part(times, piece(1, off_base, by), None)], height=2.0) for by in (0.0, off_base))
        for share in (Fraction(0), Fraction(1, 7)):
            assert abs(alone.at(share).total - moved.at(share).total) <= moved.at(share).error


def test_what_the_last_nodes_have_of_a_density(monkeypatch: pytest.MonkeyPatch) -> None:
    """A normal loss whose transform has hardly fallen there: some sums are too small, and what is added covers that."""
    frame = Frame(0.125, 64, 1.5)
    m = 2 * (frame.step / math.pi) ** 2

    def least() -> float:
        found = Sum(frame, [Part(1, None, normal_piece(frame, m, 3.0))], height=3.0, softness=m)
        ratios = []
        for k in range(-12, 24):
            share = found.share(Fraction(m / 2 + k * math.sqrt(m) / 4), up=False)
            away = (float(found.epsilon(share)) - m / 2) / math.sqrt(m)
            density = math.exp(-away * away / 2) / math.sqrt(2 * math.pi * m)
            ratios.append(found.change(share) * float(found._scale(share).lower) / (m * math.exp(m / 8) * density))
        return min(ratios)

    assert least() >= 1
    monkeypatch.setattr(Sum, "_last_nodes", lambda self: 0.0)
    assert least() < 1


def test_the_last_nodes_are_bounded() -> None:
    """The terms that are left out, added up one by one."""
    frame = Frame(0.25, 64, 1.0)
    n = np.arange(32.0, 2e6)
    w = 2 * np.pi * n / frame.period

    def terms(base: float, extra: float, times: int) -> float:
        size = (base + extra) ** times - base**times
        return float(2 * (size / np.abs((1 + 1j * w) * (2 + 1j * w))).sum() / frame.period)

    for base, extra, times in ((0.0, 0.3, 2), (0.5, 0.1, 4), (0.7, 0.3, 1)):
        empty = np.zeros(0), np.zeros(0)
        nodes = np.ones(frame.count // 2 + 1)
        kept = Piece(base * nodes.astype(np.complex128), 0 * nodes, base * nodes, base, empty, empty) if base else None
        rest = Piece((1 - base) * nodes.astype(np.complex128), 0 * nodes, (1 - base) * nodes, extra, empty, empty)
        found = Sum(frame, [Part(times, kept, rest)], height=2.0)
        assert terms(base, extra, times) <= found._beyond() <= 3 * terms(base, extra, times) + 1e-12
        assert found.rounding >= found._beyond()


@pytest.mark.parametrize("count", [32 * 2, 128])
def test_aliases_are_bounded(count: int) -> None:
    """With a short period the sum is visibly above the truth, by no more than is taken off."""
    found = finite_sum(1.0, count)
    for epsilon in (Fraction(1, 2), Fraction(3)):
        share = found.share(epsilon, up=False)
        with mpmath.workdps(30):
            place = found.epsilon(share)
            exact = truth(FINITE, place)
            period = Fraction(STEP) * count
            shifted = mpmath.fsum(
                mpmath.exp(k * float(period)) * truth(FINITE, place + k * period) for k in range(-6, 7) if k
            )
        value = found.profile(share)
        assert abs(float(value.upper) - float(exact + shifted)) <= 1e-8
        assert 0 <= float(shifted) <= float(found.aliases(share).upper)
        assert count > 64 or float(value.upper) > 1.0001 * float(exact), "so that this test sees anything"


def test_aliases_from_the_right() -> None:
    """A loss that is larger than the period: the sum is above the truth by far more than what comes from the left."""
    losses, masses, tilt, count = [12.0, -0.5], [1e-3, 0.999], 0.5, 64
    frame, period = Frame(STEP, count, tilt), Fraction(STEP) * count
    found = Sum(frame, [Part(1, piece_of(losses, masses, frame), None)], height=2 * tilt)
    share = found.share(Fraction(1), up=False)
    place = found.epsilon(share)
    with mpmath.workdps(30):
        exact, right = (truth([(losses, masses, 1)], at) for at in (place, place + period))
    assert float(right) * math.exp(tilt * float(period)) <= float(found.aliases(share).upper)
    assert found.below(share).lower <= exact


@pytest.mark.parametrize("tilt", [0.125, 0.25])
def test_aliases_from_the_left(tilt: float) -> None:
    """What P has at least is taken off, of a law that Q has at most once: the sum stays above, and hardly so."""
    losses, masses, times = [0.5, -0.25], [0.42, 0.58], 6
    assert sum(mass * math.exp(-loss) for loss, mass in zip(losses, masses, strict=True)) < 1
    frame = Frame(STEP, 128, tilt)
    found = Sum(frame, [Part(times, piece_of(losses, masses, frame), None)], height=2 * tilt)
    for epsilon in (Fraction(1, 3), Fraction(3, 2)):
        share = found.share(epsilon, up=False)
        with mpmath.workdps(30):
            exact = float(truth([(losses, masses, times)], found.epsilon(share)))
        assert found.above(share).upper > 1.01 * exact
        known = found.above(share, Fraction(1))
        assert exact * (1 - 1e-12) <= known.upper <= exact * (1 + 1e-4)
        assert found.above(share, Fraction(101, 100)).upper < exact
        less = found.above(share, Fraction(1, 2))
        assert known.upper < less.upper < found.above(share).upper


def test_atoms_and_densities_together() -> None:
    """Laplace noise twice, by an integral over the first loss."""
    epsilon = 1.0
    frame = Frame(1 / 64, 1024, 2.0)
    law = Smooth(ExponentialBase(epsilon), 1.0, "remove")
    base = piece_of([epsilon, -epsilon], [0.5, math.exp(-epsilon) / 2], frame)
    found = Sum(frame, [Part(2, base, smooth_piece(law, frame, 0.0, math.inf))], height=4.0)

    def single(x: Floats) -> Floats:
        return np.where(x >= 1, 0, np.where(x >= -1, 1 - np.exp((x - 1) / 2), 1 - np.exp(x)))

    for place in (0.3, 1.0, 1.7):
        share = found.share(Fraction(place), up=False)
        e = float(found.epsilon(share))
        edges = np.sort(np.clip([-1, 1, e - 1, e + 1], -1, 1))
        nodes, weights = np.polynomial.legendre.leggauss(60)
        total = 0.5 * single(np.array([e - 1]))[0] + math.exp(-1) / 2 * single(np.array([e + 1]))[0]
        for a, b in itertools.pairwise(edges):
            l = (a + b) / 2 + (b - a) / 2 * nodes
            total += float((np.exp((l - 1) / 2) / 4 * single(e - l) * weights).sum() * (b - a) / 2)
        value = found.profile(share)
        assert float(value.lower) - 1e-12 <= total <= float(value.upper) + 1e-12
        assert value.upper - value.lower < 3e-3 * total


def test_what_cannot_be_summed_is_refused() -> None:
    frame = Frame(STEP, 64, 1.0)
    piece = piece_of([0.5, -0.5], [0.6, 0.4], frame)
    with pytest.raises(NotApplicable):
        Sum(frame, [Part(10**14, piece, None)], height=2.0)
    short = Sum(Frame(1e-3, 64, 0.5), [Part(1, piece_of([0.002], [1.0], Frame(1e-3, 64, 0.5)), None)], height=1.0)
    with pytest.raises(NotApplicable):
        short.aliases(Fraction(0))


def test_small_helpers() -> None:
    assert exactly(0.1).contains(Fraction(0.1))
    assert isinstance(finite_sum().log_unit, Enclosure)


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("kind", ["even", "random"])
def test_wrong_samples(times: int, kind: str) -> None:
    """A lattice law, and one with a curve that is off at every point: profiles are apart by at most the bound, and by
    nearly that where all errors have one sign.
    """
    frame, c, a = Frame(0.0625, 1024, 1.5), 1.5, 0.0625
    j = np.arange(-20.0, 60.0)
    masses = np.exp(-(((j - 15) / 20) ** 2))
    right = piece_of((a * j).tolist(), (masses / masses.sum()).tolist(), frame)
    signs = np.ones(1024) if kind == "even" else np.random.default_rng(times).uniform(-1, 1, 1024)
    moved = 1e-7 * a * signs  # of the curve, tilted and times the step, at all places of the period
    sums = np.conj(np.fft.rfft(moved))
    kinks = (math.exp((c + 1) * a) + math.exp(a) + 2) / (a * math.expm1(a))
    most, largest = float(np.abs(sums).max()) / a, 1e-7 * math.exp(c * a)
    wrong = Wrong(largest, float(np.abs(moved).sum()) * kinks, most * math.exp(c * a))
    off = replace(right, values=right.values + sums / frame.kernel, bounds=right.bounds + wrong.masses, wrong=wrong)
    true, found = (Sum(frame, [Part(times, piece, None)], height=3.0) for piece in (right, off))
    for epsilon in (Fraction(1, 2), Fraction(101, 160), Fraction(2)):
        share = true.share(epsilon, up=True)
        scale = (true.factors[0].unit / found.factors[0].unit) ** times
        gap = abs(true.at(share).total * scale - found.at(share).total)
        assert gap <= found.at(share).error
        if kind == "even" and times <= 2:
            assert gap >= found.at(share).error / 2
    with pytest.raises(NotApplicable):
        Sum(frame, [Part(1, off, None), Part(1, right, None)], height=3.0)


def test_no_part_is_kept() -> None:
    """Each is multiplied in before the next one is made, so that a hundred take no more memory than two."""
    frame, made = Frame(STEP, 512, 1.5), list[weakref.ref[Part]]()

    def parts() -> Iterator[Part]:
        for losses, masses, times in FINITE * 3:
            assert all(one() is None for one in made)
            part = Part(times, piece_of(losses, masses, frame), None)
            made.append(weakref.ref(part))
            yield part
            del part

    found = Sum(frame, parts(), height=3.0)
    assert [one.times for one in found.factors] == [6, 5] * 3
    assert len(made) == 6
    assert found.share(Fraction(1, 8), up=False) > 0
