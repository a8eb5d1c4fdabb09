"""Relations speak of values that are there; a new value under an old identity is refused (opendp#2949)."""

from collections.abc import Callable

import pytest

from privately.errors import InvalidParameter
from privately.plans import Column, Filter, Identity, Project, Scan, Table, Type, Unit, call, constant, scan_of
from privately.plans.relations import check_fields
from tests.plans.small import AMOUNT, COLUMNS, GROUP, PERSON, field, scan

NEW = Identity(number=9, name="new")
WHOLE = scan(Unit(column="person", rows=2))


def test_fields_of_a_chain() -> None:
    positive = Filter(source=WHOLE, condition=call("greater", field(WHOLE, AMOUNT), constant(0)))
    doubled = call("add", field(positive, AMOUNT), field(positive, AMOUNT))
    new = Project(source=positive, outputs=((GROUP, field(positive, GROUP)), (NEW, doubled)))
    assert positive.fields == WHOLE.fields
    assert [one.identity for one in new.fields] == [GROUP, NEW]
    assert field(new, NEW).known == doubled.known
    assert scan_of(new) is WHOLE


def test_tables_find_columns_whatever_the_case() -> None:
    assert WHOLE.table.column("AMOUNT") is COLUMNS[2]
    assert WHOLE.table.column("nothing") is None


def handed_on() -> Project:
    return Project(source=WHOLE, outputs=((GROUP, field(WHOLE, GROUP)),))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Table(name="t", columns=(), unit=Unit()),
        lambda: Table(name="t", columns=(COLUMNS[0], Column(name="PERSON", type="text")), unit=Unit()),
        lambda: Table(name="t", columns=COLUMNS, unit=Unit(column="patient")),
        lambda: Table(name="t", columns=COLUMNS, unit=Unit(column="amount")),
        lambda: Table(name="t", columns=(Column(name="x", type="real"),), unit=Unit(column="x")),
        lambda: Scan(table=WHOLE.table, identities=(PERSON, GROUP)),
        lambda: Scan(table=WHOLE.table, identities=(PERSON, GROUP, GROUP)),
        lambda: Filter(source=WHOLE, condition=field(WHOLE, AMOUNT)),
        lambda: Filter(source=handed_on(), condition=call("is_null", field(WHOLE, AMOUNT))),
        lambda: Project(source=handed_on(), outputs=((NEW, field(WHOLE, AMOUNT)),)),
        lambda: Project(source=WHOLE, outputs=((AMOUNT, constant(1)),)),
        lambda: Project(source=WHOLE, outputs=((AMOUNT, field(WHOLE, PERSON)),)),
        lambda: Project(source=handed_on(), outputs=((AMOUNT, constant(1)),)),
        lambda: Project(source=WHOLE, outputs=((NEW, constant(1)), (NEW, constant(2)))),
        lambda: check_fields(handed_on(), field(WHOLE, PERSON)),
    ],
)
def test_what_makes_no_sense(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter):
        make()


def test_values_that_are_handed_on_keep_what_is_known() -> None:
    again = Project(source=WHOLE, outputs=((AMOUNT, field(WHOLE, AMOUNT)), (NEW, field(WHOLE, AMOUNT))))
    assert field(again, AMOUNT).known == field(again, NEW).known == field(WHOLE, AMOUNT).known
    assert field(again, AMOUNT).known.type is Type.INTEGER
