"""Events with a pair that cost at least, or at most, as much as one that has none in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from privately.accounting.events import (
    ZCDP,
    Approx,
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
from privately.accounting.failing import failing
from privately.accounting.groups import grouped
from privately.accounting.roads import NotApplicable
from privately.accounting.terms import Terms, alternatives, flatten, parts_of, side_by_side
from privately.errors import MixedNeighbors, NoSuchRule
from privately.guarantees.curves import gaussian_within
from privately.rounding import LARGEST, Enclosure, round_up, tidy

Step = Callable[[Event], Event]

_MANY = 256
_DIGITS = 40
_TYPICAL = Fraction(3)
_ENDLESS = Fraction(10**40)


def bounding(event: Event) -> Event:
    """An event whose compositions cost at least as much; the event itself where it has compositions of its own.

    Raises NotApplicable where only Renyi divergences are bounded, and NoSuchRule where nothing is known.

    Theorem: bounded range epsilon implies epsilon-DP; a k-group of (epsilon, delta)-DP mechanisms is (k epsilon,
        delta (1 + e^epsilon + ... + e^((k-1) epsilon)))-DP; several mechanisms on one sample cost together at most
        the sum of their epsilons, but for the probability that one of them reveals everything.
    Reference: Durfee-Rogers 2019; Vadhan 2017, Lemma 2.2; Kairouz-Oh-Viswanath 2015, Theorem 3.3
    Proof: docs/theory/accounting/events.md#bounding-events
    Checked-by: tests/accounting/test_bounding.py::test_bounding_events_dominate_enumeration
    """
    match event:
        case Exponential(epsilon=epsilon):
            return Pure(epsilon=epsilon, neighbors=event.neighbors)
        case ZCDP() | Renyi():
            raise NotApplicable(f"no pair of laws bounds every mechanism of {type(event).__name__}")
        case Group(event=inner, size=size):
            scaled = grouped(bounding(inner), size)
            return _group_bound(scaled) or bounding(scaled)
        case PoissonSample() | FixedSizeSample():
            return _on_sample(event, bounding, _summed)
    return _rebuilt(event, bounding)


def within(event: Event) -> Event:
    """An event that costs at most as much: its compositions belong to mechanisms that `event` describes.

    The result may speak of other neighbours, when a sample of fixed size becomes a Poisson sample: a replaced row that
    counts becomes one that does not, so for the row it is the same.

    Theorem: randomized response with epsilon/2 has range epsilon; the Gaussian mechanism with mu^2 = 2 rho is
        rho-zCDP; a mechanism that only looks for the replaced row in a sample of fixed size reaches both pairs of
        Poisson sampling; what is run on a sample costs no less than any one part of it.
    Reference: Durfee-Rogers 2019; Bun-Steinke 2016, Proposition 1.6; Zhu-Dong-Wang 2022, Theorem 11
    Proof: docs/theory/accounting/events.md#events-within
    Checked-by: tests/accounting/test_bounding.py::test_events_within_are_inside
    """
    frees = has_fixed_size(event)
    try:
        return _within(event, _freed if frees else lambda leaf: leaf)
    except MixedNeighbors:  # a group seen as one change, beside one that is not
        raise NotApplicable("no single mechanism is known to be within all of it") from None


def _within(event: Event, finish: Step) -> Event:
    def step(inner: Event) -> Event:
        return _within(inner, finish)

    match event:
        case Exponential(epsilon=epsilon):
            return finish(RandomizedResponse(epsilon=epsilon / 2, neighbors=event.neighbors))
        case ZCDP(rho=rho):
            return finish(GaussianDP(mu=gaussian_within(rho), neighbors=event.neighbors))
        case Renyi(bounds=bounds):
            rho = min(bound / order for order, bound in bounds)
            return finish(GaussianDP(mu=gaussian_within(rho), neighbors=event.neighbors))
        case Group(event=inner, size=size):
            return _within_group(inner, size, step)
        case PoissonSample() | FixedSizeSample():
            return _on_sample(event, step, _strongest)
        case Sequence(events=events):
            return Sequence(events=[step(_one_part(part)) for part in events])
        case Repeat(event=inner, times=times) if times > 1:
            return Repeat(event=step(_one_part(inner)), times=times)
        case Parallel() | Repeat():
            return _rebuilt(event, step)
    return finish(event)


def _rebuilt(event: Event, step: Step) -> Event:
    match event:
        case Sequence(events=events):
            return Sequence(events=[step(part) for part in events])
        case Parallel(events=events):
            return Parallel(events=[step(part) for part in events])
        case Repeat(event=inner, times=times):
            return Repeat(event=step(inner), times=times)
    return event


def _on_sample(event: PoissonSample | FixedSizeSample, step: Step, together: Callable[[Terms], Event]) -> Event:
    """The same sample of what `step` makes of the inside; `together` makes one event of several."""
    found = parts_of(event)
    if found is not None:
        parts, rate = found
        return Parallel(events=[_on_sample(PoissonSample(event=part, rate=rate), step, together) for part in parts])
    inner = step(event.event)
    terms = flatten(inner)
    alone = sum(terms.values()) <= 1 or all(isinstance(term, (Gaussian, GaussianDP)) for term in terms)
    inner = inner if alone else together(terms)
    if inner.neighbors.change == "replace":
        return replace(event, event=inner)
    return PoissonSample(event=inner, rate=event.rate)


def _summed(terms: Terms) -> Event:
    """Every mechanism on one sample, as one that is (epsilon, delta)-DP."""
    neighbors = next(iter(terms)).neighbors
    spent = [(_pure(term), times) for term, times in terms.items()]
    costs = [times * one[0] for one, times in spent]
    if len(costs) > _MANY:  # exact sums of so many would become very long
        costs = [round_up(cost, _DIGITS) for cost in costs]
    epsilon = sum(costs, Fraction(0))
    failures: dict[Fraction, int] = {}
    for (_, delta), times in spent:
        failures[delta] = failures.get(delta, 0) + times
    return Approx(epsilon=tidy(epsilon), delta=tidy(failing(failures)[1]), neighbors=neighbors)


def _pure(term: Event) -> tuple[Fraction, Fraction]:
    """An epsilon and delta that the term keeps."""
    match term:
        case Pure(epsilon=epsilon) | RandomizedResponse(epsilon=epsilon):
            return epsilon, Fraction(0)
        case Approx(epsilon=epsilon, delta=delta):
            return epsilon, delta
        case Laplace(scale=scale) if scale:
            return 1 / scale, Fraction(0)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity) if scale:
            return sensitivity / scale, Fraction(0)
        case Gaussian(noise_multiplier=0) | Laplace() | DiscreteLaplace():
            return Fraction(0), Fraction(1)
    raise NoSuchRule(
        premise=f"{type(term).__name__} beside other mechanisms on one sample",
        wanted="what they cost together",
        hint="Draw a new sample for each mechanism, or state all of them as one Approx.",
    )


def _strongest(terms: Terms) -> Event:
    """One of several mechanisms on a sample: that with the largest epsilon, roughly for normal noise."""
    return max(terms, key=_size)


def _size(term: Event) -> Fraction:
    match term:
        case GaussianDP(mu=mu):
            return _TYPICAL * mu
        case Gaussian(noise_multiplier=multiplier) if multiplier:
            return _TYPICAL / multiplier
    try:
        epsilon, delta = _pure(term)
    except NoSuchRule:
        return Fraction(0)
    return epsilon if delta < 1 else _ENDLESS


def _one_part(event: Event) -> Event:
    """Inside a composition a Parallel may have no worst part; any part is within it, a strong one by more."""
    parts = side_by_side(event)
    return max(parts, key=_strength) if parts and len(alternatives(event)) > 1 else event


def _strength(part: Event) -> float:
    """Roughly."""
    try:
        terms = flatten(part)
    except NoSuchRule:  # parts inside of parts
        return 0.0
    seen = ((term.event if isinstance(term, PoissonSample) else term, times) for term, times in terms.items())
    return max((float(_size(term)) * times**0.5 for term, times in seen), default=0.0)


def _group_bound(scaled: Event) -> Event | None:
    """Groups of Approx remain after scaling."""
    match scaled:
        case Group(event=Approx(epsilon=epsilon, delta=delta), size=size):
            total = (delta * _geometric(epsilon, size)).clip(0, 1)
            return Approx(epsilon=epsilon * size, delta=min(total.claim(), Fraction(1)), neighbors=scaled.neighbors)
    return None


def _geometric(epsilon: Fraction, size: int) -> Enclosure:
    """1 + e^epsilon + ... + e^((size-1) epsilon), from above."""
    if epsilon * size > LARGEST:
        raise NotApplicable("epsilon is too large")
    simple = size * Enclosure.of((size - 1) * epsilon).exp()
    below = Enclosure.of(epsilon).exp() - 1
    if below.lower <= 0:
        return simple
    closed = (Enclosure.of(size * epsilon).exp() - 1) / below
    return closed if closed.upper < simple.upper else simple


def _within_group(inner: Event, size: int, step: Step) -> Event:
    """By the group's rule; where there is none, a mechanism that looks at one of the changes alone."""
    try:
        scaled = grouped(inner, size)
    except NoSuchRule:
        return step(inner)
    return _group_inside(scaled) or step(scaled)


def _group_inside(scaled: Event) -> Event | None:
    """(epsilon, delta)-DP: everything is revealed with probability delta, otherwise the worst of epsilon-DP."""
    match scaled:
        case Group(event=Approx(epsilon=epsilon, delta=delta), size=size):
            worst = grouped(Pure(epsilon=epsilon, neighbors=scaled.event.neighbors), size)
            return Sequence(events=[Approx(epsilon=0, delta=delta, neighbors=scaled.neighbors), worst])
    return None


def has_fixed_size(event: Event) -> bool:
    """Whether there is a sample of fixed size in it: its pair dominates, and need not be reached in a composition."""
    return event.neighbors.change == "replace" and _samples_fixed(event)


def _samples_fixed(event: Event) -> bool:
    match event:
        case FixedSizeSample():
            return True
        case Sequence(events=events) | Parallel(events=events):
            return any(_samples_fixed(part) for part in events)
        case Repeat(event=inner) | Group(event=inner) | PoissonSample(event=inner):
            return _samples_fixed(inner)
    return False


def _freed(leaf: Event) -> Event:
    """The same leaf under addition and removal."""
    return replace(leaf, neighbors=replace(leaf.neighbors, change="add_remove"))
