"""Which road answers, and the worst of several compositions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting import contour, which_road
from privately.accounting.compositions import Composition, compositions
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.errors import InvalidParameter, NoSuchRule
from privately.rounding import Interval

NARROW = Fraction(1, 10**6)


def sampled(noise: Any, rate: Any, times: int) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate), times=times)


def test_the_larger_direction_counts() -> None:
    event = sampled("0.8", "0.01", 1000)
    found = acc.epsilon(event, "1e-5")
    assert float(found.lower) == pytest.approx(3.141, abs=1e-3)
    assert all(
        which_road.of_one(one, EpsilonAt(Fraction(1, 10**5), NARROW), None).lower <= found.upper
        for one in compositions(event)
    )


def test_a_direction_that_is_skipped_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    event = sampled(1, "0.01", 1000)
    quick = acc.epsilon(event, "1e-5")
    monkeypatch.setattr(contour, "is_at_most", lambda *_: False)
    full = acc.epsilon(event, "1e-5")
    assert (quick.lower, quick.upper) == (full.lower, full.upper)


def test_a_direction_that_is_skipped_still_bounds_from_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the other one has no good answer: its lower end is below that of what was skipped."""
    event, best, asked = sampled(1, "0.01", 1000), which_road.of_one, []

    def misled(composition: Composition, question: Any, method: Any, *_limit: Interval) -> Interval:
        found = best(composition, question, method)
        asked.append(composition.parts[0][0].direction)  # type: ignore[union-attr]
        return found if len(asked) > 1 else Interval(0, 2 * found.upper, method="wide")

    monkeypatch.setattr(which_road, "of_one", misled)
    question = EpsilonAt(Fraction(1, 10**5), Fraction(1, 10**6))
    found = compositions(event)
    wide = which_road.of_worst(found, question, None)
    assert set(asked) == {"remove", "add"}
    assert wide.lower == best(found[1], question, None).lower > 0


def test_methods_are_named_as_in_python_and_as_on_the_command_line() -> None:
    assert [which_road.method_of(name) for name in which_road.METHODS] == list(which_road.METHODS)
    assert which_road.method_of("closed-form") == "closed form"
    assert which_road.method_of(None) is None
    for name in ("guess", "", "Contour", 7):
        with pytest.raises(InvalidParameter, match="method: must be one of closed form, contour"):
            which_road.method_of(name)


@pytest.mark.parametrize("event", [sampled(1, "0.01", 10), acc.Repeat(event=acc.Laplace(scale=1), times=10)])
@pytest.mark.parametrize("question", [EpsilonAt(Fraction(1, 10**5), NARROW), DeltaAt(Fraction(1, 2), NARROW)])
def test_a_named_method_that_leads_nowhere_is_told(event: acc.Event, question: EpsilonAt | DeltaAt) -> None:
    vague = which_road.of_worst(compositions(event), question, "closed form")
    with pytest.raises(NoSuchRule, match=r"an upper end by the method 'closed form'.*leave the method out"):
        which_road.honoured(vague, event, "closed form")
    assert which_road.honoured(vague, event, None) == vague, "nobody named it"
    found = which_road.of_worst(compositions(event), question, "contour")
    assert which_road.honoured(found, event, "contour") == found
