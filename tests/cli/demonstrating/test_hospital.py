"""The made-up table is the same everywhere, and as large and as uneven as it claims."""

import csv
from collections import Counter
from pathlib import Path

from privately.cli.demonstrating.hospital import MOST_VISITS, WARDS, write_visits
from privately.query.declaring import read_declaration


def test_the_table(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    write_visits(path, rows=5_000)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 5_000
    assert {row["ward"] for row in rows} == set(WARDS)
    visits = Counter(row["patient"] for row in rows)
    assert 2 < len(rows) / len(visits) < 3
    assert max(visits.values()) > MOST_VISITS  # some have more rows than count
    told, columns = read_declaration(path.with_suffix(".toml"))
    assert told["unit"] == "patient"
    assert [column.name for column in columns] == list(rows[0])


def test_it_is_the_same_again(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        write_visits(tmp_path / name, rows=500)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
