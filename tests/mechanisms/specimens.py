"""One small instance of every mechanism, with all that the common tests need to know of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from privately import mechanisms as m
from privately.guarantees import Neighbors, Sensitivity


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A mechanism that is small enough to be enumerated, and one like it with too little noise."""

    mechanism: m.Mechanism
    careless: m.Mechanism
    sensitivity: Sensitivity
    neighbors: Sequence[tuple[Any, Any]]
    """Pairs of inputs that differ by no more than the sensitivity; the hardest ones among them."""
    window: int = 40
    again: tuple[str, str] = ("", "")
    """Which draw begins another round, for the mechanism and for its text, where they try until they succeed."""
    rarest: float = 0.0
    """Answers less likely than this may owe part of their probability to what lies outside of the window."""
    tight: bool = True
    """Whether some pair reaches the claim, rather than staying below it."""
    plain: Callable[[Any], Any] = lambda answer: answer
    """The answer as its text would give it, where that has no words for it."""
    read: Callable[[Any], Any] = lambda answer: answer
    """The other way round."""
    bad: Sequence[Any] = field(default=())
    """Inputs that must be refused before anything is drawn."""


def linf(value: int = 1) -> Sensitivity:
    return Sensitivity(value=value, norm="Linf")


ONE = Sensitivity(value=1, norm="L1")
TWO = Sensitivity(value=1, norm="L2")
NOT_NUMBERS: tuple[Any, ...] = ([], [float("nan")], [float("inf")], ["a"], [None], [[1]], object())
SCORES = [([0, 0], [1, -1]), ([0, 1], [1, 0]), ([-60, 0], [-59, -1])]
RISING = [([0, 0], [1, 0]), ([-60, 0], [-59, 0]), ([0, 1], [1, 2])]
STREAMS = [([0, 0], [1, 0]), ([1, 0], [1, 1])]
REPLACED = Sensitivity(value=1, neighbors=Neighbors.REPLACE)


def gaps(answers: list[list[int]]) -> list[int | None]:
    """A yes as its number, a no as None."""
    return [answer[0] if answer else None for answer in answers]


SPECIMENS: dict[str, Specimen] = {
    "Laplace": Specimen(
        mechanism=m.Laplace(scale=2),
        careless=m.Laplace(scale=1),
        sensitivity=ONE,
        neighbors=[([0], [1]), ([5], [4])],
        bad=NOT_NUMBERS,
    ),
    "Laplace of two": Specimen(
        mechanism=m.Laplace(scale=3, dimension=2),
        careless=m.Laplace(scale="3/2", dimension=2),
        sensitivity=Sensitivity(value=2, norm="L1"),
        neighbors=[([0, 0], [1, 1]), ([0, 0], [2, 0]), ([3, 1], [2, 2])],
        window=25,
        bad=([1], [1, 2, 3]),
    ),
    "Gaussian": Specimen(
        mechanism=m.Gaussian(standard_deviation=2),
        careless=m.Gaussian(standard_deviation=1),
        sensitivity=TWO,
        neighbors=[([0], [1])],
        tight=False,
        bad=NOT_NUMBERS,
    ),
    "DiscreteGaussian": Specimen(
        mechanism=m.DiscreteGaussian(variance=4),
        careless=m.DiscreteGaussian(variance=2),
        sensitivity=TWO,
        neighbors=[([0], [1])],
        bad=NOT_NUMBERS,
    ),
    "Exponential": Specimen(
        mechanism=m.Exponential(scale=2, candidates=2),
        careless=m.Exponential(scale=1, candidates=2),
        sensitivity=linf(),
        neighbors=SCORES,
        again=("weighted", "uniform"),
        bad=NOT_NUMBERS,
    ),
    "Exponential, monotone": Specimen(
        mechanism=m.Exponential(scale=2, candidates=2, monotone=True),
        careless=m.Exponential(scale=1, candidates=2, monotone=True),
        sensitivity=linf(),
        neighbors=RISING,
        again=("weighted", "uniform"),
    ),
    "PermuteAndFlip": Specimen(
        mechanism=m.PermuteAndFlip(scale=2, candidates=2),
        careless=m.PermuteAndFlip(scale=1, candidates=2),
        sensitivity=linf(),
        neighbors=SCORES,
        window=60,
        bad=NOT_NUMBERS,
    ),
    "NoisyMax": Specimen(
        mechanism=m.NoisyMax(scale=1, candidates=2),
        careless=m.NoisyMax(scale="1/2", candidates=2),
        sensitivity=linf(),
        neighbors=[([0, 0], [1, -1]), ([-30, 0], [-29, -1])],
        window=80,
        tight=False,
        bad=NOT_NUMBERS,
    ),
    "NoisyMax, Laplace": Specimen(
        mechanism=m.NoisyMax(scale=1, candidates=2, noise="discrete_laplace"),
        careless=m.NoisyMax(scale="1/2", candidates=2, noise="discrete_laplace"),
        sensitivity=linf(),
        neighbors=[([0, 0], [1, -1]), ([-30, 0], [-29, -1])],
        window=60,
        tight=False,
    ),
    "NoisyMaxWithGap": Specimen(
        mechanism=m.NoisyMaxWithGap(scale=1, candidates=2),
        careless=m.NoisyMaxWithGap(scale="1/2", candidates=2),
        sensitivity=linf(),
        neighbors=[([0, 0], [1, -1]), ([0, 3], [1, 2])],
        window=40,
        rarest=1e-9,
        tight=False,
        bad=NOT_NUMBERS,
    ),
    "Average": Specimen(
        mechanism=m.Average(lower=0, upper=2, step=1, scale=2),
        careless=m.Average(lower=0, upper=2, step=1, scale=1),
        sensitivity=ONE,
        neighbors=[([], [2]), ([1], [1, 1]), ([0, 2], [0, 2, 1])],
        window=25,
        bad=([float("nan")], ["a"], [[1.0]]),
    ),
    "Quantile": Specimen(
        mechanism=m.Quantile(probability="1/2", epsilon=1, lower=0, upper=1, step=1),
        careless=m.Quantile(probability="1/2", epsilon=4, lower=0, upper=1, step=1),
        sensitivity=linf(),
        neighbors=[([], [1]), ([], [0]), ([1], [1, 0]), ([0] * 10, [0] * 11)],
        again=("weighted", "uniform"),
        tight=False,
        bad=([float("nan")], ["a"], [[1.0]]),
    ),
    "PermutedQuantile": Specimen(
        mechanism=m.PermutedQuantile(probability="1/2", epsilon=1, lower=0, upper=1, step=1),
        careless=m.PermutedQuantile(probability="1/2", epsilon=4, lower=0, upper=1, step=1),
        sensitivity=linf(),
        neighbors=[([], [1]), ([], [0]), ([1], [1, 0]), ([0] * 10, [0] * 11)],
        tight=False,
        bad=([float("nan")], ["a"], [[1.0]]),
    ),
    "Quantiles": Specimen(
        mechanism=m.Quantiles(probabilities=["2/3"], epsilon=1, lower=0, upper=1, step=1, tie_breaks=1),
        careless=m.Quantiles(probabilities=["2/3"], epsilon=4, lower=0, upper=1, step=1, tie_breaks=1),
        sensitivity=linf(),
        neighbors=[([], [1]), ([], [0]), ([1], [1, 0]), ([1] * 10, [1] * 11)],
        again=("weighted", "uniform"),
        tight=False,
        bad=([float("nan")], ["a"], [[1.0]]),
    ),
    "SparseVector": Specimen(
        mechanism=m.SparseVector(threshold_scale=1, query_scale=1),
        careless=m.SparseVector(threshold_scale="1/4", query_scale="1/4"),
        sensitivity=linf(),
        neighbors=[([0], [1]), ([-6], [-5]), ([4], [3])],
        window=14,
        tight=False,
        bad=NOT_NUMBERS[1:],
    ),
    "SparseVectorWithGap": Specimen(
        mechanism=m.SparseVectorWithGap(threshold_scale=1, query_scale=1),
        careless=m.SparseVectorWithGap(threshold_scale="1/4", query_scale="1/4"),
        sensitivity=linf(),
        neighbors=[([0], [1]), ([-6], [-5]), ([4], [3])],
        window=14,
        rarest=1e-9,
        tight=False,
        read=gaps,
        bad=NOT_NUMBERS[1:],
    ),
    "NumericSparseVector": Specimen(
        mechanism=m.NumericSparseVector(threshold_scale=1, query_scale=1, value_scale="1/2"),
        careless=m.NumericSparseVector(threshold_scale="1/2", query_scale="1/4", value_scale="1/8"),
        sensitivity=linf(),
        neighbors=[([0], [1])],
        window=9,
        rarest=1e-9,
        tight=False,
        read=gaps,
        bad=NOT_NUMBERS[1:],
    ),
    "AdaptiveSparseVector": Specimen(
        mechanism=m.AdaptiveSparseVector(threshold_scale=1, coarse_scale=1, fine_scale="1/2", margin=1),
        careless=m.AdaptiveSparseVector(threshold_scale="1/16", coarse_scale="1/20", fine_scale="1/24", margin=1),
        sensitivity=linf(),
        neighbors=[([0], [1]), ([-3], [-2])],
        window=9,
        tight=False,
        bad=NOT_NUMBERS[1:],
    ),
    "Histogram": Specimen(
        mechanism=m.Histogram(keys=["a", "b"], scale="2/3"),
        careless=m.Histogram(keys=["a", "b"], scale="1/3"),
        sensitivity=ONE,
        neighbors=[([1, 0], [2, 0]), ([0, 3], [0, 2])],
        window=16,
        plain=lambda counts: list(counts.values()),
        bad=([1], [1, 2, 3], [0.5, 1], ["a", "b"]),
    ),
    "ThresholdedHistogram": Specimen(
        mechanism=m.ThresholdedHistogram(scale=1, threshold=3),
        careless=m.ThresholdedHistogram(scale=1, threshold=2),
        sensitivity=Sensitivity(value=1, neighbors=Neighbors.ADD_REMOVE.of_unit("id")),
        neighbors=[({"a": 1}, {}), ({"a": 2}, {"a": 1})],
        window=30,
        tight=False,
        plain=lambda counts: [counts.get("a", 0)],
        bad=({"a": -1}, {"a": 0.5}, 3),
    ),
    "RandomizedResponse": Specimen(
        mechanism=m.RandomizedResponse(categories=3, truth="2/3"),
        careless=m.RandomizedResponse(categories=3, truth="4/5"),
        sensitivity=REPLACED,
        neighbors=[([0], [1]), ([2], [0]), ([0, 1], [0, 2])],
        bad=([], [3], [-1], [0.5], ["a"], [[0]], object()),
    ),
    "Flip": Specimen(
        mechanism=m.Flip(probability="1/2"),
        careless=m.Flip(probability="3/4"),
        sensitivity=REPLACED,
        neighbors=[([0], [1]), ([1, 0], [0, 0])],
        bad=([], [2], [0.5], ["a"], [[0]], object()),
    ),
    "TruncatedGeometric": Specimen(
        mechanism=m.TruncatedGeometric(scale=2, lowest=0, highest=3),
        careless=m.TruncatedGeometric(scale=1, lowest=0, highest=3),
        sensitivity=ONE,
        neighbors=[(0, 1), (3, 2), (1, 2)],
        window=60,
        bad=NOT_NUMBERS,
    ),
    "DummySum1": Specimen(
        mechanism=m.DummySum1(scale="2/3", length=2),
        careless=m.DummySum1(scale="1/3", length=2),
        sensitivity=ONE,
        neighbors=STREAMS,
        window=16,
        bad=(*NOT_NUMBERS, [1], [1, 2, 3]),
    ),
    "DummySum2": Specimen(
        mechanism=m.DummySum2(scale="2/3", length=2),
        careless=m.DummySum2(scale="1/3", length=2),
        sensitivity=ONE,
        neighbors=STREAMS,
        window=16,
        bad=(*NOT_NUMBERS, [1], [1, 2, 3]),
    ),
    "BinaryTree": Specimen(
        mechanism=m.BinaryTree(scale="2/3", length=2, levels=2),
        careless=m.BinaryTree(scale="1/3", length=2, levels=2),
        sensitivity=ONE,
        neighbors=STREAMS,
        window=16,
        bad=(*NOT_NUMBERS, [1], [1, 2, 3]),
    ),
    "RefinedTree": Specimen(
        mechanism=m.RefinedTree(scale="2/3", length=2, levels=1),
        careless=m.RefinedTree(scale="1/3", length=2, levels=1),
        sensitivity=ONE,
        neighbors=STREAMS,
        window=16,
        bad=(*NOT_NUMBERS, [1], [1, 2, 3]),
    ),
    "SquareRootFactorization": Specimen(
        mechanism=m.SquareRootFactorization(standard_deviation=2, length=1, bits=0),
        careless=m.SquareRootFactorization(standard_deviation=1, length=1, bits=0),
        sensitivity=ONE,
        neighbors=[([0], [1])],
        tight=False,
        bad=(*NOT_NUMBERS, [1, 2]),
    ),
}

EXAMPLES_WITHOUT_PRIVACY = {"NoiselessMean", "RandomPoint"}
