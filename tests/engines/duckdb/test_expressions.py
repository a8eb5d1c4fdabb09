"""Names that people gave never become text."""

from privately.engines.duckdb.expressions import column_of, expression_text
from privately.plans import Field, Identity, Known, Type, call, constant


def test_texts() -> None:
    field = Field(Identity(number=3, name='"; DROP TABLE t; --'), Known(type=Type.TEXT, length=9))
    assert column_of(field.identity) == expression_text(field) == "c3"
    assert expression_text(call("equal", field, constant("a"))) == "(c3 = 'a')"
    assert "DROP" not in expression_text(call("equal", field, constant("'; DROP TABLE t; --")))
