"""`privately check` tells people and programs the same."""

import json
from pathlib import Path

import pytest

from privately.certificates import certify
from privately.cli.checking import check
from privately.errors import CertificateInvalid
from privately.guarantees import Neighbors, PureDP, rules
from tests.certificates.examples import from_assumptions, from_tables


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "certificate.json"
    certify(from_tables()["replace"]).save(path)
    return path


def test_for_people(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(saved)
    shown = capsys.readouterr().out
    assert shown.startswith("valid: ")
    assert "add_remove_to_replace" in shown
    assert "trusted, not proved" in shown


def test_steps_of_a_plan_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    certify(from_tables()["counts"]).save(path)
    check(path)
    shown = capsys.readouterr().out
    assert "filter_rows of [0]: (age >= 30)" in shown
    assert "count_rows of [3] -> moves by at most 6 in L1" in shown
    assert "claimed" not in shown
    certify(from_tables()["laplace"]).save(path)
    check(path)
    assert "claimed, not derived from a table: node 0, discrete_laplace: sensitivity 1" in capsys.readouterr().out


def test_for_programs(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(saved, as_json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["valid"] is True
    assert data["assumptions"] == []
    assert data["claim_text"].endswith("replacing one row")


def test_assumptions_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    certify(from_assumptions()["listed"]).save(path)
    with pytest.raises(CertificateInvalid):
        check(path)
    check(path, allow_assumptions=True)
    assert "assumed, not proved" in capsys.readouterr().out


def test_texts_of_a_certificate_are_not_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    hostile = rules.suppose(PureDP(epsilon=1, neighbors=Neighbors.REPLACE.of_unit("x[/]y[black on black]z")))
    certify(hostile).save(path)
    check(path, allow_assumptions=True)
    assert "x[/]y[black on black]z" in capsys.readouterr().out
