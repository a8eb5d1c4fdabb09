"""What is drawn before the body of a program: its private inputs, how neighbours differ there, and lengths of lists."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.proving.differential.neighbours import CHANGES, Private

MOST_PAIRS = 150
DOMAINS: tuple[tuple[str, tuple[int | Fraction, ...]], ...] = (
    ("0, 1", (0, 1)),
    ("one_of(0, 1)", (0, 1)),
    ("whole(0, 2)", (0, 1, 2)),
    ("whole(-1, 1)", (-1, 0, 1)),
    ("one_of(1, 2)", (1, 2)),
    ("one_of(0, 1/2)", (0, Fraction(1, 2))),
    ("one_of(-1, 0.5, 3)", (-1, Fraction(1, 2), 3)),
)
SIZES = ((1,), (2,), (2,), (1, 2), (0, 1), (0, 2), (3,))


@dataclass(frozen=True)
class Drawn:
    """A program with everything that a question about it says."""

    text: str
    private: tuple[Private, ...]
    sizes: tuple[int, ...]
    public: dict[str, Fraction] = field(default_factory=dict)
    neighbors: dict[str, Any] = field(default_factory=dict)


def private_inputs(chance: random.Random) -> tuple[tuple[Private, ...], tuple[int, ...]]:
    """One or two private inputs, and the lengths of lists; with few neighbours in all."""
    while True:
        sizes = chance.choice(SIZES)
        found = tuple(private_input(chance, name) for name in ("x", "y")[: 1 if chance.random() < 0.7 else 2])
        if pairs_of(found, sizes) <= MOST_PAIRS:
            return found, sizes


def private_input(chance: random.Random, name: str) -> Private:
    """Any kind of neighbours, over any of the small domains."""
    change = chance.choice(CHANGES)
    words, values = chance.choice(DOMAINS)
    found = Private(name, change, tuple(map(Fraction, values)), words, chance.random() < 0.5 or change == "added")
    if change in {"each", "one", "monotone"}:
        domain = f"one_of({words})" if words == "0, 1" else words
        found = replace(found, domain=domain, distance=chance.choice([Fraction(1), Fraction(1), Fraction(2)]))
    if change != "added" and chance.random() < 0.1:
        length = chance.choice([1, 2])
        zero, one = Fraction(0), Fraction(1)
        found = replace(found, domain=f"bits({length})", values=(zero, one), length=length, is_list=True)
    return found


def pairs_of(private: Sequence[Private], sizes: Sequence[int]) -> int:
    """How many pairs of neighbours there are, at most."""
    total = 1
    for one in private:
        total *= sum(1 for _ in one.sides(sizes))
    return total
