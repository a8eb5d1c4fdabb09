"""Random programs whose outputs add up, compare and divide noises without end; the private number always has noise."""

import random
from fractions import Fraction

from tests.proving.differential.neighbours import Private
from tests.proving.differential.signatures import Drawn

TWO_SIDED = ("discrete_laplace(1)", "discrete_laplace(1)", "discrete_laplace(1/2)", "discrete_laplace(Fraction(2, 3))")
NOISES = (*TWO_SIDED, "geometric(1/2)", "geometric(2/3)", "discrete_exponential(1/2)")


class SummingAuthor:
    """Writes one program with two noises, or three."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.private = Private(
            "x", "each", (Fraction(0), Fraction(1)), "whole(0, 1)", is_list=False, distance=Fraction(1)
        )

    def program(self) -> Drawn:
        """All of it."""
        body = [f"a = x + {self.pick(*TWO_SIDED)}", f"b = {self.pick('', '', 'x + ')}{self.pick(*NOISES)}"]
        kind = self.chance.randrange(4)
        if kind == 0:
            body += [f"if flip({self.pick('1/2', '1/3')}):", f"    a = {self.number()}"]
        elif kind == 1:
            body += [f"if {self.number()} {self.pick('<', '>=', '==')} {self.number()}:", f"    b = {self.number()}"]
        elif kind == 2:
            body += [f"if a {self.pick('<', '>=')} {self.pick('-1', '0', 'b')}:", f"    return {self.number()}"]
        body.append(f"return {self.output()}")
        lines = "".join(f"    {line}\n" for line in body)
        return Drawn(f"def f(x: {self.private.annotation}):\n{lines}", (self.private,), (1,))

    def pick(self, *ways: str) -> str:
        return self.chance.choice(ways)

    def number(self, depth: int = 2) -> str:
        kind = self.chance.randrange(8) if depth else 0
        if kind == 0:
            return self.pick("a", "b", "a + b")
        inner, other = self.number(depth - 1), self.pick("a", "b")
        return [
            f"({inner} + {other})",
            f"({inner} - {other})",
            f"{self.pick('min', 'max')}({inner}, {other})",
            f"abs({inner})",
            f"({self.pick('2', '-1', '3')} * {inner})",
            f"({inner} // {self.pick('2', '3')})",
            f"({inner} % {self.pick('2', '3')})",
        ][kind - 1]

    def output(self) -> str:
        return self.pick(self.number(), self.number(), f"[{self.number(1)}, {self.number(1)}]")


def summed_program(seed: int) -> Drawn:
    """The program of a seed."""
    return SummingAuthor(seed).program()
