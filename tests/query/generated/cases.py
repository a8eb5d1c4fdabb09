"""A case: a declaration, a table, a question, and all neighbours; and everything that must hold of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from privately.errors import PrivatelyError, Refused
from privately.plans import BinCounts, Question, scan_of
from privately.query import bind
from tests.engines import reference
from tests.query.generated.claims import violations
from tests.query.generated.counting import Hashes, Numbers, counted, counted_by_engine
from tests.query.generated.neighbours import Family, families
from tests.query.generated.statements import Statement, statement
from tests.query.generated.tables import Declared, Rows, declared, plain_cells
from tests.query.generated.unlisted import wrong_groups
from tests.query.generated.ways import at_once, chosen, in_one_pass, prepared, within_limits


@dataclass(frozen=True)
class Case:
    """What was drawn, and what the binder made of it: a question, or a refusal."""

    declared: Declared
    statement: Statement
    question: Question | None
    refusal: PrivatelyError | None
    families: tuple[tuple[Family, tuple[int, ...]], ...]
    tables: tuple[Rows, ...]

    def __str__(self) -> str:
        unit = self.declared.table.unit
        return f"{self.statement.text}\n{self.statement.keys}\n{unit}\n{self.declared.found}\n{self.declared.rows}"


def drawn(random: Random) -> Case:
    """A case that depends on the chances alone."""
    table = declared(random)
    text = statement(random, table)
    question, refusal = None, None
    try:
        question = bind(text.text, {"t": table.table}, keys=text.keys)
    except Refused as error:
        refusal = error
    listed = families(table)
    places: dict[str, int] = {repr(table.rows): 0}
    tables = [table.rows]
    numbered = []
    for family in listed:
        for rows in family.tables:
            if repr(rows) not in places:
                places[repr(rows)] = len(tables)
                tables.append(rows)
        numbered.append((family, tuple(places[repr(rows)] for rows in family.tables)))
    return Case(table, text, question, refusal, tuple(numbered), tuple(tables))


def wrong(case: Case, *, by_engine: bool = False, by_meaning: bool = True, by_copy: bool = False) -> list[str]:
    """All that does not hold of a case, in words; nothing, if all does."""
    if case.question is None:
        return []
    aggregation = case.question.aggregation
    try:
        found = counted(case.declared, aggregation, case.tables)
        again = [counted_by_engine(case.declared, aggregation, 0)] if by_engine else []
        quick = chosen(case.declared, aggregation, case.tables)
        passed = in_one_pass(case.declared, aggregation, case.tables)
        summed = at_once(case.declared, aggregation, case.tables)
        copied = prepared(case.declared, aggregation, case.tables) if by_copy else None
        unlisted = _unlisted(case)
    except Exception as error:  # noqa: BLE001 - an engine never fails, whatever the data
        return [f"the engine failed: {type(error).__name__}: {error}"]
    listed = [*violations(case.question, case.families, found), *unlisted]
    if again and again[0] != found[0]:
        listed.append(f"the engine says {again[0]}, not {found[0]}")
    once = None if summed is None else [one if at is None else at for one, at in zip(found, summed, strict=True)]
    for way, numbers in {"in arrays": quick, "in one pass": passed, "at once": once, "of copies": copied}.items():
        if numbers is not None:
            listed += [f"{way}: {one}" for one in violations(case.question, case.families, numbers)]
            listed += _different(case, way, found, numbers)
    if by_meaning and not _ranked_by_bins(case.question):
        expected = meant(case, case.declared.rows)
        if expected != found[0]:
            listed.append(f"the meaning is {expected}, not {found[0]}")
    return listed


def _unlisted(case: Case) -> list[str]:
    assert case.question is not None
    which = len(case.statement.text) * 0b1101
    return wrong_groups(case.declared, case.question, case.families, case.tables, which=which)


def _different(case: Case, way: str, expected: Sequence[Numbers], found: Sequence[Numbers]) -> list[str]:
    """Where all rows count, all ways must agree."""
    three = zip(case.tables, expected, found, strict=True)
    apart = [(one, other) for rows, one, other in three if one != other and within_limits(case.declared, rows)]
    return [f"{way} it is {apart[0][1]}, not {apart[0][0]}"] if apart else []


def _ranked_by_bins(question: Question) -> bool:
    """Whether rows of a unit are chosen by their bins, of which the last one has two numbers in the engine."""
    unit = scan_of(question.aggregation.source).table.unit
    return unit.rows_per_group < unit.rows and any(
        isinstance(one, BinCounts) for _, one in question.aggregation.tallies
    )


def meant(case: Case, rows: Rows) -> Numbers:
    """What the plan means, in Python."""
    assert case.question is not None
    hashes = Hashes()
    while True:
        found = reference.run(case.question.aggregation, plain_cells(case.declared, rows), hashes)
        if not hashes.ask():
            return found
