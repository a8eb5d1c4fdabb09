"""Files are written whole or not at all, and never read without end."""

import os
from pathlib import Path

import pytest

from privately.certificates import files
from privately.errors import CertificateInvalid, InvalidParameter


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write_whole(path, b"one")
    files.write_whole(path, b"two")
    assert files.read_limited(path) == b"two"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    files.write_whole(path, b"old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InvalidParameter, match="No space left"):
        files.write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["missing", ".", "nul\0byte"])
def test_unreadable_paths_are_typed_errors(tmp_path: Path, name: str) -> None:
    with pytest.raises(CertificateInvalid, match="file"):
        files.read_limited(f"{tmp_path}/{name}")


def test_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CertificateInvalid, match="regular file"):
        files.read_limited(tmp_path / "pipe")


def test_a_file_gets_the_usual_rights_and_a_link_stays_a_link(tmp_path: Path) -> None:
    plain, link = tmp_path / "plain", tmp_path / "link"
    plain.write_bytes(b"")
    expected = plain.stat().st_mode
    link.symlink_to(plain)
    files.write_whole(link, b"content")
    assert link.is_symlink()
    assert plain.read_bytes() == b"content"
    assert plain.stat().st_mode == expected


def test_a_file_of_100_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(CertificateInvalid, match="16 MiB"):
        files.read_limited(path)
