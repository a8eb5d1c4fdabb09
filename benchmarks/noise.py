"""Claims about `privately.noise`: how fast beside NumPy's floating-point samplers and OpenDP, and what else it costs.

Every comparison is of two statements in processes that stay: ours and theirs in turn, round after round, a million
draws at a time, by the CPU time that each process counts itself; starting, tables and compiling are not in it. Draws
with numba's loops have a process of their own. All processes are started three times, as some are luckier than others.
OpenDP works on fewer values, at its own pace; it is lent our NumPy, since it takes an array faster than a list. What
`import privately` costs is measured by `import_cost`.
"""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from benchmarks.harness import Clock, keep, peer_python
from privately import noise
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Law, RoundedNormal
from privately.noise.repeatable import RepeatableStream
from privately.noise.samplers import sampler
from privately.noise.source import Source
from privately.rounding import Number

ROUNDS = 7
STARTS = 3
SIZE = 1_000_000
PEER_SIZE = 20_000
CALLS = 1_000
FIRST_CALLS = 3

OURS = f"""
import numpy as np
from privately import noise
generator = np.random.default_rng()
values = np.arange({SIZE})
"""
OPENDP = f"""
import sys
sys.path.append({str(Path(np.__file__).parents[1])!r})
import numpy as np
import opendp.prelude as dp
dp.enable_features("contrib")
laplace, gaussian = {{}}, {{}}
for T, kind in (("i64", np.int64), ("i32", np.int32)):
    vectors = dp.vector_domain(dp.atom_domain(T=T))
    for scale in (10, 2**20, 2**40):
        laplace[T, scale] = dp.m.make_laplace(vectors, dp.l1_distance(T=T), scale=float(scale))
        gaussian[T, scale] = dp.m.make_gaussian(vectors, dp.l2_distance(T=float), scale=float(scale))
values = {{"i64": np.arange({PEER_SIZE}, dtype=np.int64), "i32": np.arange({PEER_SIZE}, dtype=np.int32)}}
single = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=10.0)
"""

LAPLACE = "noise.discrete_laplace(scale={}, size={})"
ROUNDED = "noise.rounded_gaussian(standard_deviation={}, size={})"
GAUSSIAN = "noise.discrete_gaussian(variance={}**2, size={})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """A law beside NumPy's float sampler: how many times as fast, at least, in NumPy and in numba."""

    name: str
    ours: str
    theirs: str
    numpy: float | None
    numba: float


SAMPLINGS = [
    Sampling(name=f"{law} {scale}", ours=ours.format(written, SIZE), theirs=theirs, numpy=numpy, numba=numba)
    for law, ours, float_law, rows in (
        ("discrete Laplace, scale", LAPLACE, "laplace", (("1", 0.7, 6), ("10", 0.7, 6), ("2^40", 0.4, 0.4))),
        ("rounded normal, deviation", ROUNDED, "normal", (("10", 0.3, 4), ("2^20", None, 0.1))),
        ("discrete Gaussian, deviation", GAUSSIAN, "normal", (("10", 0.3, 4), ("2^20", None, 0.1))),
    )
    for scale, numpy, numba in rows
    for written in [f"({scale.replace('^', '**')})"]
    for theirs in [f"generator.{float_law}(0, {written}, {SIZE})"]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A figure, what was promised of it, and the numbers that it comes from."""

    name: str
    figure: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return (self.at_least or self.figure) <= self.figure <= (self.at_most or self.figure)

    def __str__(self) -> str:
        target = f">= {self.at_least}" if self.at_least else f"<= {self.at_most}" if self.at_most else ""
        verdict = ("pass" if self.holds else "MISS") if target else ""
        numbers = ", ".join(f"{name} {number:,.2f}" for name, number in self.numbers.items())
        return f"{self.name:62} {self.figure:8.2f} {self.unit:5} {target:8} {verdict:5} {numbers}"

    def record(self) -> dict[str, object]:
        ends = {"at_least": self.at_least, "at_most": self.at_most, "holds": self.holds}
        return {"name": self.name, "figure": self.figure, "unit": self.unit, **ends, **self.numbers}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A statement, the process that runs it, and how many draws it makes."""

    clock: Clock
    statement: str
    draws: int = SIZE

    def seconds(self) -> float:
        return self.clock.cpu_seconds(self.statement) / self.draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """One task, done by us and by others."""

    name: str
    ours: Side
    theirs: Side
    target: float | None = None
    taken: list[tuple[float, float]] = field(default_factory=list)

    def round(self, turn: int) -> None:
        """Each side once; who begins changes, and the first turn only warms up."""
        if turn % 2:
            ours, theirs = self.ours.seconds(), self.theirs.seconds()
        else:
            theirs, ours = self.theirs.seconds(), self.ours.seconds()
        if turn:
            self.taken.append((ours, theirs))

    def line(self) -> Line:
        """How many times as fast we are: the ratio of medians or the median of ratios, whichever is less."""
        ours, theirs = (median(seconds) for seconds in zip(*self.taken, strict=True))
        ratios = {"of medians": theirs / ours, "of rounds": median(b / a for a, b in self.taken)}
        numbers = {"ns": ours * 1e9, "against": theirs * 1e9, **ratios}
        return Line(name=self.name, figure=min(ratios.values()), unit="x", at_least=self.target, numbers=numbers)


def beside_numpy(numpy: Clock, numba: Clock) -> Iterator[Duel]:
    for one in SAMPLINGS:
        for kernels, clock, target in (("numpy", numpy, one.numpy), ("numba", numba, one.numba)):
            ours, theirs = Side(clock=clock, statement=one.ours), Side(clock=clock, statement=one.theirs)
            yield Duel(name=f"{one.name}, {kernels}", ours=ours, theirs=theirs, target=target)


def beside_opendp(numpy: Clock, numba: Clock, opendp: Clock) -> Iterator[Duel]:
    for law, ours, scale, kind, kernels, clock in (
        ("laplace", LAPLACE, "10", "i64", "numpy", numpy),
        ("laplace", LAPLACE, "10", "i32", "numpy", numpy),
        ("laplace", LAPLACE, "10", "i64", "numba", numba),
        ("laplace", LAPLACE, "2**40", "i64", "numpy", numpy),
        ("gaussian", ROUNDED, "10", "i64", "numpy", numpy),
        ("gaussian", ROUNDED, "10", "i32", "numpy", numpy),
        ("gaussian", ROUNDED, "10", "i64", "numba", numba),
        ("gaussian", ROUNDED, "2**20", "i64", "numpy", numpy),
    ):
        added = f"noise.add(values, {ours.format(scale, 'values.size')})"
        yield Duel(
            name=f"noise on an array, {law} {scale}, {kernels}; OpenDP {kind}",
            ours=Side(clock=clock, statement=added),
            theirs=Side(clock=opendp, statement=f"{law}[{kind!r}, {scale}](values[{kind!r}])", draws=PEER_SIZE),
            target=100,
        )
    repeat = f"for _ in range({CALLS}): "
    yield Duel(
        name="noise on a single value, laplace 10, numpy; OpenDP",
        ours=Side(clock=numpy, statement=f"{repeat}noise.add([7], {LAPLACE.format(10, 1)})", draws=CALLS),
        theirs=Side(clock=opendp, statement=f"{repeat}single(7)", draws=CALLS),
    )


def comparisons() -> Iterator[Line]:
    """Ourselves beside NumPy, then beside OpenDP if it is there."""
    peer = peer_python("opendp")
    if peer is None:
        print("OpenDP is not compared: `make peers` installs it.")
    once, starts = zip(*(compare(peer) for _ in range(STARTS)), strict=True)
    yield Line(name="accelerate(): load numba, compile, compare the loops", figure=median(once), unit="s")
    for same in zip(*starts, strict=True):
        yield replace(same[0], taken=[seconds for duel in same for seconds in duel.taken]).line()


def compare(peer: Path | None) -> tuple[float, list[Duel]]:
    """All rounds of one start of the processes: what switching to numba took, and the duels."""
    with ExitStack() as stack:
        numpy, numba = (stack.enter_context(Clock(sys.executable)) for _ in range(2))
        for clock in (numpy, numba):
            clock.cpu_seconds(OURS)
        once = numba.cpu_seconds("noise.accelerate()")
        duels = interleaved(list(beside_numpy(numpy, numba)))
        if peer:
            opendp = stack.enter_context(Clock(peer))
            opendp.cpu_seconds(OPENDP)
            duels += interleaved(list(beside_opendp(numpy, numba, opendp)))
        return once, duels


def interleaved(duels: list[Duel]) -> list[Duel]:
    for turn in range(ROUNDS + 1):
        for duel in duels:
            duel.round(turn)
    return duels


def bytes_a_draw() -> Line:
    """The greediest of the laws with a table of their own."""
    taken = {}
    for law in small_laws():
        stream = RepeatableStream(seed="bytes a draw")
        sampler(law).draw(Source(stream), SIZE)
        taken[str(law)] = stream.taken / SIZE
    greediest = max(taken, key=taken.__getitem__)
    return Line(name=f"random bytes a draw: {greediest}", figure=taken[greediest], unit="bytes", at_most=4)


def small_laws() -> Iterator[Law]:
    for scale in (1, 10, 64):
        yield from (DiscreteLaplace(scale=scale), DiscreteExponential(scale=scale))
        yield from (RoundedNormal(standard_deviation=scale), DiscreteGaussian(variance=scale**2))


def scales(tiny: Fraction) -> Sequence[Number]:
    """Round and awkward ones: most bins, longest tables, floats, and long fractions."""
    plain: list[Number] = [
        "1/1000",
        "1/7",
        0.1,
        1,
        "7/3",
        "355/113",
        9.99,
        31.7,
        Fraction(1001, 17),
        63.9,
        64,
        65,
        100.1,
        12345.678,
    ]
    edges = [2**k + offset for k in (5, 6, 7, 20, 39) for offset in (-Fraction(1, 3), -tiny, tiny)]
    return [*plain, *edges, Fraction(1, 1000) + tiny, 1 + tiny, 10 - tiny, 2**40 - tiny, 2**40]


def first_calls() -> Iterator[Line]:
    """The dearest first call for each law, of all scales, with nothing kept from the calls before."""
    functions: dict[str, Callable[[Number], object]] = {
        "discrete_laplace": lambda scale: noise.discrete_laplace(scale=scale, size=1),
        "discrete_exponential": lambda scale: noise.discrete_exponential(scale=scale, size=1),
        "rounded_gaussian": lambda scale: noise.rounded_gaussian(standard_deviation=scale, size=1),
        "discrete_gaussian": lambda scale: noise.discrete_gaussian(variance=Fraction(scale) ** 2, size=1),
        "geometric": lambda scale: noise.geometric(success=1 / (1 + Fraction(scale)), size=1),
    }
    for name, function in functions.items():
        # Parameters may have 4096 bits, of which a variance leaves half to its root.
        tried = scales(Fraction(1, 3 ** (1250 if name == "discrete_gaussian" else 2500)))
        cost = {str(scale): median(first_call(function, scale) for _ in range(FIRST_CALLS)) for scale in tried}
        dearest = max(cost, key=cost.__getitem__)
        yield Line(
            name=f"first call on a new scale: {name}, {float(Fraction(dearest)):.6g}",
            figure=cost[dearest] * 1e3,
            unit="ms",
            at_most=200,
        )


def first_call(function: Callable[[Number], object], scale: Number) -> float:
    caches = type(lru_cache(int))
    for one in gc.get_objects():
        if type(one) is caches:
            one.cache_clear()
    start = process_time()
    function(scale)
    return process_time() - start


def main() -> int:
    lines = []
    for line in (*comparisons(), bytes_a_draw(), *first_calls()):
        print(line)
        lines.append(line)
    keep("noise", [line.record() for line in lines])
    missed = sum(not line.holds for line in lines)
    print(f"{missed} targets missed" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
