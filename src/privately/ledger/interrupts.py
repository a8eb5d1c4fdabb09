"""Ctrl-C and other signals, where what they call must not come in between."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

Handler: TypeAlias = Callable[[int, FrameType | None], Any]
Came: TypeAlias = dict[int, FrameType | None]

_SIGNALS = tuple(sorted(signal.valid_signals()))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A signal that comes meanwhile comes at the end, once. Only the main thread ever calls what handles them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: Came = {}
    handlers: dict[int, Handler] = {}
    try:
        _put_off(handlers, came.setdefault)
        yield
    finally:
        try:
            _give_back(handlers)
        finally:  # a handler that was given back may have raised before the others were
            _give_back(handlers)
            _call(came)


def _put_off(handlers: dict[int, Handler], noted: Handler) -> None:
    """Has signals noted only, and keeps what handled them. Only the first interpreter of a process handles any."""
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            handlers[number] = handler
            try:
                signal.signal(number, noted)
            except ValueError:
                handlers.clear()
                return


def _give_back(handlers: dict[int, Handler]) -> None:
    while handlers:
        number, handler = next(iter(handlers.items()))
        signal.signal(number, handler)
        handlers.pop(number, None)


def _call(came: Came) -> None:
    """Calls what handles each signal, the others too if one raises."""
    if not came:
        return
    number = next(iter(came))
    frame, handler = came.pop(number), signal.getsignal(number)
    try:
        if callable(handler):
            handler(number, frame)
    finally:
        _call(came)
