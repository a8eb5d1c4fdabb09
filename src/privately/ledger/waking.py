"""Outcomes for those who wait in an event loop."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Iterable
from typing import Any

from privately.errors import LedgerUnavailable


def give(outcomes: Iterable[tuple[Future[Any], Any, BaseException | None]]) -> None:
    """Tells futures of a loop what became of what they wait for, in the thread of the loop."""
    for future, result, fault in outcomes:
        if future.done():
            continue  # whoever waited was cancelled
        if fault is None:
            future.set_result(result)
        else:
            _fail(future, fault)


def _fail(future: Future[Any], fault: BaseException) -> None:
    told = fault if isinstance(fault, Exception) else LedgerUnavailable("the ledger was closed.")
    try:
        future.set_exception(told)
    except Exception:  # noqa: BLE001 - asyncio takes no StopIteration; others wait behind it
        future.set_exception(LedgerUnavailable(f"the ledger failed with {type(fault).__name__}."))
