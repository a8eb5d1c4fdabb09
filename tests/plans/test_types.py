"""What a value can be."""

import math
from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from privately.plans.types import LARGEST_INTEGER, Range, Type, type_of


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, Type.BOOLEAN),
        (1, Type.INTEGER),
        (LARGEST_INTEGER - 1, Type.INTEGER),
        (0.5, Type.REAL),
        ("", Type.TEXT),
        (date(2026, 1, 31), Type.DATE),
        (datetime(2026, 1, 31, 12), Type.TIMESTAMP),
    ],
)
def test_types_of_constants(value: object, kind: Type) -> None:
    assert type_of(value) is kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        LARGEST_INTEGER,
        -LARGEST_INTEGER,
        math.nan,
        math.inf,
        None,
        b"bytes",
        Fraction(1, 2),
        "half a character \ud800",
        datetime(2026, 1, 31, tzinfo=UTC),
    ],
)
def test_what_is_no_constant(value: object) -> None:
    with pytest.raises(ValueError, match="no constant"):
        type_of(value)  # type: ignore[arg-type]


def test_only_numbers_are_numbers() -> None:
    assert [kind for kind in Type if kind.is_number] == [Type.INTEGER, Type.REAL]


def test_ranges() -> None:
    found = Range(Fraction(-3), Fraction(2))
    assert found.magnitude == 3
    assert -3 in found
    assert 2.5 not in found
    assert "2" not in found
    assert found.union(Range(Fraction(5), Fraction(6))) == Range(Fraction(-3), Fraction(6))
