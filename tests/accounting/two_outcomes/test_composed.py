"""Compositions with statements."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module

import pytest

from privately import accounting as acc
from privately.accounting.adaptive.pairs import Above
from privately.accounting.compositions import Composition
from privately.accounting.losses import GaussianLoss, LaplaceLoss, response
from privately.accounting.questions import NO_LOWER, EpsilonAt, Question
from privately.accounting.two_outcomes import composed
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.rounding import Interval

QUARTER = acc.ZCDP(rho="0.25")


MIXED = acc.Sequence(events=[acc.Repeat(event=QUARTER, times=2), acc.ZCDP(rho="0.5"), acc.Laplace(scale=1)])
module = import_module("privately.accounting.two_outcomes.composed")
AT = EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**6))


def test_every_statement_counts_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """All zCDP in one game, listed orders in their own, with what is at infinite loss, beside all that is none."""
    monkeypatch.setattr(module.listed_games, "above_steps", lambda one, times, rare: (one.least, times))
    monkeypatch.setattr(module.wave_games, "above", lambda parts, rare: (sum(one.rho * n for one, n in parts), 1))
    monkeypatch.setattr(module, "_together", lambda case: None)
    monkeypatch.setattr(module.laws, "above", lambda curve, near: Above(response(curve[0] * curve[1]), curve[0] / 100))
    asked: list[Composition] = []

    def worst(found: tuple[Composition, ...], question: Question) -> Interval:
        asked.extend(found)
        return Interval(1, 2)

    listed = acc.Repeat(event=acc.Renyi(bounds={2: "0.5"}), times=2)
    found = module._Stated.of(acc.Sequence(events=[MIXED, listed]))
    assert module._top(module._Case(found, found.beside(1e-6), AT, worst, 1e-6), NO_LOWER).upper == 2
    (one,) = asked
    assert sorted(map(str, one.parts)) == sorted(
        map(str, [(LaplaceLoss(epsilon=Fraction(1)), 1), (response(Fraction(1)), 1), (response(Fraction(1, 2)), 1)])
    )
    assert one.infinite == 1 - (1 - Fraction(1, 100)) * (1 - Fraction(1, 400))


@pytest.mark.parametrize("kinds", [1, 3, 20, 120])
def test_what_is_played_from_below(kinds: int) -> None:
    """The largest steps, rounded down to few kinds, the largest last; nothing is lost, as noise makes good the rest."""
    parts = tuple((Concentrated(Fraction(100 + k, 10**4)), 1 + k % 2) for k in range(kinds))
    played, others, noise = module._last_steps(parts)
    square = noise + sum(law.mu_squared * times for law, times in others)
    assert len(played) <= module._MOST_TABLES
    assert list(played) == sorted(played, key=lambda part: part[0].rho)
    assert sum(n for _, n in played) == min(sum(n for _, n in parts), module.games.MOST_TESTED)
    assert square + sum(2 * one.rho * n for one, n in played) == sum(2 * one.rho * n for one, n in parts)
    largest = sorted((one.rho for one, n in parts for _ in range(n)), reverse=True)[: module.games.MOST_TESTED]
    rounded = sorted((one.rho for one, n in played for _ in range(n)), reverse=True)
    assert all(small <= large for small, large in zip(rounded, largest, strict=True))


def test_even_pairs_before_what_is_played() -> None:
    """Of listed orders all steps count; the first ones as randomized response that is allowed, just below the most."""
    statement = AtOrders(((Fraction(4), Fraction("0.1")),))
    played, ((law, times),), noise = module._last_steps(((statement, 500),))
    assert sum(n for _, n in played) + times == 500
    assert not noise
    (more, less), _ = (tuple(weight for weight, _ in outcome) for outcome in law.outcomes)
    assert more + less == 1
    moment = float(more**4 / less**3 + less**4 / more**3)
    assert math.exp(0.3) * (1 - 1e-6) < moment <= math.exp(0.3)


def test_which_kind_comes_last() -> None:
    """By size, or what allows the largest rare losses: both are tried."""
    small, large = AtOrders(((Fraction(4), Fraction("0.1")),)), Concentrated(Fraction("0.05"))
    parts = (small, 5), (large, 5)
    assert module._last_steps(parts)[0] == (parts[0], parts[1])
    assert module._last_steps(parts, module._by_order)[0] == (parts[1], parts[0])


@pytest.mark.slow
def test_listed_orders_beside_others_are_narrow() -> None:
    """One game of all steps, and tests in the better order."""
    listed = acc.Repeat(event=acc.Renyi(bounds={4: "0.1"}), times=3)
    found = acc.epsilon(acc.Sequence(events=[listed, acc.Repeat(event=acc.ZCDP(rho="0.05"), times=2)]), "1e-6")
    assert found.upper < found.lower * (1 + 5e-3)
    other = acc.Repeat(event=acc.Renyi(bounds={2: "0.1"}), times=2)
    found = acc.epsilon(acc.Sequence(events=[listed, other]), "1e-6")
    assert found.upper < found.lower * (1 + 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("times", [100, 10**4, 10**6])
def test_many_steps_of_one_order_are_narrow(times: int) -> None:
    """And reveal more than normal noise that is allowed, as randomized response does."""
    found = acc.epsilon(acc.Repeat(event=acc.Renyi(bounds={4: "0.1"}), times=times), delta="1e-6")
    normal = acc.epsilon(acc.Repeat(event=acc.GaussianDP(mu="0.223"), times=times), delta="1e-6")
    assert 1.02 * float(normal.upper) < found.lower <= found.upper < found.lower * (1 + 1e-3)


def test_small_steps_are_normal_noise() -> None:
    """Of less than a tenth of the largest; all of their rho is in it."""
    parts = [(Concentrated(Fraction(k, 100)), 2) for k in (1, 4, 5, 50)]
    played, others, noise = module._last_steps(parts)
    assert not noise
    assert dict(played) == {parts[2][0]: 2, parts[3][0]: 2}
    assert others == ((GaussianLoss(mu_squared=2 * 2 * Fraction(5, 100)), 1),)


def test_listed_orders_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block as often as it is played, also with what is at infinite loss."""
    listed = acc.Repeat(event=acc.Renyi(bounds={4: "0.1"}), times=7)
    monkeypatch.setattr(module.listed_games, "MOST_STEPS", 3)
    monkeypatch.setattr(module.listed_games, "above_steps", lambda statement, times, rare: times)
    monkeypatch.setattr(
        module.laws, "above", lambda curve, near: Above(response(Fraction(curve)), Fraction(curve, 100))
    )
    asked: list[Composition] = []

    def worst(found: tuple[Composition, ...], question: Question) -> Interval:
        asked.extend(found)
        return Interval(1, 2)

    found = module._Stated.of(listed)
    assert module._top(module._Case(found, found.beside(1e-6), AT, worst, 1e-6), NO_LOWER).upper == 2
    assert sorted(asked[0].parts, key=str) == sorted([(response(Fraction(3)), 1), (response(Fraction(2)), 2)], key=str)
    assert asked[0].infinite == 1 - (1 - Fraction(3, 100)) * (1 - Fraction(4, 100))


def test_the_lesser_of_two_upper_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"_summed": Interval(0, 3), "_bottom": Interval(Fraction(1, 2), 9), "_top": Interval(1, 2)}
    known["_single"] = Interval(Fraction(1, 4), 9)
    for name, found in known.items():
        monkeypatch.setattr(module, name, lambda *_, found=found: found)
    assert list(composed(MIXED, AT, lambda *_: Interval(0, 1)) or ()) == [Fraction(1, 2), 2]
    monkeypatch.setattr(module, "_summed", lambda *_: Interval(0, Fraction(3, 2)))
    assert list(composed(MIXED, AT, lambda *_: Interval(0, 1)) or ()) == [Fraction(1, 2), Fraction(3, 2)]


def test_what_statements_keep_together() -> None:
    """Sums at orders that all of them list."""
    first, second = acc.Renyi(bounds={2: "0.1", 8: "0.4"}), acc.Renyi(bounds={2: "0.2", 16: "1"})
    listed = acc.Sequence(events=[first, acc.Repeat(event=second, times=3)])
    assert module._Stated.of(listed).summed == AtOrders(((Fraction(2), Fraction(7, 10)),))
    beside = acc.Sequence(events=[first, acc.Repeat(event=QUARTER, times=2)])
    orders = (Fraction(2), Fraction(11, 10)), (Fraction(8), Fraction(22, 5))
    assert module._Stated.of(beside).summed == AtOrders(orders)
    concentrated = acc.Sequence(events=[acc.ZCDP(rho="0.5"), acc.Repeat(event=QUARTER, times=3)])
    assert module._Stated.of(concentrated).summed == Concentrated(Fraction(5, 4))
    assert module._Stated.of(MIXED).summed is None


@pytest.mark.slow
def test_between_normal_noise_and_one_statement() -> None:
    """More steps of the same sum cost less, down to normal noise."""
    one = acc.epsilon(acc.ZCDP(rho="0.5"), "1e-6")
    two = acc.epsilon(acc.Repeat(event=QUARTER, times=2), "1e-6")
    many = acc.epsilon(acc.Repeat(event=acc.ZCDP(rho="0.1"), times=5), "1e-6")
    normal = acc.epsilon(acc.GaussianDP(mu=1), "1e-6")
    assert normal.upper < many.lower <= many.upper < two.lower <= two.upper <= one.upper * (1 + Fraction(1, 10**6))
    for found in (two, many):
        assert found.width < Fraction(1, 1000) * found.lower


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps",
    [
        [(5, 8)],
        [("0.1", 3), ("0.2", 5), ("0.4", 8)],
        [(Fraction(k, 100), 1) for k in range(1, 9)],
    ],
)
def test_different_steps_are_narrow(steps: list[tuple[str | Fraction, int]]) -> None:
    """All orders are looked at; in each of them the steps cost less than one statement of all of it."""
    event = acc.Sequence(events=[acc.Repeat(event=acc.ZCDP(rho=rho), times=times) for rho, times in steps])
    found = acc.epsilon(event, "1e-6")
    assert found.width < Fraction(1, 1000) * found.lower
    whole = sum((Fraction(rho) * times for rho, times in steps), Fraction(0))
    assert found.upper < acc.epsilon(acc.ZCDP(rho=whole), "1e-6").lower


@pytest.mark.slow
def test_long_runs() -> None:
    found = acc.epsilon(acc.Repeat(event=acc.ZCDP(rho="0.01"), times=50), "1e-6")
    assert found.width < Fraction(3, 100) * found.lower
    assert acc.epsilon(acc.GaussianDP(mu=1), "1e-6").upper < found.lower


@pytest.mark.slow
def test_beside_others() -> None:
    """Normal noise of the same rho in place of one statement costs less; the answer is narrow."""
    mixed = acc.Sequence(events=[QUARTER, acc.GaussianDP(mu=Fraction(math.sqrt(0.4999)))])
    found = acc.epsilon(mixed, "1e-6")
    assert acc.epsilon(acc.GaussianDP(mu="0.9999"), "1e-6").lower < found.lower
    assert found.upper < acc.epsilon(acc.Repeat(event=QUARTER, times=2), "1e-6").upper
    assert found.width < Fraction(1, 500) * found.lower


@pytest.mark.slow
@pytest.mark.parametrize(("size", "times"), [("0.1", 100), ("0.5", 4)])
def test_beside_bounded_ranges(size: str, times: int) -> None:
    """Not below what ranges reveal after normal noise, nor below what the statement does after responses."""
    ranges, steps = acc.Repeat(event=acc.Exponential(epsilon=size), times=times), acc.Repeat(event=QUARTER, times=2)
    found = acc.epsilon(acc.Sequence(events=[ranges, steps]), "1e-6")
    responses = acc.Repeat(event=acc.RandomizedResponse(epsilon=Fraction(size) / 2), times=times)
    for within in ([ranges, acc.GaussianDP(mu="0.99999")], [responses, steps]):
        assert acc.epsilon(acc.Sequence(events=within), "1e-6").lower <= found.upper
    assert found.width < Fraction(1, 50) * found.lower


@pytest.mark.slow
@pytest.mark.parametrize(("order", "times"), [(2, 2), (2, 10), (4, 10)])
def test_low_orders(order: int, times: int) -> None:
    """Well below what one statement of all of it allows."""
    found = acc.epsilon(acc.Repeat(event=acc.Renyi(bounds={order: "0.1"}), times=times), "1e-6")
    assert found.width < Fraction(1, 500) * found.lower
    assert found.upper < acc.epsilon(acc.Renyi(bounds={order: Fraction(times, 10)}), "1e-6").lower


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "times"),
    [
        ({"1.1": "0.1"}, 3),
        ({"1.05": "0.1"}, 2),
        ({"1.2": "0.01"}, 10),
        ({2: "0.001"}, 5),
        ({4: "0.1"}, 10),
        ({2: "0.1", 8: "0.4", 32: "2"}, 5),
    ],
)
def test_listed_orders_are_narrow(bounds: dict[int | str, str], times: int) -> None:
    found = acc.epsilon(acc.Repeat(event=acc.Renyi(bounds=bounds), times=times), "1e-6")
    assert found.width < Fraction(1, 1000) * found.lower


@pytest.mark.slow
def test_delta_and_epsilon_agree() -> None:
    event = acc.Repeat(event=acc.Renyi(bounds={2: "0.1", 8: "0.4", 32: "2"}), times=2)
    found = acc.epsilon(event, "1e-4")
    back = acc.delta(event, Fraction(found.upper))
    assert back.lower <= Fraction(1, 10**4) * Fraction(101, 100)
    assert back.upper >= Fraction(1, 10**4) * Fraction(97, 100)


@pytest.mark.parametrize(
    "event",
    [
        acc.Group(event=acc.Repeat(event=QUARTER, times=2), size=2),
        acc.Sequence(events=[acc.Laplace(scale=1), acc.Gaussian(noise_multiplier=1)]),
        acc.Sequence(events=[acc.Renyi(bounds={2: Fraction(1, n)}) for n in range(2, 8)]),
        acc.Sequence(events=[QUARTER, acc.PoissonSample(event=QUARTER, rate="0.1")]),
    ],
)
def test_what_is_not_played(event: acc.Event) -> None:
    def never(*_: object) -> Interval:
        raise AssertionError

    assert composed(event, EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**6)), never) is None


def test_whoever_asks_for_little_does_not_wait() -> None:
    rough = acc.epsilon(acc.Repeat(event=QUARTER, times=2), "1e-6", width="0.1")
    assert "adaptive" not in rough.method


@pytest.mark.slow
def test_deltas_of_many_steps_are_narrow() -> None:
    """What counts is the delta that was reached from below, not that of normal noise, which is a tenth of it."""
    event = acc.Repeat(event=acc.Renyi(bounds={8: "0.00346"}), times=120)
    found = acc.delta(event, epsilon="1.051439")
    assert 3.2e-4 < found.lower <= found.upper < 1.02 * float(found.lower)


@pytest.mark.slow
def test_two_kinds_of_many_steps() -> None:
    """A game of all 40 is four times as wide as normal noise beside the largest."""
    steps = [acc.Repeat(event=acc.ZCDP(rho=rho), times=20) for rho in ("0.01", "0.02")]
    found = acc.epsilon(acc.Sequence(events=steps), "1e-6")
    assert found.width < Fraction(2, 1000) * found.lower
