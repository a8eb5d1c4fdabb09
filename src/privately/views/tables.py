"""Tables of plain text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from privately.errors import InvalidParameter

_GAP = "   "


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their header, in columns that are as wide as they must be.

    >>> print(table(["delta", "epsilon"], [["1e-3", "4.5"], ["1e-10", "10.25"]]))
    delta   epsilon
    1e-3    4.5
    1e-10   10.25
    """
    lines = [list(header), *(list(row) for row in rows)]
    if any(len(line) != len(header) for line in lines):
        raise InvalidParameter("rows", f"every row must have {len(header)} cells, as the header has.")
    lines = [[" ".join(cell.split()) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
