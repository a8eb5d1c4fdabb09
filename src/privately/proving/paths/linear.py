"""Whether linear constraints can all hold, decided in rational numbers by the simplex method, with a point if so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import fmpq

from privately.errors import NotSupported
from privately.proving.paths.affine import Constraint, Symbol

MOST_PIVOTS = 5_000
_ZERO, _ONE = fmpq(0), fmpq(1)


def point(constraints: Iterable[Constraint]) -> dict[Symbol, Fraction] | None:
    """A point at which all of them hold, away from the edge of the strict ones; None if there is none.

    Theorem: None is returned exactly if no real point meets all constraints.
    Reference: Chvatal 1983, chapters 2 and 3 (Bland's rule ends the search)
    Proof: docs/theory/refuting.md#feasibility
    Checked-by: tests/proving/paths/test_linear.py::test_points_exist_exactly_where_elimination_says_so
    """
    found: dict[Symbol, Fraction] = {}
    for group in groups(constraints):
        here = _point(group)
        if here is None:
            return None
        found.update(here)
    return found


def excluded(constraint: Constraint, others: Sequence[Constraint]) -> bool:
    """Whether one of the others says the opposite: guards of which a program asks twice need no simplex method."""
    opposite = -constraint.form
    return any(
        other.form == opposite and ">" in {constraint.relation, other.relation}
        for other in others
        if other.form.terms.keys() == opposite.terms.keys()
    )


def groups(constraints: Iterable[Constraint]) -> list[list[Constraint]]:
    """Constraints that hang together by their symbols: each group can be met on its own."""
    found: list[tuple[set[Symbol], list[Constraint]]] = []
    for one in constraints:
        symbols, members = set(one.form.terms), [one]
        apart = []
        for others, group in found:
            if others & symbols:
                symbols, members = others | symbols, group + members
            else:
                apart.append((others, group))
        found = [*apart, (symbols, members)]
    return [members for _, members in found]


def _point(wanted: list[Constraint]) -> dict[Symbol, Fraction] | None:
    symbols = list(dict.fromkeys(symbol for one in wanted for symbol in one.form.terms))
    columns = {symbol: place for place, symbol in enumerate(symbols)}
    rows: list[list[fmpq]] = []
    for one in wanted:
        row = _row(one, columns)
        rows.append([*row, -_ONE if one.relation == ">" else _ZERO])
        if one.relation == "==":
            rows.append([*(-entry for entry in row), _ZERO])
    rows.append([_ONE, *[_ZERO] * (2 * len(symbols)), -_ONE])
    strict = any(one.relation == ">" for one in wanted)
    values = _solved(rows)
    if values is None or (strict and not values[-1] > 0):
        return None
    return {
        symbol: Fraction(int(value.p), int(value.q))
        for place, symbol in enumerate(symbols)
        for value in [values[2 * place] - values[2 * place + 1]]
    }


def _row(constraint: Constraint, columns: dict[Symbol, int]) -> list[fmpq]:
    """constant, then each symbol as the difference of two numbers from 0 on."""
    constant = constraint.form.constant
    row = [fmpq(constant.numerator, constant.denominator), *[_ZERO] * (2 * len(columns))]
    for symbol, factor in constraint.form.terms.items():
        row[1 + 2 * columns[symbol]] = fmpq(factor.numerator, factor.denominator)
        row[2 + 2 * columns[symbol]] = -fmpq(factor.numerator, factor.denominator)
    return row


def _solved(rows: list[list[fmpq]]) -> list[fmpq] | None:
    """The values of x >= 0 with constant + row x >= 0 for all rows and the last x as large as can be."""
    width = len(rows[0])
    table = [[*row, _ONE] for row in rows]
    basic = [width + 1 + place for place in range(len(rows))]
    free = list(range(1, width + 1))
    helper = width
    worst = min(range(len(table)), key=lambda place: table[place][0])
    if table[worst][0] < _ZERO:
        _pivot(table, basic, free, (worst, len(free) - 1))
        objective = _expressed({helper: -_ONE}, table, basic, free)
        _improve(table, basic, free, objective)
        if helper in basic:
            row = basic.index(helper)
            if table[row][0] != 0:
                return None
            column = next((place for place in range(len(free)) if table[row][place + 1] != 0), None)
            if column is not None:
                _pivot(table, basic, free, (row, column))
    if helper in free:
        gone = free.index(helper)
        free.pop(gone)
        for row_entries in table:
            row_entries.pop(gone + 1)
    _improve(table, basic, free, _expressed({width - 1: _ONE}, table, basic, free))
    found = dict(zip(basic, (row[0] for row in table), strict=True))
    return [found.get(place, _ZERO) for place in range(1, width)]


def _expressed(goal: dict[int, fmpq], table: list[list[fmpq]], basic: list[int], free: list[int]) -> list[fmpq]:
    """A goal in terms of the free variables."""
    result = [_ZERO] * (len(free) + 1)
    for variable, factor in goal.items():
        if variable in free:
            result[free.index(variable) + 1] += factor
        else:
            row = table[basic.index(variable)]
            result = [entry + factor * other for entry, other in zip(result, row, strict=True)]
    return result


def _improve(table: list[list[fmpq]], basic: list[int], free: list[int], objective: list[fmpq]) -> None:
    for _ in range(MOST_PIVOTS):
        better = [place for place in range(len(free)) if objective[place + 1] > _ZERO]
        if not better:
            return
        column = min(better, key=lambda place: free[place])
        limits = [
            (row[0] / -row[column + 1], basic[place], place)
            for place, row in enumerate(table)
            if row[column + 1] < _ZERO
        ]
        if not limits:
            return
        _pivot(table, basic, free, (min(limits)[2], column), objective)
    raise NotSupported("linear constraints that take too many steps.")


def _pivot(
    table: list[list[fmpq]],
    basic: list[int],
    free: list[int],
    place: tuple[int, int],
    objective: list[fmpq] | None = None,
) -> None:
    """The basic variable of the row and the free one of the column change places."""
    row, column = place
    factor = table[row][column + 1]
    solved = [-entry / factor for entry in table[row]]
    solved[column + 1] = 1 / factor
    table[row] = solved
    entries = [(number, entry) for number, entry in enumerate(solved) if entry != _ZERO]
    targets: Sequence[list[fmpq]] = [other for number, other in enumerate(table) if number != row]
    for target in (*targets, *([objective] if objective is not None else [])):
        share = target[column + 1]
        if share != _ZERO:
            target[column + 1] = _ZERO
            for number, entry in entries:
                target[number] += share * entry
    basic[row], free[column] = free[column], basic[row]
