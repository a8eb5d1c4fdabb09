"""What jumps change: the product of all transforms with jumps, less that without them, and no difference is taken."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.view import Complex, power, product, size_of
from privately.accounting.elementary import ERROR, UNIT, Floats, expm1, expm1_one, turn_minus_one
from privately.accounting.roads import NotApplicable

Transforms = tuple[Complex, Floats]
"""Less 1, with bounds on the errors."""

_MANY = 64
"""So many equal steps are raised at once, by a logarithm."""
_SAFE = 1 + 2.0**-20
_HALF, _SMALL = 0.5, 2.0**-6


@dataclass(frozen=True)
class Change:
    """Near losses of some steps, their transform B less 1, and the change of B where these may jump as well, both with
    bounds on the errors; the change is at most `most`.
    """

    near: Transforms
    value: Complex
    error: Floats
    most: float

    def beside(self, other: Change) -> Change:
        """Of both together.

        Theorem: (B + d)(C + e) - BC = d (C + e) + B e, |B| and |C| are at most 1, |d| and |e| at most their `most`.
        Reference: Higham 2002, section 3.6
        Proof: docs/theory/accounting/jumps.md#few-steps-and-many-laws
        Checked-by: tests/accounting/contour/test_changes.py::test_few_steps_of_several_laws
        """
        own, theirs = 1 + self.near[0], 1 + other.near[0]
        value = self.value * (theirs + other.value) + own * other.value
        (_, own_off), (_, their_off) = self.near, other.near
        size, other_size = self.most + self.error, other.most + other.error
        error = (
            self.error * (1 + their_off + other_size)
            + other.error * (1 + own_off + self.most)
            + self.most * their_off
            + other.most * own_off
            + 16 * UNIT * (size + other_size + size * other_size) * (1 + own_off + their_off)
        )
        most = (self.most + other.most + self.most * other.most) * (1 + 8 * UNIT)
        return Change(product(*self.near, *other.near), value, error * _SAFE, most)

    def after(self, found: Complex, off: Floats) -> Change:
        """The same beside losses without jumps."""
        return self.beside(Change((found, off), np.zeros(1, dtype=np.complex128), np.zeros(1), 0.0))


def change_of(near: Transforms, jumps: Transforms, ratio: tuple[float, float], times: int) -> Change:
    """Of so many equal steps, from the transforms of one: near losses, and jumps that are `ratio` times as probable;
    that is known but for a part.
    """
    if times >= _MANY:
        with suppress(NotApplicable):
            return _at_once(near, jumps, ratio, times)
    (found, off), (middle, doubt) = jumps, ratio
    error = middle * (doubt + (1 + doubt) * off + 8 * UNIT)
    one = Change(near, middle * (1 + found), error * _SAFE, middle * (1 + doubt) * (1 + 4 * UNIT))
    return _raised(one, times)


def _raised(one: Change, times: int) -> Change:
    if times == 1:
        return one
    half = _raised(one, times // 2)
    both = half.beside(half)
    return both.beside(one) if times % 2 else both


def _at_once(near: Transforms, jumps: Transforms, ratio: tuple[float, float], times: int) -> Change:
    """The same by phi^T expm1(T ln(1 + r psi/phi)), phi and psi the transforms of one.

    Theorem: where |phi| >= 1/2 no step of this loses more than is charged.
    Reference: Higham 2002, section 1.14
    Proof: docs/theory/accounting/jumps.md#what-comes-of-jumps
    Checked-by: tests/accounting/contour/test_jumps.py::test_the_transform_of_jumps
    """
    (found, off), (jumped, jumped_off), (middle, doubt) = near, jumps, ratio
    kept = 1 + found
    least = size_of(kept) - off - 2 * UNIT
    if least.min() < _HALF:
        raise NotApplicable("too few steps")
    part, size = middle * (1 + jumped) / kept, middle * (1 + jumped_off) / least
    error = middle * (doubt + 2 * jumped_off + 4 * off + 16 * UNIT) * 2
    if float(size.max()) > 2 * _SMALL:
        raise NotApplicable("jumps are not rare")
    square = part * part
    y = times * (part - square / 2 + part * square / 3 - square * square / 4)
    y_error, y_size = times * (1.1 * error + size**5 + 16 * UNIT * size), times * size * 1.1
    if float((y_size + y_error).max()) > 1:
        raise NotApplicable("too many jumps")
    whole, whole_off = power(found, off, times)
    turned = turn_minus_one(y.imag)
    change = expm1(y.real) * (1 + turned) + turned
    change_error = 3 * (y_error + 8 * ERROR * y_size)
    whole_error, change_size = whole_off + 2 * UNIT, 3 * y_size
    error = whole_error * change_size + (1 + whole_error) * change_error + 16 * UNIT * change_size
    most = expm1_one(times * middle * (1 + doubt) * _SAFE) * _SAFE
    return Change((whole, whole_off), (1 + whole) * change, error * _SAFE, most)
