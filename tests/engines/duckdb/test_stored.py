"""What is read of a column, before and after preparing."""

from privately.engines.duckdb.stored import Stored
from privately.plans import Unit
from tests.engines.duckdb.visits import visits

FOUND = ("VARCHAR", "VARCHAR", "DOUBLE", "INTEGER")


def test_as_found() -> None:
    stored = Stored(table=visits(Unit(column="who")), relation="t", names=("who", "ward", "Cost", "age"), found=FOUND)
    assert stored.value(0) == 'left(CAST("who" AS VARCHAR), 20)'
    assert stored.value(0, "g0") != stored.value(0)
    assert stored.raw(1) == '"ward"'
    assert stored.raw(2) is None
    assert stored.unit == '"who"', "neither cut nor clamped"
    assert stored.step(2) is None
    assert stored.word(1) is None


def test_as_prepared() -> None:
    stored = Stored(
        table=visits(Unit(column="who")),
        relation="p",
        names=("v0", "v1", "v2", "v3"),
        found=("VARCHAR", "ENUM('a')", "DOUBLE", "INTEGER"),
        unit_name="u",
        steps=(None, None, "s2", "v3"),
        as_declared=True,
        words=(None, "e1", None, None),
    )
    assert stored.value(1) == 'CAST("v1" AS VARCHAR)'
    assert stored.value(2) == '"v2"'
    assert stored.value(3) == 'CAST("v3" AS BIGINT)', "or sums of two would overflow"
    assert stored.unit == '"u"'
    assert stored.step(2) == '"s2"'
    assert stored.word(1) == "e1"


def test_without_people() -> None:
    assert Stored(table=visits(), relation="t", names=("a", "b", "c", "d"), found=FOUND).unit is None
