"""Draws that stay what they are: written down once, drawn again by every set of inner loops.

`python -m tests.noise.golden` writes them anew, which only a change of the draws themselves calls for.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, RoundedNormal
from privately.noise import samplers
from privately.noise.bins import Bins
from privately.noise.inversion import Inversion
from privately.noise.kernels import NUMPY, Kernels, Slope
from privately.noise.repeatable import RepeatableStream
from privately.noise.samplers import Sampler, build
from privately.noise.source import Source

STORED = Path(__file__).parent / "golden" / "draws.json"
SIZE = 10_000
SHOWN = 20


def loose(wide: Sampler) -> Sampler:
    """The same law with a poor bound on the slope, so that a fair part of the proposals needs more bits."""
    assert isinstance(wide, Bins)
    bends = wide._shape.slope.bends
    return Bins(replace(wide._shape, slope=Slope(0, 2**30 if bends else 2**36, bends=bends)))


CASES: dict[str, Callable[[], Sampler]] = {
    "discrete Laplace 1/5": lambda: build(DiscreteLaplace(scale="1/5")),
    "discrete Laplace 1": lambda: build(DiscreteLaplace(scale=1)),
    "discrete Laplace 7/3": lambda: build(DiscreteLaplace(scale="7/3")),
    "discrete Laplace 10": lambda: build(DiscreteLaplace(scale=10)),
    "discrete Laplace 65": lambda: build(DiscreteLaplace(scale=65)),
    "discrete Laplace 2^53": lambda: build(DiscreteLaplace(scale=2**53)),
    "discrete Laplace 2^60": lambda: build(DiscreteLaplace(scale=2**60)),
    "discrete exponential 1": lambda: build(DiscreteExponential(scale=1)),
    "discrete exponential 1000": lambda: build(DiscreteExponential(scale=1000)),
    "discrete exponential 2^60": lambda: build(DiscreteExponential(scale=2**60)),
    "geometric 1": lambda: build(Geometric(success=1)),
    "geometric 1/3": lambda: build(Geometric(success="1/3")),
    "geometric 1/1000": lambda: build(Geometric(success="1/1000")),
    "geometric 3^-35": lambda: build(Geometric(success=Fraction(1, 3**35))),
    "rounded normal 1/2": lambda: build(RoundedNormal(standard_deviation="1/2")),
    "rounded normal 10": lambda: build(RoundedNormal(standard_deviation=10)),
    "rounded normal 65": lambda: build(RoundedNormal(standard_deviation=65)),
    "rounded normal 2^40": lambda: build(RoundedNormal(standard_deviation=2**40)),
    "discrete Gaussian 1/4": lambda: build(DiscreteGaussian(variance="1/4")),
    "discrete Gaussian 10^2": lambda: build(DiscreteGaussian(variance=100)),
    "discrete Gaussian 65^2": lambda: build(DiscreteGaussian(variance=65**2)),
    "discrete Gaussian 2^80": lambda: build(DiscreteGaussian(variance=2**80)),
    "uniform below 6": lambda: samplers.uniform_below(6),
    "uniform below 2^63": lambda: samplers.uniform_below(2**63),
    "uniform below 10^30": lambda: samplers.uniform_below(10**30),
    "coin 1/3": lambda: samplers.coin_of_rational(Fraction(1, 3)),
    "coin exp(-1/3)": lambda: samplers.coin_of_exponential(Fraction(1, 3)),
    # So few bits to start with that a fair part of the draws needs more.
    "discrete Laplace 3 from 8 bits": lambda: Inversion(
        samplers.two_sided(samplers._exponential_decay(Fraction(3))), cell_bits=4, word_bits=8
    ),
    "rounded normal 5 from 8 bits": lambda: Inversion(samplers.rounded_normal(Fraction(5)), cell_bits=4, word_bits=8),
    "discrete Laplace 1000, loose": lambda: loose(build(DiscreteLaplace(scale=1000))),
    "rounded normal 1000, loose": lambda: loose(build(RoundedNormal(standard_deviation=1000))),
    "discrete Gaussian 1000^2, loose": lambda: loose(build(DiscreteGaussian(variance=10**6))),
}


def record(sampler: Sampler, kernels: Kernels) -> dict[str, Any]:
    """The first draws, a hash of all of them in decimal, and what they cost."""
    stream = RepeatableStream(seed="golden")
    found = [int(one) for one in sampler.draw(Source(stream, kernels), SIZE)]
    text = " ".join(map(str, found))
    return {"first": found[:SHOWN], "sha256": sha256(text.encode()).hexdigest(), "bytes": stream.taken}


def stored() -> dict[str, Any]:
    records: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return records


def write() -> None:
    lines = (f"{json.dumps(name)}: {json.dumps(record(make(), NUMPY))}" for name, make in CASES.items())
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
