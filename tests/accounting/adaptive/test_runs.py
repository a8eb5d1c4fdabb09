"""Long runs of steps of one range."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive import runs
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import WORK, in_every_order
from privately.accounting.adaptive.pairs import Above
from privately.accounting.adaptive.runs import Masses, in_runs, is_enough, least_together
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import Floats

HALF = Fraction(1, 2)
NONE = Fraction(0)


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runs, "_LONGEST", 4)
    monkeypatch.setattr(runs, "_LEAST", 1)
    monkeypatch.setattr(runs, "_PLACES", 60)
    in_runs.cache_clear()
    yield
    in_runs.cache_clear()


def profile_of(laws: list[FiniteLoss], losses: Floats) -> Floats:
    """By enumeration."""
    first, second = np.ones(1), np.ones(1)
    for law in laws:
        masses = np.array([[float(one[0]), float(other[0])] for one, other in law.outcomes])
        first, second = (np.outer(*both).ravel() for both in ((first, masses[:, 0]), (second, masses[:, 1])))
    return np.array([np.maximum(first - np.exp(loss) * second, 0).sum() for loss in losses])


def above_and_least(times: int, *, missing: bool = False) -> tuple[Floats, Floats]:
    """What the run is said to cost at most, and what its whole game reaches."""
    found = in_runs(HALF, times, 1e-6, WORK[0])
    curve = in_every_order(((HALF, times),), 1e-6, WORK[1])
    losses, least = curve.losses[::100], curve.lower()[::100]
    laws = [law for law, count in found.parts for _ in range(count)]
    return profile_of(laws[missing:], losses) + float(found.infinite), least


@pytest.mark.parametrize("times", [pytest.param(12, marks=pytest.mark.slow), 13])
def test_a_run_costs_at_least_as_much_as_its_game(times: int) -> None:
    """Four or five steps last, and two blocks of four before them."""
    above, least = above_and_least(times)
    assert (least <= above * (1 + 1e-12)).all()
    assert above[0] <= least[0] * 1.02


@pytest.mark.parametrize("fault", ["anything is enough", "more than there is", "a block less"])
def test_less_than_is_asked_for_would_be_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    together = least_together
    if fault == "anything is enough":
        monkeypatch.setattr(runs, "is_enough", lambda *_: True)
    elif fault == "more than there is":
        monkeypatch.setattr(runs, "least_together", lambda *given: together(*given) * 2)
    above, least = above_and_least(12, missing=fault == "a block less")
    assert (above < least).any()


def pair_of(seed: int, step: float, count: int = 6) -> Above:
    """With losses at places of the lattice, and a little at infinite loss."""
    draws = np.random.default_rng(seed)
    places = np.sort(draws.choice(np.arange(-8, 9), count, replace=False))[::-1]
    ratios = [Fraction(float(np.exp(place * step))) for place in places]
    weights = [Fraction(int(one)) for one in draws.integers(1, 50, count)]
    scale = max(sum(weights), sum(one * ratio for one, ratio in zip(weights, ratios, strict=True))) * Fraction(11, 10)
    outcomes = [(one * ratio / scale, one / scale) for one, ratio in zip(weights, ratios, strict=True)]
    infinite = 1 - sum((first for first, _ in outcomes), NONE)
    law = FiniteLoss(epsilon=NONE, outcomes=tuple(((first, NONE), (second, NONE)) for first, second in outcomes))
    return Above(law, infinite)


@pytest.mark.parametrize("seed", range(5))
def test_two_pairs_together(seed: int) -> None:
    """Against enumeration: never above, and hardly below."""
    step, last = 0.125, 20
    one, other = pair_of(seed, step), pair_of(seed + 100, step)
    found = least_together(Masses.of(one, step), Masses.of(other, step), last)
    finite = profile_of([one.law, other.law], np.arange(last + 1.0) * step)
    exact = finite + float(1 - (1 - one.infinite) * (1 - other.infinite))
    assert (found <= exact).all()
    assert found == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("first", range(-12, 9, 3))
def test_profiles_at_places(first: int) -> None:
    pair = pair_of(3, 0.25)
    found = Masses.of(pair, 0.25).profile(first, 12)
    exact = profile_of([pair.law], np.arange(float(first), 13) * 0.25) + float(pair.infinite)
    assert found == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_game_starts_above_the_pair(seed: int) -> None:
    pair = pair_of(seed, 0.25)
    found = runs._started(pair, 0.25)
    exact = profile_of([pair.law], found.losses) + float(pair.infinite)
    assert (found.upper >= exact).all()
    assert found.upper == pytest.approx(np.minimum(exact, 1.0), rel=1e-10)


def test_every_place_is_looked_at() -> None:
    """What is a little less than both pairs is within them; a little more, anywhere, is not."""
    step, last = 0.125, 20
    one, other = pair_of(1, step), pair_of(2, step)
    exact = profile_of([one.law, other.law], np.arange(last + 1.0) * step)
    exact += float(1 - (1 - one.infinite) * (1 - other.infinite))
    nothing, within = np.zeros(last + 1), exact * (1 - 1e-9)
    within[-1] = 1e-15
    assert is_enough(one, other, Curve(step, 0, last, within, nothing, nothing))
    for place in range(last):
        more = within.copy()
        more[place] = exact[place] * (1 + 1e-9)
        assert not is_enough(one, other, Curve(step, 0, last, more, nothing, nothing))


def test_what_is_beyond_all_places_counts_for_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Curve, Above]] = []

    def least(_shorter: Curve, _block: Curve, before: Curve, end: Above, _rest: float) -> Above:
        asked.append((before, end))
        return Above(end.law, Fraction(1, 1000))

    monkeypatch.setattr(runs, "_least", least)
    found = in_runs(HALF, 13, 1e-6, WORK[0])
    ((before, end),) = asked
    assert [count for _, count in found.parts] == [1, 2]
    assert before.upper[-1] > 0
    assert found.infinite == end.infinite + 2 * (Fraction(1, 1000) + Fraction(float(before.upper[-1])))


def test_a_rest_may_be_missing_and_no_more() -> None:
    step, last, rest = 0.125, 20, 1e-6
    one, other = pair_of(1, step), pair_of(2, step)
    exact = profile_of([one.law, other.law], np.arange(last + 1.0) * step)
    exact += float(1 - (1 - one.infinite) * (1 - other.infinite))
    nothing = np.zeros(last + 1)
    for part, is_within in ((0.99, True), (1.01, False)):
        curve = Curve(step, 0, last, exact + part * rest, nothing, nothing)
        curve.upper[-1] = 1e-15
        assert is_enough(one, other, curve, rest) is is_within
        assert not is_enough(one, other, curve)


def test_what_is_missing_counts_for_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for only where nothing else is enough."""
    assert in_runs(HALF, 13, 1e-6, WORK[0]).rest == 0
    in_runs.cache_clear()
    enough, rests = is_enough, list[float]()

    def stricter(block: Above, end: Above, before: Curve, rest: float = 0.0) -> bool:
        rests.append(rest)
        return rest > 0 and enough(block, end, before, rest)

    monkeypatch.setattr(runs, "is_enough", stricter)
    found = in_runs(HALF, 13, 1e-6, WORK[0])
    assert set(rests[1:]) == {rests[1]}
    assert found.rest == 2 * Fraction(rests[1])
    assert 0 < found.rest <= Fraction(3, 100) / 10**6


def test_shorter_blocks_where_longer_ones_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = list[int]()

    def blocks(_size: Fraction, _times: int, length: int, *_: float) -> runs.Pairs:
        lengths.append(length)
        if length > 2:
            raise NotApplicable("as a test")
        return runs.Pairs((), NONE)

    monkeypatch.setattr(runs, "_LONGEST", 400)
    monkeypatch.setattr(runs, "_in_blocks", blocks)
    in_runs(Fraction(8), 1000, 1e-6, WORK[0])
    assert lengths == [12, 2]


def test_large_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_LEAST", 12)
    with pytest.raises(NotApplicable):
        in_runs(Fraction(4), 10**4, 1e-6, WORK[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "times"),
    [("0.1", 10_000), ("0.001", 10**6), ("0.5", 10**5), ("1", 10**5), ("2", 5000), ("2", 20_000), ("3", 5000)],
)
def test_long_runs(epsilon: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    in_runs.cache_clear()
    found = acc.epsilon(acc.Repeat(event=acc.Exponential(epsilon=epsilon), times=times), delta="1e-6")
    assert "blocks" in found.method
    assert found.width <= found.lower / 1000
