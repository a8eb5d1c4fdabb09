"""What the words of a program do when it runs as it stands: one exact draw each.

Names and meanings are those of the language (language/laws.py). The continuous laws of textbooks are floats, which no
exact sampler can draw: a program that uses them is proved on paper only, and its certificate says `model: real`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from privately import noise
from privately.errors import InvalidParameter, NotSupported
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, RoundedNormal
from privately.mechanisms.randomness import SYSTEM
from privately.mechanisms.randomness import flip_exp as _flip_exp
from privately.rounding import Number, rational

_FLOATS = random.SystemRandom()


def _plain(value: Any) -> Any:
    """A truth value or a whole fraction as the whole number that it is in an analysis."""
    whole = isinstance(value, bool) or (isinstance(value, Fraction) and value.denominator == 1)
    return int(value) if whole else value


def discrete_laplace(scale: Number) -> int:
    """A whole number k with probability in proportion to exp(-|k|/scale)."""
    return int(noise.draw(DiscreteLaplace(scale=scale), size=1)[0])


def discrete_exponential(scale: Number) -> int:
    """A whole number k >= 0 with probability in proportion to exp(-k/scale)."""
    return int(noise.draw(DiscreteExponential(scale=scale), size=1)[0])


def geometric(success: Number) -> int:
    """Failures before the first success."""
    return int(noise.draw(Geometric(success=success), size=1)[0])


def rounded_gaussian(standard_deviation: Number) -> int:
    """A normal variable, rounded to a whole number."""
    return int(noise.draw(RoundedNormal(standard_deviation=standard_deviation), size=1)[0])


def discrete_gaussian(variance: Number) -> int:
    """A whole number k with probability in proportion to exp(-k^2/(2 variance))."""
    return int(noise.draw(DiscreteGaussian(variance=variance), size=1)[0])


def flip(probability: Number = Fraction(1, 2)) -> int:
    """1 with that probability, otherwise 0: of one kind with private bits, so that the kind tells nothing."""
    return int(noise.bernoulli(probability=_plain(probability), size=1)[0])


def flip_exp(exponent: Number) -> int:
    """1 with probability exp(-exponent), otherwise 0."""
    return int(_flip_exp(rational(exponent, "exponent", minimum=0), SYSTEM))


def uniform(upper: int) -> int:
    """Any of 0, ..., upper - 1."""
    return int(noise.uniform(upper=_plain(upper), size=1)[0])


def uniform_bits(length: int) -> list[int]:
    """That many fair bits."""
    return [int(bit) for bit in noise.uniform(upper=2, size=_plain(length))] if length else []


def laplace(scale: Number, centre: Number = 0) -> float:
    """A float near the Laplace law: for trying textbook programs out, never for a release."""
    size = _FLOATS.expovariate(1.0) * float(rational(scale, "scale", above=0))
    return float(centre) + (size if flip() else -size)


def gaussian(standard_deviation: Number, centre: Number = 0) -> float:
    """A float near the normal law: for trying textbook programs out, never for a release."""
    return _FLOATS.gauss(float(centre), float(rational(standard_deviation, "standard_deviation", above=0)))


def exponential(scale: Number) -> float:
    """A float near the exponential law: for trying textbook programs out, never for a release."""
    return _FLOATS.expovariate(1.0) * float(rational(scale, "scale", above=0))


def assume(*conditions: object) -> None:
    """Refuses an input that the program was not written for."""
    if not all(conditions):
        raise InvalidParameter("inputs", "an assumption of the program does not hold.")


def invariant(*conditions: object) -> None:
    """Says nothing when the program runs; a prover reads it."""
    del conditions


def align(*shifts: object) -> None:
    """Says nothing when the program runs; a prover reads it."""
    del shifts


SAMPLERS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        discrete_laplace,
        discrete_exponential,
        geometric,
        rounded_gaussian,
        discrete_gaussian,
        flip,
        flip_exp,
        uniform,
        uniform_bits,
        laplace,
        gaussian,
        exponential,
    )
}


def draw(law: str, arguments: tuple[Any, ...]) -> Any:
    """One draw; True and False count as 1 and 0. NotSupported where no sampler takes these arguments."""
    try:
        return SAMPLERS[law](*(int(one) if isinstance(one, bool) else one for one in arguments))
    except InvalidParameter as reason:
        raise NotSupported(f"nobody draws {law} with these numbers: {reason.message}", hint=reason.hint) from None
