"""Versions, copies and overlapping tables share the budget of their people."""

from pathlib import Path

import pytest

from privately.errors import InvalidParameter
from privately.ledger import Ledger, OwnerKey
from tests.ledger.examples import founded

KEY = OwnerKey(bytes(range(32)))
PEOPLE = [f"person {at}" for at in range(1_000)]
OTHERS = [f"other {at}" for at in range(1_000)]


@pytest.fixture
def ledger() -> Ledger:
    made = founded()
    made.register("2024", lineage="visits", units=PEOPLE, key=KEY)
    return made


def test_a_copy_needs_no_lineage(ledger: Ledger) -> None:
    found = ledger.register("copy", units=reversed(PEOPLE), key=KEY)
    assert (found.lineages, found.like, found.warning) == (("visits",), ("2024",), "")


def test_an_unknown_table_needs_one(ledger: Ledger) -> None:
    before = ledger.head
    for units in (OTHERS, None):
        with pytest.raises(InvalidParameter, match="lineage: table new is not known here"):
            ledger.register("new", units=units, key=None if units is None else KEY)
    assert ledger.head == before
    assert ledger.register("new", lineage="claims", units=OTHERS, key=KEY).lineages == ("claims",)


def test_a_table_with_people_of_another_is_charged_to_both(ledger: Ledger) -> None:
    found = ledger.register("joined", lineage="claims", units=PEOPLE[:500] + OTHERS, key=KEY)
    assert found.lineages == ("claims", "visits")
    assert (found.inherited, found.like) == (("visits",), ("2024",))
    assert found.warning == "table joined holds people of 2024: it is charged to visits too."


def test_lineages_are_inherited_along_a_line_of_versions(ledger: Ledger) -> None:
    ledger.register("joined", lineage="claims", units=PEOPLE[:500] + OTHERS, key=KEY)
    found = ledger.register("later", lineage="claims", units=OTHERS + [f"new {at}" for at in range(200)], key=KEY)
    assert found.lineages == ("claims", "visits")


def test_a_table_never_loses_a_lineage(ledger: Ledger) -> None:
    assert ledger.register("2024", lineage="claims", units=OTHERS, key=KEY).lineages == ("claims", "visits")
    assert ledger.register("2024").lineages == ("claims", "visits")
    assert ledger.tables() == {"2024": ("claims", "visits")}


def test_the_same_again_writes_nothing(ledger: Ledger) -> None:
    before = ledger.head
    for _ in range(2):
        ledger.register("2024", lineage="visits", units=PEOPLE, key=KEY)
        ledger.register("2024")
    assert ledger.head == before
    ledger.register("2024", units=PEOPLE[:100], key=KEY)
    assert ledger.head.number == before.number + 1


def test_a_sketch_is_kept_when_none_is_given(ledger: Ledger) -> None:
    ledger.register("2024", lineage="claims")
    assert ledger.register("copy", units=PEOPLE, key=KEY).like == ("2024",)


def test_under_another_key_nobody_would_be_recognised(ledger: Ledger) -> None:
    with pytest.raises(InvalidParameter, match="not the one that this ledger knows"):
        ledger.register("copy", lineage="fresh", units=PEOPLE, key=OwnerKey(bytes(32)))


def test_earlier_versions_are_still_recognised(ledger: Ledger) -> None:
    known = next(iter(ledger.tables()))
    ledger.register(known, units=[f"somebody else {at}" for at in range(2_000)], key=KEY)
    assert ledger.register("copy", lineage="fresh", units=PEOPLE, key=KEY).inherited


def test_wrong_input(ledger: Ledger) -> None:
    before = ledger.head
    for wrong in ({"units": PEOPLE}, {"key": KEY}):
        with pytest.raises(InvalidParameter, match="give both, or none"):
            ledger.register("x", lineage="visits", **wrong)
    for name in ("a/b", "", "\x1b", "\ud800"):
        with pytest.raises(InvalidParameter):
            ledger.register(name, lineage="visits")
        with pytest.raises(InvalidParameter):
            ledger.register("x", lineage=name or [""])
        with pytest.raises(InvalidParameter):
            ledger.register("x", lineage="visits", by=name)
    assert ledger.head == before


def test_several_lineages(ledger: Ledger) -> None:
    assert ledger.register("both", lineage=["b", "a", "b"]).lineages == ("a", "b")


def test_it_is_remembered(tmp_path: Path) -> None:
    with founded(tmp_path / "a.ledger") as first:
        first.register("2024", lineage="visits", units=PEOPLE, key=KEY)
    with Ledger.open(tmp_path / "a.ledger") as second:
        assert second.register("copy", units=PEOPLE, key=KEY).lineages == ("visits",)
        assert second.verify().records == 4
