"""Events that see only a random part of the data. Which sampler was used is part of the event: they differ in cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from privately.accounting.events.event import Event, check_part, enclose, settle
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import LARGEST, Number, rational, whole


@dataclass(frozen=True, init=False, repr=False)
class PoissonSample(Event):
    """Each row is kept independently with probability `rate`, and `event` sees only what is kept.

    When neighbours differ by a unit, whole units are kept or dropped. What was kept stays secret.

    >>> from privately.accounting import Gaussian
    >>> PoissonSample(event=Gaussian(noise_multiplier=1), rate=0.01)
    PoissonSample(event=Gaussian(noise_multiplier=1), rate=0.01)
    """

    event: Event
    rate: Fraction
    neighbors: Neighbors = field(init=False, repr=False, compare=False)

    def __init__(self, *, event: Event, rate: Number) -> None:
        settle(self, "event", check_part(event, "event"))
        settle(self, "rate", rational(rate, "rate", minimum=0, maximum=1))
        _check_change(event, "add_remove", "Poisson sampling")
        enclose(self, [event], name="event")


@dataclass(frozen=True, init=False, repr=False)
class FixedSizeSample(Event):
    """A uniformly random subset of `size` of the `population` rows, in random order; both numbers are public.

    A mechanism that ignores the order of its rows may get them in any order. When neighbours differ by a unit, units
    are counted and sampled. A sample of the sample has its size as its population.
    """

    event: Event
    size: int
    population: int
    neighbors: Neighbors = field(init=False, repr=False, compare=False)

    def __init__(self, *, event: Event, size: int, population: int) -> None:
        settle(self, "event", check_part(event, "event"))
        settle(self, "population", whole(population, "population", maximum=LARGEST**2))
        settle(self, "size", whole(size, "size", minimum=0, maximum=LARGEST**2))
        if self.size > self.population:
            raise InvalidParameter("size", f"{self.size} is more than the population of {self.population}.")
        _check_change(event, "replace", "sampling without replacement")
        _check_population(event, self.size)
        enclose(self, [event], name="event")

    @property
    def rate(self) -> Fraction:
        """The probability that a given row is in the sample."""
        return Fraction(self.size, self.population)


def _check_population(event: Event, size: int) -> None:
    """Samples inside of a sample of this size are drawn from it."""
    open_ends = [event]
    while open_ends:
        part = open_ends.pop()
        if isinstance(part, FixedSizeSample):
            if part.population != size:
                raise InvalidParameter("population", f"{part.population} inside, but the sample around it has {size}.")
        else:
            inner = getattr(part, "event", None)
            open_ends += getattr(part, "events", ()) if inner is None else (inner,)


def _check_change(event: Event, change: str, sampling: str) -> None:
    if event.neighbors.change != change or event.neighbors.size != 1:
        raise NoSuchRule(
            premise=f"events about {event.neighbors}",
            wanted=sampling,
            hint=f"This sampling needs single changes of the kind {change!r}; sample first, then form groups.",
        )
