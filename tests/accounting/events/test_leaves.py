"""Every parameter of a leaf is exact, in range, and named when it is not."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.errors import InvalidParameter
from privately.guarantees import Neighbors

GOOD: dict[Any, dict[str, Any]] = {
    acc.Gaussian: {"noise_multiplier": 1},
    acc.Laplace: {"scale": 1},
    acc.DiscreteGaussian: {"variance": 1, "sensitivity": 2},
    acc.DiscreteLaplace: {"scale": 1, "sensitivity": 2},
    acc.RandomizedResponse: {"epsilon": 1, "categories": 3},
    acc.Exponential: {"epsilon": 1},
    acc.Pure: {"epsilon": 1},
    acc.Approx: {"epsilon": 1, "delta": "1e-6"},
    acc.ZCDP: {"rho": 1},
    acc.GaussianDP: {"mu": 1},
}
WHOLE = {"sensitivity", "categories"}
JUNK: list[Any] = [
    None,
    True,
    math.nan,
    math.inf,
    -math.inf,
    -1,
    "-1/3",
    "",
    "many",
    "1/0",
    "nan",
    [],
    {},
    1j,
    10**400,
    Decimal("NaN"),
    b"1",
]
CASES = [(kind, field) for kind, fields in GOOD.items() for field in fields]


@pytest.mark.parametrize("value", JUNK, ids=repr)
@pytest.mark.parametrize(("kind", "field"), CASES, ids=lambda one: getattr(one, "__name__", one))
def test_bad_parameters_are_named(kind: Any, field: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        kind(**{**GOOD[kind], field: value})
    assert caught.value.field == field


@pytest.mark.parametrize(("kind", "field"), [case for case in CASES if case[1] in WHOLE])
def test_whole_numbers_are_whole(kind: Any, field: str) -> None:
    for value in (0, 1.5, 2.0, "2", Fraction(2), 10**18 + 1):
        with pytest.raises(InvalidParameter) as caught:
            kind(**{**GOOD[kind], field: value})
        assert caught.value.field == field


@pytest.mark.parametrize(("kind", "field"), [case for case in CASES if case[1] not in WHOLE])
def test_numbers_are_taken_exactly(kind: Any, field: str) -> None:
    for value in ("0.1", 0.1, Decimal("0.1"), Fraction(1, 10), 0, 1):
        event = kind(**{**GOOD[kind], field: value})
        assert getattr(event, field) == Fraction(value)
        assert isinstance(getattr(event, field), Fraction)


def test_delta_is_a_probability() -> None:
    assert acc.Approx(epsilon=0, delta=1).delta == 1
    with pytest.raises(InvalidParameter) as caught:
        acc.Approx(epsilon=0, delta="1.0001")
    assert caught.value.field == "delta"


@pytest.mark.parametrize("kind", GOOD, ids=lambda kind: kind.__name__)
def test_leaves_say_whose_change_they_hide(kind: Any) -> None:
    assert kind(**GOOD[kind]).neighbors == Neighbors.ADD_REMOVE
    assert kind(**GOOD[kind], neighbors=Neighbors.REPLACE).neighbors == Neighbors.REPLACE
    for value in ("replace", None, 1):
        with pytest.raises(InvalidParameter) as caught:
            kind(**GOOD[kind], neighbors=value)
        assert caught.value.field == "neighbors"
    with pytest.raises(TypeError):
        kind(*GOOD[kind].values())


def test_defaults() -> None:
    assert acc.RandomizedResponse(epsilon=1).categories == 2
    assert acc.DiscreteGaussian(variance=1).sensitivity == acc.DiscreteLaplace(scale=1).sensitivity == 1


def test_renyi_lists_orders() -> None:
    event = acc.Renyi(bounds=[("3/2", 1), (8, "0.25")])
    assert event.bounds == ((Fraction(3, 2), Fraction(1)), (Fraction(8), Fraction(1, 4)))
    assert event == acc.Renyi(bounds={8: 0.25, 1.5: 1})
    bad: list[Any] = [None, {}, 3, {1: 1}, {2: -1}, {2: "x"}, [(2, 1), (2, 2)], {math.inf: 1}]
    for bounds in bad:
        with pytest.raises(InvalidParameter) as caught:
            acc.Renyi(bounds=bounds)
        assert caught.value.field.startswith("bounds")
    with pytest.raises(InvalidParameter):
        acc.Renyi(bounds={2: 1}, neighbors="replace")  # type: ignore[arg-type]
