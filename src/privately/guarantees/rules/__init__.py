"""The rules: the only functions that make Derivations, and the Stabilities that some of these rest on.

Each takes proofs and returns one, and states its theorem, where it is proved and which test would fail if it
were false. A rule that is not here does not exist: asking for it raises NoSuchRule.
"""

from collections.abc import Callable

from privately.guarantees.derivations import Proof
from privately.guarantees.rules.accounting import accounted
from privately.guarantees.rules.answers import randomized_response
from privately.guarantees.rules.composition import advanced_composition, optimal_composition
from privately.guarantees.rules.conversions import (
    approx_to_zcdp,
    gaussian_to_approx,
    gaussian_to_zcdp,
    pure_to_gaussian,
    pure_to_zcdp,
    pure_to_zcdp_simple,
    renyi_to_approx,
    zcdp_to_approx,
    zcdp_to_renyi,
)
from privately.guarantees.rules.leaves import assumption, finite_table, suppose
from privately.guarantees.rules.neighborhoods import add_remove_to_replace, bounded_unit, group
from privately.guarantees.rules.noise import discrete_gaussian, discrete_laplace, rounded_gaussian
from privately.guarantees.rules.parallel import parallel_by_position, parallel_by_value, parallel_by_value_replace
from privately.guarantees.rules.programs import finite_program
from privately.guarantees.rules.relations import filter_rows, group_rows, project_rows, scan_rows
from privately.guarantees.rules.routes import convert
from privately.guarantees.rules.sampling import poisson_sampling, sampling_without_replacement
from privately.guarantees.rules.selection import exponential_mechanism, noisy_max, permute_and_flip
from privately.guarantees.rules.structure import postprocessing, sequential, weaken
from privately.guarantees.rules.tallies import (
    count_bins,
    count_rows,
    count_units,
    count_units_by_key,
    score_quantile,
    sum_pairs,
    sum_steps,
)
from privately.guarantees.rules.thresholds import adaptive_sparse_vector, sparse_vector, thresholded_histogram

RULES: dict[str, Callable[..., Proof]] = {
    rule.__name__: rule
    for rule in (
        scan_rows,
        filter_rows,
        project_rows,
        group_rows,
        count_rows,
        count_units,
        count_units_by_key,
        sum_steps,
        sum_pairs,
        count_bins,
        score_quantile,
        finite_table,
        finite_program,
        assumption,
        discrete_laplace,
        rounded_gaussian,
        discrete_gaussian,
        exponential_mechanism,
        permute_and_flip,
        noisy_max,
        sparse_vector,
        adaptive_sparse_vector,
        thresholded_histogram,
        randomized_response,
        postprocessing,
        weaken,
        sequential,
        parallel_by_position,
        parallel_by_value,
        parallel_by_value_replace,
        group,
        bounded_unit,
        add_remove_to_replace,
        pure_to_zcdp,
        approx_to_zcdp,
        pure_to_gaussian,
        zcdp_to_renyi,
        zcdp_to_approx,
        renyi_to_approx,
        gaussian_to_approx,
        gaussian_to_zcdp,
        optimal_composition,
        advanced_composition,
        poisson_sampling,
        sampling_without_replacement,
        accounted,
    )
}

__all__ = [
    "RULES",
    "accounted",
    "adaptive_sparse_vector",
    "add_remove_to_replace",
    "advanced_composition",
    "approx_to_zcdp",
    "assumption",
    "bounded_unit",
    "convert",
    "count_bins",
    "count_rows",
    "count_units",
    "count_units_by_key",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_mechanism",
    "filter_rows",
    "finite_program",
    "finite_table",
    "gaussian_to_approx",
    "gaussian_to_zcdp",
    "group",
    "group_rows",
    "noisy_max",
    "optimal_composition",
    "parallel_by_position",
    "parallel_by_value",
    "parallel_by_value_replace",
    "permute_and_flip",
    "poisson_sampling",
    "postprocessing",
    "project_rows",
    "pure_to_gaussian",
    "pure_to_zcdp",
    "pure_to_zcdp_simple",
    "randomized_response",
    "renyi_to_approx",
    "rounded_gaussian",
    "sampling_without_replacement",
    "scan_rows",
    "score_quantile",
    "sequential",
    "sparse_vector",
    "sum_pairs",
    "sum_steps",
    "suppose",
    "thresholded_histogram",
    "weaken",
    "zcdp_to_approx",
    "zcdp_to_renyi",
]
