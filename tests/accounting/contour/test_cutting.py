"""Losses that are left out: how probable they are, and answers beside other roads."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately.accounting import lattice
from privately.accounting.compositions import Composition
from privately.accounting.contour import cutting
from privately.accounting.contour.split import Law
from privately.accounting.contour.splitting import jump_mass
from privately.accounting.losses import GaussianLoss, LaplaceLoss, SampledLaplaceLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.test_jumps import exact_delta, steps

WIDTH = Fraction(1, 10**6)
MIXED = Composition(
    parts=(
        *steps("2", "0.001", 400).parts,
        (GaussianLoss(mu_squared=Fraction(1, 10**4)), 3),
        (SampledLaplaceLoss(epsilon=Fraction(1, 2), rate=Fraction(1, 100), direction="remove"), 20),
    )
)


@pytest.mark.parametrize("composition", [steps("2", "0.001", 800), steps("3", "0.01", 300), MIXED])
@pytest.mark.parametrize("left_out", [1e-9, 0.2])
def test_both_sides_of_the_truth(composition: Composition, left_out: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a lattice; with much left out, that has to be added and is seen."""
    monkeypatch.setattr(cutting, "_LEFT_OUT", left_out)
    delta = Fraction(1, 10**6)
    found, other = cutting.epsilon(composition, delta, WIDTH), lattice.epsilon(composition, delta, WIDTH)
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    assert left_out > 1e-3 or found.width <= WIDTH * max(found.upper, Fraction(1, 1000))
    back = cutting.delta(composition, Fraction(other.upper), WIDTH)
    truth = lattice.delta(composition, Fraction(other.upper), WIDTH)
    assert back.lower <= truth.upper
    assert truth.lower <= back.upper
    assert left_out > 1e-3 or back.width <= 2 * WIDTH * back.upper


def test_what_is_left_out_has_to_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    composition, delta = steps("2", "0.001", 800), Fraction(1, 10**6)
    truth = lattice.epsilon(composition, delta, WIDTH)
    monkeypatch.setattr(cutting, "_LEFT_OUT", 0.2)
    monkeypatch.setattr(cutting, "jump_mass", lambda law: 0.0)
    assert cutting.epsilon(composition, delta, WIDTH).upper < truth.lower


def test_every_step_may_leave_something_out() -> None:
    sums = cutting.CutSums(MIXED, math.log(1e-6))
    (law, times), *_ = sums.laws
    assert isinstance(law, Law)
    assert sums.left_out == times * Fraction(jump_mass(law)) > 0
    assert times == 400


def test_few_steps_are_for_a_lattice_first() -> None:
    first, last = cutting.Cutting(is_last=False), cutting.Cutting(is_last=True)
    few, many, delta = steps("2", "0.001", 10), steps("2", "0.001", 800), Fraction(1, 10**6)
    for early, late in ((first.epsilon, last.epsilon), (first.delta, last.delta)):
        with pytest.raises(NotApplicable, match="later"):
            early(few, delta, WIDTH)
        with pytest.raises(NotApplicable, match="before"):
            late(many, delta, WIDTH)
    assert first.epsilon(many, delta, WIDTH) == cutting.epsilon(many, delta, WIDTH)


@pytest.mark.slow
def test_beside_many_digits() -> None:
    composition, delta = steps("2", "0.001", 200), Fraction(1, 10**7)
    found = cutting.epsilon(composition, delta, WIDTH)
    assert found.width <= WIDTH * found.upper
    places = [Fraction(found.lower), Fraction(found.upper)]
    high, low = (float(one.mid()) for one in exact_delta(composition, places, 3, 13, 1500))
    slack = 2 * math.exp(-3 * 13)
    assert low - slack <= 1e-7 <= high + slack


def test_where_few_take_part() -> None:
    """Cases that no other road answers to 10^-6 in reasonable time."""
    for multiplier, rate, times, delta in (
        ("2.82", "9.59e-6", 6550, "2.04e-6"),
        ("3.94", "3.45e-7", 7_120_000, "1e-10"),
    ):
        found = cutting.epsilon(steps(multiplier, rate, times), Fraction(delta), WIDTH)
        assert 0 < found.width <= WIDTH * max(found.upper, Fraction(1, 1000))


def test_no_more_than_nothing() -> None:
    """Where delta is more than is ever lost, epsilon is next to 0."""
    found = cutting.epsilon(steps("7.27", "1.72e-7", 91_100), Fraction("1.01e-5"), WIDTH)
    assert found.lower == 0
    assert found.upper < 1e-9


def test_refusals() -> None:
    with pytest.raises(NotApplicable):
        cutting.epsilon(Composition(parts=((LaplaceLoss(epsilon=Fraction(1)), 5),)), Fraction(1, 100), WIDTH)
    with pytest.raises(NotApplicable):
        cutting.epsilon(steps("2", "0.001", 200), Fraction(1, 10**260), WIDTH)
