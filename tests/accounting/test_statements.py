"""Events that stand for guarantees."""

from __future__ import annotations

import pytest

from privately import accounting as acc
from privately.accounting.statements import event_of
from privately.errors import NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP

REPLACE = Neighbors.REPLACE


@pytest.mark.parametrize(
    ("guarantee", "event"),
    [
        (PureDP(epsilon="0.1"), acc.Pure(epsilon="0.1")),
        (PureDP(epsilon=1, neighbors=REPLACE), acc.Pure(epsilon=1, neighbors=REPLACE)),
        (ApproxDP(epsilon=1, delta="1e-6"), acc.Approx(epsilon=1, delta="1e-6")),
        (ZCDP(rho="0.5"), acc.ZCDP(rho="0.5")),
        (GaussianDP(mu=2), acc.GaussianDP(mu=2)),
        (RenyiDP(bounds={2: 1, 8: 4}), acc.Renyi(bounds={2: 1, 8: 4})),
    ],
)
def test_each_kind_has_an_event(guarantee: Guarantee, event: acc.Event) -> None:
    assert event_of(guarantee) == event
    both = acc.epsilon(event, "1e-6"), guarantee.epsilon(delta="1e-6")
    assert max(one.lower for one in both) <= min(one.upper for one in both)


def test_a_kind_without_an_event() -> None:
    with pytest.raises(NoSuchRule):
        event_of(ApproxZCDP(rho=1, delta="1e-6"))
