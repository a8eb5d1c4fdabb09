"""How far off private medians are by their exact laws, without drawing anything: 50 groups of about 1,000 incomes.

python -m benchmarks.median_errors

`exponential`: each candidate in proportion to exp(-epsilon/2 miss), where `miss` is by how much twice its rank misses
the number of rows. `permute and flip`: candidates in random order, each accepted with that probability over the best
one's; OpenDP chooses so. It gains where few candidates are about as good as the best, hence on coarse grids.
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
GRIDS = (20, 80, 200)
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


def main() -> None:
    """Print the root mean squared errors, and keep them."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        groups = incomes(Path(folder) / "people.parquet")
    width = UPPER / BINS
    starts = np.arange(BINS) * width
    for values in groups:
        truth = np.median(values)
        grids = {f"{grid} apart": np.arange(0, UPPER + 1, grid) for grid in GRIDS}
        candidates = {f"{BINS} bins": (starts, np.nextafter(starts + width, 0), starts + width / 2)}
        candidates |= {name: (points, points, points) for name, points in grids.items()}
        for name, (first, last, points) in candidates.items():
            misses = misses_of(values, first, last)
            for law in (exponential, permute_and_flip):
                squares = float(law(misses) @ (points - truth) ** 2)
                found.setdefault(f"{law.__name__.replace('_', ' ')}, {name}", []).append(squares)
    rows = [{"name": name, "figure": float(np.sqrt(np.mean(squares)))} for name, squares in found.items()]
    for row in rows:
        print(f"{row['name']:40} {row['figure']:8.2f}")
    keep("median_errors", rows)


if __name__ == "__main__":
    main()
