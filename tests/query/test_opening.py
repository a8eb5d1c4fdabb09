"""From a file to certified answers: the whole line, on real files, with a real ledger."""

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import privately as pv
from privately.errors import BudgetExhausted, DataDependentKeys, InvalidParameter, Refused
from privately.ledger import Ledger
from privately.query import Limits, Session, prepare
from privately.query.opening import table_of

COLUMNS: dict[str, Any] = {
    "patient": "integer",
    "ward": {"type": "text", "categories": ["A", "B"]},
    "cost": {"type": "real", "bounds": (0, 100), "step": "0.5"},
}
ROWS = [(1, "A", 10.0), (1, "A", 20.0), (1, "B", 30.0), (2, "A", 1e9), (3, "B", float("nan")), (4, None, 5.0)]
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
HUGE = 1000
"""An epsilon with which noise is 0 almost surely, where one unit moves a number by few steps."""


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    database = duckdb.connect()
    database.execute("CREATE TABLE t (patient INTEGER, ward VARCHAR, cost DOUBLE)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    database.execute(f"COPY t TO '{path}'")
    return path


@pytest.fixture
def session(visits: Path) -> Iterator[Session]:
    with opened(visits) as made:
        yield made


def opened(data: Any, **given: Any) -> Session:
    usual: dict[str, Any] = {
        "budget": pv.PureDP(epsilon=10**7),
        "ledger": ":memory:",
        "unit": "patient",
        "max_rows_per_unit": 2,
        "columns": COLUMNS,
    }
    return pv.open(data, **usual | given)


def test_counts_are_those_of_the_rows_that_count(session: Session) -> None:
    result = session.sql(COUNT, epsilon=HUGE)
    found = {row["ward"]: row["n"] for row in result.to_dicts()}
    assert sum(v for v in found.values() if isinstance(v, int)) == 5
    assert found[None] == 1
    assert result.guarantee == pv.PureDP(epsilon=HUGE, neighbors=pv.Neighbors.ADD_REMOVE.of_unit("patient"))


def test_sums_are_clamped_and_what_is_no_number_is_left_out(visits: Path) -> None:
    coarse = COLUMNS | {"cost": {"type": "real", "bounds": (0, 100), "step": 5}}
    with opened(visits, unit=None, max_rows_per_unit=None, columns=coarse) as session:
        (row,) = session.sql("SELECT SUM(cost) AS s, COUNT(cost) AS n FROM visits", epsilon=HUGE).to_dicts()
    assert row == {"s": 165.0, "n": 5}


def test_the_certificate_checks(session: Session, tmp_path: Path) -> None:
    result = session.sql(COUNT, epsilon=1)
    result.certificate.save(tmp_path / "c.json")
    assert pv.check(tmp_path / "c.json").claim.numbers["epsilon"].numerator == 1
    assert all(interval is not None for interval in result.intervals("0.9")["n"])


def test_explaining_touches_no_data(visits: Path) -> None:
    with opened(visits) as session:
        visits.unlink()
        told = str(session.explain(COUNT, epsilon=1))
        for part in ("scan visits, at most 2 rows of each patient", "3 groups", "Laplace, scale 2", "cost: PureDP"):
            assert part in told
        assert session.budget.entries == 0


def test_a_table_is_known_without_its_data(visits: Path) -> None:
    given: dict[str, Any] = {"columns": COLUMNS, "unit": "patient", "max_rows_per_unit": 3}
    known = table_of(visits, **given)
    visits.unlink()
    assert table_of(visits, **given) == known
    with pytest.raises(InvalidParameter, match=r"no file .* Without it, declare"):
        table_of(visits)
    visits.with_suffix(".toml").write_text('[table]\nname = "v"\n[columns.ward]\ntype = "text"\n', encoding="utf-8")
    assert table_of(visits).name == "v"


def test_a_file_that_changed_is_neither_charged_nor_answered(visits: Path) -> None:
    with opened(visits) as session:
        os.utime(visits, (1, 1))
        with pytest.raises(InvalidParameter, match=r"visits\.parquet was changed or removed"):
            session.sql(COUNT, epsilon=1)
        visits.unlink()
        with pytest.raises(InvalidParameter, match="Open it again"):
            session.batch([COUNT], epsilon=1)
        assert session.budget.entries == 0


def test_another_name_for_the_same_people_is_no_second_budget(visits: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"ledger": tmp_path / "l", "budget": pv.PureDP(epsilon=1), "unit": None}
    given |= {"max_rows_per_unit": None}
    with opened(visits, lineage="first", **given) as session:
        session.sql(COUNT, epsilon="0.5")
    with pytest.warns(UserWarning, match="charged to first too"):
        session = opened(visits, lineage="second", **given)
    with session, pytest.raises(BudgetExhausted):
        session.sql(COUNT, epsilon="0.75")
    with pytest.warns(UserWarning, match="first"), opened(visits, lineage="second", **given) as session:
        session.sql(COUNT, epsilon="0.25")
    with Ledger.open(tmp_path / "l") as book:
        spent = [book.budget(one).spent.parameters["epsilon"] for one in ("first", "second")]
        assert spent == [Fraction(3, 4), Fraction(1, 4)]


def test_copies_are_recognised_by_the_people_in_them(visits: Path, tmp_path: Path) -> None:
    people = pa.table({"patient": range(3000), "ward": ["A"] * 3000, "cost": [1.0] * 3000})
    given: dict[str, Any] = {"ledger": tmp_path / "l", "budget": pv.PureDP(epsilon=1)}
    parquet.write_table(people, visits)
    with opened(visits, **given) as session:
        session.sql(COUNT, epsilon=1)
    copy = tmp_path / "copy.parquet"
    parquet.write_table(people.slice(500).take(list(reversed(range(2500)))), copy)
    with pytest.warns(UserWarning, match="table copy holds people of visits: it is charged to visits too"):
        session = opened(copy, **given)
    with session, pytest.raises(BudgetExhausted):
        session.sql(COUNT.replace("visits", "copy"), epsilon="0.1")
    others = tmp_path / "others.parquet"
    parquet.write_table(people.set_column(0, "patient", pa.array(range(3000, 6000))), others)
    with opened(others, **given) as session:
        session.sql(COUNT.replace("visits", "others"), epsilon=1)


def test_limits_are_the_owners(visits: Path) -> None:
    with opened(visits, limits=Limits(seconds=0.001)) as session, pytest.raises(pv.PrivatelyError, match="finish"):
        session.sql(COUNT, epsilon=1)


def test_the_owner_can_look_at_the_table(visits: Path) -> None:
    with opened(visits) as session:
        report = session.check()
        assert report.rows >= report.counted
        assert session.budget.entries == 0


def test_a_copy_that_is_not_there_is_made(visits: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with opened(visits, prepare=tmp_path / "fast", ledger=tmp_path / "l") as session:
            assert session.sql(COUNT, epsilon=HUGE).rows
    os.utime(visits, (1, 1))
    with pytest.raises(InvalidParameter, match="prepare"):
        opened(visits, prepare=tmp_path / "fast", ledger=tmp_path / "l")


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars"])
def test_a_frame_has_no_copy(kind: str, visits: Path, tmp_path: Path) -> None:
    """A copy belongs to a file: of a frame none is made that nothing could open, and nothing is left behind."""
    frame: Any = parquet.read_table(visits)
    if kind != "pyarrow":
        frame = frame.to_pandas() if kind == "pandas" else pytest.importorskip("polars").from_arrow(frame)
    before = set(tmp_path.iterdir())
    kept: dict[str, Any] = {"ledger": tmp_path / "l", "name": "visits"}
    copy = tmp_path / "fast"
    for there in (False, True):
        if there:
            copy.touch()
            before.add(copy)
        with pytest.raises(InvalidParameter, match="Parquet file first"):
            opened(frame, prepare=copy, **kept)
        with pytest.raises(InvalidParameter, match="Parquet file first"):
            prepare(frame, copy, **kept)
        assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("written", [False, True])
def test_types_of_pandas_columns_do_not_follow_from_values(tmp_path: Path, written: bool) -> None:
    """Nor do those of the files that are written from them."""
    asked = "SELECT x, COUNT(*) AS n FROM t GROUP BY x"
    for last in (3, None):
        frame: Any = pd.DataFrame({"x": [1, 2, 3, last]})
        if written:
            frame.to_parquet(tmp_path / "t.parquet")
            frame = tmp_path / "t.parquet"
        given: dict[str, Any] = {"name": "t", "ledger": ":memory:", "budget": pv.PureDP(epsilon=1)}
        with pv.open(frame, **given) as session, pytest.raises(Refused, match="real numbers make no groups"):
            session.price(asked, epsilon=1, keys={"x": [1, 2, 3]})
        with pv.open(frame, columns={"x": {"type": "integer", "bounds": (0, 9)}}, **given) as session:
            assert session.price(asked, epsilon=1, keys={"x": np.arange(3)}).groups == ((0,), (1,), (2,))


def test_unknown_options_are_not_ignored(visits: Path) -> None:
    for data in (visits, pa.table({"a": [1]})):
        with pytest.raises(InvalidParameter, match=r"chang: is no option for a (\.parquet file|frame)"):
            opened(data, chang="replace")
    text = visits.with_suffix(".csv")
    text.write_text("patient\n1\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="There are delimiter, quote, header, names"):
        opened(text, max_groups=1)


@pytest.mark.parametrize("spend", [{"rho": "0.1"}, {"mu": "0.1"}, {"epsilon": "0.1"}])
def test_spreads_of_real_columns_can_be_asked_for_with_all_noise(spend: dict[str, str]) -> None:
    data = pa.table({"y": [0.25, 0.75]})
    columns: dict[str, Any] = {"y": {"type": "real", "bounds": (0, 1)}}
    with pv.open(data, name="t", ledger=":memory:", budget=pv.GaussianDP(mu=9), columns=columns) as session:
        question: dict[str, Any] = dict(spend)
        assert session.price("SELECT STDDEV(y) AS v FROM t", **question).plan


def test_the_budget_outlives_the_session(visits: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"budget": pv.PureDP(epsilon=1), "ledger": tmp_path / "visits.ledger"}
    with opened(visits, **given) as session:
        first = session.sql(COUNT, epsilon="0.75")
        with pytest.raises(BudgetExhausted):
            session.sql(COUNT, epsilon="0.5")
    with opened(visits, **given) as session:
        assert session.budget.remaining.parameters["epsilon"] == Fraction(1, 4)
        again = session.sql(COUNT, epsilon="0.75")
        assert (again.free, again.rows) == (True, first.rows)
    with pytest.raises(InvalidParameter, match="was opened with"):
        opened(visits, **given | {"budget": pv.PureDP(epsilon=2)})
    with Ledger.inspect(tmp_path / "visits.ledger") as ledger:
        assert ledger.verify().charges == 1


def test_a_declaration_beside_the_data(visits: Path) -> None:
    visits.with_suffix(".toml").write_text(
        "[table]\nunit = 'patient'\nmax_rows_per_unit = 2\nlineage = 'people'\n"
        "[columns.patient]\ntype = 'integer'\n[columns.ward]\ntype = 'text'\ncategories = ['A', 'B']\n"
    )
    with pv.open(visits, budget=pv.PureDP(epsilon=HUGE), ledger=":memory:") as session:
        assert session.lineage == "people"
        assert len(session.sql(COUNT, epsilon=1).rows) == 3


def test_frames_and_csv(visits: Path, tmp_path: Path) -> None:
    arrow: Any = parquet.read_table(visits)
    duckdb.sql(f"COPY (SELECT * FROM '{visits}') TO '{tmp_path / 'visits.csv'}' (HEADER)")
    for data, given in (
        (arrow, {"name": "visits"}),
        (arrow.to_pandas(), {"name": "visits"}),
        (tmp_path / "visits.csv", {}),
    ):
        with opened(data, **given) as session:
            result = session.sql(COUNT, epsilon=HUGE)
            assert result.to_arrow().num_rows == len(result.to_pandas()) == len(result.to_polars()) == 3


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"columns": {"birds": "text"}}, "there is no column 'birds'"),
        ({"unit": "birds"}, "there is no column birds"),
        ({"max_rows_per_unit": None}, "say how many rows"),
        ({"budget": 3}, "give a guarantee"),
        ({"budget": pv.PureDP(epsilon=1, neighbors=pv.Neighbors.REPLACE)}, "the table's unit is"),
        ({"reuse": "perhaps"}, "must be one of"),
        ({"declaration": "missing.toml"}, "cannot read"),
    ],
)
def test_wrong_openings(given: dict[str, Any], what: str, visits: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "l"
    with pytest.raises(InvalidParameter, match=what):
        opened(visits, **given | {"ledger": ledger})


def test_wrong_data(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "text.parquet").write_text("birds")
    for wrong in ("missing.parquet", "empty.csv", "text.parquet", "visits.xlsx"):
        with pytest.raises(pv.PrivatelyError):
            opened(tmp_path / wrong)
    with pytest.raises(pv.PrivatelyError):
        opened(7, name="visits")


def test_refusals_cost_nothing(session: Session) -> None:
    for text in ("SELECT * FROM visits", "SELECT COUNT(*) FROM birds", "COPY visits TO 'x'"):
        with pytest.raises(Refused):
            session.sql(text, epsilon=1)
    with pytest.raises(DataDependentKeys):
        session.sql("SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient", epsilon=1)
    for wrong in (
        {},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": "nan"},
        {"epsilon": 1, "rho": 1},
        {"accuracy": "good"},
    ):
        with pytest.raises(InvalidParameter):
            session.sql(COUNT, **wrong)
    assert session.budget.entries == 0


# --- groups that nobody listed ----------------------------------------------------------------------------------------

APPROX: dict[str, Any] = {"budget": pv.ApproxDP(epsilon=10 * HUGE, delta="0.5"), "by": pv.ApproxDP}
SEEN = """
    SELECT i AS patient, i % 2 = 0 AS odd, i % 3 - 1 AS size, i % 7 AS cost,
        CASE WHEN i < 40 THEN 'x' WHEN i < 80 THEN 'y' WHEN i >= 120 THEN 'own ' || i END AS town,
        CASE WHEN i < 60 THEN DATE '2026-01-31' ELSE DATE '2020-01-01' + greatest(i - 119, 0)::INTEGER END AS day,
        CASE WHEN i < 90 THEN TIMESTAMP '2026-01-31 12:30:00.5' END AS seen
    FROM range(130) AS r(i)
"""
UNLISTED: dict[str, Any] = {"patient": "integer", "size": "integer", "cost": {"type": "integer", "bounds": (0, 10)}}


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    path = tmp_path / "seen.parquet"
    duckdb.connect().execute(f"COPY ({SEEN}) TO '{path}'")
    return path


@pytest.mark.parametrize("prepared", [False, True])
def test_values_of_every_type_can_be_unknown(seen: Path, tmp_path: Path, prepared: bool) -> None:
    given: dict[str, Any] = {**APPROX, "columns": UNLISTED, "ledger": tmp_path / "seen.ledger"}
    if prepared:
        unit: dict[str, Any] = {"unit": "patient", "max_rows_per_unit": 2}
        prepare(seen, tmp_path / "copy", ledger=given["ledger"], columns=UNLISTED, **unit)
        given["prepare"] = tmp_path / "copy"
    with opened(seen, **given) as session:
        for key in ("town", "day", "seen", "size", "upper(town)", "coalesce(town, 'none')"):
            text = f"SELECT {key} AS k, COUNT(DISTINCT patient) AS n, SUM(cost) AS s FROM seen GROUP BY k"
            result = session.sql(text, epsilon=HUGE, delta="0.01")
            plain = duckdb.connect().execute(
                f"SELECT {key} AS k, count(*) AS n, sum(i % 7) AS s FROM (SELECT *, patient AS i FROM '{seen}') "
                "GROUP BY k HAVING n > 10 ORDER BY k NULLS LAST"
            )
            assert result.rows == tuple(plain.fetchall())
            again = session.sql(text, epsilon=HUGE, delta="0.01")
            assert (again.free, again.rows, again.groups) == (True, result.rows, result.groups)


def test_public_and_unknown_keys(seen: Path) -> None:
    with opened(seen, **APPROX, columns=UNLISTED) as session:
        text = "SELECT odd, town, COUNT(*) AS n FROM seen WHERE odd IS NOT NULL GROUP BY odd, town"
        rows = session.sql(text, epsilon=HUGE, delta="0.01").rows
        assert rows == tuple((odd, town, 20) for odd in (False, True) for town in ("x", "y", None))
        (row,) = session.sql(text, epsilon=HUGE, delta="0.01", keys={"odd": [True]}).rows[:1]
        assert row == (True, "x", 20)


def test_people_in_many_groups_count_in_few(tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    text = "SELECT i % 50 AS patient, 'v' || (i // 50) AS town FROM range(200) AS r(i)"
    duckdb.connect().execute(f"COPY ({text}) TO '{path}'")
    limits = {"max_rows_per_unit": 4, "max_groups_per_unit": 2}
    with opened(path, **APPROX, columns={"patient": "integer"}, name="many", **limits) as session:
        result = session.sql(
            "SELECT town, COUNT(DISTINCT patient) AS n FROM many GROUP BY town", epsilon=HUGE, delta="0.01"
        )
        numbers = [row["n"] for row in result.to_dicts()]
        assert len(numbers) == 4
        assert sum(number for number in numbers if isinstance(number, int)) == 100
