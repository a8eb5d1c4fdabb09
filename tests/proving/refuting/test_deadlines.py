"""Shares of CPU time."""

from collections import Counter
from threading import Thread
from time import process_time

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

    monkeypatch.setattr(deadlines, "monotonic", lambda: seconds["wall"])
    monkeypatch.setattr(deadlines, "thread_time", looked)
    deadline = Deadline(10)
    for step in range(1, 2001):  # beside as much other work
        seconds["wall"], seconds["cpu"] = step / 50, step / 100
        assert deadline.passed() is (step > 1000)
        if step == 800:
            assert looks["cpu"] < 5


def test_other_threads_take_no_time_away() -> None:
    deadline = Deadline(10)

    def work() -> None:
        end = process_time() + 0.05
        while process_time() < end:
            pass

    other = Thread(target=work)
    other.start()
    other.join()
    assert deadline.left > 9.98
