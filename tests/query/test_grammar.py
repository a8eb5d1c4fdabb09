"""Every node and every part of a node is on the list, or refused."""

from pathlib import Path

import pytest
from sqlglot import exp

from privately.errors import NotSupported
from privately.query.grammar import HINTS, PARTS, UNDERSTOOD, check, named
from privately.query.parsing import parse
from privately.query.spans import Source
from tests.query.binding.tables import refusal

GOOD = (Path(__file__).parent / "good.sql").read_text(encoding="utf-8").splitlines()
TREES = [parse(line)[0] for line in GOOD if line and not line.startswith("# ")]
SOURCE = Source(text="")


def test_every_node_and_part_of_the_list_is_used() -> None:
    used = {(type(node), part) for tree in TREES for node in tree.walk() for part, value in node.args.items() if value}
    listed = {(kind, part) for kind, parts in UNDERSTOOD.items() for part in parts}
    unused = {(kind.__name__, part) for kind, part in listed - used}
    harmless = {("Div", "typed"), ("Div", "safe"), ("Cast", "safe"), ("DataType", "nested"), ("Is", "negate")}
    assert unused <= harmless
    assert {type(node) for tree in TREES for node in tree.walk()} == set(UNDERSTOOD)


def test_parts_that_are_not_listed_are_refused() -> None:
    """Whatever is added to any node of a good question, in any part that we do not read, it is seen."""
    tried = 0
    for kind, parts in UNDERSTOOD.items():
        for part in set(kind.arg_types) - parts:
            node = kind(**{part: exp.Null()})
            with pytest.raises(NotSupported):
                check(node, SOURCE)
            tried += 1
    assert tried > 50


def test_kinds_that_are_not_listed_are_refused() -> None:
    kinds = {one for one in vars(exp).values() if isinstance(one, type) and issubclass(one, exp.Expression)}
    assert len(kinds - set(UNDERSTOOD)) > 500
    for kind in kinds - set(UNDERSTOOD):
        with pytest.raises(NotSupported) as caught:
            check(kind(), SOURCE)
        assert caught.value.hint


def test_kinds_are_looked_up_exactly() -> None:
    """A subclass of a listed node is another node."""

    class Count(exp.Count):
        pass

    with pytest.raises(NotSupported):
        check(Count(this=exp.Star()), SOURCE)


def test_hints_are_for_what_is_refused() -> None:
    assert not {kind for kind in HINTS if kind in UNDERSTOOD} - {exp.Subquery, exp.Select}
    for kind, part in PARTS:
        assert part in kind.arg_types
        assert part not in UNDERSTOOD[kind]


def test_too_deep_and_too_large_trees() -> None:
    deep: exp.Expr = exp.Null()
    for _ in range(200):
        deep = exp.Paren(this=deep)
    with pytest.raises(NotSupported, match="too large"):
        check(deep, SOURCE)
    wide: exp.Expr = exp.Null()
    for _ in range(2_000):
        wide = exp.And(this=wide, expression=exp.Null())
    check(wide, SOURCE)


def test_functions_are_named_as_they_were_written() -> None:
    error, _ = refusal("SELECT COUNT(*) FROM visits WHERE Random() > 1")
    assert error.message == "Random is not supported."
    assert named(exp.Rand(), SOURCE) == "RAND"


@pytest.mark.parametrize(
    ("asked", "instead"), [("MIN(x)", "0.05"), ("MAX(x)", "0.95"), ("APPROX_COUNT_DISTINCT(x)", "COUNT(DISTINCT")]
)
def test_what_one_person_decides_has_a_near_relative(asked: str, instead: str) -> None:
    with pytest.raises(NotSupported) as refused:
        parse(f"SELECT {asked} FROM t")
    assert instead in refused.value.hint
