"""Claims about private SQL: what an answer costs and how far off it is, beside peers in environments of their own.

python -m benchmarks.query [cost] [small] [start] [utility] [--rows 10000000] [--repeats 30]

`cost`: CPU of a whole answer (charged to a ledger, with noise) for count, mean, median by group, on the file and on a
prepared copy, with a row and with a person as the unit, in turns with the plain query, and beside OpenDP-Polars on the
same file (up to 20M rows). `small`: peers that do not reach that size, on 50,000 rows. `start`: a new process that
opens a small file and answers once, beside one that imports duckdb and asks the plain query. `utility`: root of the
mean squared error at epsilon 1 over all groups and repeats, same rows, unit and bounds; what a peer takes as public is
said in its name.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, median, stdev
from typing import Any

import duckdb

import privately as pv
from benchmarks.harness import Clock, cpu_seconds, keep, peer_python
from benchmarks.query_engine import CITIES, PLAIN, generate, measured, own_cpu, worker_cpu
from privately.query.opening import prepare
from privately.query.sessions import Session

QUESTIONS = {
    "count": "SELECT city, COUNT(*) AS x FROM people GROUP BY city",
    "mean": "SELECT city, AVG(income) AS x FROM people GROUP BY city",
    "median": "SELECT city, MEDIAN(income) AS x FROM people GROUP BY city",
}
COLUMNS: dict[str, dict[str, Any]] = {
    "uid": {"type": "integer"},
    "city": {"type": "text", "categories": list(CITIES)},
    "age": {"type": "integer", "bounds": [0, 100]},
    "income": {"type": "real", "bounds": [0, 200_000]},
}
SMALL = 50_000
MOST_FOR_PEERS = 20_000_000
TIMES_PLAIN = {"row": 1.4, "row, prepared": 1.0, "person": 10.0, "person, prepared": 1.0}
TIMES_LESS = {"row": 8.0, "person, prepared": 40.0}
START = 0.7
RMSE = 240.0
GRIDS = (20, 80)
"""How far apart candidates for medians are: OpenDP's by its grid, ours by the resolution of the column."""

# --- peers ------------------------------------------------------------------------------------------------------------

OPENDP = """
import warnings; warnings.simplefilter("ignore")
import opendp.prelude as dp, polars as pl
dp.enable_features("contrib")
cities = [f"c{{number:02d}}" for number in range(50)]
income = pl.col("income").fill_nan(0.0).fill_null(0.0)
candidates = [float(one) for one in range(0, 200_001, {grid})]
asked = {{
    "count": dp.len(signed=True),
    "mean": income.dp.mean((0.0, 200_000.0)),
    "median": income.dp.median(candidates),
}}
longest = {longest}
def context(path, unit, **more):
    margins = [dp.polars.Margin(max_length=longest * 50),
               dp.polars.Margin(by=["city"], max_length=longest, max_groups=50, **more)]
    return dp.Context.compositor(data=pl.scan_parquet(path), privacy_unit=unit, privacy_loss=dp.loss_of(epsilon=1.0),
                                 split_evenly_over=1, margins=margins)
def row(path, name):
    made = context(path, dp.unit_of(contributions=1), invariant="keys")
    return made.query().group_by("city").agg(asked[name]).release().collect()
def person(path, name):
    made = context(path, dp.unit_of(contributions=3, identifier=pl.col("uid")))
    keys = pl.LazyFrame({{"city": cities}})
    return made.query().truncate_per_group(3).group_by("city").agg(asked[name]).with_keys(keys).release().collect()
def load(path):
    return path.replace(".csv", ".parquet")
def ask(path, name):
    return {{one[0]: float(one[1]) for one in row(path, name).select("city", pl.exclude("city")).rows()}}
"""

SMARTNOISE = """
import warnings; warnings.simplefilter("ignore")
import pandas as pd, snsql
from snsql import Privacy
def load(path):
    data = pd.read_csv(path)
    data["income"] = data["income"].clip(0, 200_000)
    columns = {"uid": {"name": "uid", "type": "int"},
               "city": {"name": "city", "type": "string"},
               "age": {"name": "age", "type": "int", "lower": 0, "upper": 100},
               "income": {"name": "income", "type": "float", "lower": 0.0, "upper": 200000.0}}
    about = {"max_ids": 1, "row_privacy": True, "censor_dims": False, "clamp_counts": False}
    meta = {"": {"people": {"people": {**about, **columns}}}}
    return snsql.from_df(data, privacy=Privacy(epsilon=1.0, delta=1e-9), metadata=meta)
texts = {"count": "COUNT(*) AS x", "mean": "AVG(income) AS x"}
def ask(made, name):
    found = made.execute(f"SELECT city, {texts[name]} FROM people.people GROUP BY city")
    return {one[0]: float(one[1]) for one in found[1:]}
"""

PIPELINE = """
import csv, pipeline_dp
def load(path):
    with open(path) as stream:
        return [(place, one["city"], float(one["income"])) for place, one in enumerate(csv.DictReader(stream))]
metrics = {"count": pipeline_dp.Metrics.COUNT, "mean": pipeline_dp.Metrics.MEAN,
           "median": pipeline_dp.Metrics.PERCENTILE(50)}
def ask(data, name):
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-9)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    how = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE, metrics=[metrics[name]], max_partitions_contributed=1,
        max_contributions_per_partition=1, min_value=0.0, max_value=200000.0)
    extract = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda one: one[0], partition_extractor=lambda one: one[1],
        value_extractor=lambda one: one[2])
    found = engine.aggregate(data, how, extract, public_partitions=[f"c{n:02d}" for n in range(50)])
    budget.compute_budgets()
    return {city: float(numbers[0]) for city, numbers in found}
"""

DIFFPRIVLIB = """
import csv, warnings; warnings.simplefilter("ignore")
import numpy as np
from diffprivlib import tools
def load(path):
    parts = {}
    with open(path) as stream:
        for one in csv.DictReader(stream):
            parts.setdefault(one["city"], []).append(float(one["income"]))
    return {city: np.array(part).clip(0, 200000) for city, part in parts.items()}
ways = {
    "count": lambda part: int(tools.count_nonzero(np.ones(len(part)), epsilon=1.0)),
    "mean": lambda part: float(tools.mean(part, epsilon=1.0, bounds=(0, 200000))),
    "median": lambda part: float(tools.median(part, epsilon=1.0, bounds=(0, 200000))),
}
def ask(parts, name):
    return {city: ways[name](part) for city, part in parts.items()}
"""

PEERS = {
    "diffprivlib": ("diffprivlib (sizes public in the mean)", DIFFPRIVLIB, tuple(QUESTIONS)),
    "smartnoise-sql": ("SmartNoise SQL (AVG spends epsilon 2, no median)", SMARTNOISE, ("count", "mean")),
    "opendp-polars": ("OpenDP-Polars (grid of 20, keys public)", "", tuple(QUESTIONS)),
    "pipeline-dp": ("PipelineDP", PIPELINE, tuple(QUESTIONS)),
}
"""What each is called, what sets it up, and what it can be asked."""


# --- ours -------------------------------------------------------------------------------------------------------------


def opened(
    path: Path,
    *,
    people: bool,
    copy: Path | None = None,
    ledger: Path | None = None,
    columns: dict[str, dict[str, Any]] = COLUMNS,
) -> Session:
    unit: dict[str, Any] = {"unit": "uid", "max_rows_per_unit": 3} if people else {}
    where = ":memory:" if ledger is None else str(ledger)
    return pv.open(
        path,
        budget=pv.PureDP(epsilon=10**6),
        ledger=where,
        columns=columns,
        name="people",
        prepare=copy,
        reuse="never",
        **unit,
    )


def prepared(path: Path, copy: Path, ledger: Path, *, people: bool) -> None:
    unit: dict[str, Any] = {"unit": "uid", "max_rows_per_unit": 3} if people else {}
    prepare(path, copy, ledger=str(ledger), columns=COLUMNS, name="people", **unit)


def asked(session: Session, name: str) -> dict[str, float]:
    """A fresh answer; each one is paid for."""
    found = session.sql(QUESTIONS[name], epsilon=1)
    return {str(row["city"]): float(row["x"]) for row in found.to_dicts() if row["x"] is not None}  # type: ignore[arg-type]


def cost_of(session: Session, name: str, repeats: int) -> float:
    engine: Any = session._engine  # noqa: SLF001 - its worker's time counts too
    asked(session, name)
    return measured(lambda: asked(session, name), lambda: own_cpu() + worker_cpu(engine), repeats)


def in_turns(session: Session, name: str, plain: Callable[[], object], repeats: int) -> tuple[float, float]:
    """CPU seconds of an answer and of the plain query, in turns, so that what else the machine does is in both."""
    pairs = [(cost_of(session, name, 1), measured(plain, own_cpu, 1)) for _ in range(repeats)]
    return median(one for one, _ in pairs), median(other for _, other in pairs)


# --- parts ------------------------------------------------------------------------------------------------------------


def cost(rows: int, repeats: int, folder: Path) -> list[dict[str, object]]:
    """CPU seconds of whole answers."""
    path = folder / "people.parquet"
    generate(path, rows)
    found: list[dict[str, object]] = []
    ours: dict[tuple[str, str], float] = {}
    for people in (False, True):
        label, copy, ledger = "person" if people else "row", folder / f"{people}.duckdb", folder / f"{people}.ledger"
        prepared(path, copy, ledger, people=people)
        for where in (None, copy):
            way = label if where is None else f"{label}, prepared"
            with (
                opened(path, people=people, copy=where, ledger=ledger) as session,
                duckdb.connect(config={"threads": 2}) as plain,
            ):
                for name in QUESTIONS:
                    text = PLAIN[name].format(path)
                    used, base = in_turns(session, name, lambda t=text: plain.execute(t).fetchall(), repeats)  # type: ignore[misc]
                    ours[way, name] = used
                    line(found, f"{way}: {name} (plain {base:.3f})", used, used / base, TIMES_PLAIN[way], below=True)
    python = peer_python("opendp-polars") if rows <= MOST_FOR_PEERS else None
    if python is not None:
        with Clock(python) as clock:
            clock.cpu_seconds(OPENDP.format(longest=max(rows // 40, 1000), grid=200))
            for way in ("row", "person"):
                for name in QUESTIONS:
                    used = median(clock.cpu_seconds(f"{way}({str(path)!r}, {name!r})") for _ in range(2))
                    for label in (way, f"{way}, prepared"):
                        times = used / ours[label, name]
                        line(found, f"OpenDP-Polars over ours, {label}: {name}", used, times, TIMES_LESS.get(label))
    return found


def small(path: Path) -> None:
    """A table for peers that cannot do more, as Parquet and as CSV."""
    generate(path, SMALL)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM '{path}') TO '{path.with_suffix('.csv')}' (FORMAT csv)")


def peers(path: Path) -> Iterator[tuple[str, str, Clock]]:
    """Each peer and each question it can be asked, with a process that has loaded the table as `data`."""
    for peer, (label, setup, names) in PEERS.items():
        python = peer_python(peer)
        if python is None:
            print(f"{peer} is not installed: make peers", file=sys.stderr)
            continue
        with Clock(python) as clock:
            clock.cpu_seconds(setup or OPENDP.format(longest=SMALL // 40, grid=20))
            clock.cpu_seconds(f"data = load({str(path.with_suffix('.csv'))!r})")
            for name in names:
                yield label, name, clock


def small_peers(folder: Path) -> list[dict[str, object]]:
    """What an answer takes on a table of 50,000 rows: peers have it in memory, ours (and OpenDP's) read the file."""
    path, found = folder / "small.parquet", list[dict[str, object]]()
    small(path)
    with opened(path, people=False) as session:
        ours = {name: cost_of(session, name, 3) for name in QUESTIONS}
    for name, used in ours.items():
        line(found, f"ours, {SMALL} rows: {name}", used, 1.0)
    for label, name, clock in peers(path):
        used = median(clock.cpu_seconds(f"ask(data, {name!r})") for _ in range(3))
        line(found, f"{label}, {SMALL} rows: {name}", used, used / ours[name])
    return found


def start(folder: Path) -> list[dict[str, object]]:
    """A process that answers once, beside one that asks the plain query."""
    path, found = folder / "few.parquet", list[dict[str, object]]()
    generate(path, 10_000)
    text = QUESTIONS["count"]
    ours = (
        f"import privately as pv; s = pv.open({str(path)!r}, budget=pv.PureDP(epsilon=3), ledger=':memory:', "
        f"columns={COLUMNS!r}, name='people'); s.sql({text!r}, epsilon=1).rows; s.close()"
    )
    plain = f"import duckdb; duckdb.sql({PLAIN['count'].format(path)!r}).fetchall()"
    cached = ["env", "-u", "PYTHONDONTWRITEBYTECODE", f"PYTHONPYCACHEPREFIX={folder / 'bytecode'}"]
    samples: dict[str, list[float]] = {"plain": [], "ours": []}
    for turn in range(8):
        for name, code in (("plain", plain), ("ours", ours)):
            used = cpu_seconds([*cached, sys.executable, "-c", code])
            if turn:
                samples[name].append(used)
    base, used = median(samples["plain"]), median(samples["ours"])
    line(found, "import duckdb and the plain query", base, 1.0)
    line(found, "open and answer once: seconds more than that", used, used - base, START, below=True)
    return found


def utility(repeats: int, folder: Path) -> list[dict[str, object]]:
    """Root of the mean squared error over groups and repeats at epsilon 1, and of the median of all rows."""
    path, found = folder / "some.parquet", list[dict[str, object]]()
    small(path)
    with duckdb.connect() as plain:
        clipped = f"(SELECT city, least(income, 200000) AS income FROM '{path}')"
        exact = {
            name: dict(plain.execute(f"SELECT city, {what} FROM {clipped} GROUP BY 1").fetchall())
            for name, what in (("count", "count(*)"), ("mean", "avg(income)"), ("median", "median(income)"))
        }

    def mean_squares(name: str, answers: Sequence[dict[str, float]]) -> list[float]:
        """The mean squared error over the groups, for every repeat."""
        return [fmean((one.get(city, 0.0) - truth) ** 2 for city, truth in exact[name].items()) for one in answers]

    def told(label: str, squares: Sequence[float], compared: float | None = None) -> float:
        root = math.sqrt(fmean(squares))
        error = stdev(squares) / (2 * root * len(squares) ** 0.5) if len(squares) > 1 else math.inf
        words = f"RMSE of {label} (standard error {error:.2g})"
        line(found, words, root, root if compared is None else root / compared)
        return root

    with opened(path, people=False) as session:
        squares = {name: mean_squares(name, [asked(session, name) for _ in range(repeats)]) for name in QUESTIONS}
    ours = {name: told(f"ours: {name}", listed) for name, listed in squares.items()}
    line(found, "RMSE of ours: mean", ours["mean"], ours["mean"], RMSE, below=True)
    for label, name, clock in peers(path):
        listed = [clock.measure(f"answer = ask(data, {name!r})")[1] for _ in range(repeats)]
        told(f"{label}: {name}", mean_squares(name, listed), ours[name])
    for grid in GRIDS:
        beside = opendp_medians(path, grid, repeats)
        with opened(path, people=False, columns=of_resolution(grid)) as session:
            same = mean_squares("median", [asked(session, "median") for _ in range(repeats)])
        told(f"ours, resolution {grid}: median", same)
        if beside:
            theirs = mean_squares("median", beside)
            told(f"OpenDP-Polars, grid of {grid}: median", theirs, math.sqrt(fmean(same)))
            ratio, (low, high) = (fmean(same) / fmean(theirs)) ** 0.5, ratio_interval(same, theirs)
            words = f"RMSE of our median over the best peer's, {grid} apart, {low:.3f} to {high:.3f} (95 %)"
            line(found, words, ratio, ratio, 1.0, below=True)
    return found


def of_resolution(grid: int) -> dict[str, dict[str, Any]]:
    """The columns, with medians of incomes among candidates that are so far apart."""
    return COLUMNS | {"income": COLUMNS["income"] | {"resolution": grid}}


def opendp_medians(path: Path, grid: int, repeats: int) -> list[dict[str, float]]:
    """Its medians, on a grid of our choice; none if it is not installed."""
    python = peer_python("opendp-polars")
    if python is None:
        return []
    with Clock(python) as clock:
        clock.cpu_seconds(OPENDP.format(longest=SMALL // 40, grid=grid))
        return [clock.measure(f"answer = ask({str(path)!r}, 'median')")[1] for _ in range(repeats)]


def ratio_interval(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Where the ratio of two root mean squares is with 95 % confidence, by drawing repeats again."""
    random = Random(0)  # noqa: S311 - no secret
    found = sorted(
        (fmean(random.choices(one, k=len(one))) / fmean(random.choices(other, k=len(other)))) ** 0.5
        for _ in range(2_000)
    )
    return found[50], found[-50]


def line(
    found: list[dict[str, object]],
    name: str,
    number: float,
    compared: float,
    target: float | None = None,
    *,
    below: bool = False,
) -> None:
    met = None if target is None else compared <= target if below else compared >= target
    words = "" if met is None else f"target {'<=' if below else '>='} {target:g}: {'met' if met else 'MISSED'}"
    print(f"{name:60} {number:12.3f} {compared:10.2f}   {words}", flush=True)
    found.append({"name": name, "figure": number, "compared": compared, "target": target, "met": met})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=30)
    chosen = parser.parse_args()
    parts = chosen.parts or ["cost", "small", "start", "utility"]
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as directory:
        folder = Path(directory)
        if "start" in parts:
            found += start(folder)
        if "small" in parts:
            found += small_peers(folder)
        if "utility" in parts:
            found += utility(chosen.repeats, folder)
        if "cost" in parts:
            found += cost(chosen.rows, 3 if chosen.rows <= MOST_FOR_PEERS else 1, folder)
    keep("query", found)


if __name__ == "__main__":
    main()
