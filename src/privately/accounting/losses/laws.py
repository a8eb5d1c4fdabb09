"""The laws of the privacy loss, by their exact parameters. What is computed from them is in the files beside this one.

P, Q       a dominating pair; L = ln(dP/dQ), and its law is that of L under P, given that L is finite
mu         distance of two normal laws of variance 1
q, rate    probability that the row in question is in the sample
remove     the data set of P has one row more: under sampling ((1-q)Q + qP, Q)
add        the data set of Q has one row more: under sampling (P, (1-q)P + qQ)

Every law here is a probability law of finite losses. The mass at infinite loss is kept apart, in the Composition.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from privately.errors import InvalidParameter
from privately.rounding import Enclosure, whole

Direction = Literal["remove", "add"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
_TINY = Fraction(1, 10**20)

Weight: TypeAlias = tuple[Fraction, Fraction]
"""(a, b) stands for a + b e^epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLoss:
    """P = N(mu, 1), Q = N(0, 1): L is normal with mean mu^2/2 and variance mu^2. Sums of squares stay rational."""

    mu_squared: Fraction

    def __post_init__(self) -> None:
        _positive(self, "mu_squared")

    @property
    def mu(self) -> Enclosure:
        """The square root of mu_squared."""
        return Enclosure.of(self.mu_squared).sqrt()


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLoss:
    """P and Q of density e^-|x|/2, epsilon apart: atoms at +-epsilon, a density between."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _positive(self, "epsilon")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianLoss:
    """Q(k) in proportion to exp(-k^2/(2 variance)) on the integers, P(k) = Q(k - sensitivity)."""

    variance: Fraction
    sensitivity: int

    def __post_init__(self) -> None:
        _positive(self, "variance")
        whole(self.sensitivity, "sensitivity", maximum=10**18)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplaceLoss:
    """Q(k) in proportion to exp(-|k|/scale) on the integers, P(k) = Q(k - sensitivity).

    L takes the values (sensitivity - 2j)/scale, j = 0, ..., sensitivity.
    """

    scale: Fraction
    sensitivity: int

    def __post_init__(self) -> None:
        _positive(self, "scale")
        whole(self.sensitivity, "sensitivity", maximum=10**18)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteLoss:
    """Finitely many outcomes, each with its weight under P and under Q, largest loss first.

    A weight (a, b) stands for a + b e^epsilon and is positive; a or b alone may be negative. Outcome i has the
    probability first_i / (sum of all first) and the loss ln(first_i / second_i). The second weights need not have
    the same sum as the first: what only P or only Q can give is left out.
    """

    epsilon: Fraction
    outcomes: tuple[tuple[Weight, Weight], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon < 0:
            raise InvalidParameter("epsilon", "must be a Fraction of at least 0.")
        for first, second in self.outcomes:
            if not all(isinstance(number, Fraction) for number in (*first, *second)):
                raise InvalidParameter("outcomes", "weights are pairs of Fractions.")
        if not self.outcomes or not all(_may_be_positive(weight) for outcome in self.outcomes for weight in outcome):
            raise InvalidParameter("outcomes", "list at least one outcome, each of positive weights.")

    def __hash__(self) -> int:
        """By numerators: that of a Fraction takes ten times as long."""
        weights = [(a.numerator, b.numerator) for outcome in self.outcomes for a, b in outcome]
        return hash((self.epsilon.as_integer_ratio(), *weights))

    @property
    def is_response(self) -> bool:
        """Whether this is plain randomized response with two answers: losses epsilon and -epsilon."""
        return self.outcomes == response(self.epsilon).outcomes

    def atoms(self) -> tuple[tuple[Enclosure, Enclosure], ...]:
        """The probability and the loss of each outcome."""
        grown = Enclosure.of(self.epsilon).exp()
        first = [_value(weight, self.epsilon, grown) for weight, _ in self.outcomes]
        second = [_value(weight, self.epsilon, grown) for _, weight in self.outcomes]
        total = sum(first, Enclosure.of(0))
        return tuple((p / total, (p / q).log()) for p, q in zip(first, second, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGaussianLoss:
    """The pair of GaussianLoss, under Poisson sampling."""

    mu_squared: Fraction
    rate: Fraction
    direction: Direction

    def __post_init__(self) -> None:
        _positive(self, "mu_squared")
        _sampled(self)

    def __hash__(self) -> int:
        """By numerators and denominators: that of a Fraction takes ten times as long."""
        square, rate = self.mu_squared, self.rate
        return hash((square.numerator, square.denominator, rate.numerator, rate.denominator, self.direction))

    @property
    def mu(self) -> Enclosure:
        """The square root of mu_squared."""
        return Enclosure.of(self.mu_squared).sqrt()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledLaplaceLoss:
    """The pair of LaplaceLoss, under Poisson sampling."""

    epsilon: Fraction
    rate: Fraction
    direction: Direction

    def __post_init__(self) -> None:
        _positive(self, "epsilon")
        _sampled(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledDiscreteGaussianLoss:
    """The pair of DiscreteGaussianLoss, under Poisson sampling."""

    variance: Fraction
    sensitivity: int
    rate: Fraction
    direction: Direction

    def __post_init__(self) -> None:
        _positive(self, "variance")
        whole(self.sensitivity, "sensitivity", maximum=10**18)
        _sampled(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledDiscreteLaplaceLoss:
    """The pair of DiscreteLaplaceLoss, under Poisson sampling."""

    scale: Fraction
    sensitivity: int
    rate: Fraction
    direction: Direction

    def __post_init__(self) -> None:
        _positive(self, "scale")
        whole(self.sensitivity, "sensitivity", maximum=10**18)
        _sampled(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class GluedLoss:
    """The pair of `base` in a sample of fixed size, under replacement: two profiles glued at epsilon = 0.

    Its profile is that of ((1-q)Q + qP, Q) for epsilon >= 0 and that of (P, (1-q)P + qQ) for epsilon <= 0, with (P, Q)
    the pair of `base`. The law of L follows: above 0 it is that of the first, below 0 that of the second, and at 0
    there is an atom with the mass that is left.
    """

    base: GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss
    rate: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.base, (GaussianLoss, LaplaceLoss, DiscreteGaussianLoss, DiscreteLaplaceLoss)):
            raise InvalidParameter("base", "must be the law of an additive noise.")
        _check_rate(self.rate)


Loss: TypeAlias = (
    GaussianLoss
    | LaplaceLoss
    | DiscreteGaussianLoss
    | DiscreteLaplaceLoss
    | FiniteLoss
    | SampledGaussianLoss
    | SampledLaplaceLoss
    | SampledDiscreteGaussianLoss
    | SampledDiscreteLaplaceLoss
    | GluedLoss
)


def response(epsilon: Fraction) -> FiniteLoss:
    """Plain randomized response with two answers, the worst case of epsilon-DP."""
    one, grown = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    return FiniteLoss(epsilon=epsilon, outcomes=((grown, one), (one, grown)))


def _value(weight: Weight, epsilon: Fraction, grown: Enclosure) -> Enclosure:
    """a + b e^epsilon; where that is a difference and epsilon is tiny, by x <= e^x - 1 <= x + x^2."""
    a, b = weight
    if a * b < 0 and epsilon < _TINY:
        more = Enclosure(Enclosure.of(epsilon).lower, Enclosure.of(epsilon + epsilon**2).upper)
        return a + b + b * more
    return a + b * grown


def _may_be_positive(weight: Weight) -> bool:
    return weight[0].numerator > 0 or weight[1].numerator > 0


def _positive(law: object, name: str) -> None:
    value = getattr(law, name)
    if not isinstance(value, Fraction) or value.numerator <= 0:
        raise InvalidParameter(name, "must be a Fraction above 0.")


def _sampled(
    law: SampledGaussianLoss | SampledLaplaceLoss | SampledDiscreteGaussianLoss | SampledDiscreteLaplaceLoss,
) -> None:
    _check_rate(law.rate)
    if law.direction not in DIRECTIONS:
        raise InvalidParameter("direction", f"must be one of {', '.join(DIRECTIONS)}.")


def _check_rate(rate: Fraction) -> None:
    if not isinstance(rate, Fraction) or not 0 < rate.numerator < rate.denominator:
        raise InvalidParameter("rate", "must be a Fraction above 0 and below 1.")
