"""Texts that use every form of the language, each with inputs, for comparing with Python itself."""

from typing import Any

FORMS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "response": (
        """
def f(x: replaced(0, 1)):
    if flip():
        return x
    return flip(1/4)
""",
        [{"x": 0}, {"x": 1}],
    ),
    "sum": (
        """
def f(x):
    s = 0
    for v in x:
        s += v if flip(Fraction(3, 4)) else 1 - v
    return s
""",
        [{"x": (0, 1, 1)}, {"x": ()}],
    ),
    "histogram": (
        """
def f(x):
    counts = [0] * 3
    for v in x:
        counts[v if flip() else uniform(3)] += 1
    return counts
""",
        [{"x": (0, 2, 1)}],
    ),
    "leaving": (
        """
def f(x):
    out = []
    for i, v in enumerate(x):
        if v == 2:
            continue
        out.append(i)
        if flip(1/3):
            break
        out.append(10 + v)
    out.append(99)
    return out
""",
        [{"x": (1, 2, 3)}, {"x": (2, 2)}],
    ),
    "noise in conditions": (
        """
def f(x):
    n = 0
    while n < 3 and flip(2/3):
        n = n + 1
        if x > 0 or flip(1/5):
            n += uniform(2)
    return n
""",
        [{"x": 0}, {"x": 1}],
    ),
    "a condition with continue": (
        """
def f(x):
    n = 0
    m = 0
    while flip(1/2) and n < 3:
        n += 1
        if flip(1/4):
            continue
        m += x
    return [n, m]
""",
        [{"x": 5}],
    ),
    "popping": (
        """
def f(x):
    waiting = list(x)
    order = []
    while len(waiting) > 0:
        chosen = waiting.pop(uniform(len(waiting)))
        order.append(chosen)
    return order
""",
        [{"x": (3, 1, 2)}],
    ),
    "lists": (
        """
def f(x):
    shifted = [v + uniform(2) for v in x if v > 0]
    small = [v for v in shifted if v < 3]
    a, b = len(shifted), sum(small)
    a, b = b, a
    return [a, b, max(x), min(a, b), abs(0 - a), x[1:], x[-1], 7 // 2, 7 % 3, 2 ** 3, 0 < a < 5, 2 in x, 9 not in x]
""",
        [{"x": (1, 0, 2)}],
    ),
    "nested": (
        """
def f(x, n):
    total = 0
    for i in range(1, n):
        for j in range(i):
            if flip():
                break
            total += x[j] * i
        else_value = not flip(1/10)
        if else_value:
            total -= 1
    return total
""",
        [{"x": (1, 2, 3), "n": 3}],
    ),
    "pairs": (
        """
def f(x, y):
    s = 0
    for a, b in zip(x, y):
        s += a * b if flip() else a ^ b
    return s
""",
        [{"x": (1, 0, 1), "y": (1, 1, 0)}],
    ),
    "the loop's own list": (
        """
def f(x):
    left = list(x)
    for v in left:
        if flip():
            left = left + [v]
    return len(left)
""",
        [{"x": (1, 2)}],
    ),
    "bits": (
        """
def f(m):
    key = uniform_bits(2)
    return [a ^ b for a, b in []] if False else [m[0] ^ key[0], m[1] ^ key[1]]
""",
        [],
    ),
}
del FORMS["bits"]
