"""Ledgers that somebody who knows our code has written anew, with hashes that fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import apsw

from privately.ledger import book as books
from privately.ledger.entries import chained, read
from privately.ledger.stores import EMPTY
from tests.ledger.examples import forging

Texts = list[tuple[dict[str, Any], dict[str, Any]]]


def rewritten(path: Path, change: Callable[[Texts], None]) -> None:
    """Changes entries and computes the chain, the names and the numbers anew, as somebody who knows our code would.

    Every charge says its terms itself then, as it may.
    """
    with forging(path) as file:
        answers = dict(file.execute("SELECT number, bytes FROM answer"))
        marks = dict(file.execute("SELECT number, checkpoint FROM record"))
        listed: Any = list(file.execute("SELECT text FROM record ORDER BY number"))
        texts: Texts = []
        for (text,) in listed:
            first, second = map(json.loads, text.split(b"\n"))
            texts.append((deepcopy(texts[first["terms"] - 1][0]) if "terms" in first else first, second))
        change(texts)
        file.execute("DROP INDEX IF EXISTS by_charge")
        file.execute("DELETE FROM answer")
        file.execute("DELETE FROM record")
        last = EMPTY.hash
        for number, parts in enumerate(texts, 1):
            text = b"\n".join(json.dumps(one, sort_keys=True, separators=(",", ":")).encode() for one in parts)
            last = chained(last, text)
            names = books.names(read(text)[0])
            file.execute(
                "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)", (number, last, text, *names, marks.get(number))
            )
            if number in answers:
                file.execute("INSERT INTO answer VALUES (?, ?)", (number, answers[number]))
        with suppress(apsw.ConstraintError):
            file.execute("CREATE UNIQUE INDEX by_charge ON record (charge) WHERE charge IS NOT NULL")


def rechained(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Changes texts byte by byte and computes the chain anew; what records are filed under stays."""
    with forging(path) as file:
        listed: Any = list(file.execute("SELECT number, text FROM record ORDER BY number"))
        last = EMPTY.hash
        for number, text in listed:
            changed = change(text)
            last = chained(last, changed)
            file.execute("UPDATE record SET text = ?, hash = ? WHERE number = ?", (changed, last, number))


def of(texts: Texts, what: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [parts for parts in texts if parts[0]["what"] == what]
