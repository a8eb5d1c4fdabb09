"""Arguments of the wrong type are named, whichever rule gets them."""

from collections.abc import Callable
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import ApproxDP, Neighbors, PureDP, RenyiDP, rules

ONE = rules.suppose(PureDP(epsilon=1))
REPLACED = rules.suppose(PureDP(epsilon=1, neighbors=Neighbors.REPLACE))
LAZY: Any = None

CASES: list[tuple[str, Callable[[], Any]]] = [
    ("mechanism", lambda: rules.finite_table(LAZY)),
    ("counts", lambda: rules.sequential(ONE, counts=3)),  # type: ignore[arg-type]
    ("counts", lambda: rules.sequential(ONE, counts=(n for n in [1]))),  # type: ignore[arg-type]
    ("counts", lambda: rules.sequential(ONE, counts={1})),  # type: ignore[arg-type]
    ("counts", lambda: rules.optimal_composition(ONE, counts={1: 2}, delta=0)),  # type: ignore[arg-type]
    ("moved", lambda: rules.parallel_by_value_replace(moved=LAZY, stayed=[REPLACED])),
    ("stayed", lambda: rules.parallel_by_value_replace(moved=[ONE], stayed=REPLACED)),  # type: ignore[arg-type]
    ("unit", lambda: rules.bounded_unit(ONE, unit=LAZY)),
    ("orders", lambda: rules.convert(ONE, ApproxDP, delta="0.1", orders=[2])),
    ("orders", lambda: rules.convert(ONE, RenyiDP, orders=2)),  # type: ignore[arg-type]
    ("orders", lambda: rules.convert(ONE, RenyiDP, orders="25")),
]


@pytest.mark.parametrize(("field", "attempt"), CASES)
def test_the_argument_is_named(field: str, attempt: Callable[[], Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        attempt()
    assert caught.value.field == field


def test_an_order_next_to_one_is_too_little_to_conclude_from() -> None:
    close = RenyiDP(bounds=[("1." + "0" * 399 + "1", 1)])
    with pytest.raises(InvalidParameter, match="epsilon"):
        rules.renyi_to_approx(rules.suppose(close), delta="0.1")
