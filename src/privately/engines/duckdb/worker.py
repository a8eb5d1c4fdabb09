"""The process in which questions run. It can be killed at any time, and takes nobody with it.

It reads messages from its standard input and answers on its standard output. At the end of the input it is gone at
once, even in the midst of a question, so that it never outlives the process that started it.
"""

from __future__ import annotations

import gc
import os
import queue
import resource
import sys
import threading
from typing import Any, BinaryIO

_OVERHEAD = 4 * 2**30
"""Address space for the interpreter, its libraries and their threads, beside what DuckDB may use."""


def main() -> None:
    """Answers until the input ends."""
    gc.disable()  # modules are no garbage; looking for some among them takes a part of the time to load them
    from privately.engines.duckdb.messages import TURN_BYTES

    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=_listen, args=(sys.stdin.buffer, waiting), daemon=True).start()
    connection: Any = None
    while True:
        message = waiting.get()
        answer, connection = _answer(message, connection)
        output.write(message["turn"].to_bytes(TURN_BYTES, "big"))
        output.write(answer)
        output.flush()
        if not gc.isenabled():  # what is loaded by now stays
            gc.freeze()
            gc.enable()


def _listen(stream: BinaryIO, waiting: queue.SimpleQueue[Any]) -> None:
    from privately.engines.duckdb.messages import unpacked

    def read(size: int) -> bytes:
        data = stream.read(size)
        if len(data) < size:
            os._exit(0)
        return data

    while True:
        waiting.put(unpacked(read)[0])


def _answer(message: dict[str, Any], connection: Any) -> tuple[bytes, Any]:
    """The answer to a message. For a question, nothing is said of what went wrong; the owner is told."""
    from privately.engines.duckdb import messages

    try:
        match message["act"]:
            case "open":
                return messages.packed({"opened": True}), _opened(message["setup"])
            case "count":
                from privately.engines.duckdb.counting import attempted

                found = attempted(connection, messages.program_of(message["program"]))
                return messages.counts_message(found), connection
            case _:
                tables = [connection.execute(statement).fetchall() for statement in message["statements"]]
                rows = [[[_plain(value) for value in row] for row in table] for table in tables]
                return messages.packed({"rows": rows}), connection
    except Exception as error:  # noqa: BLE001 - whatever it is, the process goes on
        return messages.packed({"failed": str(error) if message["act"] != "count" else ""}), connection


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, str, list)) else str(value)


def _opened(setup: dict[str, Any]) -> Any:
    from privately.engines.duckdb.connection import Setup, connect

    most = setup["memory"] * 2 + _OVERHEAD
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    written = setup["written"]
    return connect(
        Setup(
            paths=tuple(setup["paths"]),
            attached=tuple((path, alias) for path, alias in setup["attached"]),
            written=None if written is None else (written[0], written[1]),
            memory=setup["memory"],
            threads=setup["threads"],
            spill=setup["spill"],
        )
    )


if __name__ == "__main__":
    main()
