"""Claims about `privately.accounting`: CPU beside dp-accounting, prv-accountant and Opacus, upper ends, memory.

Each library answers in a process of its own that stays. Events are made first, then every call is timed by the CPU that
its process counts. Before the rounds each process answers for another event, so that imports and tables are not
counted; noise and delta change a little from one question to the next, so that no answer can be kept.

The libraries take turns, round after round. In a round each answers several questions in a row. The first one comes
right after the others have filled the caches of the processor with data of their own, and is shown apart ("alone");
figures are medians of the others, which is what a program that asks more than once pays. An answer that takes a second
is asked for once. A peer has a minute of CPU and ten gigabytes for one answer. prv-accountant is asked for epsilon
within 0.1 only, Opacus and dp-accounting for their defaults (dp-accounting also on its grid of 1e-3).

`python -m benchmarks.accounting small "speed:laplace 20"` runs only this part, and these cases of the other.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Any

from benchmarks.harness import Clock, keep, peer_python
from benchmarks.noise import Line

ROUNDS = 5
SLOW, QUICK = 1.0, 0.1
IN_A_ROW, FEW_IN_A_ROW = 12, 2
DELTA = "1e-6"
MEGABYTES = 100

COMMON = """
import resource, signal, time
limit = 0
def stop(*_):
    if time.process_time() > limit:
        raise TimeoutError("a minute of CPU")
signal.signal(signal.SIGALRM, stop)
def capped(function, *arguments):
    global limit
    try:
        limit = time.process_time() + 60
        signal.setitimer(signal.ITIMER_REAL, 60, 2)
        return function(*arguments)
    except Exception as fault:
        return f"{type(fault).__name__}: {fault}"[:60]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
def timed(function, questions):
    found = []
    for question in questions:
        start = time.process_time()
        value = capped(function, *question)
        found.append([time.process_time() - start, value])
    return found
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""
LIMITED = f"{COMMON}\nresource.setrlimit(resource.RLIMIT_DATA, (10 * 2**30, 10 * 2**30))\n"
OURS = f"""{COMMON}
from privately import accounting as acc
def leaf(kind, noise, rate, times):
    if kind == "gaussian":
        base = acc.Gaussian(noise_multiplier=noise)
    elif kind == "laplace":
        base = acc.Laplace(scale=noise)
    else:
        base = acc.RandomizedResponse(epsilon=noise)
    one = base if rate is None else acc.PoissonSample(event=base, rate=rate)
    return one if times == 1 else acc.Repeat(event=one, times=times)
def make(parts):
    leaves = [leaf(*part) for part in parts]
    return leaves[0] if len(leaves) == 1 else acc.Sequence(events=leaves)
def ask(event, delta):
    found = acc.epsilon(event, delta=delta)
    return float(found.lower), float(found.upper)
def tune(rate, times, epsilon, delta):
    def made(sigma):
        return acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=sigma), rate=rate), times=times)
    return acc.calibrate(made, epsilon=epsilon, delta=delta)
"""
DP_ACCOUNTING = f"""{LIMITED}
import math
import dp_accounting as dp
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld.privacy_loss_distribution import from_randomized_response
def leaf(kind, noise, rate, times):
    if kind == "gaussian":
        base = dp.GaussianDpEvent(float(noise))
    elif kind == "laplace":
        base = dp.LaplaceDpEvent(float(noise))
    else:
        return 2 / (1 + math.exp(float(noise))), times
    one = base if rate is None else dp.PoissonSampledDpEvent(float(rate), base)
    return dp.SelfComposedDpEvent(one, times)
def make(parts):
    leaves = [leaf(*part) for part in parts]
    return leaves[0] if isinstance(leaves[0], tuple) else dp.ComposedDpEvent(leaves)
def ask(event, delta, grid):
    if isinstance(event, tuple):  # its accountant composes a response once, however often it is told to
        noise, times = event
        loss = from_randomized_response(noise, 2, value_discretization_interval=grid)
        return loss.self_compose(times).get_epsilon_for_delta(float(delta))
    accountant = PLDAccountant(value_discretization_interval=grid)
    accountant.compose(event)
    return accountant.get_epsilon(float(delta))
def tune(rate, times, epsilon, delta):
    def made(sigma):
        return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma)), times)
    return dp.calibrate_dp_mechanism(PLDAccountant, made, epsilon, float(delta), tol=1e-3)
"""
PRV = f"""{LIMITED}
from prv_accountant import GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant
def leaf(kind, noise, rate, times):
    if kind == "gaussian" and rate is not None:
        return PoissonSubsampledGaussianMechanism(noise_multiplier=float(noise), sampling_probability=float(rate))
    if kind == "gaussian":
        return GaussianMechanism(float(noise))
    return LaplaceMechanism(mu=1 / float(noise))
def make(parts):
    return [leaf(*part) for part in parts], [part[3] for part in parts]
def ask(event, delta):
    losses, times = event
    settings = {{"max_self_compositions": times, "eps_error": 0.1, "delta_error": float(delta) / 1000}}
    return PRVAccountant(prvs=losses, **settings).compute_epsilon(float(delta), times)[2]
"""
OPACUS = f"""{LIMITED}
from opacus.accountants import PRVAccountant
def make(parts):
    return [(float(noise), float(rate), times) for _, noise, rate, times in parts]
def ask(event, delta):
    accountant = PRVAccountant()
    accountant.history = event
    return accountant.get_epsilon(float(delta))
"""

Part = tuple[str, str, str | None, int]
WARM: list[Part] = [("gaussian", "3.3", "0.02", 700)]

SAMPLED: dict[str, list[Part]] = {
    f"sampled gaussian {sigma}, rate 0.01, T={times:,}": [("gaussian", sigma, "0.01", times)]
    for sigma in ("0.8", "1", "2")
    for times in (1_000, 10_000, 100_000, 1_000_000)
}
PLAIN: dict[str, list[Part]] = {
    "gaussian 10, T=100": [("gaussian", "10", None, 100)],
    "laplace 20, T=1,000": [("laplace", "20", None, 1_000)],
    "laplace 100, T=10,000": [("laplace", "100", None, 10_000)],
    "response 0.1, T=100": [("response", "0.1", None, 100)],
    "response 0.01, T=10,000": [("response", "0.01", None, 10_000)],
    "gaussians 20..69 and laplaces 30..79": [
        *(("gaussian", str(s), None, 1) for s in range(20, 70)),
        *(("laplace", str(b), None, 1) for b in range(30, 80)),
    ],
}
SMALL: dict[str, list[Part]] = {
    f"{kind} {noise}, rate {rate}, T={times}": [(kind, noise, rate, times)]
    for times in (1, 2, 10, 100)
    for kind, noise, rate in (
        ("gaussian", "1", "0.01"),
        ("gaussian", "0.8", "0.1"),
        ("laplace", "1", "0.1"),
        ("laplace", "1", None),
        ("laplace", "10", None),
        ("gaussian", "2", None),
    )
}
CALIBRATIONS = (
    ("0.01", 1_000, 1, "1e-5"),
    ("0.01", 10_000, 3, "1e-6"),
    ("0.01", 10_000, 8, "1e-5"),
    ("1e-4", 100, 1, "1e-6"),
    ("1e-4", 10_000, 1, "1e-6"),
    ("1e-5", 10_000, 1, "1e-6"),
    ("1e-6", 100_000, 1, "1e-6"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A library in its process: how it is asked, and what it can describe."""

    name: str
    clock: Clock
    grid: float | None = None
    target: float | None = None
    speaks: Callable[[Part], bool] = lambda _part: True

    def can(self, parts: Sequence[Part]) -> bool:
        return all(self.speaks(part) for part in parts)

    def answers(self, questions: Sequence[tuple[Sequence[Part], str]]) -> list[tuple[float, Any]]:
        """CPU seconds and epsilon for each, both ends for ours; a text where there is none."""
        more = [] if self.grid is None else [self.grid]
        self.clock.measure(
            f"import json\nquestions = [(make(parts), delta, *{more}) for parts, delta in"
            f" json.loads({json.dumps(questions)!r})]"
        )
        found = self.clock.measure("answer = timed(ask, questions)")[1]
        return [(seconds, answer) for seconds, answer in found]


_TURNS = count(1)


def changed(parts: Sequence[Part]) -> list[Part]:
    """The same parts with noise larger by less than a part in 10^5, never the same twice."""
    more = f"{next(_TURNS):05}"
    return [
        (kind, f"{noise}{'' if '.' in noise else '.'}00000{more}", rate, times) for kind, noise, rate, times in parts
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What the rounds gave: seconds of each side, those right after the others, and answers to the same question."""

    seconds: dict[str, float]
    alone: dict[str, float]
    answers: dict[str, Any]


def rounds(parts: Sequence[Part], sides: Sequence[Side], delta: str) -> Taken:
    """All sides in turn, each with several questions; one whose first answer took long is asked only once."""
    first = {side.name: side.answers([(list(parts), delta)])[0] for side in sides}
    alone: dict[str, list[float]] = {side.name: [] for side in sides}
    warm: dict[str, list[float]] = {side.name: [] for side in sides}
    for _ in range(ROUNDS):
        questions = [(changed(parts), f"{delta[:-3]}.0000{next(_TURNS):05}{delta[-3:]}") for _ in range(IN_A_ROW)]
        for side in sides:
            seconds = first[side.name][0]
            if seconds > SLOW:
                continue
            found = side.answers(questions if seconds < QUICK else questions[:FEW_IN_A_ROW])
            alone[side.name].append(found[0][0])
            warm[side.name] += [seconds for seconds, _ in found[1:]]
    kept, cold = ({name: median(each[name] or [first[name][0]]) for name in first} for each in (warm, alone))
    return Taken(seconds=kept, alone=cold, answers={name: answer for name, (_, answer) in first.items()})


def duel(name: str, taken: Taken, side: Side) -> Iterator[Line]:
    """How many times our CPU a peer takes, and by how much its upper end is above ours."""
    answer = taken.answers[side.name]
    milliseconds = {"ms": taken.seconds["ours"] * 1e3, "against": taken.seconds[side.name] * 1e3}
    milliseconds |= {"alone": taken.alone["ours"] * 1e3, "against alone": taken.alone[side.name] * 1e3}
    ratio = taken.seconds[side.name] / taken.seconds["ours"]
    if isinstance(answer, str):
        yield Line(name=f"{name}; {side.name}: {answer}", figure=ratio, unit="x", numbers=milliseconds)
        return
    yield Line(name=f"{name}; {side.name}", figure=ratio, unit="x", at_least=side.target, numbers=milliseconds)
    yield upper_end(name, taken, side)


def upper_end(name: str, taken: Taken, side: Side) -> Line:
    """By how much a peer's upper end is above ours."""
    answer, (lower, upper) = taken.answers[side.name], taken.answers["ours"]
    sound = answer >= lower
    return Line(
        name=f"{name}; {side.name}: {'its upper end over ours' if sound else 'its upper end is BELOW THE TRUTH'}",
        figure=(answer / upper - 1) * 1e6,
        unit="ppm",
        at_least=1e-9 if sound else None,
        numbers={"ours": upper, "theirs": answer},
    )


def speed(sides: Sequence[Side], cases: Sequence[str] = ()) -> Iterator[Line]:
    for name, parts in (SAMPLED | PLAIN).items():
        if cases and not any(case in f"{name};" for case in cases):
            continue
        able = [side for side in sides if side.can(parts)]
        taken = rounds(parts, able, DELTA)
        for side in able[1:]:
            yield from duel(name, taken, side)


def steps(sides: Sequence[Side]) -> Iterator[Line]:
    """The cost of 10^6 steps over that of 10^3."""
    ours = sides[:1]
    for sigma in ("0.8", "1", "2"):
        short, long = (
            rounds([("gaussian", sigma, "0.01", t)], ours, DELTA).seconds["ours"] for t in (1_000, 1_000_000)
        )
        numbers = {"ms at 10^3": short * 1e3, "ms at 10^6": long * 1e3}
        yield Line(
            name=f"sampled gaussian {sigma}, T=10^6 over 10^3",
            figure=long / short,
            unit="x",
            at_most=2,
            numbers=numbers,
        )


def small(sides: Sequence[Side]) -> Iterator[Line]:
    """Few steps, where the integral is at its worst: no slower than dp-accounting; its coarse grid is shown beside."""
    for name, parts in SMALL.items():
        taken = rounds(parts, sides[:3], DELTA)
        for side in sides[1:3]:
            ratio = taken.seconds[side.name] / taken.seconds["ours"]
            numbers = {"ms": taken.seconds["ours"] * 1e3, "against": taken.seconds[side.name] * 1e3}
            yield Line(
                name=f"{name}; {side.name}",
                figure=ratio,
                unit="x",
                at_least=1 if side.target == 50 else None,
                numbers=numbers,
            )
            if not isinstance(taken.answers[side.name], str):
                yield upper_end(name, taken, side)


def distinct(sides: Sequence[Side]) -> Iterator[Line]:
    """A hundred different mechanisms over one."""
    mixed = PLAIN["gaussians 20..69 and laplaces 30..79"]
    many: list[Part] = [("gaussian", f"{0.6 + k / 100:.2f}", f"0.0{k + 10}", 100) for k in range(90)]
    many += [("gaussian", f"{1.5 + k / 100:.2f}", f"0.1{k}", 100) for k in range(10)]
    once: list[Part] = [(kind, noise, rate, 1) for kind, noise, rate, _ in many]
    for name, parts, one, target in (
        (
            "100 gaussians over one",
            [("gaussian", str(s), None, 1) for s in range(5, 105)],
            [("gaussian", "1", None, 1)],
            5,
        ),
        ("gaussians 20..69, laplaces 30..79 over one laplace x100", mixed, [("laplace", "10", None, 100)], 5),
        ("the same over one gaussian and one laplace", mixed, [mixed[0], mixed[50]], 5),
        ("100 sampled gaussians x100 over one x10,000", many, [("gaussian", "1", "0.01", 10_000)], 40),
        ("100 sampled gaussians once over one x100", once, [("gaussian", "1", "0.01", 100)], 40),
    ):
        hundred, single = (rounds(list(which), sides[:1], DELTA).seconds["ours"] for which in (parts, one))
        numbers = {"ms of 100": hundred * 1e3, "ms of one": single * 1e3}
        yield Line(name=name, figure=hundred / single, unit="x", at_most=target, numbers=numbers)


def calibration(sides: Sequence[Side]) -> Iterator[Line]:
    """The noise for a promise; ours is within 1e-5 of the best, dp-accounting's tolerance is 1e-3."""
    for rate, times, epsilon, delta in CALIBRATIONS:
        found: list[float] = []
        spent: list[float] = []
        for side in sides[:2]:
            tries = []
            for turn in range(3 if side.name == "ours" else 1):
                shifted = f"{delta[0]}.000000{turn}{delta[1:]}" if turn else delta
                tries.append(
                    side.clock.measure(f"answer = capped(tune, {float(rate)}, {times}, {epsilon}, {shifted!r})")
                )
            spent.append(median(seconds for seconds, _ in tries))
            found.append(tries[0][1])
        numbers = {"ms": spent[0] * 1e3, "against": spent[1] * 1e3}
        numbers |= {"sigma": found[0]} | ({"theirs": found[1]} if isinstance(found[1], float) else {})
        name = f"calibrate epsilon {epsilon}, delta {delta}, rate {rate}, T={times:,}; dp-accounting"
        yield Line(name=name, figure=spent[1] / spent[0], unit="x", at_least=100, numbers=numbers)


def first_call() -> Line:
    """What a process pays that has imported us and asks for the first time."""
    with Clock(sys.executable) as fresh:
        fresh.cpu_seconds(OURS)
        fresh.cpu_seconds(f"event = make({WARM!r})")
        return Line(
            name="first call of a process, after import",
            figure=fresh.cpu_seconds("ask(event, '1e-6')") * 1e3,
            unit="ms",
        )


def memory(sides: Sequence[Side]) -> Iterator[Line]:
    for side in {id(side.clock): side for side in sides}.values():
        name, limit = side.name.split(" 1e-")[0], MEGABYTES if side.name == "ours" else None
        yield Line(
            name=f"peak memory, {name}", figure=side.clock.measure("answer = peak()")[1], unit="MB", at_most=limit
        )


def libraries(stack: ExitStack) -> list[Side]:
    """Ours first, dp-accounting on both grids, then the others that are installed."""

    def started(python: object, text: str) -> Clock:
        clock = stack.enter_context(Clock(str(python)))
        clock.cpu_seconds(text)
        return clock

    sides = [Side(name="ours", clock=started(sys.executable, OURS))]
    google, prv, opacus = (peer_python(name) for name in ("dp-accounting", "prv-accountant", "opacus"))
    if google:
        clock = started(google, DP_ACCOUNTING)
        for grid, target in (("1e-4", 50), ("1e-3", 10)):
            sides.append(Side(name=f"dp-accounting {grid}", clock=clock, grid=float(grid), target=target))
    if prv:
        known: Callable[[Part], bool] = lambda part: part[0] != "response"  # noqa: E731
        sides.append(Side(name="prv-accountant", clock=started(prv, PRV), target=100, speaks=known))
    if opacus:
        sampled: Callable[[Part], bool] = lambda part: part[0] == "gaussian" and part[2] is not None  # noqa: E731
        sides.append(Side(name="Opacus PRV", clock=started(opacus, OPACUS), target=100, speaks=sampled))
    for side in sides:
        side.answers([(WARM, DELTA)])
    return sides


PARTS: dict[str, Callable[[Sequence[Side]], Iterator[Line]]] = {
    "steps": steps,
    "distinct": distinct,
    "small": small,
    "speed": speed,
    "calibration": calibration,
    "memory": memory,
}


def main(names: Sequence[str]) -> int:
    unknown = [name for name in names if name.partition(":")[0] not in PARTS]
    if unknown:
        sys.exit(f"there is no part {', '.join(unknown)}: choose among {', '.join(PARTS)}")
    lines = [first_call()]
    print(lines[0])
    with ExitStack() as stack:
        sides = libraries(stack)
        for name, part in PARTS.items():
            asked = [case for first, _, case in (one.partition(":") for one in names) if first == name]
            if names and not asked:
                continue
            for line in speed(sides, list(filter(None, asked))) if part is speed else part(sides):
                print(line, flush=True)
                lines.append(line)
    keep("accounting", [line.record() for line in lines])
    missed = sum(not line.holds for line in lines)
    print(f"{missed} targets missed" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
