"""Every failure of a command is one line on standard error and exit code 2."""

import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from privately.cli import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [["check"], ["nonsense"], ["check", "a", "b"], ["check", "--colour"]])
def test_wrong_usage(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_shows_an_example() -> None:
    for command in ("demo", "check"):
        done = run(command, "--help")
        assert done.returncode == 0
        assert f"privately {command}" in done.stdout


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[" * 10**6, b'{"schema": 1}'])
def test_bad_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    done = run("check", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        done = run("check", str(path))
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert str(path) in done.stderr
