"""Events of witnesses, read from their words: what the prover says is what counts, not what it means."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from tests.proving.differential.choices import FAILED, Law, frozen

FARTHEST = 40
"""Values of a letter; farther out everything is lost anyway."""


def event_mass(law: Law, event: str) -> tuple[float, float]:
    """How likely an event in words is, between two numbers."""
    inside = float(sum(mass for output, mass in law.masses.items() if output != FAILED and happened(event, output)))
    return inside, inside + float(law.lost)


def happened(event: str, output: Any) -> bool:
    """Whether an output is meant by the words of an event: `output 3 or more`, `output [1, 2]`, `output[0] >= 2`, or
    `output [3 + i, i], i from 0 on`."""
    if event.endswith(" from 0 on"):
        return output in _lettered(event)
    if re.fullmatch(r"output (is )?[-\d\[].*", event):
        return _matches(event.removeprefix("output "), output)
    length = re.match(r"output is a list of (\d+)(?: with )?", event)
    if (length is None) is isinstance(output, tuple) or (length and int(length[1]) != len(output)):
        return False
    conditions = event[length.end() :] if length else event.replace("output is a number", "")
    try:
        return all(_holds(one, {"output": output}) for one in conditions.split(", ") if one)
    except (TypeError, IndexError):
        return False


@cache
def _lettered(event: str) -> frozenset[Any]:
    """All outputs that letters stand for."""
    words, letters = event.removeprefix("output ").removesuffix(" from 0 on").rsplit("], ", 1)
    names = letters.split(" and ")
    expression = compile(_exact(f"{words}]"), "<event>", "eval")
    places = product(range(FARTHEST), repeat=len(names))
    return frozenset(
        frozen(eval(expression, {"Fraction": Fraction}, dict(zip(names, one, strict=True)))) for one in places
    )


def _exact(words: str) -> str:
    return re.sub(r"(\d+)/(\d+)", r"Fraction(\1, \2)", words)


def _holds(condition: str, names: Mapping[str, Any]) -> bool:
    return bool(eval(_exact(condition), {"Fraction": Fraction}, dict(names)))


def _matches(words: str, output: Any) -> bool:
    """A value as it is shown, in which a number may stand for itself and all that follow."""
    parts, entries = _split(words), output
    if (parts is None) is isinstance(output, tuple):
        return False
    if parts is not None:
        return len(parts) == len(entries) and all(map(_matches, parts, entries))
    if "..." in words:
        first, second, *_ = map(Fraction, words.removesuffix(", ...").split(", "))
        steps = (output - first) / (second - first)
        return bool(steps >= 0 and steps.denominator == 1)
    number = Fraction(words.split(" ", 1)[0])
    gap = output - number
    if words.endswith("or more"):
        return bool(gap >= 0 and gap.denominator == 1)
    return bool(gap <= 0 and gap.denominator == 1) if words.endswith("or less") else bool(gap == 0)


def _split(words: str) -> list[str] | None:
    """The entries of a list in words, or None for a number."""
    if not words.startswith("["):
        return None
    found, depth = [""], 0
    for letter in words[1:-1]:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found] if words != "[]" else []
