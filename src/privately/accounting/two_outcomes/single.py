"""The profile of one statement of zCDP at many places, from above."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.supports import Limit, support
from privately.accounting.two_outcomes.touching import Touching


def profile(statement: Concentrated, touching: Touching, apart: float) -> tuple[Floats, Floats]:
    """Places y and upper values there, by lines that touch at so many pairs of the table; between them it is convex.

    Theorem: the line that touches at any two losses bounds the profile at one place.
    Reference: as for one statement
    Proof: docs/theory/accounting/two_outcomes.md#many-steps
    Checked-by: tests/accounting/two_outcomes/test_normal_games.py::test_the_last_step
    """
    places, values = [], []
    touched = touching.at(np.arange(0.0, touching.last + 1, apart))
    for high, low, order, part in zip(*(one.tolist() for one in touched), strict=True):
        share = Fraction(part)
        limits = [Limit(Fraction(order), statement.rho, share)]
        if share < 1:
            limits.append(Limit(Fraction(0), statement.rho, 1 - share))
        line = support(limits, Decimal(low), Decimal(high))
        if line.alpha.lower > 0 and line.delta.upper < 1:
            places.append(math.nextafter(float(line.alpha.upper), math.inf))
            values.append(math.nextafter(float(line.delta.upper), math.inf))
    order_of = np.argsort(places)
    return np.array(places)[order_of], np.minimum.accumulate(np.array(values)[order_of])


def between(y: Floats, places: Floats, values: Floats) -> Floats:
    """By chords, at places that are not above those that are meant; a profile falls nowhere faster than by 1.

    Before the first place that is known, and from the last one on, the value there is taken.
    """
    return np.interp(y, places, values) * (1 + 1e-9) + max(float(places[0]) - 1, 0.0)
