"""`import privately` loads itself and next to nothing else; no public name loads a third-party package."""

import importlib
import json
import subprocess
import sys

import pytest

import privately

ALLOWED_AT_ROOT = {"privately", "privately.on_demand"}


def loaded_by(statement: str) -> set[str]:
    """Modules that a fresh interpreter has after the statement and did not have before it."""
    program = (
        "import json, sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def top_level(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_the_root_loads_nothing_but_itself() -> None:
    assert loaded_by("import privately") == ALLOWED_AT_ROOT


def test_the_probe_sees_what_a_statement_loads() -> None:
    assert "typer" in top_level(loaded_by("import typer"))


ENGINES = {"analyze", "open", "prove"}
"""What answers questions about data or programs needs the libraries for it."""


@pytest.mark.parametrize("name", sorted({*privately.__all__} - ENGINES))
def test_a_public_name_loads_the_standard_library_alone(name: str) -> None:
    foreign = top_level(loaded_by(f"import privately; privately.{name}")) - sys.stdlib_module_names
    assert foreign == {"privately"}


HEAVY = {"numpy", "pyarrow", "pandas", "sqlglot", "cryptography"}

COUNTING = """
from privately.engines.duckdb import counting, messages, worker
from privately.engines.duckdb.connection import Setup, connect
from privately.engines.duckdb.programs import Program
from privately.plans.types import Type
first, groups = "SELECT 'a' AS g0, 3 AS n", "SELECT g0, g0 AS k0, n FROM grouped"
program = Program(first=first, groups=groups, types=(Type.TEXT,), tallies=1, bins=())
header = messages.program_header(program)
assert messages.counts_message(counting.count(connect(Setup()), messages.program_of(header)))
"""


def test_a_worker_counts_without_what_it_has_no_use_for() -> None:
    loaded = loaded_by(COUNTING)
    assert not top_level(loaded) & HEAVY
    of_ours = {name.split(".")[1] for name in loaded if name.startswith("privately.")}
    assert of_ours == {"engines", "errors", "on_demand", "plans"}
    assert {name for name in loaded if name.startswith("privately.plans.")} == {"privately.plans.types"}


def test_a_session_loads_neither_frames_nor_charts_nor_other_mechanisms() -> None:
    loaded = loaded_by("import privately; privately.open")
    assert not top_level(loaded) & {"pyarrow", "pandas", "polars", "duckdb", "scipy"}
    assert not loaded & {"privately.views.charts", "privately.views.bars", "privately.mechanisms.sparse_vector"}


@pytest.mark.parametrize("package", ["mechanisms", "plans", "views"])
def test_names_that_are_loaded_late_are_those_that_are_listed(package: str) -> None:
    module = importlib.import_module(f"privately.{package}")
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError):
        _ = module.nothing
