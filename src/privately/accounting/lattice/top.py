"""Close to the largest sum of losses, where a small delta leads: bounds without any sum over nodes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.extremes import largest_loss
from privately.accounting.lattice.atoms import Atoms, atoms
from privately.accounting.lattice.smooth import Smooth, smooth
from privately.accounting.losses import DiscreteGaussianLoss, Loss, SampledDiscreteGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval

_RAREST = -(10**6)
_WITHOUT_TOP = DiscreteGaussianLoss, SampledDiscreteGaussianLoss


def near_the_top(composition: Composition, easier: Fraction, harder: Fraction, method: str) -> Interval | None:
    """epsilon at a delta between two, where all laws have a largest loss that carries mass; None where one has not.

    Theorem: let S be the sum of the largest losses, p the probability that all are taken, and p' that every law is
        within h = -ln(1 - delta/p) of its own. Then S + ln(1 - delta/p) <= epsilon(delta) <= S + ln(1 - delta/p').
    Reference: the definition of the profile
    Proof: docs/theory/accounting/lattice.md#near-the-largest-loss
    Checked-by: tests/accounting/lattice/test_top.py::test_ends_near_the_largest_loss
    """
    largest = largest_loss(composition)
    if largest is None:
        return None
    log_mass = Enclosure.of(0)
    for law, times in composition.parts:
        mass = _top_mass(law)
        if mass is None:
            return None
        log_mass = log_mass + times * Enclosure.of(mass).log()
    if log_mass.lower < _RAREST:
        return None
    share = 1 - easier / log_mass.exp()
    if share.lower <= 0:
        return Enclosure(Enclosure.of(0).lower, largest.upper).interval(method)
    missing = share.log()
    nearby = _nearby(composition, Fraction(-missing.lower))
    upper = largest + (1 - harder / nearby).log() if nearby is not None else largest
    return Enclosure((largest + missing).nonnegative().lower, upper.nonnegative().upper).interval(method)


def _top_mass(law: Loss) -> Fraction | None:
    """The probability of the largest loss, from below."""
    found = atoms(law)
    if isinstance(law, _WITHOUT_TOP) or not found.losses.size:
        return None
    top = int(np.argmax(found.losses))
    reach = found.losses + found.loss_errors
    if int((reach >= found.losses[top] - found.loss_errors[top]).sum()) > 1:
        return None  # floats cannot tell which of two is the largest
    mass = Fraction(float(found.masses[top])) - Fraction(float(found.mass_errors[top]))
    return mass if mass > 0 else None


def _nearby(composition: Composition, depth: Fraction) -> Enclosure | None:
    """The probability that every law is within `depth` of its largest loss, from above; None if that is unknown."""
    log_mass = Enclosure.of(0)
    for law, times in composition.parts:
        top = largest_loss(Composition(parts=((law, 1),)))
        if top is None:
            return None
        try:
            dense = smooth(law)
        except NotApplicable:
            return None
        level = top - depth
        mass = _atoms_from(atoms(law), level)
        if dense is not None:
            more = _density_from(dense, getattr(law, "rate", Fraction(1)), level, depth)
            if more is None:
                return None
            mass += more
        log_mass = log_mass + times * Enclosure.of(min(mass, Fraction(1))).log()
    return Enclosure(log_mass.exp().upper, log_mass.exp().upper)


def _atoms_from(carried: Atoms, level: Enclosure) -> Fraction:
    """What atoms from this loss on have, from above."""
    least = float(level.lower)
    near = carried.losses + carried.loss_errors >= least - 1e-9 * abs(least)
    total = sum((Fraction(mass) for mass in (carried.masses + 2 * carried.mass_errors)[near].tolist()), Fraction(0))
    return total + Fraction(carried.outside)


def _density_from(dense: Smooth, rate: Fraction, level: Enclosure, depth: Fraction) -> Fraction | None:
    """What the density from this loss on has, from above: by a y whose loss is certainly below it."""
    least = float(level.lower) - float(depth) / 2
    adds = dense.form == "add"
    y = dense.plain(-least if adds else least)
    if not (y < 0 if adds else y > 0) or abs(y) > dense.base.spread()[1]:
        return None
    loss = (1 - rate + rate * Enclosure.of(Fraction(y)).exp()).log()
    if (-loss if adds else loss).upper > level.lower:
        return None
    if adds:  # the law of y under Q is that of -y under P
        tails = dense.base.tails(np.array([-y]))
        return Fraction(float(tails.above[0])) + Fraction(float(tails.above_error[0]))
    masses = dense.above(y)
    return Fraction(masses.first) + Fraction(masses.first_error)
