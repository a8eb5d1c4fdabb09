"""Ctrl-C and other signals, where what they call must not come in between."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

try:
    import _signal as _handling  # type: ignore[import-not-found]  # what `signal` calls
except ImportError:  # pragma: no cover - another Python
    _handling = signal

Handler: TypeAlias = Callable[[int, FrameType | None], Any]
Came: TypeAlias = dict[int, FrameType | None]

_SIGNALS = tuple(sorted(signal.valid_signals()))
_get_handler, _set_handler = _handling.getsignal, _handling.signal
"""As those of `signal`, which look for the name of each number and so take forty times as long, once for every turn."""


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
        handler = _get_handler(number)
        if callable(handler):
            handlers[number] = handler
            try:
                _set_handler(number, noted)
            except ValueError:
                handlers.clear()
                return


def _give_back(handlers: dict[int, Handler]) -> None:
    while handlers:
        number, handler = next(iter(handlers.items()))
        _set_handler(number, handler)
        handlers.pop(number, None)


def _call(came: Came) -> None:
    """Calls what handles each signal, the others too if one raises."""
    if not came:
        return
    number = next(iter(came))
    frame, handler = came.pop(number), _get_handler(number)
    try:
        if callable(handler):
            handler(number, frame)
    finally:
        _call(came)
