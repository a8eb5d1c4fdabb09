"""Exact random integers, for noise that keeps its promise.

Every function draws from exactly the law it names: rational parameters, no floating point, no tail cut off, nothing
saturated. The laws themselves are in `privately.laws`; why the draws follow them is in docs/theory/noise.md.

stream     random bytes            bracket    lower <= x 2^bits <= upper, in integers
inversion  U < F(k), lazily        bins       wide laws: a bin, a place in it, accept or reject
"""

from privately.noise.adding import add
from privately.noise.draws import (
    accelerate,
    accepted,
    bernoulli,
    bernoulli_exp,
    discrete_exponential,
    discrete_gaussian,
    discrete_laplace,
    draw,
    geometric,
    rounded_gaussian,
    uniform,
    weighted,
)

__all__ = [
    "accelerate",
    "accepted",
    "add",
    "bernoulli",
    "bernoulli_exp",
    "discrete_exponential",
    "discrete_gaussian",
    "discrete_laplace",
    "draw",
    "geometric",
    "rounded_gaussian",
    "uniform",
    "weighted",
]
