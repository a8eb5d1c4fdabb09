"""Inputs as vectors."""

from fractions import Fraction
from itertools import islice

import pytest
import z3

from privately.errors import NotSupported
from privately.proving.language.declarations import added, between, bits, each, one, replaced
from privately.proving.reading import read_program
from privately.proving.refuting.neighbors import Layout, layout

TWO = read_program("def f(q: each(1), x: one(2), epsilon):\n    return sum(q) + x + laplace(1/epsilon)\n")
ADDED = read_program("def f(q: added(0, 1), epsilon):\n    return sum(q) + discrete_laplace(1/epsilon)\n")
MEAN = read_program("def f(d: replaced(between(0, 1))):\n    return sum(d)\n")


def test_parameters_lie_one_after_the_other() -> None:
    near = layout(TWO, {}, 2)
    assert near.names(0) == ("q[0]", "q[1]", "x[0]")
    assert near.concrete(1, (Fraction(1), Fraction(1, 2), Fraction(3))) == {"q": (1, Fraction(1, 2)), "x": 3}
    assert set(near.symbolic(0)) == {"q", "x"}
    assert near.balanced
    assert not near.whole


def test_added_entries_make_one_side_longer_both_ways_round() -> None:
    near = layout(ADDED, {}, 3)
    assert (len(near.names(0)), len(near.names(1)), near.whole) == (4, 3, True)
    back = near.backwards()
    assert (len(back.names(0)), len(back.names(1))) == (3, 4)
    for side in (near, back):
        for pair in islice(side.starts(), 20):
            assert side.holds(pair)
            assert all(side.holds(other) for other in islice(side.moves(pair), 20))


@pytest.mark.parametrize("program", [TWO, ADDED, MEAN], ids=lambda one: one.name)
def test_the_formula_says_what_the_check_says(program: object) -> None:
    near = layout(program, {}, 2)  # type: ignore[arg-type]
    for pair in islice(near.starts(), 12):
        assert agrees(near, pair)
        far = (tuple(value + 3 for value in pair[0]), pair[1])
        assert agrees(near, far)


def agrees(near: Layout, pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> bool:
    sides = [
        {name: z3.RealVal(str(value)) for name, value in zip(near.names(side), pair[side], strict=True)}
        for side in (0, 1)
    ]
    solver = z3.Solver()
    solver.add(near.formula(sides[0], sides[1]))
    return bool((solver.check() == z3.sat) == near.holds(pair))


def test_domains_are_known_and_checked() -> None:
    near = layout(MEAN, {}, 2)
    assert len(near.known(0)) == 4
    assert not near.holds(((Fraction(2), Fraction(0)), (Fraction(0), Fraction(0))))
    assert layout(MEAN, {"d": replaced(bits(5))}, 2).names(0) == tuple(f"d[{k}]" for k in range(5))
    assert layout(MEAN, {"d": each(1)}, 1).slices[0].neighborhood == each(1)
    assert list(Layout((), False, ()).starts()) == [((), ())]


def test_steps_are_whole_for_whole_noise() -> None:
    near = layout(ADDED, {"q": one("1/2")}, 2).with_widths([7.4])
    assert near.steps(near.slices[0]) == [1, 2, 7]


def test_missing_declarations_are_refused() -> None:
    open_program = read_program("def f(q: private, epsilon):\n    return q + laplace(1/epsilon)\n")
    with pytest.raises(NotSupported):
        layout(open_program, {}, 1)
    with pytest.raises(NotSupported):
        layout(read_program("def f(q):\n    return q\n"), {}, 1)
    with pytest.raises(NotSupported):
        layout(open_program, {"q": added(between(0, 1))}, 1)


@pytest.mark.parametrize("program", [TWO, ADDED, MEAN], ids=lambda one: one.name)
def test_moves_lead_to_inputs_that_differ(program: object) -> None:
    near = layout(program, {}, 2)  # type: ignore[arg-type]
    for pair in islice(near.starts(), 8):
        assert all(one != other for one, other in near.moves(pair))
