"""Refusals show the question that they are about."""

import json

import pytest
import typer

from privately.cli.sql.faults import Placed, refusals
from privately.errors import InvalidParameter, NotSupported


def test_a_place_is_shown_in_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    fault = NotSupported("no column agee.", hint="Ask with epsilon=... instead.", span=(7, 11))
    with pytest.raises(typer.Exit) as ended, refusals(as_json=True):
        raise Placed(fault, "SELECT agee FROM visits")
    assert ended.value.exit_code == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["span"] == [7, 11]
    assert err.splitlines()[1:] == ["  SELECT agee FROM visits", "         ^^^^"]
    assert "--epsilon" in err


def test_hints_speak_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidParameter, match="--delta 1e-6"), refusals(as_json=False):
        raise InvalidParameter("keys", "are not listed.", hint="Ask with delta=1e-6.")
    assert capsys.readouterr().out == ""
