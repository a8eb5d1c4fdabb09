"""Random mechanisms together with a derivation of nearly the strongest statement of a kind that is true of them.

A family of mechanisms shares one derivation: what an adaptive analyst may choose among.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    rules,
)
from tests.guarantees.enumeration import Pair, Table, mechanism, neighbour_pairs, revealing, tables
from tests.guarantees.rules.refutation import refutation, spread, strongest

KINDS: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP]
ROW_KINDS: list[type[Guarantee]] = [PureDP, ApproxDP]
ADD_REMOVE, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE

FAST = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
THOROUGH = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
SHARES = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 3), Fraction(2, 3)])

Rule = Callable[..., Derivation]


@dataclass(frozen=True)
class Known:
    """Mechanisms, and a statement that is true of each of them."""

    tables: tuple[Table, ...]
    derivation: Derivation

    @property
    def table(self) -> Table:
        return self.tables[0]

    @property
    def statement(self) -> Guarantee:
        return self.derivation.conclusion


def know(
    kind: type[Guarantee], listed: Sequence[Table], neighbors: Neighbors = ADD_REMOVE, *, share: Fraction = Fraction(0)
) -> Known:
    """Derived from the tables themselves where a rule does that, and assumed otherwise.

    `share` says where between its least value and its value at epsilon 0 delta lies.
    """
    pairs: list[Pair] = [pair for table in listed for pair in neighbour_pairs(table, neighbors)]
    if kind is ApproxZCDP:
        rho = strongest(ZCDP, pairs, neighbors).parameters["rho"]
        told = tuple(revealing(table, share / 2) for table in listed)
        return Known(told, rules.suppose(ApproxZCDP(rho=rho, delta=share / 2, neighbors=neighbors)))
    if kind is ApproxDP:
        least, most = spread(pairs) if pairs else (Fraction(0), Fraction(0))
        return _by_table(listed, neighbors, least + share * (most - least), approximate=True)
    if kind is PureDP:
        return _by_table(listed, neighbors, Fraction(0), approximate=False)
    return Known(tuple(listed), rules.suppose(strongest(kind, pairs, neighbors)))


def _by_table(listed: Sequence[Table], neighbors: Neighbors, delta: Fraction, *, approximate: bool) -> Known:
    if neighbors.size != 1 or neighbors.unit is not None:
        pairs = [pair for table in listed for pair in neighbour_pairs(table, neighbors)]
        kind = ApproxDP if approximate else PureDP
        return Known(tuple(listed), rules.suppose(strongest(kind, pairs, neighbors, delta=delta)))
    derived = [rules.finite_table(mechanism(table), neighbors=neighbors, delta=delta) for table in listed]
    worst = max(derived, key=lambda one: one.conclusion.parameters["epsilon"])
    if approximate and delta == 0:
        epsilon = worst.conclusion.parameters["epsilon"]
        worst = rules.weaken(worst, to=ApproxDP(epsilon=epsilon, delta=0, neighbors=neighbors))
    return Known(tuple(listed), worst)


@st.composite
def knowns(
    draw: st.DrawFn,
    kind: type[Guarantee],
    records: Sequence[str],
    sizes: Sequence[int],
    neighbors: Neighbors = ADD_REMOVE,
    *,
    outcomes: int = 2,
    members: int = 1,
) -> Known:
    zeros = kind is ApproxDP and draw(st.booleans())
    drawn: Any = [draw(tables(records, sizes, outcomes=outcomes, zeros=zeros)) for _ in range(members)]
    return know(kind, drawn, neighbors, share=draw(SHARES))


def fault(derivation: Derivation, table: Table) -> str:
    """Why the mechanism refutes what was derived; empty when it does not."""
    statement = derivation.conclusion
    return refutation(statement, neighbour_pairs(table, statement.neighbors))


def stated(kind: type[Guarantee], neighbors: Neighbors, **numbers: Any) -> Guarantee:
    """A statement of a kind, given by its numbers."""
    made: Any = kind
    found: Guarantee = made(neighbors=neighbors, **numbers)
    return found


def renyi(bounds: dict[Any, Any]) -> RenyiDP:
    return RenyiDP(bounds=bounds)


def claim(kind: type[Guarantee], neighbors: Neighbors, **numbers: Any) -> Derivation:
    """What a false rule would conclude."""
    return rules.suppose(stated(kind, neighbors, **numbers))
