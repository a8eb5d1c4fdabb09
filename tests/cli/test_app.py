"""Every failure of a command is one line on standard error and exit code 2."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import privately


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from privately.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.mark.parametrize("arguments", [["check"], ["nonsense"], ["check", "a", "b"], ["check", "--colour"]])
def test_wrong_usage(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_shows_an_example() -> None:
    for command in ("demo", "check", "sql", "explain", "prepare"):
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


def test_version() -> None:
    assert run("--version").stdout.strip() == privately.__version__


def test_names_that_a_terminal_cannot_show_are_shown_as_numbers(tmp_path: Path) -> None:
    program, page = tmp_path / "named.py", tmp_path / "page.html"
    program.write_text("def f(é: replaced(0, 1)):\n    return é\n", encoding="utf-8")
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"}
    done = run("prove", str(program), "--claim", "1", "--html", str(page), **plain)
    assert done.returncode == 1
    assert r"\xe9 = 0" in done.stdout
    assert "return é" in page.read_text(encoding="utf-8")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = run("check", str(tmp_path / "pipe"))
    assert done.returncode == 2
    assert "regular file" in done.stderr


def test_a_failure_is_json_too(tmp_path: Path) -> None:
    done = run("check", str(tmp_path / "missing.json"), "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["valid"] is False


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["demo", "--composition"], ["demo", "--composition", "--json"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    command = [sys.executable, "-c", "from privately.cli import main; main()", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_terminal_without_unicode() -> None:
    done = run("demo", "--composition", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "####" in done.stdout


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        done = run("check", str(path))
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert str(path) in done.stderr


def test_a_missing_engine_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("a\n1\n", encoding="utf-8")
    program = (
        "import sys; sys.modules['duckdb'] = sys.modules['sqlglot'] = None; from privately.cli import main; main()"
    )
    words = ["explain", str(tmp_path / "visits.csv"), "SELECT COUNT(*) FROM visits", "--epsilon", "1"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Install privately[query]." in done.stderr
    assert len(done.stderr.splitlines()) == 1
