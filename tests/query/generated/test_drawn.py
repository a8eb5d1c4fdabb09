"""All that is supported is drawn by the generator, so that nothing is supported without being tried."""

from collections import Counter
from itertools import combinations
from random import Random

from sqlglot import exp

from privately.plans import FUNCTIONS, Call, Expression, Filter, Project, Question, UnitCount
from privately.plans.expressions import parts
from privately.query.binding.aggregates import AGGREGATES
from privately.query.binding.expressions import BINDERS, DATE_PARTS, NAMED, TYPES
from privately.query.grammar import UNDERSTOOD
from privately.query.listing import listing_of
from privately.query.parsing import parse
from tests.plans.small import distances
from tests.query.generated import signatures
from tests.query.generated.cases import Case, drawn
from tests.query.generated.claims import claims
from tests.query.generated.counting import counted
from tests.query.generated.odd_types import ODD, ODD_PEOPLE
from tests.query.generated.tables import CELLS

MOST = 2_000
RICH: tuple[int, ...] = (
    89,
    135,
    574,
    598,
    879,
    322,
    324,
    270,
    1242,
    248,
    503,
    792,
    355,
    1232,
    93,
    172,
    282,
    437,
    1385,
    88,
)
RICH += (547, 49, 200, 840, 0, 3, 56, 101, 127, 244)
"""Cases in which there is much; they are drawn first, and the rest of the 2,000 only if something is missing."""


def test_every_node_that_has_a_meaning_can_be_written() -> None:
    found = {kind for kinds in signatures.functions().values() for kind in kinds}
    assert found | set(signatures.LEAVES) == set(BINDERS)
    assert set(signatures.aggregates()) == set(AGGREGATES)


def wanted() -> set[object]:
    """All that must be drawn."""
    found: set[object] = {*UNDERSTOOD, *FUNCTIONS, *CELLS, *ODD, "a public table", "groups that nobody listed"}
    found |= {("person", *kind) for kind in ODD_PEOPLE}
    found |= {(kind, part) for kind, listed in UNDERSTOOD.items() for part in listed - signatures.FLAGS}
    found |= (
        {("type", read_type(one)) for one in TYPES}
        | {("part", one) for one in DATE_PARTS}
        | {("name", one) for one in NAMED}
    )
    return found | {("unit", change, named) for change in ("add_remove", "replace") for named in (True, False)}


def read_type(kind: object) -> object:
    """What the parser makes of the name of a type: some are other names of one."""
    tree, _ = parse(f"SELECT CAST(x AS {exp.DataType(this=kind).sql()}) FROM t")
    return tree.expressions[0].args["to"].this


def in_case(case: Case) -> set[object]:
    """What there is of it in a case."""
    if case.question is None:
        return set()
    tree, _ = parse(case.statement.text)
    found: set[object] = set()
    for node in tree.walk():
        found.add(type(node))
        found |= {(type(node), part) for part, value in node.args.items() if value}
        if isinstance(node, exp.DataType):
            found.add(("type", node.this))
        if isinstance(node, exp.Extract):
            found.add(("part", node.this.name.casefold()))
        if isinstance(node, exp.Anonymous):
            found.add(("name", node.name.casefold()))
            found |= {("part", one.name) for one in node.expressions if one.is_string}
    unit = case.declared.table.unit
    found.add(("unit", unit.change, unit.column is not None))
    columns = list(zip(case.declared.table.columns, case.declared.found, strict=True))
    found |= {("person", column.type, kind) for column, kind in columns if column.name == unit.column}
    found |= {"a public table"} if case.question.aggregation.combinations is not None else set()
    found |= {"groups that nobody listed"} if listing_of(case.question) is not None else set()
    return found | functions_in(case.question) | {(column.type, kind) for column, kind in columns}


def functions_in(question: Question) -> set[object]:
    """The functions of the plan that rows go through."""
    found: list[Expression] = [key.expression for key in question.aggregation.keys]
    found += [
        tally.argument
        for _, tally in question.aggregation.tallies
        if not isinstance(tally, UnitCount) and tally.argument is not None
    ]
    relation = question.aggregation.source
    while isinstance(relation, (Filter, Project)):
        found += [relation.condition] if isinstance(relation, Filter) else [one for _, one in relation.outputs]
        relation = relation.source
    return {part.function for one in found for part in parts(one) if isinstance(part, Call)}


def test_everything_that_is_supported_is_drawn() -> None:
    missing = wanted()
    assert max(RICH) < MOST
    for seed in (*RICH, *range(MOST)):
        missing -= in_case(drawn(Random(seed)))
        if not missing:
            break
    assert not missing


def test_a_node_that_nobody_can_draw_is_noticed() -> None:
    missing: set[object] = {exp.Pow, "power", ("part", "century")}
    for seed in range(20):
        missing -= in_case(drawn(Random(seed)))
    assert len(missing) == 3


def test_cases_are_worth_their_while() -> None:
    """Most are answered, most tables have neighbours that are told apart, and many are as far apart as claimed."""
    seen: Counter[str] = Counter()
    for seed in range(40):
        case = drawn(Random(seed))
        if case.question is None:
            continue
        tables = counted(case.declared, case.question.aggregation, case.tables)
        apart = [
            (distances(claim.entries[one], claim.entries[other])[0], claim.one)
            for claim in claims(case.question, tables)
            for _, numbers in case.families
            for one, other in combinations(set(numbers), 2)
        ]
        seen["answered"] += 1
        seen["moved"] += any(moved for moved, _ in apart)
        seen["reached"] += any(moved == most for moved, most in apart)
    assert seen["answered"] >= 38
    assert seen["moved"] >= 18
    assert seen["reached"] >= 10
