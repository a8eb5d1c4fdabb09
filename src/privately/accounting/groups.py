"""Several changes of the data at once."""

from __future__ import annotations

from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Repeat,
    Sequence,
)
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors

_HINT = (
    "Ask for fewer rows (groups of Poisson samples are known up to 96), or for the event without its samples, which"
    " costs no less."
)


def grouped(event: Event, size: int) -> Event:
    """What `size` changes at once see of an event, in terms of single changes.

    For Approx no single change is as bad: the Group remains. For the other leaves nothing is lost.

    Theorem: under k changes sensitivities grow k-fold; a k-group of all mu-GDP mechanisms is kmu-GDP, of all rho-zCDP
        ones k^2 rho-zCDP, of bounded range epsilon has range k epsilon; of all epsilon-DP mechanisms it has the
        profile of discrete Laplace noise of scale 1/epsilon and sensitivity k; k answers by randomized response change.
    Reference: Dong-Roth-Su 2022, Theorem 2.14; Bun-Steinke 2016, Proposition 1.9; Awan-Vadhan 2023
    Proof: docs/theory/accounting/events.md#groups
    Checked-by: tests/accounting/test_groups.py::test_groups_dominate_enumeration,
        tests/accounting/test_groups.py::test_pure_groups_are_reached
    """
    if size == 1:
        return event
    match event:
        case Sequence(events=events):
            return Sequence(events=[grouped(part, size) for part in events])
        case Repeat(event=inner, times=times):
            return Repeat(event=grouped(inner, size), times=times)
        case Group(event=inner, size=before):
            return grouped(inner, before * size)
        case PoissonSample(event=inner, rate=1):
            return grouped(inner, size)
        case PoissonSample(rate=0):
            return Pure(epsilon=0, neighbors=event.neighbors.times(size))
        case Approx():
            return Group(event=event, size=size)
    return group_of_leaf(event, size, event.neighbors.times(size))


def has_rule(event: Group) -> bool:
    """Whether it is known what the group sees, so that to go one change after the other is in vain."""
    try:
        return not _has_groups(grouped(event.event, event.size))
    except NoSuchRule:
        return False


def _has_groups(event: Event) -> bool:
    match event:
        case Sequence(events=events):
            return any(map(_has_groups, events))
        case Repeat(event=inner):
            return _has_groups(inner)
    return isinstance(event, Group)


def gathered(event: Event) -> Event:
    """The same event with one Group around it in place of several inside one another or side by side, where it can be.

    Theorem: what k changes at once see, seen by m of these at once, is what k m changes see; and mechanisms that each
        see the same k changes are, one after the other, one that sees them.
    Reference: none; by what the events mean
    Proof: docs/theory/accounting/events.md#groups
    Checked-by: tests/accounting/test_groups.py::test_gathered_groups_see_the_same
    """
    match event:
        case Group(event=inner, size=size):
            found = gathered(inner)
            if isinstance(found, Group):
                return Group(event=found.event, size=size * found.size)
            return found if size == 1 else Group(event=found, size=size)
        case Repeat(event=inner, times=times):
            found = gathered(inner)
            if isinstance(found, Group):
                return Group(event=Repeat(event=found.event, times=times), size=found.size)
            return event if found is inner else Repeat(event=found, times=times)
        case Sequence(events=events) if event.neighbors.size > 1:
            groups = [part for part in map(gathered, events) if isinstance(part, Group)]
            if len(groups) == len(events) and len({group.size for group in groups}) == 1:
                return Group(event=Sequence(events=[group.event for group in groups]), size=groups[0].size)
    return event


def group_of_leaf(event: Event, size: int, neighbors: Neighbors) -> Event:
    """What `size` changes see of a leaf, as an event of these neighbours."""
    match event:
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            one = RandomizedResponse(epsilon=epsilon, categories=categories, neighbors=neighbors)
            return Repeat(event=one, times=size)
        case Exponential(epsilon=epsilon):
            return Exponential(epsilon=epsilon * size, neighbors=neighbors)
        case Pure(epsilon=0):
            return Pure(epsilon=0, neighbors=neighbors)
        case Pure(epsilon=epsilon):
            return DiscreteLaplace(scale=1 / epsilon, sensitivity=size, neighbors=neighbors)
        case ZCDP(rho=rho):
            return ZCDP(rho=rho * size**2, neighbors=neighbors)
        case GaussianDP(mu=mu):
            return GaussianDP(mu=mu * size, neighbors=neighbors)
    return _noisy(event, size, neighbors)


def _noisy(event: Event, size: int, neighbors: Neighbors) -> Event:
    match event:
        case Gaussian(noise_multiplier=multiplier):
            return Gaussian(noise_multiplier=multiplier / size, neighbors=neighbors)
        case Laplace(scale=scale):
            return Laplace(scale=scale / size, neighbors=neighbors)
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity):
            return DiscreteGaussian(variance=variance, sensitivity=sensitivity * size, neighbors=neighbors)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplace(scale=scale, sensitivity=sensitivity * size, neighbors=neighbors)
    raise NoSuchRule(premise=f"groups of {size} and {type(event).__name__}", wanted="what the group sees", hint=_HINT)
