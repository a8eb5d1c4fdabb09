"""Many alike steps of a sampled Gaussian, what is asked most often: the same integral in fewer operations.

Both directions are sums over the same points, and as long as a step is known to some 10^-14 and steps are not too many
nothing has to be kept relative to how little one step does. Where the answer is not as narrow as asked, others go on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.mirrors import are_mirrored
from privately.accounting.contour.road import METHOD, log_ends
from privately.accounting.contour.saddle import Outline, Shape, for_delta, shape, wanted_fall
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.swift_points import SwiftPoints, short_below
from privately.accounting.contour.swift_sums import SwiftSums
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.rounding import Interval

_FEWEST, _MOST = 51, 1 << 22
_LEAST_MU, _LARGEST_MU = 1e-3, 10.0
_LEAST_RATE, _HIGHEST_RATE = 1e-7, 0.5
_LEAST_EPSILON = 2e-3
_SHARE = 1e-4
"""Of the width that is asked for, what is left out on purpose may take so much: a tenth of that costs a node or two."""
_FARTHER = 1.05
"""So much farther than seems to be enough."""
_MOST_NODES, _MOST_POINTS, _WIDEST = 256, 1024, 0.5
_CLEARLY = 1 - 2.0**-20
_NOT_MANY, _PER_STEP, _NARROW = 1000, 1e-9, 1e-6
"""Up to so many steps, wider answers than this for every step are left to others, if such a width is asked for."""


def alike(both: Sequence[Composition], delta: Fraction, width: Fraction) -> Interval | None:
    """The larger epsilon at 0 < delta < 1 of both directions of many steps of one sampled Gaussian; None for all else,
    and where it is not found as narrow as asked.

    >>> from privately import accounting as acc
    >>> from privately.accounting.compositions import compositions
    >>> step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.01")
    >>> print(alike(compositions(acc.Repeat(event=step, times=10_000)), Fraction(1, 10**5), Fraction(1, 10**6)))
    [6.187712, 6.187713]
    """
    if len(both) != 2 or len(both[0].parts) != 1 or both[0].infinite or both[1].infinite:
        return None
    law, times = both[0].parts[0]
    if not isinstance(law, SampledGaussianLoss) or law.direction != "remove" or not _FEWEST <= times <= _MOST:
        return None
    if not are_mirrored(*both):
        return None
    try:
        return _between(SampledGaussian.of(law), times, delta, float(width))
    except DEAD_ENDS:
        return None


def _between(law: SampledGaussian, times: int, delta: Fraction, width: float) -> Interval:
    if not (_LEAST_MU <= law.mu <= _LARGEST_MU and _LEAST_RATE <= law.rate <= _HIGHEST_RATE):
        raise NotApplicable("too much or too little noise or sampling")
    low, high = log_ends(delta)
    outline = Outline([(law, times)], 0.0)
    saddle = for_delta(outline, low)
    guess = saddle.epsilon + (saddle.log_delta - low) / saddle.c
    if guess < _LEAST_EPSILON:
        raise NotApplicable("an epsilon so small")
    log_tolerance = math.log(_SHARE * width * saddle.c * guess)
    sums = summed(law, times, shape(outline, saddle, guess, log_tolerance), log_tolerance, low)
    lower, upper = sums.solved(low, high)
    if times <= _NOT_MANY and width <= _NARROW and upper - lower > _PER_STEP * times:
        raise NotApplicable("as few steps can be known more narrowly")
    if not (upper - lower <= width * lower * _CLEARLY and sums.is_other_below(upper, low)):
        raise NotApplicable("not narrow enough, or the other direction is above")
    return Interval(Fraction(lower), Fraction(upper), method=METHOD)


def summed(law: SampledGaussian, times: int, contour: Shape, log_tolerance: float, log_delta: float) -> SwiftSums:
    """The sums along a contour, with points and terms for errors of about e^log_tolerance, relative to delta."""
    c, step = contour.saddle.c, contour.step
    if contour.reach is None or not _FARTHER * contour.reach <= _MOST_NODES * step:
        raise NotApplicable("the sum is too long, or it is not plain where it ends")
    count = max(math.ceil(_FARTHER * contour.reach / step), 2)
    quiet = wanted_fall(contour.saddle, log_tolerance) + math.log(times / (2 * c + 1))
    widest = min(law.widest_step(c, count * step, quiet), law.widest_step(contour.above, 0.0, quiet), _WIDEST)
    dx, (left, right) = short_below(widest), law.ends(contour.above, math.sqrt(2 * quiet))
    if right - left > _MOST_POINTS * dx:
        raise NotApplicable("too many points")
    points = SwiftPoints.laid(law, dx, math.floor(left / dx), math.ceil(right / dx))
    return SwiftSums(points, times, contour, count, log_delta)
