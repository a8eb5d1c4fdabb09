"""`privately prove` and `privately analyze`, from the words typed to the words printed."""

import json
from pathlib import Path

import pytest

from tests.cli.proving.running import Command, command

__all__ = ["command"]

SEEDS = Path(__file__).parents[2] / "corpus" / "seeds"
RESPONSE = str(SEEDS / "002-randomized-response.txt")
KNOWN = ("--neighbors", "F(x)=replaced(0,1)")
FORMULA = (str(SEEDS / "002-randomized-response-p.txt"), "--neighbors", "Mem=replaced(0,1)", "--size", "1")


def test_proved(command: Command, tmp_path: Path) -> None:
    saved = tmp_path / "proof.json"
    done = command("prove", RESPONSE, "--claim", "ln(3)", *KNOWN, "--certificate", str(saved))
    assert done.status == 0
    assert done.out.startswith("proved: epsilon <= ln(3)")
    assert command("check", str(saved)).status == 0


def test_refuted(command: Command) -> None:
    done = command("prove", RESPONSE, "--claim", "1", *KNOWN, "--json")
    assert done.status == 1
    data = json.loads(done.out)
    assert data["verdict"] == "refuted"
    assert data["witness"]["probability"] == ["3/4", "3/4"]
    assert "has probability 0.75 for F(x) = 0" in command("prove", RESPONSE, "--claim", "1", *KNOWN).out


def test_unknown(command: Command) -> None:
    words = (str(SEEDS / "000-laplace-mechanism.txt"), "--claim", "e", "--public", "e=1", "--public", "GSf=1")
    done = command("prove", *words, "--neighbors", "f(d)=each(1)", "--json")
    assert done.status == 1
    assert json.loads(done.out)["verdict"] == "unknown"


def test_a_page(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    assert command("prove", RESPONSE, "--claim", "ln(3)", *KNOWN, "--html", str(target)).status == 0
    text = target.read_text()
    for part in ("F(x) = 0", "F(x) = 1", "line 1: flip = 1", "3/4", "<svg", "if b = 1 then"):
        assert part in text
    missing = command("prove", RESPONSE, "--claim", "ln(3)", *KNOWN, "--html", str(tmp_path / "no" / "page.html"))
    assert "cannot be written" in missing.error


def test_formulas(command: Command) -> None:
    assert "ln((2 - p)/(1 - p))" in command("analyze", *FORMULA).out
    data = json.loads(command("analyze", *FORMULA, "--json").out)
    assert [piece["to"] for piece in data["pieces"]] == ["1/2", "1"]
    done = command("prove", *FORMULA, "--public", "p=inside(0,1/2)", "--claim", "ln((2-p)/(1-p))")
    assert done.status == 0


def test_laws_and_curve(command: Command) -> None:
    out = command("analyze", RESPONSE, *KNOWN).out
    assert "tight epsilon: between 1.0986122" in out
    assert json.loads(command("analyze", RESPONSE, *KNOWN, "--json").out)["worst"]["output"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--neighbors", "F(x)"), "should look like"),
        (("--neighbors", "F(x)=zebra(1)"), "unknown"),
        (("--neighbors", "F(x)=between(0,1)"), "says nothing of neighbours"),
        (("--neighbors", "F(x)=each(1" ), "cannot be read"),
        ((*KNOWN, *KNOWN), "given twice"),
        ((*KNOWN, "--public", "zebra=1"), "no public input"),
        ((*KNOWN, "--claim", "1/0"), "divides by zero"),
    ],
)  # fmt: skip
def test_what_was_typed_wrong_is_said_in_one_line(words: tuple[str, ...], message: str, command: Command) -> None:
    assert message in command("prove", RESPONSE, *words).error


def test_without_a_proof_there_is_no_certificate(command: Command, tmp_path: Path) -> None:
    saved = tmp_path / "proof.json"
    done = command("prove", RESPONSE, "--claim", "1", *KNOWN, "--certificate", str(saved))
    assert done.status == 1
    assert done.out.startswith("refuted")
    assert "no certificate: the claim is refuted" in done.err
    words = ("--public", "p=inside(0,1/2)", "--claim", "ln((2-p)/(1-p))", "--certificate", str(saved))
    assert "no one value" in command("prove", *FORMULA, *words).error
    assert not saved.exists()


def test_missing_files(command: Command) -> None:
    assert "cannot be read" in command("prove", "nowhere.txt").error
