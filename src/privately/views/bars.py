"""Bar charts with error bars as SVG: one row for each bar, its name on the left, its value in words on the right."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from privately.errors import InvalidParameter
from privately.views.elements import GRID, INK, cut, head, rule, words
from privately.views.ticks import linear_ticks

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720, 170, 150, 68, 54
ROW, THICK, CAP = 30, 18, 4
LETTER, MOST_LETTERS = 8, 30
"""How wide a character is at most, and how many of them may stand on the right."""
MOST = 60
"""Bars; more would be no picture."""

_MOST_TICKS = 6
_FILL = "#8fc1e0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A value with its error bar; without a value only its name and text are shown."""

    name: str
    value: float | None
    lower: float | None = None
    upper: float | None = None
    text: str = ""

    @property
    def numbers(self) -> list[float]:
        """All that must have room."""
        return [one for one in (self.value, self.lower, self.upper) if one is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Bars from 0 on, along one axis.

    >>> chart = BarChart(title="Visits", label="visits", bars=(Bar(name="A", value=3, lower=2, upper=4),))
    >>> "<title>Visits</title>" in chart.svg()
    True
    """

    title: str
    label: str
    bars: tuple[Bar, ...]
    subtitle: str = ""

    def __post_init__(self) -> None:
        if not 0 < len(self.bars) <= MOST:
            raise InvalidParameter("bars", f"there must be between 1 and {MOST} of them.")
        for bar in self.bars:
            if not all(math.isfinite(one) for one in bar.numbers):
                raise InvalidParameter("bars", "only finite numbers can be drawn.")
            if (bar.lower is None) != (bar.upper is None):
                raise InvalidParameter("bars", "an error bar has two ends.")

    @property
    def height(self) -> int:
        return TOP + ROW * len(self.bars) + BOTTOM

    @property
    def right(self) -> int:
        """The room for the values in words: a number that is cut would be another one."""
        longest = max(len(bar.text) for bar in self.bars)
        return max(RIGHT, 24 + LETTER * min(longest, MOST_LETTERS))

    def svg(self) -> str:
        """The whole document."""
        return "\n".join([*self._elements(), "</svg>", ""])

    def _elements(self) -> Iterator[str]:
        told = "; ".join(f"{bar.name}: {bar.text or bar.value}" for bar in self.bars)
        yield from head(WIDTH, self.height, title=self.title, about=f"{self.subtitle}; {told}")
        yield words(16, 26, cut(self.title, 75), size=16, weight="bold")
        yield words(16, 46, cut(self.subtitle, 115), size=11)
        bottom = self.height - BOTTOM
        for value in self._ticks():
            across = self._across(value)
            yield rule(across, TOP, across, bottom, GRID)
            yield words(across, bottom + 18, _tick(value), anchor="middle")
        yield words((LEFT + WIDTH - self.right) / 2, bottom + 40, cut(self.label, 60), anchor="middle")
        for place, bar in enumerate(self.bars):
            yield from self._row(bar, TOP + ROW * place + ROW / 2)
        zero = self._across(0)
        yield rule(zero, TOP, zero, bottom, INK)

    def _ticks(self) -> list[float]:
        """As many as have room for their numbers."""
        found = list[float]()
        for most in range(_MOST_TICKS, 1, -1):
            found = list(linear_ticks(*self._ends(), most=most))
            room = LETTER * (1 + max((len(_tick(one)) for one in found), default=0))
            if all(self._across(later) - self._across(one) >= room for one, later in pairwise(found)):
                break
        return found

    def _row(self, bar: Bar, middle: float) -> Iterator[str]:
        yield words(LEFT - 10, middle + 4, cut(bar.name, 20), anchor="end")
        yield words(WIDTH - 16, middle + 4, cut(bar.text, MOST_LETTERS), anchor="end")
        if bar.value is None:
            return
        start, end = sorted((self._across(0), self._across(bar.value)))
        yield (
            f'<rect x="{start:.2f}" y="{middle - THICK / 2:.2f}" width="{end - start:.2f}" height="{THICK}"'
            f' fill="{_FILL}"/>'
        )
        if bar.lower is not None and bar.upper is not None:
            low, high = self._across(bar.lower), self._across(bar.upper)
            yield rule(low, middle, high, middle, INK)
            yield from (rule(at, middle - CAP, at, middle + CAP, INK) for at in (low, high))

    def _ends(self) -> tuple[float, float]:
        numbers = [0.0, *(one for bar in self.bars for one in bar.numbers)]
        low, high = min(numbers), max(numbers)
        return (low, high) if low < high else (low, low + 1.0)

    def _across(self, value: float) -> float:
        low, high = self._ends()
        return LEFT + (WIDTH - LEFT - self.right) * (value / (high - low) - low / (high - low))


def _tick(value: float) -> str:
    return f"{value:,.10g}" if abs(value) < 1e10 else f"{value:g}"
