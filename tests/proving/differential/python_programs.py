"""Random programs of the restricted Python language that draw from finite laws."""

import random

from tests.proving.differential.neighbours import Private
from tests.proving.differential.signatures import Drawn, private_inputs

COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
PROBABILITIES = ("1/2", "1/3", "1/4", "3/4", "0.2", "Fraction(2, 5)")


class Author:
    """Writes one program, from the inside of its expressions to its statements."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.private, self.sizes = private_inputs(self.chance)
        self.numbers = ["a", "b", "s", *(2 * [one.name for one in self.private if not one.is_list])]
        self.inputs = [one.name for one in self.private if one.is_list]
        self.own = ["u", "w"]
        self.lists = [*self.inputs, *self.own]
        self.risk = self.chance.choice([0.0, 0.0, 0.0, 0.04, 0.12])
        self.noises = 0

    def program(self) -> Drawn:
        """All of it."""
        body = [*self.assumption(), *self.start(), *self.block(self.chance.randint(1, 3), 1, looping=False)]
        body += [f"return {self.output()}"]
        lines = "".join(f"    {line}\n" for line in body)
        signature = ", ".join(f"{one.name}: {one.annotation}" for one in self.private)
        return Drawn(f"def f({signature}):\n{lines}", self.private, self.sizes)

    def pick(self, *ways: str) -> str:
        """One of these texts."""
        return self.chance.choice(ways)

    # The first and the last lines

    def assumption(self) -> list[str]:
        if self.chance.random() > 0.08:
            return []
        one = self.chance.choice(self.private)
        if one.is_list:
            return [f"assume({self.pick(f'len({one.name}) >= 1', f'sum({one.name}) <= 1', f'len({one.name}) < 3')})"]
        return [f"assume({one.name} {self.pick('<', '<=', '>=')} 1)"]

    def start(self) -> list[str]:
        """Every list is measured once, so that all see that it is one."""
        starts = [self.read(one) for one in self.private]
        return [
            f"a = {self.chance.choice(starts)}",
            f"b = {self.chance.choice([*starts, '1'])}",
            f"s = {self.chance.choice(starts)}",
            "i = 0",
            f"u = {self.pick('[]', '[0, 1]', '[1]', '[0] * 2', 'list(range(2))')}",
            "w = [1, 2]",
            *(f"i += len({name})" for name in self.inputs),
        ]

    def read(self, one: Private) -> str:
        if not one.is_list:
            return one.name
        empty = 0 in self.sizes and one.length is None
        return self.pick(f"len({one.name})", f"sum({one.name})", f"sum({one.name})" if empty else f"{one.name}[-1]")

    def output(self) -> str:
        number, share = self.number(1), self.pick(*PROBABILITIES)
        if self.chance.random() < 0.6:
            number = f"({number} + s)"
        return self.pick(
            f"flip(({number} % 3 + 1) / 5)",
            f"flip((({number}) // {self.pick('2', '-1', '1')} % 5 + 1) / 7)",
            f"flip(1/4) if {self.condition(1)} else flip({share})",
            "[flip(1/4) if v > 0 else flip(3/4) for v in [a, b]]",
            f"(uniform(4) + ({number}) // 1) % 4 if flip(1/3) else uniform(4)",
            f"(({number} >= 1) if flip({share}) else flip(1/2), uniform(2))",
            f"{number} >= 1 if flip({share}) else flip(1/3)",
            f"[flip({share}), a > b] if flip(1/5) else [uniform(2), flip({share})]",
            f"{number} if flip(1/4) else b",
            self.pick("a", "[a, b]", "u", "sum(u)", "len(u)", "a, b", "[[a], u]"),
        )

    # Expressions

    def number(self, depth: int) -> str:
        kind = self.chance.randrange(24) if depth else 0
        if kind <= 3:
            return self.pick(*self.numbers, str(self.chance.randint(-2, 3)), "0.5", "1/2")
        if kind <= 12:
            return self.arithmetic(kind, self.number(depth - 1), self.number(depth - 1))
        if kind <= 17:
            return self.of_list(kind, self.entries(depth - 1))
        if kind == 18:
            return f"({self.number(depth - 1)} if {self.condition(depth - 1)} else {self.number(depth - 1)})"
        if kind <= 21:
            return self.noise()
        return self.pick(
            f"({self.condition(depth - 1)})", f"Fraction({self.pick(*self.numbers)})", "uniform_bits(2)[0]"
        )

    def arithmetic(self, kind: int, left: str, right: str) -> str:
        if self.chance.random() < self.risk:
            return f"({left} {self.pick('/', '//', '%', '**', '^')} {right})"
        return [
            f"({left} + {right})",
            f"({left} - {right})",
            f"({left} * {right})",
            f"({left} // {self.pick('2', '3', '-2')})",
            f"({left} % {self.pick('2', '3', '-2')})",
            f"({left} / {self.pick('2', '4', 'Fraction(3, 2)')})",
            f"{self.pick('min', 'max')}({left}, {right})",
            self.pick(f"abs({left})", f"(-{left})", f"+{left}", f"({left} // 1 ^ 1)"),
            self.pick(
                f"{left} ** 2", f"Fraction({self.pick(*self.numbers)}, 2)", f"({left} // 1) ** ({right} // 1 % 3)"
            ),
        ][kind - 4]

    def of_list(self, kind: int, entries: str) -> str:
        name = self.chance.choice(self.lists)
        if self.chance.random() < self.risk:
            return self.pick(f"{name}[{self.number(0)}]", f"min({entries})", f"max({name})")
        return [
            f"len({entries})",
            f"sum({entries})",
            f"({name} + [{self.number(0)}])[{self.pick('0', '-1', 'uniform(1)')}]",
            f"{self.pick('min', 'max')}([{self.number(0)}] + {entries})",
            f"{self.pick('sum', 'sum', 'max')}({self.pick('v', 'v * b', 'v - a')} for v in {entries} + [1])",
        ][kind - 13]

    def entries(self, depth: int) -> str:
        """A list."""
        kind = self.chance.randrange(9) if depth > 0 else 0
        name = self.chance.choice(self.lists)
        if kind <= 2:
            return name
        number = self.number(depth - 1)
        return [
            f"[{number}, {self.number(0)}]",
            f"({name} + {self.entries(depth - 1)})",
            f"{name}[{self.pick('', '1', '-1')}:{self.pick('', '1', '-1', 'len(w)')}]",
            f"[{self.pick('v', 'v + a', '[v][0]')} for v in {name}{self.pick('', '', ' if v > 0', ' if v != b')}]",
            f"list({self.pick(name, 'range(2)', 'range(1, 3)')})",
            f"[{number}] * {self.pick('2', '1', 'len(w)')}",
        ][kind - 3]

    def condition(self, depth: int) -> str:
        left, right = self.number(max(depth - 1, 0)), self.number(max(depth - 1, 0))
        kind = self.chance.randrange(8) if depth > 0 else 0
        if kind <= 2:
            return f"{left} {self.pick(*COMPARISONS)} {right}"
        return [
            f"{left} {self.pick(*COMPARISONS)} {right} {self.pick(*COMPARISONS)} {self.number(0)}",
            f"({self.condition(depth - 1)} {self.pick('and', 'or')} {self.condition(depth - 1)})",
            f"not {self.condition(0)}",
            f"{left} {self.pick('in', 'not in')} {self.entries(0)}",
            f"{self.noise_of_two()}",
        ][kind - 3]

    def noise(self) -> str:
        self.noises += 1
        if self.noises > 2:
            return "a"
        if self.chance.random() < self.risk:
            return self.pick(f"flip({self.number(0)})", f"uniform({self.number(0)})")
        return self.pick(f"flip({self.pick(*PROBABILITIES)})", "flip()", "uniform(2)", "uniform(3)", "flip(abs(a) % 1)")

    def noise_of_two(self) -> str:
        self.noises += 1
        return f"flip({self.pick(*PROBABILITIES)})" if self.noises <= 2 else "a == b"

    # Statements

    def block(self, most: int, depth: int, *, looping: bool) -> list[str]:
        return [line for _ in range(most) for line in self.statement(depth, looping=looping)]

    def inner(self, depth: int, *, looping: bool) -> list[str]:
        return [f"    {line}" for line in self.block(self.chance.randint(1, 2), depth + 1, looping=looping)]

    def statement(self, depth: int, *, looping: bool) -> list[str]:
        kind = self.chance.randrange(15 if depth < 3 else 8)
        if kind <= 6:
            return self.simple(kind).splitlines()
        if kind == 7:
            return self.leaving(looping=looping)
        if kind <= 10:
            lines = [f"if {self.condition(2)}:", *self.inner(depth, looping=looping)]
            return lines + (["else:", *self.inner(depth, looping=looping)] if self.chance.random() < 0.5 else [])
        if kind == 11:
            return self.counting(depth)
        return [self.running_over(depth), self.rejecting(), self.responding()][kind - 12]

    def simple(self, kind: int) -> str:
        name, own, number = self.pick("a", "b"), self.chance.choice(self.own), self.number(2)
        return [
            f"{name} = {number}",
            f"{name} {self.pick('+=', '-=', '*=')} {self.number(1)}",
            f"{own}.append({self.number(1)})",
            self.pick(f"w[{self.pick('0', '-1', 'uniform(2)')}] = {number}", f"w[0] {self.pick('+=', '-=')} {number}"),
            self.pick(f"{name} = (w + [{number}])[-1]", "a, b = b, a", f"a, w[1] = {number}, b", f"{name} /= 2"),
            self.pick(f"u = {self.fresh()}", f"u += {self.entries(1)}", "w.append(a)", f"{name} = w.pop()\nw.append(1)",
                      f"w.append({number})\n{name} = w.pop(0)"),
            self.pick(f"{name} = {self.noise()}", f"{name} = {self.condition(1)}", "pass", f"{name}: int = {number}"),
        ][kind]  # fmt: skip

    def fresh(self) -> str:
        name = self.chance.choice(self.lists)
        return self.pick(f"list({name})", "[]", f"[{self.number(1)}]", f"{name}[:]", f"({name} + w)")

    def leaving(self, *, looping: bool) -> list[str]:
        how = self.pick("break", "continue") if looping and self.chance.random() < 0.7 else f"return {self.output()}"
        return [f"if {self.condition(1)}:", f"    {how}"]

    def counting(self, depth: int) -> list[str]:
        name, end = self.pick("a", "b"), self.chance.randint(1, 3)
        test = self.pick(f"{name} < {end} and {self.condition(1)}", f"not {name} >= {end}")
        return [
            f"{name} = {self.pick('0', '1')}",
            f"while {test}:",
            f"    {name} += 1",
            *self.inner(depth, looping=True),
        ]

    def running_over(self, depth: int) -> list[str]:
        entries, body = self.entries(1), self.inner(depth, looping=True)
        over = f"list({entries})" if entries in self.own else entries
        head = self.pick(
            f"i in range({self.pick('2', '1, 3', 'len(w)', f'len({entries})')})",
            f"{self.pick('i', 'a')} in {over}",
            f"i, {self.pick('a', 'b')} in enumerate({over})",
            f"i, b in zip({over}, [1, 0, 2])",
        )
        return [f"for {head}:", *body]

    def responding(self) -> list[str]:
        """Randomized responses, added up or counted by what they are."""
        over = self.pick(*self.inputs, "[s, 1]")
        share = self.pick("2/3", "3/4")
        return self.chance.choice([
            ["a = 0", f"for v in {over}:", f"    a += v if flip({share}) else 1 - v"],
            ["u = []", f"for v in {over}:", f"    u.append(v > 0 if flip({share}) else flip(1/2))", "a = sum(u)"],
            ["u = [0] * 3", f"for v in {over}:", f"    u[v // 1 % 3 if flip({share}) else uniform(3)] += 1"],
        ])  # fmt: skip

    def rejecting(self) -> list[str]:
        """A loop that draws until something holds."""
        return self.chance.choice([
            ["i = uniform(3)", "while i == 2:", "    i = uniform(3)", "a = a + i"],
            ["while flip(1/3):", f"    b = {self.pick('uniform(2)', '1 - b', 'a')}"],
            ["while True:", "    b = uniform(4)", "    if b < 3 and not flip(1/4):", "        break"],
            ["i = 0", "while i < 3 and flip(1/2):", "    i += 1", "b = i"],
        ])  # fmt: skip


def python_program(seed: int) -> Drawn:
    """The program of a seed."""
    return Author(seed).program()
