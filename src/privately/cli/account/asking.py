"""The questions that are asked of an event, and their answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privately.cli.account.mechanisms import NOISE, Use
from privately.cli.account.numbers import option, options, rounded
from privately.errors import InvalidParameter
from privately.rounding import Interval, rational

if TYPE_CHECKING:
    from privately.accounting import Event

    Make = Callable[[object], Event]

CURVE = tuple(f"1e-{power}" for power in range(3, 13))
METHODS = {"closed-form": "closed form", "contour": "contour", "lattice": "lattice", "renyi": "renyi"}
_NAMES = {name: option(name) for name in ("delta", "epsilon", "method", "width")}
_POINTS = 40
LEAST_PLOTTED = Fraction(1, 10**300)
"""Smaller deltas are no floats that one could draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One of epsilon and delta was given, as typed; the other was found."""

    given: str
    value: str
    found: str
    interval: Interval

    @property
    def epsilon(self) -> Fraction | float:
        """The one of a pair (epsilon, delta) that holds."""
        return rational(self.value, "epsilon") if self.given == "epsilon" else self.interval.upper

    @property
    def delta(self) -> Fraction | float:
        """The other of that pair."""
        return rational(self.value, "delta") if self.given == "delta" else self.interval.upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Accountant:
    """How questions are answered: by which method, how narrowly."""

    method: str | None = None
    width: str | None = None

    def epsilons(self, event: Event, deltas: Sequence[str]) -> list[Answer]:
        """The least epsilon at each delta."""
        return [
            Answer(given="delta", value=delta, found="epsilon", interval=self._ask("epsilon", event, delta))
            for delta in deltas
        ]

    def deltas(self, event: Event, epsilons: Sequence[str]) -> list[Answer]:
        """The least delta at each epsilon."""
        return [
            Answer(given="epsilon", value=epsilon, found="delta", interval=self._ask("delta", event, epsilon))
            for epsilon in epsilons
        ]

    def _ask(self, wanted: str, event: Event, value: str) -> Interval:
        from privately import accounting

        settings: dict[str, Any] = {} if self.width is None else {"width": self.width}
        if self.method is not None:
            if self.method not in METHODS:
                raise InvalidParameter("--method", f"must be one of {', '.join(METHODS)}.")
            settings["method"] = METHODS[self.method]
        with options(_NAMES):
            answer: Interval = getattr(accounting, wanted)(event, value, **settings)
            return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The option that was found for a target, and its value as it can be typed."""

    option: str
    value: str
    target: str
    delta: str


def calibrated(use: Use, *, target: str, delta: str, find: str | None) -> tuple[Use, Found]:
    """The same use with one option such that epsilon is at most `target` at `delta`, and hardly less."""
    from privately import accounting

    name = _sought(use, find)
    goal = rational(target, "--target-epsilon", minimum=0)
    whole = name == "steps"

    def made(value: object) -> Event:
        return use.put(name, value).event()

    try:
        with options({"delta": "--delta", "epsilon": "--target-epsilon"}):
            value = accounting.calibrate(made, epsilon=goal, delta=delta, whole=whole)
    except InvalidParameter as fault:
        if fault.field != "make_event":
            raise
        raise InvalidParameter(option(name), f"none was found that just keeps epsilon at {target}.") from None
    text = str(int(value)) if whole else _short(made, value, upward=name in NOISE, goal=goal, delta=delta)
    return use.put(name, text), Found(option=option(name), value=text, target=target, delta=delta)


def plotted(deltas: Sequence[str]) -> list[str]:
    """The deltas of a plot: from 1e-12 to 1e-3 and as far as any of these, which may lie between."""
    exact = [rational(delta, "--delta") for delta in (*deltas, CURVE[0], CURVE[-1])]
    shown = [value for value in exact if LEAST_PLOTTED <= value < 1]
    first, last = math.floor(_log10(min(shown))), math.ceil(_log10(max(shown)))
    step = math.ceil((last - first) / _POINTS)
    leading = (1, 2, 5) if last - first <= 15 else (1,)
    listed = [f"{digit}e{power}" for power in range(first, last, step) for digit in leading]
    return [*listed, f"1e{last}"] if last < 0 else listed


def _sought(use: Use, find: str | None) -> str:
    allowed = (use.mechanism.sought, "rate", "steps")
    name = use.mechanism.sought if find is None else find.removeprefix("--").replace("-", "_")
    if name not in allowed:
        choices = ", ".join(option(one).removeprefix("--") for one in allowed)
        raise InvalidParameter("--find", f"must be one of {choices}.")
    if use.given(name) is not None:
        raise InvalidParameter(option(name), "is to be found; leave it out, or name another with --find.")
    return name


def _short(made: Make, value: float, *, upward: bool, goal: Fraction, delta: str) -> str:
    """As few digits on the safe side as do keep the promise."""
    from privately import accounting

    for digits in (6, 9, 12, 17):
        text = rounded(value, digits, upward=upward)
        if accounting.epsilon(made(text), delta).upper <= goal:
            return text
    return str(Fraction(value))


def _log10(value: Fraction) -> float:
    return math.log10(value.numerator) - math.log10(value.denominator)
