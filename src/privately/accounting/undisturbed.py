"""The same answers in every program, whatever it has told `decimal` and NumPy to round, trap or warn about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_HALF_EVEN, Context, DivisionByZero, InvalidOperation, Overflow, localcontext

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


@contextmanager
def undisturbed() -> Iterator[None]:
    """Both as they are unless somebody sets them; what was set comes back afterwards."""
    with localcontext(_USUAL), np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        yield
