"""How narrow answers are: width over epsilon, CPU and peak memory, each answer in a process of its own.

python -m benchmarks.widths             all parts
python -m benchmarks.widths zcdp renyi  these parts alone

Asked is 1e-6 of epsilon (at least of 1e-3) wherever the contour integral applies, and 1e-3 elsewhere.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness import keep

NARROW, WIDE = 1e-6, 1e-3
LEAST = 1e-3
_ANSWER = """
import json, resource, sys, time
from privately import accounting as acc
from privately.accounting import *
def many(event, times): return Repeat(event=event, times=times)
def several(*events): return Sequence(events=events)
def sampled(event, rate): return PoissonSample(event=event, rate=rate)
def either(*events): return Parallel(events=events)
def normal(noise): return Gaussian(noise_multiplier=noise)
def hundredths(*numbers): return [f"{n / 100:.2f}" for n in numbers]
text, delta = sys.argv[1:]
event = eval(text)
start = time.process_time()
found = acc.epsilon(event, delta=delta)
used = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([float(found.lower), float(found.upper), used, peak, found.method]))
"""

CONTOUR: Mapping[str, Sequence[str]] = {
    "noise": (
        "many(Gaussian(noise_multiplier=10), 100)",
        "many(Laplace(scale=20), 1000)",
        "many(RandomizedResponse(epsilon='0.1'), 100)",
        "several(*(Gaussian(noise_multiplier=n) for n in range(20, 70)), *(Laplace(scale=n) for n in range(30, 80)))",
        "several(*(Laplace(scale=n) for n in range(10, 20)))",
        "many(DiscreteGaussian(variance=4), 50)",
        "many(DiscreteLaplace(scale=3), 30)",
        "several(many(Gaussian(noise_multiplier=4), 3), many(RandomizedResponse(epsilon=1), 2), Pure(epsilon='0.3'))",
    ),
    "samples": (
        "many(sampled(Gaussian(noise_multiplier=1), '0.01'), 10_000)",
        "many(sampled(Gaussian(noise_multiplier='0.3'), '0.1'), 5)",
        "sampled(Gaussian(noise_multiplier='0.15'), '0.01')",
        "many(sampled(Gaussian(noise_multiplier='0.15'), '0.01'), 3)",
        "many(sampled(Laplace(scale=1), '0.1'), 10)",
        "many(sampled(DiscreteGaussian(variance=1), '0.01'), 1000)",
        "several(*(sampled(Gaussian(noise_multiplier=1 + n / 100), '0.01') for n in range(100)))",
        "several(many(sampled(Gaussian(noise_multiplier=2), '0.01'), 500), many(sampled(Laplace(scale=2), '0.1'), 30))",
    ),
}
ELSEWHERE: Mapping[str, Sequence[str]] = {
    "ranges": (
        "many(Exponential(epsilon=1), 10)",
        "many(Exponential(epsilon='0.1'), 1000)",
        "many(Exponential(epsilon=1), 100_000)",
        "many(Exponential(epsilon=2), 5000)",
        "several(many(Exponential(epsilon=1), 3), many(Exponential(epsilon='0.3'), 3))",
        "several(*(Exponential(epsilon=e) for e in hundredths(*range(11, 19))))",
        "several(*(many(Exponential(epsilon=e), 10) for e in hundredths(*range(10, 20))))",
        "several(*(many(Exponential(epsilon=e), 10) for e in hundredths(*range(10, 101, 10))))",
        "several(*(Exponential(epsilon=e) for e in hundredths(*range(1, 101))))",
        "several(*(Exponential(epsilon=f'{1000 + n}e-4') for n in range(1000)))",
        "several(*(Exponential(epsilon=f'{1000 + n}e-5') for n in range(40_000)))",
        "several(many(Exponential(epsilon='0.1'), 10), Gaussian(noise_multiplier=2), many(Laplace(scale=2), 3))",
    ),
    "zcdp": (
        "ZCDP(rho='0.5')",
        "many(ZCDP(rho='0.1'), 5)",
        "many(ZCDP(rho='0.01'), 50)",
        "many(ZCDP(rho='0.001'), 1000)",
        "many(ZCDP(rho=5), 8)",
        "several(many(ZCDP(rho='0.05'), 5), many(ZCDP(rho='0.02'), 10))",
        "several(many(ZCDP(rho='0.2'), 3), many(ZCDP(rho='0.1'), 5), many(ZCDP(rho='0.05'), 8))",
        "several(many(ZCDP(rho='0.02'), 30), many(ZCDP(rho='0.01'), 40))",
        "several(*(ZCDP(rho=r) for r in hundredths(*range(1, 5))))",
        "several(*(ZCDP(rho=r) for r in hundredths(*range(1, 9))))",
        "several(*(ZCDP(rho=r) for r in hundredths(*range(1, 21))))",
        "several(*(ZCDP(rho=r) for r in hundredths(*range(1, 101))))",
        "several(*(ZCDP(rho=f'{n}e-5') for n in range(1, 1001)))",
        "several(many(ZCDP(rho='0.05'), 10), many(sampled(Gaussian(noise_multiplier=1), '0.01'), 1000))",
        "several(many(Exponential(epsilon='0.1'), 10), many(ZCDP(rho='0.01'), 5))",
        "several(many(Exponential(epsilon=1), 10), ZCDP(rho='0.1'))",
    ),
    "renyi": (
        "Renyi(bounds={2: '0.1'})",
        "many(Renyi(bounds={2: '0.1'}), 10)",
        "many(Renyi(bounds={'1.1': '0.1'}), 3)",
        "many(Renyi(bounds={4: '0.1'}), 40)",
        "many(Renyi(bounds={4: '0.1'}), 100)",
        "many(Renyi(bounds={4: '0.1'}), 300)",
        "many(Renyi(bounds={4: '0.1'}), 1000)",
        "many(Renyi(bounds={2: '0.1', 8: '0.4', 32: 2}), 5)",
        "many(Renyi(bounds={2: '0.1', 8: '0.4', 32: 2}), 20)",
        "several(many(Renyi(bounds={2: '0.1'}), 5), many(Renyi(bounds={4: '0.2'}), 5))",
        "several(many(Renyi(bounds={4: '0.2'}), 5), many(ZCDP(rho='0.05'), 5))",
    ),
    "sampled_statements": (
        "many(sampled(Exponential(epsilon=1), '0.1'), 2)",
        "many(sampled(Exponential(epsilon=1), '0.1'), 50)",
        "many(sampled(Exponential(epsilon=1), '0.01'), 1000)",
        "many(sampled(ZCDP(rho='0.5'), '0.1'), 2)",
        "many(sampled(ZCDP(rho='0.5'), '0.1'), 10)",
        "many(sampled(ZCDP(rho='0.5'), '0.01'), 100)",
        "many(sampled(ZCDP(rho='0.5'), '0.01'), 10_000)",
        "many(sampled(ZCDP(rho='0.5'), '0.001'), 1_000_000)",
        "many(sampled(Renyi(bounds={2: 1, 8: 4, 32: 16}), '0.1'), 2)",
        "many(sampled(Renyi(bounds={2: 1, 8: 4, 32: 16}), '0.1'), 10)",
    ),
    "low_orders": (
        "many(sampled(Renyi(bounds={2: '0.1'}), '0.001'), 50)",
        "many(sampled(Renyi(bounds={2: '0.1'}), '0.01'), 500)",
        "many(sampled(Renyi(bounds={4: 1}), '0.1'), 300)",
        "several(many(sampled(normal(2), '0.01'), 200), many(sampled(Renyi(bounds={2: '0.1'}), '0.01'), 50))",
    ),
    "parts": (
        "many(either(Exponential(epsilon='0.3'), Pure(epsilon='1e-9')), 10)",
        "many(either(normal(1), Laplace(scale=1)), 10)",
        "several(*(either(sampled(normal(n), 1 / (9 + n)), Laplace(scale=1 + n)) for n in range(1, 11)))",
        "several(*(either(normal(5 + n), Laplace(scale=3 + n)) for n in range(12)))",
        "Group(event=several(either(normal('0.5')), sampled(DiscreteLaplace(scale=1, sensitivity=2), '0.2')), size=4)",
    ),
    "groups": (
        "Group(event=many(sampled(Gaussian(noise_multiplier=1), '0.01'), 1000), size=3)",
        "Group(event=many(sampled(Laplace(scale=2), '0.1'), 10), size=2)",
        "Group(event=sampled(RandomizedResponse(epsilon=1), '0.1'), size=5)",
        "Group(event=many(sampled(Gaussian(noise_multiplier='0.1'), '0.1'), 2), size=5)",
        "Group(event=Parallel(events=[Laplace(scale=1), Gaussian(noise_multiplier=1)]), size=3)",
        "many(sampled(several(Gaussian(noise_multiplier=2), Laplace(scale=2)), '0.1'), 10)",
    ),
}
PARTS = {**CONTOUR, **ELSEWHERE}
DELTA = "1e-6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """One answer, and how wide it may be."""

    event: str
    width: float
    asked: float
    epsilon: float
    cpu_seconds: float
    megabytes: float
    method: str

    def __str__(self) -> str:
        verdict = "pass" if self.width <= self.asked else "MISS"
        used = f"{self.cpu_seconds:6.2f} s {self.megabytes:5.0f} MB"
        return f"{self.width:8.1e} {verdict} {self.epsilon:10.5g} {used}  {self.event}  [{self.method}]"

    def record(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


def measured(event: str, asked: float) -> Width:
    command = [sys.executable, "-c", _ANSWER, event, DELTA]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    lower, upper, seconds, megabytes, method = json.loads(answer.stdout)
    return Width(
        event=event,
        width=(upper - lower) / max(lower, LEAST),
        asked=asked,
        epsilon=upper,
        cpu_seconds=seconds,
        megabytes=megabytes,
        method=method,
    )


def widths(parts: Sequence[str]) -> Iterator[Width]:
    for part in parts:
        for event in PARTS[part]:
            yield measured(event, NARROW if part in CONTOUR else WIDE)


def main(names: Sequence[str]) -> int:
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"there is no part {', '.join(sorted(unknown))}: choose among {', '.join(PARTS)}")
    found = []
    print("   width           epsilon        CPU  memory  event")
    for one in widths(names or list(PARTS)):
        print(one, flush=True)
        found.append(one)
    keep("widths", [one.record() for one in found])
    missed = sum(one.width > one.asked for one in found)
    print(f"{missed} of {len(found)} are wider than asked" if missed else f"all {len(found)} are as narrow as asked")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
