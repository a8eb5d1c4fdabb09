"""What an exact private aggregation costs, beside the plain DuckDB query on the same Parquet file; CPU time, one run.

python benchmarks/query_engine.py [--rows 10000000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb

from privately.engines import Limits
from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.sources import parquet
from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Identity,
    Key,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Unit,
    UnitCount,
)

CITIES = tuple(f"c{number:02d}" for number in range(50))
LIMITS = Limits(memory=6 * 2**30, threads=2)
PLAIN = {
    "count": "SELECT city, count(*) FROM '{}' GROUP BY 1",
    "mean": "SELECT city, avg(income) FROM '{}' GROUP BY 1",
    "median": "SELECT city, median(income) FROM '{}' GROUP BY 1",
    "units": "SELECT city, count(DISTINCT uid) FROM '{}' GROUP BY 1",
}
_OF_A_PROCESS = 2


def generate(path: Path, rows: int) -> None:
    """About five rows for each person, 50 cities, incomes of a log-normal law."""
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT (hash(i * 7 + 1) % {max(rows // 5, 1)})::BIGINT AS uid,
            'c' || lpad((hash(i) % 50)::VARCHAR, 2, '0') AS city, (hash(i + 5) % 101)::INTEGER AS age,
            exp(10.3 + 0.8 * sqrt(-2 * ln((1 + hash(i * 3) % 1000000) / 1000001.0))
                * cos(6.283185 * (hash(i * 11) % 1000000) / 1000000.0)) AS income
            FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"""
        )


def table(unit: Unit) -> Table:
    columns = (
        Column(name="uid", type="integer"),
        Column(name="city", type="text", categories=CITIES),
        Column(name="age", type="integer", bounds=(0, 100)),
        Column(name="income", type="real", bounds=(0, 200_000)),
    )
    return Table(name="people", columns=columns, unit=unit)


def questions(declared: Table) -> dict[str, Aggregation]:
    identities = tuple(Identity(number=number, name=one.name) for number, one in enumerate(declared.columns))
    scan = Scan(table=declared, identities=identities)
    city, income = scan.fields[1], scan.fields[3]
    step = declared.columns[3].step or Fraction(1)
    tallies: dict[str, tuple[Tally, ...]] = {
        "count": (RowCount(),),
        "mean": (StepSum(argument=income, step=step, low=0, high=int(200_000 / step)), RowCount(argument=income)),
        "median": (BinCounts(argument=income, lower=Fraction(0), width=Fraction(200_000, 2**16), bins=2**16),),
        "units": (UnitCount(),),
    }
    key = Key(identity=Identity(number=50, name="city"), expression=city, values=CITIES)
    return {
        name: Aggregation(
            source=scan,
            keys=(key,),
            tallies=tuple((Identity(number=60 + place, name="n"), one) for place, one in enumerate(listed)),
        )
        for name, listed in tallies.items()
    }


def own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def worker_cpu(engine: Embedded) -> float:
    """Of the worker, by the clock that Linux keeps of each process; its process table has no more than ticks of it."""
    process = engine.worker_process
    assert process is not None  # noqa: S101 - it has been asked before
    return time.clock_gettime((~process << 3) | _OF_A_PROCESS)


def measured(act: Callable[[], object], clock: Callable[[], float], repeats: int) -> float:
    act()
    found = []
    for _ in range(repeats):
        begun = clock()
        for _ in range(3):
            act()
        found.append((clock() - begun) / 3)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "people.parquet"
        generate(path, chosen.rows)
        results: dict[str, float] = {}
        with duckdb.connect(config={"threads": LIMITS.threads}) as plain:
            base = {
                name: measured(lambda t=text: plain.execute(t.format(path)).fetchall(), own_cpu, chosen.repeats)  # type: ignore[misc]
                for name, text in PLAIN.items()
            }
        for label, unit in (("row", Unit()), ("unit", Unit(column="uid", rows=3))):
            declared, key, copy = table(unit), os.urandom(32), Path(directory) / f"{label}.duckdb"
            with Embedded(table=declared, source=parquet(path), key=key, limits=LIMITS) as engine:
                measure(
                    engine, declared, f"{label} unit, file", base, results, 1 if label == "unit" else chosen.repeats
                )
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                engine.prepare("people", copy)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                results[f"{label} unit, preparing, CPU s"] = after.ru_utime - before.ru_utime
            with Embedded(table=declared, source=parquet(path), key=key, prepared=copy, limits=LIMITS) as engine:
                measure(engine, declared, f"{label} unit, prepared", base, results, chosen.repeats)
    print(json.dumps({"rows": chosen.rows, "plain CPU s": base, "ratios": results}, indent=1))


def measure(  # noqa: PLR0917
    engine: Embedded, declared: Table, label: str, base: dict[str, float], results: dict[str, float], repeats: int
) -> None:
    def clock() -> float:
        return own_cpu() + worker_cpu(engine)

    for name, aggregation in questions(declared).items():
        used = measured(lambda a=aggregation: engine.run(a, LIMITS), clock, repeats)  # type: ignore[misc]
        results[f"{label}, {name}"] = used / base[name]
        print(f"{label:22s} {name:8s} {used:7.3f} s  {used / base[name]:6.2f}x", flush=True)


if __name__ == "__main__":
    main()
