"""Noise rounded down, on paths."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from random import Random

import pytest
from flint import arb

from privately.proving.paths.affine import Affine, Constraint, holds, symbol_form
from privately.proving.paths.enclosing import enclosed_law
from privately.proving.paths.events import Condition, Event, event_probability
from privately.proving.paths.exploring import explore
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled
from privately.proving.paths.whole_parts import defining, whole_part, without_whole_parts
from privately.proving.reading import read_program

LAPLACE = Noise("laplace", Fraction(1))
ROUNDED = [
    "return (x + laplace(1)) // 1",
    "return (x + discrete_laplace(2)) // 3",
    "return (x + laplace(2)) // -2 + 1",
    "y = (x + laplace(1)) // 1\n    return y // 2",
    "y = (2*x + laplace(1)) // 1\n    if y >= 2:\n        return y\n    return -1",
    "y = (x + exponential(1)) // 1\n    return max(1, y)",
    "y = (x + geometric(1/3)) // 2\n    return 5 if y == 1 else y - 1",
]


def half_line(comparison: str, bound: Fraction | int) -> Event:
    return Event(None, (Condition(((0, Fraction(1)),), comparison, Fraction(bound)),))  # type: ignore[arg-type]  # one of five words


@pytest.mark.parametrize("body", ROUNDED)
def test_whole_parts_are_as_likely_as_their_cells_say(body: str) -> None:
    program = read_program(f"def f(x: each(1)):\n    {body}\n")
    for x in (0, Fraction(1, 2)):
        paths = explore(program, {"x": x}).paths
        cells = enclosed_law(program, {"x": x}, fineness=128)
        for comparison in (">=", ">", "==", "<", "<="):
            for bound in (-1, 0, 1, Fraction(3, 2)):
                event = half_line(comparison, bound)
                exact, ends = event_probability(paths, event), cells.probability(event)
                assert float(ends.lower) - 1e-12 <= float(exact.mid()) <= float(ends.upper) + 1e-12, (event, x)
                assert float(ends.width) < 1e-6


def test_comparisons_of_whole_parts_are_comparisons_of_forms() -> None:
    """At random points, whole and not, on either side and at the edge."""
    random = Random(5)
    part = whole_part(Affine(Fraction(1, 3), {0: Fraction(2)}), [LAPLACE])
    for _ in range(500):
        factor = random.choice([-2, -1, 1, 3])
        relation = random.choice([">", ">=", "=="])
        one = Constraint(Affine(Fraction(random.randint(-12, 12), 2), {1: factor}), relation)  # type: ignore[arg-type]  # one of three words
        said = without_whole_parts([one, *defining(1, part)], [LAPLACE, part])
        draw = Fraction(random.randint(-24, 24), 6)
        whole = floor(Fraction(1, 3) + 2 * draw)
        truth = holds(one.form.constant + factor * whole, one.relation)
        found = said is not None and all(
            holds(each.form.constant + each.form.terms[0] * draw, each.relation) for each in said
        )
        assert found is truth


def test_whole_parts_beside_other_noise_are_refused() -> None:
    part = whole_part(symbol_form(0), [LAPLACE])
    with pytest.raises(Entangled):
        without_whole_parts([Constraint(symbol_form(2) - symbol_form(0), ">")], [LAPLACE, LAPLACE, part])
    assert without_whole_parts([Constraint(symbol_form(0) - 1, ">")], [LAPLACE]) == [
        Constraint(symbol_form(0) - 1, ">")
    ]


def test_whole_parts_know_how_wide_they_are() -> None:
    part = whole_part(2 * symbol_form(0), [LAPLACE])
    assert part.scale == 3
    assert not part.continuous
    assert not part.one_sided


def test_all_whole_parts_together_are_certain() -> None:
    paths = explore(read_program("def f(x: each(1)):\n    return (x + laplace(1)) // 2\n"), {"x": 0}).paths
    total = sum((event_probability(paths, half_line("==", k)) for k in range(-9, 9)), arb(0))
    ends = event_probability(paths, half_line(">", 8)) + event_probability(paths, half_line("<", -9))
    assert (total + ends).overlaps(arb(1))
