"""Exponents that a checker agrees to evaluate."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import ApproxDP, Derivation, PureDP, rules
from privately.guarantees.rules.limits import LARGEST_EXPONENT, moderate


@pytest.mark.parametrize("exponent", [0, 1, LARGEST_EXPONENT, -LARGEST_EXPONENT, Fraction(1, 3)])
def test_moderate_exponents_pass(exponent: int | Fraction) -> None:
    assert moderate(Fraction(exponent)) == exponent


@pytest.mark.parametrize("exponent", [LARGEST_EXPONENT + Fraction(1, 10**9), -LARGEST_EXPONENT - 1, 10**300])
def test_others_are_refused_by_name(exponent: int | Fraction) -> None:
    with pytest.raises(InvalidParameter) as caught:
        moderate(Fraction(exponent), "slack")
    assert caught.value.field == "slack"


def test_certificates_allow_all_that_rules_use() -> None:
    """docs/theory/certificates.md: exponents up to 10,000."""
    assert LARGEST_EXPONENT <= 10_000


LARGE = rules.suppose(PureDP(epsilon=LARGEST_EXPONENT + 1))


def test_rules_that_need_an_exponential_refuse_large_epsilons() -> None:
    attempts: list[Callable[[], Derivation]] = [
        lambda: rules.pure_to_gaussian(LARGE),
        lambda: rules.optimal_composition(LARGE, delta="1e-6"),
        lambda: rules.advanced_composition(LARGE, slack="1e-6"),
        lambda: rules.group(rules.suppose(ApproxDP(epsilon=LARGEST_EXPONENT, delta="1e-6")), size=2),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidParameter):
            attempt()


def test_rules_that_need_none_do_not() -> None:
    assert rules.sequential(LARGE, LARGE).conclusion == PureDP(epsilon=2 * LARGEST_EXPONENT + 2)
    assert rules.pure_to_zcdp(LARGE).conclusion.parameters["rho"] == Fraction((LARGEST_EXPONENT + 1) ** 2, 2)
    assert rules.group(LARGE, size=2).conclusion.parameters["epsilon"] == 2 * LARGEST_EXPONENT + 2
