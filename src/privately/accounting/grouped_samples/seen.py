"""What a group sees of an event, once it is known how many of its rows are removed and how many are added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from privately.accounting.compositions import Composition, law_of
from privately.accounting.events import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
)
from privately.accounting.extremes import largest_loss, removed_loss
from privately.accounting.failing import failing
from privately.accounting.grouped_samples.chains import Statement
from privately.accounting.grouped_samples.in_logs import law_either_way, listed_either_way
from privately.accounting.grouped_samples.mixtures import Split, Step
from privately.accounting.grouped_samples.noises import Base
from privately.accounting.grouped_samples.normal_law import GroupSums, MixedRows
from privately.accounting.groups import grouped
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
)
from privately.accounting.roads import NotApplicable
from privately.accounting.shared_samples.lists import Parted
from privately.accounting.spreading import Side
from privately.accounting.terms import Terms, count, flatten
from privately.rounding import Enclosure

_MOST_STEPS, _MOST_DIFFERENT, _MOST_ROWS = 10**6, 64, 96
_MOST_LISTS, _MOST_NORMAL = 96, 400
"""For all splits together; most splits of normal noise need none."""
_NONE = Fraction(0)


@dataclass(frozen=True)
class Seen:
    """By a group of this size: noise, responses and what has no noise at all, on samples; and what is not sampled."""

    size: int
    noises: list[tuple[Step, int]] = field(default_factory=list)
    responses: list[tuple[PoissonSample, int]] = field(default_factory=list)
    bare: list[tuple[Fraction, int]] = field(default_factory=list)
    laws: dict[Loss, int] = field(default_factory=dict)
    failures: dict[Fraction, int] = field(default_factory=dict)
    statements: list[tuple[Statement, int]] = field(default_factory=list)

    @classmethod
    def of(cls, event: Group) -> Seen:
        """NotApplicable or NoSuchRule where the worst case is not known, where it is too much, or without samples."""
        found = cls.sampled_or_not(event)
        if not found.is_sampled:
            raise NotApplicable("nothing is sampled")
        return found

    @classmethod
    def sampled_or_not(cls, event: Group) -> Seen:
        """The same, whether anything is sampled or not."""
        if _has_parts(event):  # one part may cover another for one row, and not for several
            raise NotApplicable("rows of a group may be in several parts")
        found = cls(event.size)
        terms = flatten(event.event)
        if sum(terms.values()) > _MOST_STEPS or len(terms) > _MOST_DIFFERENT or event.size > _MOST_ROWS:
            raise NotApplicable("too much to be listed")
        for term, times in terms.items():
            if isinstance(term, PoissonSample):
                found._add_sample(term, times)
            elif isinstance(term, Approx) and term.delta:
                found.statements.append((Statement(term.epsilon, term.delta, Fraction(1)), times))
            else:
                found._add_others(flatten(grouped(term, event.size)), times)
        return found

    @property
    def is_sampled(self) -> bool:
        return bool(self.noises or self.responses or self.bare or self.statements)

    def _add_sample(self, term: PoissonSample, times: int) -> None:
        inside = flatten(term.event)
        if any(_is_bare(one) for one in inside):
            self.bare.append((term.rate, times))
        elif sum(inside.values()) == 1 and isinstance(next(iter(inside)), RandomizedResponse):
            self.responses.append((term, times))
        elif sum(inside.values()) == 1 and isinstance(one := next(iter(inside)), Approx) and one.delta:
            self.statements.append((Statement(one.epsilon, one.delta, term.rate), times))
        else:
            self.noises.append((Step(_noise(inside), term.rate), times))

    def _add_others(self, terms: Terms, times: int) -> None:
        for term, runs in terms.items():
            law, infinite = law_of(term, "remove")
            if law is not None:
                count(self.laws, law, times * runs)
            count(self.failures, infinite, times * runs)

    def steps(self, split: Split) -> int:
        """How many, sampled or not: whatever the split."""
        del split
        sampled = sum(times for _, times in (*self.noises, *self.responses, *self.bare, *self.statements))
        return sampled + sum(self.laws.values())

    def splits(self) -> Iterator[Split]:
        """All of them, those first which are likely to be the worst; without samples all of them are alike."""
        sampled = self.noises or self.responses or self.bare
        if not sampled and all(statement.rate == 1 for statement, _ in self.statements):
            return iter([(self.size, 0)])
        return ((removed, self.size - removed) for removed in range(self.size, -1, -1))

    def parted(self, split: Split, side: Side, cells: int, rare: float) -> Parted:
        """One of the ways to change the data: lists of what is noise on samples, laws of the rest.

        Theorem: responses are given apart, so each removed row and each added one has its own; without noise it is seen
            whether any removed row, or any added one, is in the sample, and nothing else.
        Reference: none; by what the events mean
        Proof: docs/theory/accounting/group_samples.md#responses-and-no-noise
        Checked-by: tests/accounting/grouped_samples/test_seen.py::test_responses_and_no_noise
        """
        is_normal = all(isinstance(step.base, GaussianLoss) for step, _ in self.noises)
        if len(self.noises) * self.size > (_MOST_NORMAL if is_normal else _MOST_LISTS):
            raise NotApplicable("too many lists for too many splits")
        laws = self._laws(split, side)
        each = rare / max(sum(times for _, times in self.noises) + sum(laws.values()), 1)
        lists = [(listed_either_way(step, split, side, cells, each), times) for step, times in self.noises]
        ends = self.infinite(split)
        return Parted(lists, laws, ends[1] if side == "upper" else ends[0], law_either_way)

    def _laws(self, split: Split, side: Side) -> dict[Loss, int]:
        """All but noise on samples; statements alone have two sides."""
        laws = dict(self.laws)
        for statement, times in self.statements:
            finite, _ = statement.seen(split, side)
            if finite is not None:
                count(laws, finite, times)
        for term, times in self.responses:
            for direction, rows in zip(DIRECTIONS, split, strict=True):
                law, _ = law_of(term, direction)
                if law is not None and rows:
                    count(laws, law, times * rows)
        for rate, times in self.bare:
            removed, added = ((1 - rate) ** rows for rows in split)
            if removed != added:
                count(laws, FiniteLoss(epsilon=_NONE, outcomes=(((removed, _NONE), (added, _NONE)),)), times)
        return laws

    def sums(self, split: Split) -> GroupSums:
        """For the contour integral; NotApplicable where there is other noise than normal one."""
        rows, laws = self.summands(split)
        if not rows:
            raise NotApplicable("no noise on samples")
        return GroupSums(rows, laws)

    def summands(self, split: Split) -> tuple[list[tuple[MixedRows, int]], tuple[tuple[Loss, int], ...]]:
        """Normal noise on samples, and the rest."""
        rows: list[tuple[MixedRows, int]] = []
        for step, times in self.noises:
            if not isinstance(step.base, GaussianLoss):
                raise NotApplicable("not normal noise")
            rows.append((MixedRows.of(step.base, step.rate, split), times))
        if self.bare or self.statements or any(self.failures):
            raise NotApplicable("infinite losses")
        return rows, tuple(self._laws(split, "upper").items())

    def infinite(self, split: Split) -> tuple[Fraction, Fraction]:
        """The mass at infinite loss, from below and from above; the most where all rows are removed."""
        return self._failing(split, "lower")[0], self._failing(split, "upper")[1]

    def _failing(self, split: Split, side: Side) -> tuple[Fraction, Fraction]:
        failures = dict(self.failures)
        for rate, times in self.bare:
            count(failures, 1 - (1 - rate) ** split[0], times)
        for statement, times in self.statements:
            count(failures, statement.seen(split, side)[1], times)
        return failing(failures)

    def largest(self) -> Enclosure | None:
        """The largest loss, where there is one, of all that is finite.

        Theorem: it is that of removed rows alone: k ln(1 - q + q e^epsilon) for noise whose loss per row is epsilon.
        Reference: none; the ratio of the mixtures at their end
        Proof: docs/theory/accounting/group_samples.md#the-largest-loss
        Checked-by: tests/accounting/grouped_samples/test_seen.py::test_largest_losses
        """
        found = largest_loss(Composition(parts=tuple(self.laws.items())))
        if found is None or self.bare or self.statements or any(self.failures):
            return None
        for step, times in self.noises:
            one = _per_row(step.base)
            if one is None:
                return None
            found = found + times * self.size * removed_loss(step.rate, one)
        for term, times in self.responses:
            law, _ = law_of(term, "remove")
            one = largest_loss(Composition(parts=((law, 1),))) if law is not None else Enclosure.of(0)
            found = found + times * self.size * one if one is not None else found
        return found


def _has_parts(event: Event) -> bool:
    inside = getattr(event, "events", None) or [part for part in [getattr(event, "event", None)] if part is not None]
    return isinstance(event, Parallel) or any(map(_has_parts, inside))


def _per_row(base: Base) -> Enclosure | None:
    match base:
        case LaplaceLoss(epsilon=epsilon):
            return Enclosure.of(epsilon)
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return Enclosure.of(sensitivity / scale)
    return None


def _noise(terms: Terms) -> Base:
    """Noise whose shifts by j dominate what j rows see of all that is run on one sample, and are reached."""
    if all(isinstance(term, (Gaussian, GaussianDP)) for term in terms):
        return GaussianLoss(mu_squared=sum((_square(term) * times for term, times in terms.items()), _NONE))
    if sum(terms.values()) != 1:
        raise NotApplicable("several mechanisms on one sample")
    match next(iter(terms)):
        case Laplace(scale=scale):
            return LaplaceLoss(epsilon=1 / scale)
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity):
            return DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
        case Pure(epsilon=epsilon) | Approx(epsilon=epsilon, delta=0) if epsilon:
            return DiscreteLaplaceLoss(scale=1 / epsilon, sensitivity=1)
    raise NotApplicable("no single noise is known to be the worst case")


def _square(term: Event) -> Fraction:
    """mu^2 of normal noise."""
    match term:
        case Gaussian(noise_multiplier=multiplier):
            return 1 / multiplier**2
        case GaussianDP(mu=mu):
            return mu**2
    raise NotApplicable("not normal noise")


def _is_bare(term: Event) -> bool:
    """Whether there is no noise: then whatever differs is seen."""
    match term:
        case Gaussian(noise_multiplier=0) | Laplace(scale=0) | DiscreteLaplace(scale=0) | DiscreteGaussian(variance=0):
            return True
    return False
