"""The contour integral without the largest losses of rarely sampled Gaussians, which hardly ever occur.

A tilt that suits the sum is too steep for a loss that is far larger, however improbable it is. Where all such losses
together are far less probable than delta, they are left out, and their probability is added to the upper end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laying import MOST_WORK
from privately.accounting.contour.listing import laws_of
from privately.accounting.contour.road import Sums, exp_of, first_narrow, log_ends, solved
from privately.accounting.contour.saddle import Outline, Saddle, for_delta, for_epsilon
from privately.accounting.contour.split import Law
from privately.accounting.contour.split_rows import MOST_KEPT, sketched, split_alike
from privately.accounting.contour.splitting import jump_mass, may_jump, split_where
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable, nearly_log
from privately.rounding import Interval

METHOD = "contour integral, largest losses cut off"

_LEFT_OUT = 1e-9
"""The part of delta that losses may have which are left out."""
_MOST_LAWS, _MOST_BESIDE = 2048, 64
_MORE_WORK = 1 << 28
"""For more laws than are laid at once."""
_TRIES = 3
_FEW_STEPS = 10
_LEAST_EPSILON = 1e-3
_COARSEST, _FINER = 1e-4, 30.0
_HOPELESS = Fraction(1, 10)
_FIRST = math.log(1e-6)
_LEAST_DELTA = Fraction(1, 10**250)


class Cutting:
    """The road: few steps of one sampled Gaussian are for a lattice first, which is shorter."""

    def __init__(self, *, is_last: bool) -> None:
        self.is_last = is_last

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        self._check(composition)
        return epsilon(composition, delta, width)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        self._check(composition)
        return delta(composition, epsilon, width)

    def _check(self, composition: Composition) -> None:
        is_few = len(composition.parts) == 1 and composition.parts[0][1] <= _FEW_STEPS
        if is_few != self.is_last:
            raise NotApplicable("it is tried later" if is_few else "it was tried before")


def epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Interval:
    """The epsilon of the finite losses of a composition, at 0 < delta < 1."""
    if delta < _LEAST_DELTA:
        raise NotApplicable("delta is too small")
    sums = CutSums(composition, nearly_log(delta))
    low, high = log_ends(delta - sums.left_out)[0], log_ends(delta)[1]
    saddle = for_delta(sums.outline, low)
    guess = max(saddle.epsilon + (saddle.log_delta - low) / saddle.c, 0.0)

    def refined() -> Iterator[Interval]:
        nonlocal saddle, guess
        tolerance = min(float(width) * saddle.c * max(guess, _LEAST_EPSILON) / _FINER, _COARSEST)
        for _ in range(_TRIES):
            found = solved(sums.finer_integral(saddle, guess, tolerance), guess, low, high)
            yield replace(found, method=METHOD)
            if found.width > _HOPELESS * max(found.upper, Fraction(_LEAST_EPSILON)):
                return  # losses that were not left out are too large as well
            guess = float(found.upper)
            saddle, tolerance = for_epsilon(sums.outline, guess, saddle.c), tolerance / _FINER

    found = first_narrow(refined(), lambda found: width * max(found.upper, Fraction(_LEAST_EPSILON)))
    return replace(found, method=METHOD)


def delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    """The delta of the finite losses of a composition; `width` is relative to delta."""
    log_delta, best = _FIRST, Interval(0, 1)
    for _ in range(_TRIES):
        sums = CutSums(composition, log_delta)
        saddle = for_epsilon(sums.outline, float(epsilon))
        integral = sums.finer_integral(saddle, float(epsilon), min(float(width) / _FINER, _COARSEST))
        s = float(epsilon - integral.centre)
        upper = exp_of(min(integral.upper(math.nextafter(s, -math.inf)), 0.0)).interval().upper + sums.left_out
        lower = exp_of(integral.lower(math.nextafter(s, math.inf))).interval().lower
        best = Interval(max(best.lower, lower), min(best.upper, upper), method=METHOD)
        if best.width <= width * best.upper or best.upper < _LEAST_DELTA:
            break
        log_delta = nearly_log(Fraction(best.lower or best.upper))
    return best


class CutSums(Sums):
    """Sums for a composition without what is left out, whose probability is at most `left_out`.

    Theorem: a step may be left out by chance, with a probability of its outcome: D is at least the profile of the
        sub-probability law of the sums in which no step was left out, and at most that and the probability that some
        step was.
    Reference: (1 - e^(epsilon - S))+ is between 0 and 1
    Proof: docs/theory/accounting/jumps.md#cut-off
    Checked-by: tests/accounting/contour/test_cutting.py::test_both_sides_of_the_truth
    """

    def __init__(self, composition: Composition, log_delta: float) -> None:
        rare = [(law, times) for law, times in composition.parts if may_jump(law)]
        others = [(law, times) for law, times in composition.parts if not may_jump(law)]
        if not rare or len(rare) > _MOST_LAWS or len(others) > _MOST_BESIDE:
            raise NotApplicable("no losses to cut off")
        wanted = math.exp(max(log_delta, -600.0)) * _LEFT_OUT
        cut = self._cut([(law, times) for law, times in rare if isinstance(law, SampledGaussianLoss)], wanted)
        self.is_strict, self.layout = False, None
        plain, self.gaussian = laws_of(others)
        self.laws = [*cut, *plain]
        self.outline = Outline([*sketched(cut), *plain], self.gaussian)
        self.left_out = sum((times * Fraction(jump_mass(law)) for law, times in cut), Fraction(0))

    @staticmethod
    def _cut(rare: Sequence[tuple[SampledGaussianLoss, int]], wanted: float) -> list[tuple[Law, int]]:
        """Where each law, or each step of many, has its part of what is left out."""
        if len(rare) <= MOST_KEPT:
            return [(split_where(law, wanted / (len(rare) * times)), times) for law, times in rare]
        return split_alike(rare, wanted / sum(times for _, times in rare))

    def integral(self, saddle: Saddle, guess: float, tolerance: float, most_work: int = MOST_WORK) -> Integral:
        """With more work for many laws, which nobody else has an answer for."""
        more = _MORE_WORK if len(self.laws) > MOST_KEPT else most_work
        return super().integral(saddle, guess, tolerance, max(most_work, more))
