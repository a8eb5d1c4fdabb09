"""The parameters of loss laws are exact and possible."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.errors import InvalidParameter

ONE, HALF = Fraction(1), Fraction(1, 2)
SAMPLED: dict[str, Any] = {"rate": HALF, "direction": "remove"}
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (GaussianLoss, {"mu_squared": ONE}),
    (LaplaceLoss, {"epsilon": ONE}),
    (DiscreteGaussianLoss, {"variance": ONE, "sensitivity": 2}),
    (DiscreteLaplaceLoss, {"scale": ONE, "sensitivity": 2}),
    (SampledGaussianLoss, {"mu_squared": ONE, **SAMPLED}),
    (SampledLaplaceLoss, {"epsilon": ONE, **SAMPLED}),
    (SampledDiscreteGaussianLoss, {"variance": ONE, "sensitivity": 2, **SAMPLED}),
    (SampledDiscreteLaplaceLoss, {"scale": ONE, "sensitivity": 2, **SAMPLED}),
    (GluedLoss, {"base": GaussianLoss(mu_squared=ONE), "rate": HALF}),
]
BAD: dict[str, list[Any]] = {
    **{name: [Fraction(0), Fraction(-1), 1.0, 1, "1", None] for name in ("mu_squared", "epsilon", "variance", "scale")},
    "sensitivity": [0, -1, 1.0, Fraction(1), True],
    "rate": [Fraction(0), Fraction(1), Fraction(2), 0.5, "1/2", None],
    "direction": ["up", None, "Remove"],
    "base": [None, response(ONE), SampledGaussianLoss(mu_squared=ONE, rate=HALF, direction="add")],
}


@pytest.mark.parametrize(("law", "parameters"), GOOD, ids=lambda one: getattr(one, "__name__", ""))
def test_parameters(law: Any, parameters: dict[str, Any]) -> None:
    assert law(**parameters) == law(**parameters)
    assert len({law(**parameters), law(**parameters)}) == 1
    for field in parameters:
        for value in BAD[field]:
            with pytest.raises(InvalidParameter) as caught:
                law(**{**parameters, field: value})
            assert caught.value.field == field


def test_directions() -> None:
    assert DIRECTIONS == ("remove", "add")


def test_mu_is_the_root() -> None:
    assert (GaussianLoss(mu_squared=Fraction(2)).mu ** 2).contains(2)
    assert (SampledGaussianLoss(mu_squared=Fraction(2), rate=HALF, direction="add").mu ** 2).contains(2)


def test_atoms_of_finite_laws() -> None:
    """A sampled response with three answers, by hand: q = 1/2, e^epsilon = e, removed."""
    weights = ((1, 1), (2, 0)), ((2, 0), (2, 0)), ((1, 1), (0, 2))
    law = FiniteLoss(
        epsilon=ONE,
        outcomes=tuple(((Fraction(a), Fraction(b)), (Fraction(c), Fraction(d))) for (a, b), (c, d) in weights),
    )
    with mpmath.workdps(70):
        first = [1 + mpmath.e, mpmath.mpf(2), 1 + mpmath.e]
        second = [mpmath.mpf(2), mpmath.mpf(2), 2 * mpmath.e]
        total = mpmath.fsum(first)
        for (p, loss), a, b in zip(law.atoms(), first, second, strict=True):
            assert mpmath.mpf(str(p.lower)) <= a / total <= mpmath.mpf(str(p.upper))
            assert mpmath.mpf(str(loss.lower)) <= mpmath.log(a / b) <= mpmath.mpf(str(loss.upper))
    assert not law.is_response
    assert response(ONE).is_response


def test_responses_are_told_from_other_pairs_of_two_outcomes() -> None:
    (_, most), (_, least) = response(ONE).atoms()
    assert most.contains(1)
    assert least.contains(-1)
    first, second = response(ONE).outcomes
    skewed = FiniteLoss(epsilon=ONE, outcomes=(first, (second[0], (ONE, ONE))))
    assert not skewed.is_response


@pytest.mark.parametrize(
    ("epsilon", "outcomes", "field"),
    [
        (1, response(ONE).outcomes, "epsilon"),
        (Fraction(-1), response(ONE).outcomes, "epsilon"),
        (ONE, (), "outcomes"),
        (ONE, (((ONE, ONE), (1, 0)),), "outcomes"),
        (ONE, (((ONE, ONE), (Fraction(0), Fraction(0))),), "outcomes"),
        (ONE, (((Fraction(-1), Fraction(0)), (ONE, ONE)),), "outcomes"),
    ],
)
def test_impossible_finite_laws(epsilon: Any, outcomes: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        FiniteLoss(epsilon=epsilon, outcomes=outcomes)
    assert caught.value.field == field


@pytest.mark.parametrize("tiny", ["1e-10", "1e-25", "1e-60", "1e-300"])
def test_differences_of_nearly_equal_weights(tiny: str) -> None:
    """(e^epsilon - 1)/3 beside 1: nothing cancels, however small epsilon is."""
    epsilon = Fraction(tiny)
    rest = ((-ONE / 3, ONE / 3), (ONE / 3, ONE / 3))
    probability, loss = FiniteLoss(epsilon=epsilon, outcomes=(rest, ((ONE, ONE), (ONE, ONE)))).atoms()[0]
    with mpmath.workdps(700):
        x = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        truth = mpmath.expm1(x) / (mpmath.expm1(x) + 3 * (1 + mpmath.exp(x)))
        assert mpmath.mpf(str(probability.lower)) <= truth <= mpmath.mpf(str(probability.upper))
        ratio = mpmath.log(mpmath.expm1(x) / (1 + mpmath.exp(x)))
        assert mpmath.mpf(str(loss.lower)) <= ratio <= mpmath.mpf(str(loss.upper))
        assert mpmath.mpf(str(probability.upper)) <= truth * (1 + mpmath.mpf(10) ** -20)
