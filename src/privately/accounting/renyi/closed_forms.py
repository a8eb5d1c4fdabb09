"""Laws whose logarithmic moments are short formulas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from privately.accounting.losses import FiniteLoss, Weight
from privately.accounting.renyi.numbers import Number, ceiling, exp, expm1, like, log, log_mix, log_one_minus_exp, short
from privately.rounding import Enclosure, End

_LONGEST_LOSS = 10**6
_NONE = math.inf


class Formula(Protocol):
    """K(c) for a float or an enclosure."""

    def __call__(self, c: Number, /) -> Number: ...


@dataclass(frozen=True)
class Closed:
    """A formula, and two bounds that hold beside it: c `largest`, and c (c + 1) `rho`.

    They serve where the formula runs out of digits.
    """

    formula: Formula
    largest: End
    rho: Fraction | float = _NONE

    def above(self, c: Fraction) -> End:
        simple = short(min(c * self.largest, c * (c + 1) * self.rho))
        if self.largest > _LONGEST_LOSS:
            return simple
        try:
            return max(min(ceiling(self.formula(Enclosure.of(c))), simple), Fraction(0))
        except (ZeroDivisionError, OverflowError):
            return simple

    def rough(self, c: float) -> float:
        simple = min(c * float(self.largest), c * (c + 1) * float(self.rho))
        try:
            return max(min(self.formula(c), simple), 0.0)
        except (ValueError, ZeroDivisionError):
            return simple


def laplace(epsilon: Fraction) -> Closed:
    """Laplace noise, sensitivity over scale = epsilon.

    Theorem: with a = 1 + c, E[e^(cL)] = a/(2a-1) e^(c epsilon) + c/(2a-1) e^(-a epsilon).
    Reference: Mironov 2017, Proposition 6
    Proof: docs/theory/accounting/renyi.md#noise
    Checked-by: tests/accounting/renyi/test_closed_forms.py::test_laplace
    """

    def formula(c: Number) -> Number:
        loss, span = like(c, epsilon), 2 * c + 1
        return log_mix([((c + 1) / span, c * loss), (c / span, -(c + 1) * loss)])

    return Closed(formula=formula, largest=epsilon, rho=epsilon**2 / 2)


def discrete_laplace(scale: Fraction, sensitivity: int) -> Closed:
    """Discrete Laplace noise of this scale and sensitivity.

    Theorem: with r = e^(-1/scale) and v = (1-r)/((1+r)(e^((2c+1)/scale) - 1)), E[e^(cL)] is
        (1/(1+r) + v) e^(c sensitivity/scale) + (r/(1+r) - v) e^(-(c+1) sensitivity/scale).
    Reference: Ghosh-Roughgarden-Sundararajan 2012 for the law
    Proof: docs/theory/accounting/renyi.md#noise
    Checked-by: tests/accounting/renyi/test_closed_forms.py::test_discrete_laplace
    """
    loss = sensitivity / scale

    def formula(c: Number) -> Number:
        step = like(c, 1 / scale)
        ratio, whole, far = exp(-step), like(c, loss), -(2 * c + 1) * step
        shared = expm1(-step) * exp(far) / ((1 + ratio) * expm1(far))
        first, second = 1 / (1 + ratio) + shared, ratio / (1 + ratio) - shared
        return log_mix([(first, c * whole), (second, -(c + 1) * whole)])

    return Closed(formula=formula, largest=loss, rho=loss**2 / 2)


def finite(law: FiniteLoss) -> Closed:
    """Finitely many outcomes: a sum. Randomized response, so also the worst case of epsilon-DP.

    Theorem: of all epsilon-DP mechanisms, randomized response has the largest Renyi divergence of every order.
    Reference: Kairouz-Oh-Viswanath 2015, Theorem 3.4
    Proof: docs/theory/accounting/renyi.md#finite-laws
    Checked-by: tests/accounting/renyi/test_closed_forms.py::test_no_pure_mechanism_has_more
    """
    atoms = law.atoms()
    rough = [(float(probability.upper), float(loss.upper)) for probability, loss in atoms]

    def formula(c: Number) -> Number:
        if isinstance(c, Enclosure):
            return log_mix([(probability, c * loss) for probability, loss in atoms])
        return log_mix([(probability, c * loss) for probability, loss in rough])

    losses = zip(law.outcomes, atoms, strict=True)
    largest = max(_whole_loss(law.epsilon, *outcome) or ceiling(loss.nonnegative()) for outcome, (_, loss) in losses)
    return Closed(formula=formula, largest=largest, rho=law.epsilon**2 / 2 if law.is_response else _NONE)


def _whole_loss(epsilon: Fraction, first: Weight, second: Weight) -> Fraction | None:
    """The loss of an outcome that is e^epsilon times as likely: epsilon, to the last digit."""
    return epsilon if first[0] == second[1] == 0 and first[1] == second[0] else None


def bounded_range(width: Fraction) -> Closed:
    """All mechanisms whose losses lie in an interval of this width, such as the exponential mechanism.

    Theorem: with w = width and g(x) = ln(1 - e^-x), K(c) is at most c w + c ln(c/(c+1)) - ln(c+1) + (c+1) g((c+1) w) -
        c g(c w) - g(w), which some such mechanism has; and at most c (c+1) w^2/8.
    Reference: Dong-Durfee-Rogers 2020 for the pair; Cesar-Rogers 2021, Lemma 3.4, for w^2/8
    Proof: docs/theory/accounting/renyi.md#bounded-range
    Checked-by: tests/accounting/renyi/test_closed_forms.py::test_bounded_range_dominates_enumeration,
        tests/accounting/renyi/test_closed_forms.py::test_bounded_range_is_reached
    """

    def formula(c: Number) -> Number:
        w, g = like(c, width), log_one_minus_exp
        ends = c * log(c / (c + 1)) - log(c + 1)
        return c * w + ends + (c + 1) * g((c + 1) * w) - c * g(c * w) - g(w)

    return Closed(formula=formula, largest=width, rho=width**2 / 8)
