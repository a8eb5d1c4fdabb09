"""The slices of the slow suite are even, and together they are all of it; of thinned tests a part is fast."""

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import parse_slice
from tests.meta.tree import TESTS

SUITE = """
import pytest

def test_fast(): ...

@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_slow(number): ...

@pytest.mark.thinned(3)
@pytest.mark.parametrize("number", range(5))
def test_thinned(number): ...
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\n  thinned\n")
    return tmp_path


def collected(suite: Path, *options: str) -> tuple[int, list[str]]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=suite, env=bare, capture_output=True, text=True, check=False)
    return done.returncode, [line for line in done.stdout.splitlines() if "::" in line]


def test_slices_are_even_and_cover_the_slow_tests(suite: Path) -> None:
    slices = [collected(suite, "--slow-slice", f"{index}/3")[1] for index in (1, 2, 3)]
    assert sorted(map(len, slices)) == [4, 4, 5]
    assert sorted(itertools.chain(*slices)) == sorted(collected(suite, "-m", "slow")[1])


def test_of_thinned_tests_some_are_fast(suite: Path) -> None:
    fast = [line for line in collected(suite, "-m", "not slow")[1] if "thinned" in line]
    assert fast == [f"test_suite.py::test_thinned[{number}]" for number in (0, 3)]


def test_without_the_option_everything_is_there(suite: Path) -> None:
    assert len(collected(suite)[1]) == 16


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "one/three"])
def test_a_bad_slice_is_a_usage_error(text: str) -> None:
    with pytest.raises(pytest.UsageError, match="K/N"):
        parse_slice(text)


def test_a_usage_error_is_what_the_command_ends_with(suite: Path) -> None:
    assert collected(suite, "--slow-slice", "4/3")[0] == pytest.ExitCode.USAGE_ERROR
