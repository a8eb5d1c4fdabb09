"""Events: what was run, as data. Their kinds are never removed and never come to mean something else."""

from privately.accounting.events.combinators import Group, Parallel, Repeat, Sequence
from privately.accounting.events.event import MAX_DEPTH, MAX_NODES, MAX_RUNS, MAX_TIMES, Event
from privately.accounting.events.leaves import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    Pure,
    RandomizedResponse,
    Renyi,
)
from privately.accounting.events.samples import FixedSizeSample, PoissonSample

__all__ = [
    "MAX_DEPTH",
    "MAX_NODES",
    "MAX_RUNS",
    "MAX_TIMES",
    "ZCDP",
    "Approx",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Exponential",
    "FixedSizeSample",
    "Gaussian",
    "GaussianDP",
    "Group",
    "Laplace",
    "Parallel",
    "PoissonSample",
    "Pure",
    "RandomizedResponse",
    "Renyi",
    "Repeat",
    "Sequence",
]
