"""Random programs made of what readers of Python get wrong: loops that change what they run over, names that hide
others, lists inside lists, rest of rounds that are skipped, values that are only sometimes there."""

import random

from tests.proving.differential.signatures import Drawn, private_inputs

PIECES = (
    "for i in range(a):\n    a = a - {n}\n    b += 1",
    "n = {n}\nfor n in range(n):\n    b += n",
    "for a in [a, {n}, a]:\n    b = b + a",
    "for i in range({n}, {n}):\n    b += i",
    "for i in range({n} // 1):\n    if {c}:\n        continue\n    b += 1",
    "for i, a in enumerate([{n}, a]):\n    if {c}:\n        break\n    b = i",
    "for a, b in zip([a, {n}], list(u)):\n    u.append(a)",
    "for v in list(u):\n    u.append(v + {n})",
    "for i in range(2):\n    for j in range(i + 1):\n        if {c}:\n            break\n        b += j\n    a += {n}",
    "for i in range(2):\n    if {c}:\n        continue\n    for j in [1, i]:\n        if {c}:\n            break",
    "while True:\n    if {c} or b > 3:\n        break\n    b += 1",
    "while True:\n    b += 1\n    if b > 2:\n        return {n}",
    "i = 0\nwhile i < 3 and not {c}:\n    i += 1\n    if {c}:\n        continue\n    a = a + i",
    "i = 0\nwhile i < 2:\n    i += 1\n    u.append(flip({p}))\n    if {c}:\n        break",
    "u = [a for a in [a, b, {n}] if a > b]",
    "u = [v + flip({p}) for v in [a, {n}] if v > 0]",
    "b = sum(b for b in [a, {n}])",
    "b = max(v * v for v in [a, {n}] if v <= a + 5)",
    "a = [v for v in [[a], [b, {n}]] if len(v) > {n} // 1][0][0]",
    "a = [[a, b], [{n}]][{z}][0]",
    "w = [[a], [b]]\nw = w + [[{n}]]\nb = w[{z}][-1]",
    "u = u[{n} // 1:{n} // 1]",
    "u = [a, b][:{z}] + [{n}]",
    "u = [a] * ({n} // 1)",
    "b = u == [0, 1] or [a] == [{n}]",
    "b = [a, b] == [b, {n}]",
    "b = a in [b, {n}] and b not in u",
    "b = {n} < a <= {n} != b",
    "b = not {c} or not flip({p})",
    "b = ({c}) + ({c}) * 2",
    "b = -({c}) + abs(-a)",
    "b = (a if {c} else {n}) if {c} else (flip({p}) if {c} else b)",
    "a, b = b, a + {n}",
    "a, u[0] = {n}, a",
    "u[{z}], u[0] = a, b",
    "u[0] = u[{z}] + a",
    "u[{z}] += {n}\nu[{z}] -= b",
    "u[uniform(2)] *= {n}",
    "b = u.pop()\nu.append({n})",
    "b = u.pop({z})\nu.append(b)\nu.append(a)",
    "if {c}:\n    k = {n}\nelse:\n    k = a\nb = k",
    "k = 0\nif {c}:\n    k = a\nb += k",
    "if {c}:\n    pass\nelse:\n    if {c}:\n        return [a, {n}]\n    b = {n}",
    "b = 1e-1 * a + 0.5",
    "b = (a // 1) ** 2 ** 1 % 5",
    "b = 2 ** -1 * a",
    "b = (a // 1) ^ ({n} // 1) ^ 1",
    "b = a % -2 + {n} // -2",
    "a /= 2\na = a // 1",
    "b = Fraction(a, 2) + Fraction(b)",
    "b = len(list(range({n} // 1)))",
    "b = sum([a] + u[1:]) - min(u + [a]) * {z}",
    "b = max(a, b, {n})",
    "b: int = {n} + a",
    "b = 1 / a",
    "b = u[a // 1]",
    "b = 3 % b",
    "b = min([v for v in [a, {n}] if v > 0])",
    "b = flip(a)",
    "b = uniform(a + 1)",
    "b = [0, a][b // 1]",
)
CONDITIONS = ("a > b", "b <= 1", "flip({p})", "a == 1", "0 < a", "a != b and flip({p})", "len(u) > 2", "a in u")


class OddAuthor:
    """Puts pieces together."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.private, self.sizes = private_inputs(self.chance)

    def filled(self, piece: str) -> str:
        """A piece with something in all its gaps."""
        while "{" in piece:
            before, gap = piece.split("{", 1)
            piece = before + self.gap(gap[0]) + gap[2:]
        return piece

    def gap(self, kind: str) -> str:
        ways = {"n": ("a", "b", "0", "1", "2", "s", "s", "len(u)", "-1"), "c": CONDITIONS, "p": ("1/2", "1/3", "0.25")}
        return self.chance.choice(ways.get(kind, ("0", "1", "-1", "0")))

    def program(self) -> Drawn:
        """All of it."""
        reads = [
            self.chance.choice([f"len({one.name})", f"sum({one.name})"]) if one.is_list else one.name
            for one in self.private
        ]
        starts = [f"i = len({one.name})" for one in self.private if one.is_list]
        starts += [f"s = {self.chance.choice(reads)}", f"a = {self.chance.choice([*reads, '1'])}"]
        starts += [f"b = {self.chance.choice([*reads, '0'])}", "u = [0, 1]"]
        pieces = [self.filled(self.chance.choice(PIECES)) for _ in range(self.chance.randint(1, 3))]
        ends = (
            "a + b",
            "[a, b, u]",
            "b",
            "flip(1/4) if a > b else flip(1/2)",
            "flip((b % 3 // 1 + 1) / 5)",
            "len(u) + b",
            "[u, flip(1/3) if b > s else flip(2/3)]",
        )
        text = "\n".join([*starts, *pieces, f"return {self.chance.choice(ends)}"])
        signature = ", ".join(f"{one.name}: {one.annotation}" for one in self.private)
        body = "".join(f"    {line}\n" for line in text.splitlines())
        return Drawn(f"def f({signature}):\n{body}", self.private, self.sizes)


def odd_program(seed: int) -> Drawn:
    """The program of a seed."""
    return OddAuthor(seed).program()
