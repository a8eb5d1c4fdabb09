"""Numbers of which a program speaks."""

import pytest

from privately.proving.reading import read_program
from privately.proving.refuting.anchors import anchors


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("    assume(len(q) == 3 and q[0] > 40)\n    assume(not q[1] < 7)\n    return sum(q) + laplace(1)\n", [40, 7]),
        ("    return sum(max(v, -20) for v in q) + laplace(90)\n", [20, -20]),
        ("    return sum(q) + laplace(1) > bar\n", [1000, -1000]),
        ("    return len(q) > 50 and q[0] + laplace(1) > 2\n", []),
    ],
)
def test_numbers_that_decide_something_are_known_but_no_places_or_lengths(body: str, known: list[int]) -> None:
    assert list(anchors(read_program(f"def f(q: each(1), bar):\n{body}"), {"bar": 1000})) == known
