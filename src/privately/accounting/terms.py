"""Events in normal form: leaves and samples, each with the number of its runs, in no particular order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Listing
from fractions import Fraction
from typing import TypeAlias, TypeVar

from privately.accounting.coverage import uncovered
from privately.accounting.events import (
    ZCDP,
    Approx,
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
from privately.accounting.groups import grouped
from privately.errors import NoSuchRule

Terms: TypeAlias = Mapping[Event, int]
Key = TypeVar("Key")

_NOISES = (Gaussian, Laplace)
"""Terms that always say something."""


def alternatives(event: Event) -> list[Terms]:
    """The event's terms, one list for each part of a Parallel that no other part covers.

    Theorem: a row meets one part only, so the profile of a Parallel is the largest of its parts' profiles; rows may as
        well be sampled within each part.
    Reference: McSherry 2009, Theorem 4
    Proof: docs/theory/accounting/events.md#parallel
    Checked-by: tests/accounting/test_terms.py::test_parallel_dominates_enumeration
    """
    parts = side_by_side(event)
    return uncovered([terms for part in parts for terms in alternatives(part)]) if parts else [flatten(event)]


def side_by_side(event: Event) -> Listing[Event]:
    """The parts of an event that is in effect a Parallel, each with its sampling; none of any other."""
    parts, rate = parts_of(event) or ((), Fraction(1))
    return parts if rate == 1 else [PoissonSample(event=part, rate=rate) for part in parts]


def flatten(event: Event) -> Terms:
    """The event as a composition of leaves and samples; equal ones are counted together, silent ones left out.

    No term is a Sequence, Repeat or Parallel, and a Group remains only around Approx. Samples are neither of rate 0 or
    1 nor directly inside one another.
    """
    found: dict[Event, int] = {}
    _collect(event, 1, found)
    return found


def count(counted: dict[Key, int], key: Key, times: int) -> None:
    """Counts `key` so often; new ones are hashed once only, as hashing Fractions takes time."""
    size, before = len(counted), counted.setdefault(key, times)
    if len(counted) == size:
        counted[key] = before + times


def is_silent(event: Event) -> bool:
    """Whether a leaf or a sample reveals nothing at all."""
    match event:
        case Pure(epsilon=0) | RandomizedResponse(epsilon=0) | Exponential(epsilon=0) | Approx(epsilon=0, delta=0):
            return True
        case ZCDP(rho=0) | GaussianDP(mu=0) | PoissonSample(rate=0) | FixedSizeSample(size=0):
            return True
        case Renyi(bounds=bounds):
            return any(bound == 0 for _, bound in bounds)
    return False


def _collect(event: Event, times: int, found: dict[Event, int]) -> None:
    if times == 0:
        return
    noise, runs = _repeated(event)
    if isinstance(noise, _NOISES) or _is_sampled_noise(noise):
        if runs:
            count(found, noise, times * runs)
        return
    if is_silent(event):
        return
    opened = _opened(event)
    if opened is None:
        count(found, event, times)
        return
    for part, runs in opened:
        _collect(part, times * runs, found)


def _repeated(event: Event) -> tuple[Event, int]:
    """What is repeated, and how often."""
    times = 1
    while isinstance(event, Repeat):
        times *= event.times
        event = event.event
    return event, times


def _is_sampled_noise(event: Event) -> bool:
    """The most common sample, which needs no simplification."""
    if not (isinstance(event, PoissonSample) and isinstance(event.event, _NOISES)):
        return False
    return 0 < event.rate.numerator < event.rate.denominator


def is_short(event: Event, most: int) -> bool:
    """Whether an event plainly has at most so many terms: a list of noises, sampled and repeated or not."""
    if not isinstance(event, Sequence) or len(event.events) > most:
        return False
    parts = [_repeated(part)[0] for part in event.events]
    return all(isinstance(part, _NOISES) or _is_sampled_noise(part) for part in parts)


def _opened(event: Event) -> Iterable[tuple[Event, int]] | None:
    """What an event is made of, each with its number of runs; None when it is a term."""
    if parts_of(event) is not None:
        return _only(event).items()
    match event:
        case Sequence(events=events):
            return [(part, 1) for part in events]
        case Repeat(event=inner, times=times):
            return [(inner, times)]
        case Group(event=inner, size=size):
            simpler: Event | None = grouped(inner, size)
        case PoissonSample():
            simpler = _poisson(event)
        case FixedSizeSample():
            simpler = _fixed_size(event)
        case _:
            return None
    if simpler is None:
        return []
    return None if simpler == event else [(simpler, 1)]


def parts_of(event: Event) -> tuple[tuple[Event, ...], Fraction] | None:
    """The parts and the rate at which all are sampled, if an event is in effect a Parallel."""
    core, rate = _peeled(event)
    return (core.events, rate) if isinstance(core, Parallel) else None


def _peeled(event: Event) -> tuple[Event, Fraction]:
    """What is inside of Poisson samples and of combinators that change nothing, and the product of the rates."""
    rate = Fraction(1)
    while True:
        match event:
            case Sequence(events=(inner,)) | Repeat(event=inner, times=1) | Group(event=inner, size=1):
                event = inner
            case PoissonSample(event=inner, rate=share):
                event, rate = inner, rate * share
            case _:
                return event, rate


def _only(event: Event) -> Terms:
    """The part that stands for all of a Parallel inside a composition."""
    found = alternatives(event)
    if len(found) > 1:
        raise NoSuchRule(
            premise="several different parts of a Parallel inside a composition",
            wanted="one worst part",
            hint="Which part a row meets may be chosen in the light of earlier answers, so no single part need be the"
            " worst: make the parts equal, or list them in a Sequence.",
        )
    return found[0]


def _poisson(event: PoissonSample) -> Event | None:
    """A sample without a sample directly inside it, or what is inside if all is kept; None when nothing is run.

    Theorem: a Poisson sample of a Poisson sample is a Poisson sample at the product of the rates.
    Reference: Balle-Barthe-Gaboardi 2018, section 2, for the sampling
    Proof: docs/theory/accounting/events.md#sampling-twice
    Checked-by: tests/accounting/test_terms.py::test_sampling_twice_is_sampling_once
    """
    core, rate = _peeled(event)
    if rate == 1:
        return core
    term, times = _single(flatten(core))
    if times == 0:
        return None
    if isinstance(term, PoissonSample):
        return PoissonSample(event=term.event, rate=rate * term.rate)
    return PoissonSample(event=term or core, rate=rate)


def _fixed_size(event: FixedSizeSample) -> Event | None:
    """The same for samples of fixed size.

    Theorem: a uniform subset of a uniform subset is a uniform subset of the whole.
    Reference: Balle-Barthe-Gaboardi 2018, section 2, for the sampling
    Proof: docs/theory/accounting/events.md#sampling-twice
    Checked-by: tests/accounting/test_terms.py::test_sampling_twice_is_sampling_once
    """
    if event.rate == 1:
        return event.event
    term, times = _single(flatten(event.event))
    if times == 0:
        return None
    if not isinstance(term, FixedSizeSample):
        return event if term is None else FixedSizeSample(event=term, size=event.size, population=event.population)
    return FixedSizeSample(event=term.event, size=term.size, population=event.population)


def _single(terms: Terms) -> tuple[Event | None, int]:
    """The only term that is run, and once; otherwise None. And how much is run in all."""
    runs = sum(terms.values())
    return (next(iter(terms)) if runs == 1 else None), runs
