"""Shares of CPU time."""

from collections import Counter

import pytest

from privately.proving.refuting import deadlines
from privately.proving.refuting.deadlines import Deadline


def test_deadlines_pass() -> None:
    assert Deadline(-1).passed()
    assert not Deadline(100).passed()
    assert Deadline(100).part(0.5).end < Deadline(60).end
    assert Deadline(-5).part(0.5).passed()


def test_what_is_left() -> None:
    assert 9 < Deadline(10).left <= 10
    assert Deadline(-1).left == 0


def test_time_is_looked_at_where_it_can_have_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, looks = {"cpu": 0.0, "wall": 0.0}, Counter[str]()

    def looked() -> float:
        looks["cpu"] += 1
        return seconds["cpu"]

    monkeypatch.setattr(deadlines, "THREADS", 2)
    monkeypatch.setattr(deadlines, "monotonic", lambda: seconds["wall"])
    monkeypatch.setattr(deadlines, "process_time", looked)
    deadline = Deadline(10)
    for step in range(1, 1001):  # two threads, each as fast as the clock
        seconds["wall"], seconds["cpu"] = step / 100, step / 50
        assert deadline.passed() is (step > 500)
        if step == 400:
            assert looks["cpu"] < 4
