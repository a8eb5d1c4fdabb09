"""From what a caller has to a program: a function, a file, or a text."""

from __future__ import annotations

import builtins
import errno
import inspect
import re
import textwrap
from collections.abc import Callable
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import CodeType
from typing import Any, TypeAlias

from privately.errors import InvalidParameter, NotSupported
from privately.proving.language.program import Program
from privately.proving.language.python_names import RESERVED
from privately.proving.language.pythonic import read_python
from privately.proving.language.refusals import MOST_CHARACTERS
from privately.proving.language.whiles import read_while
from privately.proving.primitives import SAMPLERS, align, assume, invariant

_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")

Source: TypeAlias = Program | Callable[..., Any] | str | PathLike[str]


def read_program(source: Source) -> Program:
    """Functions are read from their source, files by what is in them; a text with several lines is a program itself.

    >>> read_program("b := flip()\\nif b = 1 then\\n  o := Mem(0)\\nelse\\n  o := flip()\\n").name
    'program'
    """
    if isinstance(source, Program):
        return source
    if isinstance(source, str) and not source.strip():
        raise InvalidParameter("program", "is empty.", hint="Give a function, the path of a file, or a text.")
    if isinstance(source, str) and ("\n" in source or "\r" in source):
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
    _check_meaning(source)
    _check_code(source, text)
    return program


def _check_meaning(function: Callable[..., Any]) -> None:
    """The function that runs must be the one whose text is read, and its words must mean what ours mean."""
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__") or function.__code__.co_freevars:
        raise NotSupported("a function that is wrapped, or that reads names of a function around it, is not its text.")
    known = {**vars(builtins), **getattr(function, "__builtins__", {}), **function.__globals__}
    for name in sorted(_names(function.__code__) & WORDS.keys()):
        if known.get(name, WORDS[name]) is not WORDS[name]:
            raise NotSupported(
                f"{name!r} is not that of privately.proving, or of Python, here.", hint="Import it from there."
            )


def _check_code(function: Callable[..., Any], text: str) -> None:
    """A file that was changed since it was imported holds another function than the one that runs."""
    module = compile(text, "program", "exec", dont_inherit=True)
    read = [_instructions(one) for one in module.co_consts if isinstance(one, CodeType)]
    if _instructions(function.__code__) not in read:
        raise NotSupported("the text of this function is not what runs.", hint="Import it again, or give its text.")


def _instructions(code: CodeType) -> tuple[object, ...]:
    """What a code does: not where it stands, nor what is written about it."""
    constants = [
        _instructions(one) if isinstance(one, CodeType) else (type(one), one)
        for one in code.co_consts
        if not isinstance(one, str)
    ]
    return code.co_code, code.co_names, code.co_varnames, code.co_argcount, tuple(constants)


WORDS: dict[str, object] = {
    **{name: vars(builtins)[name] for name in RESERVED if name in vars(builtins)},
    **SAMPLERS,
    **{one.__name__: one for one in (assume, invariant, align, Fraction)},
}
"""All words of the language, and what they mean."""


def _names(code: CodeType) -> set[str]:
    """The names that a function reads, in its comprehensions too."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*inner)


def _read_text(text: str) -> Program:
    text = text.removeprefix("\ufeff")
    if re.search(r"^\s*(async\s+)?def\s", text, re.MULTILINE):
        return read_python(text)
    return read_while(text)


def _file(path: Path) -> str:
    try:
        text = _content(path).decode()
    except UnicodeDecodeError:
        raise NotSupported(f"{path} is not UTF-8 text.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "that is no path"
        hint = "A text has several lines." if re.search(r"\bdef |:=", str(path)) else ""
        raise InvalidParameter("program", f"{str(path)[:100]!r} cannot be read: {reason}.", hint=hint) from None
    _check_encoding(text, path)
    return text


def _content(path: Path) -> bytes:
    """As much of a file as a program may have; nobody knows when a pipe ends."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as file:
        return file.read(4 * MOST_CHARACTERS + 1)


def _check_encoding(text: str, path: Path) -> None:
    """Python follows a comment that names another encoding, and would run another text than the one read here."""
    for line in (*text.split("\n")[:2], *re.split(r"\r\n?|\n", text)[:2]):
        named = _ENCODING.match(line)
        if named is not None and named[1].lower() not in {"utf-8", "utf8", "utf_8", "utf-8-sig"}:
            raise NotSupported(f"{path} says that it is {named[1]} text.", hint="Save it as UTF-8.")
