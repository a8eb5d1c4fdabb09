"""Claims about `privately.accounting.filters`: linear time for 100,000 adaptive queries, beside OpenDP's filter.

Each cost is decided by a coin, which stands for an answer, and by the number of entries before it. Costs are made
beforehand: what is timed is the filter alone, which is asked whether a cost fits and then spends it. OpenDP's filter
answers the query too, so the same measurement without a filter is timed in the same process and taken off. It is asked
fewer questions, as each takes longer than the one before.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.harness import Clock, keep, peer_python
from benchmarks.noise import Line

SIZES = (1_000, 10_000, 100_000)
PEER_SIZES = (500, 1_000, 2_000)
ROUNDS = 5
PEER_ROUNDS = 3
GROWTH = 1.5

OURS = """
import random
from fractions import Fraction
from privately.accounting.filters import Filter
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP

def decimals(coin, entries):
    return PureDP(epsilon=Fraction(coin + 1, 10**6))

def floats(coin, entries):
    return PureDP(epsilon=(coin + 1) * 1e-6 / (1 + entries))

def fractions(coin, entries):
    return ZCDP(rho=Fraction(coin + 1, 10**7 + entries))

def pairs(coin, entries):
    return ApproxZCDP(rho=Fraction(coin + 1, 10**7 + entries), delta=1e-12)

def squares(coin, entries):
    return GaussianDP(mu=Fraction(coin + 1, 10**4 + entries))

def orders(coin, entries):
    rho = Fraction(coin + 1, 10**7 + entries)
    return RenyiDP(bounds=[(order, order * rho) for order in (2, 8, 32)])

caps = {
    decimals: PureDP(epsilon=10),
    floats: PureDP(epsilon=10),
    fractions: ZCDP(rho=10),
    pairs: ApproxZCDP(rho=10, delta="1e-5"),
    squares: GaussianDP(mu=100),
    orders: RenyiDP(bounds={2: 10, 8: 40, 32: 160}),
}

def costs(choose, queries):
    coins = random.Random(queries)
    return [choose(coins.getrandbits(1), place) for place in range(queries)]

def spend(budget, chosen):
    for cost in chosen:
        if not budget.fits(cost):
            raise ValueError("the benchmark's budget is too small")
        budget = budget.spend(cost)
    return budget
"""
KINDS = {
    "decimals": "PureDP, decimals",
    "floats": "PureDP, floats",
    "fractions": "ZCDP, a new denominator each",
    "pairs": "ApproxZCDP, a new denominator each",
    "squares": "GaussianDP, a new denominator each",
    "orders": "RenyiDP, 3 orders, new denominators",
}
OPENDP = """
import opendp.prelude as dp
dp.enable_features("contrib")
space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
measurement = dp.m.make_gaussian(*space, scale=1000.0)

def filtered(queries):
    odometer = dp.c.make_fully_adaptive_composition(*space, dp.zero_concentrated_divergence())
    queryable = dp.c.make_privacy_filter(odometer, 1.0, 1e9)(0.0)
    for _ in range(queries):
        queryable(measurement)

def bare(queries):
    for _ in range(queries):
        measurement(0.0)
"""


def ours_alone(clock: Clock) -> Iterator[Line]:
    """Microseconds a query at each size, and how much a query costs among 100,000 beside one among 1,000."""
    for choose, name in KINDS.items():
        taken = {queries: median(_ours(clock, choose, queries, ROUNDS)) for queries in SIZES}
        numbers = {f"us of {queries}": seconds * 1e6 for queries, seconds in taken.items()}
        growth = taken[SIZES[-1]] / taken[SIZES[0]]
        yield Line(name=f"{SIZES[-1]:,} queries, {name}", figure=taken[SIZES[-1]] * 1e6, unit="us", numbers=numbers)
        yield Line(name="  a query among them beside one among 1,000", figure=growth, unit="x", at_most=GROWTH)


def _ours(clock: Clock, choose: str, queries: int, rounds: int) -> Iterator[float]:
    """Seconds a query: asking whether it fits, and spending. The costs are made beforehand."""
    clock.cpu_seconds(f"chosen = costs({choose}, {queries})")
    for turn in range(rounds + 1):
        seconds = clock.cpu_seconds(f"spend(Filter(cap=caps[{choose}]), chosen)") / queries
        if turn:
            yield seconds


def beside_opendp(ours: Clock, opendp: Clock) -> Iterator[Line]:
    """The same number of queries in turn, round after round."""
    theirs = {}
    for queries in PEER_SIZES:
        ratios, alone = [], []
        for turn in range(PEER_ROUNDS + 1):
            (mine,) = _ours(ours, "fractions", queries, 1)
            answered = opendp.cpu_seconds(f"filtered({queries})") / queries
            filtering = answered - opendp.cpu_seconds(f"bare({queries})") / queries
            if turn:
                ratios.append(filtering / mine)
                alone.append(filtering)
        theirs[queries] = median(alone)
        numbers = {"us": theirs[queries] / median(ratios) * 1e6, "against": theirs[queries] * 1e6}
        name = f"{queries:,} queries of a zCDP filter; OpenDP"
        yield Line(name=name, figure=median(ratios), unit="x", at_least=10, numbers=numbers)
    growth = theirs[PEER_SIZES[-1]] / theirs[PEER_SIZES[0]]
    yield Line(name=f"  OpenDP: a query among {PEER_SIZES[-1]:,} beside {PEER_SIZES[0]}", figure=growth, unit="x")


def keeping(clock: Clock) -> Iterator[Line]:
    """What a ledger pays to write a state down and to read it, for a promise that was derived."""
    clock.cpu_seconds("kept = Filter.promising(ApproxDP(epsilon=1, delta='1e-6'), by=GaussianDP)")
    for name, statement in (
        ("write a state", "kept.to_state()"),
        ("read a state and derive its promise again", "Filter.from_state(kept.to_state())"),
        ("find the cap for an epsilon and a delta", "Filter.promising(kept.promise, by=GaussianDP)"),
    ):
        taken = [clock.cpu_seconds(statement) for _ in range(ROUNDS)]
        yield Line(name=name, figure=median(taken) * 1e3, unit="ms")


def measured() -> Iterator[Line]:
    peer: Path | None = peer_python("opendp")
    if peer is None:
        print("OpenDP is not compared: `make peers` installs it.")
    with ExitStack() as stack:
        ours = stack.enter_context(Clock(sys.executable))
        ours.cpu_seconds(OURS)
        yield from ours_alone(ours)
        yield from keeping(ours)
        if peer:
            opendp = stack.enter_context(Clock(peer))
            opendp.cpu_seconds(OPENDP)
            yield from beside_opendp(ours, opendp)


def main() -> int:
    lines = []
    for line in measured():
        print(line)
        lines.append(line)
    keep("filters", [line.record() for line in lines])
    missed = sum(not line.holds for line in lines)
    print(f"{missed} targets missed" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
