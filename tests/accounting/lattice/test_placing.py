"""Atoms on the lattice: where they are, above or below."""

import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.elementary import Floats
from privately.accounting.lattice import placing
from privately.accounting.lattice.atoms import Atoms, atoms
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.placing import Placed, atom_piece
from privately.accounting.losses import SampledDiscreteGaussianLoss, response
from privately.accounting.roads import NotApplicable

STEP, OFFSET = 0.0625, 0.01
FRAME = Frame(STEP, 256, 2.0)


def law_of(losses: list[float], masses: list[float]) -> Atoms:
    carried = np.array(masses) / sum(masses)
    return Atoms(np.array(losses), np.zeros(len(losses)), carried, 1e-15 * carried)


def profile(losses: Floats, masses: Floats, epsilon: float, times: int) -> float:
    """E[(1 - e^(epsilon - S))+] of the sum of `times` copies, by enumeration."""
    sums, weights = np.zeros(1), np.ones(1)
    for _ in range(times):
        sums, weights = np.add.outer(sums, losses).ravel(), np.multiply.outer(weights, masses).ravel()
    return float((weights * np.maximum(-np.expm1(epsilon - sums), 0)).sum())


def placed_profile(placed: Placed, epsilon: float, times: int) -> float:
    return profile(placed[0] * STEP + OFFSET, placed[1], epsilon, times)


numbers = st.lists(st.tuples(st.floats(-1, 1), st.floats(0.05, 1)), min_size=1, max_size=5)


@settings(max_examples=60)
@given(numbers, st.floats(-0.8, 0.8), st.integers(1, 3))
def test_atoms_go_up_and_down(listed: list[tuple[float, float]], epsilon: float, times: int) -> None:
    """In any composition: the profile of those that are split is above, of those that are joined below."""
    law = law_of([loss for loss, _ in listed], [mass for _, mass in listed])
    exact = profile(law.losses, law.masses, epsilon, times)
    upper = placed_profile(placing._split(law, FRAME, OFFSET), epsilon, times)
    lower = placed_profile(placing._joined(law, FRAME, OFFSET, 0.0), epsilon, times)
    assert lower - 1e-12 <= exact <= upper + 1e-12


def test_false_twins_are_refuted() -> None:
    """Rounding to the nearest point is on neither side; splitting by distance alone is not above."""
    law = law_of([0.5 * STEP + OFFSET - 0.01, 2.6 * STEP + OFFSET], [1.0, 1.0])
    nearest = np.rint((law.losses - OFFSET) / STEP), law.masses, 0 * law.masses
    places = np.linspace(-0.1, 0.1, 9)
    above = [placed_profile(nearest, e, 2) >= profile(law.losses, law.masses, e, 2) for e in places]
    assert any(above)
    assert not all(above)
    low = np.floor((law.losses - OFFSET) / STEP)
    share = 0.9 * ((law.losses - OFFSET) / STEP - low)
    twin = np.concatenate([low, low + 1]), np.concatenate([law.masses * (1 - share), law.masses * share]), np.zeros(4)
    assert any(placed_profile(twin, e, 2) < profile(law.losses, law.masses, e, 2) for e in places)


def test_joining_keeps_more_than_lowering() -> None:
    """Many atoms: what is joined loses an order of the step more than what is merely rounded down."""
    law = law_of(np.linspace(-0.5, 0.5, 301).tolist(), np.exp(-(np.linspace(-2, 2, 301) ** 2)).tolist())
    exact = profile(law.losses, law.masses, 0.2, 1)
    joined = placed_profile(placing._joined(law, FRAME, OFFSET, 0.0), 0.2, 1)
    floor = np.floor((law.losses - OFFSET) / STEP), law.masses, 0 * law.masses
    assert 0 <= exact - joined < 0.2 * (exact - placed_profile(floor, 0.2, 1))


def test_a_lattice_that_settles_lowers_less() -> None:
    """Nearly all has next to no loss, as in rare samples: at the right offset it is hardly lowered, and still below."""
    spread = np.linspace(0, 6, 400)
    losses = -1e-4 + 2e-5 * np.expm1(2 * spread)
    law = law_of(losses.tolist(), np.exp(-(spread**2)).tolist())
    frame = Frame(STEP, 1024, 0.2)
    start = float(losses.min()) % STEP
    found = placing.settled(law, frame, start, 1000)
    mean = float(law.masses @ law.losses)
    least = [placing._joined(law, frame, offset, 0.0) for offset in (start, found)]
    means = [
        float(masses @ (places * STEP + offset))
        for (places, masses, _), offset in zip(least, (start, found), strict=True)
    ]
    assert means[0] < means[1] <= mean
    assert mean - means[1] < (mean - means[0]) / 5
    for epsilon in (0.0, 0.01, 0.1):
        exact = profile(law.losses, law.masses, epsilon, 2)
        places, masses, _ = least[1]
        assert profile(places * STEP + found, masses, epsilon, 2) <= exact
    assert placing.settled(law_of([0.0, STEP], [1.0, 1.0]), frame, 0.0, 1000) == 0


def test_atoms_on_the_lattice_stay() -> None:
    law = law_of([3 * STEP + OFFSET, -2 * STEP + OFFSET], [0.3, 0.7])
    piece, slack, exact = atom_piece(law, FRAME, OFFSET, "upper")
    assert exact
    assert slack < 1e-11
    z = FRAME.tilt + 1j * FRAME.frequencies
    truth = 0.3 * np.exp(3 * STEP * z) + 0.7 * np.exp(-2 * STEP * z)
    assert (np.abs(piece.values - truth) <= piece.errors + 1e-14).all()
    assert piece.bounds[0] == piece.beyond >= truth[0].real


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_transforms_of_many_atoms(side: placing.Side) -> None:
    law = atoms(
        SampledDiscreteGaussianLoss(variance=Fraction(9), sensitivity=1, rate=Fraction(1, 5), direction="remove")
    )
    piece, slack, exact = atom_piece(law, FRAME, 0.0, side)
    assert not exact
    assert slack < 1e-10
    j, masses, _ = placing._split(law, FRAME, 0.0) if side == "upper" else placing._joined(law, FRAME, 0.0, slack)
    z = FRAME.tilt + 1j * FRAME.frequencies[[0, 3, 50]]
    truth = (masses * np.exp(z[:, None] * STEP * j)).sum(axis=1)
    assert (np.abs(piece.values[[0, 3, 50]] - truth) <= piece.errors[[0, 3, 50]] + 1e-13).all()
    exact_mean = float((law.masses * np.exp(2 * law.losses)).sum())
    assert (piece.values[0].real >= exact_mean) == (side == "upper")
    assert piece.values[0].real == pytest.approx(exact_mean, rel=0.02)


def test_a_part_of_the_atoms_on_the_lattice_stays_on_the_lower_side_too() -> None:
    law = law_of([4 * STEP + OFFSET, 0.4 * STEP + OFFSET, -3 * STEP + OFFSET], [0.5, 0.2, 0.3])
    j, masses, _ = placing._joined(law, FRAME, OFFSET, 1e-12)
    assert j[0] == 4
    assert masses[0] == pytest.approx(0.5, abs=1e-6)
    assert j[-1] == -3
    assert masses.sum() == pytest.approx(1)


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(NotApplicable):
        atom_piece(atoms(response(Fraction(500))), Frame(0.25, 64, 2.0), 0.0, "upper")
    wide = law_of([-10.0, 0.3, 0.7001], [1e-3, 1.0, 1.0])
    with pytest.raises(NotApplicable):
        placing._joined(wide, Frame(1e-6, 64, 2.0), 0.0, 0.0)


def test_far_atoms_take_little_memory() -> None:
    """Between few atoms that lie far from each other there are millions of cells, and nothing in them."""
    spread = np.linspace(-9, 60, 2000)
    law = law_of(spread.tolist(), np.exp(-np.abs(spread)).tolist())
    tracemalloc.start()
    _, masses, _ = placing._joined(law, Frame(1e-4, 1 << 20, 2.0), 0.0, 0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert masses.sum() == pytest.approx(1, rel=1e-3)
    assert peak < 20e6


def test_many_atoms_at_one_place() -> None:
    """The error allows for the sum of all that fall on one point."""
    count = 10**5
    nothing = np.zeros(count)
    piece, _, _ = atom_piece(Atoms(nothing, nothing, np.full(count, 1 / count), nothing), FRAME, 0.0, "upper")
    assert abs(Fraction(piece.values[0].real) - count * Fraction(1 / count)) <= piece.errors[0]


def test_the_reference_of_this_file() -> None:
    with mpmath.workdps(20):
        expected = 0.3 * (1 - mpmath.exp(-0.5))
    assert profile(np.array([0.5, -0.5]), np.array([0.3, 0.7]), 0.0, 1) == pytest.approx(float(expected))
    assert math.isclose(placed_profile((np.array([1.0]), np.ones(1), np.zeros(1)), OFFSET, 1), -math.expm1(-STEP))


def test_no_atom_high_enough_to_be_joined() -> None:
    """Atoms that all lie far below what counts are refused, as any that cannot be placed."""
    law = law_of([-12.03, -12.1, -13.0], [1.0, 1.0, 1.0])
    with pytest.raises(NotApplicable, match="or none"):
        atom_piece(law, Frame(STEP, 256, 4.0), OFFSET, "lower")


def test_atoms_that_may_be_off_are_placed_on_the_safe_side() -> None:
    """Upward with all that they may have more, under P and under Q; downward with all that they may have less."""
    frame, off, part = Frame(2.0**-6, 1024, 1.5), 0.02, 0.01
    one = Atoms(np.array([1.05]), np.array([off]), np.array([0.5]), np.array([part]))
    places, masses, _ = placing._split(one, frame, 0.0)
    assert masses.sum() >= (0.5 + part) * (1 - 1e-12)
    assert masses @ np.exp(-places * frame.step) <= (0.5 + part) * math.exp(-1.05 - off) * (1 + 1e-12)
    places, masses, _ = placing._joined(one, frame, 0.0, 0.0)
    assert masses.sum() <= 0.5 - part
    assert (places * frame.step <= 1.05 - off).all()
