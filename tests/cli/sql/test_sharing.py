"""Keys that are typed once go to the questions that group by them, and to no other."""

import json
from typing import Any

import pytest

from privately.cli.sql.sharing import shared
from privately.errors import InvalidParameter
from privately.ledger import Ledger
from privately.plans import Column, Table, Unit
from privately.query.public_tables import PublicTable
from tests.cli.sql.visits import WARDS, Run, run

__all__ = ["run"]

TABLE = Table(
    name="visits",
    columns=(
        Column(name="ward", type="text", categories=("A", "B")),
        Column(name="age", type="integer", bounds=(0, 120)),
    ),
    unit=Unit(),
)
AGES = "SELECT age AS years, COUNT(*) AS n FROM visits GROUP BY 1"
BOTH = "SELECT ward, age, COUNT(*) AS n FROM visits GROUP BY ward, age"
ALL = "SELECT COUNT(*) AS n FROM visits"
BUDGET = ("--ledger", "visits.ledger", "--budget-epsilon", "3")


def told(keys: Any, *texts: str) -> list[Any]:
    found = shared(texts, {"epsilon": "1", "keys": keys}, TABLE)
    assert [(text, own["epsilon"]) for text, own in found] == [(text, "1") for text in texts]
    return [own["keys"] for _, own in found]


def test_each_question_has_its_own_keys() -> None:
    wards, ages = ["A"], [20, 40]
    assert told({"ward": wards, "age": ages}, WARDS, BOTH, ALL, AGES) == [
        {"ward": wards},
        {"ward": wards, "age": ages},
        None,
        {"age": ages},
    ]
    assert told({"Years": ages}, WARDS, AGES) == [None, {"Years": ages}], "by the name in the answer"
    assert told(None, WARDS, AGES) == [None, None]
    assert told({"ward": wards}, ALL) == [{"ward": wards}], "of one question it is refused with the reason"


def test_a_public_table_goes_to_those_that_group_by_it() -> None:
    table = PublicTable(columns=("age",), rows=((20,), (40,)))
    assert told(table, WARDS, AGES, ALL, BOTH) == [None, table, None, table]


def test_keys_that_nobody_groups_by() -> None:
    for keys in ({"ward": ["A"], "aeg": [1]}, PublicTable(columns=("ward", "aeg"), rows=(("A", 1),))):
        with pytest.raises(InvalidParameter, match="none of these questions is grouped by aeg"):
            told(keys, WARDS, AGES)


def test_what_cannot_be_read_is_refused_in_its_place(run: Run) -> None:
    done = run("sql", "visits.csv", WARDS, "SELECT ward FROM visits", "--keys", "ward=A", "--epsilon", "1", *BUDGET)
    assert done.status == 2
    assert "aggregates" in done.err
    with Ledger.inspect("visits.ledger") as book:
        assert [one.entries for one in book.budgets()] == [0]


def test_several_questions_with_keys_on_the_command_line(run: Run) -> None:
    words = (WARDS, AGES, "--keys", "ward=B", "--keys", "age=20,40", "--epsilon", "1")
    explained = run("explain", "visits.csv", *words, "--json")
    assert explained.status == 0, explained.err
    done = run("sql", "visits.csv", *words, *BUDGET, "--json")
    assert done.status == 0, done.err
    wards, ages = json.loads(done.out)["answers"]
    assert [row[0] for row in wards["rows"]] == ["B"]
    assert [row[0] for row in ages["rows"]] == [20, 40]
    refused = run("sql", "visits.csv", WARDS, AGES, "--keys", "month=1", "--epsilon", "1", *BUDGET)
    assert refused.error == "--keys: none of these questions is grouped by month."
