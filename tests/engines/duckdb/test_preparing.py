"""Copies say what they are of."""

import json
from pathlib import Path

import pytest

from privately.engines.duckdb.checking import stored_of
from privately.engines.duckdb.preparing import FORM, check_about, declaration_hash, metadata, statements, stored_copy
from privately.engines.duckdb.sources import parquet
from privately.errors import InvalidParameter
from privately.plans import Unit
from tests.engines.duckdb.visits import visits, written

KEY = bytes(32)
FOUND = {"who": "VARCHAR", "ward": "VARCHAR", "cost": "DOUBLE", "age": "INTEGER"}


def test_every_part_of_a_declaration_matters() -> None:
    declared = [visits(), visits(Unit(column="who")), visits(Unit(column="who", rows=2))]
    assert len({declaration_hash(one) for one in declared}) == 3
    assert declaration_hash(visits()) == declaration_hash(visits())


def test_metadata_holds_no_key(tmp_path: Path) -> None:
    source = parquet(written(tmp_path / "v.parquet"))
    about = json.dumps(metadata(visits(), source, KEY))
    assert KEY.hex() not in about
    assert str(tmp_path) in about
    check_about(about, visits(), source, KEY, tmp_path / "copy")
    with pytest.raises(InvalidParameter, match="another version"):
        check_about(about.replace(f'"form": {FORM}', f'"form": {FORM - 1}'), visits(), source, KEY, tmp_path / "copy")


def test_copies_keep_steps_and_words(tmp_path: Path) -> None:
    source = parquet(written(tmp_path / "v.parquet"))
    stored = stored_of(visits(Unit(column="who", rows=2)), source.relation, FOUND)
    made = statements(stored, source, KEY)
    assert any("QUALIFY" in one for one in made)
    assert any("ENUM" in one for one in made)
    copy = stored_copy(stored, {"v0": "VARCHAR", "v1": "ENUM('a')", "v2": "DOUBLE", "v3": "INTEGER"})
    assert copy.bounded
    assert copy.step(2) == '"s2"'
    assert copy.step(3) == '"v3"'
    assert copy.word(1) == "prepared.e1"
