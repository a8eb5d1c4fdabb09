"""Atoms on the lattice: exactly where they are, or moved to the safe side."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, expm1
from privately.accounting.lattice import fourier
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.frame import Frame, enlarged, exp_of_many, scalar_expm1
from privately.accounting.lattice.pieces import Piece, dot, folded
from privately.accounting.roads import NotApplicable

Side = Literal["upper", "lower"]
Placed = tuple[Floats, Floats, Floats]

_EMPTY: Floats = np.zeros(0)
_STEEPEST = 600.0
_FEW = 4
_LEAST = 1e-280
_NOISE = 2.0**-41
_QUIET = 44.0
_NEAR = 2.0**-38
"""Atoms as near to a lattice point as this part of the step and the losses lie on it; epsilon allows for that."""

_FINER = 8
_LONGEST = 1 << 14
_WIDEST = 1 << 20
_PARTS, _LITTLE, _LITTLE_STEP = (0.99, 0.95, 0.9, 0.9), 4.0, 2.0**-10
"""The lattice goes up by such a part of what would be lowered, again and again, unless that is little."""


def atom_piece(atoms: Atoms, frame: Frame, offset: float, side: Side) -> tuple[Piece, float, bool]:
    """Atoms on the lattice; by how much a loss may have been moved to either side; and whether all lie on it anyway.

    On the side "upper" an atom between two points is split so that its mass and mean ratio stay, on the side "lower"
    it goes down, after those of a cell have been joined.
    """
    a, c = frame.step, frame.tilt
    points, slack = nearest(atoms, frame, offset)
    if _is_near(slack, atoms, frame):
        exact, (j, masses, errors) = True, (points, atoms.masses, atoms.mass_errors)
    else:
        exact, slack = False, 0.0 if side == "upper" else _raised(atoms, frame)
        j, masses, errors = _split(atoms, frame, offset) if side == "upper" else _joined(atoms, frame, offset, slack)
    exponents = c * a * j
    if float(exponents.max(initial=0.0)) > _STEEPEST:
        raise NotApplicable("the window of losses is too wide")
    tilts = exp_of_many(exponents)
    weights, off = masses * tilts, errors * tilts
    total = float(weights.sum())
    lost = float(off.sum()) + dot(weights, np.abs(exponents)) * 4 * UNIT + total * 2 * ERROR + 1e-300
    mass = enlarged(total + lost, j.size + 8)
    if j.size <= _FEW:
        values = np.zeros(frame.count // 2 + 1, dtype=np.complex128)
        for one, weight in zip(j, weights, strict=True):
            values += weight * frame.turned(int(one))
        lost += total * (4 * ERROR + 16 * UNIT)
    else:
        cells, adding = folded(j, weights, frame.count)
        values = fourier.transform(cells)
        lost += total * (fourier.error(frame.count) + 2 * adding)
    bounds = np.full(values.shape, mass)
    found = np.full(values.shape, enlarged(lost, j.size + 8))
    return Piece(values, found, bounds, mass, (_EMPTY, _EMPTY), (j, weights + off)), slack, exact


def is_on_lattice(atoms: Atoms, frame: Frame, offset: float) -> bool:
    """Whether all atoms lie on the lattice, but for rounding."""
    return _is_near(nearest(atoms, frame, offset)[1], atoms, frame)


def _is_near(slack: float, atoms: Atoms, frame: Frame) -> bool:
    return slack <= _NEAR * (frame.step + float(np.abs(atoms.losses).max(initial=0.0)))


def nearest(atoms: Atoms, frame: Frame, offset: float) -> tuple[Floats, float]:
    """The lattice points nearest to the atoms, and how far any may be from its own."""
    place = (atoms.losses - offset) / frame.step
    points = np.rint(place)
    slip = np.abs(place - points) * frame.step + atoms.loss_errors
    slip = slip + 4 * UNIT * (np.abs(atoms.losses) + abs(offset))
    return points, float(slip.max(initial=0.0))


def _split(atoms: Atoms, frame: Frame, offset: float) -> Placed:
    """Between the two nearest points, mass and mean ratio kept; all errors to the upper side.

    Theorem: splitting an atom so that its masses under P and under Q stay is an increase in the order of dominance.
    Reference: Doroshenko-Ghazi-Kamath-Kumar-Manurangsi 2022
    Proof: docs/theory/accounting/lattice.md#onto-the-lattice
    Checked-by: tests/accounting/lattice/test_placing.py::test_atoms_go_up_and_down
    """
    a = frame.step
    losses = atoms.losses + atoms.loss_errors + 8 * UNIT * (np.abs(atoms.losses) + abs(offset))
    low = np.floor((losses - offset) / a)
    above = np.clip(losses - offset - low * a, 0.0, a)
    above = np.minimum(above + 8 * UNIT * (np.abs(losses) + abs(offset)), a)
    share = np.minimum(expm1(-above) / scalar_expm1(-a) * (1 + 8 * ERROR), 1.0)
    masses = atoms.masses + atoms.mass_errors
    upper = masses * share
    return np.concatenate([low, low + 1]), np.concatenate([masses - upper, upper]), np.zeros(2 * low.size)


def settled(atoms: Atoms, frame: Frame, offset: float, times: int) -> float:
    """An offset of the lattice for the lower side, at which the last of what is joined hardly has to be lowered, so
    many times.

    For rarely sampled steps that is nearly all, and little above the smallest loss. Any offset serves.
    """
    raised = _raised(atoms, frame)
    lowered = _join(atoms, frame, offset, raised)[1]
    for part in _PARTS:
        if lowered <= max(_LITTLE * raised, _LITTLE_STEP * frame.step / times):
            break
        found = math.fmod(offset + part * lowered, frame.step)
        left = _join(atoms, frame, found, raised)[1]
        if left < lowered:
            offset, lowered = found, left
    return offset


def _raised(atoms: Atoms, frame: Frame) -> float:
    """By so much atoms may be raised, so that those on the lattice stay there."""
    return _NEAR * (frame.step + float(np.abs(atoms.losses).max())) + _NOISE


def _joined(atoms: Atoms, frame: Frame, offset: float, raised: float) -> Placed:
    """Neighbours joined so that the ratio becomes that of a lattice point; all errors to the lower side.

    From the largest loss down: what has not been placed takes so much of the next atom that together they have the
    ratio of the lattice point below; the rest of that atom goes on. Only the last one is lowered. All are `raised` by
    next to nothing before, so that those on the lattice stay there.

    Theorem: joining outcomes, and lowering losses under P, are decreases in the order of dominance.
    Reference: post-processing; monotone in every loss
    Proof: docs/theory/accounting/lattice.md#onto-the-lattice
    Checked-by: tests/accounting/lattice/test_placing.py::test_atoms_go_up_and_down
    """
    return _join(atoms, frame, offset, raised)[0]


def _join(atoms: Atoms, frame: Frame, offset: float, raised: float) -> tuple[Placed, float]:
    """What is joined, and by how much the last of it was lowered, about."""
    a = frame.step
    least = max(float(atoms.losses.min()), -_QUIET / frame.tilt)
    firsts, seconds = _gathered(atoms, a / _FINER, raised, least)
    bottom = math.floor((least - offset) / a) - 2
    powers = np.arange(float(bottom), math.ceil((float(atoms.losses.max()) - offset) / a) + 2.0)
    if powers.size > _WIDEST:
        raise NotApplicable("the window of losses is too wide")
    powers *= a
    powers += offset
    powers = exp_of_many(powers) * (1 + 4 * ERROR + 8 * UNIT * float(np.abs(atoms.losses).max()))
    places, masses = [], []
    first = second = 0.0

    def index() -> int:
        return _below(first, second, powers, math.floor((math.log(first / second) - offset) / a) - bottom + 1)

    for own_first, own_second in zip(firsts.tolist(), seconds.tolist(), strict=True):
        if first == 0.0:
            first, second = own_first, own_second
            continue
        j = index()
        power = powers[j]
        excess, lack = first - power * second, power * own_second - own_first
        if lack <= 0.0 or excess >= lack:  # all of it together is still above that point
            first, second = (first + own_first) * (1 - 2 * UNIT), (second + own_second) * (1 + 2 * UNIT)
            continue
        part = excess / lack * (1 - 2.0**-40)
        places.append(j)
        masses.append((first + part * own_first) * (1 - 4 * UNIT))
        first, second = own_first * (1 - part) * (1 - 4 * UNIT), own_second * (1 - part) * (1 + 4 * UNIT)
    last = index()
    places.append(last)
    masses.append(first)
    lowered = math.log(first / second) - (last + bottom) * a - offset
    return (np.array(places, dtype=np.float64) + bottom, np.array(masses), np.zeros(len(masses))), lowered


def _below(first: float, second: float, powers: Floats, guess: int) -> int:
    """The index of the highest lattice point whose ratio is certainly not above first/second."""
    j = guess
    while powers[j] * second * (1 + 4 * UNIT) > first:
        j -= 1
    return j


def _gathered(atoms: Atoms, cell: float, raised: float, least: float) -> tuple[Floats, Floats]:
    """Masses from below under P and from above under Q, largest loss first; many are joined in cells before.

    Losses below the least are left out.
    """
    order = np.argsort(-atoms.losses)[: int((atoms.losses >= least).sum())]
    first = np.maximum(atoms.masses - atoms.mass_errors, 0.0)[order]
    loss = (atoms.losses - atoms.loss_errors)[order] + raised
    second = first * exp_of_many(-loss) * (1 + 4 * ERROR + 4 * UNIT * float(np.abs(loss).max(initial=0.0)))
    if loss.size > _FINER * 64:
        starts = np.flatnonzero(np.diff(np.floor((loss[0] - loss) / cell), prepend=-1.0))  # most cells are empty
        slack = 2 * (loss.size + 8) * UNIT
        first = np.add.reduceat(first, starts) * (1 - slack)
        second = np.add.reduceat(second, starts) * (1 + slack)
    kept = first > _LEAST
    first, second = first[kept], second[kept]
    if not 0 < first.size <= _LONGEST:
        raise NotApplicable("too many atoms that do not lie on the lattice, or none")
    return first, second
