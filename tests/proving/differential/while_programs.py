"""Random programs of the While language, whose neighbours are said beside the text."""

import random
from typing import Any

from privately.proving.language import declarations
from tests.proving.differential.neighbours import Private
from tests.proving.differential.signatures import Drawn, private_input, private_inputs

SYMBOLS = ("=", "!=", "<>", "<", "<=", ">", ">=")


class WhileAuthor:
    """Writes one program; with a header, or reading the memory `Mem`."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.has_header = self.chance.random() < 0.7
        self.private, self.sizes = private_inputs(self.chance)
        if not self.has_header:
            self.sizes = self.chance.choice([(1,), (2,)])
            memory = private_input(self.chance, "Mem")
            while not memory.is_list or memory.length is not None or memory.change == "added":
                memory = private_input(self.chance, "Mem")
            self.private = (memory,)
        self.numbers = ["a", "b'", "s", *(one.name for one in self.private if not one.is_list)]
        self.noises = 0

    def program(self) -> Drawn:
        """All of it."""
        lines = [*self.start(), *(line for _ in range(self.chance.randint(1, 4)) for line in self.statement(1))]
        lines += self.end()
        typed = " ".join(f"({one.name} : private {'list' if one.is_list else 'int'})" for one in self.private)
        header = f"Drawn {typed} : public real\n" if self.has_header else ""
        indent = "  " if self.has_header else ""
        body = "".join(f"{indent}{line}{self.pick('', ';')}\n" for line in lines)
        neighbors = {one.name: declared(one) for one in self.private}
        return Drawn(header + body, self.private, self.sizes, neighbors=neighbors)

    def pick(self, *ways: str) -> str:
        """One of these texts."""
        return self.chance.choice(ways)

    def start(self) -> list[str]:
        reads = [self.read(one) for one in self.private]
        return [
            f"s := {self.chance.choice(reads)}",
            f"a := {self.chance.choice(reads)}",
            f"b' := {self.chance.choice([*reads, '1'])}",
            "u := [0, 1]",
        ]

    def read(self, one: Private) -> str:
        if one.name == "Mem":
            return f"Mem({self.pick('0', str(min(self.sizes) - 1))})"
        if not one.is_list:
            return one.name
        empty = 0 in self.sizes and one.length is None
        return f"size({one.name})" if empty or self.chance.random() < 0.4 else f"{one.name}[0]"

    def end(self) -> list[str]:
        last = self.pick("flip(1/3)", "$ Uniform(2)", "$ Bernoulli(1/4)")
        other = self.pick("flip(2/3)", "$ Uniform(3)", "$ Bernoulli(1/2)")
        condition = self.pick(self.condition(1), f"s + {self.number(1)} {self.pick(*SYMBOLS)} {self.number(1)}")
        condition += self.pick("", f" {self.pick('and', 'or')} {self.condition(1)}")
        chosen = [f"if {condition} then", f"  o := {last}", "else", f"  o := {other}"]
        return (
            [*chosen, self.pick("return o", "return [o, a >= 1]", "return o * (a > b')")] if self.has_header else chosen
        )

    def number(self, depth: int) -> str:
        kind = self.chance.randrange(10) if depth else 0
        if kind <= 2:
            return self.pick(*self.numbers, *self.numbers, str(self.chance.randint(0, 3)), "0.5")
        left, right = self.number(depth - 1), self.number(depth - 1)
        return [
            f"{left} + {right}",
            f"{left} - {right}",
            f"{left} * {right}",
            f"({left} - {right})",
            f"-{left}",
            self.pick(f"{left} / 2", f"({left}) ^ 2", f"-({left}) ** 2"),
            self.pick("u[0] + size(u)", "u[2 - 1]", "(a > 0) xor 1", "1 xor (b' = 0)"),
        ][kind - 3]

    def condition(self, depth: int) -> str:
        compared = f"{self.number(1)} {self.pick(*SYMBOLS)} {self.number(1)}"
        kind = self.chance.randrange(6) if depth else 0
        if kind <= 2:
            return compared
        other = self.condition(depth - 1)
        return f"not {compared}" if kind == 3 else f"{compared} {self.pick('and', 'or')} {other}"

    def noise(self) -> str:
        self.noises += 1
        if self.noises > 3:
            return "a"
        return self.pick("flip()", "flip(1/3)", "$ Uniform(3)", "$ Bernoulli(0.25)", "$ flip(3/4)")

    def statement(self, depth: int) -> list[str]:
        name, kind = self.pick("a", "b'"), self.chance.randrange(9 if depth < 3 else 5)
        if kind <= 1:
            return [f"{name} := {self.number(2)}"]
        if kind == 2:
            return [f"{name} := {self.noise()}"]
        if kind == 3:
            return [f"u := {self.pick('u ++ [a]', '[a] ++ u', '[1] ++ [a, 0]')}"]
        if kind == 4:
            return [f"{name} := {self.condition(1)}"]
        if kind <= 6:
            inner = [f"if {self.condition(2)} then", *self.inner(depth)]
            return inner + (["else", *self.inner(depth)] if self.chance.random() < 0.6 else [])
        if kind == 7:
            count = f"i{depth}"
            end = self.pick("2", "1", "size(u)")
            start = [f"{count} := 0", f"while ({count} < {end}){self.pick('', ' do')}", f"  {count} := {count} + 1"]
            return [*start, *self.inner(depth)]
        return ["a := $ Uniform(3)", "while a = 2", "  a := $ Uniform(3)"]

    def inner(self, depth: int) -> list[str]:
        return [f"  {line}" for _ in range(self.chance.randint(1, 2)) for line in self.statement(depth + 1)]


def declared(one: Private) -> Any:
    """The annotation as the prover's own object, for `neighbors=`."""
    words: dict[str, Any] = dict(declarations.WORDS)
    return eval(one.annotation, words)


def while_program(seed: int) -> Drawn:
    """The program of a seed."""
    return WhileAuthor(seed).program()
