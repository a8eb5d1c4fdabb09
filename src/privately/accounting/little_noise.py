"""Sampled Gaussians with little noise: whether a step had the row is plain to see, so they are sums over hits."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from privately.accounting.closed_forms.gaussian import between, profile, rough_log_delta
from privately.accounting.compositions import Composition
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval
from privately.rounding.normal import normal_cdf

METHOD = "sum over the number of hits"

_LEAST_SQUARE = Fraction(36)
_MOST_BETWEEN = 6
_WEAK, _WEAK_CELLS, _STRIDE = 5.0, 6, 0.25
_FINE = 1e-8
_RARE, _CRUMB = 1e-10, 1e-12
_MOST_TERMS = 5000
_FAR = 36.0
_HALVED, _ROUNDS, _TRIES = 12, 60, 12
_ONE = Enclosure.of(1)
_TWO = 2

Cells = list[tuple[Enclosure, Enclosure]]
"""Masses and largest losses, by rising loss."""


@dataclass(frozen=True)
class Term:
    """So many hits, with their weight, and the loss beside that of the hits' normal noise."""

    weight: Enclosure
    hits: int
    shift: Enclosure


@dataclass(frozen=True)
class Sum:
    """sum weight D(epsilon - shift) + rest, D the profile of normal noise of mu^2 times the hits."""

    terms: Sequence[Term]
    rest: Enclosure
    mu_squared: Fraction
    sharp: float = 0.0

    def above(self, epsilon: Fraction) -> Fraction:
        """From above."""
        total = self.rest
        for term in self.terms:
            left = epsilon - Fraction(term.shift.upper)
            if term.weight.lower < 0:
                total = total - self._least(term, epsilon)
            elif left < 0:
                total = total + term.weight
            elif term.hits:
                total = total + term.weight * self._most(term, left)
        return Fraction(total.interval().upper)

    def _least(self, term: Term, epsilon: Fraction) -> Enclosure:
        """What is taken off, from below."""
        left = max(epsilon - Fraction(term.shift.lower), Fraction(0))
        ((low, _),) = between(term.hits * self.mu_squared, math.nextafter(float(left), math.inf))
        return (-term.weight) * Enclosure.of(Fraction(low))

    def _most(self, term: Term, left: Fraction) -> Enclosure:
        """The profile from above, by floats where these are sharp enough."""
        square = term.hits * self.mu_squared
        ((low, high),) = between(square, math.nextafter(float(left), 0.0))
        if float(term.weight.upper) * (high - low) <= self.sharp:
            return Enclosure.of(Fraction(high))
        return profile(square, left)

    def below(self, epsilon: Fraction) -> Fraction:
        """From below."""
        total = Enclosure.of(0)
        for term in self.terms:
            left = max(epsilon - Fraction(term.shift.lower), Fraction(0))
            total = total + term.weight * profile(term.hits * self.mu_squared, left)
        return max(Fraction(total.interval().lower), Fraction(0))

    def rough(self, epsilon: float) -> float:
        """About as much."""
        total = float(self.rest.upper)
        for weight, mu, shift in self._floats:
            left = epsilon - shift
            if left < 0 or not mu:
                total += weight * (left < 0)
                continue
            a = left / mu - mu / 2
            total += weight * (1.0 if a < -_FAR else math.exp(min(rough_log_delta(a, mu), 0.0)))
        return total

    @cached_property
    def _floats(self) -> list[tuple[float, float, float]]:
        return [
            (float(term.weight.upper), math.sqrt(term.hits * self.mu_squared), float(term.shift.upper))
            for term in self.terms
        ]


class LittleNoise:
    """The road."""

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:  # noqa: ARG002 - as it is
        """The epsilon of the finite losses of a composition, at 0 < delta < 1."""
        steps = Steps.of(composition, float(delta))
        upper, lower = steps.above, steps.below
        if float(upper.rest.upper) > float(delta) / 2:
            raise NotApplicable("too much is left over")
        highest = _root(upper.rough, float(delta), steps.largest)
        most = _first(lambda place: upper.above(place) <= delta, highest, 1)
        least = _first(lambda place: lower.below(place) >= delta, _root(lower.rough, float(delta), highest), -1)
        if most is None:
            raise NotApplicable("no upper end was found")
        return Interval(min(least or Fraction(0), most), most, method=METHOD)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:  # noqa: ARG002 - as it is
        """The delta of the finite losses of a composition."""
        steps = Steps.of(composition, 1e-6)
        steps = Steps.of(composition, max(steps.below.rough(float(epsilon)), 1e-250))
        most = min(steps.above.above(epsilon), Fraction(1))
        return Interval(min(steps.below.below(epsilon), most), most, method=METHOD)


LITTLE_NOISE = LittleNoise()


@dataclass(frozen=True)
class Steps:
    """So many steps of one law, and how rare something must be to be left over."""

    law: SampledGaussianLoss
    times: int
    rare: float

    @classmethod
    def of(cls, composition: Composition, delta: float) -> Steps:
        """Of one law alone, in the direction in which hits are seen."""
        if len(composition.parts) != 1:
            raise NotApplicable("not one law alone")
        law, times = composition.parts[0]
        if not isinstance(law, SampledGaussianLoss) or law.direction != "remove" or law.mu_squared < _LEAST_SQUARE:
            raise NotApplicable("hits are not plain to see")
        if 24 * math.sqrt(times * law.rate) > _MOST_TERMS:
            raise NotApplicable("too many different numbers of hits")
        if not 0 < delta < 1 or delta < 1e-290:
            raise NotApplicable("out of the range of floats")
        return cls(law, times, delta)

    @property
    def largest(self) -> float:
        """More than any epsilon here."""
        return 2 * float(self.law.mu_squared) * (self.times + 100) + 1e4

    @cached_property
    def below(self) -> Sum:
        """From below.

        Theorem: ln(1 - q + q e^t) is at least ln q + t and at least ln(1 - q); so D(epsilon) >= sum over k of
            C(T, k) q^k (1-q)^(T-k) D_k(epsilon - k ln q - (T-k) ln(1-q)), D_k the profile of k normal losses.
        Reference: monotonicity of the profile in the loss
        Proof: docs/theory/accounting/closed_forms.md#little-noise
        Checked-by: tests/accounting/test_little_noise.py::test_both_sums_enclose_one_step,
            tests/accounting/test_little_noise.py::test_answers_contain_independent_references
        """
        rate = Enclosure.of(self.law.rate)
        seen, unseen = rate.log(), (_ONE - rate).log()
        terms = []
        for hits, weight in self._binomial(rate, _ONE - rate)[0]:
            if hits and float(weight.upper) > _CRUMB * self.rare:
                terms.append(Term(weight, hits, hits * seen + (self.times - hits) * unseen))
        return Sum(terms, Enclosure.of(0), self.law.mu_squared)

    @cached_property
    def above(self) -> Sum:
        """From above: large t, cells between, and small t.

        Theorem: where t >= a the law under P has at most the density (q + (1-q) e^-a) phi(x - mu) and the loss is at
            most ln(q + (1-q) e^-a) + t; elsewhere the loss is at most that at the end of its cell. The profile is at
            most that of these measures, summed over the number of large t and of those in cells.
        Reference: monotonicity of the profile in the loss and in the measure
        Proof: docs/theory/accounting/closed_forms.md#little-noise
        Checked-by: tests/accounting/test_little_noise.py::test_both_sums_enclose_one_step,
            tests/accounting/test_little_noise.py::test_answers_contain_independent_references
        """
        rate = Enclosure.of(self.law.rate)
        edges = self._edges()
        further = self._further(edges[-1])
        large = _upper(rate + (_ONE - rate) * (-Enclosure.of(further[-1])).exp())
        gain = _upper(rate + (_ONE - rate) * (-Enclosure.of(edges[-1])).exp()).log()
        small = _upper((_ONE - rate) * self._chance(edges[0], Fraction(0)) + rate * self._chance(edges[0], Fraction(1)))
        cells = list(self._cells(edges, further))
        middle = sum((mass for mass, _ in cells), Enclosure.of(0))
        sums = _sums(cells)
        known, tails = self._binomial(large, small + middle)
        rest = _upper(tails + self._many(middle, large + middle + small))
        terms: list[Term] = []
        least = self._loss(edges[0])
        for hits, _ in known:
            terms += self._beyond(hits, large, small, edges, gain)
            for weight, many, loss in self._between(hits, large, small, sums):
                if float(weight.upper) <= _CRUMB * self.rare:
                    rest = rest + weight
                    continue
                shift = hits * gain + loss + (self.times - hits - many) * least
                terms.append(Term(weight, hits, shift))
            if len(terms) > _MOST_TERMS:
                raise NotApplicable("too many different numbers of hits")
        return Sum(terms, _upper(rest), self.law.mu_squared, _RARE / _MOST_TERMS * self.rare)

    def _edges(self) -> list[Fraction]:
        """From a small t to a large one; by the loss, which is q e^t as long as it is small."""
        rate, square = float(self.law.rate), float(self.law.mu_squared)
        last = math.log(1 / rate) + math.log(2 / (_FINE * square))
        first = -max(math.log(max(self.times * rate, 1e-9) / (_FINE * square)), 1.0)
        bend = max(math.log(1 / rate) - _WEAK, first + 1)
        found = [first + (bend - first) * j / _WEAK_CELLS for j in range(_WEAK_CELLS)]
        found += [bend + j * _STRIDE for j in range(math.ceil(max(last - bend, 1.0) / _STRIDE) + 1)]
        return [Fraction(round(one * 64), 64) for one in found]

    def _further(self, last: Fraction) -> list[Fraction]:
        """Beyond that, up to where steps without the row are hardly ever seen."""
        rate = float(self.law.rate)
        least = math.log(1 / rate) + math.log((self.times * rate + 10) / _FINE)
        return [last + j for j in range(1, max(math.ceil(least - float(last)), 1) + 1)]

    def _chance(self, t: Fraction, mean: Fraction) -> Enclosure:
        """That t is below, for x around `mean` times mu."""
        mu = self.law.mu
        return normal_cdf((Enclosure.of(t + self.law.mu_squared / 2)) / mu - mean * mu)

    def _loss(self, t: Fraction) -> Enclosure:
        return (1 - self.law.rate + self.law.rate * Enclosure.of(t).exp()).log()

    def _cells(self, edges: Sequence[Fraction], further: Sequence[Fraction]) -> Iterator[tuple[Enclosure, Enclosure]]:
        """The mass of each cell, further ones without hits, and the largest loss in it."""
        rate = self.law.rate
        for before, after in pairwise([*edges, *further]):
            mass = (1 - rate) * (self._chance(after, Fraction(0)) - self._chance(before, Fraction(0)))
            if after <= edges[-1]:
                mass = mass + rate * (self._chance(after, Fraction(1)) - self._chance(before, Fraction(1)))
            yield _upper(mass.nonnegative()), _upper(self._loss(after))

    def _between(
        self, hits: int, large: Enclosure, small: Enclosure, sums: Sequence[Cells]
    ) -> Iterator[tuple[Enclosure, int, Enclosure]]:
        """Weights of so many hits and few steps in cells, the number of these, and their losses."""
        left = self.times - hits
        weight = math.comb(self.times, hits) * large**hits
        for many, cells in enumerate(sums[: left + 1]):
            share = weight * math.comb(left, many) * small ** (left - many)
            whole = share * sum((mass for mass, _ in cells), Enclosure.of(0))
            if float(whole.upper) <= _CRUMB * self.rare:
                yield whole, many, cells[-1][1]
                continue
            for mass, loss in cells:
                yield share * mass, many, loss

    def _beyond(
        self, hits: int, large: Enclosure, small: Enclosure, edges: Sequence[Fraction], gain: Enclosure
    ) -> Iterator[Term]:
        """What is wrong with normal laws of all t in place of those above the last edge, if no step is in a cell."""
        if hits < _TWO:
            return
        left = self.times - hits
        weight = math.comb(self.times, hits) * large**hits * small**left
        least = self._loss(edges[0])
        chances = [self._chance(edge, Fraction(1)) for edge in edges]
        for edge, before, after in zip(edges, chances, chances[1:], strict=False):
            mass = hits * weight * (after - before).nonnegative()
            if float(mass.lower) > _CRUMB * self.rare:
                shift = hits * gain + edge + left * least
                yield Term(-Enclosure(mass.lower, mass.lower), hits - 1, shift)
        pairs = math.comb(hits, 2) * weight * chances[-1] ** 2
        yield Term(_upper(pairs), hits - 2, hits * gain + 2 * edges[-1] + left * least)

    def _many(self, middle: Enclosure, total: Enclosure) -> Enclosure:
        """The mass of more steps in cells than are listed."""
        many = _MOST_BETWEEN + 1
        if self.times < many:
            return Enclosure.of(0)
        return math.comb(self.times, many) * middle**many * total ** (self.times - many)

    def _binomial(self, one: Enclosure, other: Enclosure) -> tuple[list[tuple[int, Enclosure]], Enclosure]:
        """The terms of (one + other)^times by their number of `one`, and a bound on all that are left out."""
        mode = min(int(self.times * float(one.upper)), self.times)
        first = math.comb(self.times, mode) * one**mode * other ** (self.times - mode)
        found, left = [(mode, first)], Enclosure.of(0)
        for step in (1, -1):
            hits, weight = mode, first
            while 0 <= hits + step <= self.times:
                up = (self.times - hits) * one / ((hits + 1) * other)
                factor = up if step > 0 else hits * other / ((self.times - hits + 1) * one)
                if len(found) > _MOST_TERMS:
                    raise NotApplicable("too many different numbers of hits")
                if float(weight.upper) < _RARE * _RARE * self.rare and float(factor.upper) < 1:
                    left = left + weight * factor / (1 - factor)
                    break
                hits, weight = hits + step, weight * factor
                found.append((hits, weight))
        return found, _upper(left)


def _upper(value: Enclosure) -> Enclosure:
    return Enclosure(value.upper, value.upper)


def _sums(cells: Cells) -> list[Cells]:
    """For 0, 1, ... steps in cells: masses by their sum, rounded up to a cell's loss or a multiple of the largest."""
    losses = [loss for _, loss in cells]
    losses += [many * losses[-1] for many in range(2, _MOST_BETWEEN + 2)]
    places = [float(loss.lower) for loss in losses]
    found: list[Cells] = [[(_ONE, Enclosure.of(0))], cells]
    for _ in range(2, _MOST_BETWEEN + 1):
        masses = [Enclosure.of(0)] * len(losses)
        for mass, loss in found[-1]:
            for other, more in cells:
                most = float((loss + more).upper)
                place = bisect_left(places, most + 1e-12 * abs(most))
                masses[min(place, len(losses) - 1)] += mass * other
        found.append([(mass, loss) for mass, loss in zip(masses, losses, strict=True) if mass.upper])
    return found


def _root(falling: Callable[[float], float], goal: float, highest: float) -> float:
    """About where it falls to the goal: halved, then by chords of its logarithm."""

    def over(place: float) -> float:
        return math.log(max(falling(place), 1e-300)) - math.log(goal)

    low, high = 0.0, highest
    for _ in range(_HALVED):
        middle = (low + high) / 2
        low, high = (middle, high) if over(middle) > 0 else (low, middle)
    one, other = (low, over(low)), (high, over(high))
    for _ in range(_ROUNDS):
        if one[1] == other[1]:
            break
        place = other[0] - other[1] * (other[0] - one[0]) / (other[1] - one[1])
        place = place if low < place < high else (low + high) / 2
        value = over(place)
        low, high = (place, high) if value > 0 else (low, place)
        one, other = other, (place, value)
        if abs(one[0] - place) <= 1e-13 * place:
            break
    return other[0]


def _first(holds: Callable[[Fraction], bool], root: float, sign: int) -> Fraction | None:
    margin = 1e-12 * max(root, 1e-6)
    for _ in range(_TRIES):
        place = Fraction(root + sign * margin)
        if place <= 0:
            return Fraction(0) if sign < 0 else None
        if holds(place):
            return place
        margin *= 16
    return None
