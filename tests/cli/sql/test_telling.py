"""What is printed cannot steer a terminal, and points at the right place."""

import json

import pytest

from privately.cli.sql.telling import failed, refusal, report, report_json, say, working
from privately.engines.protocol import ColumnReport, TableReport
from privately.errors import BudgetExhausted, Refused

REPORT = TableReport(
    rows=10, counted=7, units=5, without_unit=1, columns=(ColumnReport(name="age", null=2, unfit=1, clamped=3),)
)


@pytest.mark.parametrize(
    ("question", "span", "pointed"),
    [
        ("SELECT a FROM t", (7, 8), "a"),
        ("SELECT 1,\n  bb\nFROM t", (12, 14), "bb"),
        (f"SELECT {'x' * 500}, wrong FROM t", (509, 514), "wrong"),
        ("SELECT a\nFROM t", (7, 15), "a"),
        ("", (0, 0), ""),
    ],
)
def test_carets_stand_under_what_is_meant(question: str, span: tuple[int, int], pointed: str) -> None:
    _, line, carets = refusal(Refused("no.", span=span), question).splitlines()
    start, end = carets.index("^"), carets.rindex("^") + 1
    assert line[start:end] == pointed
    assert len(line) <= 102


def test_a_refusal_without_a_place_is_one_line() -> None:
    assert refusal(Refused("no.", hint="Do this."), "SELECT 1") == "error: no. Do this."
    assert "\x1b" not in refusal(Refused("no\x1b.", span=(0, 1)), "\x1b[2J")


def test_errors_for_programs() -> None:
    told = json.loads(failed(Refused("no.", hint="Do this.", span=(1, 2))))
    assert told == {"error": "Refused", "message": "no.", "hint": "Do this.", "span": [1, 2]}
    assert json.loads(failed(BudgetExhausted(asked=1, left=0)))["error"] == "BudgetExhausted"


def test_what_is_said_is_printable(capsys: pytest.CaptureFixture[str]) -> None:
    say("one\x1b[2J\ntwo ±")
    assert capsys.readouterr().out == "one\N{REPLACEMENT CHARACTER}[2J\ntwo ±\n"


def test_reports_for_the_owner() -> None:
    assert report(REPORT).splitlines()[0] == "10 rows, of which 7 count, of 5 units"
    assert "- age has 3 values beyond its bounds; they are brought to them." in report(REPORT)
    assert json.loads(report_json(REPORT))["columns"] == [{"name": "age", "null": 2, "unfit": 1, "clamped": 3}]


@pytest.mark.parametrize("seen", [False, True])
def test_work_shows_only_where_somebody_looks(
    seen: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR" if seen else "NO_COLOR", "1")
    with working("counting"):
        pass
    out, err = capsys.readouterr()
    assert out == ""
    assert ("counting ..." in err) is seen
