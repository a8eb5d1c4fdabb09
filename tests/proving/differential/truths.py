"""What is true of a program: the laws of all its neighbours by enumeration, and how far they are apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from tests.proving.differential.choices import DIGITS, Excluded, Law
from tests.proving.differential.neighbours import neighbours
from tests.proving.differential.signatures import Drawn

Running: TypeAlias = Callable[[str, Mapping[str, Any]], Law]
"""A text and its inputs in, the law of its output out."""

SLACK = Fraction(1, 10 ** (DIGITS // 2))
"""What a mass may be off, where it is rounded."""


@dataclass(frozen=True)
class Truth:
    """All neighbours that meet the assumptions, and their laws."""

    pairs: list[tuple[Law, Law]]
    laws: dict[Any, Law]

    @property
    def exact(self) -> bool:
        """Whether all masses are probabilities."""
        return all(law.exact for law in self.laws.values())

    @property
    def fails(self) -> bool:
        """Whether some run of some neighbour has no output."""
        return any(law.fails for pair in self.pairs for law in pair)

    def law(self, inputs: Mapping[str, Any]) -> Law:
        """That of one input."""
        return self.laws[_key(inputs)]

    def largest(self) -> Fraction | None:
        """The largest ratio, None if it is infinite; less than that, where masses are lost."""
        best = Fraction(1)
        for one, other in self.pairs:
            slack = other.lost + (SLACK if other.rounded else 0)
            for output, mass in one.masses.items():
                most = other.masses.get(output, Fraction(0)) + slack
                if not most:
                    return None
                best = max(best, (mass - (SLACK if one.rounded else 0)) / most)
        return best

    def delta(self, ratio: Fraction) -> tuple[Fraction, Fraction]:
        """The least delta for e^epsilon = ratio, between two numbers."""
        low = high = Fraction(0)
        for one, other in self.pairs:
            masses = other.masses
            over = sum(max(Fraction(0), mass - ratio * masses.get(out, 0)) for out, mass in one.masses.items())
            slack = SLACK * (1 + ratio) * len(one.masses) if one.rounded or other.rounded else Fraction(0)
            low, high = max(low, over - ratio * other.lost - slack), max(high, over + one.lost + slack)
        return low, high


def truth_of(drawn: Drawn, running: Running) -> Truth:
    """By running the text for every neighbour."""
    laws: dict[Any, Law | None] = {}

    def law(inputs: Mapping[str, Any]) -> Law | None:
        key = _key(inputs)
        if key not in laws:
            try:
                laws[key] = running(drawn.text, {**drawn.public, **inputs})
            except Excluded:
                laws[key] = None
        return laws[key]

    pairs = [(law(one), law(other)) for one, other in neighbours(drawn.private, drawn.sizes)]
    found = [(one, other) for one, other in pairs if one is not None and other is not None]
    return Truth(found, {key: one for key, one in laws.items() if one is not None})


def _key(inputs: Mapping[str, Any]) -> Any:
    return tuple(sorted(inputs.items()))
