"""Whatever is wrong with what is given, the message says what to change; nothing is charged unless data was touched.

Columns that are missing or do not fit are in test_opening.py, what owners are told of their files in test_checking.py.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import privately as pv
from privately.engines.duckdb.engine import Embedded
from privately.errors import BudgetExhausted, EngineFailed, InvalidParameter, NotSupported, PrivatelyError
from privately.query import OwnerWarning, Session, prepare

CAP = pv.PureDP(epsilon=3)
COUNT = "SELECT COUNT(*) AS n FROM visits"
COLUMNS: dict[str, Any] = {"patient": "integer", "cost": {"type": "real", "bounds": (0, 100)}}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    return written(tmp_path, "SELECT range AS patient, 1.5 AS cost, 'a' AS ward FROM range(20)")


def written(folder: Path, query: str) -> Path:
    path = folder / "visits.parquet"
    duckdb.connect().execute(f"COPY ({query}) TO '{path}'")
    return path


def opened(data: Any, folder: Path, **given: Any) -> Session:
    usual: dict[str, Any] = {"budget": CAP, "ledger": folder / "visits.ledger", "columns": COLUMNS}
    return pv.open(data, **usual | given)


# --- when a table is opened -------------------------------------------------------------------------------------------


def _csv(folder: Path, content: bytes) -> Path:
    path = folder / "bad.csv"
    path.write_bytes(content)
    return path


WRONG: dict[str, tuple[Callable[[Path], Any], dict[str, Any], str]] = {
    "missing file": (lambda folder: folder / "none.parquet", {}, "there is no file"),
    "mixed types": (
        lambda _: __import__("pandas").DataFrame({"x": [1, "a", 2.5]}, dtype=object),
        {"columns": {"x": "text"}, "name": "visits"},
        "values of several types",
    ),
    "names that are no UTF-8": (lambda folder: _csv(folder, b"pati\xe9nt,cost\n1,2\n"), {}, "no text in UTF-8"),
    "a line that is no UTF-8": (
        lambda folder: _csv(folder, b"patient,cost,ward\n1,2.5,a\n2,2.5,caf\xe9\n"),
        {},
        "line 3 is no text in UTF-8. Convert",
    ),
    "two columns of a name": (lambda folder: _csv(folder, b"cost,Cost\n1,2\n"), {}, "two columns called cost"),
    "two columns of a name in a frame": (
        lambda _: pa.table([[1], [2]], names=["cost", "cost"]),
        {"name": "visits"},
        "two columns called cost",
    ),
    "bounds reversed": (
        lambda folder: folder / "visits.parquet",
        {"columns": {"cost": {"type": "real", "bounds": (100, 0)}}},
        "the first must be below the second",
    ),
    "bounds that are no numbers": (
        lambda folder: folder / "visits.parquet",
        {"columns": {"cost": {"type": "real", "bounds": (0, math.nan)}}},
        "bounds",
    ),
    "a copy that is none": (
        lambda folder: folder / "visits.parquet",
        {"prepare": __file__},
        r"test_bad_input\.py is no prepared copy",
    ),
}
OF_ANOTHER_KIND: list[dict[str, Any]] = [
    {"limits": 5},
    *({field: 5} for field in ("prepare", "declaration", "ledger", "name", "lineage", "analyst", "snapshot")),
    {"ledger": None},
]
OF_A_CSV_FILE: list[dict[str, Any]] = [{"delimiter": 5}, {"quote": None}, {"header": 5}, {"names": 5, "header": False}]
OF_UNITS: list[dict[str, Any]] = [
    {"max_rows_per_unit": 0},
    {"max_groups_per_unit": 9, "max_rows_per_unit": 2},
    {"max_rows_per_unit_and_group": 9, "max_rows_per_unit": 2},
]


@pytest.mark.parametrize("given", OF_ANOTHER_KIND, ids=str)
def test_what_is_of_another_kind_is_named(given: dict[str, Any], visits: Path) -> None:
    with pytest.raises(InvalidParameter, match=f"^{next(iter(given))}: must be") as caught:
        opened(visits, visits.parent, **given)
    assert caught.value.field in given
    assert not (visits.parent / "visits.ledger").exists()
    for field in given.keys() & {"declaration", "ledger", "name"}:
        with pytest.raises(InvalidParameter, match=f"^{field}: must be"):
            prepare(visits, visits.parent / "copy", **{"ledger": visits.parent / "l"} | given)
    with pytest.raises(InvalidParameter, match=r"^path: must be"):
        prepare(visits, 5, ledger=":memory:")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", OF_A_CSV_FILE, ids=str)
def test_options_of_another_kind_are_named(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=f"^{next(iter(given))}: "):
        opened(_csv(tmp_path, b"patient,cost\n1,2\n"), tmp_path, **given)


@pytest.mark.parametrize("given", OF_UNITS, ids=str)
def test_limits_of_a_unit_go_by_the_names_that_were_given(given: dict[str, Any], visits: Path) -> None:
    with pytest.raises(InvalidParameter, match=f"^{next(iter(given))}: "):
        opened(visits, visits.parent, unit="patient", **given)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_opened(wrong: str, visits: Path) -> None:
    make, given, said = WRONG[wrong]
    with pytest.raises(InvalidParameter, match=said):
        opened(make(visits.parent), visits.parent, **given)
    assert not (visits.parent / "visits.ledger").exists()


def test_a_copy_needs_a_ledger_that_lasts(visits: Path) -> None:
    """Nothing is written, and an older copy stays as it is."""
    copy, told = visits.parent / "visits.copy", "a prepared copy belongs to the key beside a ledger file. Name a file"
    for content in (None, b"mine"):
        if content is not None:
            copy.write_bytes(content)
        before = sorted(visits.parent.iterdir())
        with pytest.raises(InvalidParameter, match=f"ledger: {told}"):
            opened(visits, visits.parent, ledger=":memory:", prepare=copy)
        with pytest.raises(InvalidParameter, match=f"ledger: {told}"):
            prepare(visits, copy, ledger=":memory:", columns=COLUMNS)
        assert sorted(visits.parent.iterdir()) == before
        assert content is None or copy.read_bytes() == content


@pytest.mark.parametrize("epsilon", [-1, "-0.5", math.nan, "nan", math.inf, "much", None, True])
def test_budgets_that_are_none(epsilon: Any) -> None:
    with pytest.raises(PrivatelyError, match="epsilon"):
        pv.PureDP(epsilon=epsilon)


# --- when a question is asked -----------------------------------------------------------------------------------------

QUESTIONS: dict[str, tuple[str, dict[str, Any], type[PrivatelyError], str]] = {
    "epsilon of 0": (COUNT, {"epsilon": 0}, InvalidParameter, "epsilon"),
    "negative epsilon": (COUNT, {"epsilon": -1}, InvalidParameter, "epsilon"),
    "no number": (COUNT, {"epsilon": math.nan}, InvalidParameter, "epsilon"),
    "infinite": (COUNT, {"epsilon": math.inf}, InvalidParameter, "epsilon"),
    "too much": (COUNT, {"epsilon": 900}, BudgetExhausted, "asked .*900.*only PureDP with epsilon 3"),
    "far too much": (COUNT, {"epsilon": 1e9}, InvalidParameter, "epsilon: can be 1,000 at most.*Ask with less"),
    "nothing": (COUNT, {}, InvalidParameter, "say what the answer may cost"),
    "missing column": ("SELECT AVG(age) FROM visits", {"epsilon": 1}, NotSupported, "no column age"),
    "missing table": ("SELECT COUNT(*) FROM visit", {"epsilon": 1}, NotSupported, "no table visit"),
    "10 MB of SQL": (f"{COUNT} WHERE cost > 1{' OR cost > 1' * 800_000}", {"epsilon": 1}, NotSupported, "characters"),
    "10 MB in a text": (f"{COUNT} WHERE ward = '{'x' * 10_000_000}'", {"epsilon": 1}, NotSupported, "characters"),
    "two outputs of a name": (
        "SELECT COUNT(*) AS n, SUM(cost) AS N FROM visits",
        {"epsilon": 1},
        NotSupported,
        "named N",
    ),
    "keys without names": (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        {"epsilon": 1, "keys": {1: [2]}},
        InvalidParameter,
        "keys: go by the names of columns",
    ),
    "delta that is no number": (COUNT, {"epsilon": 1, "delta": "x"}, InvalidParameter, "delta: (?!all groups)"),
    "no text": (None, {"epsilon": 1}, InvalidParameter, "must be a text"),  # type: ignore[dict-item]
}


def test_what_cannot_be_asked_costs_nothing(visits: Path) -> None:
    with opened(visits, visits.parent) as session:
        for text, given, kind, said in QUESTIONS.values():
            with pytest.raises(kind, match=said):
                session.sql(text, **given)
            assert session.budget.entries == 0
        answer = session.sql(COUNT, epsilon=1)
        assert answer.rows
        with pytest.raises(InvalidParameter, match="path: must be the name"):
            answer.plot(5)  # type: ignore[arg-type]
        visits.write_bytes(b"no longer a table")
        with pytest.raises(InvalidParameter, match="changed or removed"):
            session.sql(f"{COUNT} WHERE cost > 1", epsilon=1)
        assert session.budget.spent.parameters["epsilon"] == 1, "no data was touched"


def test_what_fails_while_data_is_read_stays_charged(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = visits.stat()
    with opened(visits, visits.parent) as session:
        visits.write_bytes(visits.read_bytes()[: before.st_size // 2].ljust(before.st_size, b"x"))
        monkeypatch.setattr(Embedded, "ready", lambda _: None)  # as if it happened after that look
        with pytest.raises(EngineFailed, match="The charge is kept"):
            session.sql(f"{COUNT} WHERE cost > 1", epsilon=1)
        assert session.budget.spent.parameters["epsilon"] == 1


# --- tables that are strange but no mistake ---------------------------------------------------------------------------

STRANGE = {
    "empty": ("SELECT 1 AS patient, 1.5 AS cost, 'a' AS ward WHERE false", ["the table is empty"]),
    "all NULL": (
        "SELECT NULL::BIGINT AS patient, NULL::DOUBLE AS cost, 'a' AS ward FROM range(9)",
        ["9 rows name no unit", "patient is NULL in every row", "cost is NULL in every row"],
    ),
}
ASKED = (
    COUNT,
    "SELECT cost > 5 AS dear, AVG(cost) AS s, MEDIAN(cost) AS m, COUNT(DISTINCT patient) AS p FROM visits GROUP BY 1",
)
UNIT: dict[str, Any] = {"unit": "patient", "max_rows_per_unit": 2}


@pytest.mark.parametrize("strange", STRANGE)
def test_strange_tables_are_answered_like_any(strange: str, tmp_path: Path) -> None:
    path = written(tmp_path, STRANGE[strange][0])
    with opened(path, tmp_path, ledger=":memory:", analyst="somebody", **UNIT) as session:
        (total,) = session.sql(COUNT, epsilon=1).rows
        found = session.sql(ASKED[1], epsilon=1)
        assert isinstance(total[0], int)
        assert found.columns == ("dear", "s", "m", "p")
        assert [row[0] for row in found.rows] == [False, True, None]
        assert session.budget.spent.parameters["epsilon"] == 2


@pytest.mark.parametrize("strange", STRANGE)
def test_the_owner_hears_of_strange_tables_unasked(strange: str, tmp_path: Path) -> None:
    path = written(tmp_path, STRANGE[strange][0])
    with pytest.warns(OwnerWarning) as caught:
        session = opened(path, tmp_path, ledger=":memory:", **UNIT)
    (told,) = (str(one.message) for one in caught)
    assert all(one.replace("unit", "patient") in told for one in STRANGE[strange][1])
    with session:  # a warning is an error here, so this shows that questions bring none
        session.sql(COUNT, epsilon=1)


def test_the_owner_hears_of_a_copy_when_it_is_made(tmp_path: Path) -> None:
    path = written(tmp_path, STRANGE["all NULL"][0])
    given = {"prepare": tmp_path / "copy", **UNIT}
    with pytest.warns(OwnerWarning, match="9 rows name no patient"):
        opened(path, tmp_path, **given).close()
    opened(path, tmp_path, **given).close()


def test_texts_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("patient,cost,ward\n1,dear,a\n2,cheap,b\n", encoding="utf-8")
    with pytest.warns(OwnerWarning, match="cost has no value that is as declared"):
        opened(path, tmp_path, ledger=":memory:").close()


@pytest.mark.slow
@pytest.mark.parametrize("strange", STRANGE)
def test_strange_tables_are_the_owners_to_know(strange: str, tmp_path: Path) -> None:
    query, said = STRANGE[strange]
    path = written(tmp_path, query)
    report = prepare(path, tmp_path / "copy", ledger=tmp_path / "visits.ledger", columns=COLUMNS, **UNIT)
    for one in said:
        assert any(one in note for note in report.notes())


def test_lines_that_are_no_rows_are_left_out_and_the_owner_is_told(tmp_path: Path) -> None:
    lines = [b"patient,cost,ward", *(b"%d,1.5,a" % number for number in range(10)), b"11", b"", b"12,2.5,b,b"]
    path = _csv(tmp_path, b"\n".join(lines))
    with pytest.warns(OwnerWarning, match="2 lines are left out, .* repair them"):
        session = opened(path, tmp_path, name="visits", budget=pv.PureDP(epsilon=2000))
    with session:
        assert session.sql("SELECT COUNT(*) AS n, COUNT(cost) AS k FROM visits", epsilon=1000).rows == ((10, 10),)
        report = session.check()
    assert (report.rows, report.left_out) == (10, 2)
    copied = prepare(path, tmp_path / "copy", ledger=tmp_path / "visits.ledger", columns=COLUMNS, name="visits")
    assert copied == report


def test_answers_of_too_many_numbers_are_refused_before_the_charge(visits: Path, tmp_path: Path) -> None:
    """They are computed where the question was asked, without any limit of time."""
    columns = ", ".join(f"COUNT(*) + {at} AS n{at}" for at in range(200))
    question, keys = f"SELECT patient, {columns} FROM visits GROUP BY patient", {"patient": range(5_000)}
    with opened(visits, tmp_path) as session:
        with pytest.raises(InvalidParameter, match=r"5,000 groups of 201 columns .* 1,000,000 numbers\. Ask for fewer"):
            session.sql(question, epsilon="0.1", keys=keys)
        assert session.budget.entries == 0
