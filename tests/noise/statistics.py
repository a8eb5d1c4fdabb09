"""Do draws follow their law? Every answer is bounded by a theorem, and a whole run is wrong once in a million.

The statistic is the likelihood ratio (half of the G of a chi-square test): n KL(counts/n || probabilities), in nats.

Theorem: for n draws into k cells, E exp(s n KL) <= (1 - s)^-(k-1) for 0 <= s < 1, whatever n and the probabilities
    are. By Markov's inequality P(n KL >= t) <= exp(-t) (e t/(k-1))^(k-1) for t > k - 1; for k = 2 it is <= 2 exp(-t).
Reference: Agrawal 2020 (finite-sample concentration of the multinomial in relative entropy); Chernoff 1952

So cells may be as rare as we like. The usual chi-square distribution is only a limit: with a hundred draws to a cell
it promises 1e-9 where the truth is many times that (test_statistics.py measures it). It is logged, nothing more.

Theorem: if the draws really come from probabilities q, the chance that n KL stays below t is, for all u > 0 and
    0 < a <= 1, at most exp(u t/a) (sum of p^(1-a) q^a)^(n u/a) (sum of q^(1-u) p^u)^n.
Reference: n KL(counts/n || p) >= a sum of ln(q/p) over the draws - n ln(sum of p^(1-a) q^a), which is Gibbs'
    inequality; Chernoff 1952
"""

import logging
import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from privately.noise.kernels import NUMPY, Draws, Kernels
from privately.noise.repeatable import RepeatableStream
from privately.noise.samplers import Sampler
from privately.noise.source import Source

WRONG_RUNS = 1e-6
"""How often a run of all statistical tests, fast and slow, may fail although nothing is wrong."""

SLOTS = 1000
LEVEL = WRONG_RUNS / SLOTS
"""How often a single test may: by a false alarm, or by missing the fault that was planted for it."""


def chosen_seed() -> str:
    """Fresh for every run, unless NOISE_SEED asks for an old one."""
    return os.environ.get("NOISE_SEED") or secrets.token_hex(8)


SEED = chosen_seed()

CHUNK = 1 << 20

Floats: TypeAlias = NDArray[np.float64]
Cells: TypeAlias = NDArray[np.int64]
Test = TypeVar("Test", bound=Callable[..., None])

SLOTS_TAKEN: dict[str, int] = {}
_judged: set[str] = set()
_log = logging.getLogger("statistics")


@dataclass(frozen=True, eq=False)
class Histogram:
    """Cells with their exact probabilities, and the views of it that are tested: each maps cells to fewer ones."""

    label: Callable[[Draws], Cells]
    probabilities: Floats
    views: Mapping[str, Cells]

    def seen(self, name: str, masses: NDArray[Any]) -> Floats:
        """Masses of the cells of a view."""
        return np.bincount(self.views[name], weights=masses).astype(np.float64)


@dataclass(frozen=True)
class Evidence:
    """How surprising the draws are."""

    chance: float
    """A bound on the probability of something at least as surprising, in any view."""
    usual: float
    """The same by the chi-square distribution: only for the record."""
    view: str
    size: int

    def __str__(self) -> str:
        return f"p <= {self.chance:.3g} (usual {self.usual:.3g}) in {self.view!r}, {self.size} draws, NOISE_SEED={SEED}"


def statistical(argument: str, cases: Sequence[Any]) -> Callable[[Test], Test]:
    """Parametrise a test whose cases are judged once each, and take their slots."""

    def register(test: Test) -> Test:
        SLOTS_TAKEN[f"{test.__module__.replace('.', '/')}.py::{test.__name__}"] = len(cases)
        parametrised: Test = pytest.mark.parametrize(argument, cases, ids=str)(test)
        return parametrised

    return register


def accept(evidence: Evidence) -> None:
    """Nothing is wrong, or this happens once in 1/LEVEL runs."""
    _take_slot()
    _log.info("fits: %s", evidence)
    assert evidence.chance > LEVEL, str(evidence)


def reject(evidence: Evidence, *, missed: float) -> None:
    """The planted fault is found, which fails with a probability of at most `missed`."""
    _take_slot()
    _log.info("found: %s, missed with %.3g", evidence, missed)
    assert missed <= LEVEL, f"the planted fault is too small to be found with certainty: missed with {missed:.3g}"
    assert evidence.chance <= LEVEL, str(evidence)


def source(kernels: Kernels = NUMPY, *, part: str = "") -> Source:
    """Randomness of the running test alone, or of a part of it."""
    return Source(RepeatableStream(seed=f"{SEED} {_running()} {part}"), kernels)


def drawn(sampler: Sampler, size: int, origin: Source | None = None) -> Iterator[Draws]:
    """So many draws, in parts that fit memory."""
    origin = origin or source()
    for start in range(0, size, CHUNK):
        yield sampler.draw(origin, min(CHUNK, size - start))


def count(histograms: Sequence[Histogram], draws: Iterable[Draws]) -> list[Cells]:
    """The counts of every histogram."""
    counts = [np.zeros(one.probabilities.size, np.int64) for one in histograms]
    for part in draws:
        for i, one in enumerate(histograms):
            counts[i] += np.bincount(one.label(part), minlength=counts[i].size)
    return counts


def examine(histograms: Sequence[Histogram], draws: Iterable[Draws]) -> Evidence:
    """The evidence of draws against the probabilities, in all views together."""
    found = []
    for one, counts in zip(histograms, count(histograms, draws), strict=True):
        for name in one.views:
            expected, observed = one.seen(name, one.probabilities), one.seen(name, counts)
            nats, freedom = likelihood_ratio(observed, expected), int(np.count_nonzero(expected)) - 1
            found.append(Evidence(chance(nats, freedom), usual(nats, freedom), name, int(counts.sum())))
    return most_surprising(found)


def compare(histogram: Histogram, left: Iterable[Draws], right: Iterable[Draws]) -> Evidence:
    """The evidence of two samples against their having one law, in all views of one histogram."""
    counts = [count([histogram], draws)[0] for draws in (left, right)]
    found = []
    for name in histogram.views:
        both = [histogram.seen(name, one) for one in counts]
        pooled = both[0] + both[1]
        nats = sum(likelihood_ratio(one, pooled / pooled.sum()) for one in both)
        freedom = int(np.count_nonzero(pooled)) - 1
        size = int(pooled.sum())
        found.append(Evidence(two_sample_chance(nats, histogram.views[name]), usual(nats, freedom), name, size))
    return most_surprising(found)


def most_surprising(found: Sequence[Evidence]) -> Evidence:
    """All of them as one: the least chance times their number (Bonferroni)."""
    least = min(found, key=lambda one: one.chance)
    usually = min(one.usual for one in found)
    return replace(least, chance=min(1.0, len(found) * least.chance), usual=min(1.0, len(found) * usually))


def likelihood_ratio(counts: Floats, probabilities: Floats) -> float:
    """n KL(counts/n || probabilities), which is infinite if something impossible was drawn."""
    expected = counts.sum() * probabilities
    if (counts[expected == 0] > 0).any():
        return math.inf
    counts, expected = counts[expected > 0], expected[expected > 0]
    excess = (counts - expected) / expected
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.where(counts > 0, (1 + excess) * np.log1p(excess), 0)
    return float((expected * (growth - excess)).sum())


def chance(nats: float, freedom: int) -> float:
    """The first theorem, for k - 1 = freedom."""
    if math.isinf(nats) or freedom == 0:
        return 0.0 if math.isinf(nats) else 1.0
    return min(1.0, 2 * math.exp(-nats)) if freedom == 1 else _gamma_bound(nats, freedom)


def two_sample_chance(nats: float, cells: Cells) -> float:
    """Against the pooled sample each is no farther than against the common law, so both bounds multiply."""
    return _gamma_bound(nats, 2 * int(cells.max()))


def _gamma_bound(nats: float, shape: int) -> float:
    return 1.0 if nats <= shape else math.exp(shape * (1 + math.log(nats / shape)) - nats)


def usual(nats: float, freedom: int) -> float:
    """The chance by Wilks' limit: twice the nats has a chi-square distribution."""
    if freedom == 0 or math.isinf(nats):
        return 0.0 if math.isinf(nats) else 1.0
    with mpmath.workdps(30):
        return float(mpmath.gammainc(mpmath.mpf(freedom) / 2, nats, mpmath.inf, regularized=True))


def critical(freedom: int, level: float) -> float:
    """Nats from which on the chance is at most `level`."""
    low, high = 0.0, 1e6
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle, freedom) > level else (low, middle)
    return high


def missed(histograms: Sequence[Histogram], truth: Sequence[Floats | None], size: int) -> float:
    """The second theorem: how often `examine` overlooks that the cells have the probabilities `truth`.

    One view that sees the fault is enough, so histograms whose true probabilities are unknown may be left out.
    """
    views = sum(len(one.views) for one in histograms)
    best = 1.0
    for one, masses in zip(histograms, truth, strict=True):
        for name in one.views if masses is not None else ():
            assert masses is not None
            claimed, true = one.seen(name, one.probabilities), one.seen(name, masses)
            nats = critical(int(np.count_nonzero(claimed)) - 1, LEVEL / views)
            best = min(best, miss_bound(claimed, true, size, nats))
    return best


def miss_bound(claimed: Floats, true: Floats, size: int, nats: float) -> float:
    """P(n KL < nats) from above, where `true` are the probabilities of the draws."""
    possible = true > 0
    p, q = claimed[possible], true[possible]
    with np.errstate(divide="ignore", over="ignore"):
        part, tilt = np.linspace(0, 1, 17)[1:], np.linspace(0, 2, 65)[1:]
        gain = np.log([(p[p > 0] ** (1 - a) * q[p > 0] ** a).sum() for a in part])
        moment = np.log([(q * (p / q) ** u).sum() for u in tilt])
        exponents = tilt[:, None] / part * (nats + size * gain) + size * moment[:, None]
    return math.exp(min(0.0, float(np.nanmin(exponents))))


def _running() -> str:
    return os.environ["PYTEST_CURRENT_TEST"].removesuffix(" (call)")


def _take_slot() -> None:
    running = _running()
    assert running.split("[")[0] in SLOTS_TAKEN, f"{running} is judged, but is not marked as statistical"
    assert running not in _judged, f"{running} is judged twice; it has one slot"
    _judged.add(running)
