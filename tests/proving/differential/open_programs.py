"""Random programs with a public parameter that has no value: their coins are formulas in it."""

import random
from dataclasses import dataclass
from fractions import Fraction

from tests.proving.differential.signatures import Drawn, private_inputs

COINS = ("p", "1 - p", "p / 2", "p * p", "(1 + p) / 3", "1/2", "1/3")
DOMAINS = (
    ("", Fraction(0), Fraction(1)),
    ("inside(0, 1)", Fraction(0), Fraction(1)),
    ("inside(1/4, 3/4)", Fraction(1, 4), Fraction(3, 4)),
    ("between(1/5, 1/2)", Fraction(1, 5), Fraction(1, 2)),
)


@dataclass(frozen=True)
class OpenDrawn:
    """A program and where its parameter p lies."""

    drawn: Drawn
    lower: Fraction
    upper: Fraction

    def points(self) -> list[Fraction]:
        """Some values of p, away from the ends."""
        return [self.lower + (self.upper - self.lower) * Fraction(k, 7) for k in (1, 3, 4, 6)]


def open_program(seed: int) -> OpenDrawn:
    """The program of a seed: responses to some condition on the private inputs, added up or listed."""
    chance = random.Random(seed)
    private, sizes = private_inputs(chance)
    words, lower, upper = chance.choice(DOMAINS)
    one = chance.choice(private)
    starts = [f"i = len({each.name})" for each in private if each.is_list]
    read = chance.choice([f"sum({one.name})", f"len({one.name})"]) if one.is_list else one.name
    coins = [f"flip({chance.choice(COINS)})" for _ in range(4)]
    yes = chance.choice(["a > 0", "a == 1", "a % 2 == 1", "a >= 1"])
    body = [*starts, f"a = {read}", *_middle(chance, coins, yes)]
    signature = [*(f"{each.name}: {each.annotation}" for each in private), f"p: {words}" if words else "p"]
    text = f"def f({', '.join(signature)}):\n" + "".join(f"    {line}\n" for line in body)
    return OpenDrawn(Drawn(text, private, sizes), lower, upper)


def _middle(chance: random.Random, coins: list[str], yes: str) -> list[str]:
    one, other, third, fourth = coins
    return chance.choice([
        [f"if {one}:", f"    return {yes}", f"return {other}"],
        [f"if {yes}:", f"    return {one}", f"return {other}"],
        [f"return [{one} if {yes} else {other}, {third}]"],
        ["n = 0", "for k in range(2):", f"    n += {one} if {yes} else {other}", "return n"],
        [f"b = {one}", f"while b == 0 and {third}:", f"    b = {one}", f"return b if {yes} else {fourth}"],
        [f"if {yes} and {one}:", f"    return {other} + {third}", f"return {fourth}"],
    ])  # fmt: skip
