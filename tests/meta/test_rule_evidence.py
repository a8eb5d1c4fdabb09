"""A rule without its evidence does not get in: the checker's twin brother, a refuted false twin, a tampered example."""

import ast
from pathlib import Path

import pytest

from privately.certificates.checker.rules import RULES as CHECKED
from privately.guarantees.rules import RULES
from tests.certificates.examples import from_assumptions, from_tables

FOLDER = Path(__file__).parents[1] / "guarantees" / "rules"
TWINS = {
    "scan_rows": "test_relations.py::test_scan_rows_twin_by_position_is_refuted",
    "filter_rows": "test_relations.py::test_filter_rows_twin_that_looks_at_others_is_refuted",
    "project_rows": "test_relations.py::test_project_rows_twin_that_ranks_is_refuted",
    "group_rows": "test_relations.py::test_group_rows_twin_with_a_group_too_few_is_refuted",
    "count_rows": "test_tallies.py::test_count_rows_twins_are_refuted",
    "count_units": "test_tallies.py::test_count_units_twins_are_refuted",
    "count_units_by_key": "test_tallies.py::test_count_units_by_key_twin_with_one_key_is_refuted",
    "sum_steps": "test_tallies.py::test_sum_steps_twins_are_refuted",
    "sum_pairs": "test_tallies.py::test_sum_pairs_twins_are_refuted",
    "count_bins": "test_tallies.py::test_count_bins_twins_are_refuted",
    "score_quantile": "test_tallies.py::test_score_quantile_twins_are_refuted",
    "finite_table": "test_leaves.py::test_table_twin_that_compares_too_few_neighbours_is_refuted",
    "finite_program": "test_programs.py::test_finite_program_twins_are_refuted",
    "assumption": "test_leaves.py::test_an_assumption_stays_visible",
    "discrete_laplace": "test_noise.py::test_discrete_laplace_twins_are_refuted",
    "rounded_gaussian": "test_noise.py::test_rounded_gaussian_twins_are_refuted",
    "discrete_gaussian": "test_noise.py::test_discrete_gaussian_is_not_gaussian",
    "exponential_mechanism": "test_selection.py::test_exponential_mechanism_twins_are_refuted",
    "permute_and_flip": "test_selection.py::test_permute_and_flip_twins_are_refuted",
    "noisy_max": "test_selection.py::test_the_gap_twin_with_ties_broken_by_index_is_refuted",
    "sparse_vector": "test_thresholds.py::test_sparse_vector_twins_are_refuted",
    "adaptive_sparse_vector": "test_thresholds.py::test_adaptive_sparse_vector_twins_are_refuted",
    "thresholded_histogram": "test_thresholds.py::test_thresholded_histogram_twins_of_delta_are_refuted",
    "randomized_response": "test_answers.py::test_randomized_response_twin_over_all_categories_is_refuted",
    "postprocessing": "test_structure.py::test_postprocessing_twin_that_sees_the_data_is_refuted",
    "weaken": "test_structure.py::test_weaken_twin_that_strengthens_is_refuted",
    "sequential": "test_structure.py::test_sequential_twin_with_the_largest_is_refuted",
    "parallel_by_position": "test_parallel.py::test_by_position_twin_for_two_rows_is_refuted",
    "parallel_by_value": "test_parallel.py::test_by_value_twin_for_two_rows_is_refuted",
    "parallel_by_value_replace": "test_parallel.py::test_by_value_replace_twins_are_refuted",
    "group": "test_neighborhoods.py::test_group_twins_are_refuted",
    "bounded_unit": "test_neighborhoods.py::test_bounded_unit_twin_that_counts_one_row_is_refuted",
    "add_remove_to_replace": "test_neighborhoods.py::test_replacement_twins_are_refuted",
    "pure_to_zcdp": "test_conversions.py::test_twins_are_refuted",
    "approx_to_zcdp": "test_conversions.py::test_twins_of_approximate_zcdp_are_refuted",
    "pure_to_gaussian": "test_conversions.py::test_twins_are_refuted",
    "zcdp_to_renyi": "test_conversions.py::test_twins_are_refuted",
    "zcdp_to_approx": "test_conversions.py::test_twins_are_refuted",
    "renyi_to_approx": "test_conversions.py::test_wrongly_interpolated_renyi_bounds_are_refuted",
    "gaussian_to_approx": "test_conversions.py::test_twins_are_refuted",
    "gaussian_to_zcdp": "test_conversions.py::test_twins_are_refuted",
    "optimal_composition": "test_composition.py::test_optimal_composition_twins_are_refuted",
    "advanced_composition": "test_composition.py::test_advanced_composition_twins_are_refuted",
    "poisson_sampling": "test_sampling.py::test_twins_of_epsilon_are_refuted",
    "sampling_without_replacement": "test_sampling.py::test_twins_of_epsilon_are_refuted",
    "accounted": "test_accounting.py::test_accounted_twins_are_refuted",
}


def test_library_and_checker_know_the_same_rules() -> None:
    assert set(RULES) == set(CHECKED)


def test_every_rule_names_its_false_twin() -> None:
    assert set(TWINS) == set(RULES)


@pytest.mark.parametrize("place", sorted(set(TWINS.values())))
def test_the_twins_exist(place: str) -> None:
    file, name = place.split("::")
    tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_rule_is_tampered_with() -> None:
    used = {node.rule for one in (from_tables() | from_assumptions()).values() for node in one.nodes()}
    assert used == set(RULES)
