"""Very many sampled steps, bounded by pairs that stand for them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive import with_law
from privately.accounting.compositions import Composition
from privately.accounting.losses import DIRECTIONS, GaussianLoss, SampledGaussianLoss
from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games import long_runs
from privately.accounting.sampled_games.kinds import Kind, order
from privately.accounting.sampled_games.long_runs import LongRun
from privately.accounting.sampled_games.pairs import allowed, ranged
from privately.accounting.sampled_games.profiles import Lattice, OneWay
from privately.accounting.sampled_games.road import METHOD
from privately.accounting.sampled_games.trials import Pair, moves, play, start
from privately.accounting.which_road import of_worst_soon
from tests.accounting.sampled_games.examples import HALF, drawn

RATE, TIMES, RARE = Fraction(1, 20), 60, 1e-4
LATTICE = Lattice(0.01, -250, 350)
KINDS = [Kind(HALF, RATE), Kind(Fraction(1), RATE)]
PLACES = [(30, 60, 120), (10, 20, 40)]


def run(kind: Kind, times: int = TIMES) -> LongRun:
    return long_runs.above(kind, times, RARE, order(((kind, times),), RARE))


@pytest.fixture(autouse=True)
def _rough(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found quickly; what is found is proved all the same."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(long_runs, "_COLUMNS", 120)
        monkeypatch.setattr(long_runs, "_GROWTH", 1.5)
    long_runs.above.cache_clear()


def delta(found: LongRun, epsilon: float, *, is_removed: bool) -> float:
    whole = with_law(Composition(), GaussianLoss(mu_squared=found.noise), found.infinite)
    for law, times in found.laws(is_removed=is_removed):
        whole = with_law(whole, law, times=times)
    return float(of_worst_soon((whole,), DeltaAt(Fraction(epsilon), Fraction(1, 10**4))).upper)


@lru_cache(maxsize=2)
def strategies(kind: Kind) -> OneWay:
    """Tests of steps that are chosen anew at each place, of many pairs that are allowed."""
    pairs: list[Pair] = list(ranged(kind.base)[::8]) if isinstance(kind.base, Fraction) else _drawn()
    return play(start(LATTICE), moves(pairs, kind.rate, LATTICE.step), TIMES)


def _drawn() -> list[Pair]:
    """At random, and normal noise in few cells."""
    edges = np.array([-0.8, 0.0, 0.8, 1.6, 2.4])
    below = np.array([[math.erfc((mu - x) / math.sqrt(2)) / 2 for mu in (0, 1)] for x in edges.tolist()])
    q, p = np.diff(np.vstack([[0, 0], below, [1, 1]]), axis=0).T
    return list(allowed(HALF, [(p / q, q), *drawn(5, 20)]))


@pytest.mark.parametrize(("kind", "places"), list(zip(KINDS, PLACES, strict=True)))
def test_no_strategy_is_above(kind: Kind, places: tuple[int, ...]) -> None:
    """Nor one with rows added; and it is not far above."""
    found, curve = run(kind), strategies(kind)
    for is_removed, tests in ((True, curve), (False, curve.mirrored)):
        lower = tests.lower()
        for place in places:
            assert lower[place - tests.first] <= delta(found, place * LATTICE.step, is_removed=is_removed)
    assert delta(found, places[0] * LATTICE.step, is_removed=True) < 1.5 * curve.lower()[places[0] - curve.first]


def test_steps_that_are_left_out_are_missed() -> None:
    """Pairs for half of the steps are below some strategy."""
    kind = KINDS[0]
    curve, few = strategies(kind), run(kind, TIMES // 2)
    at = PLACES[0][0]
    assert curve.lower()[at - curve.first] > delta(few, at * LATTICE.step, is_removed=True)


def test_all_steps_are_there() -> None:
    found = run(KINDS[1], 500)
    assert sum(times for _, times in found.pairs) == 500
    assert found.noise >= sum(Fraction(one.noise) * times for one, times in found.pairs)
    assert found.infinite >= sum(Fraction(one.spare) * times for one, times in found.pairs)
    assert 0 < found.infinite < RARE / 100


def test_large_steps_are_refused() -> None:
    with pytest.raises(NotApplicable):
        long_runs.above(Kind(HALF, Fraction(3, 4)), 100, RARE, 3.0)


@pytest.mark.slow
def test_a_million_steps() -> None:
    """Next to normal noise on samples, which is allowed."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho="0.5"), rate="0.001"), times=1_000_000)
    noise = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.001"), times=1_000_000)
    found, least = acc.epsilon(event, "1e-6"), acc.epsilon(noise, "1e-6")
    assert METHOD in found.method
    assert least.lower <= found.upper < found.lower * Fraction(1001, 1000)
    assert found.lower >= least.lower * (1 - Fraction(1, 10**6))


@pytest.mark.slow
def test_two_kinds_of_long_runs() -> None:
    """Above both of them as normal noise, and narrow."""
    parts = [(rate, rho, times) for rate, rho, times in (("0.001", "0.5", 50_000), ("0.002", "0.2", 40_000))]
    event = acc.Sequence(
        events=[
            acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho=rho), rate=rate), times=times)
            for rate, rho, times in parts
        ]
    )
    noise = Composition(
        parts=tuple(
            (SampledGaussianLoss(mu_squared=2 * Fraction(rho), rate=Fraction(rate), direction=DIRECTIONS[0]), times)
            for rate, rho, times in parts
        )
    )
    found = acc.epsilon(event, "1e-5")
    at = DeltaAt(Fraction(found.upper), Fraction(1, 10**5))
    assert of_worst_soon((noise,), at).lower <= Fraction(1, 10**5)
    assert found.upper < found.lower * Fraction(1004, 1000)
