"""Certificates written once stay valid: the format and the rules are never given another meaning."""

from pathlib import Path

import pytest

from privately.certificates import Certificate, certify, check
from tests.certificates.examples import from_assumptions, from_tables

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
RATIONAL = [
    *["survey", "moving", "position", "replace", "weakened", "group", "sampled"],
    *["laplace", "selection", "queries", "keys", "responses"],
    *["counts", "averages", "quantiles", "medians", "unlisted", "whole"],
]
"""Examples without a floating-point search, whose bytes must be the same on every machine."""


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_old_certificates_still_check(path: Path) -> None:
    check(path, allow_assumptions=True)


def test_there_is_one_for_every_example() -> None:
    assert {path.stem for path in GOLDEN} == {name.replace(" ", "-") for name in from_tables() | from_assumptions()}


@pytest.mark.parametrize("name", RATIONAL)
def test_the_same_derivation_gives_the_same_bytes(name: str) -> None:
    path = next(path for path in GOLDEN if path.stem == name)
    assert Certificate(path.read_bytes()) == certify(from_tables()[name])
