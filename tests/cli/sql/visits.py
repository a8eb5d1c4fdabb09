"""A small table in a folder, and running commands on it in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from privately.cli import main
from tests.cli.account.running import Done

Run = Callable[..., Done]

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
DECLARED = """
[table]
unit = "patient"
max_rows_per_unit = 2

[columns.patient]
type = "integer"

[columns.ward]
type = "text"
categories = ["A", "B"]
nullable = false

[columns.age]
type = "integer"
bounds = [0, 120]
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """What `privately` does with these words, in a folder with `visits.csv` and its declaration."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{at % 150},{'AB'[at % 2]},{at % 90}" for at in range(300)]
    Path("visits.csv").write_text("\n".join(["patient,ward,age", *rows, ""]), encoding="utf-8")
    Path("visits.toml").write_text(DECLARED, encoding="utf-8")

    def typed(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["privately", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(status=int(ended.value.code or 0), out=out, err=err)

    return typed
