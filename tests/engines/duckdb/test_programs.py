"""What a worker is told stands apart from what writes it."""

import subprocess
import sys

import pytest

from privately.engines.duckdb.programs import Choice, Part

WORKER = "import sys, privately.engines.duckdb.worker, privately.engines.duckdb.messages; print(*sys.modules)"


def test_a_worker_loads_no_writer_of_texts() -> None:
    found = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, check=True).stdout.split()
    assert "privately.engines.duckdb.programs" in found
    for needless in ("emission", "functions", "scanning", "tallies"):
        assert f"privately.engines.duckdb.{needless}" not in found
    assert "sqlglot" not in found


def test_choices_are_made_by_name() -> None:
    with pytest.raises(TypeError):
        Choice()  # type: ignore[call-arg]
    assert Part(kind="count").digit is None
