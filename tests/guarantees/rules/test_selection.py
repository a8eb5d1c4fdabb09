"""Choosing a candidate: exact laws for all scores and changes of a few candidates, against what the rules conclude."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, Derivation, GaussianDP, Guarantee, PureDP, rules
from tests.guarantees.enumeration import Law, Pair
from tests.guarantees.rules.integer_sums import ONE, ZERO, scale_of
from tests.guarantees.rules.knowns import ADD_REMOVE, REPLACE, Rule
from tests.guarantees.rules.refutation import refutation
from tests.guarantees.rules.selections import (
    NOISES,
    Scores,
    Selection,
    changes,
    exponential_mechanism_law,
    exponential_noise_law,
    gap_law,
    noisy_max_law,
    noisy_value_law,
    pairs_of,
    permute_and_flip_law,
)

LITTLE = Fraction(1, 10**9)
HALF = Fraction(1, 2)
RATIOS = [HALF, Fraction(9, 10), Fraction(1, 10)]
Made = Callable[..., Derivation]


def fault(rule: Rule, q: Fraction, spread: Any, pairs: list[Pair], **more: Any) -> str:
    return refutation(rule(scale=scale_of(q), spread=spread, **more).conclusion, pairs)


def slightly_less(rule: Rule) -> Rule:
    def twin(*, scale: Fraction, spread: Fraction | int, **more: Any) -> Derivation:
        return rule(scale=scale, spread=spread * (1 - LITTLE), **more)

    return twin


def one_pair(selection: Selection, before: Scores, after: Scores) -> list[Pair]:
    return [(selection(before), selection(after))]


# The exponential mechanism


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", [PureDP, ZCDP])
@pytest.mark.parametrize(("candidates", "highest"), [(2, 4), (3, 2), (4, 1)])
@pytest.mark.parametrize("spread", [1, 2])
@pytest.mark.parametrize("q", RATIOS)
def test_exponential_mechanism_dominates_enumeration(
    kind: type[Guarantee], candidates: int, highest: int, spread: int, q: Fraction
) -> None:
    for weights in ([1] * candidates, [1, 7, 2, 3][:candidates]):
        law = partial(exponential_mechanism_law, q=q, weights=weights)
        pairs = pairs_of(law, changes(candidates, highest, spread))
        assert not fault(rules.exponential_mechanism, q, spread, pairs, kind=kind)


def test_exponential_mechanism_is_tight() -> None:
    """For PureDP in the limit of an unlikely candidate, for ZCDP in the limit of little noise on two alike."""
    pairs = one_pair(partial(exponential_mechanism_law, q=HALF), (0, 40), (0, 41))
    assert fault(slightly_less(rules.exponential_mechanism), HALF, 1, pairs)
    assert not fault(rules.exponential_mechanism, HALF, 1, pairs)
    q = Fraction(999, 1000)
    pairs = one_pair(partial(exponential_mechanism_law, q=q), (0, 0), (0, 2))
    rho = rules.exponential_mechanism(scale=scale_of(q), spread=2, kind=ZCDP).conclusion.parameters["rho"]
    assert not refutation(ZCDP(rho=rho), pairs)
    assert refutation(ZCDP(rho=rho * (1 - Fraction(1, 10**5))), pairs)


@pytest.mark.parametrize("kind", [PureDP, ZCDP])
def test_exponential_mechanism_twins_are_refuted(kind: type[Guarantee]) -> None:
    """One score rises by 1 and another falls by 1, so the spread is 2 and not the sensitivity, 1."""
    pairs = one_pair(partial(exponential_mechanism_law, q=HALF), (2, 0, 0), (1, 1, 0))
    rule = rules.exponential_mechanism
    assert not fault(rule, HALF, 2, pairs, kind=kind)
    assert fault(rule, HALF, 1, pairs, kind=kind)
    half_the_scale = partial(exponential_mechanism_law, q=HALF**2)
    assert fault(rule, HALF, 2, one_pair(half_the_scale, (4, 0, 0), (3, 1, 0)), kind=kind)


def test_exponential_mechanism_twin_of_weights_that_move_is_refuted() -> None:
    """Weights are fixed: a weight that doubles between neighbours is a score that rises."""
    before, after = (exponential_mechanism_law((0, 0), HALF, weights) for weights in ([1, 4], [4, 1]))
    assert fault(rules.exponential_mechanism, HALF, 0, [(before, after)])


# Permute and flip


@pytest.mark.parametrize(("candidates", "highest"), [(2, 5), (3, 3), (4, 1)])
@pytest.mark.parametrize("spread", [1, 2])
@pytest.mark.parametrize("q", RATIOS)
def test_permute_and_flip_dominates_enumeration(candidates: int, highest: int, spread: int, q: Fraction) -> None:
    """And is attained, by two candidates that were alike."""
    law = partial(permute_and_flip_law, q=q)
    assert not fault(rules.permute_and_flip, q, spread, pairs_of(law, changes(candidates, highest, spread)))
    attained = one_pair(law, (0, 0), (0, spread))
    assert not fault(rules.permute_and_flip, q, spread, attained)
    assert fault(slightly_less(rules.permute_and_flip), q, spread, attained)


@pytest.mark.parametrize("q", RATIOS)
def test_permute_and_flip_is_noisy_max_with_exponential_noise(q: Fraction) -> None:
    for scores in product(range(4), repeat=3):
        assert permute_and_flip_law(scores, q) == exponential_noise_law(scores, q)


def fixed_order_law(scores: Scores, q: Fraction) -> Law:
    """The false twin that flips without permuting."""
    law, left = {}, ONE
    for place, score in enumerate(scores):
        law[place] = left * q ** (max(scores) - score)
        left -= law[place]
    return {place: mass for place, mass in law.items() if mass}


def test_permute_and_flip_twins_are_refuted() -> None:
    rule, law = rules.permute_and_flip, partial(permute_and_flip_law, q=HALF)
    mixed = one_pair(law, (1, 0), (0, 1))
    assert not fault(rule, HALF, 2, mixed)
    assert fault(rule, HALF, 1, mixed), "the sensitivity, for scores that move in opposite directions"
    assert fault(rule, HALF, 1, one_pair(partial(permute_and_flip_law, q=HALF**2), (0, 0), (0, 1))), "half the scale"
    assert fault(rule, HALF, 1, one_pair(partial(fixed_order_law, q=HALF), (0, 0), (0, 1))), "no permutation"


def in_two_groups(scores: tuple[Scores, Scores]) -> Law:
    """A candidate of each, chosen by itself."""
    first, second = (permute_and_flip_law(one, HALF) for one in scores)
    return {a * len(second) + b: first[a] * second[b] for a, b in product(first, second)}


def test_choices_side_by_side_add_up() -> None:
    """All scores of two candidates in each of two groups: the sum of the spreads will do, the larger one will not."""
    pairs = [(one, other) for one in product(range(3), repeat=2) for other in product(range(3), repeat=2)]
    for one, other in product(pairs, repeat=2):
        moved = [[b - a for a, b in zip(*pair, strict=True)] for pair in (one, other)]
        spread = sum(max(change) - min(change) for change in moved)
        laws = [(in_two_groups((one[0], other[0])), in_two_groups((one[1], other[1])))]
        assert not fault(rules.permute_and_flip, HALF, spread, laws)
    laws = [(in_two_groups(((0, 0), (0, 0))), in_two_groups(((0, 1), (0, 1))))]
    assert fault(rules.permute_and_flip, HALF, 1, laws), "the spread of one group for both"
    assert fault(slightly_less(rules.permute_and_flip), HALF, 2, laws)


# Noisy max


def brute_force(scores: Scores, noise: str, *, with_gap: bool) -> dict[Any, float]:
    """All noises of a window, with all orders of the fractions, which decide the floor of a difference."""
    found: dict[Any, float] = {}
    orders = list(permutations(range(len(scores))))
    inside = range(-12, 13)
    weight = {k: float(NOISES[noise][0](0, Fraction(1, 4)).at(k)) for k in inside}
    for noises in product(inside, repeat=len(scores)):
        chance = math.prod(weight[k] for k in noises) / len(orders)
        if not chance:
            continue
        for ranks in orders:
            totals = [(s + k, rank) for s, k, rank in zip(scores, noises, ranks, strict=True)]
            second, first = sorted(totals)[-2:]
            gap = first[0] - second[0] - (first[1] < second[1])
            outcome = (totals.index(first), gap) if with_gap else totals.index(first)
            found[outcome] = found.get(outcome, 0.0) + chance
    return found


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scores", [(0, 1), (2, 0), (0, 0, 1), (1, 0, 2)])
def test_the_exact_laws_agree_with_brute_force(noise: str, scores: Scores) -> None:
    """A check of the checks: the laws of this file, summed up to infinity, against noise up to 12."""
    law = noisy_max_law(scores, (Fraction(1, 4), noise))
    assert sum(law.values()) == 1
    for outcome, chance in brute_force(scores, noise, with_gap=False).items():
        assert math.isclose(law[outcome], chance, abs_tol=1e-6)
    exact = gap_law(scores, (Fraction(1, 4), noise), most=4)
    found = brute_force(scores, noise, with_gap=True)
    for place, gap in product(range(len(scores)), range(5)):
        assert math.isclose(exact[place, gap], found[place, gap], abs_tol=1e-6)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("candidates", "highest", "spread"), [(2, 5, 1), (2, 5, 2), (3, 2, 1), (3, 2, 2), (4, 1, 1)])
@pytest.mark.parametrize("q", RATIOS)
def test_noisy_max_dominates_enumeration(noise: str, candidates: int, highest: int, spread: int, q: Fraction) -> None:
    pairs = pairs_of(lambda scores: noisy_max_law(scores, (q, noise)), changes(candidates, highest, spread))
    assert not fault(rules.noisy_max, q, spread, pairs, noise=noise, gap=False)


@pytest.mark.parametrize("q", RATIOS)
def test_noisy_max_is_attained_by_one_sided_noise(q: Fraction) -> None:
    pairs = one_pair(lambda scores: noisy_max_law(scores, (q, "discrete_exponential")), (0, 0), (0, 1))
    assert fault(slightly_less(rules.noisy_max), q, 1, pairs, noise="discrete_exponential", gap=False)


def gap_pairs(q: Fraction, noise: str, candidates: int, highest: int, spread: int) -> list[Pair]:
    """Gaps above 8 are one outcome."""
    return pairs_of(
        lambda scores: gap_law(scores, (q, noise), most=8),
        changes(candidates, highest, spread),
    )


@pytest.mark.parametrize(("candidates", "highest", "spread"), [(2, 4, 1), (2, 4, 2), (3, 2, 1), (3, 1, 2)])
@pytest.mark.parametrize("q", [HALF, Fraction(1, 10)])
def test_the_gap_dominates_enumeration(candidates: int, highest: int, spread: int, q: Fraction) -> None:
    pairs = gap_pairs(q, "discrete_laplace", candidates, highest, spread)
    assert not fault(rules.noisy_max, q, spread, pairs, noise="discrete_laplace", gap=True)


@pytest.mark.slow
@pytest.mark.parametrize(("candidates", "highest", "spread"), [(3, 4, 1), (3, 3, 2), (3, 2, 3), (4, 2, 1), (4, 1, 2)])
@pytest.mark.parametrize("q", RATIOS)
@pytest.mark.parametrize("noise", NOISES)
def test_the_gap_dominates_enumeration_of_more(
    noise: str, candidates: int, highest: int, spread: int, q: Fraction
) -> None:
    """With one-sided noise as well, although the rule does not offer it."""
    pairs = gap_pairs(q, noise, candidates, highest, spread)
    assert not fault(rules.noisy_max, q, spread, pairs, noise="discrete_laplace", gap=True)


def test_the_gap_is_tight() -> None:
    """A large gap above two others: that both of them are low costs more than that the winner is high."""
    law = with_gap(q=Fraction(1, 10))
    pairs = one_pair(law, (0, 4, 4), (0, 5, 5))
    assert not fault(rules.noisy_max, Fraction(1, 10), 1, pairs, noise="discrete_laplace", gap=True)
    assert fault(slightly_less(without_wholeness), Fraction(1, 10), 1, pairs)


def without_wholeness(*, scale: Fraction, spread: Fraction) -> Derivation:
    """What the rule would conclude for a gap if spreads need not be whole."""
    return rules.noisy_max(noise="discrete_laplace", scale=scale, spread=spread, gap=False)


# False twins of noisy max


def noisy_max_fault(law: Selection, before: Scores, after: Scores, spread: int, **more: Any) -> str:
    choice = {"noise": "discrete_laplace", "gap": True, **more}
    return fault(rules.noisy_max, HALF, spread, one_pair(law, before, after), **choice)


def with_gap(noise: str = "discrete_laplace", *, q: Fraction = HALF, by_index: bool = False) -> Selection:
    return lambda scores: gap_law(scores, (q, noise), most=8, by_index=by_index)


@pytest.mark.parametrize("noise", NOISES)
def test_noisy_max_twins_are_refuted(noise: str) -> None:
    right: Any = {"noise": noise, "gap": False}
    law: Selection = lambda scores: noisy_max_law(scores, (HALF, noise))  # noqa: E731
    narrow: Selection = lambda scores: noisy_max_law(scores, (HALF**2, noise))  # noqa: E731
    assert not noisy_max_fault(law, (6, 0), (5, 1), 2, **right)
    assert noisy_max_fault(law, (6, 0), (5, 1), 1, **right), (
        "the sensitivity, for scores that move in opposite directions"
    )
    assert noisy_max_fault(narrow, (6, 0), (7, 0), 1, **right), "half the scale"


def test_the_gap_twins_are_refuted() -> None:
    assert not noisy_max_fault(with_gap(), (6, 0), (5, 1), 2)
    assert noisy_max_fault(with_gap(), (6, 0), (5, 1), 1), (
        "the sensitivity, for scores that move in opposite directions"
    )
    assert noisy_max_fault(with_gap(q=HALF**2), (6, 0), (7, 0), 1), "half the scale"


def test_the_gap_twin_with_ties_broken_by_index_is_refuted() -> None:
    """A gap of 0 then tells that nobody with a smaller index reached the same height: several can fall at once."""
    before, after = (1, 1, 0, 0), (2, 2, 0, 0)
    assert noisy_max_fault(with_gap(by_index=True), before, after, 1)
    assert not noisy_max_fault(with_gap(), before, after, 1)


def test_the_gap_twin_with_one_sided_noise_and_ties_by_index_is_refuted() -> None:
    """At twice the cost. With fractions one-sided noise would do, as docs/theory/mechanisms.md#the-gap shows."""
    law = with_gap("discrete_exponential", by_index=True)
    (pair,) = one_pair(law, (0, 0, 0), (1, 0, 0))
    assert noisy_max_fault(law, (0, 0, 0), (1, 0, 0), 1)
    assert pair[0][1, 0] == pair[1][1, 0] * 4
    for before, after in changes(3, 2, 1):
        assert not noisy_max_fault(with_gap("discrete_exponential"), before, after, 1)


def test_the_twin_that_releases_the_noisy_score_is_refuted() -> None:
    """All scores rise by one, which is no spread at all."""
    law = partial(noisy_value_law, q=HALF, outcomes=range(-3, 6))
    assert noisy_max_fault(law, (0, 1), (1, 2), 0)
    assert noisy_max_fault(law, (0, 1, 1), (1, 2, 2), 0)
    assert not noisy_max_fault(with_gap(), (0, 1), (1, 2), 0)


# What is said, and what is refused


PERSON = ADD_REMOVE.of_unit("person")
RULES: dict[str, Made] = {
    "exponential_mechanism": rules.exponential_mechanism,
    "permute_and_flip": rules.permute_and_flip,
    "noisy_max": partial(rules.noisy_max, noise="discrete_laplace", gap=False),
}


def test_what_the_derivations_hold() -> None:
    derived = [
        rules.exponential_mechanism(scale=4, spread=2, neighbors=PERSON),
        rules.exponential_mechanism(scale=4, spread="1/2", kind=ZCDP),
        rules.permute_and_flip(scale="3/2", spread=2, neighbors=REPLACE.times(3)),
        rules.noisy_max(noise="discrete_exponential", scale=2, spread="3/2", gap=False),
        rules.noisy_max(noise="discrete_laplace", scale=2, spread=1, gap=True, neighbors=REPLACE),
    ]
    assert [one.conclusion for one in derived] == [
        PureDP(epsilon="1/2", neighbors=PERSON),
        ZCDP(rho="1/512"),
        PureDP(epsilon="4/3", neighbors=REPLACE.times(3)),
        PureDP(epsilon="3/4"),
        PureDP(epsilon="1/2", neighbors=REPLACE),
    ]
    assert [dict(one.parameters) for one in derived] == [
        {"scale": "4", "spread": "2"},
        {"scale": "4", "spread": "1/2"},
        {"scale": "3/2", "spread": "2"},
        {"noise": "discrete_exponential", "scale": "2", "spread": "3/2", "gap": False},
        {"noise": "discrete_laplace", "scale": "2", "spread": "1", "gap": True},
    ]
    names = ["exponential_mechanism", "exponential_mechanism", "permute_and_flip", "noisy_max", "noisy_max"]
    assert [one.rule for one in derived] == names
    assert all((one.premises, dict(one.witness), one.assumptions) == ((), {}, ()) for one in derived)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("number", [-1, math.nan, math.inf, True, None, "wide", 2**5000])
@pytest.mark.parametrize("field", ["scale", "spread"])
def test_bad_numbers(name: str, number: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        RULES[name](**{"scale": 1, "spread": 1, field: number})
    assert caught.value.field == field


@pytest.mark.parametrize("name", RULES)
def test_the_ends_of_the_ranges(name: str) -> None:
    assert set(RULES[name](scale=1, spread=0).conclusion.parameters.values()) == {ZERO}
    with pytest.raises(InvalidParameter) as caught:
        RULES[name](scale=0, spread=1)
    assert caught.value.field == "scale"
    with pytest.raises(InvalidParameter):
        RULES[name](scale="1e-9", spread=2)
    with pytest.raises(InvalidParameter) as caught:
        RULES[name](scale=1, spread=1, neighbors="replace")
    assert caught.value.field == "neighbors"


@pytest.mark.parametrize("kind", [ApproxDP, GaussianDP, None, "PureDP", PureDP(epsilon=1)])
def test_other_kinds_have_no_rule(kind: Any) -> None:
    with pytest.raises(NoSuchRule, match="PureDP or ZCDP"):
        rules.exponential_mechanism(scale=1, spread=1, kind=kind)


@pytest.mark.parametrize("noise", ["laplace", "", None, 1, ["discrete_laplace"], "rounded_gaussian"])
def test_bad_noises(noise: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.noisy_max(noise=noise, scale=1, spread=1, gap=False)
    assert caught.value.field == "noise"


@pytest.mark.parametrize("gap", [None, 0, 1, "yes", []])
def test_bad_gaps(gap: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.noisy_max(noise="discrete_laplace", scale=1, spread=1, gap=gap)
    assert caught.value.field == "gap"


def test_gaps_that_have_no_rule() -> None:
    with pytest.raises(NoSuchRule, match="discrete_laplace"):
        rules.noisy_max(noise="discrete_exponential", scale=1, spread=1, gap=True)
    with pytest.raises(InvalidParameter, match="whole") as caught:
        rules.noisy_max(noise="discrete_laplace", scale=1, spread="1/2", gap=True)
    assert caught.value.field == "spread"
