"""`privately account`, from the words typed to the words printed."""

import io
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from privately import accounting as acc
from privately.accounting import encoding
from privately.cli.account.asking import CURVE
from privately.cli.account.mechanisms import MECHANISMS, Mechanism
from tests.cli.account.running import Account, account

__all__ = ["account"]

TRAINING = "gaussian --noise-multiplier 1 --rate 0.01 --steps 10000"


def test_the_example_of_the_issue(account: Account) -> None:
    shown = account(f"{TRAINING} --delta 1e-5")
    assert shown.status == 0
    assert "epsilon is between 6.18771" in shown.out
    assert "hides adding or removing one row" in shown.out
    assert "at most 99.8 times in 100" in shown.out


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.command)
def test_the_example_of_every_command_runs_and_stands_in_its_help(mechanism: Mechanism, account: Account) -> None:
    helped = account(f"{mechanism.command} --help")
    assert helped.status == 0
    assert f"privately account {mechanism.example}" in " ".join(helped.out.split())
    done = account(mechanism.example)
    assert done.status == 0, done.err
    assert "at delta 1e-" in done.out


def test_without_a_question_the_whole_curve_is_told(account: Account) -> None:
    for words in ("laplace --scale 10 --steps 100", "laplace --scale 10 --steps 100 --curve"):
        lines = account(words).out.splitlines()
        assert [line.split()[0] for line in lines[-len(CURVE) :]] == list(CURVE)


def test_what_was_asked_comes_before_the_curve(account: Account) -> None:
    data = json.loads(
        account("laplace --scale 10 --steps 100 --delta 0.25 --delta 1e-6 --epsilon 0.05 --curve --json").out
    )
    first, second, *rest, last = data["answers"]
    assert (first["delta"], second["delta"], last["epsilon"]) == ("0.25", "1e-6", "0.05")
    assert len(rest) == len(CURVE) - 1


def test_json_goes_round(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    first = json.loads(account("laplace --scale 10 --steps 3 --delta 1e-6 --json").out)
    text = json.dumps(first["event"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert json.loads(account("event - --delta 1e-6 --json").out) == first


def test_an_event_from_a_file(account: Account, tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(encoding.to_text(acc.Sequence(events=[acc.Laplace(scale=1), acc.Laplace(scale="0.5")])))
    assert "at delta 0, epsilon is 3 " in account(f"event {path} --delta 0").out
    path.write_bytes(b"\xff")
    assert account(f"event {path} --delta 0").error.startswith(f"'{path}': is not a text in UTF-8; ")
    assert "cannot be read" in account(f"event {path}.missing --delta 0").error


def test_noise_for_a_target(account: Account) -> None:
    shown = account("gaussian --rate 0.01 --steps 10000 --delta 1e-5 --target-epsilon 1")
    assert "\nfound --noise-multiplier 3.812" in shown.out
    data = json.loads(account("laplace --steps 100 --delta 1e-6 --target-epsilon 1 --json").out)
    assert data["found"]["option"] == "--scale"
    assert Fraction(data["found"]["value"]) == Fraction(data["event"]["event"]["event"]["scale"])
    assert data["answers"][0]["epsilon"]["upper"] <= 1
    assert data["answers"][0]["epsilon"]["lower"] > 0.9999


def test_a_plot(account: Account, tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    path.write_text("old")
    shown = account(f"laplace --scale 10 --steps 100 --delta 1e-6 --plot {path}")
    assert shown.out.endswith(f"\ndrawn in {path}\n")
    first = path.read_text()
    assert first.startswith("<svg ")
    account(f"laplace --scale 10 --steps 100 --delta 1e-6 --curve --json --plot {path}")
    assert path.read_text() == first  # only what was asked for is marked, not all of the curve
    assert [one.name for one in tmp_path.iterdir()] == ["curve.svg"]


def test_a_plot_that_cannot_be_written_leaves_nothing(account: Account, tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    words = "laplace --scale 10 --steps 100 --delta 1e-6 --plot"
    assert account(f"{words} {tmp_path}/folder.svg").error.startswith("--plot: cannot write")
    assert account(f"{words} {tmp_path}/missing/curve.svg").error.startswith("--plot: cannot write")
    assert account(f"{words} {tmp_path}/curve.gif").error == "--plot: 'curve.gif' must end in .svg or .png."
    infinite = account(f"gaussian --noise-multiplier 0 --delta 1e-6 --plot {tmp_path}/curve.svg").error
    assert infinite.startswith("--plot: there is nothing to draw")
    assert [one.name for one in tmp_path.iterdir()] == ["folder.svg"]
    assert list((tmp_path / "folder.svg").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("gaussian --delta 1e-5", "--noise-multiplier: is missing; give it, or --target-epsilon to have it found."),
        ("approx --epsilon-each 1 --delta 1e-5", "--delta-each: is missing; give it."),
        ("gaussian --noise-multiplier -1 --delta 1e-5", "--noise-multiplier: '-1' is below 0."),
        ("gaussian --noise-multiplier nan --delta 1e-5", "--noise-multiplier: 'nan' is not a number"),
        ("gaussian --noise-multiplier inf --delta 1e-5", "--noise-multiplier: 'inf' is not a number"),
        ("gaussian --noise-multiplier 1e-12 --delta 1e-5", "--noise-multiplier: below 1e-09"),
        ("laplace --scale 1 --rate 1.5 --delta 1e-5", "--rate: '1.5' is above 1."),
        ("laplace --scale 1 --rate -0.5 --delta 1e-5", "--rate: '-0.5' is below 0."),
        ("laplace --scale 1 --rate often --delta 1e-5", "--rate: 'often' is not a number"),
        ("laplace --scale 1 --steps -1 --delta 1e-5", "--steps: -1 is not between 0 and "),
        ("laplace --scale 1 --steps 1e15 --delta 1e-5", "--steps: 1000000000000000 is not between 0 and "),
        ("laplace --scale 1 --steps 1.5 --delta 1e-5", "--steps: 1.5 is not a whole number."),
        ("laplace --scale 1 --steps 1e99999 --delta 1e-5", "--steps: '1e99999' is out of range"),
        (
            "laplace --scale 1 --delta tiny",
            "--delta: 'tiny' is not a number; write it as in 0.1, 1e-5 or 1/3.",
        ),
        ("laplace --scale 1 --delta 1e-100000", "--delta: '1e-100000' is out of range"),
        ("laplace --scale 1 --delta 2", "--delta: '2' is above 1."),
        ("laplace --scale 1 --delta -1", "--delta: '-1' is below 0."),
        ("laplace --scale 1 --delta nan", "--delta: 'nan' is not a number"),
        ("laplace --scale 1 --epsilon -1", "--epsilon: '-1' is below 0."),
        ("laplace --scale 1 --delta 0.1 --width 0", "--width: '0' must be above 0."),
        ("laplace --scale 1 --delta 0.1 --method magic", "--method: must be one of closed-form, "),
        (
            "exponential --epsilon-each 1 --steps 10 --delta 1e-5 --method contour",
            "there is no rule from Repeat to an upper end by the method 'contour'.",
        ),
        (
            "gaussian --noise-multiplier 1 --rate 0.01 --steps 100 --delta 1e-5 --method closed-form",
            "there is no rule from Repeat to an upper end by the method 'closed form'.",
        ),
        ("laplace --scale 1 --neighbors nobody --delta 0.1", "--neighbors: 'nobody' is neither"),
        (
            "laplace --scale 1 --neighbors replace --rate 0.1 --delta 0.1",
            "there is no rule from events about replacing",
        ),
        ("laplace --scale 1 --sample-size 1 --population 9 --delta 0.1", "there is no rule from events about adding"),
        ("laplace --scale 1 --sample-size 10 --delta 0.1", "--sample-size: belongs together with --population"),
        ("laplace --scale 1 --rate 0.1 --population 10 --delta 0.1", "--rate: is for Poisson sampling"),
        ("laplace --scale 1 --neighbors replace --sample-size 9 --population 3", "--sample-size: 9 is more than"),
        ("randomized-response --epsilon-each 1 --categories 1 --delta 0.1", "--categories: 1 is not between 2"),
        ("randomized-response --epsilon-each x --delta 0.1", "--epsilon-each: 'x' is not a number"),
        ("laplace --target-epsilon 1", "--delta: give exactly one with --target-epsilon."),
        ("laplace --target-epsilon 1 --delta 0.1 --delta 0.2", "--delta: give exactly one with --target-epsilon."),
        ("laplace --target-epsilon 1 --delta 0.1 --method contour", "--method: leave it out with --target-epsilon"),
        ("laplace --target-epsilon 1 --delta 0.1 --target-epsilon 2", "--target-epsilon: was typed twice"),
        ("laplace --scale 1 --scale=2 --delta 0.1", "--scale: was typed twice"),
        ("event - --delta 0.1 --width 0.1 --width 0.2", "--width: was typed twice"),
        ("laplace --target-epsilon nan --delta 0.1", "--target-epsilon: 'nan' is not a number"),
        ("laplace --scale 1 --find steps --delta 0.1", "--find: belongs to --target-epsilon"),
        ("laplace --scale 1 --target-epsilon 1 --delta 0.1", "--scale: is to be found"),
    ],
)
def test_bad_input_is_one_line(words: str, complaint: str, account: Account) -> None:
    assert account(words).error.startswith(complaint)


@pytest.mark.parametrize("words", ["gaussian --colour red", "uniform --delta 1", "event", "gaussian --delta"])
def test_wrong_usage(words: str, account: Account) -> None:
    done = account(words)
    assert (done.status, done.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("gaussian --noise-multiplier 0 --delta 1e-5", "epsilon is infinite"),
        ("gaussian --noise-multiplier 1 --delta 0", "epsilon is infinite"),
        ("gaussian --noise-multiplier 1 --delta 1", "epsilon is 0 "),
        ("laplace --scale 4 --steps 1e12 --delta 0", "epsilon is 250000000000 "),
        ("laplace --scale 4 --steps 0 --delta 0", "epsilon is 0 "),
        ("laplace --scale 4 --rate 0 --delta 0", "epsilon is 0 "),
        ("laplace --scale 4 --rate 1 --delta 0", "epsilon is 0.25 "),
    ],
)
def test_edges_have_answers(words: str, answer: str, account: Account) -> None:
    done = account(words)
    assert done.status == 0, done.err
    assert answer in done.out


def test_the_command_starts_without_numpy() -> None:
    program = (
        "import sys; sys.argv = ['privately', 'account', 'gaussian', '--help']\n"
        "from privately.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'scipy', 'privately.accounting') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
