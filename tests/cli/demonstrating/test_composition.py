"""The demonstration demonstrates: a proof that checks and two claims that are refused."""

import json
from pathlib import Path

import pytest

from privately.certificates import check
from privately.cli.demonstrating.composition import show_composition


def test_it_shows_five_things_and_keeps_the_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    show_composition(save=path)
    shown = capsys.readouterr().out
    assert shown.count("refused: ") == 2
    assert "valid: (4.7789" in shown
    assert check(path).claim_text in shown


def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    show_composition(as_json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["epsilon"]["optimal composition"] < data["epsilon"]["basic composition (delta = 0)"]
    assert data["certificate"]["valid"] is True
