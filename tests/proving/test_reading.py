"""From functions, files and texts to programs."""

import importlib
import os
from pathlib import Path

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import assume, flip, replaced
from privately.proving.reading import read_program

TEXT = "def f(x: replaced(0, 1)):\n    return x\n"


def response(x: replaced(0, 1)):  # type: ignore[no-untyped-def, valid-type]  # a program
    if flip():
        return x
    return flip()


def test_a_function_is_read_and_still_runs() -> None:
    program = read_program(response)
    assert program.name == "response"
    assert response(1) in {0, 1}
    assert read_program(program) is program


@pytest.mark.parametrize(
    "line",
    [
        "from privately.proving import geometric as discrete_laplace",
        "from privately.proving import laplace as discrete_laplace, each",
        "from fractions import Fraction as abs",
        "from fractions import gcd",
        "from .fractions import Fraction",
        "import privately.proving",
    ],
)
def test_words_are_imported_under_their_own_names(line: str) -> None:
    with pytest.raises(NotSupported, match=r"another name|no word|come from"):
        read_program(f"{line}\n{TEXT}")
    assert read_program(f"from fractions import Fraction\nfrom privately.proving import flip, replaced\n{TEXT}").body


def smaller(x: replaced(0, 1)):  # type: ignore[no-untyped-def, valid-type]  # a program
    return [min(one, 0) for one in [x]][0]  # noqa: RUF015 - only the comprehension is of interest


@pytest.mark.parametrize("name", ["min", "flip", "assume"])
def test_functions_whose_words_mean_something_else_are_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    program = {"min": smaller, "flip": response, "assume": assuming}[name]
    assert read_program(program).body
    monkeypatch.setitem(program.__globals__, name, lambda *given: given[0])
    with pytest.raises(NotSupported, match=f"'{name}' is not that of"):
        read_program(program)


def assuming(x: replaced(0, 1)):  # type: ignore[no-untyped-def, valid-type]  # a program
    assume(x < 2)
    return 0


def test_files_are_read_by_what_is_in_them(tmp_path: Path) -> None:
    for name, text in (("a.py", TEXT), ("b.txt", "x := flip()\nreturn x\n"), ("c.txt", TEXT)):
        (tmp_path / name).write_text(text)
        assert read_program(tmp_path / name).body
        assert read_program(str(tmp_path / name)).body


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"def f(x):\n    return '\xe9'\n")
    with pytest.raises(NotSupported, match="UTF-8"):
        read_program(tmp_path / "latin.py")
    for missing in (tmp_path / "none.py", tmp_path, "a\0b", "a" * 100_000):
        with pytest.raises(InvalidParameter, match="cannot be read"):
            read_program(missing)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="regular file"):
        read_program(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="no program"):
        read_program(3)  # type: ignore[arg-type]  # no source
    with pytest.raises(NotSupported, match="cannot be found"):
        read_program(len)


def test_a_file_that_is_not_read_to_its_end_is_refused(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("x := Mem(0)\no := flip()\n" + "# nothing\n" * 50_000 + "o := Mem(0)\n")
    with pytest.raises(NotSupported, match="characters"):
        read_program(long)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    """Python would run `return x` here, behind a new line that the comment holds."""
    hidden = tmp_path / "hidden.py"
    for before in ("", "#\n", "# \x0b\x0c\u2028\n", "\r"):
        text = f"{before}# coding: utf-7\ndef f(x: replaced(0, 1)):\n    # +AAo-    return x\n    return 0\n"
        hidden.write_bytes(text.encode())
        with pytest.raises(NotSupported, match="utf-7"):
            read_program(hidden)
    hidden.write_text("# -*- coding: UTF-8 -*-\ndef f(x: replaced(0, 1)):\n    return 0\n")
    assert read_program(hidden).name == "f"


def test_lines_may_end_as_they_like() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert read_program(f"def f(x: replaced(0, 1)):{end}    return 0{end}").name == "f"


def test_a_file_that_changed_since_it_was_imported_is_not_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = "from privately.proving import flip, replaced"
    text = f'{imported}\n\ndef f(x: replaced(0, 1)):\n    """Fair."""\n    return flip()\n'
    file = tmp_path / "imported_once.py"
    file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    function = importlib.import_module("imported_once").f
    assert read_program(function).name == "f"
    file.write_text(text.replace("Fair", "Very fair"))
    assert read_program(function).name == "f"
    file.write_text(text.replace("flip()", "flip(0.25)"))
    with pytest.raises(NotSupported, match="not what runs"):
        read_program(function)


def test_functions_inside_of_others_are_read() -> None:
    def inner(x: replaced(0, 1)):  # type: ignore[no-untyped-def, valid-type]  # a program
        """A text
        of several lines."""
        return sum([x + flip(0.25) for y in range(2)])

    assert read_program(inner).name == "inner"
