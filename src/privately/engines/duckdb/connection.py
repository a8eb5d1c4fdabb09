"""A DuckDB connection that can read the registered files and nothing else, and whose settings cannot be changed.

Plans never ask it for anything else; this is the second lock on the same door.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privately.engines.duckdb.literals import name, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a connection may touch: files to read, databases to read, and at most one database to write."""

    paths: tuple[str, ...] = ()
    attached: tuple[tuple[str, str], ...] = ()
    written: tuple[str, str] | None = None
    memory: int = 4 * 2**30
    threads: int = 2
    spill: str = ""


def connect(setup: Setup) -> Any:
    """The connection, locked. DuckDB is loaded here, in the worker, and never in the process that asks."""
    import duckdb

    config: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_unsigned_extensions": False,
        "python_enable_replacements": False,
        "python_scan_all_frames": False,
        "memory_limit": f"{setup.memory // 2**20}MiB",
        "threads": setup.threads,
        "temp_directory": setup.spill,
        "preserve_insertion_order": False,
        "max_expression_depth": 10_000,
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = false")
    # Files by other writers leave NaN out of their least and largest value, and DuckDB drops comparisons on their word.
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    # The pages of a column are decoded as they are read; gathering them first copies all of them once more.
    connection.execute("SET disable_parquet_prefetching = true")
    for path, alias in setup.attached:
        connection.execute(f"ATTACH {quoted(path)} AS {name(alias)} (READ_ONLY)")
    allowed = [*setup.paths, *(path for path, _ in setup.attached)]
    if setup.written is not None:
        path, alias = setup.written
        connection.execute(f"ATTACH {quoted(path)} AS {name(alias)}")
        allowed += [path, f"{path}.wal"]
    connection.execute(f"SET allowed_paths = [{', '.join(quoted(path) for path in allowed)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
