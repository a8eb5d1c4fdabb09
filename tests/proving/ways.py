"""An oracle that shares nothing with the library: Python runs the text, once for every way the coins can fall."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any


class _Ask(Exception):
    """A choice that has not been made yet."""

    def __init__(self, options: list[tuple[Any, Fraction]]) -> None:
        super().__init__()
        self.options = options


class TooMany(Exception):
    """More ways than there is time for."""


def law_by_running(source: str, inputs: Mapping[str, Any], most: int = 20_000) -> dict[Any, Fraction]:
    """Output -> probability, for a text with one function that draws from finite laws."""
    law: dict[Any, Fraction] = {}
    ways = 0
    waiting: list[tuple[tuple[Any, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        made, mass = waiting.pop()
        ways += 1
        if ways > most:
            raise TooMany
        try:
            output = frozen(_run(source, inputs, iter(made)))
        except _Ask as ask:
            waiting += [((*made, value), mass * share) for value, share in ask.options if share]
            continue
        law[output] = law.get(output, Fraction(0)) + mass
    return law


def _run(source: str, inputs: Mapping[str, Any], made: Any) -> Any:
    def choose(options: list[tuple[Any, Fraction]]) -> Any:
        for value in made:
            return value
        raise _Ask(options)

    def flip(probability: Any = Fraction(1, 2)) -> bool:
        heads = Fraction(probability).limit_denominator(1000)  # Python divides in floats
        return bool(choose([(True, heads), (False, 1 - heads)]))

    def uniform(upper: int) -> int:
        return int(choose([(value, Fraction(1, upper)) for value in range(upper)]))

    def uniform_bits(length: int) -> list[int]:
        return list(choose([(bits, Fraction(1, 2**length)) for bits in product((0, 1), repeat=length)]))

    names: dict[str, Any] = {
        "flip": flip,
        "uniform": uniform,
        "uniform_bits": uniform_bits,
        "Fraction": Fraction,
        **dict.fromkeys(("replaced", "each", "one", "whole", "assume", "added", "between", "anything"), _nothing),
    }
    exec(compile(source, "<program>", "exec"), names)
    function: Callable[..., Any] = names[_name(source)]
    return function(**{name: list(value) if isinstance(value, tuple) else value for name, value in inputs.items()})


def _name(source: str) -> str:
    return source.split("def ", 1)[1].split("(", 1)[0].strip()


def _nothing(*_: Any) -> None:
    return None


def frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(frozen(one) for one in value) if isinstance(value, (list, tuple)) else value
