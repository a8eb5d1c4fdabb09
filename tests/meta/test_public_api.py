"""The names at the root are pinned: adding one is a decision, removing one breaks somebody."""

import pkgutil

import pytest

import privately

PUBLIC = [
    "ApproxDP",
    "ApproxZCDP",
    "BudgetExhausted",
    "CertificateInvalid",
    "GaussianDP",
    "Guarantee",
    "Interval",
    "InvalidParameter",
    "LedgerCorrupt",
    "LedgerUnavailable",
    "MixedNeighbors",
    "Neighbors",
    "NoSuchRule",
    "PrivatelyError",
    "PureDP",
    "Refused",
    "Release",
    "RenyiDP",
    "Unanswered",
    "ZCDP",
    "analyze",
    "certify",
    "check",
    "open",
    "prove",
]
PACKAGES = [
    "accounting",
    "certificates",
    "engines",
    "errors",
    "guarantees",
    "laws",
    "ledger",
    "mechanisms",
    "noise",
    "plans",
    "proving",
    "query",
    "releases",
    "rounding",
    "views",
]
NOT_FOR_IMPORT = {"cli", "on_demand"}


def test_public_names_are_pinned_and_few() -> None:
    assert privately.__all__ == PUBLIC == sorted(PUBLIC)
    assert len(PUBLIC) <= 25


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_loads_and_is_then_kept(name: str) -> None:
    vars(privately).pop(name, None)
    value = getattr(privately, name)
    assert vars(privately)[name] is value
    assert getattr(privately, name) is value


@pytest.mark.parametrize("name", PACKAGES)
def test_each_package_is_an_attribute(name: str) -> None:
    assert getattr(privately, name).__name__ == f"privately.{name}"


def test_every_package_is_reachable() -> None:
    there = {module.name for module in pkgutil.iter_modules(privately.__path__)}
    assert sorted(there - NOT_FOR_IMPORT) == PACKAGES, "list the package in privately/__init__.py and here"


def test_no_name_is_also_a_package() -> None:
    assert not set(PUBLIC) & {*PACKAGES, *NOT_FOR_IMPORT}


def test_dir_lists_names_that_are_not_loaded_yet() -> None:
    assert {*PUBLIC, *PACKAGES, "__version__"} <= set(dir(privately))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'privately' has no attribute 'epsilonics'"):
        privately.epsilonics  # type: ignore[attr-defined]  # noqa: B018
