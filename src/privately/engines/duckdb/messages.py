"""What is said between a process and its worker: a line of JSON, and arrays of bytes behind it. Never code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import date, datetime
from typing import Any

from privately.engines.duckdb.programs import BinsText, Choice, Code, Direct, Histogram, Part, Program, Total
from privately.engines.protocol import Bins, Counts
from privately.plans.types import Type, Value

Reader = Callable[[int], bytes]
"""Gives exactly so many bytes."""

_LONGEST_HEADER = 2**31
TURN_BYTES = 8
"""An answer begins with the number of the message that it answers."""


def packed(header: Any, arrays: Sequence[Any] = ()) -> bytes:
    """A message as bytes."""
    bodies = _bodies(arrays) if arrays else []
    shapes = [[width, len(body)] for width, body in bodies]
    text = json.dumps({"header": header, "arrays": shapes}, default=_by_name).encode()
    return b"".join([len(text).to_bytes(8, "big"), text, *(body for _, body in bodies)])


def unpacked(read: Reader) -> tuple[Any, list[Any]]:
    """The next message: its header, and its arrays."""
    length = int.from_bytes(read(8), "big")
    if length > _LONGEST_HEADER:
        raise ValueError("no message")
    message = json.loads(read(length))
    bodies = [(width, read(size)) for width, size in message["arrays"]]
    return message["header"], _arrays(bodies) if bodies else []


_WIDTHS = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<i8"}
"""How many bytes a number takes: as few as the largest of an array allows, since there may be millions."""


def _bodies(arrays: Sequence[Any]) -> list[tuple[int, memoryview]]:
    import numpy as np  # most messages have no arrays, and it takes long to load

    found = []
    for array in arrays:
        least, most = (int(array.min()), int(array.max())) if len(array) else (0, 0)
        width = next((one for one in (1, 2, 4) if least >= 0 and most < 1 << 8 * one), 8)
        found.append((width, np.ascontiguousarray(array, dtype=_WIDTHS[width]).view(np.uint8).data))
    return found


def _arrays(bodies: Sequence[tuple[int, bytes]]) -> list[Any]:
    import numpy as np

    return [np.frombuffer(body, dtype=_WIDTHS[width]) for width, body in bodies]


def _by_name(value: Any) -> dict[str, Any]:
    """The fields of a dataclass; TypeError if it is none."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def program_header(program: Program) -> dict[str, Any]:
    return _by_name(program) | {"types": [kind.value for kind in program.types]}


def program_of(header: dict[str, Any]) -> Program:
    bins = [
        BinsText(**(one | {"codes": None if one["codes"] is None else tuple(Code(**code) for code in one["codes"])}))
        for one in header["bins"]
    ]
    types = tuple(Type(kind) for kind in header["types"])
    ways = {
        "choice": _choice_of(header["choice"]),
        "histogram": _histogram_of(header["histogram"]),
        "direct": _direct_of(header["direct"]),
    }
    return Program(**(header | {"types": types, "bins": tuple(bins)} | ways))


def _choice_of(header: dict[str, Any] | None) -> Choice | None:
    if header is None:
        return None
    lists = {field: tuple(header[field]) for field in ("before", "key", "sizes", "lows")}
    groups = tuple(tuple(group) for group in header["groups"])
    return Choice(**(header | lists | {"groups": groups, "parts": tuple(Part(**part) for part in header["parts"])}))


def _histogram_of(header: dict[str, Any] | None) -> Histogram | None:
    if header is None:
        return None
    lists = {field: tuple(header[field]) for field in ("before", "sizes", "rests", "bins")}
    groups = tuple(None if group is None else tuple(group) for group in header["groups"])
    return Histogram(**(header | lists | {"groups": groups}))


def _direct_of(header: dict[str, Any] | None) -> Direct | None:
    if header is None:
        return None
    lists = {field: tuple(None if one is None else tuple(one) for one in header[field]) for field in ("words", "asked")}
    return Direct(**(header | lists | {"totals": tuple(Total(**total) for total in header["totals"])}))


def counts_message(counts: Counts | None) -> bytes:
    """Counts as a message: whole numbers in the header, bins as arrays. None is that the long way has to be taken."""
    if counts is None:
        return packed({"groups": None})
    groups: list[Any] = []
    arrays: list[Any] = []
    for group, numbers in counts.items():
        shown: list[Any] = []
        for one in numbers:
            if isinstance(one, Bins):
                parts = [one.counts] if one.places is None else [one.counts, one.places]
                shown.append([len(arrays) + place for place in range(len(parts))])
                arrays += parts
            else:
                shown.append(one)
        groups.append([[_shown(value) for value in group], shown])
    return packed({"groups": groups}, arrays)


def counts_of(header: dict[str, Any], arrays: Sequence[Any], types: Sequence[Type]) -> Counts | None:
    """The counts again; only whole numbers are taken."""
    if header["groups"] is None:
        return None
    counts: Counts = {}
    for group, shown in header["groups"]:
        numbers = tuple(_bins(*(arrays[at] for at in one)) if isinstance(one, list) else int(one) for one in shown)
        counts[tuple(_value(value, kind) for value, kind in zip(group, types, strict=True))] = numbers
    return counts


def _bins(counts: Any, places: Any = None) -> Bins:
    return Bins(None if places is None else places.astype("<i8"), counts)


def _shown(value: Value) -> Value:
    return value.isoformat() if isinstance(value, date) else value


def _value(value: Any, kind: Type) -> Value:
    if value is None:
        return None
    if kind is Type.TIMESTAMP:
        return datetime.fromisoformat(value)
    found: Value = date.fromisoformat(value) if kind is Type.DATE else value
    return found
