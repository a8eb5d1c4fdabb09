"""Accounting with a certificate: an epsilon that an independent checker can derive again from the event alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.accounting import closed_forms, contour
from privately.accounting.cells import LARGEST_CELLS, Found, by_cells
from privately.accounting.checkable import Case, Concentrated, Losses, Normal, Response, Sampled, cases, losses
from privately.accounting.compositions import Composition
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.encoding import encode
from privately.accounting.events import Event, Renyi
from privately.accounting.extremes import largest_loss
from privately.accounting.failing import failing
from privately.accounting.losses import (
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.witnesses import CELLS, Outline, contour_witness, laplace_sketch, order_witness
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ApproxDP, Derivation, PureDP
from privately.guarantees.curves import bound_at, gaussian_epsilon
from privately.guarantees.rules import accounted, optimal_composition, suppose
from privately.rounding import Enclosure, Number, rational

WIDTH = Fraction(1, 10**6)
_LEAST = Fraction(1, 1000)
_WIDE = Fraction(1, 10**4)
_BLURS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
_QUIET = 48.0
_COARSE = 1e-4
_IMPROVABLE = {"pure", "steps"}
_MOST_NESTED = 8
_MOST_RUNS = 200_000
_TWO = 2
_OFTEN = Fraction(9, 10)
_FINE_CELLS, _MORE = 4096, 1.05
_WIDENINGS = 6
_HIGHEST, _LARGEST_POWER, _FARTHEST = Fraction(10**4), Fraction(9000), 110.0

Parts = Sequence[tuple[Loss, int]]
Rest = Sequence[tuple[Concentrated | Renyi | Response, int]]


@dataclass(frozen=True)
class Bound:
    """An epsilon that is enough, and the witness that shows it."""

    epsilon: Fraction
    witness: Mapping[str, Any]
    is_near: bool = True
    """Whether it is known to be near the truth, as far as its method goes."""

    @property
    def is_improvable(self) -> bool:
        return not self.is_near or self.witness["method"] in _IMPROVABLE


def derive(event: Event, *, delta: Number) -> Derivation:
    """A Derivation of (epsilon, delta)-DP for everything that the event describes, ready for `certify`.

    Its epsilon is slightly above that of `epsilon(event, delta)`; above it by more, where a checker knows only a weaker
    bound. Where it knows none, NoSuchRule.

    >>> from privately import accounting as acc, certify, check
    >>> steps = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.01"), times=10_000)
    >>> certificate = certify(derive(steps, delta="1e-5"))
    >>> round(float(certificate.guarantee.parameters["epsilon"]), 4), check(certificate).rules
    (6.1877, ('accounted',))
    """
    if not isinstance(event, Event):
        raise InvalidParameter("event", f"a {type(event).__name__} is not an event.")
    allowed = rational(delta, "delta", minimum=0, maximum=1)
    if allowed == 1:
        raise InvalidParameter("delta", "1 allows everything; ask for less.")
    if event.depth > _MOST_NESTED:
        raise NoSuchRule(premise=f"events nested more than {_MOST_NESTED} deep", wanted="a certificate")
    bounds = _bounds([_Question.of(case, allowed) for case in cases(event)])
    epsilon = max((bound.epsilon for bound in bounds), default=Fraction(0))
    try:
        conclusion = ApproxDP(epsilon=_short(epsilon), delta=allowed, neighbors=event.neighbors)
        return accounted(conclusion, event=encode(event), bounds=[bound.witness for bound in bounds])
    except InvalidParameter as reason:
        premise = f"an epsilon of about {float(epsilon):.3g}"
        raise NoSuchRule(premise=premise, wanted="a certificate", hint=str(reason)) from None


@dataclass(frozen=True)
class _Question:
    """One direction: its losses, delta and what is left of it for finite ones, and an answer that needs no search."""

    case: Case
    losses: Losses
    whole_delta: Fraction
    delta: Fraction
    simple: Bound | None

    @classmethod
    def of(cls, case: Case, delta: Fraction) -> _Question:
        known = losses(case)
        infinite = failing(known.failures)[1]
        left = delta
        if known.failures:
            left = (delta - infinite) * (1 - Fraction(1, 10**9)) / (1 - infinite) if infinite < 1 else Fraction(-1)
        simple = _simple(case, known.all_laws, left) if known.has_pairs and delta >= infinite else None
        return cls(case, known, delta, left, simple)

    def bound(self, enough: Fraction) -> Bound:
        """The least epsilon that some method shows; one below `enough` will do."""
        known, simple = self.losses, self.simple
        if simple and (simple.epsilon <= enough or simple.witness["method"] not in _IMPROVABLE) and not known.rest:
            return simple
        found = [simple] if simple else []
        if self.delta > 0:
            steps = _steps(known, self.delta)
            found += steps
            if steps and (steps[0].epsilon <= enough or known.laws[0][1] == 1):
                return min(found, key=lambda bound: bound.epsilon)
            found += _contour_or_none(known.all_laws, self.delta, 0.0) if known.has_pairs else []
            if all(bound.is_improvable for bound in found):
                found += self._others(found, enough)
        if not found:
            raise NoSuchRule(
                premise="these events at so small a delta",
                wanted="an epsilon that can be checked",
                hint="Allow a larger delta: some mechanism can reveal everything, or has no largest loss.",
            )
        return min(found, key=lambda bound: bound.epsilon)

    def again(self, found: Bound, claimed: Fraction) -> Bound:
        """The bound, or another where the cells are not made for an epsilon as large as is claimed of all together."""
        if found.witness["method"] != "cells" or claimed <= LARGEST_CELLS:
            return found
        others = [*([self.simple] if self.simple else []), *_renyi(self.losses, self.delta)]
        if not others or min(other.epsilon for other in others) > claimed:
            raise NoSuchRule(premise=f"an epsilon of {float(claimed):.3g}", wanted="a certificate of all parts")
        return min(others, key=lambda other: other.epsilon)

    def _others(self, found: Sequence[Bound], enough: Fraction) -> list[Bound]:
        """By cells; where there are none, or too wide ones, by whatever else shows something."""
        known = self.losses
        cells = self._cells(min((bound.epsilon for bound in found), default=None), float(enough))
        more = ([_by_cells(cells)] if cells else []) + self._unsampled()
        if cells is None or not cells.is_close:
            more += _blurred(known.all_laws, self.delta) if known.has_pairs else []
            more += _renyi(known, self.delta)
        return more

    def _cells(self, highest: Fraction | None, enough: float) -> Found | None:
        laws = self.case.laws()
        if not laws:
            return None
        try:
            known = math.inf if highest is None else float(highest)
            return by_cells(laws, self.case.direction, self.whole_delta, known, enough)
        except NotApplicable:
            return None

    def _unsampled(self) -> list[Bound]:
        """A sample costs at most what it is a sample of, which says something at rates near 1."""
        if not any(isinstance(term, Sampled) and term.poisson and term.rate >= _OFTEN for term, _ in self.case.terms):
            return []
        try:
            bound = _Question.of(self.case.unsampled(), self.whole_delta).bound(Fraction(0))
        except NoSuchRule:
            return []
        if bound.witness["method"] == "binomial":
            return []
        return [Bound(bound.epsilon, {"method": "unsampled", "bound": bound.witness})]


def _bounds(questions: Sequence[_Question]) -> list[Bound]:
    """One for each; those that have a simple answer last, as they may not need a better one."""
    found: dict[int, Bound] = {}
    for place in sorted(range(len(questions)), key=lambda place: questions[place].simple is not None):
        enough = max((bound.epsilon for bound in found.values()), default=Fraction(-1))
        found[place] = questions[place].bound(enough)
    most = max((bound.epsilon for bound in found.values()), default=Fraction(0))
    return [question.again(found[place], most) for place, question in enumerate(questions)]


def _simple(case: Case, parts: Parts, delta: Fraction) -> Bound | None:
    """What is known in closed form."""
    terms = [term for term, _ in case.terms]
    if all(isinstance(term, Normal) for term in terms):
        squares = sum((times * law.mu_squared for law, times in parts if isinstance(law, GaussianLoss)), Fraction(0))
        mu = Enclosure.of(squares).sqrt().claim()
        if mu and not delta:
            return None
        epsilon = gaussian_epsilon(mu, delta).upper if mu else Fraction(0)
        return Bound(_slightly_more(Fraction(epsilon)), {"method": "gaussian", "mu": str(mu)})
    single = terms[0] if len(terms) == 1 and isinstance(terms[0], Response) else None
    if single and single.laplace and case.terms[0][1] == 1:
        epsilon = (single.epsilon + 2 * Enclosure.of(1 - delta).log()).nonnegative().claim()
        return Bound(_short(epsilon), {"method": "laplace"})
    most = largest_loss(Composition(parts=tuple(parts)))
    if most is None:
        return None
    return _binomial(single, case.terms[0][1], delta) or Bound(_short(most.nonnegative().claim()), {"method": "pure"})


def _binomial(term: Response | None, times: int, delta: Fraction) -> Bound | None:
    """One response of two answers, so many times; a checker does not take anything else for one."""
    if term is None or term.laplace or term.bounded_range or term.categories > _TWO or not term.epsilon:
        return None
    if delta <= 0 or times > _MOST_RUNS:
        return None
    try:
        summed = optimal_composition(suppose(PureDP(epsilon=term.epsilon)), counts=[times], delta=delta)
    except InvalidParameter:  # too large an epsilon in all
        return None
    return Bound(_slightly_more(summed.conclusion.parameters["epsilon"]), {"method": "binomial"})


def _steps(known: Losses, delta: Fraction) -> list[Bound]:
    """One sampled normal law: by the closed form of one step, to which each contributes alike."""
    if len(known.laws) != 1 or known.rest or known.failures or not isinstance(known.laws[0][0], SampledGaussianLoss):
        return []
    law, times = known.laws[0]
    try:
        found = closed_forms.epsilon(Composition(parts=((law, 1),)), delta / times, WIDTH)
    except DEAD_ENDS:
        return []
    return (
        [] if found.upper == math.inf else [Bound(_slightly_more(times * Fraction(found.upper)), {"method": "steps"})]
    )


def _by_cells(found: Found) -> Bound:
    return Bound(_slightly_more(Fraction(found.epsilon)), found.witness())


def _contour_or_none(parts: Parts, delta: Fraction, ratio: float) -> list[Bound]:
    """By the contour integral, with a little normal loss added."""
    try:
        blur = _blur(parts, delta, ratio) if ratio else Fraction(0)
        return [_contour([*parts, (GaussianLoss(mu_squared=blur), 1)] if blur else parts, delta, blur)]
    except NotApplicable:
        return []


def _blurred(parts: Parts, delta: Fraction) -> list[Bound]:
    """Where losses do not fall along the contour: with as little normal loss as is enough."""
    return next((found for ratio in _BLURS if (found := _contour_or_none(parts, delta, ratio))), [])


def _blur(parts: Parts, delta: Fraction, ratio: float) -> Fraction:
    outline = Outline(parts)
    log_delta = _log(delta)
    c = outline.best_order(lambda c: (outline.cumulants(c)[0] - log_delta) / c)
    return Fraction(ratio * outline.cumulants(c)[2]).limit_denominator(10**12) or Fraction(1, 10**12)


def _contour(parts: Parts, delta: Fraction, blur: Fraction) -> Bound:
    log_delta = _log(delta)
    guess = Outline(parts).guess(log_delta)
    contour_witness(parts, guess, log_delta, _COARSE, blur)  # not applicable where the sum is too long to be checked
    found = contour.epsilon(Composition(parts=tuple(parts)), delta, WIDTH)
    if found.upper == math.inf:
        raise NotApplicable("no upper end was found")
    more = _chords(parts, float(found.upper))
    upper = Fraction(found.upper) + more
    room = WIDTH * max(upper, _LEAST)
    for _ in range(_WIDENINGS):
        epsilon = _short(upper + room)
        spare = _spare(parts, epsilon - more, delta, float(room) * Outline(parts).saddle(float(epsilon)))
        if spare:
            witness = contour_witness(parts, float(epsilon), log_delta, min(spare / 5, 1e-3), blur)
            return Bound(epsilon, witness, found.width <= _WIDE * max(upper, _LEAST))
        room *= 4
    raise NotApplicable("delta does not fall between these losses")


def _spare(parts: Parts, epsilon: Fraction, delta: Fraction, expected: float) -> float:
    """Which part of delta is not needed at this epsilon: as expected of smooth losses, less between some that stand
    alone, and 0 where it is hardly any.
    """
    found = contour.delta(Composition(parts=tuple(parts)), epsilon, Fraction(max(expected / 100, 1e-12)))
    least, most = (float(1 - Fraction(end) / delta) for end in (found.upper, found.lower))
    if least > expected / 50:
        return min(least, expected)
    return expected if most > expected / 2 else 0.0  # it is not known so well


def _chords(parts: Parts, epsilon: float) -> Fraction:
    """By how much Laplace noise on samples costs more as cells: what ln M has more, over the height of the contour."""
    sampled = [(law, times) for law, times in parts if isinstance(law, SampledLaplaceLoss)]
    if not sampled:
        return Fraction(0)
    c = Outline(parts).saddle(epsilon)
    more = sum(
        times * (laplace_sketch(law, CELLS).cumulants(c)[0] - laplace_sketch(law, _FINE_CELLS).cumulants(c)[0])
        for law, times in sampled
    )
    return Fraction(max(_MORE * more / c, 0.0))


def _renyi(known: Losses, delta: Fraction) -> list[Bound]:
    """By Renyi divergences, at the best order."""
    try:
        return [_at_best_order(known.laws, known.rest, delta)]
    except NotApplicable:
        return []


def _at_best_order(parts: Parts, rest: Rest, delta: Fraction) -> Bound:
    log_delta = _log(delta)
    outline = Outline(parts)

    def epsilon_at(c: float) -> float:
        order = Fraction(c) + 1
        if any(isinstance(term, Renyi) and order > term.bounds[-1][0] for term, _ in rest):
            return math.inf if c < 1 else 1e300 * c
        k = outline.cumulants(c)[0] + sum(times * float(_exponent(term, Fraction(c))) for term, times in rest)
        return (k - log_delta + c * math.log(c) - (c + 1) * math.log1p(c)) / c

    limits = [term.bounds[-1][0] - 1 for term, _ in rest if isinstance(term, Renyi)]
    highest = min([*limits, *(_highest(law) for law, _ in parts)], default=_HIGHEST)
    c = min(Fraction(outline.best_order(epsilon_at)).limit_denominator(10**6), highest, _HIGHEST)
    total = Enclosure.of(0)
    for law, times in parts:
        total = total + times * _log_mass(law, c)
    for term, times in rest:
        total = total + times * Enclosure.of(_exponent(term, c))
    ends = c * Enclosure.of(c).log() - (c + 1) * Enclosure.of(c + 1).log() - Enclosure.of(delta).log()
    epsilon = ((total + ends) / Enclosure.of(c)).nonnegative()
    return Bound(
        _slightly_more(epsilon.claim()),
        {"method": "renyi", "order": str(c + 1), "grids": order_witness(parts, float(c))},
    )


def _highest(law: Loss) -> Fraction:
    """Up to which c a checker evaluates all powers of e that M(c) needs."""
    match law:
        case SampledGaussianLoss(mu_squared=mu_squared):
            return Fraction(_FARTHEST / math.sqrt(mu_squared)).limit_denominator(10**6)
        case LaplaceLoss(epsilon=epsilon) | FiniteLoss(epsilon=epsilon) | SampledLaplaceLoss(epsilon=epsilon) if (
            epsilon
        ):
            return _LARGEST_POWER / epsilon
    return _HIGHEST


def _exponent(term: Concentrated | Renyi | Response, c: Fraction) -> Fraction:
    """c times the Renyi divergence of order c + 1."""
    match term:
        case Concentrated(rho):
            return c * (c + 1) * rho
        case Renyi(bounds=bounds):
            return c * bound_at(bounds, c + 1)
        case Response(epsilon=epsilon):
            return min(c * epsilon, c * (c + 1) * epsilon**2 / 8)


def _log_mass(law: Loss, c: Fraction) -> Enclosure:
    match law:
        case GaussianLoss(mu_squared=mu_squared):
            return Enclosure.of(c * (c + 1) * mu_squared / 2)
        case LaplaceLoss(epsilon=epsilon):
            first, second = Enclosure.of(c * epsilon).exp(), Enclosure.of(-(c + 1) * epsilon).exp()
            return (((c + 1) * first + c * second) / (2 * c + 1)).log()
        case FiniteLoss():
            total = sum((weight * (c * loss).exp() for weight, loss in law.atoms()), Enclosure.of(0))
            return total.log()
        case SampledGaussianLoss():
            place = math.nextafter(float(c), math.inf)
            return Enclosure.of(Fraction(SampledGaussian.of(law).grid(place, place, 0.0, _QUIET).log_mass(place)[1]))
        case SampledLaplaceLoss():
            found = laplace_sketch(law, CELLS).cumulants(float(c))[0]
            return Enclosure.of(Fraction(found + 1e-12 * abs(found) + 1e-15))
    raise NotApplicable(f"no moments of a {type(law).__name__}")


def _slightly_more(epsilon: Fraction) -> Fraction:
    return _short(epsilon * (1 + Fraction(1, 10**9)))


def _short(value: Fraction) -> Fraction:
    """Rounded up to 12 decimals."""
    return Fraction(math.ceil(value * 10**12), 10**12)


def _log(value: Fraction) -> float:
    ends = Enclosure.of(value).log()
    return float(ends.lower)
