"""An interrupt is put off, never lost; other threads are left alone."""

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from privately.ledger.interrupts import uninterrupted


@pytest.fixture(autouse=True)
def _interrupts_are_handled() -> Iterator[None]:
    """As in a terminal: what a shell starts in the background begins with interrupts ignored."""
    handle = signal.signal  # which a test may replace
    before = handle(signal.SIGINT, signal.default_int_handler)
    yield
    handle(signal.SIGINT, before)


def test_an_interrupt_comes_at_the_end() -> None:
    done = []

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_whoever_handles_interrupts_is_called_once() -> None:
    told: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
    try:
        with uninterrupted():
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGINT)
            assert told == []
        assert told == [signal.SIGINT]
        os.kill(os.getpid(), signal.SIGINT)
        assert told == [signal.SIGINT] * 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_nothing_changes_without_one() -> None:
    for handler in (signal.SIG_IGN, signal.SIG_DFL):
        before = signal.signal(signal.SIGINT, handler)
        try:
            with uninterrupted():
                pass
            assert signal.getsignal(signal.SIGINT) is handler
        finally:
            signal.signal(signal.SIGINT, before)


def test_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), uninterrupted():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread() -> None:
    seen: list[Any] = []

    def look() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_an_interpreter_that_handles_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("signal only works in main thread of the main interpreter")

    monkeypatch.setattr(signal, "signal", refuse)
    done = []
    with uninterrupted():
        done.append("all of it")
    assert done == ["all of it"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGALRM, signal.SIGHUP, signal.SIGUSR1])
def test_any_signal_that_a_program_handles_comes_at_the_end(number: signal.Signals) -> None:
    """A deadline, or a server that is told to end and closes its ledger."""
    done: list[str] = []

    def end(*_: object) -> None:
        done.append("handled")
        raise SystemExit(3)

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), number)
            sum(range(1000))
            done.append("all of it")

    before = signal.signal(number, end)
    try:
        with pytest.raises(SystemExit):
            work()
        assert done == ["all of it", "handled"]
        assert signal.getsignal(number) is end
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_each_of_several_is_called_though_one_raises() -> None:
    told: list[int] = []

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGUSR1)
            sum(range(1000))

    before = signal.signal(signal.SIGUSR1, lambda number, frame: told.append(number))
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert told == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_handlers_come_back_though_one_raises_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the first that was given back had been called at once, for a signal that came just then."""
    real = signal.signal
    raised: list[int] = []

    def give(number: int, handler: Any) -> Any:
        found = real(number, handler)
        if handler is ends and not raised:
            raised.append(number)
            raise TimeoutError
        return found

    def ends(*_: object) -> None: ...

    before = real(signal.SIGHUP, ends)
    try:
        with pytest.raises(TimeoutError), uninterrupted():
            monkeypatch.setattr(signal, "signal", give)
        assert signal.getsignal(signal.SIGHUP) is ends
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        real(signal.SIGHUP, before)
