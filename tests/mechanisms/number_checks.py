"""What must hold of every mechanism that adds noise to numbers."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import privately
from privately.errors import InvalidParameter
from privately.guarantees import Derivation
from privately.laws import Law
from privately.mechanisms import DiscreteGaussian, Gaussian, Laplace
from tests.mechanisms.enumeration import Distribution, Untouchable, outcomes

Numeric = Laplace | Gaussian | DiscreteGaussian
Pair = tuple[list[int], list[int]]
LITTLE = 1e-9
SEEN = 1e-12
"""Losses are compared where the window leaves out next to nothing."""

WORDS: list[Any] = [math.nan, math.inf, -1, 0, "x", None, True, [1]]
"""What is no width, no error, no confidence and no epsilon."""


class Fixed:
    """Noise of our choosing."""

    def __init__(self, *noise: int) -> None:
        self.noise = noise

    def draw(self, law: Law, *, size: int) -> NDArray[Any]:
        assert size == len(self.noise)
        kind = np.int64 if all(-(2**63) <= one < 2**63 for one in self.noise) else object
        return np.array(self.noise, kind)


def answers(mechanism: Numeric, value: Any, window: int) -> Distribution:
    return outcomes(lambda random: mechanism.run(value, random), window=window)


def number(value: Any) -> Any:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def program_agrees(mechanism: Numeric, value: Any, window: int) -> None:
    """Both draw the same, and answer the same numbers."""
    inputs = mechanism.program_inputs(value)

    def written(random: Any) -> list[Any]:
        steps = np.array(mechanism.program.run(inputs, random))
        return list(mechanism.grid.back(steps).tolist())

    run, text = answers(mechanism, value, window), outcomes(written, window=window)
    assert len(run.chances) == (2 * window + 1) ** mechanism.dimension
    assert run.farthest(text) == 0
    assert run.missing == text.missing < 1e-3


def neighbours(values: Sequence[int], dimension: int, allowed: Callable[[Sequence[int]], bool]) -> Iterator[Pair]:
    """All pairs of vectors of these values whose difference is allowed."""
    for before, after in product(product(values, repeat=dimension), repeat=2):
        if before < after and allowed([b - a for a, b in zip(before, after, strict=True)]):
            yield list(before), list(after)


def worst_loss(mechanism: Numeric, pairs: Iterator[Pair] | list[tuple[Any, Any]], window: int) -> Any:
    """The largest logarithm of a ratio, in both directions."""
    laws: dict[tuple[Any, ...], Distribution] = {}

    def law(value: Any) -> Distribution:
        if tuple(value) not in laws:
            laws[tuple(value)] = answers(mechanism, value, window)
        return laws[tuple(value)]

    both = [(law(before), law(after)) for before, after in pairs]
    return max(max(p.loss(q, above=SEEN), q.loss(p, above=SEEN)) for p, q in both)


def covers(law: Law, width: int, dimension: int, confidence: Any) -> bool:
    """Whether all of so many draws are within `width` with this confidence, by the law's own tails."""
    outside = Fraction(law.tail(width).lower) + Fraction(law.cdf(-width - 1).lower)
    return bool((1 - number(outside)) ** dimension >= number(confidence))


def interval_is_least(mechanism: Numeric, confidence: Any) -> None:
    width = (mechanism.interval(confidence) - mechanism.grid.rounding) / mechanism.grid.unit
    assert width.denominator == 1
    assert covers(mechanism.law, int(width), mechanism.dimension, confidence)
    assert width == 0 or not covers(mechanism.law, int(width) - 1, mechanism.dimension, confidence)
    stated = mechanism.accuracy(confidence=confidence)
    assert (stated.error, stated.confidence) == (mechanism.interval(confidence), Fraction(confidence))


def answers_stay_inside(mechanism: Numeric, value: list[Any], confidence: Any, window: int) -> None:
    """Not by the law but by what is answered: all entries are as close as stated, with this confidence."""
    width = mechanism.interval(confidence)
    inside = mpmath.mpf(0)
    for found, chance in answers(mechanism, value, window).chances.items():
        listed: Any = found
        if all(abs(Fraction(a) - Fraction(v)) <= width for a, v in zip(listed, value, strict=True)):
            inside += chance
    assert number(confidence) <= inside <= 1


def certified(derivation: Derivation) -> None:
    """The independent checker comes to the same conclusion."""
    report = privately.check(privately.certify(derivation))
    claimed = {name: Fraction(one.numerator, one.denominator) for name, one in report.claim.numbers.items()}
    assert report.claim.kind == type(derivation.conclusion).__name__
    assert claimed == dict(derivation.conclusion.parameters)
    assert not report.assumptions


REFUSED: dict[str, Any] = {
    "NaN": [math.nan, 1.0],
    "an infinity": [1.0, math.inf],
    "objects": np.array([1, 2], object),
    "fractions": [Fraction(1), Fraction(1, 2)],
    "empty": [],
    "a table": [[1, 2]],
    "too few": [1],
    "a number for a vector": 1,
    "ragged": [[1], [1, 2]],
    "texts": ["1", "2"],
    "booleans": [True, False],
    "complex": [1j, 1],
    "nothing": None,
}


def refuses_before_drawing(make: Callable[..., Numeric], name: str) -> None:
    """With a grid and without one."""
    for grid in (None, "1/2"):
        with pytest.raises(InvalidParameter) as caught:
            make(grid=grid, dimension=2).run(REFUSED[name], Untouchable())
        assert caught.value.field == "value"


def saturates(make: Callable[..., Numeric]) -> None:
    """At both ends of 64 bits, and nowhere before."""
    whole, halves = make(grid=None, dimension=1), make(grid="1/2", dimension=1)
    top, bottom = 2**63 - 1, -(2**63)
    cases = [
        (top, 5, top),
        (top, -5, top - 5),
        (bottom, -5, bottom),
        (bottom, 5, bottom + 5),
        (0, 2**70, top),
        (0, -(2**70), bottom),
    ]
    for value, noise, expected in cases:
        assert whole.run(value, Fixed(noise)) == expected  # type: ignore[arg-type]  # it draws from a law alone
    assert halves.run(2.0**62, Fixed(2**70)) == 2.0**62  # type: ignore[arg-type]
    assert halves.run(-1e300, Fixed(-(2**62))) == -(2.0**62)  # type: ignore[arg-type]


def answers_in_kind(make: Callable[..., Numeric]) -> None:
    """A number for a number, a vector for a vector."""
    draw: Any = Fixed(3)
    whole, halves = make(grid=None, dimension=1), make(grid="1/2", dimension=1)
    assert (whole.run(4, draw), type(whole.run(4, draw))) == (7, int)
    assert (whole.run(np.int32(4), draw), type(whole.run(np.int32(4), draw))) == (7, int)
    assert (halves.run(4.25, draw), type(halves.run(4.25, draw))) == (5.5, float)
    assert (halves.run(4, draw), type(halves.run(4, draw))) == (5.5, float)
    for vector in ([4], np.array([4]), (4,)):
        found = whole.run(vector, draw)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [7]
        assert found.dtype == np.int64
    pair: Any = Fixed(1, -1)
    found = make(grid="1/2", dimension=2).run([0.5, 1.0], pair)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [1.0, 0.5]
    assert found.dtype == np.float64
