"""Atoms where they are, without a lattice: their sum is blurred a little instead, so that its transform falls.

A lattice moves every atom, and the moves of many steps add up. A blur, a normal loss of small variance, is added to the
whole sum once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import ERROR, LOWEST, UNIT, Floats, cos_sin, exp
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.fourier import Complex
from privately.accounting.lattice.frame import Frame, enlarged, scalar_exp
from privately.accounting.lattice.pieces import Piece, dot
from privately.accounting.roads import NotApplicable

_BITS = 42
_COLUMNS = 128
_WORK = 1 << 17
TABLE = 1 << 15
"""So many angles are held at once."""
_RARE = 2.0**-56
_MOST = 1 << 10
_STEEPEST = 600.0
_TURN = 2 * math.pi
_EMPTY: Floats = np.zeros(0)


def normal_piece(frame: Frame, softness: float, height: float) -> Piece:
    """The transform e^((z^2 + z) m/2) of a normal loss of variance m; its bound at another height serves there alone.

    Theorem: computed as a product of an exponential and a turn it is off by at most 16 ERROR e^((c^2 + c) m/2).
    Reference: Dong-Roth-Su 2022, Corollary 2.1, for the loss
    Proof: docs/theory/accounting/lattice.md#blurs
    Checked-by: tests/accounting/lattice/test_blurring.py::test_the_transform_of_a_normal_loss
    """
    c, w = frame.tilt, frame.frequencies
    lifted = (c * c + c) * softness / 2
    if not (0 < lifted <= 1 and softness <= 1):
        raise NotApplicable("the blur is too wide")
    most = scalar_exp(lifted) * (1 + 4 * ERROR)
    fallen = exp(np.maximum(-w * w * (softness / 2), LOWEST)) * most
    cosine, sine = cos_sin(w * ((c + 0.5) * softness))
    values = np.asarray(fallen * (cosine + 1j * sine), dtype=np.complex128)
    off = 16 * ERROR * most
    beyond = float(exp(np.array([max(-(frame.beyond[0] ** 2) * (softness / 2), LOWEST)]))[0]) * most
    place = (height + c + 1) * softness / (2 * frame.step)
    return Piece(
        values,
        np.full(values.shape, off),
        fallen + off,
        beyond * (1 + 2.0**-20),
        (_EMPTY, _EMPTY),
        (np.array([place * (1 + 8 * UNIT)]), np.array([most])),
    )


def atoms_piece(atoms: Atoms, frame: Frame) -> tuple[Piece, float]:
    """The transform of atoms at the nodes, and by how much a loss was moved to either side.

    With t the loss as a part of the period, node n = 128 u + v turns it by 128 u t + v t whole turns: two tables and
    a product of matrices. t is rounded so that both are exact.

    Theorem: the sum of the computed terms is off by at most (8 ERROR + 4 (m + 8) UNIT) times the sum of their sizes,
        m the number of atoms, and the roundings of the sizes themselves.
    Reference: Higham 2002, section 3.5
    Proof: docs/theory/accounting/lattice.md#blurs
    Checked-by: tests/accounting/lattice/test_blurring.py::test_the_transform_of_atoms
    """
    turns = _shortened(atoms.losses / frame.period)
    losses = turns * frame.period
    moved = float((atoms.loss_errors + np.abs(losses) * (2.0**-_BITS + 8 * UNIT)).max(initial=0.0))
    exponents = frame.tilt * losses
    if float(exponents.max(initial=0.0)) > _STEEPEST:
        raise NotApplicable("the window of losses is too wide")
    tilts = exp(exponents)
    sizes, off = atoms.masses * tilts, atoms.mass_errors * tilts
    total = float(sizes.sum())
    order = np.argsort(sizes)
    rare = int((np.cumsum(sizes[order]) <= _RARE * total).sum())
    kept = order[rare:]
    if kept.size > _MOST:
        raise NotApplicable("too many atoms that do not lie on a lattice")
    left_out = float(sizes[order[:rare]].sum())
    lost = float(off.sum()) + dot(sizes, np.abs(exponents)) * 4 * UNIT + total * 2 * ERROR + left_out + 1e-300
    lost += total * (8 * ERROR + 4 * (kept.size + 8) * UNIT)
    lost = enlarged(lost, sizes.size + 8)
    mass = enlarged(total + lost, sizes.size + 8)
    values = _sums(turns[kept], sizes[kept], frame.count // 2 + 1)
    weights = losses / frame.step, sizes + off
    everywhere = np.ones(values.shape)
    return Piece(values, lost * everywhere, mass * everywhere, mass, (_EMPTY, _EMPTY), weights), moved


def _shortened(values: Floats) -> Floats:
    """To 42 bits."""
    mantissa, exponent = np.frexp(values)
    short: Floats = np.ldexp(np.rint(mantissa * 2.0**_BITS), exponent - _BITS)
    return short


def _sums(turns: Floats, sizes: Floats, nodes: int) -> Complex:
    """Of sizes[j] e^(2 pi i n turns[j]) over j, for n below `nodes`."""
    rows = -(-nodes // _COLUMNS)
    if rows > 1 << (53 - _BITS):
        raise NotApplicable("too many nodes")
    fine_cosine, fine_sine = _table(np.arange(float(_COLUMNS)), turns, 1.0)
    cosines, sines = fine_cosine.T * sizes[:, None], fine_sine.T * sizes[:, None]
    right, across = np.vstack([cosines, -sines]), np.vstack([sines, cosines])
    found = np.empty((rows, _COLUMNS), dtype=np.complex128)
    # The table is made in blocks that need little memory, and multiplied in blocks so small that the matrix product
    # stays on one processor.
    height, many = (max(work // max(turns.size, 1), 1) for work in (_WORK // (2 * _COLUMNS), TABLE))
    for first in range(0, rows, many):
        coarse = np.hstack(_table(np.arange(float(first), float(min(first + many, rows))), turns, float(_COLUMNS)))
        for start in range(0, coarse.shape[0], height):
            block = coarse[start : start + height]
            place = slice(first + start, first + start + block.shape[0])
            found.real[place] = block @ right
            found.imag[place] = block @ across
    return found.reshape(-1)[:nodes]


def _table(places: NDArray[np.float64], turns: Floats, times: float) -> tuple[Floats, Floats]:
    angles = np.outer(places, turns) * times
    return cos_sin((angles - np.rint(angles)) * _TURN)
