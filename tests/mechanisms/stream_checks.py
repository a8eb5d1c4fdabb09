"""Small streams, which of them are neighbours, and noise that is known."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from privately.guarantees import GaussianDP
from privately.laws import Law
from privately.mechanisms import Mechanism
from tests.mechanisms.enumeration import Distribution, outcomes
from tests.mechanisms.tables import real

Stream = tuple[int, ...]

LIKELY = 1e-5
"""Losses are compared where the window leaves out next to nothing."""


class Scripted:
    """Noise from a list, in its order."""

    def __init__(self, noise: Sequence[int]) -> None:
        self._noise = list(noise)

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        drawn, self._noise = self._noise[:size], self._noise[size:]
        assert len(drawn) == size
        return np.array(drawn, np.int64)

    @property
    def used_up(self) -> bool:
        return not self._noise


def neighbours(values: Sequence[int], length: int, *, change: int) -> Iterator[tuple[Stream, Stream]]:
    """All streams of these values in which one item differs by at most `change`."""
    for stream in product(values, repeat=length):
        for place, value in product(range(length), values):
            if 0 < abs(value - stream[place]) <= change:
                yield stream, (*stream[:place], value, *stream[place + 1 :])


def law(mechanism: Mechanism, stream: Sequence[int], window: int) -> Distribution:
    return outcomes(lambda randomness: mechanism.run(list(stream), randomness), window=window)


def text_law(mechanism: Mechanism, stream: Sequence[int], window: int) -> Distribution:
    inputs = mechanism.program_inputs(list(stream))
    return outcomes(lambda randomness: mechanism.program.run(inputs, randomness), window=window)


def worst_loss(mechanism: Mechanism, pairs: Iterator[tuple[Stream, Stream]], window: int) -> Any:
    """The largest privacy loss of all pairs, over answers that are likely enough."""
    laws: dict[Stream, Distribution] = {}

    def known(stream: Stream) -> Distribution:
        if stream not in laws:
            laws[stream] = law(mechanism, stream, window)
        return laws[stream]

    return max(known(one).loss(known(other), above=LIKELY) for one, other in pairs)


def same(one: Distribution, other: Distribution, digits: int = 9) -> bool:
    """Whether two laws agree, with answers rounded to so many digits."""
    first, second = _rounded(one, digits), _rounded(other, digits)
    return first.keys() == second.keys() and all(abs(first[a] - second[a]) < mpmath.mpf(10) ** -25 for a in first)


def _rounded(law: Distribution, digits: int) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for answer, chance in law.chances.items():
        key = tuple(round(float(part), digits) + 0.0 for part in answer)  # type: ignore[attr-defined]
        found[key] = found.get(key, 0) + chance
    return found


def chance_of_error(law: Distribution, truth: Sequence[float], width: float, *, only: int | None = None) -> Any:
    """How likely it is that an answer, or the one at a place, is further off than `width`; what is missing included."""
    places = range(len(truth)) if only is None else [only]
    good = sum(
        chance
        for answer, chance in law.chances.items()
        if all(abs(answer[place] - truth[place]) <= width for place in places)  # type: ignore[index]
    )
    return 1 - good


def excess_over(claim: GaussianDP, one: Distribution, other: Distribution) -> Any:
    """By how much some delta exceeds that of the claim; what the windows miss is counted against it."""
    return max(
        one.excess(other, mpmath.mpf(epsilon)) + one.missing - real(Fraction(claim.delta(epsilon=epsilon).upper))
        for epsilon in ("0", "0.25", "1", "2", "4")
    )
