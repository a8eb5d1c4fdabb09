"""Nothing that we keep is unfinished or speaks of one machine."""

import re
from pathlib import Path

import pytest

from tests.meta.tree import ROOT, kept_files

FORBIDDEN = {
    "an unfinished note": re.compile(r"\b(TODO|FIXME|XXX)\b"),
    "a path of one machine": re.compile(r"(?<![\w.~-])/(work|root|home|Users|opt)/"),
    "a host of a package registry": re.compile(r"\b(pypi\.org|pythonhosted\.org|npmjs\.(org|com)|deb\.debian\.org)"),
}


def complaints(text: str) -> list[str]:
    return [f"{name}: {match[0]}" for name, pattern in FORBIDDEN.items() for match in pattern.finditer(text)]


def test_kept_files_are_finished_and_speak_of_no_machine() -> None:
    found = {
        str(path.relative_to(ROOT)): complaints(path.read_text(encoding="utf-8", errors="replace"))
        for path in kept_files()
        if path != Path(__file__).resolve()
    }
    assert {name: listed for name, listed in found.items() if listed} == {}


def test_there_are_kept_files() -> None:
    assert ROOT / "pyproject.toml" in kept_files()


@pytest.mark.parametrize(
    "text",
    [
        "# TODO: prove it",
        "x = 1  # FIXME",
        "see /root/.venv",
        "cd /home/me",
        "--index-url https://pypi.org/simple",
    ],
)
def test_what_is_forbidden_is_found(text: str) -> None:
    assert complaints(text)


@pytest.mark.parametrize(
    "text", ["homework/root/x", "docs/work/page.md", "a/home/b", "the todo list", "`#!/usr/bin/env`"]
)
def test_what_is_allowed_is_not_found(text: str) -> None:
    assert complaints(text) == []
