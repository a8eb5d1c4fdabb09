"""People, programs and pictures are told the same."""

import json
import math
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest

from privately import accounting as acc
from privately.accounting import encoding
from privately.cli.account.asking import Answer, Found
from privately.cli.account.telling import as_json, cut, plot, text
from privately.errors import InvalidParameter
from privately.guarantees import Neighbors
from privately.rounding import Interval

EVENT = acc.Repeat(event=acc.Laplace(scale=10, neighbors=Neighbors.REPLACE), times=100)


def at_delta(delta: str, lower: str, upper: str) -> Answer:
    interval = Interval(_end(lower), _end(upper), method="some method")
    return Answer(given="delta", value=delta, found="epsilon", interval=interval)


def at_epsilon(epsilon: str, lower: str, upper: str) -> Answer:
    interval = Interval(_end(lower), _end(upper), method="some method")
    return Answer(given="epsilon", value=epsilon, found="delta", interval=interval)


def _end(value: str) -> Fraction | float:
    return math.inf if value == "inf" else Fraction(value)


def test_one_answer_is_a_sentence_and_its_meaning() -> None:
    event, hidden, empty, answer, words = text(EVENT, [at_delta("1e-6", "4.692665", "4.692668")], None).splitlines()
    assert event == "Repeat(event=Laplace(scale=10, neighbors=<replacing one row>), times=100)"
    assert hidden == "hides replacing one row"
    assert empty == ""
    assert answer == "at delta 1e-6, epsilon is between 4.692665 and 4.692668 (some method)"
    assert words == (
        "In words: of two equally likely data sets that differ by replacing one row, whoever sees the answers guesses"
        " the right one at most 99.1 times in 100."
    )


def test_delta_is_told_by_its_upper_end() -> None:
    shown = text(EVENT, [at_epsilon("1", "0.01", "0.02")], None)
    assert "at epsilon 1, delta is between 0.01 and 0.02" in shown
    assert "73.7 times in 100" in shown


def test_pure_and_infinite() -> None:
    assert "at most 73.2 times in 100" in text(EVENT, [at_delta("0", "1", "1")], None)
    assert text(EVENT, [at_delta("0", "inf", "inf")], None).endswith("In words: nothing is promised.")
    assert text(EVENT, [at_delta("0", "1", "inf")], None).endswith("In words: nothing is promised.")


def test_many_answers_are_tables() -> None:
    answers = [at_delta("1e-3", "1", "2"), at_delta("1e-4", "3", "inf"), at_epsilon("1", "0.25", "0.5")]
    shown = text(EVENT, answers, None)
    assert "delta   epsilon, at least   epsilon, at most   by\n1e-3    1 " in shown
    assert "1e-4    3                   inf                some method" in shown
    assert "epsilon   delta, at least   delta, at most   by\n1         0.25" in shown


def test_what_was_found_comes_first() -> None:
    found = Found(option="--noise-multiplier", value="3.5", target="1", delta="1e-5")
    shown = text(EVENT, [at_delta("1e-5", "0.5", "1")], found)
    assert "\n\nfound --noise-multiplier 3.5, which keeps epsilon at most 1 at delta 1e-5\n\nat delta" in shown


def test_json_holds_the_event_and_the_answers() -> None:
    found = Found(option="--scale", value="3.5", target="1", delta="1e-5")
    answers = [at_delta("1e-5", "0.5", "1"), at_delta("0", "1", "inf"), at_epsilon("1", "0.25", "0.5")]
    data = json.loads(as_json(EVENT, answers, found))
    assert encoding.decode(data["event"]) == EVENT
    assert data["neighbors"] == "replacing one row"
    first, second, third = data["answers"]
    assert first["right_guesses"] == pytest.approx(0.7310586, abs=1e-5)
    assert first["right_guesses"] >= math.e / (1 + math.e)
    assert (first["delta"], first["epsilon"]) == ("1e-5", {"lower": 0.5, "upper": 1.0})
    assert (second["epsilon"]["upper"], second["right_guesses"]) == (None, 1.0)
    assert (third["epsilon"], third["delta"]) == ("1", {"lower": 0.25, "upper": 0.5})
    assert data["found"] == {"option": "--scale", "value": "3.5", "target_epsilon": "1"}


def test_the_plot_shows_both_ends_and_what_was_asked() -> None:
    curve = [at_delta("1e-6", "4", "inf"), at_delta("1e-5", "3", "3.5"), at_delta("1e-3", "1", "1.5")]
    asked = [at_delta("1e-4", "2", "2.5"), at_delta("1e-6", "4", "inf"), at_epsilon("3", "0", "0")]
    root = ET.fromstring(plot(EVENT, curve, asked))
    upper, lower = (line.attrib["points"].split() for line in root.iter("{http://www.w3.org/2000/svg}polyline"))
    assert len(upper) == len(lower) == 2
    (area,) = root.iter("{http://www.w3.org/2000/svg}polygon")
    assert area.attrib["points"].split() == upper + lower[::-1]
    assert all(float(one.split(",")[1]) < float(other.split(",")[1]) for one, other in zip(upper, lower, strict=True))
    assert "epsilon at most 2.5 at delta 1e-4" in "".join(root.itertext())
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 1


def test_nothing_to_draw() -> None:
    with pytest.raises(InvalidParameter, match="--plot: there is nothing to draw"):
        plot(EVENT, [at_delta("1e-6", "inf", "inf")], [])


def test_long_events_are_cut() -> None:
    assert len(cut("x" * 1000)) <= 300
    assert cut("short") == "short"
