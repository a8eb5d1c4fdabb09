"""What is known of parameters that were tried: whether an event is made of them, and how far it is from the promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from privately.accounting import answers
from privately.accounting.events import Event
from privately.accounting.roads import nearly_log
from privately.errors import InvalidParameter, NoSuchRule, PrivatelyError
from privately.rounding import End, Interval

ROUGHLY = Fraction(1, 50)
_CERTAINLY = Fraction(1, 10**4)
"""So narrow answers need to be far from the promise, and so far from it they must be to settle on which side it is."""
_FAR = 16
"""Answers are never so wide where narrower ones are to be had."""
_PLAYED = "adaptive choices"
_MOST_SLACK = 1e-3
_LEAST = 1e-18
_SHOWN = 200

Make = Callable[[Any], Event]


class FaultyMaker(Exception):
    """What makes events failed in a way that says nothing about its parameter. Never leaves `privately.accounting`."""


class Trials:
    """Every parameter is tried once. Whole ones are ints of any size."""

    def __init__(self, make: Make, epsilon: Fraction, delta: Fraction, *, whole: bool) -> None:
        self.make, self.epsilon, self.delta, self.whole = make, epsilon, delta, whole
        self.is_rough_enough = True
        self.seen: dict[float, float] = {}
        self.narrow: dict[float, float] = {}
        self.refused: NoSuchRule | InvalidParameter | None = None
        self._rough: dict[float, float] = {}
        self._looks: dict[float, Interval] = {}
        self._slacks: dict[float, float] = {}

    def event(self, parameter: float) -> Event:
        """InvalidParameter where there is none: out of range, or where numbers leave the range of floats."""
        try:
            made: object = self.make(int(parameter) if self.whole else float(parameter))
        except PrivatelyError:
            raise
        except (ArithmeticError, ValueError) as fault:
            raise InvalidParameter("make_event", _told(fault, parameter)) from fault
        except Exception as fault:
            raise FaultyMaker(f"{_told(fault, parameter)} Mend it, and try it with a number of your own.") from fault
        if not isinstance(made, Event):
            raise FaultyMaker(
                f"what it makes of {parameter} is no event but a {type(made).__name__}; let it return one, such as "
                "acc.Laplace(scale=1)."
            )
        return made

    def exists(self, parameter: float) -> bool:
        try:
            self.event(parameter)
        except InvalidParameter:
            return False
        return True

    def excess(self, parameter: float) -> float:
        """ln of the upper end over the target: at most 0 on the safe side only."""
        if parameter not in self.narrow:
            found = self._asked(self.event(parameter))
            self.narrow[parameter] = self._noted(parameter, found.upper)
            self._slacks[parameter] = _slack(found)
        return self.narrow[parameter]

    def roughly(self, parameter: float) -> float:
        """The same from a rougher answer, where that is enough to tell on which side it is."""
        if not self.is_rough_enough:
            return self.excess(parameter)
        if parameter not in self._rough:
            found = self.looked(parameter)
            is_far = found.upper <= self.epsilon * (1 - _CERTAINLY) or found.lower > self.epsilon * (1 + _CERTAINLY)
            is_far = is_far or _FAR * self.epsilon < found.upper < math.inf  # too dear as far as one can tell
            self._rough[parameter] = self._noted(parameter, found.upper) if is_far else self.excess(parameter)
        return self._rough[parameter]

    def looked(self, parameter: float) -> Interval:
        if parameter not in self._looks:
            self._looks[parameter] = self._asked(self.event(parameter), width=ROUGHLY)
        return self._looks[parameter]

    def sketched(self, parameter: float) -> float:
        """ln of an upper end over the target that is quick where games are played, and may be far too large."""
        upper = self._asked(self.event(parameter), width=ROUGHLY, method="renyi").upper
        return nearly_log(Fraction(upper) / self.epsilon) if 0 < upper < math.inf and self.epsilon else math.inf

    def slack(self, parameter: float) -> float:
        """So far below the promise is near enough: games are played on lattices, and their ends jump."""
        return self._slacks.get(parameter, 0.0)

    def is_dearer(self, one: float, other: float) -> bool:
        """Whether epsilon is larger at one parameter than at another."""
        gap = self.roughly(one) - self.roughly(other)
        return gap > 0 if abs(gap) > 2 * ROUGHLY else self.excess(one) > self.excess(other)

    def _asked(self, event: Event, **options: Any) -> Interval:
        """Nothing is known of what no rule leads to."""
        try:
            return answers.epsilon(event, self.delta, **options)
        except (NoSuchRule, InvalidParameter) as reason:
            self.refused = self.refused or reason
            return Interval(0, math.inf, method="no road")

    def _noted(self, parameter: float, upper: End) -> float:
        excess = math.inf
        if upper <= self.epsilon:
            excess = min(nearly_log(Fraction(upper) / self.epsilon), 0.0) if upper > 0 else -math.inf
        elif self.epsilon and upper < math.inf:
            excess = max(nearly_log(Fraction(upper) / self.epsilon), _LEAST)
        self.seen[parameter] = excess
        return excess


def is_played(found: Interval) -> bool:
    """Whether steps that are chosen adaptively were played, which takes long."""
    return _PLAYED in found.method


def _slack(found: Interval) -> float:
    if not is_played(found) or not 0 < found.lower <= found.upper < math.inf:
        return 0.0
    return min(float(found.width / found.upper), _MOST_SLACK)


def _told(fault: Exception, parameter: float) -> str:
    text = f"{type(fault).__name__} for {parameter}: {fault}"
    return f"{text[:_SHOWN].rstrip('. ')}."
