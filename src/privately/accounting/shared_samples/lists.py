"""The losses of all that is run on one sample, as a list, and what sampling makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.compositions import law_of
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log1p
from privately.accounting.events import Event, PoissonSample
from privately.accounting.failing import failing
from privately.accounting.losses import Direction, GaussianLoss, Loss
from privately.accounting.roads import NEAR_ONE, NotApplicable
from privately.accounting.spreading import Losses, Side, all_of, listed
from privately.accounting.terms import Terms, count, flatten

_CELLS = 1 << 12
_MOST_DIFFERENT = 16
_LEAST_RATE = Fraction(1, 10**30)
_LARGEST = 690.0
_OFF = 16 * (ERROR + UNIT)


@dataclass(frozen=True)
class Step:
    """A list of finite losses, given that the loss is finite, and the probability that it is not, on one side."""

    losses: Losses
    infinite: Fraction


def listed_as_usual(law: Loss, side: Side, rare: float) -> Losses:
    """One law as a list."""
    return listed(law, side, _CELLS, rare)


@dataclass(frozen=True)
class Parted:
    """Terms in one direction, from one side: lists of shared samples, laws of the rest, the mass at infinite loss.

    `listing` makes a list of a law beside lists of large losses.
    """

    lists: list[tuple[Losses, int]]
    laws: dict[Loss, int]
    infinite: Fraction
    listing: Callable[[Loss, Side, float], Losses] = listed_as_usual


def parted(terms: Terms, direction: Direction, side: Side, rare: float) -> Parted:
    """What these are made of; in the lists of an upper side about `rare` is left out."""
    lists: list[tuple[Losses, int]] = []
    laws: dict[Loss, int] = {}
    failures: dict[Fraction, int] = {}
    runs = sum(terms.values())
    for term, times in terms.items():
        if is_shared(term):
            step = sampled_step(term, direction, side, rare / runs)
            lists.append((step.losses, times))
            count(failures, step.infinite, times)
            continue
        law, infinite = law_of(term, direction)
        if law is not None:
            count(laws, law, times)
        count(failures, infinite, times)
    ends = failing(failures)
    return Parted(lists, laws, ends[1] if side == "upper" else ends[0])


def laid(terms: Terms, direction: Direction, side: Side, rare: float) -> Step:
    """All of these together, without sampling; for the upper side about `rare` is left out."""
    parts = parted(terms, direction, side, rare)
    laws = all_listed(_with_one_normal(parts.laws), side, rare / sum(terms.values()))
    return Step(all_of([*parts.lists, *laws], _CELLS, side, rare), parts.infinite)


def _with_one_normal(laws: Mapping[Loss, int]) -> Mapping[Loss, int]:
    """Normal noise several times on the same data is normal noise once."""
    normal = [law.mu_squared * times for law, times in laws.items() if isinstance(law, GaussianLoss)]
    if not normal:
        return laws
    found: dict[Loss, int] = {GaussianLoss(mu_squared=sum(normal, Fraction(0))): 1}
    found.update((law, times) for law, times in laws.items() if not isinstance(law, GaussianLoss))
    return found


def all_listed(laws: Mapping[Loss, int], side: Side, rare: float) -> list[tuple[Losses, int]]:
    """Each law as a list, with its number."""
    if len(laws) > _MOST_DIFFERENT:
        raise NotApplicable("too many different laws on one sample")
    return [(listed(law, side, _CELLS, rare), times) for law, times in laws.items()]


def is_shared(term: Event) -> bool:
    """Whether several mechanisms, for which no pair is known, are run on one Poisson sample."""
    if not isinstance(term, PoissonSample):
        return False
    try:
        law_of(term, "remove")
    except NotApplicable:
        return True
    return False


def sampled_step(term: Event, direction: Direction, side: Side, rare: float) -> Step:
    """All that is run on one sample."""
    if not isinstance(term, PoissonSample):
        raise NotApplicable("no Poisson sample")
    terms = flatten(term.event)
    tells_apart = any(isinstance(one, PoissonSample) for one in terms)
    base = _kept(term.event, direction if tells_apart else "remove", side, rare)
    return sampled(base, term.rate, direction, side)


@lru_cache(maxsize=8)
def _kept(event: Event, direction: Direction, side: Side, rare: float) -> Step:
    """The same base is asked for again for the other direction, and by the next question."""
    return laid(flatten(event), direction, side, rare)


def sampled(base: Step, rate: Fraction, direction: Direction, side: Side) -> Step:
    """What a Poisson sample makes of a list.

    Theorem: with D the profile of (P, Q), that of ((1-q)Q + qP, Q) is q D(ln(1 + (e^epsilon - 1)/q)) above ln(1 - q)
        and 1 - e^epsilon below, that of (P, (1-q)P + qQ) is s D(ln(q e^epsilon/s)) with s = 1 - (1-q)e^epsilon below
        -ln(1 - q) and 0 above. Both rise with D; a list of losses l and probabilities p becomes one of ln r and
        p e^-l r, r = 1 - q + q e^l, with what Q has left at ln(1 - q), or one of -ln(1 - q + q e^-l) and p.
    Reference: Zhu-Dong-Wang 2022, Theorem 11; Balle-Barthe-Gaboardi 2018
    Proof: docs/theory/accounting/spreading.md#sampled-lists
    Checked-by: tests/accounting/shared_samples/test_lists.py::test_sampled_lists_are_on_their_sides
    """
    if not _LEAST_RATE < rate < NEAR_ONE:
        raise NotApplicable("the rate is out of range")
    if float(np.abs(base.losses.losses).max()) > _LARGEST:
        raise NotApplicable("the losses are too large")
    if direction == "remove":
        return _removed(base, rate, side)
    return _added(base, rate, side)


def _removed(base: Step, rate: Fraction, side: Side) -> Step:
    """With all that Q has: at least 1 in all for the upper side, at most 1 for the lower one."""
    sign, share = 1 if side == "upper" else -1, float(rate)
    infinite = rate * base.infinite
    finite = float(1 - base.infinite)
    losses, outside = base.losses.losses, base.losses.outside
    second = base.losses.masses * exp(-losses) * finite
    rounded = 4 * (second.size + 16) * UNIT + _OFF
    total = float(second.sum()) * (1 - sign * rounded)
    if side == "lower" and total > 1:
        second, total = second / total, 1.0
    found, off = _mixed(np.append(losses, -math.inf), share)
    ratios = np.append(1 + share * expm1(losses), 1 - share)
    left = float(1 - infinite)
    masses = np.append(second, max(1 - total, 0.0)) * ratios * (1 + sign * (2 * off + _OFF)) / left
    return Step(Losses.of(found + sign * off, masses, outside * share * finite / left * (1 + _OFF)), infinite)


def _added(base: Step, rate: Fraction, side: Side) -> Step:
    """What has an infinite loss has the largest finite one now."""
    sign, share = 1 if side == "upper" else -1, float(rate)
    beyond = float(base.infinite)
    part = float(1 - base.infinite) * (1 + sign * 4 * UNIT)
    if side == "upper":
        beyond += base.losses.outside * part
    found, off = _mixed(-np.append(base.losses.losses, math.inf), share)
    masses = np.append(base.losses.masses * part, beyond) * (1 + sign * 4 * UNIT)
    return Step(Losses.of(-found + sign * off, masses), Fraction(0))


def _mixed(y: Floats, share: float) -> tuple[Floats, Floats]:
    """ln(1 - q + q e^y), y = -infinity included, and how far it may be off, the rounding of the rate included."""
    rise = np.where(y == -math.inf, -share, share * expm1(np.maximum(y, -_LARGEST)))
    found = log1p(rise)
    return found, _OFF * (np.abs(found) + np.abs(rise) / (1 + rise))
