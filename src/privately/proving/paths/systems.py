"""Linear constraints on independent draws, taken apart: sums that occur only as sums, parts that share nothing, trees.

After this every constraint has one or two variables, and the variables of a part are joined like a tree, so that
the probability can be computed from the leaves to the root (continuous.py, discrete.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately.errors import NotSupported
from privately.proving.paths.affine import Affine, Constraint, Relation
from privately.proving.paths.densities import Share
from privately.proving.paths.linear import point
from privately.proving.paths.noise import Noise, law_of

Edge: TypeAlias = tuple[Fraction, Fraction, Fraction, Relation]
"""(a, b, c, relation): a child + b parent + c, compared with zero."""

Bound: TypeAlias = tuple[Fraction, Fraction, Relation]
"""(a, c, relation): a variable + c, compared with zero."""


class Entangled(NotSupported):
    """The constraints join the noise in a way that is not a tree."""


@dataclass(frozen=True)
class Node:
    """One variable (a sum of multiples of draws): bounds on it alone, and its children, each with what joins them."""

    shares: tuple[Share, ...]
    bounds: tuple[Bound, ...]
    children: tuple[tuple[Node, tuple[Edge, ...]], ...]

    @property
    def laws(self) -> frozenset[str]:
        """The laws in the sum."""
        return frozenset(noise.law for _, noise in self.shares)

    @property
    def continuous(self) -> bool:
        """Whether single values have probability zero."""
        return self.shares[0][1].continuous

    def nodes(self) -> Iterable[Node]:
        """This one and all below it."""
        yield self
        for child, _ in self.children:
            yield from child.nodes()


@dataclass(frozen=True)
class Part:
    """Variables that hang together, as adjacency: whoever measures picks the root."""

    shares: Mapping[int, tuple[Share, ...]]
    bounds: Mapping[int, tuple[Bound, ...]]
    edges: Mapping[tuple[int, int], tuple[Constraint, ...]]

    def neighbors(self, variable: int) -> list[int]:
        """The variables that share a constraint with this one."""
        return [b if a == variable else a for a, b in self.edges if variable in {a, b}]

    def rooted(self, root: int, above: int | None = None) -> Node:
        """The tree that hangs from a variable."""
        children = tuple(
            (self.rooted(child, root), self.joining(child, root)) for child in self.neighbors(root) if child != above
        )
        return Node(self.shares[root], self.bounds.get(root, ()), children)

    def joining(self, child: int, parent: int) -> tuple[Edge, ...]:
        """The constraints between two variables, read from the child."""
        found = self.edges[min(child, parent), max(child, parent)]
        return tuple((one.form.terms[child], one.form.terms[parent], one.form.constant, one.relation) for one in found)


def almost_surely(constraints: Iterable[Constraint], noises: Sequence[Noise]) -> list[Constraint]:
    """The same up to probability zero: at the edge of a constraint on continuous noise lies nothing."""
    return [
        Constraint(one.form, ">")
        if one.relation == ">=" and any(law_of(symbol, noises).continuous for symbol in one.form.terms)
        else one
        for one in constraints
    ]


def impossible(constraints: Sequence[Constraint], noises: Sequence[Noise]) -> bool:
    """Whether they hold with probability zero for a reason that linear arithmetic sees.

    Theorem: if this is true, the probability is zero; if the noise is continuous, only then.
    Reference: Chvatal 1983, theorem 9.2 (Farkas)
    Proof: docs/theory/refuting.md#feasibility
    Checked-by: tests/proving/paths/test_systems.py::test_impossible_means_never_drawn
    """
    exact = almost_surely(constraints, noises)
    if any(
        one.relation == "==" and any(law_of(symbol, noises).continuous for symbol in one.form.terms) for one in exact
    ):
        return True
    support = [
        Constraint(Affine(0, {symbol: 1}), ">" if law_of(symbol, noises).continuous else ">=")
        for symbol in dict.fromkeys(symbol for one in exact for symbol in one.form.terms)
        if law_of(symbol, noises).one_sided
    ]
    return point([*exact, *support]) is None


def parts(constraints: Sequence[Constraint], noises: Sequence[Noise]) -> list[Part]:
    """The independent parts; draws that no constraint names are left out."""
    exact = _distinct(without_support(almost_surely(constraints, noises), noises))
    try:
        return plain_parts(exact, noises)
    except Entangled:
        return plain_parts(without_implied(exact), noises)


def plain_parts(constraints: Sequence[Constraint], noises: Sequence[Noise]) -> list[Part]:
    """The same, with every constraint as it stands: constants are carried along and not looked at."""
    shares, exact = _lumped(list(constraints), noises)
    if _tangled(exact):
        raise Entangled("the noise in one guard meets too much other noise in others.", hint="Take smaller inputs.")
    return [_part(group, shares) for group in _components(exact)]


def without_support(constraints: Sequence[Constraint], noises: Sequence[Noise]) -> list[Constraint]:
    """One-sided laws are zero below zero by themselves."""
    return [
        one
        for one in constraints
        if not (
            len(one.form.terms) == 1
            and one.relation != "=="
            and all(
                isinstance(s, int) and noises[s].one_sided and f > 0 and _certain(one, noises[s])
                for s, f in one.form.terms.items()
            )
        )
    ]


def _certain(constraint: Constraint, noise: Noise) -> bool:
    """Whether all numbers from zero on meet it, up to probability zero."""
    constant, relation = constraint.form.constant, constraint.relation
    return constant > 0 or (constant == 0 and (relation == ">=" or noise.continuous))


def _distinct(constraints: list[Constraint]) -> list[Constraint]:
    return list(dict.fromkeys(_scaled(one) for one in constraints))


def _scaled(constraint: Constraint) -> Constraint:
    """The first coefficient made 1 or -1, so that equal constraints look alike."""
    ordered = sorted(constraint.form.terms.items(), key=lambda item: str(item[0]))
    size = abs(ordered[0][1])
    form = Affine(constraint.form.constant / size, {symbol: factor / size for symbol, factor in ordered})
    return Constraint(form, constraint.relation)


def _lumped(
    constraints: list[Constraint], noises: Sequence[Noise]
) -> tuple[dict[int, tuple[Share, ...]], list[Constraint]]:
    """Draws that occur everywhere in one proportion are one variable: their sum in that proportion."""
    columns: dict[int, list[tuple[int, Fraction]]] = {}
    for place, one in enumerate(constraints):
        for symbol, factor in one.form.terms.items():
            columns.setdefault(int(symbol), []).append((place, factor))
    shares = {symbol: ((Fraction(1), noises[symbol]),) for symbol in columns}
    leaders: dict[object, tuple[int, Fraction]] = {}
    kept: dict[int, tuple[Share, ...]] = {}
    gone: set[int] = set()
    for symbol in sorted(columns, key=lambda symbol: abs(columns[symbol][0][1])):
        column = columns[symbol]
        first = column[0][1]
        kind = _kind(shares[symbol])
        key = (kind, tuple((place, factor / first) for place, factor in column))
        if key not in leaders:
            leaders[key] = (symbol, first)
            kept[symbol] = shares[symbol]
            continue
        leader, size = leaders[key]
        ratio = first / size
        if kind == "discrete" and ratio.denominator != 1:
            kept[symbol] = shares[symbol]
            continue
        kept[leader] += tuple((ratio * factor, noise) for factor, noise in shares[symbol])
        gone.add(symbol)
    reduced = [
        Constraint(Affine(one.form.constant, {s: f for s, f in one.form.terms.items() if s not in gone}), one.relation)
        for one in constraints
    ]
    return kept, reduced


def _kind(shares: tuple[Share, ...]) -> str:
    law = shares[0][1]
    if not law.continuous:
        return "discrete"
    return "gaussian" if law.law == "gaussian" else "exponential"


def _tangled(constraints: list[Constraint]) -> bool:
    """Whether some constraint has three variables, or the pairs close a circle."""
    if any(len(one.form.terms) > 2 for one in constraints):
        return True
    leader: dict[object, object] = {}

    def top(symbol: object) -> object:
        while leader.get(symbol, symbol) != symbol:
            symbol = leader[symbol]
        return symbol

    for a, b in {tuple(sorted(one.form.terms, key=str)) for one in constraints if len(one.form.terms) == 2}:
        first, second = top(a), top(b)
        if first == second:
            return True
        leader[first] = second
    return False


def without_implied(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Without those that follow from the others; the ones with most variables are tried first."""
    kept = list(constraints)
    for one in sorted(constraints, key=lambda each: -len(each.form.terms)):
        if one.relation == "==":
            continue
        others = [other for other in kept if other != one]
        if point([*others, one.negated()]) is None:
            kept = others
    return kept


def _components(constraints: list[Constraint]) -> list[list[Constraint]]:
    groups: dict[int, list[Constraint]] = {}
    owner: dict[object, int] = {}
    for number, one in enumerate(constraints):
        known = {owner[symbol] for symbol in one.form.terms if symbol in owner}
        group = max(known, key=lambda each: len(groups[each]), default=number)
        members = groups.setdefault(group, [])
        for other in known - {group}:
            members += groups[other]
            owner.update({symbol: group for each in groups.pop(other) for symbol in each.form.terms})
        members.append(one)
        owner.update(dict.fromkeys(one.form.terms, group))
    return list(groups.values())


def _part(constraints: list[Constraint], shares: Mapping[int, tuple[Share, ...]]) -> Part:
    bounds: dict[int, tuple[Bound, ...]] = {}
    edges: dict[tuple[int, int], tuple[Constraint, ...]] = {}
    inside: dict[int, tuple[Share, ...]] = {}
    for one in constraints:
        symbols = sorted(int(symbol) for symbol in one.form.terms)
        inside.update({symbol: shares[symbol] for symbol in symbols})
        if len(symbols) == 1:
            bound = (one.form.terms[symbols[0]], one.form.constant, one.relation)
            bounds[symbols[0]] = (*bounds.get(symbols[0], ()), bound)
        else:
            pair = (symbols[0], symbols[1])
            edges[pair] = (*edges.get(pair, ()), one)
    return Part(inside, bounds, edges)
