"""What a row of a CSV file is: a line. A file in which a cell could reach into the next line is refused to its owner.

Readers carry on after a quote that is never closed, after a line break in quotes, or after one line that ends otherwise
than the rest: one person's cell would then decide which rows of others are read. So before anybody asks, every line is
looked at by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from privately.errors import InvalidParameter

_BLOCK = 2**22
_LONGEST = 2**20
"""Bytes of a line. DuckDB drops those of more than 2 MB, and of those with just as many all but the first."""
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineForm:
    """How lines are written: what separates cells, what quotes them, and whether lines end in a carriage return too.

    Lines without anything are no rows, except where a row is one cell.
    """

    delimiter: str
    quote: str
    returns: bool
    header: bool = True
    one_cell: bool = False

    @property
    def new_line(self) -> str:
        """The end of a line, as DuckDB wants it written."""
        return "\\r\\n" if self.returns else "\\n"

    def pattern(self) -> re.Pattern[bytes]:
        """A line whose quotes open at the beginning of a cell and close at its end, or stand within an unquoted one."""
        quote, delimiter = re.escape(self.quote.encode()), re.escape(self.delimiter.encode())
        quoted = rb"%b(?:[^%b]|%b%b)*+%b" % ((quote,) * 5)
        plain = rb"(?:[^%b%b\s][^%b]*+)?" % (quote, delimiter, delimiter)
        spaced = rb"[^%b%b\S]++(?:[^%b%b][^%b]*+)?" % (quote, delimiter, quote, delimiter, delimiter)
        cell = rb"(?:%b|%b|%b)" % (quoted, spaced, plain)
        return re.compile(rb"(?>%b)(?:%b(?>%b))*+" % (cell, delimiter, cell))


def check_lines(path: Path, form: LineForm) -> int:
    """How many rows there should be, if every line is UTF-8 and a row of its own; the owner is told which one is not.

    Theorem: if it passes, no cell holds the end of a line, and all lines end alike; so where a row begins and ends does
        not depend on what is in any other row.
    Reference: elementary
    Proof: docs/theory/engines.md#lines-of-text
    Checked-by: tests/engines/duckdb/test_lines.py::test_lines_that_pass_are_read_one_by_one
    """
    good, quote, before, rows = form.pattern(), form.quote.encode(), 0, -int(form.header)
    for block in _blocks(path):
        _check_lengths(block, before)
        _check_ends(path, block, form, before)
        _check_text(block, before)
        _check_marks(path, block, form, before)
        rows += _rows(block, form)
        if quote in block:
            for number, line in enumerate(block.split(b"\n"), start=before + 1):
                bare = line.removesuffix(b"\r")
                if quote in bare and good.fullmatch(bare.removeprefix(_MARK) if number == 1 else bare) is None:
                    raise _refusal(path, number, "has a quote that is not closed at the end of its cell")
        before += block.count(b"\n")
    return max(rows, 0)


def _rows(block: bytes, form: LineForm) -> int:
    """How many of these lines should be rows."""
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    end = b"\r\n" if form.returns else b"\n"
    if form.one_cell or not (block.startswith(end) or b"\n" + end in block):
        return lines
    return lines - sum(line in (b"", b"\r") for line in block.removesuffix(b"\n").split(b"\n"))


def _check_lengths(block: bytes, before: int) -> None:
    """Goes on by as many lines at a time as fit into the longest."""
    at = 0
    while len(block) - at > _LONGEST:
        end = block.rfind(b"\n", at, at + _LONGEST + 1)
        if end < 0:
            raise _too_long(before + 1 + block.count(b"\n", 0, at))
        at = end + 1


def _too_long(line: int) -> InvalidParameter:
    hint = "A row is a line; look for a line break that is missing."
    return InvalidParameter("source", f"line {line:,} has more than {_LONGEST:,} bytes.", hint=hint)


def _check_text(block: bytes, before: int) -> None:
    if block.isascii():
        return
    try:
        block.decode()
    except UnicodeDecodeError as fault:
        number = before + 1 + block.count(b"\n", 0, fault.start)
        hint = "Convert the file to UTF-8, or repair or drop such lines, and open that."
        raise InvalidParameter("source", f"line {number:,} is no text in UTF-8.", hint=hint) from None


def _check_marks(path: Path, block: bytes, form: LineForm, before: int) -> None:
    """A mark at the beginning of a file is dropped; so no row may begin with one that could be the first some day."""
    if form.header or _MARK not in block:
        return
    for number, line in enumerate(block.split(b"\n"), start=before + 1):
        if number > 1 and line.startswith(_MARK):
            raise _refusal(path, number, "begins with a byte order mark, as only a file may")


def _check_ends(path: Path, block: bytes, form: LineForm, before: int) -> None:
    """Carriage returns are at the ends of all lines, or nowhere."""
    returns, ends = block.count(b"\r"), block.count(b"\n")
    if returns == (ends if form.returns else 0) and (not returns or block.count(b"\r\n") == ends):
        return
    lines = block.split(b"\n")
    for number, line in enumerate(lines, start=before + 1):
        is_last = number == before + len(lines)
        if b"\r" in line.removesuffix(b"\r") or (is_last and b"\r" in line):
            raise _refusal(path, number, "has a carriage return within")
        if not is_last and line.endswith(b"\r") != form.returns:
            raise _refusal(path, number, "ends otherwise than the first one (with or without a carriage return)")


def _refusal(path: Path, line: int, what: str) -> InvalidParameter:
    convert = f"COPY (FROM read_csv('{path.name}', all_varchar = true)) TO '{path.stem}.parquet'"
    hint = f'A row is a line. Convert the file once, duckdb.sql("{convert}"), and open that, declared as it is.'
    return InvalidParameter("source", f"line {line:,} {what}.", hint=hint)


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines; only the last one may end without the end of a line."""
    with path.open("rb") as stream:
        rest, lines = b"", 1
        while block := stream.read(_BLOCK):
            whole, end, begun = block.rpartition(b"\n")
            if end:
                yield rest + whole + end
                rest, lines = begun, lines + block.count(b"\n")
            else:
                rest += block
            if len(rest) > _LONGEST:
                raise _too_long(lines)
        if rest:
            yield rest
