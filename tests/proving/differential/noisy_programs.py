"""Random programs with noise that has no end, and with coins whose probability is an exponential."""

import random
from fractions import Fraction

from tests.proving.differential.neighbours import Private
from tests.proving.differential.signatures import Drawn

NOISES = (
    "discrete_laplace(1)",
    "discrete_laplace(1/2)",
    "discrete_laplace(Fraction(2, 3))",
    "discrete_exponential(1/2)",
    "geometric(1/2)",
    "geometric(2/3)",
)
COINS = ("flip_exp(1)", "flip_exp(1/2)", "flip(1/3)", "uniform(3)")
MOST_ENDLESS = 2


class NoisyAuthor:
    """Writes one program over noisy numbers."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        change = self.chance.choice(["each", "one", "monotone", "replaced", "anything"])
        distance = Fraction(1) if change in {"each", "one", "monotone"} else None
        self.private = Private(
            "x", change, tuple(map(Fraction, range(3))), "whole(0, 2)", is_list=False, distance=distance
        )
        self.numbers = ["x"]
        self.endless = 0

    def program(self) -> Drawn:
        """All of it."""
        body = [*self.noisy(), *(line for _ in range(self.chance.randint(1, 4)) for line in self.statement())]
        body.append(f"return {self.output()}")
        lines = "".join(f"    {line}\n" for line in body)
        return Drawn(f"def f(x: {self.private.annotation}):\n{lines}", (self.private,), (1,))

    def pick(self, *ways: str) -> str:
        """One of these texts."""
        return self.chance.choice(ways)

    def noise(self) -> str:
        if self.endless < MOST_ENDLESS and self.chance.random() < 0.7:
            self.endless += 1
            return self.pick(*NOISES)
        return self.pick(*COINS)

    def number(self, depth: int = 2) -> str:
        kind = self.chance.randrange(13) if depth else 0
        if kind <= 3:
            return self.pick(*self.numbers, *self.numbers[1:], *self.numbers[1:], self.pick(*"0123"))
        inner = self.number(depth - 1)
        return [
            f"({inner} + {self.pick('1', '2', 'x')})",
            f"({inner} - {self.pick(*self.numbers, '1', '2')})",
            f"{self.pick('min', 'max')}({inner}, {self.pick('0', '1', '2', 'x')})",
            f"abs({inner})",
            f"({self.pick('2', '-1', '3')} * {inner})",
            f"({inner} + {self.pick(*self.numbers)})",
            f"{self.pick('min', 'max')}({inner}, {self.pick(*self.numbers)})",
            f"({inner} // {self.pick('2', '3', '-2')})",
            f"({inner} % {self.pick('2', '3')})",
        ][kind - 4]

    def condition(self) -> str:
        return f"{self.number(1)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.number(1)}"

    def noisy(self) -> list[str]:
        name = "abc"[len(self.numbers) - 1] if len(self.numbers) < 4 else self.pick(*self.numbers[1:])
        line = f"{name} = {self.pick(f'{self.number(1)} + ', 'x + ', '')}{self.noise()}"
        if name not in self.numbers:
            self.numbers.append(name)
        return [line]

    def statement(self) -> list[str]:
        name, kind = self.pick(*self.numbers[1:]), self.chance.randrange(7)
        if kind <= 1:
            return self.noisy()
        if kind == 2:
            return [f"{name} = {self.number()}"]
        if kind == 3:
            return [
                f"if {self.condition()}:",
                f"    {name} = {self.number()}",
                "else:",
                f"    {name} = {self.number()}",
            ]
        if kind == 4:
            return [f"if {self.condition()}:", f"    return {self.output()}"]
        if kind == 5:
            return [
                f"while {name} {self.pick('>', '>=')} {self.pick('0', '1', '2')}:",
                f"    {name} -= {self.pick('1', '2')}",
            ]
        self.endless += 1
        again = f"{name} = x + {self.pick('discrete_laplace(1)', 'geometric(1/2)', 'uniform(3)')}"
        return [again, f"while {name} {self.pick('<', '==')} {self.pick('0', '1')}:", f"    {again}"]

    def output(self) -> str:
        return self.pick(self.number(), *self.numbers[1:], f"[{self.number(1)}, {self.number(1)}]", self.condition())


def noisy_program(seed: int) -> Drawn:
    """The program of a seed."""
    return NoisyAuthor(seed).program()
