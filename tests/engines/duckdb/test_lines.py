"""A row is a line, and no line reaches into another."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.lines import LineForm, check_lines
from privately.engines.duckdb.sources import Source, delimited, parquet
from privately.engines.protocol import Limits
from privately.errors import InvalidParameter
from privately.plans import Column, RowCount, Table, Unit
from tests.engines.duckdb.visits import asking

LIMITS = Limits(seconds=60, memory=2**28, threads=2)
HEADER, PLAIN = b"p,w,x\n", b"".join(b"%d,w%d,%d\n" % (at % 50, at % 3, at % 100) for at in range(200))
UNIX = LineForm(delimiter=",", quote='"', returns=False)

REACHING = {
    "a carriage return in quotes": b'77,"a\rb",5\n',
    "a carriage return in a cell": b"77,a\rb,5\n",
    "a line that ends otherwise": b"77,a,5\r\n",
    "a quote that is never closed": b'77,"abc,5\n',
    "the same in the first cell": b'"77,abc,5\n',
    "the same behind a quote within a cell": b'77,a"b,"5\n',
    "the same behind a blank": b'77, "b,5\n',
    "the same in a line with too many cells": b'7,7,7,7,7,"7\n',
    "more behind a quote": b'77,"a"b,5\n',
    "more quotes behind a quote": b'77,"a"b"c,5\n',
    "a line break in quotes": b'77,"a\nb",5\n',
    "a row in quotes": b'77,"a\n1,b,2\nc",5\n',
}
ALONE = {
    "quoted": (b'77,"a, ""b""",5\n', 1),
    "a quote within a cell": (b'77,a"b,5\n', 1),
    "an empty quoted cell": (b'77,"",5\n', 1),
    "too many cells": (b"77,a,5,6\n", 0),
    "too few cells": (b"77,a\n", 0),
    "an empty line": (b"\n", 0),
    "a cell that is as long as can be": (b"77," + b"a" * (2**20 - 5) + b",5\n", 1),
    "a quoted one of that length": (b'77,"' + b"a," * (2**19 - 4) + b'",5\n', 1),
    "no character": (b"77,\0,5\n", 1),
}


def _written(folder: Path, content: bytes) -> Source:
    path = folder / "t.csv"
    path.write_bytes(content)
    return delimited(path)


@pytest.mark.parametrize("fault", REACHING)
@pytest.mark.parametrize("place", ["first", "last"])
def test_lines_that_reach_into_others_are_refused(fault: str, place: str, tmp_path: Path) -> None:
    lines = [REACHING[fault], PLAIN] if place == "first" else [PLAIN, REACHING[fault]]
    source = _written(tmp_path, b"".join([HEADER, *lines]))
    number = 2 if place == "first" else 202
    with pytest.raises(InvalidParameter, match=rf"line {number} .*\. A row is a line"):
        check_lines(source.path, UNIX)


@pytest.mark.parametrize("fault", ["a line that ends otherwise", "a line break in quotes"])
def test_they_are_refused_when_the_table_is_opened(fault: str, tmp_path: Path) -> None:
    table = Table(name="t", columns=(Column(name="p", type="integer"),), unit=Unit())
    source = _written(tmp_path, HEADER + PLAIN + REACHING[fault])
    with pytest.raises(InvalidParameter, match="line 202 "):
        Embedded(table=table, source=source, key=bytes(32), limits=LIMITS)


def _counted(source: Source) -> Any:
    check_lines(source.path, UNIX)
    with duckdb.connect() as connection:
        return connection.execute(
            f"SELECT count(p), count(x), sum(TRY_CAST(x AS INT)) FROM {source.relation}"
        ).fetchone()


@pytest.mark.parametrize("case", ALONE)
def test_other_lines_are_read_or_dropped_alone(case: str, tmp_path: Path) -> None:
    line, counts = ALONE[case]
    source = _written(tmp_path, HEADER + PLAIN + line + PLAIN)
    rows, cells, total = _counted(source)
    assert rows == cells == 400 + counts
    assert check_lines(source.path, UNIX) - rows == (counts == 0 and case != "an empty line")
    assert total == 2 * sum(at % 100 for at in range(200)) + 5 * (rows - 400)


@pytest.mark.parametrize("before", [b"", PLAIN, b"1,%b,2\n" % (b"b" * 1_000_000) * 5])
@pytest.mark.parametrize("line", [b"77," + b"a" * (2**20 - 4) + b",5", b"77," + b"a" * 1_999_995 + b",5", b"a" * 2**23])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_lines_that_are_too_long_are_refused(before: bytes, line: bytes, end: bytes, tmp_path: Path) -> None:
    """A line of just as many bytes as DuckDB takes is read by it, or not, as others stand before it or do not."""
    path = _written(tmp_path, HEADER + before + line + end).path
    with pytest.raises(InvalidParameter, match=rf"line {len(before.splitlines()) + 2} has more than 1,048,576 bytes"):
        check_lines(path, UNIX)


def test_marks_begin_files_and_no_rows(tmp_path: Path) -> None:
    """The row that begins with one would lose it if the rows before it were not there."""
    path = tmp_path / "t.csv"
    bare = LineForm(delimiter=",", quote='"', returns=False, header=False)
    marked = b"\xef\xbb\xbf1,a,2\n"
    path.write_bytes(marked + PLAIN)
    assert check_lines(path, bare) == 201
    path.write_bytes(PLAIN + marked)
    with pytest.raises(InvalidParameter, match="line 201 begins with a byte order mark"):
        check_lines(path, bare)
    path.write_bytes(HEADER + marked)
    assert check_lines(path, UNIX) == 1


def _line(random: Random) -> bytes:
    pieces = [b'"', b'""', b",", b"a", b"1", b" ", b"\t", b"\\", b"'", "ÿ".encode(), b"\0", "é".encode(), b"#"]
    cells = [b"".join(random.choices(pieces, k=random.randrange(5))) for _ in range(random.choice([1, 2, 3, 3, 3]))]
    return b",".join(b'"%b"' % cell if random.random() < 0.4 else cell for cell in cells)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_that_pass_are_read_one_by_one(end: bytes, tmp_path: Path) -> None:
    """What a file gives is what its lines give by themselves, wherever the blocks of the reader begin."""
    random, form = Random(7), LineForm(delimiter=",", quote='"', returns=end == b"\r\n")
    good, pattern = [b'7,"a, ""b""",x'], form.pattern()
    while len(good) < 150:
        line = _line(random)
        good += [line] if pattern.fullmatch(line) else []
    path = tmp_path / "t.csv"

    def read(lines: list[bytes], *options: str) -> Counter[Any]:
        path.write_bytes(end.join([b"p,w,x", *lines, b""]))
        source = delimited(path)
        assert check_lines(path, form) == sum(map(bool, lines))
        relation = f"{source.relation[:-1]}{''.join(f', {one}' for one in options)})"
        return Counter(connection.execute(f"SELECT p, w, x FROM {relation}").fetchall())

    with duckdb.connect() as connection:
        each: Counter[Any] = Counter()
        for line in good:
            each += read([line])
        assert sum(each.values()) > 20
        for size in (100, 137, 1000):
            random.shuffle(good)
            assert read(good, f"buffer_size = {size}", "max_line_size = 90") == each
        assert read(good) == each


def test_all_lines_end_alike_or_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes((HEADER + PLAIN).replace(b"\n", b"\r\n"))
    source = delimited(path)
    assert source.lines is not None
    assert source.lines.returns
    check_lines(path, source.lines)
    path.write_bytes(path.read_bytes() + b"77,a,5\n")
    with pytest.raises(InvalidParameter, match="line 202 ends otherwise"):
        check_lines(path, source.lines)
    path.write_bytes(b"p,w,x")
    check_lines(path, UNIX)


@pytest.mark.parametrize("place", [0, 1, 199])
def test_lines_that_are_no_text_are_refused_wherever_they_are(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = PLAIN.splitlines(keepends=True)
    content = b"".join([HEADER, *lines[:place], b"77,\xff,5\n", *lines[place:], "1,ÿ,2".encode()])
    path = _written(tmp_path, content).path
    for size in (2**22, 7):
        monkeypatch.setattr("privately.engines.duckdb.lines._BLOCK", size)
        with pytest.raises(InvalidParameter, match=rf"line {place + 2} is no text in UTF-8\. Convert"):
            check_lines(path, UNIX)


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n", b"\n\na", b"a\n\nb\n\n\n", b"a\nb,c\n", b"a"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("names", [("p",), ("p", "w")])
def test_no_line_is_missed_that_is_a_row(
    content: bytes, header: bool, end: bytes, names: tuple[str, ...], tmp_path: Path
) -> None:
    """Lines without anything are none or NULL; only those with other numbers of cells are left out."""
    path, first = tmp_path / "t.csv", ",".join(names).encode() + b"\n"
    path.write_bytes((first + content).replace(b"\n", end))
    source = delimited(path, header=header, names=names)
    assert source.lines is not None
    with duckdb.connect() as connection:
        ((rows,),) = connection.execute(f"SELECT count(*) FROM {source.relation}").fetchall()
    wrong = sum(line.count(b",") + 1 != len(names) for line in content.split(b"\n") if line)
    assert check_lines(path, source.lines) - rows == wrong


def test_lines_in_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privately.engines.duckdb.lines._BLOCK", 7)
    for fault, line in REACHING.items():
        path = _written(tmp_path, HEADER + PLAIN + line + PLAIN).path
        with pytest.raises(InvalidParameter, match="line 202 "):
            check_lines(path, UNIX)
        assert fault
    check_lines(_written(tmp_path, HEADER + PLAIN + ALONE["quoted"][0] + PLAIN).path, UNIX)
    monkeypatch.setattr("privately.engines.duckdb.lines._LONGEST", 50)
    with pytest.raises(InvalidParameter, match="line 2 has more than 50 bytes"):
        check_lines(_written(tmp_path, HEADER + b"a" * 100).path, UNIX)


def test_neighbours_are_answered_alike(tmp_path: Path) -> None:
    """Whatever a row that passes holds, one person's row changes the count by no more than itself."""
    table = Table(name="t", columns=(Column(name="p", type="integer"), Column(name="x", type="integer")), unit=Unit())
    for line in (b"", b'77,a"b,5\n', "77,ÿ,5\n".encode(), b"77,a,5,6\n"):
        with Embedded(
            table=table, source=_written(tmp_path, HEADER + line + PLAIN), key=bytes(32), limits=LIMITS
        ) as engine:
            ((number,),) = engine.run(asking(table, RowCount(), by=None), LIMITS).values()
        assert number in (200, 201)


def test_a_file_with_line_breaks_can_be_converted_as_the_refusal_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = _written(tmp_path, HEADER + PLAIN + REACHING["a line break in quotes"])
    with pytest.raises(InvalidParameter) as caught:
        check_lines(source.path, UNIX)
    command = caught.value.hint.partition('duckdb.sql("')[2].partition('")')[0]
    duckdb.sql(command)
    table = Table(name="t", columns=(Column(name="p", type="integer"), Column(name="w", type="text")), unit=Unit())
    with Embedded(table=table, source=parquet(tmp_path / "t.parquet"), key=bytes(32), limits=LIMITS) as engine:
        assert engine.check("t").rows == 201
        assert not any(column.unfit for column in engine.check("t").columns)
