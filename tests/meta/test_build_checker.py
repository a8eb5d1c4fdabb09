"""check.pyz is the same on every machine and runs without us."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.meta.tree import ROOT
from tools.build_checker import SOURCE, archive, main


@pytest.fixture
def package(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    (source / "__init__.py").touch()
    (source / "inner" / "__init__.py").write_text("NUMBER = 42\n")
    (source / "__main__.py").write_text(
        "import sys\nfrom .inner import NUMBER\ndef main():\n    print(NUMBER, sys.argv[1:])\n    return 3\n"
    )
    return source


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(path), *arguments]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)


def test_it_runs_and_passes_on_the_exit_code(package: Path, tmp_path: Path) -> None:
    target = tmp_path / "check.pyz"
    target.write_bytes(archive(package))
    done = run(target, "some.json")
    assert (done.stdout, done.stderr, done.returncode) == ("42 ['some.json']\n", "", 3)


def test_only_names_and_contents_enter_the_bytes(package: Path) -> None:
    first = archive(package)
    cache = package / "__pycache__"
    cache.mkdir()
    (cache / "inner.pyc").write_bytes(b"compiled")
    for path in package.rglob("*.py"):
        os.utime(path, (2_000_000_000, 2_000_000_000))
        path.chmod(0o600)
    assert archive(package) == first
    (package / "inner" / "__init__.py").write_text("NUMBER = 43\n")
    assert archive(package) != first


def test_the_real_checker_builds_the_same_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets = [tmp_path / "one" / "check.pyz", tmp_path / "two" / "check.pyz"]
    for target in targets:
        main(target)
    assert targets[0].read_bytes() == targets[1].read_bytes() == archive(SOURCE)
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[0] == second.split()[0]
    names = zipfile.ZipFile(targets[0]).namelist()
    assert names == sorted(names)
    assert "__main__.py" in names


def test_the_real_checker_runs_without_us(tmp_path: Path) -> None:
    target = tmp_path / "check.pyz"
    main(target)
    missing = run(target, "no-such-file.json")
    assert missing.returncode == 2
    assert "Traceback" not in missing.stderr


def test_make_checker_needs_no_environment() -> None:
    command = ["make", "-n", "checker"]
    recipe = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ".venv" not in recipe.stdout
