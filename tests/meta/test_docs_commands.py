"""README, ARCHITECTURE and everything under docs/ does what it says."""

from pathlib import Path

import pytest

from tests.meta.documents import blocks, commands, first_absent, run_page
from tests.meta.tree import ROOT

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    faults = run_page(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)), tmp_path)
    assert not faults, "\n".join(faults)


def fenced(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```", ""])


SOUND = [
    fenced("python", ">>> x = 1") + fenced("python", ">>> x + 1", "2"),
    fenced("python", ">>> import pathlib; pathlib.Path('made.txt').write_text('hello')", "5")
    + fenced("console", "$ python -c \"import pathlib; print(pathlib.Path('made.txt').read_text())\"", "hello"),
    fenced("json file=made.json", "[3,", " 4]")
    + fenced("console", "$ python -c \"import json; print(json.load(open('made.json')))\"", "[3, 4]"),
    fenced("console", '$ python -c "print(1); print(2); print(3)"', "1", "...", "3"),
    fenced("console", "$ python -c \\", '>   "print(7)"', "7"),
    fenced("console exit=2", '$ python -c "raise SystemExit(2)"'),
    fenced("console", "$ rm -rf everything", "left to the reader"),
    fenced("text", ">>> 1", "2"),
]
BROKEN = [
    (fenced("python", ">>> 1 + 1", "3"), "Expected:"),
    (fenced("python", "x = 1"), "never run"),
    (fenced("python", ">>> undefined"), "NameError"),
    (fenced("console", '$ python -c "raise SystemExit(2)"'), "ended with 2, not 0"),
    (fenced("console exit=2", '$ python -c "pass"'), "ended with 0, not 2"),
    (fenced("console", '$ python -c "print(1)"', "2"), "did not print '2'"),
    (fenced("console", '$ python -c "print(1); print(2)"', "2", "1"), "did not print '1'"),
]


@pytest.mark.parametrize("page", SOUND)
def test_a_sound_page_has_no_fault(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page, "page.md", tmp_path) == []


@pytest.mark.parametrize(("page", "complaint"), BROKEN)
def test_a_broken_page_is_reported(page: str, complaint: str, tmp_path: Path) -> None:
    assert complaint in "".join(run_page(page, "page.md", tmp_path))


def test_blocks_know_their_lines_and_options() -> None:
    (block,) = blocks("# Title\n\n```console exit=3\n$ privately check x\nno\n```\n")
    assert (block.language, block.exit_status, block.line) == ("console", 3, 4)
    assert commands(block)[0].expected == ("no",)


def test_expected_lines_keep_their_order() -> None:
    assert first_absent(("a", "...", "c"), "a\nb\n  c\n") is None
    assert first_absent(("c", "a"), "a\nb\nc\n") == "a"
