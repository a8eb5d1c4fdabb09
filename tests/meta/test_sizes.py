"""Files stay small enough to be read in one go."""

from pathlib import Path
from statistics import median

import pytest

from tests.meta.tree import ROOT, SOURCE, TESTS, python_files

LONGEST = 500
MEDIAN = 160


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("folder", [SOURCE, TESTS], ids=["src", "tests"])
def test_no_file_is_too_long(folder: Path) -> None:
    long = {str(path.relative_to(ROOT)): line_count(path) for path in python_files(folder)}
    assert {name: lines for name, lines in long.items() if lines > LONGEST} == {}


def test_the_usual_file_is_short() -> None:
    sizes = [line_count(path) for path in python_files(SOURCE)]
    assert len(sizes) <= 5 or median(sizes) <= MEDIAN
