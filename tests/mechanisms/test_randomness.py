"""What mechanisms draw with: `noise` has all of it, and long exponents are flipped in parts."""

import inspect
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from privately import noise
from privately.mechanisms.randomness import SYSTEM, Randomness, flip_exp
from privately.rounding import LARGEST
from tests.mechanisms.enumeration import Branching, outcomes

EFFECTS = [name for name in vars(Randomness) if not name.startswith("_")]


def keywords(function: Any) -> list[tuple[str, Any]]:
    taken = inspect.signature(function).parameters.values()
    return [(one.name, one.kind) for one in taken if one.name != "self"]


def test_mechanisms_draw_from_noise() -> None:
    assert SYSTEM is noise
    assert sorted(EFFECTS) == ["accepted", "bernoulli", "bernoulli_exp", "draw", "uniform", "weighted"]


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_are_called_alike_everywhere(name: str) -> None:
    wanted = keywords(getattr(Randomness, name))
    assert keywords(getattr(noise, name)) == wanted
    assert keywords(getattr(Branching, name)) == wanted


class Scripted:
    """Coins that fall as they are told, and keep their exponents."""

    def __init__(self, coins: list[bool]) -> None:
        self.coins, self.exponents = coins, list[Any]()

    def bernoulli_exp(self, *, exponent: Any, size: int) -> NDArray[np.bool_]:
        self.exponents.append(exponent)
        return np.array([self.coins.pop(0) for _ in range(size)])


@pytest.mark.parametrize(
    ("coins", "parts"),
    [
        ([True, True, True], [LARGEST, LARGEST, Fraction(1, 2)]),
        ([True, True, False], [LARGEST, LARGEST, Fraction(1, 2)]),
        ([True, False], [LARGEST, LARGEST]),
        ([False], [LARGEST]),
    ],
)
def test_long_exponents_are_flipped_in_parts(coins: list[bool], parts: list[Any]) -> None:
    """And no further than the first tails."""
    script: Any = Scripted([*coins])
    assert flip_exp(2 * LARGEST + Fraction(1, 2), script) is all(coins)
    assert script.exponents == parts


@pytest.mark.parametrize("exponent", [0, 1, LARGEST])
def test_short_exponents_take_one_coin(exponent: int) -> None:
    script: Any = Scripted([True])
    assert flip_exp(Fraction(exponent), script)
    assert script.exponents == [exponent]


@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(2), Fraction(11, 2), Fraction(6)])
def test_parts_are_as_likely_as_the_whole(exponent: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """With parts of 2 instead of 10^9, so that heads do occur."""
    monkeypatch.setattr("privately.mechanisms.randomness.LARGEST", 2)
    found = outcomes(lambda random: flip_exp(exponent, random), window=1)
    assert abs(found.chances[True] - mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)) < 1e-45
    assert abs(found.missing) < 1e-45


def test_no_exponent_is_too_large() -> None:
    """A single coin would be refused, and whether it is tossed may depend on the noise before it."""
    assert flip_exp(Fraction(2**63 * 1000), noise) is False
    assert flip_exp(Fraction(0), noise) is True
    with pytest.raises(ValueError, match="is above"):
        noise.bernoulli_exp(exponent=2**63, size=1)
