"""From functions, files and texts to programs."""

from pathlib import Path

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import flip, replaced
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


def test_files_are_read_by_what_is_in_them(tmp_path: Path) -> None:
    for name, text in (("a.py", TEXT), ("b.txt", "x := flip()\nreturn x\n"), ("c.txt", TEXT)):
        (tmp_path / name).write_text(text)
        assert read_program(tmp_path / name).body
        assert read_program(str(tmp_path / name)).body


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"def f(x):\n    return '\xe9'\n")
    with pytest.raises(NotSupported, match="UTF-8"):
        read_program(tmp_path / "latin.py")
    for missing in (tmp_path / "none.py", tmp_path):
        with pytest.raises(InvalidParameter, match="cannot be read"):
            read_program(missing)
    with pytest.raises(InvalidParameter, match="no program"):
        read_program(3)  # type: ignore[arg-type]  # no source
    with pytest.raises(NotSupported, match="cannot be found"):
        read_program(len)
