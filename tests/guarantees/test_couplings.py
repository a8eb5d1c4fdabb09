"""Couplings against their definition, and the lifting against all subsets (Strassen)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import eq
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees.couplings import (
    CouplingFault,
    Lifted,
    NotLifted,
    coupling_faults,
    is_coupling,
    lifting,
    maximal_coupling,
)
from privately.guarantees.distances import distribution, statistical_distance

Exact = dict[int, Fraction]
Pairs = set[tuple[int, int]]
HALF = Fraction(1, 2)
COIN = {0: HALF, 1: HALF}


def shares(weights: Sequence[int], total: int) -> Exact:
    return {x: Fraction(weight, total) for x, weight in enumerate(weights)}


WEIGHTS = st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any)
TABLES = WEIGHTS.map(lambda weights: shares(weights, sum(weights)))
SUBTABLES = WEIGHTS.map(lambda weights: shares(weights, 24))
RELATIONS: st.SearchStrategy[Pairs] = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


def mass(table: Exact, outcomes: set[int]) -> Fraction:
    return sum((table.get(x, Fraction(0)) for x in outcomes), Fraction(0))


def image(pairs: Pairs, outcomes: set[int]) -> set[int]:
    return {b for a, b in pairs if a in outcomes}


def strassen(left: Exact, right: Exact, pairs: Pairs) -> bool:
    subsets = (set(some) for size in range(5) for some in itertools.combinations(range(4), size))
    fits = all(mass(left, some) <= mass(right, image(pairs, some)) for some in subsets)
    return fits and sum(left.values()) == sum(right.values())


def assert_right(answer: Lifted[int, int] | NotLifted, left: Exact, right: Exact, pairs: Pairs) -> None:
    """Whatever the answer, it proves itself."""
    if isinstance(answer, Lifted):
        assert coupling_faults(answer.coupling, left, right, pairs) == ()
        return
    if answer.side == "right":
        left, right, pairs = right, left, {(b, a) for a, b in pairs}
    witness = {x for x in left if x in answer.witness}
    assert witness == answer.witness
    assert answer.mass == mass(left, witness)
    assert answer.image_mass == mass(right, image(pairs, witness))
    assert answer.mass > answer.image_mass


@given(TABLES, TABLES, RELATIONS)
def test_lifting_agrees_with_all_subsets(left: Exact, right: Exact, pairs: Pairs) -> None:
    answer = lifting(left, right, pairs)
    assert isinstance(answer, Lifted) == strassen(left, right, pairs)
    assert_right(answer, left, right, pairs)
    assert answer == lifting(left, right, lambda a, b: (a, b) in pairs)


@given(SUBTABLES, SUBTABLES, RELATIONS)
def test_lifting_of_subdistributions(left: Exact, right: Exact, pairs: Pairs) -> None:
    answer = lifting(left, right, pairs)
    assert isinstance(answer, Lifted) == strassen(left, right, pairs)
    assert_right(answer, left, right, pairs)


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(1, 9), min_size=1))
def test_the_marginals_of_any_joint_are_lifted(weights: dict[tuple[int, int], int]) -> None:
    total = sum(weights.values())
    joint = {pair: Fraction(weight, total) for pair, weight in weights.items()}
    left, right = ({x: Fraction(0) for x in range(4)} for _ in range(2))
    for (a, b), share in joint.items():
        left[a] += share
        right[b] += share
    assert is_coupling(joint, left, right, joint.keys())
    assert isinstance(lifting(left, right, joint.keys()), Lifted)


@given(TABLES, TABLES)
def test_equality_lifts_to_equality_and_order_to_dominance(left: Exact, right: Exact) -> None:
    assert isinstance(lifting(left, right, eq), Lifted) == (distribution(left) == distribution(right))
    tails = [(mass(left, set(range(x, 4))), mass(right, set(range(x, 4)))) for x in range(4)]
    dominated = all(below <= above for below, above in tails)
    assert isinstance(lifting(left, right, lambda a, b: a <= b), Lifted) == dominated


@given(TABLES, TABLES, RELATIONS)
def test_every_coupling_is_at_least_as_far_apart_as_the_distance(left: Exact, right: Exact, pairs: Pairs) -> None:
    answer = lifting(left, right, pairs)
    if isinstance(answer, Lifted):
        apart = sum(share for (a, b), share in answer.coupling.items() if a != b)
        assert apart >= statistical_distance(left, right)


@given(TABLES, TABLES)
def test_maximal_coupling_attains_the_statistical_distance(left: Exact, right: Exact) -> None:
    coupling = maximal_coupling(left, right)
    assert coupling_faults(coupling, left, right, lambda a, b: True) == ()
    assert sum(share for (a, b), share in coupling.items() if a != b) == statistical_distance(left, right)
    assert all(coupling.values())


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 7), (5, 6)])
def test_one_time_pad_is_coupled_by_a_bijection(first: int, second: int) -> None:
    """Seed 000: keys k and k xor m1 xor m2 give equal ciphers, so that a cipher tells nothing of the message."""
    keys = range(8)
    uniform = dict.fromkeys(keys, Fraction(1, 8))
    matched = {(key, key ^ first ^ second): Fraction(1, 8) for key in keys}
    assert is_coupling(matched, uniform, uniform, lambda k1, k2: first ^ k1 == second ^ k2)
    ciphers = {(first ^ k1, second ^ k2): share for (k1, k2), share in matched.items()}
    assert is_coupling(ciphers, uniform, uniform, eq)
    assert isinstance(lifting(uniform, uniform, lambda k1, k2: first ^ k1 == second ^ k2), Lifted)


def test_a_pad_with_a_biased_key_has_no_coupling() -> None:
    key = {0: Fraction(2, 3), 1: Fraction(1, 3)}
    answer = lifting(key, key, lambda k1, k2: k1 == 1 ^ k2)
    third = Fraction(1, 3)
    assert answer == NotLifted(side="left", witness=frozenset({0}), mass=2 * third, image_mass=third)


@given(TABLES, TABLES, st.data())
def test_planted_wrong_couplings_are_detected(left: Exact, right: Exact, data: st.DataObject) -> None:
    coupling = maximal_coupling(left, right)
    pair = data.draw(st.sampled_from(sorted(coupling)))
    apart = {other for other in coupling if other != pair}
    share = coupling[pair]
    outside = coupling_faults(coupling, left, right, apart)
    assert outside == (CouplingFault(part="support", outcome=pair, wanted=Fraction(0), found=share),)
    a, b = pair
    moved = {**coupling, pair: share / 2}
    moved[a, b + 10] = share / 2
    assert coupling_faults(moved, left, right, lambda a, b: True) == (
        CouplingFault(part="right", outcome=b, wanted=right[b], found=right[b] - share / 2),
        CouplingFault(part="right", outcome=b + 10, wanted=Fraction(0), found=share / 2),
    )
    thinner = {**coupling, pair: share / 2}
    assert [fault.part for fault in coupling_faults(thinner, left, right, eq) if fault.part != "support"] == [
        "left",
        "right",
    ]


def test_faults_say_what_is_wrong() -> None:
    joint = {(0, 1): HALF, (1, 1): HALF}
    assert [str(fault) for fault in coupling_faults(joint, COIN, COIN, eq)] == [
        "(0, 1) has probability 1/2 but is not in the relation",
        "the right marginal of 0 is 0, not 1/2",
        "the right marginal of 1 is 1, not 1/2",
    ]
    assert not is_coupling(joint, COIN, COIN, lambda a, b: True)
    assert is_coupling(joint, COIN, {1: 1}, lambda a, b: a <= b)


def test_unequal_masses_have_no_coupling() -> None:
    everything = {(a, b) for a in range(2) for b in range(2)}
    quarter = {0: HALF, 1: HALF / 2}
    assert_right(lifting(COIN, quarter, everything), COIN, quarter, everything)
    assert_right(lifting(quarter, COIN, everything), quarter, COIN, everything)
    answer = lifting(quarter, COIN, everything)
    assert isinstance(answer, NotLifted)
    assert answer.side == "right"
    with pytest.raises(InvalidParameter, match="same mass"):
        maximal_coupling(quarter, COIN)


def test_nothing_is_coupled_with_nothing() -> None:
    assert lifting({}, {0: 0}, set()) == Lifted(coupling={})
    assert is_coupling({}, {}, {}, set())
    assert maximal_coupling({}, {}) == {}


def test_outcomes_may_be_anything_hashable() -> None:
    left: dict[object, Fraction] = {None: HALF, "a": HALF}
    right: dict[object, Fraction] = {("x", 1): HALF, None: HALF}
    anything: Callable[[object, object], bool] = lambda a, b: True  # noqa: E731
    answer = lifting(left, right, anything)
    assert isinstance(answer, Lifted)
    assert is_coupling(answer.coupling, left, right, anything)
    assert is_coupling(maximal_coupling(left, right), left, right, anything)


def test_a_long_chain_needs_no_recursion() -> None:
    """The greedy start gives every outcome the wrong partner, and one path through all of them mends it."""
    size = 2000
    left = dict.fromkeys(range(size), Fraction(1, size))
    right = dict.fromkeys(range(size), Fraction(1, size))
    chain = {(x, x) for x in range(1, size)} | {(x, x - 1) for x in range(1, size)} | {(0, 0)}
    backwards = dict(reversed(left.items()))
    for start in (left, backwards):
        answer = lifting(start, right, chain)
        assert isinstance(answer, Lifted)
        assert answer.coupling.keys() == {(x, x) for x in range(size)}
    broken = lifting(left, right, chain - {(0, 0)})
    assert isinstance(broken, NotLifted)
    assert broken.image_mass < broken.mass


def test_larger_random_relations_prove_their_answers() -> None:
    chooser = random.Random(1)
    for density in (0.005, 0.02, 0.2):
        left, right = (
            shares([w * 1000 // sum(ws) for w in ws] + [1000 - sum(w * 1000 // sum(ws) for w in ws)], 1000)
            for ws in ([chooser.randrange(1, 30) for _ in range(150)] for _ in range(2))
        )
        pairs = {(a, b) for a in left for b in right if chooser.random() < density}
        assert_right(lifting(left, right, pairs), left, right, pairs)


BAD_CALLS: list[tuple[str, Callable[[Any], object]]] = [
    ("left[0]", lambda eq: lifting({0: -1}, COIN, eq)),
    ("left", lambda eq: lifting({0: 1, 1: "1e-9"}, COIN, eq)),
    ("right[0]", lambda eq: lifting(COIN, {0: "much"}, eq)),
    ("right", lambda eq: lifting(COIN, [0, 1], eq)),  # type: ignore[arg-type]
    ("relation", lambda eq: lifting(COIN, COIN, "equal")),  # type: ignore[arg-type]
    ("relation", lambda eq: lifting(COIN, COIN, [(0, 0)])),  # type: ignore[arg-type]
    ("relation", lambda eq: lifting(COIN, COIN, {0, 1})),  # type: ignore[arg-type]
    ("relation", lambda eq: is_coupling({}, {}, {}, None)),  # type: ignore[arg-type]
    ("joint", lambda eq: is_coupling({0: 1}, COIN, COIN, eq)),  # type: ignore[dict-item]
    ("joint", lambda eq: is_coupling({"ab": 1}, COIN, COIN, eq)),  # type: ignore[dict-item]
    ("joint", lambda eq: is_coupling({(0, 0): 1, (1, 1): 1}, COIN, COIN, eq)),
    ("joint[(0, 0)]", lambda eq: is_coupling({(0, 0): float("nan")}, COIN, COIN, eq)),
    ("left", lambda eq: maximal_coupling(None, COIN)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("field", "call"), BAD_CALLS)
def test_bad_input_is_refused_by_name(field: str, call: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        call(eq)
    assert caught.value.field == field
