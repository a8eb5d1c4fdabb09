"""Shares of CPU time."""

from privately.proving.refuting.deadlines import Deadline


def test_deadlines_pass() -> None:
    assert Deadline(-1).passed()
    assert not Deadline(100).passed()
    assert Deadline(100).part(0.5).end < Deadline(60).end
    assert Deadline(-5).part(0.5).passed()


def test_what_is_left() -> None:
    assert 9 < Deadline(10).left <= 10
    assert Deadline(-1).left == 0
