"""All ways through a run, one by one: draws are choices, each with its share. Nothing here is known to the prover.

Shares of laws without end, or with exponentials in them, are fractions that are right to `DIGITS` digits. What is less
likely than a cut is not looked into: its mass is counted as lost, and may belong to any output.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from itertools import count, product
from math import factorial
from typing import Any, TypeAlias

DIGITS = 60
CUT = Fraction(1, 10**7)
MOST_WAYS, MOST_ROUNDS, LONGEST_LIST = 2000, 300, 500
FAILED = "failed"
"""The output of a run that ends with an error, or without any output."""

Options: TypeAlias = Iterable[tuple[Any, Fraction]]
"""Values and shares: a list, or, where they have no end, shares that fall."""


class TooMany(Exception):
    """More ways, rounds or entries than there is time for."""


class Excluded(Exception):
    """An input for which an assumption of the program fails."""


class _Cut(Exception):
    """All that could come now is too unlikely."""


@dataclass
class Law:
    """Masses of outputs; each may have up to `lost` more than is said."""

    masses: dict[Any, Fraction] = field(default_factory=dict)
    lost: Fraction = Fraction(0)
    rounded: bool = False

    @property
    def exact(self) -> bool:
        """Whether every mass is the probability itself."""
        return not self.lost and not self.rounded

    @property
    def fails(self) -> bool:
        """Whether some run has no output."""
        return self.masses.get(FAILED, 0) > 0


class Ways:
    """Goes all ways through a run, and draws in it."""

    def __init__(self, cut: Fraction = CUT) -> None:
        self.cut = cut
        self.law = Law()
        self.made: list[tuple[int, list[tuple[Any, Fraction]]]] = []
        """For every draw of this run: which of its likely values, with the mass of the run up to there, it has."""
        self.depth = self.rounds = self.all_rounds = 0
        self.mass = Fraction(1)

    def tick(self) -> None:
        """Another round of some loop."""
        self.rounds += 1
        self.all_rounds += 1
        if self.rounds > MOST_ROUNDS or self.all_rounds > 10 * MOST_WAYS:
            raise TooMany

    def drawn(self, law: str, *given: Any) -> Any:
        """A draw from a named law; the law is looked at when a way comes there first."""
        if self.depth == len(self.made):
            exact, options = LAWS[law](*(Fraction(one) for one in given))
            self.law.rounded |= not exact
            likely = self._likely(options)
            if not likely:
                raise _Cut
            self.made.append((0, likely))
        place, known = self.made[self.depth]
        self.depth += 1
        value, self.mass = known[place]
        return list(value) if isinstance(value, tuple) else value

    def _likely(self, options: Options) -> list[tuple[Any, Fraction]]:
        found, rest = [], self.mass
        for value, share in options:
            mass = self.mass * share
            if share and mass >= self.cut:
                found.append((value, mass))
                rest -= mass
            elif not isinstance(options, list):
                break
        self.law.lost += rest
        return found

    def all(self, run: Callable[[], Any]) -> Law:
        """The law of what the run gives."""
        for _ in range(MOST_WAYS):
            self.depth = self.rounds = 0
            self.mass = Fraction(1)
            output: Any = FAILED
            try:
                output = frozen(run())
            except _Cut:
                output = None
            except (TooMany, Excluded):
                raise
            except Exception:  # noqa: BLE001 - whatever it is, the run has no output
                output = FAILED
            if output is not None:
                self.law.masses[output] = self.law.masses.get(output, Fraction(0)) + self.mass
            if not self._next():
                return self.law
        raise TooMany

    def _next(self) -> bool:
        del self.made[self.depth :]
        while self.made:
            place, known = self.made.pop()
            if place + 1 < len(known):
                self.made.append((place + 1, known))
                return True
        return False

    def samplers(self) -> dict[str, Callable[..., Any]]:
        """Every law by its name, as choices."""
        return {name: partial(self.drawn, name) for name in LAWS}


def frozen(value: Any) -> Any:
    """An output: lists and tuples are the same, and True is 1. No value is no output."""
    if isinstance(value, list | tuple):
        return tuple(map(frozen, value))
    if value is None or isinstance(value, float | str):
        raise TypeError
    return Fraction(value)


def _flip(probability: Fraction = Fraction(1, 2)) -> tuple[bool, Options]:
    if not 0 <= probability <= 1:
        raise ValueError
    return True, [(1, probability), (0, 1 - probability)]


def _flip_exp(exponent: Fraction) -> tuple[bool, Options]:
    return exponent == 0, _flip(exponential(exponent))[1]


def _whole(value: Fraction, least: int) -> int:
    if value.denominator != 1 or value < least:
        raise ValueError
    if value > LONGEST_LIST:
        raise TooMany
    return int(value)


def _uniform(upper: Fraction) -> tuple[bool, Options]:
    number = _whole(upper, 1)
    return True, [(value, Fraction(1, number)) for value in range(number)]


def _uniform_bits(length: Fraction) -> tuple[bool, Options]:
    size = _whole(length, 0)
    return True, [(bits, Fraction(1, 2**size)) for bits in product((0, 1), repeat=size)]


def _geometric(success: Fraction) -> tuple[bool, Options]:
    if not 0 < success <= 1:
        raise ValueError
    return True, ((k, success * (1 - success) ** k) for k in count())


def _discrete_exponential(scale: Fraction) -> tuple[bool, Options]:
    return False, _geometric(1 - exponential(1 / _positive(scale)))[1]


def _discrete_laplace(scale: Fraction) -> tuple[bool, Options]:
    ratio = exponential(1 / _positive(scale))
    centre = (1 - ratio) / (1 + ratio)
    return False, ((k * sign, centre * ratio**k) for k in count() for sign in ((1, -1) if k else (1,)))


def _positive(scale: Fraction) -> Fraction:
    if scale <= 0:
        raise ValueError
    return scale


LAWS: dict[str, Callable[..., tuple[bool, Options]]] = {
    "flip": _flip,
    "flip_exp": _flip_exp,
    "uniform": _uniform,
    "uniform_bits": _uniform_bits,
    "geometric": _geometric,
    "discrete_exponential": _discrete_exponential,
    "discrete_laplace": _discrete_laplace,
}
"""Each law: whether its shares are exact, and its values with their shares."""


@cache
def exponential(exponent: Fraction) -> Fraction:
    """exp(-exponent) to `DIGITS` digits: one over the series of exp, which has no differences in it."""
    if exponent < 0:
        raise ValueError
    halvings = 0
    while exponent > 1:
        exponent, halvings = exponent / 2, halvings + 1
    series = sum((exponent**k / factorial(k) for k in range(2 * DIGITS)), Fraction(0))
    return Fraction(round(1 / series ** (2**halvings), DIGITS))
