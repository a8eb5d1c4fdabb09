"""What was typed becomes budgets, keys and questions, or a complaint that names the option."""

import io
import sys
from datetime import date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from privately.cli.sql.options import Granted
from privately.cli.sql.tables import (
    LONGEST,
    NoData,
    Opened,
    budget_names,
    budget_of,
    cap_of,
    kept,
    keys_of,
    needed_ledger,
    questions_of,
)
from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP
from privately.ledger import Ledger
from privately.plans import Column, Table, Unit
from privately.query.public_tables import PublicTable

TABLE = Table(
    name="visits",
    unit=Unit(),
    columns=tuple(Column(name=kind, type=kind) for kind in ("integer", "real", "text", "boolean", "date", "timestamp")),
)


def _granted(**typed: str) -> Granted:
    return Granted(**{f"budget_{name}": value for name, value in typed.items()})


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"epsilon": "3"}, PureDP(epsilon=3)),
        ({"epsilon": "3", "delta": "1e-6"}, ApproxDP(epsilon=3, delta="1e-6")),
        ({"rho": "0.5"}, ZCDP(rho="0.5")),
        ({"mu": "1"}, GaussianDP(mu=1)),
        ({}, None),
    ],
)
def test_budgets(typed: dict[str, str], expected: object) -> None:
    assert budget_of(_granted(**typed)) == expected


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ({"epsilon": "3", "rho": "1"}, "--budget-rho"),
        ({"delta": "1e-6"}, "--budget-delta"),
        ({"epsilon": "much"}, "--budget-epsilon"),
        ({"epsilon": "1", "delta": "2"}, "--budget-delta"),
        ({"mu": "-1"}, "--budget-mu"),
    ],
)
def test_bad_budgets(typed: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        budget_of(_granted(**typed))
    assert caught.value.field == complaint


def test_a_ledger_knows_its_budget(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    assert kept(path, "visits") is None
    with Ledger.open(path) as ledger:
        ledger.account("visits", cap=ApproxDP(epsilon=1, delta="1e-6"), by=GaussianDP)
    known = kept(path, "visits")
    assert cap_of(None, known) == {"budget": ApproxDP(epsilon=1, delta="1e-6"), "by": GaussianDP}
    assert cap_of(PureDP(epsilon=1), known) == {"budget": PureDP(epsilon=1)}
    assert kept(path, "claims") is None
    with pytest.raises(InvalidParameter, match="--budget-epsilon"):
        cap_of(None, None)


def test_keys_have_the_types_of_their_columns() -> None:
    typed = ["integer=1,-2", "real=0.5", "text=1,b,", "boolean=true,False", "date=2026-01-31"]
    typed += ["timestamp=2026-01-31T10:00", "year=2025,2026", "band=old,18", "integer=7"]
    assert keys_of(typed, None, TABLE) == {
        "integer": [1, -2, 7],
        "real": [0.5],
        "text": ["1", "b", None],
        "boolean": [True, False],
        "date": [date(2026, 1, 31)],
        "timestamp": [datetime(2026, 1, 31, 10)],  # noqa: DTZ001 - timestamps of plans have no zone
        "year": [2025, 2026],
        "band": ["old", "18"],
    }
    assert keys_of(None, None, TABLE) is None


@pytest.mark.parametrize("wrong", ["ward", "=a", "integer=x", "boolean=maybe", "date=today"])
def test_bad_keys(wrong: str) -> None:
    with pytest.raises(InvalidParameter, match="--keys"):
        keys_of([wrong], None, TABLE)


def test_the_lineage_is_found_as_opening_finds_it(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    assert Opened(file=path).lineage == "visits"
    path.with_suffix(".toml").write_text('[table]\nname = "stays"\n[columns.a]\ntype = "integer"', encoding="utf-8")
    assert Opened(file=path).lineage == "stays"
    assert Opened(file=path, told={"lineage": "patients", "name": None}).lineage == "patients"
    assert Opened(file=path, told={"name": "others", "unit": None}).settings == {"name": "others"}


def test_questions_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(content: bytes) -> Any:
        return SimpleNamespace(buffer=io.BytesIO(content))

    assert questions_of(["SELECT 1"]) == ("SELECT 1",)
    monkeypatch.setattr(sys, "stdin", given(b"SELECT 2; SELECT 3;\n"))
    assert questions_of(["SELECT 1", "-"]) == ("SELECT 1", "SELECT 2", "SELECT 3")
    assert questions_of(["SELECT 'a", ""]) == ("SELECT 'a", ""), "what cannot be read is refused later"
    for wrong in (b"\xff", b" " * (LONGEST + 1)):
        monkeypatch.setattr(sys, "stdin", given(wrong))
        with pytest.raises(InvalidParameter, match="SQL"):
            questions_of(["-"])


def test_options_are_named_as_they_were_typed() -> None:
    assert budget_names(_granted())["cap"] == "--budget-epsilon"
    assert budget_names(_granted(rho="1"))["budget"] == "--budget-rho"
    assert budget_names(_granted(mu="1"))["budget"] == "--budget-mu"
    with pytest.raises(InvalidParameter, match="--ledger"):
        needed_ledger(None)


def test_what_is_only_explained_cannot_be_asked() -> None:
    engine = NoData()
    for asked in (engine.ready, lambda: engine.check("t")):
        with pytest.raises(InvalidParameter, match="not read"):
            asked()
    engine.close()


def test_rows_of_a_public_file_have_the_types_of_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("\ufeffinteger,other,text\n1,7,a\n,8,\n", encoding="utf-8")
    found = keys_of(None, file, TABLE)
    assert isinstance(found, PublicTable)
    assert (found.columns, found.rows) == (("integer", "other", "text"), ((1, 7, "a"), (None, 8, None)))


@pytest.mark.parametrize("content", [b"integer\nx\n", b"\xff\n1\n", b"a,A\n1,2\n"])
def test_bad_public_files(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_bytes(content)
    with pytest.raises(InvalidParameter):
        keys_of(None, file, TABLE)
    with pytest.raises(InvalidParameter, match="not both"):
        keys_of(["a=1"], file, TABLE)
