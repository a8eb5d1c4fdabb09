"""Names find values, without regard to case, and what is not found is guessed at."""

import pytest
from sqlglot import exp

from privately.errors import NotSupported
from privately.plans import constant
from privately.query.binding.names import Binding, Name, Names, unknown
from privately.query.spans import Source
from tests.query.binding.tables import refusal

SOURCE = Source(text="t.x")
ONE, TWO = constant(1), constant(2)


def names(*listed: tuple[str, str]) -> Names:
    return Names(
        listed=tuple(Name(table=table, name=name, value=constant(at)) for at, (table, name) in enumerate(listed))
    )


def test_names_are_found_with_and_without_their_table() -> None:
    found = names(("t", "x"), ("t", "y"))
    assert found.find("X") == [constant(0)]
    assert found.find("x", "T") == [constant(0)]
    assert found.find("x", "u") == []


def test_hidden_names_need_their_table() -> None:
    hidden = Names(listed=(Name(table="t", name="x", value=ONE, hidden=True), Name(table="", name="x", value=TWO)))
    assert hidden.find("x") == [TWO]
    assert hidden.find("x", "t") == [ONE]


def test_a_name_of_two_values_is_refused() -> None:
    with pytest.raises(NotSupported, match="several columns"):
        names(("t", "x"), ("u", "X")).resolve(exp.column("x"), SOURCE)


def test_seen_from_outside_values_have_a_new_table_and_perhaps_new_names() -> None:
    found = names(("t", "x"), ("t", "y")).under("v", ["a", "b"])
    assert found.find("a", "v") == [constant(0)]
    assert found.find("x") == []
    assert found.find("b", "t") == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT COUNT(aeg) FROM visits", "Did you mean age?"),
        ("SELECT COUNT(xyz) FROM visits", "There are: patient_id, age"),
        ('SELECT COUNT(*) FROM visits WHERE city = "Bern"', "single quotes: 'Bern'."),
        ("SELECT COUNT(*) FROM vists", "Did you mean visits?"),
        ("SELECT COUNT(*) FROM customers", "There are: visits, rows."),
        ("SELECT COUNT(*) FROM (SELECT wards.* FROM visits)", "There are: visits."),
    ],
)
def test_what_may_have_been_meant_is_said(text: str, hint: str) -> None:
    error, _ = refusal(text)
    assert hint in error.hint


def test_where_there_is_nothing_nothing_is_meant() -> None:
    assert "no table here" in unknown("table", "x", [], exp.Null(), SOURCE).hint


def test_identities_are_new_and_their_names_short() -> None:
    binding = Binding(source=SOURCE)
    one, other = binding.identity("x" * 1000), binding.identity("x")
    assert one != other
    assert len(one.name) <= 60
