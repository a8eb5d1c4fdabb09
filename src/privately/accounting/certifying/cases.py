"""What a checker adds up for an event: laws for each alternative and direction, by its names and in its order.

It knows fewer laws than accounting does, and takes some events for one that costs more; what is listed here is what
docs/theory/certificates.md says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately.accounting.certifying.laws import Law
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
from privately.accounting.losses import DIRECTIONS, Direction
from privately.errors import NoSuchRule
from privately.rounding import Enclosure

Terms: TypeAlias = Counter[Law]

_REVEALED = Law("response", (Fraction(0), Fraction(2), Fraction(1)))
_SIMPLE = ("laplace", "discrete normal", "discrete laplace", "range", "response")
_MOST_LOSSES, _MOST_GROWN = 1000, 1000
_MOST_ALTERNATIVES = 100
_GROWING = {"normal", "laplace", "range", "concentrated", "response"}
_TWO = 2
_TINY = Fraction(1, 10**20)


@dataclass(frozen=True, slots=True)
class Case:
    """One list of losses in one direction."""

    terms: tuple[tuple[Law, int], ...]
    """In the order of the checker."""
    direction: Direction

    def unsampled(self) -> Case | None:
        """The same without Poisson samples, which costs at least as much; None where samples are inside of others."""
        terms: Terms = Counter()
        for law, times in self.terms:
            for inside, runs in law.base() if law.is_sampled else [(law, 1)]:
                terms[inside] += runs * times
        return None if any(law.is_directed for law in terms) else Case(ordered(terms), DIRECTIONS[0])

    def inside(self) -> Case | None:
        """What is sampled, if one sample is all there is."""
        (law, times), *others = self.terms or ((_REVEALED, 0),)
        if others or times != 1 or not law.name.startswith(("sampled", "glued")):
            return None
        if not law.is_sampled and any(inside.is_directed for inside, _ in law.base()):
            return None
        return Case(ordered(Counter(dict(law.base()))), self.direction)


def cases(event: Event) -> list[Case]:
    """All that has to be within a claim, in the order of the witnesses."""
    found: list[Case] = []
    for terms in _alternatives(event):
        both = any(law.is_directed for law in terms)
        found += [Case(ordered(terms), direction) for direction in (DIRECTIONS if both else DIRECTIONS[:1])]
    return found


def ordered(terms: Terms) -> tuple[tuple[Law, int], ...]:
    """By names, by numbers, by what is inside, as the checker does."""
    return tuple(sorted(terms.items()))


def _enclosing(name: str, inside: Iterable[Terms], *numbers: Fraction) -> Law:
    return Law(name, numbers, tuple(ordered(terms) for terms in inside))


def _alternatives(event: Event) -> list[Terms]:
    match event:
        case PoissonSample(event=inner, rate=rate):
            listed = [_sampled(terms, rate, poisson=True) for terms in _alternatives(inner)]
        case Parallel(events=events):
            listed = [terms for part in events for terms in _alternatives(part)]
        case _:
            return [_flatten(event)]
    found: list[Terms] = []
    for terms in listed:
        if not any(_covers(other, terms) for other in found):
            found = [*(other for other in found if not _covers(terms, other)), terms]
    if len(found) > _MOST_ALTERNATIVES:
        raise _unknown(f"more than {_MOST_ALTERNATIVES} different parts of a Parallel")
    return found


def _covers(one: Terms, other: Terms) -> bool:
    """Whether law by law, in order, none is less."""
    return len(one) == len(other) and all(
        few <= times and _is_at_least(law, less)
        for (law, times), (less, few) in zip(ordered(one), ordered(other), strict=True)
    )


def _is_at_least(law: Law, less: Law) -> bool:
    if (law.name, law.inner) != (less.name, less.inner):
        return False
    numbers, others = law.numbers, less.numbers
    if law.is_sampled:
        if law.numbers[-1] < less.numbers[-1]:
            return False
        numbers, others = numbers[:-1], others[:-1]
    if numbers == others:
        return True
    grows = law.name.removeprefix("sampled ") in _GROWING
    return grows and numbers[1:] == others[1:] and numbers[0] >= others[0]


def _flatten(event: Event, size: int = 1) -> Terms:
    """The laws of what `size` changes at once see of an event."""
    match event:
        case Sequence(events=events):
            return sum((_flatten(part, size) for part in events), Counter())
        case Repeat(event=inner, times=times):
            return Counter({law: count * times for law, count in _flatten(inner, size).items() if times})
        case Group(event=inner, size=more):
            return _flatten(inner, size * more)
        case Parallel() | PoissonSample() | FixedSizeSample() if size > 1:
            return sum((_grouped_often(law, size, times) for law, times in _flatten(event).items()), Counter())
        case Parallel() | PoissonSample(event=Parallel()):
            found = _alternatives(event)
            return found[0] if len(found) == 1 else Counter({_enclosing("worst", found): 1})
        case PoissonSample(event=inner, rate=rate):
            return _sampled(_flatten(inner), rate, poisson=True)
        case FixedSizeSample(event=inner):
            return _sampled(_flatten(inner), event.rate, poisson=False)
    law = _leaf(event)
    if law is None:
        return Counter()
    return Counter({law: size}) if isinstance(event, RandomizedResponse) else Counter({_grouped(law, size): 1})


def _leaf(event: Event) -> Law | None:
    match event:
        case Gaussian(noise_multiplier=0) | Laplace(scale=0) | DiscreteGaussian(variance=0) | DiscreteLaplace(scale=0):
            return _REVEALED
        case GaussianDP(mu=0) | ZCDP(rho=0) | Pure(epsilon=0) | RandomizedResponse(epsilon=0) | Exponential(epsilon=0):
            return None
        case Gaussian(noise_multiplier=multiplier):
            return Law("normal", (1 / multiplier**2,))
        case GaussianDP(mu=mu):
            return Law("normal", (mu**2,))
        case Laplace(scale=scale):
            return Law("laplace", (1 / scale,))
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity):
            return Law("discrete normal", (variance, Fraction(sensitivity)))
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return _few_losses(scale, sensitivity)
    return _statement(event)


def _statement(event: Event) -> Law | None:
    match event:
        case Renyi(bounds=bounds):
            is_silent = any(bound == 0 for _, bound in bounds)
            return None if is_silent else Law("renyi", tuple(number for pair in bounds for number in pair))
        case ZCDP(rho=rho):
            return Law("concentrated", (rho,))
        case Exponential(epsilon=epsilon):
            return Law("range", (epsilon,))
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            return _response(epsilon, categories)
        case Pure(epsilon=epsilon):
            return _response(epsilon)
        case Approx(epsilon=epsilon, delta=delta):
            return _response(epsilon, delta=delta) if epsilon or delta else None
    raise _unknown(type(event).__name__)


def _response(epsilon: Fraction, categories: int = 2, delta: Fraction = Fraction(0)) -> Law:
    return Law("response", (epsilon, Fraction(categories), delta))


def _few_losses(scale: Fraction, sensitivity: int) -> Law:
    if 1 < sensitivity <= _MOST_LOSSES:
        return Law("discrete laplace", (scale, Fraction(sensitivity)))
    return _response(sensitivity / scale)


def _grouped_often(law: Law, size: int, times: int) -> Terms:
    if law.name == "response" and law.numbers[1] > _TWO:
        return Counter({law: times * size})
    return Counter({_grouped(law, size): times})


def _grouped(law: Law, size: int) -> Law:
    first, *more = law.numbers or (Fraction(0),)
    match law.name:
        case _ if size == 1 or law == _REVEALED:
            return law
        case "normal" | "concentrated":
            return Law(law.name, (first * size**2,))
        case "laplace" | "range":
            return Law(law.name, (first * size,))
        case "discrete normal":
            return Law(law.name, (first, more[0] * size))
        case "discrete laplace":
            return _few_losses(first, int(more[0]) * size)
        case "response" if not more[1]:
            return _few_losses(1 / first, size)
        case "response" if first * size < _MOST_GROWN:
            return _response(first * size, delta=min(Fraction((more[1] * _powers(first, size)).upper), Fraction(1)))
    return _enclosing("group", [Counter({law: 1})], Fraction(size))


def _powers(epsilon: Fraction, many: int) -> Enclosure:
    """1 + e^epsilon + ... + e^((many-1) epsilon), from above; where epsilon is next to nothing, as if all were last."""
    if epsilon < _TINY:
        return many * Enclosure.of(epsilon * (many - 1)).exp()
    return (Enclosure.of(epsilon * many).exp() - 1) / (Enclosure.of(epsilon).exp() - 1)


def _sampled(terms: Terms, rate: Fraction, *, poisson: bool) -> Terms:
    if rate == 1 or not terms:
        return terms
    if rate == 0:
        return Counter()
    kind = "sampled" if poisson else "glued"
    if _REVEALED in terms:
        return Counter({Law(f"{kind} response", (*_REVEALED.numbers, rate)): 1})
    if all(law.name == "normal" for law in terms):
        total = sum((times * law.numbers[0] for law, times in terms.items()), Fraction(0))
        return Counter({Law(f"{kind} normal", (total, rate)): 1})
    law, times = next(iter(terms.items()))
    if len(terms) == times == 1:
        if poisson and law.is_sampled:
            return Counter({Law(law.name, (*law.numbers[:-1], law.numbers[-1] * rate), law.inner): 1})
        if law.name in _SIMPLE:
            return Counter({Law(f"{kind} {law.name}", (*law.numbers, rate)): 1})
    return Counter({_enclosing(f"{kind} mix", [terms], rate): 1})


def _unknown(what: str) -> NoSuchRule:
    return NoSuchRule(
        premise=what, wanted="a certificate", hint="accounting.epsilon may have an answer, without a certificate."
    )
