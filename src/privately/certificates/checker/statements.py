"""What a node claims: a kind of guarantee, its numbers, and whose change it protects against.

Or, before there is a guarantee, how much of a table one unit is: a kind of stability and its members.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .rationals import ONE, ZERO, Rational
from .schema import Invalid, array, choice, integer, members, rational, show, text

LARGEST_NUMBER = Rational(10**9)
LARGEST_BOUND_COUNT = 1_000
LONGEST_UNIT = 1_000

# The numbers of each kind, in the order in which people say them; RenyiDP has `bounds` instead.
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "PureDP": ("epsilon",),
    "ApproxDP": ("epsilon", "delta"),
    "ZCDP": ("rho",),
    "ApproxZCDP": ("rho", "delta"),
    "GaussianDP": ("mu",),
    "RenyiDP": (),
}
GUARANTEES = frozenset(NUMBERS)
NORMS = ("L1", "L2", "Linf")  # from the largest to the smallest


def _positive(value: object, field: str) -> int:
    return integer(value, field, least=1)


def _optional(value: object, field: str) -> int | None:
    return None if value is None else _positive(value, field)


def _norm(value: object, field: str) -> str:
    return choice(value, field, NORMS)


def _amount(value: object, field: str) -> Rational:
    number = rational(value, field)
    if number.numerator < 0:
        raise Invalid(field, "is negative")
    return number


# The members of each kind of stability, and how they are read.
STABILITIES: Mapping[str, Mapping[str, Callable[[object, str], Any]]] = {
    "Rows": {"rows": _positive, "groups": _positive, "rows_per_group": _positive},
    "Groups": {"rows": _positive, "groups": _positive, "rows_per_group": _positive, "listed": _optional},
    "Sensitivity": {"norm": _norm, "value": _amount},
    "ScoreSpread": {"value": _amount},
    "UnitKeys": {"keys": _positive},
}
_MEMBERS = {kind: frozenset({"kind", "neighbors", *names}) for kind, names in {**NUMBERS, **STABILITIES}.items()}
_MEMBERS["RenyiDP"] |= {"bounds"}
_NEIGHBOR_MEMBERS = frozenset({"change", "size", "unit", "max_rows"})


class Neighbors(NamedTuple):
    """Two data sets are neighbours when they differ by at most `size` changes."""

    change: str
    size: int
    unit: str | None
    max_rows: int | None

    def text(self) -> str:
        """For people: such as "adding or removing one row"."""
        verb = "adding or removing" if self.change == "add_remove" else "replacing"
        if self.unit is None:
            return f"{verb} {'one row' if self.size == 1 else f'up to {self.size} rows'}"
        what = "all rows of one" if self.size == 1 else f"all rows of up to {self.size}"
        limit = "any number of rows each" if self.max_rows is None else f"at most {self.max_rows} rows each"
        return f"{verb} {what} {show(self.unit)} ({limit})"


class Statement(NamedTuple):
    """One conclusion. `bounds` are the pairs (order, bound) of a RenyiDP, by rising order.

    A guarantee has `numbers`; a stability has `stated` members instead.
    """

    kind: str
    neighbors: Neighbors
    numbers: Mapping[str, Rational]
    bounds: tuple[tuple[Rational, Rational], ...] = ()
    stated: Mapping[str, Any] = {}

    def number(self, name: str) -> Rational:
        """A number of this statement; a kind without delta has delta 0."""
        return self.numbers.get(name, ZERO)

    def bound_by_order(self) -> dict[tuple[int, int], Rational]:
        return {order.key(): bound for order, bound in self.bounds}

    def text(self) -> str:
        """For people: such as "(0.5, 1e-6)-DP, adding or removing one row"."""
        return f"{self.numbers_text()}, {self.neighbors.text()}"

    def numbers_text(self) -> str:
        """The same without the neighbours."""
        if self.kind in STABILITIES:
            return _stability_text(self.kind, self.stated)
        said = [self.numbers[name].text() for name in NUMBERS[self.kind]]
        form = {
            "PureDP": "{}-DP",
            "ApproxDP": "({}, {})-DP",
            "ZCDP": "{}-zCDP",
            "ApproxZCDP": "{1}-approximate {0}-zCDP",
            "GaussianDP": "{}-Gaussian DP",
            "RenyiDP": f"Renyi DP with bounds at {len(self.bounds)} orders",
        }[self.kind]
        return form.format(*said)

    def plain(self) -> dict[str, object]:
        """As in a certificate."""
        plain: dict[str, object] = {"kind": self.kind, "neighbors": self.neighbors._asdict()}
        plain |= {name: number.exact() for name, number in self.numbers.items()}
        if self.kind == "RenyiDP":
            plain["bounds"] = [[order.exact(), bound.exact()] for order, bound in self.bounds]
        return plain


def _stability_text(kind: str, stated: Mapping[str, Any]) -> str:
    if kind == "Sensitivity":
        return f"moves by at most {stated['value'].text()} in {stated['norm']}"
    if kind == "ScoreSpread":
        return f"scores move at most {stated['value'].text()} apart"
    if kind == "UnitKeys":
        return f"each unit counts once in at most {stated['keys']} keys"
    rows, groups, per_group = stated["rows"], stated["groups"], stated["rows_per_group"]
    where = "one group" if groups == 1 else f"at most {groups} groups, at most {per_group} in each"
    limits = "one row" if rows == 1 else f"at most {min(rows, groups * per_group)} rows, in {where}"
    if kind == "Rows":
        return f"of one unit {limits}"
    listed = "one group" if stated["listed"] == 1 else f"{stated['listed']} groups"
    return f"{'groups that nobody listed' if stated['listed'] is None else listed}, of one unit {limits}"


def read_statement(value: object) -> Statement:
    field = "conclusion"
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(value, dict) and not (isinstance(kind, str) and kind in _MEMBERS):
        raise Invalid(f"{field}.kind", f"is not a kind of guarantee: {show(kind)}")
    raw = members(value, _MEMBERS[str(kind)] if kind else frozenset(), field)
    if raw["kind"] in STABILITIES:
        stated = {name: read(raw[name], f"{field}.{name}") for name, read in STABILITIES[raw["kind"]].items()}
        return Statement(raw["kind"], read_neighbors(raw["neighbors"], f"{field}.neighbors"), {}, stated=stated)
    numbers = {name: _number(raw[name], f"{field}.{name}", name) for name in NUMBERS[raw["kind"]]}
    bounds = read_bounds(raw["bounds"], f"{field}.bounds") if "bounds" in raw else ()
    return Statement(raw["kind"], read_neighbors(raw["neighbors"], f"{field}.neighbors"), numbers, bounds)


def _number(value: object, field: str, name: str) -> Rational:
    number = rational(value, field)
    if number.numerator < 0:
        raise Invalid(field, "is negative")
    if not number <= (ONE if name == "delta" else LARGEST_NUMBER):
        raise Invalid(field, "is above " + ("1" if name == "delta" else "10^9"))
    return number


def read_bounds(value: object, field: str) -> tuple[tuple[Rational, Rational], ...]:
    pairs = array(value, field)
    if not 1 <= len(pairs) <= LARGEST_BOUND_COUNT:
        raise Invalid(field, f"must have 1 to {LARGEST_BOUND_COUNT} pairs")
    result = []
    last = ONE
    for i, pair in enumerate(pairs):
        if len(array(pair, f"{field}[{i}]")) != 2:
            raise Invalid(f"{field}[{i}]", "must be a pair of order and bound")
        order = _number(pair[0], f"{field}[{i}][0]", "order")
        if order <= last:
            raise Invalid(f"{field}[{i}][0]", "orders must be above 1 and strictly increasing")
        last = order
        result.append((order, _number(pair[1], f"{field}[{i}][1]", "bound")))
    return tuple(result)


def read_neighbors(value: object, field: str) -> Neighbors:
    raw = members(value, _NEIGHBOR_MEMBERS, field)
    change, unit, max_rows = raw["change"], raw["unit"], raw["max_rows"]
    if not isinstance(change, str) or change not in {"add_remove", "replace"}:
        raise Invalid(f"{field}.change", f"must be add_remove or replace, not {show(change)}")
    size = integer(raw["size"], f"{field}.size", least=1)
    if max_rows is not None:
        integer(max_rows, f"{field}.max_rows", least=1)
    if unit is None and max_rows is not None:
        raise Invalid(f"{field}.max_rows", "must be null when unit is null")
    if unit is not None and not 1 <= len(text(unit, f"{field}.unit")) <= LONGEST_UNIT:
        raise Invalid(f"{field}.unit", f"must have 1 to {LONGEST_UNIT} characters")
    return Neighbors(change, size, unit, max_rows)


def require(field: str, claimed: Rational, needed: Rational) -> None:
    """Check that a claimed number is at least what the rule gives."""
    if claimed < needed:
        raise Invalid(field, f"claims {claimed.text()}, but the rule gives {needed.text()}")


def require_delta(claimed: Rational, needed: Rational) -> None:
    """The same for delta, of which 1 always is enough."""
    if claimed < ONE:
        require("conclusion.delta", claimed, needed)


def require_weaker(claim: Statement, given: Statement) -> None:
    """Check that a claim of the same kind says no more than what is given; neighbours are looked at elsewhere."""
    for name, claimed in claim.numbers.items():
        require(f"conclusion.{name}", claimed, given.number(name))
    listed = given.bound_by_order() if claim.bounds else {}
    for i, (order, bound) in enumerate(claim.bounds):
        if order.key() not in listed:
            raise Invalid(f"conclusion.bounds[{i}][0]", f"order {order.text()} is not listed in the premise")
        require(f"conclusion.bounds[{i}][1]", bound, listed[order.key()])
