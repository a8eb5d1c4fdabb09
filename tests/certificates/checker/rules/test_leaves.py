from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker import Invalid
from tests.certificates.checker.building import (
    PERSON,
    REPLACE,
    ROW,
    Plain,
    assume,
    conclude,
    down,
    mpf,
    node,
    plain_certificate,
    refuse,
    run,
    seal,
    statement,
    up,
)

Law = dict[str, Fraction]


def table(laws: dict[tuple[str, ...], Law], records: str = "ab", sizes: tuple[int, ...] = (1,)) -> Plain:
    rows = [
        {"input": list(place), "law": [[outcome, str(p)] for outcome, p in law.items()]} for place, law in laws.items()
    ]
    return {"records": list(records), "sizes": list(sizes), "table": rows}


def accept(parameters: Plain, conclusion: Plain) -> None:
    conclude("finite_table", [], conclusion, parameters)


def reject(field: str, parameters: Plain, conclusion: Plain) -> str:
    return refuse(field, "finite_table", [], conclusion, parameters)


def responses(number: int, truth: Fraction, other: Fraction) -> Plain:
    """K-ary randomized response."""
    records = "abcdefgh"[:number]
    return table(
        {(record,): {answer: truth if answer == record else other for answer in records} for record in records}, records
    )


TERNARY = responses(3, Fraction(3, 5), Fraction(1, 5))


def test_randomized_response() -> None:
    accept(TERNARY, statement("PureDP", REPLACE, epsilon=up(mpmath.log(3))))
    assert "too small" in reject(
        "conclusion.epsilon", TERNARY, statement("PureDP", REPLACE, epsilon=down(mpmath.log(3)))
    )


def test_lies_over_all_answers_are_not_what_they_claim() -> None:
    """Seed 003's K-ary randomized response, for epsilon = ln 3 and K = 2: truth 3/4 + 1/8, other 1/8."""
    false = responses(2, Fraction(7, 8), Fraction(1, 8))
    reject("conclusion.epsilon", false, statement("PureDP", REPLACE, epsilon=up(mpmath.log(3))))
    accept(false, statement("PureDP", REPLACE, epsilon=up(mpmath.log(7))))


def test_delta_of_a_table() -> None:
    """P - e^epsilon Q for the true answer only: 3/5 - 2/5 = 1/5 at epsilon = ln 2, a little less above it."""
    epsilon = up(mpmath.log(2))
    accept(TERNARY, statement("ApproxDP", REPLACE, epsilon=epsilon, delta=Fraction(1, 5)))
    reject(
        "conclusion.delta",
        TERNARY,
        statement("ApproxDP", REPLACE, epsilon=epsilon, delta=Fraction(1, 5) - Fraction(1, 10**9)),
    )
    reject(
        "conclusion.delta", TERNARY, statement("ApproxDP", REPLACE, epsilon=down(mpmath.log(2)), delta=Fraction(1, 5))
    )


@pytest.mark.parametrize("epsilon", [0, 1, 5])
def test_rational_deltas_are_exact(epsilon: int) -> None:
    """Naming one of three records: (epsilon, 1/3) whatever epsilon is, exactly."""
    third = Fraction(1, 3)
    laws = {place: {f"{i}{place[i]}": third for i in range(3)} for place in product("ab", repeat=3)}
    parameters = table(laws, sizes=(3,))
    accept(parameters, statement("ApproxDP", REPLACE, epsilon=epsilon, delta=third))
    smaller = statement("ApproxDP", REPLACE, epsilon=epsilon, delta=third - Fraction(1, 10**40))
    reject("conclusion.delta", parameters, smaller)
    reject("conclusion.epsilon", parameters, statement("PureDP", REPLACE, epsilon=10))


def test_statistical_distance_is_exact() -> None:
    parameters = responses(2, Fraction(2, 3), Fraction(1, 3))
    accept(parameters, statement("ApproxDP", REPLACE, epsilon=0, delta=Fraction(1, 3)))
    reject(
        "conclusion.delta",
        parameters,
        statement("ApproxDP", REPLACE, epsilon=0, delta=Fraction(10**30 - 1, 3 * 10**30)),
    )
    constant = table({("a",): {"x": Fraction(1)}, ("b",): {"x": Fraction(1)}})
    accept(constant, statement("PureDP", REPLACE, epsilon=0))


def presence(sizes: tuple[int, ...], step: Fraction) -> Plain:
    """Whose answer is more often "many" the more rows there are."""
    laws = {}
    for size in sizes:
        for place in product("ab", repeat=size):
            many = Fraction(1, 4) + step * size
            laws[place] = {"many": many, "few": 1 - many}
    return table(laws, sizes=sizes)


def test_adding_and_removing() -> None:
    parameters = presence((0, 1, 2), Fraction(1, 4))
    worst = mpmath.log(2)
    accept(parameters, statement("PureDP", ROW, epsilon=up(worst)))
    reject("conclusion.epsilon", parameters, statement("PureDP", ROW, epsilon=down(worst)))
    accept(parameters, statement("PureDP", REPLACE, epsilon=0))
    reject("parameters.sizes", presence((1, 2), Fraction(1, 4)), statement("PureDP", ROW, epsilon=5))
    reject("parameters.sizes", presence((0, 2), Fraction(1, 4)), statement("PureDP", ROW, epsilon=5))


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=7, max_size=7), st.integers(0, 2))
def test_against_brute_force(weights: list[list[int]], epsilon: int) -> None:
    places = [place for size in (0, 1, 2) for place in product("ab", repeat=size)]
    laws: dict[tuple[str, ...], Law] = {}
    for place, row in zip(places, weights, strict=True):
        total = sum(row) or 1
        found = {str(i): Fraction(weight, total) for i, weight in enumerate(row) if weight}
        laws[place] = found or {"0": Fraction(1)}
    worst = mpmath.mpf(0)
    for first, second in product(places, repeat=2):
        removed = any(first[:i] + first[i + 1 :] == second for i in range(len(first)))
        added = any(second[:i] + second[i + 1 :] == first for i in range(len(second)))
        if removed or added:
            p, q = laws[first], laws[second]
            worst = max(worst, sum(max(0, mpf(p[o]) - mpmath.exp(epsilon) * mpf(q.get(o, Fraction(0)))) for o in p))
    parameters = table(laws, sizes=(0, 1, 2))
    accept(
        parameters, statement("ApproxDP", ROW, epsilon=epsilon, delta=min(Fraction(1), up(worst) + Fraction(1, 10**12)))
    )
    if worst > 1e-6:
        reject("conclusion.delta", parameters, statement("ApproxDP", ROW, epsilon=epsilon, delta=down(worst)))


HALF = Fraction(1, 2)
FAIR: Law = {"x": HALF, "y": HALF}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"records": []}, "parameters.records"),
        ({"records": ["a", "a"]}, "parameters.records"),
        ({"records": ["a", 1]}, "parameters.records[1]"),
        ({"records": ["a", "b", "c"]}, "parameters.table"),
        ({"records": ["a", "c"]}, "parameters.table"),
        ({"sizes": []}, "parameters.sizes"),
        ({"sizes": [2, 1]}, "parameters.sizes"),
        ({"sizes": [1, 1]}, "parameters.sizes"),
        ({"sizes": [1, True]}, "parameters.sizes[1]"),
        ({"sizes": [1, 2]}, "parameters.table"),
        ({"sizes": [1, 10**9]}, "parameters.table"),
        ({"sizes": [2]}, "parameters.table"),
        ({"table": {}}, "parameters.table"),
        ({"table": []}, "parameters.table"),
        ({"table": [3]}, "parameters.table[0]"),
        ({"table": [{"input": ["a"], "law": [], "extra": 1}]}, "parameters.table[0]"),
        ({"table": [{"input": "a", "law": []}]}, "parameters.table[0].input"),
        ({"table": [{"input": ["a"], "law": [["x"]]}]}, "parameters.table[0].law[0]"),
        ({"table": [{"input": ["a"], "law": [["x", "0"]]}]}, "parameters.table[0].law[0][1]"),
        ({"table": [{"input": ["a"], "law": [["x", "-1"]]}]}, "parameters.table[0].law[0][1]"),
        ({"table": [{"input": ["a"], "law": [[1, "1"]]}]}, "parameters.table[0].law[0][0]"),
        ({"table": [{"input": ["a"], "law": [["x", "1/2"], ["x", "1/2"]]}]}, "parameters.table[0].law"),
        ({"table": [{"input": ["a"], "law": [["x", "1"]]}] * 2}, "parameters.table[1].input"),
        ({"table": [{"input": ["a"], "law": [["x", "1"]]}]}, "parameters.table"),
        ({"table": [{"input": ["a"], "law": [["x", "1"]]}] * 4097}, "parameters.table"),
    ],
)
def test_wrong_tables(changes: Plain, field: str) -> None:
    parameters = {**table({("a",): FAIR, ("b",): FAIR}), **changes}
    reject(field, parameters, statement("PureDP", REPLACE, epsilon=1))


@pytest.mark.parametrize("other", [Fraction(1, 3), Fraction(2, 3)])
def test_laws_sum_to_one(other: Fraction) -> None:
    parameters = table({("a",): FAIR, ("b",): {"x": HALF, "y": other}})
    reject("parameters.table[1].law", parameters, statement("PureDP", REPLACE, epsilon=5))


def test_tables_speak_of_one_row_and_two_kinds() -> None:
    parameters = table({("a",): FAIR, ("b",): FAIR})
    reject("conclusion.neighbors", parameters, statement("PureDP", {**REPLACE, "size": 2}, epsilon=1))
    reject("conclusion.neighbors", parameters, statement("PureDP", {**PERSON, "change": "replace"}, epsilon=1))
    reject("conclusion.kind", parameters, statement("ZCDP", REPLACE, rho=1))
    reject("conclusion.epsilon", parameters, statement("PureDP", REPLACE, epsilon=10_001))


def test_tables_have_limits() -> None:
    laws = {place: {str(i): Fraction(1, 64) for i in range(64)} for place in product("ab", repeat=12)}
    assert "10^6" in reject("parameters.table", table(laws, sizes=(12,)), statement("PureDP", REPLACE, epsilon=1))
    strange = {f"{i}": Fraction(1, 2**4000 + 2 * i + 1) for i in range(30)}
    rest: dict[tuple[str, ...], Law] = {("a",): strange, ("b",): strange}
    assert "denominator" in reject("parameters.table", table(rest), statement("PureDP", REPLACE, epsilon=1))


def test_one_record_can_have_many_sizes() -> None:
    laws = {("a",) * size: FAIR for size in range(300)}
    accept(table(laws, records="a", sizes=tuple(range(300))), statement("PureDP", ROW, epsilon=0))


def test_assumptions_need_words() -> None:
    claim = statement("PureDP", epsilon=1)
    run(assume(claim))
    refuse("parameters.statement", "assumption", [], claim, {"statement": "", "reference": ""})
    refuse("parameters", "assumption", [], claim, {"statement": "x"})
    refuse("parameters.reference", "assumption", [], claim, {"statement": "x", "reference": None})


def test_assumptions_need_leave() -> None:
    from privately.certificates.checker import check

    data = seal(
        plain_certificate(assume(statement("PureDP", epsilon=1)), node("weaken", [0], statement("PureDP", epsilon=1)))
    )
    with pytest.raises(Invalid, match=r"nodes\[0\]\.rule: is an assumption"):
        check(data)
