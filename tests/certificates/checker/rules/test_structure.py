from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificates.checker.building import (
    NINE,
    PERSON,
    REPLACE,
    ROW,
    Plain,
    conclude,
    down,
    mpf,
    refuse,
    renyi,
    statement,
    up,
)

PURE = statement("PureDP", epsilon=1)
WORDS = {"description": "rounded"}


def test_postprocessing_keeps_or_weakens() -> None:
    conclude("postprocessing", [PURE], PURE, WORDS)
    conclude("postprocessing", [PURE], statement("PureDP", epsilon=2), WORDS)
    conclude("postprocessing", [renyi({2: 1, 3: 2})], renyi({3: 2}), WORDS)
    refuse("conclusion.epsilon", "postprocessing", [PURE], statement("PureDP", epsilon=1 - NINE), WORDS)
    refuse("conclusion.kind", "postprocessing", [PURE], statement("ApproxDP", epsilon=1, delta=0), WORDS)
    refuse("conclusion.neighbors", "postprocessing", [PURE], statement("PureDP", REPLACE, epsilon=1), WORDS)
    refuse("parameters", "postprocessing", [PURE], PURE)
    refuse("parameters.description", "postprocessing", [PURE], PURE, {"description": 1})


def test_weakening_numbers_and_kinds() -> None:
    conclude("weaken", [PURE], statement("ApproxDP", epsilon=1, delta=0))
    conclude("weaken", [statement("ZCDP", rho=1)], statement("ApproxZCDP", rho=1, delta="1/2"))
    conclude("weaken", [renyi({2: 1, 3: 2})], renyi({2: 1}))
    refuse("conclusion.kind", "weaken", [statement("ApproxDP", epsilon=1, delta=0)], PURE)
    refuse("conclusion.kind", "weaken", [PURE], statement("ZCDP", rho=1))
    refuse("conclusion.bounds[1][0]", "weaken", [renyi({2: 1, 3: 2})], renyi({2: 1, "2.5": 2}))
    refuse("conclusion.epsilon", "weaken", [PURE], statement("ApproxDP", epsilon=1 - NINE, delta=1))
    approx = statement("ApproxDP", epsilon=1, delta="1/10")
    refuse("conclusion.delta", "weaken", [approx], statement("ApproxDP", epsilon=2, delta=Fraction(1, 10) - NINE))


@pytest.mark.parametrize(
    ("given_changes", "mine_changes", "field"),
    [
        ({"size": 5}, {"size": 2}, ""),
        ({"size": 2}, {"size": 3}, ".size"),
        ({}, {"max_rows": 2}, ""),
        ({}, {"max_rows": 4}, ".max_rows"),
        ({}, {"max_rows": None}, ".max_rows"),
        ({"max_rows": None}, {"max_rows": 7}, ""),
        ({}, {"unit": "visit"}, "!"),
        ({}, {"change": "replace"}, "!"),
        ({}, {"unit": None, "max_rows": None}, "!"),
    ],
)
def test_weakening_neighbours(given_changes: Plain, mine_changes: Plain, field: str) -> None:
    premise = statement("PureDP", {**PERSON, **given_changes}, epsilon=1)
    conclusion = statement("PureDP", {**PERSON, **mine_changes}, epsilon=1)
    if field:
        refuse("conclusion.neighbors" + field.strip("!"), "weaken", [premise], conclusion)
    else:
        conclude("weaken", [premise], conclusion)


THREE = {**ROW, "size": 3}


@pytest.mark.parametrize(
    ("kind", "name", "factor"), [("PureDP", "epsilon", 3), ("ZCDP", "rho", 9), ("GaussianDP", "mu", 3)]
)
def test_groups_exactly(kind: str, name: str, factor: int) -> None:
    premise = statement(kind, ROW, **{name: Fraction(1, 7)})
    size = {"size": 3}
    conclude("group", [premise], statement(kind, THREE, **{name: Fraction(factor, 7)}), size)
    too_small = Fraction(factor, 7) - Fraction(1, 10**60)
    refuse(f"conclusion.{name}", "group", [premise], statement(kind, THREE, **{name: too_small}), size)


@given(st.fractions(Fraction(1, 10**12), 3, max_denominator=10**15), st.integers(2, 8), st.integers(1, 300))
def test_group_delta(epsilon: Fraction, size: int, power: int) -> None:
    delta = Fraction(1, 10**6 * 10**power)
    neighbors = {**ROW, "size": size}
    bound = mpf(delta) * mpmath.fsum(mpmath.exp(i * mpf(epsilon)) for i in range(size))
    if bound >= 1:
        return
    premise = statement("ApproxDP", epsilon=epsilon, delta=delta)
    conclude(
        "group", [premise], statement("ApproxDP", neighbors, epsilon=epsilon * size, delta=up(bound)), {"size": size}
    )
    lower = statement("ApproxDP", neighbors, epsilon=epsilon * size, delta=down(bound))
    refuse("conclusion.delta", "group", [premise], lower, {"size": size})


def test_group_delta_without_its_factor_is_refused() -> None:
    premise = statement("ApproxDP", epsilon=1, delta="1e-6")
    for delta in ("1e-6", "3e-6", "11e-6"):
        refuse(
            "conclusion.delta", "group", [premise], statement("ApproxDP", THREE, epsilon=3, delta=delta), {"size": 3}
        )
    conclude("group", [premise], statement("ApproxDP", THREE, epsilon=3, delta="11.2e-6"), {"size": 3})


def test_group_delta_where_it_is_rational() -> None:
    size = {"size": 3}
    zero = statement("ApproxDP", epsilon=0, delta="1/7")
    conclude("group", [zero], statement("ApproxDP", THREE, epsilon=0, delta="3/7"), size)
    refuse(
        "conclusion.delta", "group", [zero], statement("ApproxDP", THREE, epsilon=0, delta=Fraction(3, 7) - NINE), size
    )
    conclude(
        "group",
        [statement("ApproxDP", epsilon=10**8, delta=0)],
        statement("ApproxDP", THREE, epsilon=3 * 10**8, delta=0),
        size,
    )
    conclude(
        "group",
        [statement("ApproxDP", epsilon=9, delta="1/7")],
        statement("ApproxDP", epsilon=9, delta="1/7"),
        {"size": 1},
    )
    conclude(
        "group",
        [statement("ApproxDP", epsilon=9, delta="1/7")],
        statement("ApproxDP", THREE, epsilon=27, delta=1),
        size,
    )
    far = statement("ApproxDP", THREE, epsilon=10_002, delta="1/2")
    assert "10,000" in refuse(
        "conclusion.delta", "group", [statement("ApproxDP", epsilon=3334, delta="1e-9")], far, size
    )


def test_a_billion_in_a_group() -> None:
    billion = {**ROW, "size": 10**9}
    premise = statement("ApproxDP", epsilon="1e-9", delta="1e-12")
    conclude("group", [premise], statement("ApproxDP", billion, epsilon=1, delta="0.0017183"), {"size": 10**9})
    refuse(
        "conclusion.delta",
        "group",
        [premise],
        statement("ApproxDP", billion, epsilon=1, delta="0.0017182"),
        {"size": 10**9},
    )


def test_groups_of_other_kinds_and_sizes() -> None:
    refuse("premises[0]", "group", [renyi({2: 1})], renyi({2: 9}, THREE), {"size": 3})
    refuse(
        "premises[0]",
        "group",
        [statement("ApproxZCDP", rho=1, delta=0)],
        statement("ApproxZCDP", THREE, rho=9, delta=0),
        {"size": 3},
    )
    refuse("conclusion.kind", "group", [PURE], statement("ApproxDP", THREE, epsilon=3, delta=0), {"size": 3})
    refuse("conclusion.neighbors", "group", [PURE], statement("PureDP", ROW, epsilon=3), {"size": 3})
    refuse("conclusion.neighbors", "group", [PURE], statement("PureDP", {**ROW, "size": 4}, epsilon=30), {"size": 3})
    refuse("parameters.size", "group", [PURE], statement("PureDP", ROW, epsilon=3), {"size": 0})
    conclude(
        "group",
        [statement("PureDP", {**PERSON, "size": 2}, epsilon=1)],
        statement("PureDP", {**PERSON, "size": 6}, epsilon=3),
        {"size": 3},
    )


def test_bounded_unit() -> None:
    premise = statement("ApproxDP", THREE, epsilon=1, delta="1e-6")
    conclude("bounded_unit", [premise], statement("ApproxDP", PERSON, epsilon=1, delta="1e-6"))
    refuse(
        "conclusion.epsilon", "bounded_unit", [premise], statement("ApproxDP", PERSON, epsilon=1 - NINE, delta="1e-6")
    )
    refuse("conclusion.delta", "bounded_unit", [premise], statement("ApproxDP", PERSON, epsilon=1, delta="0.9e-6"))
    refuse("conclusion.kind", "bounded_unit", [premise], statement("PureDP", PERSON, epsilon=1))
    for changes in ({"max_rows": 4}, {"max_rows": 2}, {"max_rows": None}, {"size": 2}, {"change": "replace"}):
        wrong = statement("ApproxDP", {**PERSON, **changes}, epsilon=1, delta="1e-6")
        refuse("conclusion.neighbors", "bounded_unit", [premise], wrong)
    refuse(
        "conclusion.neighbors.unit", "bounded_unit", [premise], statement("ApproxDP", THREE, epsilon=1, delta="1e-6")
    )
    other = statement("PureDP", {**THREE, "change": "replace"}, epsilon=1)
    refuse("premises[0]", "bounded_unit", [other], statement("PureDP", PERSON, epsilon=1))
    refuse(
        "premises[0]", "bounded_unit", [statement("PureDP", PERSON, epsilon=1)], statement("PureDP", PERSON, epsilon=1)
    )


@pytest.mark.parametrize(
    ("kind", "name", "factor"), [("PureDP", "epsilon", 2), ("ZCDP", "rho", 4), ("GaussianDP", "mu", 2)]
)
def test_add_remove_to_replace_exactly(kind: str, name: str, factor: int) -> None:
    premise = statement(kind, ROW, **{name: Fraction(1, 7)})
    conclude("add_remove_to_replace", [premise], statement(kind, REPLACE, **{name: Fraction(factor, 7)}))
    too_small = Fraction(factor, 7) - Fraction(1, 10**60)
    refuse(f"conclusion.{name}", "add_remove_to_replace", [premise], statement(kind, REPLACE, **{name: too_small}))


@given(st.fractions(Fraction(1, 10**12), 3, max_denominator=10**15), st.integers(1, 300))
def test_add_remove_to_replace_delta(epsilon: Fraction, power: int) -> None:
    delta = Fraction(1, 10**3 * 10**power)
    bound = mpf(delta) * (1 + mpmath.exp(mpf(epsilon)))
    premise = statement("ApproxDP", epsilon=epsilon, delta=delta)
    conclude("add_remove_to_replace", [premise], statement("ApproxDP", REPLACE, epsilon=2 * epsilon, delta=up(bound)))
    lower = statement("ApproxDP", REPLACE, epsilon=2 * epsilon, delta=down(bound))
    refuse("conclusion.delta", "add_remove_to_replace", [premise], lower)


def test_replace_does_not_give_add_remove() -> None:
    premise = statement("PureDP", REPLACE, epsilon=0)
    extras: dict[str, Plain] = {"postprocessing": WORDS, "sequential": {"counts": [1]}, "group": {"size": 1}}
    for rule in ("add_remove_to_replace", "weaken", "postprocessing", "sequential", "group", "bounded_unit"):
        extra = extras.get(rule)
        field = "premises[0]" if rule in {"add_remove_to_replace", "bounded_unit"} else "conclusion.neighbors"
        refuse(field, rule, [premise], statement("PureDP", ROW, epsilon=10), extra)


def test_add_remove_to_replace_keeps_the_rest() -> None:
    premise = statement("PureDP", PERSON, epsilon=1)
    conclude("add_remove_to_replace", [premise], statement("PureDP", {**PERSON, "change": "replace"}, epsilon=2))
    refuse("conclusion.neighbors", "add_remove_to_replace", [premise], statement("PureDP", REPLACE, epsilon=2))
    refuse("conclusion.neighbors", "add_remove_to_replace", [premise], statement("PureDP", PERSON, epsilon=2))
    refuse("premises[0]", "add_remove_to_replace", [renyi({2: 1})], renyi({2: 4}, REPLACE))
