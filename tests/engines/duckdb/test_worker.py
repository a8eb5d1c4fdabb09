"""The other side of the pipe; see also `test_pool`."""

import subprocess
import sys
from typing import Any

from privately.engines.duckdb.messages import packed, unpacked


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
            {"act": "open", "setup": setup},
            {"act": "tell", "statements": ["SELECT 1, 'a', DATE '2026-01-31'"]},
        ):
            process.stdin.write(packed(message))
        program = {"groups": "SELECT error('a secret')", "types": [], "tallies": 1, "bins": []}
        process.stdin.write(packed({"act": "count", "program": program}))
        process.stdin.flush()
        assert unpacked(process.stdout.read) == ({"opened": True}, [])
        assert unpacked(process.stdout.read) == ({"rows": [[[1, "a", "2026-01-31"]]]}, [])
        assert unpacked(process.stdout.read) == ({"failed": ""}, []), "not a word of what was in the data"
        process.stdin.close()
        assert process.wait(10) == 0
