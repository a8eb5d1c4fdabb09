"""Claim: `import privately` costs at most 6 times the CPU of a bare interpreter.

Peers run beside it, each in its own environment, if `make peers` has made them.
"""

import sys

from benchmarks.harness import compare, peer_python, report

ROUNDS = 15
TARGET = 6
OURS = "import privately"
BARE = "bare python"
STATEMENTS = {
    BARE: "pass",
    OURS: "import privately",
    "privately.PureDP(epsilon=1)": "import privately; privately.PureDP(epsilon=1)",
}
PEERS = {"opendp": "import opendp.prelude", "dp-accounting": "import dp_accounting"}


def main() -> int:
    commands = {name: [sys.executable, "-c", statement] for name, statement in STATEMENTS.items()}
    for peer, statement in PEERS.items():
        python = peer_python(peer)
        if python:
            commands[statement] = [str(python), "-c", statement]
    rows = compare(commands, base=BARE, rounds=ROUNDS)
    report("import_cost", rows)
    ratio = next(row.ratio for row in rows if row.name == OURS)
    print(f"{OURS}: {ratio:.2f} x bare python, target {TARGET} x")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
