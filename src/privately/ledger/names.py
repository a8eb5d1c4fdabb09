"""Names and texts that go into records: short enough, printable, and never two for one thing."""

from __future__ import annotations

import os
import unicodedata

from privately.errors import InvalidParameter

LONGEST_NAME, LONGEST_FILE = 200, 240
"""A file system allows 255 bytes, of which SQLite adds some to the name of a ledger for what lies beside it."""

SEPARATOR = "/"
_checked: set[str] = set()  # names that are in order; most are used again
_MOST_CHECKED = 10_000


def checked_name(name: object, field: str) -> str:
    """A name of a lineage, analyst, token, key or table."""
    if type(name) is str and name in _checked:
        return name
    text = checked_text(name, field, longest=LONGEST_NAME)
    if not text or text != text.strip():
        raise InvalidParameter(field, "must not be empty, nor begin or end with a space.")
    if SEPARATOR in text or not text.isprintable():
        raise InvalidParameter(field, f"{text!r} holds {SEPARATOR!r} or characters that cannot be printed.")
    if unicodedata.normalize("NFC", text) != text:
        raise InvalidParameter(field, f"{text!r} has another spelling that looks the same.", hint="Write it in NFC.")
    if len(_checked) >= _MOST_CHECKED:
        _checked.clear()
    _checked.add(text)
    return text


def checked_text(text: object, field: str, *, longest: int) -> str:
    """A text that can be written as UTF-8 and is not too long.

    What inherits from str (a member of an Enum) may be written in two ways; from here on it is its text alone.
    """
    if type(text) is str and len(text) <= longest and text.isascii():
        return text
    if not isinstance(text, str):
        raise InvalidParameter(field, f"give a text, not a value of type {type(text).__name__}.")
    text = str.__str__(text)
    if len(text) > longest:
        raise InvalidParameter(field, f"has {len(text):,} characters; {longest:,} is the most.")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidParameter(field, "holds half a character (a lone surrogate).") from None
    return text


def checked_path(path: str | os.PathLike[str]) -> str:
    """The name of a file."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name or "\0" in name or not _is_utf8(name):
        raise InvalidParameter("path", "give the path of a file.")
    if len(os.path.basename(name).encode()) > LONGEST_FILE:  # noqa: PTH119 - of a text
        raise InvalidParameter("path", f"the name of the file has more than {LONGEST_FILE} bytes.")
    return name


def _is_utf8(name: str) -> bool:
    """Whether SQLite can be told it: in UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
