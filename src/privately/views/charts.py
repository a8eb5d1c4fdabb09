"""Line charts as SVG: the same bytes for the same data, readable without colours and by screen readers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.views.elements import GRID, INK, cut, head, rule, words
from privately.views.ticks import decades, linear_ticks

Point: TypeAlias = tuple[float, float]

WIDTH, HEIGHT = 720, 460
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 76, 64
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Told apart with any kind of colour vision (Okabe and Ito); lines differ in their dashes too."""

DASHES = ("", "7 4", "2 3", "9 3 2 3")
SHADE = "#cfe3f1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear or logarithmic axis with its label. A linear one always shows 0."""

    label: str
    logarithmic: bool = False

    def ends(self, values: list[float]) -> tuple[float, float]:
        """From where to where it goes."""
        low, high = min(values), max(values)
        if self.logarithmic:
            return (low, high) if low < high else (low / 10, high * 10)
        low, high = min(low, 0.0), max(high, 0.0)
        return (low, low + 1.05 * (high - low)) if low < high else (low, low + 1.0)

    def place(self, value: float, low: float, high: float) -> float:
        """Where a value lies between the ends: from 0 to 1."""
        if self.logarithmic:
            return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
        return (value - low) / (high - low)

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        """Round values with their texts."""
        if self.logarithmic:
            return [(float(f"1e{power}"), f"1e{power}" if power else "1") for power in decades(low, high)]
        return [(value, f"{value:g}") for value in linear_ticks(low, high)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Points joined by a line, with a name for the legend."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One point with a text beside it."""

    text: str
    point: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Lines over two axes. `shaded` is the outline of an area, such as all that lies between two of the lines.

    >>> line = Line(name="growth", points=((0, 1), (1, 2)))
    >>> chart = Chart(title="A & B", x=Axis(label="year"), y=Axis(label="value"), lines=(line,))
    >>> "<title>A &amp; B</title>" in chart.svg()
    True
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    subtitle: str = ""
    marks: tuple[Mark, ...] = ()
    shaded: tuple[Point, ...] = ()
    _ends: tuple[Point, Point] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        points = [point for line in self.lines for point in line.points] + [mark.point for mark in self.marks]
        points += self.shaded
        if not points:
            raise InvalidParameter("lines", "there is nothing to draw; give at least one point.")
        if not all(math.isfinite(number) for point in points for number in point):
            raise InvalidParameter("lines", "only finite points can be drawn.")
        for axis, values in ((self.x, [x for x, _ in points]), (self.y, [y for _, y in points])):
            if axis.logarithmic and min(values) <= 0:
                raise InvalidParameter("lines", f"{axis.label}: a logarithmic axis shows positive values only.")
        ends = self.x.ends([x for x, _ in points]), self.y.ends([y for _, y in points])
        object.__setattr__(self, "_ends", ends)

    def svg(self) -> str:
        """The whole document."""
        return "\n".join([*self._elements(), "</svg>", ""])

    def _elements(self) -> Iterator[str]:
        described = "; ".join(filter(None, [self.subtitle, *(mark.text for mark in self.marks)]))
        yield from head(WIDTH, HEIGHT, title=self.title, about=described)
        yield words(LEFT, 26, cut(self.title, 70), size=16, weight="bold")
        yield words(LEFT, 46, cut(self.subtitle, 105), size=11)
        yield from self._axes()
        if self.shaded:
            yield f'<polygon points="{self._path(self.shaded)}" fill="{SHADE}"/>'
        for number, line in enumerate(self.lines):
            yield f'<polyline points="{self._path(line.points)}" fill="none" {_stroke(number)}/>'
            yield from _legend(number, line.name)
        for mark in self.marks:
            yield from self._mark(mark)

    def _axes(self) -> Iterator[str]:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value, text in self.x.ticks(*self._ends[0]):
            across = self._across(value)
            yield rule(across, TOP, across, bottom, GRID)
            yield words(across, bottom + 18, text, anchor="middle")
        for value, text in self.y.ticks(*self._ends[1]):
            down = self._down(value)
            yield rule(LEFT, down, right, down, GRID)
            yield words(LEFT - 8, down + 4, text, anchor="end")
        yield rule(LEFT, bottom, right, bottom, INK)
        yield rule(LEFT, TOP, LEFT, bottom, INK)
        yield words((LEFT + right) / 2, HEIGHT - 20, self.x.label, anchor="middle")
        middle = (TOP + bottom) / 2
        yield words(20, middle, self.y.label, anchor="middle", turn=f' transform="rotate(-90 20 {middle:g})"')

    def _mark(self, mark: Mark) -> Iterator[str]:
        across, down = self._across(mark.point[0]), self._down(mark.point[1])
        on_the_right = across < (LEFT + WIDTH - RIGHT) / 2
        yield f'<circle cx="{across:.2f}" cy="{down:.2f}" r="4" fill="{INK}"/>'
        # Above and to the right of the point, or below and to the left: clear of a line that falls.
        beside = (across + 8, down - 8, "start") if on_the_right else (across - 8, down + 18, "end")
        yield words(beside[0], beside[1], cut(mark.text, 50), anchor=beside[2])

    def _path(self, points: tuple[Point, ...]) -> str:
        return " ".join(f"{self._across(x):.2f},{self._down(y):.2f}" for x, y in points)

    def _across(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * self.x.place(value, *self._ends[0])

    def _down(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self.y.place(value, *self._ends[1])


def _legend(number: int, name: str) -> Iterator[str]:
    left = LEFT + 170 * number
    line = f'<line x1="{left}" y1="62" x2="{left + 28}" y2="62" {_stroke(number)}/>'
    yield line
    yield words(left + 34, 66, cut(name, 20), size=12)


def _stroke(number: int) -> str:
    dash = DASHES[number % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2"{dashed}'
