"""Groups of (epsilon, delta)-DP mechanisms: random chains of laws in rational numbers, laws that reach the bound, and
planted mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain as joined
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting.grouped_samples import METHOD
from privately.accounting.grouped_samples.chains import Chain, Statement, _pair
from privately.accounting.grouped_samples.mixtures import Split
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable

Law = Sequence[Fraction]
LEVELS = [Fraction(n, 8) for n in (0, 1, 2, 4, 6, 8, 10, 14, 20, 40, 100, 300)]
SPLITS = [(3, 0), (2, 1), (1, 2), (0, 3)]


def excess(p: Law, q: Law, alpha: Fraction) -> Fraction:
    return sum((max(a - alpha * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def profile(pair: tuple[FiniteLoss | None, Fraction], alpha: Fraction) -> Fraction:
    law, infinite = pair
    if law is None:
        return infinite + (1 - infinite) * max(1 - alpha, Fraction(0))
    return infinite + sum((max(p[0] - alpha * q[0], Fraction(0)) for p, q in law.outcomes), Fraction(0))


def mixed(laws: Iterable[tuple[Fraction, Law]]) -> Law:
    listed = [[share * one for one in law] for share, law in laws]
    return [sum(column, Fraction(0)) for column in zip(*listed, strict=True)]


LAWS = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any).map(lambda n: [Fraction(i, sum(n)) for i in n])
RATES = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1)])


def subsets(rows: Sequence[str]) -> list[tuple[str, ...]]:
    return list(joined.from_iterable(combinations(rows, size) for size in range(len(rows) + 1)))


@settings(max_examples=60)
@given(st.lists(LAWS, min_size=9, max_size=9), RATES, st.sampled_from(SPLITS), st.sampled_from([1, 2, 3]))
def test_chains_dominate_enumeration(laws: list[Law], rate: Fraction, split: Split, grown: int) -> None:
    """Any laws for all subsets of the rows: as close as neighbours among them are."""
    sides = [subsets(rows) for rows in (("a", "b", "c")[: split[0]], ("x", "y", "z")[: split[1]])]
    names = list(dict.fromkeys(joined.from_iterable(sides)))
    seen = dict(zip(names, laws, strict=False))
    neighbours = [(one, other) for one in names for other in names if one != other and _is_one_row(one, other)]
    delta = max(excess(seen[one], seen[other], Fraction(grown)) for one, other in neighbours)
    p, q = (
        mixed((rate ** len(one) * (1 - rate) ** (rows - len(one)), seen[one]) for one in side)
        for side, rows in zip(sides, split, strict=True)
    )
    for alpha in LEVELS:
        assert excess(p, q, alpha) <= profile(_pair(Chain(Fraction(grown), delta), rate, split), alpha)


def _is_one_row(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len({*one} ^ {*other}) == 1


def shifted(chain: Chain, split: Split, places: Sequence[Fraction]) -> dict[int, Law]:
    """A law for every count from -added to removed: of cells between places, and of what is before and after them."""
    found: dict[int, Law] = {}
    for rows in range(-split[1], split[0] + 1):
        values = list(places)
        for _ in range(abs(rows)):
            values = [chain.next(x) if rows > 0 else chain.before(x) for x in values]
        edges = [Fraction(0), *values, Fraction(1)]
        found[rows] = [after - before for before, after in pairwise(edges)]
    return found


CHAINS = [(Fraction(3), Fraction(1, 100)), (Fraction(2), Fraction(1, 9)), (Fraction(5), Fraction(1, 10**6))]


@pytest.mark.parametrize(("grown", "delta"), CHAINS)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("rate", [Fraction(1, 5), Fraction(1)])
def test_chains_are_reached(grown: Fraction, delta: Fraction, split: Split, rate: Fraction) -> None:
    """For all levels at once, by laws of which neighbours are as close as stated."""
    chain = Chain(grown, delta)
    places = sorted({Fraction(0), Fraction(1), *chain.bends(6), *(1 - bend for bend in chain.bends(6))})
    laws = shifted(chain, split, places)
    for rows in range(-split[1], split[0]):
        for one, other in ((rows, rows + 1), (rows + 1, rows)):
            assert excess(laws[one], laws[other], grown) <= delta
    p, q = (
        mixed((math.comb(rows, i) * rate**i * (1 - rate) ** (rows - i), laws[sign * i]) for i in range(rows + 1))
        for rows, sign in zip(split, (1, -1), strict=True)
    )
    for alpha in LEVELS:
        assert excess(p, q, alpha) == profile(_pair(chain, rate, split), alpha)


def test_known_values() -> None:
    """At k epsilon a group has delta (1 + e^epsilon + ...), as is well known; below that it has less than all that have
    this epsilon and delta.
    """
    chain = Chain(Fraction(3), Fraction(1, 1000))
    pair = _pair(chain, Fraction(1), (3, 0))
    assert pair[1] == Fraction(13, 1000)
    assert profile(pair, Fraction(27)) == Fraction(13, 1000)
    assert profile(pair, Fraction(30)) == Fraction(13, 1000)
    assert profile(pair, Fraction(2)) < profile(
        _pair(Chain(Fraction(27), Fraction(13, 1000)), Fraction(1), (1, 0)), Fraction(2)
    )


def test_both_sides_enclose_all_of_it() -> None:
    statement = Statement(Fraction(1), Fraction(1, 1000), Fraction(1, 10))
    for split in SPLITS:
        lower, upper = (statement.seen(split, side) for side in ("lower", "upper"))
        assert lower[1] <= upper[1] <= lower[1] * (1 + Fraction(1, 10**30))
        for alpha in LEVELS:
            low, high = profile(lower, alpha), profile(upper, alpha)
            assert low <= high <= low + Fraction(1, 10**30)


@pytest.mark.parametrize("mistake", ["growth", "binomial"])
def test_false_twins_are_noticed(mistake: str) -> None:
    """delta that only adds up; all kept rows counted as one."""
    chain = Chain(Fraction(3), Fraction(1, 1000))
    if mistake == "growth":
        truth, infinite = profile(_pair(chain, Fraction(1), (3, 0)), Fraction(27)), 3 * chain.delta
        law, _ = _pair(Chain(Fraction(3), Fraction(0)), Fraction(1), (3, 0))
        assert infinite + (1 - infinite) * profile((law, Fraction(0)), Fraction(27)) < truth
    else:
        truth = profile(_pair(chain, Fraction(1, 5), (3, 0)), Fraction(4))
        assert profile(_pair(chain, 1 - Fraction(4, 5) ** 3, (1, 0)), Fraction(4)) < truth


def test_groups_of_statements_are_narrow() -> None:
    one = acc.Approx(epsilon="0.5", delta="1e-9")
    for event in (
        one,
        acc.Repeat(event=one, times=10),
        acc.Sequence(events=[one, acc.Gaussian(noise_multiplier=2)]),
        acc.Repeat(event=acc.PoissonSample(event=one, rate="0.1"), times=10),
    ):
        found = acc.epsilon(acc.Group(event=event, size=3), delta="1e-6")
        assert found.method == METHOD
        assert found.width <= found.upper / 10**5


def test_answers_at_the_edges() -> None:
    """Nothing but infinite losses, none at all, and as many rows as are followed."""

    def group(epsilon: str, delta: str, size: int) -> acc.Group:
        return acc.Group(event=acc.Approx(epsilon=epsilon, delta=delta), size=size)

    assert acc.epsilon(group("0.5", "1e-8", 3), delta="5e-8").lower == math.inf
    assert acc.epsilon(group("0.5", "1e-8", 3), delta="6e-8").upper < 2
    assert acc.epsilon(group("0", "1e-8", 3), delta="1e-6").upper == 0
    assert acc.delta(group("0", "1e-8", 3), epsilon=1).upper == Fraction(3, 10**8)
    assert acc.delta(group("3", "0.1", 5), epsilon=1).lower == 1
    assert acc.epsilon(group("0.5", "0", 3), delta=0).upper < Fraction("1.5001")
    with pytest.raises(NotApplicable):
        Statement(Fraction(1), Fraction(1, 100), Fraction(1)).seen((30, 0), "upper")
