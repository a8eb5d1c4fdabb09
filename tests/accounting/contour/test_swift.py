"""The short way to answers for many alike steps agrees with the long one, and is left where it does not serve."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting import answers, which_road
from privately.accounting.compositions import Composition, compositions
from privately.accounting.contour import METHOD, swift
from privately.accounting.contour.swift import alike
from privately.accounting.contour.swift_sums import SwiftSums
from privately.accounting.events import Event
from privately.accounting.losses import FiniteLoss, SampledLaplaceLoss, response
from privately.accounting.questions import EpsilonAt
from privately.rounding import Interval

WIDTH = Fraction(1, 10**6)


def steps(noise: object, rate: object, times: int) -> Event:
    sample = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate)  # type: ignore[arg-type]
    return acc.Repeat(event=sample, times=times)


def the_long_way(event: Event, delta: Fraction) -> Interval:
    return which_road.of_worst(compositions(event), EpsilonAt(delta, WIDTH), "contour")


@pytest.mark.parametrize("noise", ["0.7", 1, 2, 8])
@pytest.mark.parametrize("rate", ["0.4", "0.01", "0.002"])
@pytest.mark.parametrize(("times", "delta"), [(400, "1e-3"), (10**4, "1e-6"), (10**6, "1e-12")])
def test_both_ways_agree(noise: object, rate: object, times: int, delta: str) -> None:
    """The intervals meet, and the short way is as narrow as asked, wherever it leads anywhere."""
    event = steps(noise, rate, times)
    found = alike(compositions(event), Fraction(delta), WIDTH)
    if found is None:
        assert rate == "0.002" or times == 400
        return
    known = the_long_way(event, Fraction(delta))
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.width <= WIDTH * found.lower
    assert found.method == METHOD


@pytest.mark.parametrize("times", [10**3, 10**4, 10**5, 10**6])
@pytest.mark.parametrize("noise", ["0.8", 1, 2])
def test_it_is_taken(noise: object, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked most often never comes to the long way."""
    monkeypatch.setattr(answers, "of_worst", None)
    found = acc.epsilon(steps(noise, "0.01", times), "1e-6")
    assert found.width <= WIDTH * found.lower


def test_few_steps_of_little_noise_are_left_to_others() -> None:
    """Which know them more narrowly, where that is asked for."""
    event, delta = steps("0.4", "0.5", 100), Fraction(1, 10**7)
    assert alike(compositions(event), delta, WIDTH) is None
    found = alike(compositions(event), delta, Fraction(1, 10**5))
    assert found is not None
    assert found.lower <= acc.epsilon(event, delta).upper <= found.upper
    assert acc.epsilon(event, delta).width <= 1e-7


def test_wider_and_narrower() -> None:
    event = steps(1, "0.01", 10**4)
    for width in (Fraction(1, 100), Fraction(1, 10**4), Fraction(1, 10**8)):
        found = alike(compositions(event), Fraction(1, 10**6), width)
        assert found is not None
        assert found.width <= width * found.lower
    assert alike(compositions(event), Fraction(1, 10**6), Fraction(1, 10**14)) is None


def test_all_else_is_left_to_others() -> None:
    delta = Fraction(1, 10**6)
    remove, add = compositions(steps(1, "0.01", 10**4))
    assert alike((remove, add), delta, WIDTH) is not None
    law, times = remove.parts[0]
    laplace = SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 100), direction="remove")
    finite: FiniteLoss = response(Fraction(1))
    for both in (
        (remove,),
        (add, remove),
        (remove, remove),
        (remove, Composition(parts=((add.parts[0][0], times + 1),))),
        (Composition(parts=remove.parts, infinite=delta), add),
        (remove, Composition(parts=add.parts, infinite=delta)),
        (Composition(parts=((law, 5),)), Composition(parts=((add.parts[0][0], 5),))),
        (Composition(parts=(*remove.parts, (finite, 1))), Composition(parts=(*add.parts, (finite, 1)))),
        (Composition(parts=((laplace, times),)), Composition(parts=((laplace, times),))),
        compositions(steps(1, "0.7", 10**4)),
        compositions(steps("0.01", "0.01", 10**4)),
        compositions(steps(50_000, "0.01", 10**4)),
        compositions(steps(1, "0.01", 10**9)),
        compositions(steps(1, "1e-6", 1000)),
    ):
        assert alike(both, delta, WIDTH) is None


def test_the_other_direction_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not shown to be below, nothing is said."""
    both = compositions(steps(2, "0.01", 10**4))
    monkeypatch.setattr(SwiftSums, "is_other_below", lambda *_: False)
    assert alike(both, Fraction(1, 10**6), WIDTH) is None


def test_what_is_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    both = compositions(steps(2, "0.01", 10**4))
    for name, least in (("_MOST_NODES", 3), ("_MOST_POINTS", 20), ("_LEAST_EPSILON", 100.0)):
        with monkeypatch.context() as patched:
            patched.setattr(swift, name, least)
            assert alike(both, Fraction(1, 10**6), WIDTH) is None
