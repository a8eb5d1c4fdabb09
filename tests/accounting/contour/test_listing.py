"""The laws of a composition as the contour integral needs them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting.compositions import compositions
from privately.accounting.contour import listing
from privately.accounting.contour.discrete import Discrete
from privately.accounting.contour.finite import Finite
from privately.accounting.contour.finites import Finites
from privately.accounting.roads import NotApplicable


@pytest.mark.parametrize("rate", [None, "0.05"])
def test_fewer_rare_outcomes_of_very_many_laws(rate: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are left out, and bounded, so that all laws can be listed: the answers are the same."""
    events: list[acc.Event] = [acc.DiscreteGaussian(variance=30 + 2 * k, sensitivity=1) for k in range(24)]
    if rate:
        events = [acc.PoissonSample(event=event, rate=rate) for event in events]
    event = acc.Sequence(events=events)
    monkeypatch.setattr(listing, "_MANY", 100)
    known = acc.epsilon(event, "1e-6", method="contour")
    monkeypatch.setattr(listing, "_MOST_IN_ALL", 9_600)
    found = acc.epsilon(event, "1e-6", method="contour")
    assert known.lower <= found.upper
    assert found.lower <= known.upper <= known.lower * (1 + Fraction(1, 10**6))
    assert found.upper <= found.lower * (1 + Fraction(1, 10**4))
    listed = [law for law, _ in listing.laws_of(compositions(event)[0].parts)[0]]
    assert sum(law.size for law in listed if isinstance(law, Discrete)) <= 9_600
    monkeypatch.setattr(listing, "_MOST_IN_ALL", 1_000)
    with pytest.raises(NotApplicable):
        listing.laws_of(compositions(event)[0].parts)


@pytest.mark.parametrize(("number", "kind"), [(15, Finite), (16, Finites)])
def test_many_finite_laws_are_one_row(number: int, kind: type) -> None:
    events = [acc.RandomizedResponse(epsilon=Fraction(k + 1, 16)) for k in range(number)]
    found, gaussian = listing.laws_of(compositions(acc.Sequence(events=events))[0].parts)
    assert not gaussian
    assert {type(law) for law, _ in found} == {kind}
    assert sum(law.size for law, _ in found if isinstance(law, (Finite, Finites))) == 2 * number
