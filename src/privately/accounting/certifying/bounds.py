"""The least epsilon that the checker can be shown for one list of laws in one direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from privately.accounting.certifying.cases import Case
from privately.accounting.certifying.cells import Found, by_cells
from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.layouts import LAID, laid_out
from privately.accounting.certifying.moments import infinite_mass, largest
from privately.accounting.certifying.roads import (
    Bound,
    by_binomial,
    by_blurred_contour,
    by_contour,
    by_points,
    by_renyi,
    by_steps,
    parts_of,
    short,
    slightly_more,
)
from privately.accounting.failing import failing
from privately.accounting.losses import Loss
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.errors import NoSuchRule
from privately.guarantees.curves import gaussian_epsilon
from privately.rounding import Enclosure

_IMPROVABLE = {"pure", "steps"}
_OFTEN = Fraction(9, 10)
_KNOWN = {"normal", "laplace", "response", "range", "sampled normal", "sampled laplace", "sampled response"}
_KNOWN |= {"glued response", "sampled range", "glued range"}
_WITHOUT_PROFILE = {"concentrated", "renyi", "worst", "group"}
_LARGEST = 2000
"""Beyond, only methods are used that need no power of e."""
_TURNS, _CLOSE = 5, Fraction(1, 10**4)
_FEW = 30
_ROUGHLY = 1 - Fraction(1, 10**5)
"""Tables are known to so much in floats."""
_LESS = 1 - Fraction(1, 10**9)


@dataclass(frozen=True)
class Question:
    """One direction: its laws, delta and what is left of it for finite losses."""

    case: Case
    whole_delta: Fraction
    infinite: Fraction

    @classmethod
    def of(cls, case: Case, delta: Fraction) -> Question:
        failures: dict[Fraction, int] = {}
        for law, times in case.terms:
            try:
                mass = infinite_mass(law, case.direction)
            except NotApplicable as reason:
                raise _unknown(reason.reason) from None
            if mass:
                failures[mass] = failures.get(mass, 0) + times
        return cls(case, delta, failing(failures)[1])

    @property
    def laws(self) -> tuple[tuple[Law, int], ...]:
        return self.case.terms

    @property
    def delta(self) -> Fraction:
        """For finite losses, beside the others."""
        if not self.infinite:
            return self.whole_delta
        return (self.whole_delta - self.infinite) * _LESS if self.infinite < 1 else Fraction(-1)

    @property
    def finite_delta(self) -> Fraction:
        """For losses given that they are finite."""
        return self.delta / (1 - self.infinite) if self.infinite < 1 else self.delta

    @cached_property
    def simple(self) -> Bound | None:
        """What is known in closed form."""
        if self.whole_delta < self.infinite:
            return None
        delta = self.delta
        if all(law.name == "normal" for law, _ in self.laws):
            found = _normal(sum((times * law.numbers[0] for law, times in self.laws), Fraction(0)), delta)
            if found is None or found.epsilon < _LARGEST:
                return found
            return self.rough
        law, times = self.laws[0]
        alone = len(self.laws) == 1
        if alone and law.name == "laplace" and times == 1:
            epsilon = (law.numbers[0] + 2 * Enclosure.of(1 - delta).log()).nonnegative().claim()
            return Bound(short(epsilon), {"method": "laplace"})
        most = Enclosure.of(0)
        for one, runs in self.laws:
            ends = largest(one, self.case.direction)
            if ends is None:
                return None
            most = most + runs * ends
        binomial = by_binomial(law, times, self.finite_delta) if alone else None
        return binomial or Bound(short(most.nonnegative().claim()), {"method": "pure"})

    @cached_property
    def rough(self) -> Bound | None:
        """By Renyi divergences: some percent more, and quickly checked."""
        return next(iter(by_renyi(self.laws, self.case.direction, self.delta)), None) if self.delta > 0 else None

    def bound(self, enough: Fraction) -> Bound:
        """The least epsilon that some method shows; one below `enough` will do."""
        simple = self.simple
        if simple and (simple.epsilon <= enough or simple.witness["method"] not in _IMPROVABLE):
            return simple
        found = [simple] if simple else []
        if self.delta > 0:
            found += self._searched(found, enough)
        if not found:
            raise _unknown("these events at so small a delta")
        best = min(found, key=lambda bound: bound.epsilon)
        return best if best.epsilon <= _LARGEST else self._without_powers(best)

    def _without_powers(self, best: Bound) -> Bound:
        """By methods that need no power of e."""
        safe = [bound for bound in (self.simple, best) if bound and bound.witness["method"] in {"pure", "renyi"}]
        safe += [self.rough] if self.rough else []
        if not safe:
            raise _unknown(f"an epsilon of about {float(best.epsilon):.3g}")
        return min(safe, key=lambda bound: bound.epsilon)

    def _searched(self, known: Sequence[Bound], enough: Fraction) -> list[Bound]:
        found = list(known)
        steps = by_steps(self.laws, self.case.direction, self.delta)
        found += steps
        if steps and (steps[0].epsilon <= enough or self.laws[0][1] == 1):
            return found
        parts = self._parts()
        found += by_contour(parts, self.finite_delta) if parts else []
        if all(bound.is_improvable for bound in found) or any("range" in law.name for law, _ in self.laws):
            found += self._others(found, enough, parts)
        return found

    def _parts(self) -> list[tuple[Loss, int]] | None:
        if any(law.name not in _KNOWN for law, _ in self.laws):
            return None
        return parts_of(self.laws, self.case.direction)

    def _others(self, found: Sequence[Bound], enough: Fraction, parts: list[tuple[Loss, int]] | None) -> list[Bound]:
        """By cells; where there are none, or too wide ones, by whatever else shows something."""
        cells = self.cells(min((bound.epsilon for bound in found), default=None), enough)
        more = ([_by_cells(cells)] if cells else []) + self._unsampled() + self._once() + self._mixed(enough)
        if cells is None or not cells.is_close:
            more += by_blurred_contour(parts, self.finite_delta) if parts else self.points()
        if cells is None or not cells.is_close or any("range" in law.name for law, _ in self.laws):
            more += [self.rough] if self.rough else []
        return more

    def points(self) -> list[Bound]:
        names = {law.base_name for law, _ in self.laws}
        if names & {"mix", *_WITHOUT_PROFILE} or any(
            law.name in {"glued normal", "glued laplace"} for law, _ in self.laws
        ):
            return []
        try:
            return by_points(self.laws, self.case.direction, self.delta)
        except NotApplicable:
            return []

    def cells(self, highest: Fraction | None, enough: Fraction) -> Found | None:
        if any(law.base_name in {"mix", *_WITHOUT_PROFILE} for law, _ in self.laws) or not self.laws:
            return None
        try:
            known = math.inf if highest is None else float(highest)
            return by_cells(self.laws, self.case.direction, self.whole_delta, known, float(enough))
        except DEAD_ENDS:
            return None

    def _unsampled(self) -> list[Bound]:
        """A sample costs at most what it is a sample of, which says something at rates near 1."""
        if not any(law.is_sampled and law.numbers[-1] >= _OFTEN for law, _ in self.laws):
            return []
        case = self.case.unsampled()
        return [] if case is None else _wrapped("unsampled", Question.of(case, self.whole_delta), _NESTED)

    def _once(self) -> list[Bound]:
        """One sample, once: by what is sampled, at a larger delta."""
        case = self.case.inside()
        if case is None or self.laws[0][0].name in _KNOWN:
            return []
        rate, weight = self.laws[0][0].numbers[-1], self.laws[0][0].numbers[-1]
        if rate <= self.whole_delta * _LESS:  # nothing is asked of what is sampled
            return [Bound(Fraction(0), {"method": "base", "bound": {"method": "pure"}})]
        added = self.laws[0][0].is_sampled and self.case.direction == "add"
        best: list[Bound] = []
        for _ in range(_TURNS if added else 1):
            if weight <= self.whole_delta:
                return best
            inside = _wrapped("base", Question.of(case, self.whole_delta / weight), _NESTED | {"mixed"})
            if not inside or inside[0].epsilon > _LARGEST:
                return best
            grown = Enclosure.of(inside[0].epsilon).exp()
            outside = grown / (rate + (1 - rate) * grown) if added else 1 + rate * (grown - 1)
            needed = Fraction((rate / (rate + (1 - rate) * grown)).upper)
            if needed <= weight:  # it is not where the epsilon before was too large
                best = [Bound(slightly_more(outside.log().nonnegative().claim()), inside[0].witness)]
            if abs(weight - needed) <= _CLOSE * weight and best:
                return best
            weight = needed
        return best

    def _mixed(self, enough: Fraction) -> list[Bound]:
        """Samples of several laws, each laid out as a pair."""
        if not any(law.name in LAID for law, _ in self.laws):
            return []
        try:
            laws, layouts = laid_out(self.laws, self.case.direction, float(self.delta))
        except DEAD_ENDS:
            return []
        case = Case(tuple(laws), self.case.direction)
        inside = Question.of(case, self.whole_delta * _ROUGHLY)
        if inside.delta <= 0:
            return []
        found = inside.points()
        if all(bound.epsilon < _FEW for bound in found):
            cells = inside.cells(found[0].epsilon if found else None, enough)
            found += [_by_cells(cells)] if cells else []
        return [
            Bound(slightly_more(one.epsilon), {"method": "mixed", "bases": layouts, "bound": one.witness})
            for one in found
        ]


def for_claim(found: Bound, claimed: Fraction) -> Bound:
    """The bound, or what says that it is one for this larger epsilon too: cells, and powers of e, are for their own."""
    innermost = found.witness
    while "bound" in innermost:
        innermost = innermost["bound"]
    is_large = claimed > _LARGEST and found.witness["method"] not in {"pure", "renyi", "binomial"}
    if claimed <= found.epsilon or not (is_large or innermost["method"] == "cells"):
        return found
    return Bound(claimed, {"method": "smaller", "epsilon": str(found.epsilon), "bound": found.witness})


_NESTED = {"gaussian", "pure", "laplace", "steps", "contour", "renyi", "cells"}


def _wrapped(method: str, question: Question, allowed: set[str]) -> list[Bound]:
    """A bound inside of another."""
    try:
        bound = question.bound(Fraction(0))
    except NoSuchRule:
        return []
    if bound.witness["method"] not in allowed:
        return []
    return [Bound(bound.epsilon, {"method": method, "bound": bound.witness})]


def _by_cells(found: Found) -> Bound:
    return Bound(slightly_more(Fraction(found.epsilon)), found.witness())


def _normal(squares: Fraction, delta: Fraction) -> Bound | None:
    mu = Enclosure.of(squares).sqrt().claim()
    if mu and not delta:
        return None
    epsilon = Fraction(gaussian_epsilon(mu, delta).upper) if mu else Fraction(0)
    return Bound(slightly_more(epsilon), {"method": "gaussian", "mu": str(mu)})


def _unknown(premise: str) -> NoSuchRule:
    return NoSuchRule(
        premise=premise,
        wanted="an epsilon that can be checked",
        hint="Allow a larger delta: some mechanism can reveal everything, or has no largest loss.",
    )
