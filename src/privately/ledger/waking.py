"""Outcomes for those who wait in an event loop: told to each, and all woken by one call of the loop."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from typing import Any, TypeAlias

from privately.errors import LedgerUnavailable

Waiting: TypeAlias = tuple[Context, Callable[[Future[Any]], object], Future[Any]]
"""Who waits for a future, to be called in which context."""


def give(loop: AbstractEventLoop, outcomes: Iterable[tuple[Future[Any], Any, BaseException | None]]) -> None:
    """Tells futures of a loop what became of what they wait for, in the thread of the loop.

    Whoever waits is woken in the next round of the loop, as ever. A future by itself would have the loop called for
    each of them, which takes longer than all else here.
    """
    woken: list[Waiting] = []
    for future, result, fault in outcomes:
        if future.done():
            continue  # whoever waited was cancelled
        waiting = getattr(future, "_callbacks", None)
        if waiting and len(waiting) == 1:
            callback, context = waiting[0]
            future.remove_done_callback(callback)
            woken.append((context, callback, future))
        if fault is None:
            future.set_result(result)
        else:
            _fail(future, fault)
    if woken:
        loop.call_soon(_wake, loop, iter(woken))


def _wake(loop: AbstractEventLoop, woken: Iterator[Waiting]) -> None:
    """Calls all who wait; where one raises, such as an interrupt, those behind it in the next round of the loop."""
    try:
        for context, callback, future in woken:
            context.run(callback, future)
    finally:
        for context, callback, future in woken:
            loop.call_soon(callback, future, context=context)


def _fail(future: Future[Any], fault: BaseException) -> None:
    told = fault if isinstance(fault, Exception) else LedgerUnavailable("the ledger was closed.")
    try:
        future.set_exception(told)
    except Exception:  # noqa: BLE001 - asyncio takes no StopIteration; others wait behind it
        future.set_exception(LedgerUnavailable(f"the ledger failed with {type(fault).__name__}."))
