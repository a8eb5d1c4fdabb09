"""`privately demo`: a report in a file, a certificate that checks, and errors of one line."""

import json
import sys
from pathlib import Path

import pytest

from privately.certificates import check
from privately.cli import main
from privately.cli.demo import demo, show_hospital
from privately.errors import InvalidParameter


def test_a_report_and_a_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, proof = tmp_path / "new" / "report.html", tmp_path / "certificate.json"
    show_hospital(out, save=proof, rows=2_000)
    shown = capsys.readouterr().out
    assert "8. The budget runs out" in shown
    assert "valid: 0.1-DP" in shown
    assert check(proof).claim_text.startswith("0.1-DP")
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["certificate.json", "new"]


def test_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_hospital(tmp_path / "report.html", as_json=True, rows=2_000)
    data = json.loads(capsys.readouterr().out)
    assert len(data["answers"]) == 5
    assert data["refused"].startswith("asked ")


def test_composition_is_still_there(capsys: pytest.CaptureFixture[str]) -> None:
    demo(composition=True)
    assert "A survey by randomized response" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["report.pdf", "file/report.html"])
def test_places_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="--out"):
        show_hospital(Path(wrong))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["privately", "demo", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out)["report"] == "privately-demo/report.html"
    assert Path("privately-demo/report.html").is_file()
