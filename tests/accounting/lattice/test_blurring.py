"""Transforms of atoms where they are, and of what is added to their sum."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpc

from privately.accounting.elementary import Floats
from privately.accounting.lattice import blurring
from privately.accounting.lattice.atoms import Atoms, atoms
from privately.accounting.lattice.blurring import atoms_piece, normal_piece
from privately.accounting.lattice.composing import exactly
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.pieces import real_bound
from privately.accounting.losses import SampledDiscreteGaussianLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.lattice.exact import number

FRAME = Frame(2.0**-9, 2**12, 3.0)
NODES = [0, 1, 7, 127, 128, 1000, 2047, 2048]


def at(frame: Frame, n: int) -> mpc:
    return mpc(number(frame.tilt), 2 * mp.pi * n / (frame.count * number(frame.step)))


@pytest.mark.parametrize("softness", [1e-9, 1e-5, 1e-2])
def test_the_transform_of_a_normal_loss(softness: float) -> None:
    height = 8.0
    piece = normal_piece(FRAME, softness, height)
    with mp.workdps(40):
        m = number(softness)
        for n in NODES:
            z = at(FRAME, n)
            exact = mp.exp((z * z + z) * m / 2)
            assert abs(exact - mpc(complex(piece.values[n]))) <= piece.errors[n]
            assert abs(exact) <= piece.bounds[n]
        for n in (2048, 2049, 3000, 10**5):
            z = at(FRAME, n)
            assert abs(mp.exp((z * z + z) * m / 2)) <= piece.beyond
        for b in (3.0, height):
            least = mp.exp((number(b) ** 2 + b) * m / 2)
            assert least <= real_bound(piece.curve, piece.weights, FRAME, b) <= least * (1 + 1e-9)
    assert piece.errors.max() < 1e-12
    with pytest.raises(NotApplicable):
        normal_piece(FRAME, 0.5, height)


def law() -> Atoms:
    return atoms(SampledDiscreteGaussianLoss(variance=Fraction(9), sensitivity=1, rate=Fraction(1, 7), direction="add"))


def test_the_transform_of_atoms() -> None:
    """Against sums of the same atoms, each loss as it was rounded; which moves it by no more than is said."""
    carried = law()
    piece, moved = atoms_piece(carried, FRAME)
    turns = blurring._shortened(carried.losses / FRAME.period)
    with mp.workdps(40):
        for turn, loss, off in zip(turns, carried.losses, carried.loss_errors, strict=True):
            assert abs(number(turn) * number(FRAME.period) - number(loss)) + number(off) <= moved
        for n in NODES:
            z = at(FRAME, n) * number(FRAME.period)
            exact = mp.fsum(
                number(mass) * mp.exp(z * number(turn)) for mass, turn in zip(carried.masses, turns, strict=True)
            )
            assert abs(exact - mpc(complex(piece.values[n]))) <= piece.errors[n]
            assert abs(exact) <= piece.bounds[n] <= piece.beyond
        exact = mp.fsum(
            number(mass) * mp.exp(8 * number(FRAME.period) * number(turn))
            for mass, turn in zip(carried.masses, turns, strict=True)
        )
        found = real_bound(piece.curve, piece.weights, FRAME, 8.0)
        assert exact <= number(Fraction(exactly(found).upper)) * (1 + mp.mpf(10) ** -12)
    assert moved < 1e-11
    assert piece.errors.max() < 1e-11


def test_turns_are_exact() -> None:
    """Products of rounded turns with numbers of rows and columns lose nothing."""
    turns = blurring._shortened(np.array([0.1, -1 / 3, 3e-7, 0.999]))
    for turn in turns.tolist():
        for n in (1, 127, 2**11 - 1):
            assert Fraction(turn * n) == Fraction(turn) * n
    with pytest.raises(NotApplicable):
        blurring._sums(turns, turns, 1 << 20)


def test_too_many_atoms_are_refused() -> None:
    many = np.linspace(0, 1, 5000)
    with pytest.raises(NotApplicable):
        atoms_piece(Atoms(many, 0 * many, 0 * many + 1 / 5000, 0 * many), FRAME)


def test_no_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many atoms and nodes there are, so many angles are held at once, and no more."""
    held: list[int] = []
    table = blurring._table

    def counted(places: Floats, turns: Floats, times: float) -> tuple[Floats, Floats]:
        held.append(places.size * turns.size)
        return table(places, turns, times)

    monkeypatch.setattr(blurring, "_table", counted)
    for many, nodes in ((1024, 1 << 16), (700, 1 << 17), (3, 1 << 17)):
        turns, sizes = np.arange(float(many)) / 2**20, np.ones(many)
        found = blurring._sums(turns, sizes, nodes + 1)
        assert max(held) <= max(blurring.TABLE, 128 * many)
        for node in (0, 1, 129, nodes // 3, nodes):
            exact = np.exp(2j * np.pi * node * turns).sum()
            assert abs(found[node] - exact) < 1e-9 * many
        held.clear()


def test_atoms_that_may_be_off_are_charged() -> None:
    frame, part = Frame(2.0**-6, 1024, 1.5), 1e-3
    masses, losses = np.array([0.5, 0.25]), np.array([0.7, -0.3])
    piece, moved = atoms_piece(Atoms(losses, np.full(2, part), masses, part * masses), frame)
    assert moved >= part
    assert (piece.errors >= part * float(masses @ np.exp(1.5 * losses))).all()
