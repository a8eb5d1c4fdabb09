"""No hostile statement reaches the engine, and none costs anything."""

import re
from pathlib import Path

import pytest

from privately.engines.protocol import Counts, Limits, TableReport
from privately.errors import Refused
from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.plans import Aggregation
from privately.query.sessions import Session
from tests.query.binding.tables import VISITS

LINES = (Path(__file__).parent / "hostile.sql").read_text(encoding="utf-8").splitlines()
HOSTILE = [line for line in LINES if line and not line.startswith("# ")]
KINDS = {
    "query()": r"\bquery\(",
    "query_table()": r"\bquery_table\(",
    "files": r"read_csv|read_parquet|'data\.csv'",
    "COPY": r"^COPY",
    "ATTACH": r"^ATTACH",
    "PRAGMA": r"^PRAGMA|pragma_",
    "serialized SQL": r"json_execute_serialized_sql",
    "comments": r"/\*|--",
    "look-alikes": r"[^\x00-\x7f]",
    "system tables": r"information_schema|pg_|duckdb_|sqlite_master",
    "volatile functions": r"random\(|now\(|uuid\(|nextval|current_timestamp",
    "error()": r"\berror\(",
    "bombs": r"repeat\(|lpad\(|levenshtein|CROSS JOIN|RECURSIVE",
    "FROM first": r"^FROM|\(FROM",
    "SUMMARIZE": r"SUMMARIZE",
    "PIVOT": r"PIVOT",
    "lambdas": r"lambda|->|FOR x IN",
    "COLUMNS(*)": r"COLUMNS\(",
    "variables": r"getvariable|VARIABLE",
    "whole files": r"read_text|read_blob|glob\(",
    "databases in memory": r"':memory:'",
    "SQL/JSON": r"JSON_|json_|IS JSON",
    "macros": r"MACRO|FUNCTION",
    "prepared statements": r"EXECUTE|PREPARE",
    "parameters": r"\$[0-9a-z]+$|\?|:age|%s",
    "positional joins": r"POSITIONAL",
    "samples": r"TABLESAMPLE|USING SAMPLE",
    "QUALIFY": r"QUALIFY",
    "escapes": r"U&['\"]|[Ee]'",
    "dollar quotes": r"\$\$|\$[a-zé]+\$",
}


class Untouched:
    """An engine that nobody may ask."""

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        raise AssertionError(f"{aggregation} reached the engine, with {limits}")

    def close(self) -> None: ...


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_escape_is_there(kind: str) -> None:
    assert sum(bool(re.search(KINDS[kind], line)) for line in HOSTILE) >= 3


def test_no_statement_reaches_the_engine_or_costs_anything() -> None:
    assert len(set(HOSTILE)) >= 700
    with Ledger.open(":memory:") as ledger:
        ledger.account("people", cap=PureDP(epsilon=1, neighbors=VISITS.unit.neighbors))
        session = Session(VISITS, Untouched(), ledger, lineage="people", snapshot="1")
        for text in HOSTILE:
            with pytest.raises(Refused) as caught:
                session.sql(text, epsilon=1)
            assert caught.value.hint
            first, last = caught.value.span or (1, 0)
            assert 0 <= first < last <= len(text), text
        assert session.budget.entries == 0
