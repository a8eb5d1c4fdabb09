"""Claims about `privately.mechanisms`: how fast choices are beside floats and OpenDP, and how close averages come.

Comparisons are made as in `noise`: two statements in processes that stay, in turn, by the CPU time that each process
counts itself, on the same scores. Each statement is run twice in a row and the second time counts: arrays of 80 MB
first wait for memory that the other process has just given back. OpenDP's `noisy_max` is permute-and-flip; it is lent
our NumPy, since it takes an array faster than a list.

For averages the error of the exact law, to first order, stands beside that of releases.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist, median

import numpy as np

from benchmarks.harness import Clock, keep, peer_python
from benchmarks.noise import STARTS, Duel, Line, Side, interleaved
from privately.mechanisms.average import Average

CANDIDATES = (10**5, 10**6, 10**7)
NO_SLOWER_FROM = 10**6
POINTS = 10**6
ROWS = 1000
RELEASES = 400_000

SCORES = f"""
import numpy as np
scores = {{size: np.random.default_rng(size).integers(0, 1000, size) for size in {CANDIDATES}}}
"""
OURS = f"""
from privately.mechanisms import Exponential, PermuteAndFlip
from privately.mechanisms.permuted_quantile import PermutedQuantile
from privately.mechanisms.quantile import Quantile
from privately.mechanisms.randomness import SYSTEM
generator = np.random.default_rng()
exponential = {{size: Exponential(scale=2, candidates=size) for size in scores}}
permute_and_flip = {{size: PermuteAndFlip(scale=2, candidates=size) for size in scores}}
points = np.random.default_rng(0).integers(0, 10**9, {POINTS})
ordered = np.sort(points)
median, permuted = (
    kind(probability="1/2", epsilon=1, lower=0, upper=10**9 - 1, step=1) for kind in (Quantile, PermutedQuantile)
)
"""
OPENDP = f"""
import sys
sys.path.append({str(Path(np.__file__).parents[1])!r})
{SCORES}
import opendp.prelude as dp
dp.enable_features("contrib")
noisy_max = {{}}
for T, kind in (("i64", np.int64), ("i32", np.int32)):
    space = dp.vector_domain(dp.atom_domain(T=T)), dp.linf_distance(T=T)
    noisy_max[T] = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
typed = {{"i64": scores[{CANDIDATES[-1]}], "i32": scores[{CANDIDATES[-1]}].astype(np.int32)}}
"""
GUMBEL = "int(np.argmax(scores[{0}] / 2 + generator.gumbel(size={0})))"
CHOICES = {"exponential mechanism": "exponential[{0}]", "permute-and-flip": "permute_and_flip[{0}]"}


class Settled(Side):
    """A statement whose memory is there already."""

    def seconds(self) -> float:
        self.clock.cpu_seconds(self.statement)
        return super().seconds()


def beside_gumbel(ours: Clock) -> Iterator[Duel]:
    for size in CANDIDATES:
        for name, choice in CHOICES.items():
            yield Duel(
                name=f"{name}, {size:,} candidates; float Gumbel",
                ours=Settled(clock=ours, statement=f"{choice.format(size)}.release(scores[{size}])", draws=size),
                theirs=Settled(clock=ours, statement=GUMBEL.format(size), draws=size),
                target=1 if size >= NO_SLOWER_FROM and name == "exponential mechanism" else None,
            )


def beside_opendp(ours: Clock, opendp: Clock) -> Iterator[Duel]:
    size = CANDIDATES[-1]
    for name, choice in CHOICES.items():
        for kind in ("i64", "i32"):
            yield Duel(
                name=f"{name}, {size:,} candidates; OpenDP {kind}",
                ours=Settled(clock=ours, statement=f"{choice.format(size)}.release(scores[{size}])", draws=size),
                theirs=Settled(clock=opendp, statement=f"noisy_max[{kind!r}](typed[{kind!r}])", draws=size),
                target=5,
            )


def beside_sorting(ours: Clock) -> Iterator[Duel]:
    """Under twice the sort is at least half as fast."""
    for name, statement in (
        ("points as they come", "median.release(points)"),
        ("sorted points", "median.choose(ordered, 0, 10**9 - 1, SYSTEM)"),
        ("points as they come, permute and flip", "permuted.release(points)"),
        ("sorted points, permute and flip", "permuted.choose(ordered, 0, 10**9 - 1, SYSTEM)"),
    ):
        yield Duel(
            name=f"median of 10^9 candidates, {POINTS:,} {name}; np.sort",
            ours=Settled(clock=ours, statement=statement, draws=POINTS),
            theirs=Settled(clock=ours, statement="np.sort(points)", draws=POINTS),
            target=0.5,
        )


def comparisons() -> Iterator[Line]:
    peer = peer_python("opendp")
    if peer is None:
        print("OpenDP is not compared: `make peers` installs it.")
    for same in zip(*(compare(peer) for _ in range(STARTS)), strict=True):
        yield replace(same[0], taken=[seconds for duel in same for seconds in duel.taken]).line()


def compare(peer: Path | None) -> list[Duel]:
    """All rounds of one start of the processes."""
    with ExitStack() as stack:
        ours = stack.enter_context(Clock(sys.executable))
        ours.cpu_seconds(SCORES + OURS)
        duels = [*beside_gumbel(ours), *beside_sorting(ours)]
        if peer:
            opendp = stack.enter_context(Clock(peer))
            opendp.cpu_seconds(OPENDP)
            duels += beside_opendp(ours, opendp)
        return interleaved(duels)


def incomes() -> list[float]:
    """Log-normal with a median of 29,740 and, clamped, a mean of about 35,600; at evenly spaced probabilities."""
    law = NormalDist(math.log(29_740), 0.6)
    return [math.exp(law.inv_cdf((i + 0.5) / ROWS)) for i in range(ROWS)]


def averages() -> Iterator[Line]:
    """The root of the mean squared error at epsilon 1, with a private number of rows."""
    values = np.array(incomes())
    average = Average.for_epsilon(1, lower=0, upper=200_000, step=1)
    truth = float(np.clip(values, 0, 200_000).mean())
    above, total = int(average.points.read(values).sum()), ROWS * average.points.steps
    variance = 0.5 / math.sinh(0.5 / float(average.law.scale)) ** 2
    exact = 200_000 * math.sqrt(variance * (above**2 + (total - above) ** 2)) / total**2
    yield Line(name=f"average of {ROWS} incomes, RMSE to first order", figure=exact, unit="", at_most=240)
    squares = [(float(average.release(values).mean) - truth) ** 2 for _ in range(RELEASES)]
    numbers = {"releases": RELEASES, "mean": truth, "median error": math.sqrt(median(squares))}
    figure = math.sqrt(sum(squares) / RELEASES)
    yield Line(
        name=f"average of {ROWS} incomes, RMSE of releases", figure=figure, unit="", at_most=240, numbers=numbers
    )


def main() -> int:
    lines = []
    for line in (*comparisons(), *averages()):
        print(line)
        lines.append(line)
    keep("mechanisms", [line.record() for line in lines])
    missed = sum(not line.holds for line in lines)
    print(f"{missed} targets missed" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
