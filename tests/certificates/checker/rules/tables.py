"""Certificates that begin with a table, from plain dictionaries."""

from fractions import Fraction
from typing import Any

import pytest

from privately.certificates.checker import Invalid
from tests.certificates.checker.building import REPLACE, ROW, Number, Plain, node, run, statement

PERSON: Plain = {**ROW, "unit": "person"}
REPLACED: Plain = {**REPLACE, "unit": "person"}
STEPS: Plain = {"argument": "x", "step": "1/2", "low": "-2", "high": "3"}
BINS: Plain = {"argument": "x", "lower": "0", "width": "1/10", "bins": 40}


def limits(kind: str, neighbors: Plain, rows: int, groups: int, per_group: int, **more: Any) -> Plain:
    return {"kind": kind, "neighbors": neighbors, "rows": rows, "groups": groups, "rows_per_group": per_group, **more}


def scan(neighbors: Plain = PERSON, rows: int = 6, groups: int = 4, per_group: int = 2) -> Plain:
    return node("scan_rows", [], limits("Rows", neighbors, rows, groups, per_group), {"table": "visits"})


def keyed(scanned: Plain, listed: int | None = None) -> Plain:
    """The scan's rows by one key."""
    stated = scanned["conclusion"]
    groups = stated["groups"] if listed is None else min(stated["groups"], listed)
    found = limits("Groups", stated["neighbors"], stated["rows"], groups, stated["rows_per_group"], listed=listed)
    return node("group_rows", [0], found, {"keys": [{"key": "part", "values": listed}]})


def sensitivity(value: Number, norm: str = "L1", neighbors: Plain = PERSON) -> Plain:
    return {"kind": "Sensitivity", "neighbors": neighbors, "norm": norm, "value": str(Fraction(value))}


def noisy(premise: int, neighbors: Plain = PERSON, norm: str = "L1") -> Plain:
    """A mechanism that costs a great deal, whatever it rests on."""
    rule, width, kind, number = {
        "L1": ("discrete_laplace", "scale", "PureDP", "epsilon"),
        "L2": ("rounded_gaussian", "standard_deviation", "GaussianDP", "mu"),
    }[norm]
    return node(rule, [premise], {**statement(kind, neighbors), number: "1"}, {width: str(10**30)})


def refused(field: str, *nodes: Plain) -> str:
    """Why the certificate is refused, at this field."""
    with pytest.raises(Invalid) as caught:
        run(*nodes)
    assert caught.value.field == field, caught.value
    return caught.value.reason


def tally(
    rule: str,
    found: Plain,
    parameters: Plain | None = None,
    *,
    neighbors: Plain = PERSON,
    bounds: tuple[int, int, int] = (6, 4, 2),
    listed: int | None = None,
) -> list[Plain]:
    """A scan, groups, and one tally of them."""
    scanned = scan(neighbors, *bounds)
    return [scanned, keyed(scanned, listed), node(rule, [1], found, parameters)]


def accept(nodes: list[Plain]) -> None:
    """Passes if the tally at the end is accepted. Linf is a premise of no noise, so that the next node is refused."""
    last = nodes[-1]["conclusion"]
    if last["norm"] == "Linf":
        assert "Linf" in refused("nodes[3].premises[0]", *nodes, noisy(2, last["neighbors"]))
    else:
        run(*nodes, noisy(2, last["neighbors"], last["norm"]))


def refuse_value(nodes: list[Plain]) -> str:
    """Passes if the tally at the end claims too little."""
    return refused("nodes[2].conclusion.value", *nodes, noisy(2, nodes[-1]["conclusion"]["neighbors"]))
