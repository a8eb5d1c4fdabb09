"""One law of finitely many losses, repeated more often than a table can list."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol

from privately.accounting.closed_forms.binomials import TwoLosses, tail
from privately.accounting.compositions import Composition
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

_FEWEST_RUNS = 10**7
_RAREST = Fraction(1, 1000)
_PAIR = 2
_BELOW = 5
_BEYOND = 16.0
_FARTHEST = 100.0
_FEW_TERMS = 256
_HALVINGS = 4

Atom = tuple[Enclosure, Enclosure]


class Profile(Protocol):
    """delta at epsilon, and epsilon at 0 < delta < 1 between two ends."""

    def profile(self, epsilon: Fraction) -> Enclosure: ...
    def inverse(self, delta: Fraction) -> tuple[Fraction, Fraction]: ...


def profile(composition: Composition, epsilon: Fraction) -> Enclosure:
    """delta at epsilon."""
    return _of(composition).profile(epsilon)


def inverse(composition: Composition, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at 0 < delta < 1."""
    return _of(composition).inverse(delta)


@dataclass(frozen=True)
class Nearly:
    """Two losses, and others that are `seldom` seen in any run.

    Theorem: without all that has a seldom loss, delta falls by at most the probability of that.
    Reference: the sum over all outcomes, split in two
    Proof: docs/theory/accounting/binomials.md#rare-losses
    Checked-by: tests/accounting/closed_forms/test_long_runs.py::test_rare_losses_are_covered
    """

    usual: TwoLosses
    always: Enclosure
    """The probability that no run shows another loss."""

    def profile(self, epsilon: Fraction) -> Enclosure:
        found = self.usual.profile(epsilon) * self.always
        return Enclosure(found.lower, (found + (1 - self.always)).upper).clip(0, 1)

    def inverse(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        kept = Fraction(self.always.lower)
        easier, harder = delta / kept, (delta - 1 + kept) / kept
        if harder <= 0:
            raise NotApplicable("rare losses are more likely than delta")
        lower = self.usual.inverse(easier)[0] if easier < 1 else Fraction(0)
        return lower, self.usual.inverse(harder)[1]


@dataclass(frozen=True)
class Thinned:
    """`counting.times` runs, each of which counts with probability `kept` and otherwise has loss 0.

    Theorem: delta is the mean of that of n runs that count, n binomial, and that rises with n. So between any two
        numbers of runs it is at least what the smaller one gives and at most what the larger one gives.
    Reference: the law of total probability; convex falling functions of a supermartingale rise, Doob 1953
    Proof: docs/theory/accounting/binomials.md#losses-of-nothing
    Checked-by: tests/accounting/closed_forms/test_long_runs.py::test_thinned_runs_contain_the_truth
    """

    counting: TwoLosses
    kept: Enclosure
    idle: Enclosure

    def profile(self, epsilon: Fraction) -> Enclosure:
        rough = self._runs(round(self._mean)).profile(epsilon)
        return self._mixed(self._steps(Fraction(rough.interval().upper)), epsilon)

    def inverse(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        steps = self._steps(delta)
        least, more = self._tails(steps)
        needed, left = delta / Fraction(least[0].lower), delta - Fraction(more[-1].upper)
        if needed >= 1 or left <= 0:
            raise NotApplicable("too little is known of how many runs count")
        low, high = self._runs(steps[0]).inverse(needed)[0], self._runs(steps[-1]).inverse(left)[1]
        found = lru_cache(maxsize=None)(lambda epsilon: self._mixed(steps, epsilon))
        lower = _halved(lambda epsilon: found(epsilon).lower >= delta, low, high)[0]
        return lower, _halved(lambda epsilon: found(epsilon).upper > delta, lower, high)[1]

    def _steps(self, delta: Fraction) -> tuple[int, ...]:
        """Numbers of runs, one deviation apart; beyond the last is next to nothing, compared to delta."""
        log_delta = float(-Enclosure.of(delta).log().lower) if delta > 0 else math.inf
        above = math.ceil(min(math.sqrt(2 * (max(log_delta, 0.0) + _BEYOND)), _FARTHEST))
        places = (round(self._mean + t * self._spread) for t in range(-_BELOW, above + 1))
        return tuple(sorted({min(max(place, 1), self.counting.times) for place in places}))

    def _mixed(self, steps: tuple[int, ...], epsilon: Fraction) -> Enclosure:
        """The mean over n, which counts as the step below it for the lower end and as the step above for the upper."""
        least, more = self._tails(steps)
        found = [self._runs(times).profile(epsilon) for times in steps]
        nothing, all_ = Enclosure.of(0), Enclosure.of(1)
        below = [here - on for here, on in pairwise((*least, nothing))]
        above = [before - here for before, here in pairwise((all_, *more))]
        lower = sum((share * one for share, one in zip(below, found, strict=True)), nothing)
        upper = sum((share * one for share, one in zip(above, found, strict=True)), more[-1])
        return Enclosure(lower.lower, upper.upper).clip(0, 1)

    def _tails(self, steps: tuple[int, ...]) -> tuple[list[Enclosure], list[Enclosure]]:
        """For each step the probability that at least so many runs count, and that more do."""
        return [self._tail(step) for step in steps], [self._tail(step + 1) for step in steps]

    def _tail(self, k: int) -> Enclosure:
        if k not in self._known:
            self._known[k] = tail(self.counting.times, k, self.kept, self.idle)
        return self._known[k]

    @cached_property
    def _known(self) -> dict[int, Enclosure]:
        return {}

    def _runs(self, times: int) -> TwoLosses:
        return replace(self.counting, times=times, most_terms=_FEW_TERMS)

    @property
    def _mean(self) -> float:
        return self.counting.times * float(self.kept.lower)

    @property
    def _spread(self) -> float:
        return math.sqrt(self._mean * float(self.idle.upper))


def _halved(holds: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Nearer ends: it holds at the first, and does not at the second, if that is so now."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


@lru_cache(maxsize=16)
def _of(composition: Composition) -> Profile:
    if len(composition.parts) != 1:
        raise NotApplicable("several laws")
    ((law, times),) = composition.parts
    if not isinstance(law, FiniteLoss) or len(law.outcomes) < _PAIR:
        raise NotApplicable("not finitely many losses")
    atoms = sorted(law.atoms(), key=lambda atom: atom[0].lower, reverse=True)
    seldom = sum((probability for probability, _ in atoms[_PAIR:]), Enclosure.of(0))
    if times * seldom.upper <= _RAREST:
        usual = _two(atoms[:_PAIR], times)
        return Nearly(usual, (1 - seldom) ** times) if atoms[_PAIR:] else usual
    return _thinned(law, times)


def _thinned(law: FiniteLoss, times: int) -> Thinned:
    counting = [atom for (p, q), atom in zip(law.outcomes, law.atoms(), strict=True) if p != q]
    idle = [atom for (p, q), atom in zip(law.outcomes, law.atoms(), strict=True) if p == q]
    if len(counting) != _PAIR or times < _FEWEST_RUNS:
        raise NotApplicable("several losses, or too few runs for bounds on how many count")
    for place in (0, 1):
        first, second = (sum((one[side][place] for one in law.outcomes), Fraction(0)) for side in (0, 1))
        if second > first:
            raise NotApplicable("more runs might cost less")
    rest = sum((probability for probability, _ in idle), Enclosure.of(0))
    return Thinned(_two(counting, times), 1 - rest, rest)


def _two(atoms: list[Atom], times: int) -> TwoLosses:
    """Two losses alone: their probabilities are scaled so that they add up to 1."""
    (p, large), (q, small) = sorted(atoms, key=lambda atom: atom[1].lower, reverse=True)
    return TwoLosses(p / (p + q), q / (p + q), large, small, times)
