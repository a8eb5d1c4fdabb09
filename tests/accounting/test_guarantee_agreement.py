"""Events that state a guarantee, and the guarantee itself: two ways to the same curve, which share only the numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

import privately as pv
from privately import accounting as acc
from privately.guarantees import Guarantee, RenyiDP

PAIRS: list[tuple[acc.Event, Guarantee]] = [
    *((acc.Pure(epsilon=e), pv.PureDP(epsilon=e)) for e in ("0.01", "0.7", 5)),
    *((acc.Approx(epsilon=e, delta="1e-7"), pv.ApproxDP(epsilon=e, delta="1e-7")) for e in ("0.1", 2)),
    *((acc.GaussianDP(mu=mu), pv.GaussianDP(mu=mu)) for mu in ("0.05", 1, 6)),
    *((acc.ZCDP(rho=rho), pv.ZCDP(rho=rho)) for rho in ("0.002", "0.5", 8)),
    *((acc.Renyi(bounds=one), RenyiDP(bounds=one)) for one in ({2: "0.1"}, {2: "0.2", 8: "1", 32: "9"})),
]
every = pytest.mark.parametrize(("event", "guarantee"), PAIRS, ids=[str(event) for event, _ in PAIRS])


@every
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_epsilons_agree(event: acc.Event, guarantee: Guarantee, delta: str) -> None:
    """Both contain the truth, so they overlap; and the accountant is never the wider one."""
    found, stated = acc.epsilon(event, delta), guarantee.epsilon(delta=delta)
    assert found.lower <= stated.upper
    assert stated.lower <= found.upper * (1 + Fraction(1, 10**9))
    assert found.upper <= stated.upper * (1 + Fraction(1, 10**9))


@every
@pytest.mark.parametrize("epsilon", [0, "0.4", 3])
def test_deltas_agree(event: acc.Event, guarantee: Guarantee, epsilon: str) -> None:
    found, stated = acc.delta(event, epsilon), guarantee.delta(epsilon=epsilon)
    little = Fraction(1, 10**9)
    assert found.lower <= stated.upper * (1 + little)
    assert stated.lower <= found.upper * (1 + little)
    assert found.upper <= stated.upper * (1 + little)


@pytest.mark.parametrize(("event", "guarantee"), [PAIRS[1], PAIRS[6], PAIRS[9]], ids=["pure", "normal", "zCDP"])
@pytest.mark.parametrize("times", [2, 10])
def test_compositions_and_groups_are_within_those_of_guarantees(
    event: acc.Event, guarantee: Guarantee, times: int
) -> None:
    """What the rules add up is never less than what the accountant finds."""
    composed = guarantee.repeat(times).epsilon(delta="1e-6").upper
    assert acc.epsilon(acc.Repeat(event=event, times=times), "1e-6", width="0.01").upper <= composed * Fraction(
        101, 100
    )
    grouped = guarantee.group(times).epsilon(delta="1e-6").upper
    assert acc.epsilon(acc.Group(event=event, size=times), "1e-6").upper <= grouped * (1 + Fraction(1, 10**9))


def test_a_wrong_number_would_be_noticed() -> None:
    """One per cent more, in every kind."""
    wrong: list[tuple[acc.Event, Guarantee]] = [
        (acc.Pure(epsilon="0.707"), pv.PureDP(epsilon="0.7")),
        (acc.GaussianDP(mu="1.01"), pv.GaussianDP(mu=1)),
        (acc.Approx(epsilon="2.02", delta="1e-7"), pv.ApproxDP(epsilon=2, delta="1e-7")),
    ]
    for event, guarantee in wrong:
        assert acc.epsilon(event, "1e-6").lower > guarantee.epsilon(delta="1e-6").upper
