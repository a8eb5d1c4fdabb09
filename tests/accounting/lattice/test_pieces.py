"""Transforms from curves, against integrals."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from privately.accounting.elementary import UNIT
from privately.accounting.lattice import fourier, pieces
from privately.accounting.lattice.bases import ExponentialBase, NormalBase
from privately.accounting.lattice.fourier import Complex
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.pieces import Piece, chord_piece, dot, folded, real_bound, smooth_piece
from privately.accounting.lattice.smooth import Smooth
from privately.accounting.roads import NotApplicable

CASES = [
    (Smooth(NormalBase(1.0), 0.01, "remove"), Frame(1e-3, 4096, 6.0), 0.0, 4.0),
    (Smooth(NormalBase(1.0), 0.01, "add"), Frame(2e-4, 1024, 40.0), 0.0, math.inf),
    (Smooth(NormalBase(0.7), 1.0, "remove"), Frame(0.02, 256, 2.0), 0.0, 4.01),
    (Smooth(NormalBase(1.0), 0.05, "glued"), Frame(1e-3, 4096, 5.0), 0.0, 3.5),
    (Smooth(ExponentialBase(1.0), 1.0, "remove"), Frame(1 / 64, 256, 2.5), 0.0, math.inf),
    (Smooth(ExponentialBase(2.0), 0.1, "remove"), Frame(0.004, 512, 8.0), 0.0015, math.inf),
    (Smooth(ExponentialBase(1.0), 0.3, "add"), Frame(0.002, 512, 12.0), 0.0009, math.inf),
]


def truth(law: Smooth, z: NDArray[np.complexfloating], offset: float, right: float, cells: int = 800) -> Complex:
    """E[e^(z (L - offset))] over y <= right, with Gauss-Legendre points."""
    low, high = law.base.spread()
    high = min(high, right, law.base.spread()[0] * -1.5 + (40 if right < math.inf else 0))
    sides = [(low * 1.3 if isinstance(law.base, NormalBase) else low, high)]
    if law.form == "glued":
        sides = [(0.0, high), (0.0, -1.5 * low)]
    total = np.zeros(z.shape, dtype=np.complex128)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    for side, (left, end) in enumerate(sides):
        edges = np.linspace(left, end, cells + 1)
        half = np.diff(edges) / 2
        y = (edges[:-1] + half)[:, None] + half[:, None] * nodes
        mass = np.exp(law.base.log_density(y.ravel())) * (half[:, None] * weights).ravel()
        loss = np.logaddexp(np.log1p(-law.rate), np.log(law.rate) + y.ravel()) if law.rate < 1 else y.ravel()
        flipped = law.form == "add" or side == 1
        power = -z[:, None] * loss if flipped else (z[:, None] + 1) * loss
        total += (np.exp(power) * mass).sum(axis=1)
    shifted: Complex = total * np.exp(-z * offset).astype(np.complex128)
    return shifted


@pytest.mark.parametrize(("law", "frame", "offset", "right"), CASES)
def test_smooth_piece_is_within_its_error(law: Smooth, frame: Frame, offset: float, right: float) -> None:
    piece = smooth_piece(law, frame, offset, right)
    places = np.array([0, 1, 2, 5, 17, frame.count // 16, frame.count // 8, frame.count // 3, frame.count // 2])
    z = frame.tilt + 1j * frame.frequencies[places]
    expected = truth(law, z, offset, right)
    assert (np.abs(piece.values[places] - expected) <= piece.errors[places] + 1e-11 * abs(expected[0])).all()
    assert (np.abs(expected) <= piece.bounds[places] * (1 + 1e-9)).all()
    assert piece.errors[5] < 1e-3 * abs(expected[0])
    after = truth(law, frame.tilt + 1j * frame.beyond[:3] * 1.07, offset, right)
    assert (np.abs(after) <= piece.beyond + 1e-9).all()


CHORDS = [
    (Smooth(NormalBase(0.7), 1.0, "remove"), Frame(0.02, 256, 2.0), 0.0, 4.01),
    (Smooth(NormalBase(1.2), 0.3, "remove"), Frame(0.02, 1024, 1.5), 0.0, 12.013),
]


@pytest.mark.parametrize(("law", "frame", "offset", "right"), CHORDS)
def test_chords_are_a_law_on_the_lattice(law: Smooth, frame: Frame, offset: float, right: float) -> None:
    """Their transform is the sum over all aliases and, on the real line, above the true one; no mass is negative."""
    piece = chord_piece(law, frame, offset, right)
    places = np.array([0, 5, frame.count // 3])
    z = frame.tilt + 1j * frame.frequencies[places]
    expected = np.zeros(places.size, dtype=np.complex128)
    for k in range(-12, 13):
        alias = z + 2j * math.pi * k / frame.step
        expected += truth(law, alias, offset, right, cells=3200) / (alias * (alias + 1))
    expected /= frame.kernel[places]
    assert piece.wrong is not None
    wrong = piece.wrong.sums * frame.step / np.abs(frame.kernel[places])
    assert (np.abs(piece.values[places] - expected) <= piece.errors[places] + wrong).all()
    assert piece.errors[-1] + wrong[-1] < 1e-8
    assert piece.wrong.largest < 1e-11
    real = float(truth(law, np.array([frame.tilt + 0j]), offset, right)[0].real)
    assert real < piece.values[0].real < real * (1 + frame.tilt * (frame.tilt + 1) * frame.step**2)
    assert piece.values[0].real <= piece.bounds[0]
    masses = np.fft.irfft(np.conj(piece.values), frame.count)
    assert masses.min() > -1e-9 * masses.max()


def test_what_the_parts_of_the_formula_are_for() -> None:
    """Without the lattice law, without the division of the chords, or without the cut, the truth is outside."""
    law, frame, offset, right = CASES[0]
    piece = smooth_piece(law, frame, offset, right)
    z = frame.tilt + 1j * frame.frequencies[:40]
    expected = truth(law, z, offset, right)
    curve, chords = piece.curve, (frame.weight * frame.kernel)[:40]
    assert (np.abs(piece.values[:40] / chords - expected) > piece.errors[:40] + 1e-11).any()
    uncut = truth(law, z, offset, 40.0)
    assert (np.abs(piece.values[:40] - uncut) > piece.errors[:40] + 1e-11).all()
    samples = fourier.transform(folded(curve[0], curve[1], frame.count)[0])
    assert (np.abs((frame.weight * samples)[:40] - expected) > piece.errors[:40] + 1e-11).all()


@pytest.mark.parametrize(("law", "frame", "offset", "right"), CASES)
@pytest.mark.parametrize("factor", [1.0, 1.2, 2.0])
def test_bounds_at_other_heights(law: Smooth, frame: Frame, offset: float, right: float, factor: float) -> None:
    piece = smooth_piece(law, frame, offset, right)
    height = frame.tilt * factor
    bound = real_bound(piece.curve, piece.weights, frame, height)
    expected = float(truth(law, np.array([height + 0j]), offset, right)[0].real)
    assert expected * (1 - 1e-10) <= bound <= expected * 1.05


def test_bounds_too_far_away_are_infinite() -> None:
    law, frame, offset, right = CASES[0]
    piece = smooth_piece(law, frame, offset, right)
    assert real_bound(piece.curve, piece.weights, frame, 1e4) == math.inf


@pytest.mark.parametrize("x", [0.0, 0.1, 0.35, 0.5])
def test_alias_sums(x: float) -> None:
    """Constant bounds: the sum over all aliases, in units of the nearest frequency."""
    frame = Frame(0.01, 256, 1.0)
    n = round(x * frame.count)
    x = n / frame.count
    k = np.arange(1, 10**6)
    exact = (1 / (k + x) ** 2).sum() + (1 / (k - x) ** 2).sum()
    found = pieces._aliases(frame, np.ones(9))[n] / frame.size[n] / (frame.step / (2 * math.pi)) ** 2
    assert exact <= found <= 1.6 * exact


def test_alias_sums_use_the_right_frequency() -> None:
    """The nearest alias of the last node is at pi/a, that of the first at 2 pi/a."""
    frame = Frame(0.01, 256, 1.0)
    falls = np.array([1.0, *([0.0] * 8)])
    found = pieces._aliases(frame, falls)
    assert found[-1] > 0 == found[0]
    falls = 1 / np.arange(8.0, 17.0)
    n = np.arange(frame.count // 2 + 1)
    nearest = (2 - 2 * n / frame.count) * 8
    allowed = falls[np.floor(np.minimum(nearest, 16)).astype(int) - 8]
    exact = pieces._aliases(frame, falls) / frame.size / (frame.step / (2 * math.pi)) ** 2
    assert (exact >= allowed / (1 - n / frame.count) ** 2).all()


@pytest.mark.parametrize("tilt", [0.4, 3.0, 30.0])
def test_nothing_below_the_window_is_lost(tilt: float) -> None:
    law = Smooth(NormalBase(1.0), 1.0, "remove")
    frame = Frame(0.01, 256, tilt)
    low, missing = pieces._lowest(law, frame, 0.0)
    j = np.arange(low - 5000.0, low)
    below, _ = law.curve(np.maximum(j * frame.step, -36.0))
    assert (below * np.exp(tilt * j * frame.step)).sum() * frame.step <= missing < 1e-15


def test_values_are_brought_back_into_their_discs() -> None:
    values = np.array([3 + 4j, 0.1j, 0j])
    assert np.abs(pieces._within(values, np.ones(3))).tolist() == pytest.approx([1.0, 0.1, 0.0])


def test_windows_that_are_too_wide_are_refused() -> None:
    with pytest.raises(NotApplicable):
        smooth_piece(CASES[0][0], Frame(1e-7, 64, 6.0), 0.0, 4.0)


def test_small_helpers() -> None:
    assert dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11
    cells, adding = folded(np.array([-1.0, 3.0, 66.0, 2.0]), np.ones(4), 64)
    assert cells[[63, 3, 2]].tolist() == [1, 1, 2]
    assert adding == 2 * UNIT
    assert isinstance(smooth_piece(*CASES[4][:3], CASES[4][3]), Piece)


def test_a_cut_on_a_lattice_point_is_refused() -> None:
    """There, roundings would decide whether a sample counts."""
    law, frame, offset, right = CASES[2]
    assert pieces._highest(law, frame, offset, right) == 200
    with pytest.raises(NotApplicable):
        pieces._highest(law, frame, offset, 200 * frame.step)
    assert pieces._highest(*CASES[4]) == 65, "one more than the last loss"


def test_two_parts_are_one() -> None:
    first, second = (smooth_piece(*CASES[4][:3], math.inf) for _ in range(2))
    both = pieces.together(first, second)
    assert np.array_equal(both.values, 2 * first.values)
    assert (both.errors > 2 * first.errors).all()
    assert (both.bounds > 2 * first.bounds).all()
    assert both.beyond > 2 * first.beyond
    frame = CASES[4][1]
    assert real_bound(both.curve, both.weights, frame, 4.0) == pytest.approx(
        2 * real_bound(first.curve, first.weights, frame, 4.0)
    )
