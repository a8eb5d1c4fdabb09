"""Which of several compositions cost no more than another one, seen from their parameters alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, starmap
from typing import TypeAlias

from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Laplace,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
)
from privately.errors import NoSuchRule

MAX_ALTERNATIVES = 400
LONGEST_SUM = 4 * 4096
"""Sums of squares of more bits than this are not compared."""

Strength: TypeAlias = tuple[Fraction | int, ...]


def uncovered(listed: Sequence[Mapping[Event, int]]) -> list[Mapping[Event, int]]:
    """Those that no other one covers; of equal ones the first.

    Theorem: within a family of events the profile grows with the strength listed here, and a composition's with each
        of its terms'.
    Reference: docs/theory/accounting/events.md gives each; composition: Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/events.md#coverage
    Checked-by: tests/accounting/test_coverage.py::test_what_is_covered_costs_no_more
    """
    strengths = [_Strengths.of(terms) for terms in listed]
    kept: list[int] = []
    for place in sorted(range(len(listed)), key=lambda place: strengths[place].rank, reverse=True):
        if any(strengths[other].covers(strengths[place]) for other in kept):
            continue
        kept = [other for other in kept if not strengths[place].covers(strengths[other])] + [place]
        if len(kept) > MAX_ALTERNATIVES:
            raise NoSuchRule(
                premise=f"more than {MAX_ALTERNATIVES} parts of which none covers another",
                wanted="the worst part",
                hint="Describe the parts by fewer different events.",
            )
    return [listed[place] for place in sorted(kept)]


@dataclass(frozen=True, slots=True)
class _Strengths:
    """How strong each family of events is, the number of runs last; and the terms as they are."""

    families: Mapping[object, Strength] | None
    terms: Mapping[Event, int]

    @classmethod
    def of(cls, terms: Mapping[Event, int]) -> _Strengths:
        return cls(_families(terms), terms)

    def covers(self, other: _Strengths) -> bool:
        if all(self.terms.get(event, 0) >= times for event, times in other.terms.items()):
            return True
        if self.families is None or other.families is None:
            return False
        if len(other.families) == 1:
            return any(starmap(self._has, _wider(*next(iter(other.families.items())))))
        return all(starmap(self._has, other.families.items()))

    def _has(self, family: object, strength: Strength) -> bool:
        """As much of a family."""
        mine = (self.families or {}).get(family)
        return mine is not None and all(a >= b for a, b in zip(mine, strength, strict=True))

    @property
    def rank(self) -> float:
        """Usually higher for what covers more, which saves comparisons."""
        return sum(float(number) for strength in (self.families or {}).values() for number in strength)


def _families(terms: Mapping[Event, int]) -> Mapping[object, Strength] | None:
    """None when a family occurs twice, as two strengths are not one; only normal laws add up to one."""
    found: dict[object, Strength] = {}
    for event, times in terms.items():
        family, strength = _family(event)
        if family == _NORMAL:
            (before,) = found.get(family, (Fraction(0),))
            total = before + times * strength[0]
            if total.denominator.bit_length() > LONGEST_SUM:
                return None
            found[family] = (total,)
        elif family in found:
            return None
        else:
            found[family] = (*strength, times)
    return found


_NORMAL, _RESPONSE, _RANGE, _CONCENTRATED = "normal", "response", "range", "concentrated"


def _wider(family: object, strength: Strength) -> Iterator[tuple[object, Strength]]:
    """A family, and all statements that are known to hold whatever it describes, each with what it needs for that.

    Theorem: noise whose losses are at most epsilon is epsilon-DP; what is epsilon-DP has losses in an interval of twice
        that; and with a range of epsilon it is (epsilon^2/8)-zCDP, as normal noise is (mu^2/2)-zCDP.
    Reference: Dong-Durfee-Rogers 2020, section 3; Bun-Steinke 2016, Propositions 1.4 and 1.6
    Proof: docs/theory/accounting/events.md#coverage
    Checked-by: tests/accounting/test_coverage.py::test_wider_families_cost_no_less
    """
    yield family, strength
    match family, strength:
        case ("laplace", (loss, times)) | ("response", (loss, 0, _, times)):
            yield from _wider(_RANGE, (2 * loss, times))
        case "discrete laplace", (share, shift, times):
            yield from _wider(_RANGE, (2 * share * shift, times))
        case "range", (size, times):
            yield _CONCENTRATED, (Fraction(size) ** 2 / 8, times)
        case "normal", (square,):
            yield _CONCENTRATED, (Fraction(square) / 2, 1)
        case ("sampled", inner), (rate, *rest):
            for wider, needed in islice(_wider(inner, tuple(rest)), 1, None):
                yield ("sampled", wider), (rate, *needed)


def _family(event: Event) -> tuple[object, Strength]:
    """Of noise and responses, samples of anything, and statements."""
    match event:
        case Gaussian(noise_multiplier=multiplier) if multiplier:
            return _NORMAL, (1 / multiplier**2,)
        case GaussianDP(mu=mu):
            return _NORMAL, (mu**2,)
        case Laplace(scale=scale) if scale:
            return "laplace", (1 / scale,)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity) if scale:
            return "discrete laplace", (1 / scale, sensitivity)
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity):
            return ("discrete gaussian", variance), (sensitivity,)
        case PoissonSample() | FixedSizeSample():
            return _sampled(event)
    return _promised(event)


def _promised(event: Event) -> tuple[object, Strength]:
    match event:
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            return _RESPONSE, (epsilon, Fraction(0), -categories)
        case Pure(epsilon=epsilon):
            return _RESPONSE, (epsilon, Fraction(0), -2)
        case Approx(epsilon=epsilon, delta=delta):
            return _RESPONSE, (epsilon, delta, -2)
        case Exponential(epsilon=epsilon):
            return _RANGE, (epsilon,)
        case ZCDP(rho=rho):
            return _CONCENTRATED, (rho,)
        case Renyi(bounds=bounds):
            return ("renyi", tuple(order for order, _ in bounds)), tuple(bound for _, bound in bounds)
    return event, ()


def _sampled(event: PoissonSample | FixedSizeSample) -> tuple[object, Strength]:
    family, strength = _family(event.event)
    if isinstance(event, PoissonSample):
        return ("sampled", family), (event.rate, *strength)
    return ("sampled", event.size, event.population, family), strength
