"""The import contracts hold, and each of them catches the fault that it is there for."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest

from tests.meta.tree import ROOT, SOURCE

FOUNDATION = {"errors", "rounding", "laws", "guarantees", "certificates"}
TRUSTED_CORE = FOUNDATION | {"accounting", "noise", "mechanisms", "ledger"}

FAULTS: dict[str, tuple[str, dict[str, str]]] = {
    "an upward import": ("layers", {"rounding/planted.py": "import privately.guarantees"}),
    "an import of a neighbour": ("layers", {"laws/planted.py": "from privately.guarantees import PureDP"}),
    "an upward import through the root": ("layers", {"errors.py": "import privately"}),
    "a package that nobody placed": ("layers", {"novelty/__init__.py": ""}),
    "a cycle": (
        "acyclic",
        {"laws/one.py": "import privately.laws.two", "laws/two.py": "import privately.laws.one"},
    ),
    "a heavy package in the core": ("trusted-core", {"certificates/planted.py": "import duckdb"}),
    "a heavy package in a future part": ("trusted-core", {"noise/__init__.py": "import torch"}),
    "a command-line package below": ("trusted-core", {"releases/planted.py": "from rich.table import Table"}),
    "NumPy in the foundation": ("standard-library", {"guarantees/planted.py": "import numpy as np"}),
    "NumPy in a function": ("standard-library", {"laws/planted.py": "def f():\n    import numpy"}),
    "the checker using our errors": (
        "checker",
        {"certificates/checker/planted.py": "import privately.errors"},
    ),
    "the checker using a neighbour": (
        "checker",
        {"certificates/checker/planted.py": "from .. import planted", "certificates/planted.py": ""},
    ),
    "a derivation made elsewhere": (
        "sealing",
        {"releases/planted.py": "from privately.guarantees.rules import sealing"},
    ),
    "numba in noise, but not in its home there": ("trusted-core", {"noise/planted.py": "import numba"}),
    "another heavy package in the home of numba": ("trusted-core", {"noise/compiled.py": "import torch"}),
    "repeatable noise beside the samplers": (
        "repeatable",
        {"noise/draws.py": "from privately.noise.repeatable import RepeatableStream"},
    ),
    "repeatable noise in a function above": (
        "repeatable",
        {"releases/planted.py": "def f():\n    import privately.noise.repeatable"},
    ),
}


def contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return listed


def lint(project: Path) -> str:
    """Run import-linter on the tree at hand, whatever is installed."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--no-logo"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def broken(report: str) -> set[str]:
    """The identifiers of the contracts that a report calls broken."""
    assert "kept" in report, report
    return {contract["id"] for contract in contracts() if f"{contract['name']} BROKEN" in report}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE, tmp_path / "src" / "privately", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def plant(project: Path, module: str, text: str) -> None:
    """Add lines at the end of a module, which may be new."""
    path = project / "src" / "privately" / module
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def test_the_contracts_hold() -> None:
    report = lint(ROOT)
    assert f"{len(contracts())} kept, 0 broken" in report, report


def test_an_untouched_copy_is_sound(copy: Path) -> None:
    report = lint(copy)
    assert f"{len(contracts())} kept, 0 broken" in report, report


@pytest.mark.thinned(3)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_breaks_its_contract(copy: Path, fault: str) -> None:
    contract, files = FAULTS[fault]
    for module, text in files.items():
        plant(copy, module, text)
    report = lint(copy)
    assert contract in broken(report), report


def external_imports(graph: grimp.ImportGraph, module: str) -> set[str]:
    modules = {module, *graph.find_descendants(module)}
    return {name for one in modules for name in graph.find_modules_directly_imported_by(one)} - modules


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("privately", include_external_packages=True, cache_dir=None)


@pytest.mark.parametrize("package", sorted(FOUNDATION))
def test_the_foundation_imports_no_third_party_at_all(graph: grimp.ImportGraph, package: str) -> None:
    foreign = {name.partition(".")[0] for name in external_imports(graph, f"privately.{package}")}
    assert foreign <= {"privately", *sys.stdlib_module_names}


def test_the_checker_imports_only_itself_and_the_standard_library(graph: grimp.ImportGraph) -> None:
    """Stronger than its contract, which cannot see an import of `privately` or `privately.certificates`."""
    assert external_imports(graph, "privately.certificates.checker") <= sys.stdlib_module_names


def test_no_trusted_package_is_a_home_of_heavy_ones() -> None:
    (core,) = (contract for contract in contracts() if contract["id"] == "trusted-core")
    homes = {line for line in core["ignore_imports"] if line.split()[0].split(".")[1] in TRUSTED_CORE}
    exceptions = {"privately.noise.compiled -> numba", "privately.ledger.stores.** -> apsw"}
    assert homes == exceptions, "see docs/decisions/0012 and 0016"
