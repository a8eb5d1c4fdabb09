from typing import Any

import pytest

from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.statements import read_statement, require, require_delta, require_weaker
from tests.certificates.checker.building import PERSON, REPLACE, ROW, Plain, rational, renyi, statement


def wrong(value: object) -> str:
    with pytest.raises(Invalid) as caught:
        read_statement(value)
    return caught.value.field


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        (statement("PureDP", epsilon="0.5"), "0.5-DP, adding or removing one row"),
        (statement("ApproxDP", REPLACE, epsilon="0.5", delta="1e-6"), "(0.5, 1e-6)-DP, replacing one row"),
        (statement("ZCDP", {**ROW, "size": 3}, rho=1), "1-zCDP, adding or removing up to 3 rows"),
        (
            statement("ApproxZCDP", PERSON, rho=1, delta="1/2"),
            "0.5-approximate 1-zCDP, adding or removing all rows of one 'person' (at most 3 rows each)",
        ),
        (
            statement("GaussianDP", {**PERSON, "size": 2, "max_rows": None}, mu=1),
            "1-Gaussian DP, adding or removing all rows of up to 2 'person' (any number of rows each)",
        ),
        (renyi({2: 1, 3: 2}), "Renyi DP with bounds at 2 orders, adding or removing one row"),
    ],
)
def test_statements_are_read_said_and_written(plain: Plain, text: str) -> None:
    found = read_statement(plain)
    assert found.text() == text
    assert found.plain() == plain


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("kind", "DP", "conclusion.kind"),
        ("kind", None, "conclusion.kind"),
        ("kind", ["ApproxDP"], "conclusion.kind"),
        ("kind", "PureDP", "conclusion"),
        ("kind", "ApproxZCDP", "conclusion"),
        ("extra", 1, "conclusion"),
        ("epsilon", "-1", "conclusion.epsilon"),
        ("epsilon", "1000000001", "conclusion.epsilon"),
        ("epsilon", 1, "conclusion.epsilon"),
        ("delta", "1000001/1000000", "conclusion.delta"),
        ("delta", "-1/2", "conclusion.delta"),
        ("neighbors", None, "conclusion.neighbors"),
        ("neighbors", {**ROW, "extra": 1}, "conclusion.neighbors"),
        ("neighbors", {**ROW, "change": "remove"}, "conclusion.neighbors.change"),
        ("neighbors", {**ROW, "change": ["replace"]}, "conclusion.neighbors.change"),
        ("neighbors", {**ROW, "size": 0}, "conclusion.neighbors.size"),
        ("neighbors", {**ROW, "size": True}, "conclusion.neighbors.size"),
        ("neighbors", {**ROW, "size": 10**9 + 1}, "conclusion.neighbors.size"),
        ("neighbors", {**ROW, "max_rows": 1}, "conclusion.neighbors.max_rows"),
        ("neighbors", {**PERSON, "max_rows": 0}, "conclusion.neighbors.max_rows"),
        ("neighbors", {**PERSON, "max_rows": True}, "conclusion.neighbors.max_rows"),
        ("neighbors", {**PERSON, "unit": 5}, "conclusion.neighbors.unit"),
        ("neighbors", {**PERSON, "unit": "a" * 20_001}, "conclusion.neighbors.unit"),
    ],
)
def test_wrong_members(name: str, value: object, field: str) -> None:
    assert wrong({**statement("ApproxDP", epsilon=1, delta=0), name: value}) == field


@pytest.mark.parametrize("name", ["kind", "epsilon", "delta", "neighbors"])
def test_missing_members(name: str) -> None:
    plain = statement("ApproxDP", epsilon=1, delta=0)
    del plain[name]
    assert wrong(plain) in {"conclusion", "conclusion.kind"}


@pytest.mark.parametrize("value", [None, [], "PureDP", 3])
def test_no_object(value: object) -> None:
    assert wrong(value) == "conclusion"


@pytest.mark.parametrize(
    ("bounds", "field"),
    [
        ([], ""),
        ("2", ""),
        ([["2"]], "[0]"),
        ([["2", "1", "1"]], "[0]"),
        ([["1", "1"]], "[0][0]"),
        ([["2", "1"], ["2", "1"]], "[1][0]"),
        ([["3", "1"], ["2", "1"]], "[1][0]"),
        ([["2", "-1"]], "[0][1]"),
        ([["1000000001", "1"]], "[0][0]"),
        ([["2", "1000000001"]], "[0][1]"),
        ([[str(2 + i), "1"] for i in range(1001)], ""),
    ],
)
def test_wrong_bounds(bounds: Any, field: str) -> None:
    assert wrong({**renyi({2: 1}), "bounds": bounds}) == f"conclusion.bounds{field}"


def test_require() -> None:
    require("x", rational("1/2"), rational("1/2"))
    with pytest.raises(Invalid, match=r"x: claims 0\.5, but the rule gives 0\.6"):
        require("x", rational("0.5"), rational("0.6"))
    require_delta(rational(1), rational(7))
    with pytest.raises(Invalid):
        require_delta(rational("0.999"), rational(7))


def test_weaker() -> None:
    given = read_statement(renyi({2: 1, 3: 2, 4: 3}))
    require_weaker(read_statement(renyi({2: 1, 4: 4})), given)
    with pytest.raises(Invalid, match=r"bounds\[1\]\[1\]"):
        require_weaker(read_statement(renyi({2: 1, 4: "2.9"})), given)
    with pytest.raises(Invalid, match="not listed"):
        require_weaker(read_statement(renyi({"2.5": 9})), given)
    pure = read_statement(statement("PureDP", epsilon=1))
    require_weaker(read_statement(statement("ApproxDP", epsilon=1, delta=0)), pure)
    with pytest.raises(Invalid, match="epsilon"):
        require_weaker(read_statement(statement("ApproxDP", epsilon="0.99", delta=1)), pure)
