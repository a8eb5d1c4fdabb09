"""Mechanisms: algorithms with their proofs, error bars and texts, one file each.

`derive(sensitivity)` proves what `release(value)` keeps to. All noise is exact and made of integers.
"""

from privately.on_demand import on_demand

__all__ = [
    "Accuracy",
    "AdaptiveSparseVector",
    "Alignment",
    "Average",
    "BinaryTree",
    "Counts",
    "DiscreteGaussian",
    "DummySum1",
    "DummySum2",
    "Exponential",
    "FiniteExact",
    "Flip",
    "Gaussian",
    "Histogram",
    "Justification",
    "Laplace",
    "Mechanism",
    "NoiselessMean",
    "NoisyAverage",
    "NoisyMax",
    "NoisyMaxWithGap",
    "NumericSparseVector",
    "PermuteAndFlip",
    "PermutedQuantile",
    "Program",
    "Quantile",
    "Quantiles",
    "RandomPoint",
    "RandomizedResponse",
    "RefinedTree",
    "SparseVector",
    "SparseVectorWithGap",
    "SquareRootFactorization",
    "TellTale",
    "Theorem",
    "ThresholdedHistogram",
    "TruncatedGeometric",
    "counts_sensitivity",
]

# Type checkers know this name; importing it from `typing` is not needed for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.mechanisms.adaptive_sparse_vector import AdaptiveSparseVector
    from privately.mechanisms.answer_counts import Counts
    from privately.mechanisms.average import Average, NoisyAverage
    from privately.mechanisms.binary_tree import BinaryTree
    from privately.mechanisms.discrete_gaussian import DiscreteGaussian
    from privately.mechanisms.dummy_sum_1 import DummySum1
    from privately.mechanisms.dummy_sum_2 import DummySum2
    from privately.mechanisms.examples import NoiselessMean, RandomPoint, TellTale
    from privately.mechanisms.exponential import Exponential
    from privately.mechanisms.factorization import SquareRootFactorization
    from privately.mechanisms.flip import Flip
    from privately.mechanisms.gaussian import Gaussian
    from privately.mechanisms.histograms import Histogram, counts_sensitivity
    from privately.mechanisms.laplace import Laplace
    from privately.mechanisms.mechanism import Accuracy, Alignment, FiniteExact, Justification, Mechanism, Theorem
    from privately.mechanisms.noisy_max import NoisyMax, NoisyMaxWithGap
    from privately.mechanisms.numeric_sparse_vector import NumericSparseVector
    from privately.mechanisms.permute_and_flip import PermuteAndFlip
    from privately.mechanisms.permuted_quantile import PermutedQuantile
    from privately.mechanisms.programs import Program
    from privately.mechanisms.quantile import Quantile
    from privately.mechanisms.quantiles import Quantiles
    from privately.mechanisms.randomized_response import RandomizedResponse
    from privately.mechanisms.refined_tree import RefinedTree
    from privately.mechanisms.sparse_vector import SparseVector
    from privately.mechanisms.sparse_vector_with_gap import SparseVectorWithGap
    from privately.mechanisms.thresholded_histogram import ThresholdedHistogram
    from privately.mechanisms.truncated_geometric import TruncatedGeometric
else:
    # Load a mechanism when it is first asked for: a question needs one or two of them.
    __getattr__ = on_demand(
        __name__,
        adaptive_sparse_vector="AdaptiveSparseVector",
        answer_counts="Counts",
        average="Average NoisyAverage",
        binary_tree="BinaryTree",
        discrete_gaussian="DiscreteGaussian",
        dummy_sum_1="DummySum1",
        dummy_sum_2="DummySum2",
        examples="NoiselessMean RandomPoint TellTale",
        exponential="Exponential",
        factorization="SquareRootFactorization",
        flip="Flip",
        gaussian="Gaussian",
        histograms="Histogram counts_sensitivity",
        laplace="Laplace",
        mechanism="Accuracy Alignment FiniteExact Justification Mechanism Theorem",
        noisy_max="NoisyMax NoisyMaxWithGap",
        numeric_sparse_vector="NumericSparseVector",
        permute_and_flip="PermuteAndFlip",
        permuted_quantile="PermutedQuantile",
        programs="Program",
        quantile="Quantile",
        quantiles="Quantiles",
        randomized_response="RandomizedResponse",
        refined_tree="RefinedTree",
        sparse_vector="SparseVector",
        sparse_vector_with_gap="SparseVectorWithGap",
        thresholded_histogram="ThresholdedHistogram",
        truncated_geometric="TruncatedGeometric",
    )
