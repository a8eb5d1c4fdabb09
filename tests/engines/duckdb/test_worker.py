"""The other side of the pipe; see also `test_pool`."""

import subprocess
import sys
from typing import Any

from privately.engines.duckdb.messages import TURN_BYTES, packed, unpacked


def test_a_worker_by_hand() -> None:
    command = [sys.executable, "-m", "privately.engines.duckdb.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        setup: dict[str, Any] = {
            "paths": [],
            "attached": [],
            "written": None,
            "memory": 2**28,
            "threads": 1,
            "spill": "",
        }
        for message in (
            {"act": "open", "setup": setup, "turn": 7},
            {"act": "tell", "statements": ["SELECT 1, 'a', DATE '2026-01-31'"], "turn": 8},
        ):
            process.stdin.write(packed(message))
        program = {"groups": "SELECT error('a secret')", "types": [], "tallies": 1, "bins": []}
        process.stdin.write(packed({"act": "count", "program": program, "turn": 9}))
        process.stdin.flush()
        read = process.stdout.read

        def answer() -> tuple[int, Any]:
            return int.from_bytes(read(TURN_BYTES), "big"), unpacked(read)

        assert answer() == (7, ({"opened": True}, []))
        assert answer() == (8, ({"rows": [[[1, "a", "2026-01-31"]]]}, []))
        assert answer() == (9, ({"failed": ""}, [])), "not a word of what was in the data"
        process.stdin.close()
        assert process.wait(10) == 0
