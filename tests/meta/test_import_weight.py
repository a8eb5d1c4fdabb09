"""`import privately` loads itself and next to nothing else; no public name loads a third-party package."""

import json
import subprocess
import sys

import pytest

import privately

ALLOWED_AT_ROOT = {"privately"}


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


ENGINES = {"open"}
"""What answers questions about data needs the libraries for it."""


@pytest.mark.parametrize("name", sorted({*privately.__all__} - ENGINES))
def test_a_public_name_loads_the_standard_library_alone(name: str) -> None:
    foreign = top_level(loaded_by(f"import privately; privately.{name}")) - sys.stdlib_module_names
    assert foreign == {"privately"}
