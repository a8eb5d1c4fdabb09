"""The lock satisfies pyproject.toml, pins every package by hash, and names no place to fetch it from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.meta.tree import ROOT

LOCKS = [ROOT / "requirements" / "test.lock", *sorted((ROOT / "benchmarks" / "peers").glob("*.txt"))]


def pins(lock: str) -> dict[str, tuple[str, int]]:
    """Package to its version and its number of hashes."""
    joined = re.sub(r"\\\n", " ", lock)
    lines = [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]
    found: dict[str, tuple[str, int]] = {}
    for line in lines:
        match = re.fullmatch(r"([\w.-]+)==(\S+)(?: ; .*?)?((?:\s+--hash=sha256:[0-9a-f]{64})*)\s*", line)
        assert match, f"not a pin: {line}"
        found[canonicalize_name(match[1])] = (match[2], match[3].count("--hash"))
    return found


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["test"],
        *project["build-system"]["requires"],
    ]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("requirement", wanted(), ids=str)
def test_the_lock_satisfies_every_requirement(requirement: Requirement) -> None:
    version, _ = pins(LOCKS[0].read_text(encoding="utf-8"))[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version), "run `make lock`"


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_pin_has_hashes(path: Path) -> None:
    locked = pins(path.read_text(encoding="utf-8"))
    assert locked
    assert [name for name, (_, hashes) in locked.items() if hashes == 0] == []


@pytest.mark.parametrize("path", LOCKS[1:], ids=lambda path: path.name)
def test_a_peer_is_locked_as_asked(path: Path) -> None:
    locked = pins(path.read_text(encoding="utf-8"))
    for line in path.with_suffix(".in").read_text(encoding="utf-8").splitlines():
        asked = Requirement(line)
        assert asked.specifier.contains(locked[canonicalize_name(asked.name)][0])


def test_dependencies_are_bounded_above() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *(line for name, group in extras.items() if name != "all" for line in group),
    ]
    unbounded = [line for line in lines if not re.search(r"<|==", line)]
    assert unbounded == []


@pytest.mark.parametrize("line", ["typer>=0.26", "typer @ file:typer.whl", "--index-url somewhere"])
def test_a_line_that_pins_nothing_is_refused(line: str) -> None:
    with pytest.raises(AssertionError, match="not a pin"):
        pins(line)
