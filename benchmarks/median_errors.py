"""How far off private medians are by their exact laws, without drawing anything: 50 groups of about 1,000 incomes.

python -m benchmarks.median_errors

`exponential`: each candidate in proportion to exp(-epsilon/2 miss), where `miss` is by how much twice its rank misses
the number of rows. `permute and flip`: candidates in random order, each accepted with that probability over the best
one's. It gains where few candidates are about as good as the best, hence on coarse grids.

Ours are bins, of which the middle is told; OpenDP's are points. Both permute and flip, so on the same grid they differ
in that alone: of bins some always contains the median, while it may lie between two points.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.harness import keep
from benchmarks.query import SMALL
from benchmarks.query_engine import generate

BINS, UPPER = 2**16, 200_000.0
GRIDS = (UPPER / BINS, 20.0, 40.0, 80.0, 200.0)
"""How far apart candidates are; the first is what bins have unless told, and 65,536 of them."""
_NEGLIGIBLE = 1e-18


def incomes(path: Path) -> list[Any]:
    """The clamped incomes of every city."""
    generate(path, SMALL)
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT city, least(income, {UPPER}) FROM '{path}'").fetchall()
    cities = sorted({city for city, _ in rows})
    return [np.sort([income for one, income in rows if one == city]) for city in cities]


def exponential(misses: Any) -> Any:
    """How likely each candidate is at epsilon 1."""
    weights = np.exp((misses.min() - misses) / 2)
    return weights / weights.sum()


def permute_and_flip(misses: Any) -> Any:
    """The same: the integral over the time at which a candidate's turn comes that no earlier one was accepted."""
    accepted = np.exp((misses.min() - misses) / 2)
    near = accepted > _NEGLIGIBLE
    few = accepted[near]
    nodes, weights = np.polynomial.legendre.leggauss(200)
    times, weights = (nodes + 1) / 2, weights / 2
    hidden = np.log1p(-np.outer(times, few))
    others = np.exp(hidden.sum(axis=1, keepdims=True) - hidden)
    found = np.zeros(len(misses))
    found[near] = few * (weights @ others)
    return found / found.sum()


def misses_of(values: Any, first: Any, last: Any) -> Any:
    """By how much twice the rank of each candidate, a point or a bin from `first` to `last`, misses all rows."""
    below, upto = np.searchsorted(values, first, "left"), np.searchsorted(values, last, "right")
    return np.maximum(np.maximum(2 * below - len(values), len(values) - 2 * upto), 0).astype(float)


def candidates(apart: float) -> dict[str, tuple[Any, Any, Any]]:
    """Where each begins and ends, and what is told of it."""
    starts, points = np.arange(round(UPPER / apart)) * apart, np.arange(round(UPPER / apart) + 1) * apart
    return {"bins": (starts, np.nextafter(starts + apart, 0), starts + apart / 2), "points": (points, points, points)}


def main() -> None:
    """Print the root mean squared errors, and keep them."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        groups = incomes(Path(folder) / "people.parquet")
    for apart in GRIDS:
        for name, (first, last, told) in candidates(apart).items():
            for values in groups:
                misses, truth = misses_of(values, first, last), np.median(values)
                for law in (exponential, permute_and_flip):
                    squares = float(law(misses) @ (told - truth) ** 2)
                    words = law.__name__.replace("_", " ")
                    found.setdefault(f"{words}, {name} {apart:.4g} apart", []).append(squares)
    rows: list[dict[str, Any]] = [
        {"name": name, "figure": float(np.sqrt(np.mean(squares)))} for name, squares in found.items()
    ]
    for row in rows:
        print(f"{row['name']:44} {row['figure']:8.2f}")
    ours, theirs = ({row["name"]: row["figure"] for row in rows if kind in row["name"]} for kind in ("bins", "points"))
    for name, error in theirs.items():
        if name.startswith("permute"):
            ratio = ours[name.replace("points", "bins")] / error
            print(f"{name.replace('points', 'bins over points'):44} {ratio:8.3f}")
            rows.append({"name": f"ours over OpenDP's, {name.split(' ')[-2]} apart", "figure": ratio})
    keep("median_errors", rows)


if __name__ == "__main__":
    main()
