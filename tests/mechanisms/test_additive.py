"""What adding noise to numbers shares: exact sums, kinds of answers, and the step that saturates."""

from fractions import Fraction
from typing import Any

import pytest

from privately.guarantees import Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms import DiscreteGaussian, Gaussian, Laplace
from privately.mechanisms.additive import add_noise, saturating, spread_over
from privately.mechanisms.grids import Grid
from tests.mechanisms.enumeration import outcomes, probability
from tests.mechanisms.number_checks import REFUSED, Fixed, answers_in_kind, refuses_before_drawing, saturates

LAW = DiscreteLaplace(scale="1/2")


def laplace(**more: Any) -> Laplace:
    return Laplace(scale=1, **more)


def gaussian(**more: Any) -> Gaussian:
    return Gaussian(standard_deviation=1, **more)


def discrete_gaussian(**more: Any) -> DiscreteGaussian:
    return DiscreteGaussian(variance=1, **more)


KINDS = [laplace, gaussian, discrete_gaussian]


@pytest.mark.parametrize("make", KINDS)
def test_numbers_for_numbers_and_vectors_for_vectors(make: Any) -> None:
    answers_in_kind(make)


@pytest.mark.parametrize("make", KINDS)
def test_sums_saturate_at_both_ends(make: Any) -> None:
    saturates(make)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("name", REFUSED)
def test_bad_values_are_refused_before_any_draw(make: Any, name: str) -> None:
    refuses_before_drawing(make, name)


def test_every_entry_has_noise_of_its_own() -> None:
    found = outcomes(lambda random: add_noise([5, 5], LAW, Grid(None), 2, random), window=3).chances
    assert len(found) == 49
    assert abs(found[5, 7] - probability(LAW, 0) * probability(LAW, 2)) < 1e-40


def test_noise_is_counted_in_steps() -> None:
    draw: Any = Fixed(3, -5)
    assert add_noise([1.0, 1.1], LAW, Grid("1/4"), 2, draw).tolist() == [1.75, -0.25]  # type: ignore[union-attr]


def test_saturating_is_post_processing() -> None:
    exact = rules.discrete_laplace(scale=2, sensitivity=Sensitivity(value=1))
    derived = saturating(exact)
    assert derived.conclusion == exact.conclusion
    assert derived.premises == (exact,)
    assert derived.rule == "postprocessing"


def test_one_entry_takes_the_change() -> None:
    assert spread_over(3, 4) == ([0, 0, 0], [4, 0, 0])
    assert spread_over(1, 0) == ([0], [0])


@pytest.mark.parametrize("make", KINDS)
def test_worst_cases_are_inputs_of_the_mechanism(make: Any) -> None:
    """On a grid in numbers, not in steps: 0.4 is 1.6 steps, and rounding two entries adds as much as two."""
    sensitivity = Sensitivity(value="0.4")
    on_grid = make(grid="1/4", dimension=2)
    before, after = on_grid.worst_case(sensitivity)
    assert (before, after) == ([0.0, 0.0], [0.75, 0.0])
    silent: Any = Fixed(0, 0)
    assert on_grid.run(after, silent).tolist() == after
    assert make(grid=None, dimension=2).worst_case(Sensitivity(value=Fraction(7, 2))) == ([0, 0], [3, 0])
