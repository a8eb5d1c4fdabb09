"""Random programs with lists and parts that may fail, and which inputs make them fail: all ways, one by one."""

import random
from collections.abc import Iterator
from functools import partial

from privately.errors import NotSupported
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.running import Run

FAILING = (
    "1/x",
    "[1, 2][2*x]",
    "min([v for v in [1] if v == x])",
    "2 % (1 - x)",
    "sum([[0]][:x] + [0])",
    "([0] if x else 0)[0]",
)
ENTRIES = (*FAILING, "flip(1/2)", "x", "1", "sum(b)", "len(b)")


def failing_program(seed: int) -> str:
    """A text with lists that are added up and counted, and entries that some inputs cannot have."""
    chance = random.Random(seed)

    def entry() -> str:
        return chance.choice(ENTRIES)

    def made() -> str:
        return chance.choice(["[]", "[1]", f"[{entry()}]", f"b + [{entry()}]", f"[{entry()}] if x == 1 else b"])

    def counted() -> str:
        place = chance.choice(["a", "b", f"[{entry()}]", f"a + [{entry()}]", f"({made()})", f"[[{entry()}], 1]"])
        return f"{chance.choice(['len', 'len', 'sum'])}({place})"

    def line() -> str:
        return chance.choice([
            f"a.append({entry()})",
            f"a = a + {chance.choice(['b', f'[{entry()}, 1]'])}",
            f"b = {made()}",
            f"n = {counted()}",
            f"if {counted()} > 5:\n        n = {entry()}",
            f"for v in [1, {entry()}]:\n        a.append(v)\n        n = {counted()}",
            f"while n < 0 and {counted()} > 0:\n        n = 1",
            "invariant([1, 2][2*x] > 0)",
        ])  # fmt: skip

    lines = ["b = [0]", "a = []", "n = 0", "a.append(flip(1/2))", *(line() for _ in range(chance.randint(1, 3)))]
    body = "\n".join(f"    {one}" for one in lines)
    return f"def f(x: replaced(0, 1, 2)):\n{body}\n    return sum(a) + n * {chance.choice(['0', '1'])}\n"


class _Open(Exception):
    """A coin that has not fallen yet."""


def _next(faces: Iterator[int]) -> int:
    for face in faces:
        return face
    raise _Open


def some_way_fails(program: Program, inputs: dict[str, Value]) -> bool:
    """Whether any way through the program ends without an output; draws are fair coins."""
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        made = waiting.pop()
        faces = partial(_next, iter(made))
        try:
            Run(program, inputs, lambda *_, fall=faces: fall()).output()
        except _Open:
            waiting += [(*made, 0), (*made, 1)]
        except NotSupported:
            return True
    return False
