"""From what a caller has to a program: a function, a file, or a text."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from privately.errors import InvalidParameter, NotSupported
from privately.proving.language.program import Program
from privately.proving.language.pythonic import MOST_CHARACTERS, read_python
from privately.proving.language.whiles import read_while
from privately.proving.primitives import SAMPLERS

Source: TypeAlias = Program | Callable[..., Any] | str | PathLike[str]


def read_program(source: Source) -> Program:
    """Functions are read from their source, files by what is in them; a text with several lines is a program itself.

    >>> read_program("b := flip()\\nif b = 1 then\\n  o := Mem(0)\\nelse\\n  o := flip()\\n").name
    'program'
    """
    if isinstance(source, Program):
        return source
    if isinstance(source, str) and "\n" in source:
        return _read_text(source)
    if isinstance(source, (str, PathLike)):
        return _read_text(_file(Path(source)))
    if not callable(source):
        raise InvalidParameter("program", f"{type(source).__name__} is no program.", hint="Give a function or a path.")
    try:
        text = textwrap.dedent(inspect.getsource(source))
    except (OSError, TypeError):
        raise NotSupported(
            "the text of this function cannot be found.", hint="Give the path of its file, or its text."
        ) from None
    program = read_python(text)
    _check_meaning(source, {one.law for one in program.samples})
    return program


def _check_meaning(function: Callable[..., Any], laws: set[str]) -> None:
    """The function that runs must be the one whose text is read, and its words must mean what ours mean."""
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__") or function.__code__.co_freevars:
        raise NotSupported("a function that is wrapped, or that reads names of a function around it, is not its text.")
    for name in sorted(laws):
        meant = function.__globals__.get(name, SAMPLERS[name])
        if meant is not SAMPLERS[name]:
            raise NotSupported(f"{name!r} is not that of privately.proving here.", hint="Import it from there.")


def _read_text(text: str) -> Program:
    if re.search(r"^\s*def\s", text, re.MULTILINE):
        return read_python(text)
    return read_while(text)


def _file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(4 * MOST_CHARACTERS + 1)
        return content.decode()
    except UnicodeDecodeError:
        raise NotSupported(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise InvalidParameter("program", f"{path} cannot be read: {error.strerror}.") from None
