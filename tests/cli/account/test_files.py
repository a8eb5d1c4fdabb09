"""Events are read strictly, from files and from standard input."""

import io
import os
import sys
from pathlib import Path

import pytest

from privately import accounting as acc
from privately.accounting import encoding
from privately.cli.account import files
from privately.cli.account.files import read_event
from privately.errors import InvalidParameter, NotSupported, PrivatelyError

EVENT = acc.Repeat(event=acc.Laplace(scale="0.1"), times=3)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(encoding.to_text(EVENT))
    assert read_event(path) == EVENT


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(encoding.to_text(EVENT).encode())))
    assert read_event(Path("-")) == EVENT
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_event(Path("-"))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", InvalidParameter),
        (b"\xff\xfe{}", InvalidParameter),
        (b"\xef\xbb\xbf{}", InvalidParameter),
        (b"{} {}", InvalidParameter),
        (b"[" * 10**5, InvalidParameter),
        (b"NaN", InvalidParameter),
        (b'{"version": 1, "event": 7}', InvalidParameter),
        (b'{"version": 2, "event": {}}', NotSupported),
        (b'{"version": 1, "event": {"kind": "Uniform"}}', NotSupported),
        (b'{"version": 1, "event": {"kind": "Laplace", "scale": "1", "colour": "red"}}', NotSupported),
        (b'{"version": 1, "event": {"kind": "Laplace", "scale": 1}}', InvalidParameter),
        (b'{"version": 1, "event": {"kind": "Laplace"}}', InvalidParameter),
    ],
)
def test_bad_content(tmp_path: Path, content: bytes, kind: type[PrivatelyError]) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(content)
    with pytest.raises(kind) as fault:
        read_event(path)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"kind": "Laplace", "scale": "2"}', "must be an object with a version and an event"),
        (b"", "is empty"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
        (b"\xff\xfe{}", "is not a text in UTF-8"),
    ],
)
def test_complaints_name_the_file_and_show_the_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, complaint: str
) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for given, name in {path: repr(str(path)), Path("-"): "standard input"}.items():
        with pytest.raises(InvalidParameter) as fault:
            read_event(given)
        assert str(fault.value).startswith(f"{name}: {complaint}")
        assert encoding.FORM in str(fault.value)


def test_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, reason in {"missing": "read", "pipe": "regular file", ".": "regular file", "nul\0": "read"}.items():
        with pytest.raises(InvalidParameter, match=f"FILE: .* {reason}"):
            read_event(tmp_path / name)


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 10)
    path = tmp_path / "event.json"
    path.write_text(encoding.to_text(EVENT))
    with pytest.raises(InvalidParameter, match="larger"):
        read_event(path)
