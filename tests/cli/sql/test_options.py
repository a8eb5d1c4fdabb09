"""Complaints name what was typed."""

import pytest

from privately.cli.sql.options import named
from privately.errors import InvalidParameter


@pytest.mark.parametrize(
    ("field", "option"),
    [("source", "FILE"), ("max_rows_per_unit", "--max-rows-per-unit"), ("path", "--plot"), ("other", "other")],
)
def test_fields_become_options(field: str, option: str) -> None:
    with pytest.raises(InvalidParameter) as caught, named(path="--plot"):
        raise InvalidParameter(field, "is wrong.", hint="Do better.")
    assert (caught.value.field, str(caught.value)) == (option, f"{option}: is wrong. Do better.")
