"""An oracle for noise without end: Python runs the text for all draws of a window; the rest is known to be small."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import count
from math import exp
from typing import Any

from tests.proving.ways import frozen


class _Ask(Exception):
    """A draw that has not been made yet."""

    def __init__(self, options: list[tuple[int, Fraction]]) -> None:
        super().__init__()
        self.options = options


def law_in_window(source: str, inputs: Mapping[str, Any], width: int) -> tuple[dict[Any, Fraction], Fraction]:
    """Output -> the probability of reaching it by draws below the width; and the probability of all other draws."""
    made: list[int] = []
    place = count()

    def choose(options: list[tuple[int, Fraction]]) -> int:
        at = next(place)
        if at == len(made):
            raise _Ask(options)
        return made[at]

    def geometric(success: Any) -> int:
        rate = Fraction(success).limit_denominator(1000)
        return choose([(k, rate * (1 - rate) ** k) for k in range(width)])

    def discrete_exponential(scale: Any) -> int:
        ratio = Fraction(exp(-1 / scale))
        return choose([(k, (1 - ratio) * ratio**k) for k in range(width)])

    def discrete_laplace(scale: Any) -> int:
        ratio = Fraction(exp(-1 / scale))
        return choose([(k, (1 - ratio) / (1 + ratio) * ratio ** abs(k)) for k in range(-width, width + 1)])

    names: dict[str, Any] = {
        "geometric": geometric,
        "discrete_exponential": discrete_exponential,
        "discrete_laplace": discrete_laplace,
    }
    exec(compile(source, "<program>", "exec"), names)
    function = names[source.split("def ", 1)[1].split("(", 1)[0].strip()]
    law: dict[Any, Fraction] = {}
    waiting: list[tuple[list[int], Fraction]] = [([], Fraction(1))]
    while waiting:
        made, mass = waiting.pop()
        place = count()
        try:
            output = frozen(function(**inputs))
        except _Ask as ask:
            waiting += [([*made, value], mass * share) for value, share in ask.options]
        else:
            law[output] = law.get(output, Fraction(0)) + mass
    return law, Fraction(1 - sum(law.values()))
