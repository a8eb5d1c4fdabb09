"""Answers as tables of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privately.plans import Value


def arrow_table(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> Any:
    """A pyarrow table; None is NULL, and the types are those of the values."""
    import pyarrow as pa

    return pa.table({name: pa.array([row[at] for row in rows]) for at, name in enumerate(columns)})
