"""Feasibility of linear constraints."""

import random
from fractions import Fraction

import pytest
import z3

from privately.proving.paths.affine import Affine, Constraint, holds, symbol_form
from privately.proving.paths.linear import groups, point

X, Y = symbol_form("x"), symbol_form("y")


def random_constraints(chance: random.Random) -> list[Constraint]:
    found = []
    for _ in range(chance.randint(2, 7)):
        terms = {name: chance.randint(-2, 2) for name in "uvw"}
        kept = {name: factor for name, factor in terms.items() if factor} or {"u": 1}
        relation = chance.choice([">", ">", ">=", ">=", "=="])
        found.append(Constraint(Affine(Fraction(chance.randint(-4, 4), 2), kept), relation))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("seed", range(150))
def test_points_exist_exactly_where_elimination_says_so(seed: int) -> None:
    constraints = random_constraints(random.Random(seed))
    found = point(constraints)
    names = {name: z3.Real(name) for name in "uvw"}
    solver = z3.Solver()
    for one in constraints:
        total = sum(
            (z3.RealVal(str(factor)) * names[str(symbol)] for symbol, factor in one.form.terms.items()),
            z3.RealVal(str(one.form.constant)),
        )
        solver.add({">": total > 0, ">=": total >= 0, "==": total == 0}[one.relation])
    assert (found is not None) == (solver.check() == z3.sat)
    if found is not None:
        for one in constraints:
            value = one.form.constant + sum(factor * found[symbol] for symbol, factor in one.form.terms.items())
            assert holds(value, one.relation)


def test_edges_count_for_loose_constraints_only() -> None:
    assert point([Constraint(X - 2, ">="), Constraint(2 - X, ">=")]) == {"x": Fraction(2)}
    assert point([Constraint(X - 2, ">"), Constraint(2 - X, ">=")]) is None
    assert point([]) == {}


def test_unbounded_regions_have_points() -> None:
    assert point([Constraint(X - Y, ">")]) is not None
    assert point([Constraint(X - Y, ">"), Constraint(Y - X, ">")]) is None


def test_what_shares_no_symbol_is_met_apart() -> None:
    z = symbol_form("z")
    apart = [Constraint(X - Y, ">"), Constraint(z - 3, "=="), Constraint(Y - 1, ">=")]
    assert [len(group) for group in groups(apart)] == [1, 2]
    found = point(apart)
    assert found is not None
    assert found["z"] == 3
    assert found["x"] > found["y"] >= 1
    assert point([*apart, Constraint(1 - X, ">")]) is None
    assert point([*apart, Constraint(z - 4, ">=")]) is None
