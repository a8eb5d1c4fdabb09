"""Random programs from the grammar, for comparing with Python itself."""

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.proving.ways import TooMany, law_by_running


def random_program(seed: int) -> str:
    """A text of about a dozen statements over a, b, c and a list; every loop ends."""
    chance = random.Random(seed)
    lines = ["def f(x, y):", "    a = 0", "    b = y", "    c = 1", "    out = []"]
    lines += _block(chance, 1, 3)
    lines.append("    return [a, b, c, out]")
    return "\n".join(lines) + "\n"


def small_program(seed: int, inputs: Mapping[str, Any]) -> tuple[str, dict[Any, Fraction]]:
    """The first random program from this seed on with at most a thousand ways, and its law."""
    while True:
        text = random_program(seed)
        try:
            return text, law_by_running(text, inputs, most=1000)
        except TooMany:
            seed += 1000


def _block(chance: random.Random, depth: int, most: int) -> list[str]:
    indent = "    " * depth
    lines: list[str] = []
    for _ in range(chance.randint(1, most)):
        lines += [indent + line for line in _statement(chance, depth)]
    return lines


def _statement(chance: random.Random, depth: int) -> list[str]:
    kind = chance.randrange((9, 7, 5)[depth - 1])
    name = chance.choice("abc")
    if kind == 0:
        return [f"{name} = {_number(chance)}"]
    if kind == 1:
        return [f"{name} += {_number(chance)}"]
    if kind == 2:
        return [f"out.append({_number(chance)})"]
    if kind == 3:
        return [f"{name} = {_noise(chance)}"]
    if kind == 4:
        return [f"{name} = {_number(chance)} if {_condition(chance)} else {_noise(chance)}"]
    inner = [line[4 * depth :] for line in _block(chance, depth + 1, 2)]
    if kind in {5, 6}:
        other = [line[4 * depth :] for line in _block(chance, depth + 1, 2)]
        return [f"if {_condition(chance)}:", *inner, "else:", *other]
    counter = f"i{depth}{chance.randrange(1000)}"
    if kind == 7:
        leave = [f"    if {_condition(chance)}:", f"        {chance.choice(['break', 'continue'])}"]
        return [f"for {counter} in range({chance.randint(1, 2)}):", *leave, *inner]
    return [f"{counter} = 0", f"while {counter} < 2 and {_condition(chance)}:", f"    {counter} += 1", *inner]


def _number(chance: random.Random) -> str:
    return chance.choice(
        ["a", "b", "c", "x[0]", "x[1] - b", "a + c", "2 * b - a", "max(a, b)", "len(out)", "y + 1", "-c"]
    )


def _noise(chance: random.Random) -> str:
    return chance.choice(["uniform(2)", "x[0] + uniform(2)", "int(flip(1/3))", "a + uniform(3)"]).replace(
        "int(flip(1/3))", "1 if flip(1/3) else 0"
    )


def _condition(chance: random.Random) -> str:
    return chance.choice(
        [
            "a < b",
            "not b <= c",
            "flip()",
            "x[0] == 1",
            "a >= 1 or flip(1/4)",
            "flip(2/3) and c != a",
            "y > 0",
            "not flip()",
        ]
    )
