"""What a checker adds up for an event: losses for each alternative and direction, in its order.

It knows fewer laws than accounting does, and takes some events for one that costs more; what is listed here is what
docs/theory/certificates.md says. Whatever it does not know at all is refused, before anything is claimed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately.accounting.cells import Law
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
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.accounting.finite_pairs import FinitePair, response_pair
from privately.accounting.losses import (
    DIRECTIONS,
    Direction,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.errors import NoSuchRule


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal noise, mu^2."""

    mu_squared: Fraction


@dataclass(frozen=True, slots=True)
class Response:
    """Randomized response that reveals everything with probability delta; of a Laplace law only that."""

    epsilon: Fraction
    categories: int = 2
    delta: Fraction = Fraction(0)
    laplace: bool = False
    bounded_range: bool = False


@dataclass(frozen=True, slots=True)
class Concentrated:
    """rho-zCDP."""

    rho: Fraction


@dataclass(frozen=True, slots=True)
class Sampled:
    """A Poisson sample, or one of fixed size."""

    base: Normal | Response
    rate: Fraction
    poisson: bool


Term: TypeAlias = Normal | Response | Concentrated | Renyi | Sampled
Terms: TypeAlias = Counter[Term]

_REVEALED = Response(Fraction(0), 2, Fraction(1))


@dataclass(frozen=True, slots=True)
class Case:
    """One list of losses in one direction."""

    terms: tuple[tuple[Term, int], ...]
    direction: Direction

    def unsampled(self) -> Case:
        """The same without Poisson samples, which costs at least as much."""
        terms: Terms = Counter()
        for term, times in self.terms:
            terms[term.base if isinstance(term, Sampled) and term.poisson else term] += times
        return Case(tuple(terms.items()), DIRECTIONS[0])

    def laws(self) -> list[tuple[Law, int]] | None:
        """By the names and in the order of the checker, if it knows the profile of each."""
        found = [(_named(term), times) for term, times in self.terms]
        known = [(law, times) for law, times in found if law is not None]
        return sorted(known) if len(known) == len(found) else None


def cases(event: Event) -> list[Case]:
    """All that has to be within a claim, in the order of the witnesses."""
    found: list[Case] = []
    for terms in _alternatives(event):
        both = any(isinstance(term, Sampled) and term.poisson for term in terms)
        found += [Case(tuple(terms.items()), direction) for direction in (DIRECTIONS if both else DIRECTIONS[:1])]
    return found


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of one case, each with its number."""

    laws: tuple[tuple[Loss, int], ...]
    """Those with a pair."""
    failures: dict[Fraction, int]
    """Probabilities of infinite losses."""
    rest: tuple[tuple[Concentrated | Renyi | Response, int], ...]
    """Those whose Renyi divergences are bounded: without a pair, or of bounded range."""

    @property
    def has_pairs(self) -> bool:
        """Whether every loss has a pair, if all that is known of a bounded range is its epsilon."""
        return all(isinstance(term, Response) for term, _ in self.rest)

    @property
    def all_laws(self) -> tuple[tuple[Loss, int], ...]:
        """With those of bounded range as randomized responses."""
        found: Counter[Loss] = Counter(dict(self.laws))
        for term, times in self.rest:
            if isinstance(term, Response):
                found[response(term.epsilon)] += times
        return tuple(found.items())


def losses(case: Case) -> Losses:
    """What is known of a case."""
    laws: Counter[Loss] = Counter()
    failures: Counter[Fraction] = Counter()
    rest: list[tuple[Concentrated | Renyi | Response, int]] = []
    for term, times in case.terms:
        match term:
            case Concentrated() | Renyi() | Response(bounded_range=True):
                rest.append((term, times))
            case Normal(mu_squared):
                laws[GaussianLoss(mu_squared=mu_squared)] += times
            case Response(epsilon=epsilon, laplace=True):
                laws[LaplaceLoss(epsilon=epsilon)] += times
            case Sampled(base=Normal(mu_squared), rate=rate):
                laws[SampledGaussianLoss(mu_squared=mu_squared, rate=rate, direction=case.direction)] += times
            case Sampled(base=Response(epsilon=epsilon, laplace=True), rate=rate):
                laws[SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=case.direction)] += times
            case Response():
                _record(_pair(term), times, laws, failures)
            case Sampled(base=Response() as base):
                _record(_sampled_pair(base, term, case.direction), times, laws, failures)
    return Losses(tuple(laws.items()), dict(failures), tuple(rest))


def _record(pair: FinitePair, times: int, laws: Counter[Loss], failures: Counter[Fraction]) -> None:
    law, infinite = pair.loss()
    if law is not None:
        laws[law] += times
    if infinite:
        failures[infinite] += times


def _sampled_pair(base: Response, sample: Sampled, direction: Direction) -> FinitePair:
    pair = _pair(base)
    return pair.sampled(sample.rate, direction) if sample.poisson else pair.glued(sample.rate)


def _pair(base: Response) -> FinitePair:
    return response_pair(base.epsilon, categories=base.categories, delta=base.delta)


def _named(term: Term) -> Law | None:
    match term:
        case Normal(mu_squared):
            return Law("normal", (mu_squared,))
        case Response(epsilon=epsilon) if term.laplace or term.bounded_range:
            return Law("laplace" if term.laplace else "range", (epsilon,))
        case Response():
            return Law("response", (term.epsilon, Fraction(term.categories), term.delta))
        case Sampled(base=base, rate=rate, poisson=True):
            law = _named(base)
            return law and Law(f"sampled {law.name}", (*law.numbers, rate))
    return None


def _alternatives(event: Event) -> list[Terms]:
    if not isinstance(event, Parallel):
        return [_flatten(event)]
    found: list[Terms] = []
    for part in event.events:
        found += [terms for terms in _alternatives(part) if terms not in found]
    return found


def _flatten(event: Event) -> Terms:
    match event:
        case Sequence(events=events):
            return sum((_flatten(part) for part in events), Counter())
        case Repeat(event=inner, times=times):
            return Counter({term: count * times for term, count in _flatten(inner).items() if times})
        case Parallel(events=events):
            first, *others = (_flatten(part) for part in events)
            if any(terms != first for terms in others):
                raise _unknown("different parts of a Parallel inside another event")
            return first
        case Group(event=inner, size=size):
            return sum((Counter({_grouped(term, size): times}) for term, times in _flatten(inner).items()), Counter())
        case PoissonSample(event=inner, rate=rate):
            return _sampled(_flatten(inner), rate, poisson=True)
        case FixedSizeSample(event=inner):
            return _sampled(_flatten(inner), event.rate, poisson=False)
    term = _leaf(event)
    return Counter() if term is None else Counter({term: 1})


def _leaf(event: Event) -> Term | None:
    match event:
        case Renyi():
            return event
        case Gaussian(noise_multiplier=0) | Laplace(scale=0) | DiscreteGaussian(variance=0) | DiscreteLaplace(scale=0):
            return _REVEALED
        case GaussianDP(mu=0) | ZCDP(rho=0) | Pure(epsilon=0) | RandomizedResponse(epsilon=0) | Exponential(epsilon=0):
            return None
        case Gaussian(noise_multiplier=multiplier):
            return Normal(1 / multiplier**2)
        case GaussianDP(mu=mu):
            return Normal(mu**2)
        case ZCDP(rho=rho):
            return Concentrated(rho)
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity):
            return Concentrated(sensitivity**2 / (2 * variance))
    return _response(event)


def _response(event: Event) -> Term | None:
    match event:
        case Laplace(scale=scale):
            return Response(1 / scale, laplace=True)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return Response(sensitivity / scale)
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            return Response(epsilon, categories)
        case Pure(epsilon=epsilon):
            return Response(epsilon)
        case Exponential(epsilon=epsilon):
            return Response(epsilon, bounded_range=True)
        case Approx(epsilon=epsilon, delta=delta):
            return Response(epsilon, 2, delta) if epsilon or delta else None
    raise _unknown(type(event).__name__)


def _grouped(term: Term, size: int) -> Term:
    match term:
        case _ if size == 1 or term == _REVEALED:
            return term
        case Normal(mu_squared):
            return Normal(mu_squared * size**2)
        case Concentrated(rho):
            return Concentrated(rho * size**2)
        case Response(delta=0):
            return Response(term.epsilon * size, laplace=term.laplace, bounded_range=term.bounded_range)
    raise _unknown(f"a group of {size}")


def _sampled(terms: Terms, rate: Fraction, *, poisson: bool) -> Terms:
    if rate == 1 or not terms:
        return terms
    if rate == 0:
        return Counter()
    if _REVEALED in terms:
        return Counter({Sampled(_REVEALED, rate, poisson): 1})
    if all(isinstance(term, Normal) for term in terms):
        if not poisson:
            raise _unknown("normal noise on a sample of fixed size")
        total = sum((times * term.mu_squared for term, times in terms.items() if isinstance(term, Normal)), Fraction(0))
        return Counter({Sampled(Normal(total), rate, poisson): 1})
    (term, times), *others = terms.items()
    if poisson and isinstance(term, Sampled) and term.poisson and times == 1 and not others:
        return Counter({Sampled(term.base, term.rate * rate, poisson): 1})
    return Counter({Sampled(_together(terms, poisson=poisson), rate, poisson): 1})


def _together(terms: Terms, *, poisson: bool) -> Response:
    """Of all that is run on one sample: alone as it is, several by the sums of their epsilons and deltas."""
    listed = [(term, times) for term, times in terms.items() if isinstance(term, Response)]
    if len(listed) < len(terms):
        raise _unknown("these mechanisms on one sample")
    first, times = listed[0]
    if len(listed) == 1 and times == 1:
        return Response(first.epsilon, first.categories, first.delta, laplace=first.laplace and poisson)
    epsilon = sum((times * term.epsilon for term, times in listed), Fraction(0))
    return Response(epsilon, 2, min(sum((times * term.delta for term, times in listed), Fraction(0)), Fraction(1)))


def _unknown(what: str) -> NoSuchRule:
    return NoSuchRule(
        premise=what, wanted="a certificate", hint="accounting.epsilon may have an answer, without a certificate."
    )
