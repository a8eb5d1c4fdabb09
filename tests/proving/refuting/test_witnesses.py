"""Witnesses: what they say, and that runs repeat it."""

import json
import math
from fractions import Fraction

from privately.proving.reading import read_program
from privately.proving.refuting.refuting import refute
from privately.proving.refuting.witnesses import Counterexample, LowerBound, shown
from tests.proving.textbook import COUNT, sparse


def test_runs_repeat_a_witness() -> None:
    found = refute(read_program(COUNT), Fraction(1), public={"epsilon": 2})
    assert isinstance(found, Counterexample)
    samples = 600
    replay = found.replay(samples)
    assert replay.noise == "exact"
    # Hoeffding: off by more than this with probability below 1e-9.
    assert abs(replay.count / samples - float(found.probability.lower)) < 0.135
    assert abs(replay.neighbor_count / samples - float(found.neighbor_probability.lower)) < 0.135
    assert replay.count > replay.neighbor_count


def test_an_impossible_event_is_never_drawn() -> None:
    public = {"threshold": 0, "most": 1, "epsilon": 1}
    found = refute(read_program(sparse(noise="0", guard="i < len(q)")), Fraction(1), public=public)
    assert isinstance(found, Counterexample)
    replay = found.replay(300)
    assert (replay.neighbor_count, replay.noise) == (0, "floating point")
    assert replay.count > 0


def test_witnesses_in_words_and_as_data() -> None:
    found = refute(read_program("def f(q: one(1)):\n    return sum(q)\n"), Fraction(1), public={}, sizes=(2,))
    assert isinstance(found, Counterexample)
    assert str(found).endswith("epsilon >= infinity")
    data = json.loads(json.dumps(found.as_data()))
    assert data["epsilon"] == ["inf", "inf"]
    assert len(data["inputs"]["q"]) == 2
    assert data["event"]["words"] == str(found.event)
    assert shown({"q": (Fraction(1, 2), 3), "x": 1}) == "q = [1/2, 3], x = 1"


def test_no_comparison_is_no_bound() -> None:
    assert LowerBound(best=None).epsilon.lower == 0
    assert LowerBound(best=None).epsilon.upper == math.inf
