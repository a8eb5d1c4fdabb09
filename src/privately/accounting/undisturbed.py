"""The same answers in every program, whatever it has told `decimal` and NumPy to round, trap or warn about."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, DivisionByZero, InvalidOperation, Overflow, getcontext, setcontext
from types import TracebackType

import numpy as np

_USUAL = Context(
    prec=28,
    rounding=ROUND_HALF_EVEN,
    Emin=-999_999,
    Emax=999_999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[InvalidOperation, DivisionByZero, Overflow],
)


class undisturbed:  # noqa: N801  # to be read as what follows `with`
    """Both as they are unless somebody sets them; what was set comes back afterwards."""

    __slots__ = ("_decimals", "_floats")

    def __enter__(self) -> None:
        self._decimals = getcontext()
        setcontext(_USUAL.copy())
        self._floats = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
        self._floats.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._floats.__exit__(kind, fault, trace)
        setcontext(self._decimals)
