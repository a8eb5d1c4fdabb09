"""The public questions: known values, both directions, every kind of event, and the laws any accountant must obey."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import Neighbors, guarantees
from privately import accounting as acc
from privately.accounting import answers, lattice, spreading
from privately.accounting.coarsening import MOST_DIFFERENT
from privately.accounting.compositions import compositions
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import GaussianDP, PureDP
from privately.rounding import Interval
from tests.endless import ends

NARROW = Fraction(1, 10**6)
SCALE = Fraction(1, 1000)


def sampled(noise: Any, rate: Any, times: int) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate), times=times)


def is_narrow(found: Interval) -> bool:
    return found.width <= NARROW * max(found.upper, SCALE)


@pytest.mark.parametrize(
    ("event", "delta", "truth"),
    [
        (acc.Gaussian(noise_multiplier=1), "1e-5", 4.37717809568122),
        (acc.Repeat(event=acc.Gaussian(noise_multiplier=100), times=10**4), "1e-10", 6.54792406686495),
        (acc.Repeat(event=acc.RandomizedResponse(epsilon=1), times=10), "1e-5", 9.99977063453494),
        (acc.Repeat(event=acc.RandomizedResponse(epsilon="0.01"), times=10**4), "1e-10", 6.54544042770631),
        (acc.Repeat(event=acc.Laplace(scale=10), times=100), "1e-5", 4.22034733),
        (acc.Repeat(event=acc.Laplace(scale=20), times=1000), "1e-10", 10.7592367),
        (sampled(1, "0.01", 1000), "1e-5", 1.828236667),
        (sampled(1, "0.01", 10**4), "1e-10", 9.316138526),
        (sampled(1, "0.01", 10**6), "1e-8", 156.8748295),
    ],
)
def test_known_values(event: acc.Event, delta: str, truth: float) -> None:
    found = acc.epsilon(event, delta)
    slack = 2e-9 * truth
    assert found.lower - slack <= truth <= found.upper + slack
    assert is_narrow(found)


@pytest.mark.parametrize("event", [sampled(1, "0.01", 1000), acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=3)])
def test_epsilon_and_delta_are_inverse(event: acc.Event) -> None:
    epsilon = acc.epsilon(event, "1e-6")
    assert acc.delta(event, epsilon.upper).lower <= Fraction(1, 10**6)
    assert acc.delta(event, epsilon.lower).upper >= Fraction(1, 10**6)


def test_a_wrong_direction_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    event = sampled("0.8", "0.01", 1000)
    right = acc.epsilon(event, "1e-5")
    both = compositions(event)
    for kept in both:
        monkeypatch.setattr(answers, "compositions", lambda _, kept=kept: (kept,))
        alone = acc.epsilon(event, "1e-5")
        assert alone.upper <= right.upper
        if kept.parts[0][0].direction == "add":  # type: ignore[union-attr]
            assert alone.upper < right.lower


@pytest.mark.parametrize("method", ["contour", "lattice"])
def test_roads_by_name_agree(method: Any) -> None:
    event = sampled(1, "0.05", 200)
    one, other = acc.epsilon(event, "1e-6"), acc.epsilon(event, "1e-6", method=method)
    assert method in other.method
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)


@pytest.mark.parametrize("method", ["closed form", "closed-form", "contour", "lattice"])
@pytest.mark.parametrize("times", [10, 300])
def test_a_method_that_does_not_apply_is_refused(method: Any, times: int) -> None:
    """Where another one has an answer, it is not given under that name."""
    chosen = [acc.Exponential(epsilon=Fraction(k, 1000)) for k in range(1, times + 1)]
    for event in (acc.Sequence(events=chosen), acc.Repeat(event=acc.ZCDP(rho="0.1"), times=times)):
        for asked in (acc.epsilon, acc.delta):
            with pytest.raises(NoSuchRule, match=f"by the method '{method.replace('-', ' ')}'.*leave the method out"):
                asked(event, "1e-3", method=method)


@pytest.mark.parametrize("method", ["closed form", "closed-form"])
def test_closed_forms_by_either_name(method: Any) -> None:
    one = acc.Gaussian(noise_multiplier=1)
    assert acc.epsilon(one, "1e-5", method=method) == acc.epsilon(one, "1e-5")
    for event in (sampled(1, "0.01", 100), acc.Repeat(event=acc.Laplace(scale=1), times=10)):
        for asked in (acc.epsilon, acc.delta):
            with pytest.raises(NoSuchRule, match=r"by the method 'closed form'.*leave the method out"):
                asked(event, "1e-3", method=method)


def test_the_renyi_road_is_above() -> None:
    event = sampled(1, "0.01", 1000)
    tight, loose = acc.epsilon(event, "1e-5"), acc.epsilon(event, "1e-5", method="renyi")
    assert tight.upper < loose.upper < Fraction(5, 4) * tight.upper
    assert loose.lower <= tight.lower


def test_events_without_a_pair_have_an_upper_bound_and_an_example() -> None:
    found = acc.epsilon(acc.Repeat(event=acc.ZCDP(rho="0.25"), times=2), "1e-5", width="0.1")
    assert found.upper == pytest.approx(float(guarantees.ZCDP(rho="0.5").epsilon(delta="1e-5").upper), rel=1e-6)
    assert found.lower == pytest.approx(4.37717809568, rel=1e-6)
    exponential = acc.epsilon(acc.Repeat(event=acc.Exponential(epsilon="0.1"), times=50), "1e-5")
    assert 1 < exponential.lower < exponential.upper < 2


@pytest.mark.parametrize("rate", [1, "0.9"])
def test_parts_side_by_side_cost_what_the_worst_of_them_costs(rate: Any) -> None:
    """Also where one of them has no pair of laws."""
    normal, other = acc.GaussianDP(mu="0.5"), acc.ZCDP(rho="0.003")
    parts = [acc.Parallel(events=[other, acc.Laplace(scale=2)]), normal]
    found = acc.epsilon(acc.PoissonSample(event=acc.Parallel(events=parts), rate=rate), delta="1e-6")
    worst = acc.epsilon(acc.PoissonSample(event=normal, rate=rate), delta="1e-6")
    assert worst.lower <= found.upper <= worst.upper
    assert found.width <= 2e-6 * float(found.upper)


@pytest.mark.parametrize(
    ("epsilon", "population", "times", "asked", "truth"),
    [(2, 2, 2, "0.5", 0.44126595), (2, 2, 3, "0.5", 0.54518), (1, 2, 2, "0.3", 0.19898), (2, 10, 2, "0.05", 0.11806)],
)
def test_samples_of_fixed_size_of_responses_do_not_reach_their_pair(
    epsilon: int, population: int, times: int, asked: str, truth: float
) -> None:
    """The truth by games on the laws with the old row, the new one and neither, whose ratios are 1 or e^epsilon."""
    base = acc.Pure(epsilon=epsilon, neighbors=Neighbors.REPLACE)
    step = acc.FixedSizeSample(event=base, size=1, population=population)
    found = acc.delta(acc.Repeat(event=step, times=times), epsilon=asked)
    assert found.lower < truth + 1e-5
    assert truth - 1e-5 < found.upper
    once = acc.delta(step, epsilon=asked)
    assert once.width <= 1e-6 * float(once.upper)


def test_a_fixed_size_sample() -> None:
    base = acc.Gaussian(noise_multiplier=1, neighbors=Neighbors.REPLACE)
    event = acc.Repeat(event=acc.FixedSizeSample(event=base, size=10, population=1000), times=100)
    found = acc.epsilon(event, "1e-5")
    assert found.lower == pytest.approx(float(acc.epsilon(sampled(1, "0.01", 100), "1e-5").lower), rel=1e-5)
    assert found.lower < found.upper < Fraction(3, 2) * found.lower
    with pytest.raises(NoSuchRule):
        acc.FixedSizeSample(event=acc.Gaussian(noise_multiplier=1), size=10, population=1000)


def test_agreement_with_the_guarantees() -> None:
    for delta in ("1e-3", "1e-9"):
        gaussian = GaussianDP(mu=2).epsilon(delta=delta)
        found = acc.epsilon(acc.GaussianDP(mu=2), delta)
        assert max(gaussian.lower, found.lower) <= min(gaussian.upper, found.upper)
        pure = PureDP(epsilon="0.7").epsilon(delta=delta)
        found = acc.epsilon(acc.Pure(epsilon="0.7"), delta)
        assert max(pure.lower, found.lower) <= min(pure.upper, found.upper)


EVENTS: list[Callable[[Fraction, int], acc.Event]] = [
    lambda noise, times: acc.Repeat(event=acc.Gaussian(noise_multiplier=noise), times=times),
    lambda noise, times: acc.Repeat(event=acc.Laplace(scale=noise), times=times),
    lambda noise, times: acc.Repeat(event=acc.RandomizedResponse(epsilon=1 / noise, categories=3), times=times),
    lambda noise, times: sampled(noise, Fraction(1, 20), times),
]


@pytest.mark.parametrize("make", EVENTS)
def test_more_steps_cost_more_and_more_noise_costs_less(make: Callable[[Fraction, int], acc.Event]) -> None:
    by_times = [acc.epsilon(make(Fraction(3), times), "1e-5") for times in (1, 2, 7, 50, 400, 10**5)]
    assert all(one.lower <= other.upper for one, other in pairwise(by_times))
    assert by_times[0].upper < by_times[-1].lower
    by_noise = [acc.epsilon(make(Fraction(noise), 60), "1e-5") for noise in (1, 2, 5, 20)]
    assert all(one.upper > other.lower for one, other in pairwise(by_noise))


@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 300), st.integers(1, 300))
def test_smaller_delta_and_larger_rate_cost_more(a: int, b: int, p: int, q: int) -> None:
    low, high = sorted((a, b))
    rare, often = sorted((p, q))
    event = sampled(1, Fraction(often, 1000), 100)
    at_high = acc.epsilon(event, Fraction(1, 10**high))
    assert acc.epsilon(event, Fraction(1, 10**low)).lower <= at_high.upper
    assert acc.epsilon(sampled(1, Fraction(rare, 1000), 100), Fraction(1, 10**high)).lower <= at_high.upper


def test_order_and_repetition_do_not_matter() -> None:
    parts = [acc.Laplace(scale=3), acc.Gaussian(noise_multiplier=2), sampled(1, "0.01", 10)]
    forwards, backwards = acc.Sequence(events=parts), acc.Sequence(events=parts[::-1])
    assert acc.epsilon(forwards, "1e-6") == acc.epsilon(backwards, "1e-6")
    step = acc.PoissonSample(event=acc.Laplace(scale=1), rate="0.1")
    listed, repeated = acc.Sequence(events=[step] * 20), acc.Repeat(event=step, times=20)
    assert acc.epsilon(listed, "1e-6") == acc.epsilon(repeated, "1e-6")


@pytest.mark.parametrize(
    ("event", "delta", "ends"),
    [
        (acc.Gaussian(noise_multiplier=0), "1e-5", (math.inf, math.inf)),
        (acc.Gaussian(noise_multiplier=1), 0, (math.inf, math.inf)),
        (acc.Gaussian(noise_multiplier=1), 1, (0, 0)),
        (acc.Pure(epsilon="0.3"), 0, (Fraction(3, 10), Fraction(3, 10))),
        (acc.Repeat(event=acc.Pure(epsilon="0.1"), times=10), 0, (1, 1)),
        (acc.Repeat(event=acc.Gaussian(noise_multiplier=1), times=0), "1e-5", (0, 0)),
        (acc.Approx(epsilon=1, delta="1e-3"), "1e-5", (math.inf, math.inf)),
        (acc.Gaussian(noise_multiplier=1000), "0.5", (0, 0)),
    ],
)
def test_the_ends_of_the_scale(event: acc.Event, delta: Any, ends: tuple[Any, Any]) -> None:
    found = acc.epsilon(event, delta)
    assert (found.lower, found.upper) == ends


@pytest.mark.parametrize("times", [10, 10**4, 10**12])
def test_selections_without_a_delta(times: int) -> None:
    found = acc.epsilon(acc.Repeat(event=acc.Exponential(epsilon="0.1"), times=times), delta=0)
    assert found.upper == Fraction(times, 10)
    assert found.lower > Fraction(times, 10) * Fraction(999, 1000)


def test_groups_beyond_all_exponents_are_refused() -> None:
    with pytest.raises(NoSuchRule):
        acc.epsilon(acc.Group(event=acc.Approx(epsilon=10**9, delta="1e-7"), size=10**9), delta="1e-5")


def test_enormous_repetition_has_an_answer() -> None:
    found = acc.epsilon(sampled(1, "0.01", 10**12), "1e-5")
    assert is_narrow(found)
    assert found.lower > 10**7


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"delta": -1}, "delta"),
        ({"delta": "1.5"}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"delta": None}, "delta"),
        ({"delta": "1e-5", "width": 0}, "width"),
        ({"delta": "1e-5", "width": 2}, "width"),
        ({"delta": "1e-5", "method": "guess"}, "method"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as fault:
        acc.epsilon(acc.Laplace(scale=1), **arguments)
    assert fault.value.field == field


def test_what_is_no_event_and_what_is_mixed() -> None:
    with pytest.raises(InvalidParameter, match="is no event"):
        acc.epsilon("gaussian", "1e-5")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        acc.delta(acc.Laplace(scale=1), -1)
    with pytest.raises(MixedNeighbors):
        acc.Sequence(events=[acc.Laplace(scale=1), acc.Laplace(scale=1, neighbors=Neighbors.REPLACE)])


def test_a_few_hundred_different_terms_are_not_rounded_where_the_contour_takes_them() -> None:
    def sampled(k: int) -> acc.Event:
        return acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2 + Fraction(k, 1000)), rate="0.01")

    many = acc.Sequence(events=[sampled(k) for k in range(MOST_DIFFERENT + 20)])
    found = acc.epsilon(many, "1e-6")
    assert found.width <= Fraction(1, 10**6) * found.upper
    fewer = acc.epsilon(acc.Sequence(events=[sampled(k) for k in range(MOST_DIFFERENT)]), "1e-6")
    assert fewer.upper < found.lower


def test_deltas_next_to_nothing_are_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logarithms of what no float holds were a fault; and a road that leaves out more than is left is not taken."""

    def taken(*_: object) -> Interval:
        raise AssertionError("it leaves out 1e-30")

    monkeypatch.setattr(spreading, "delta", taken)
    rare = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2), rate="1e-4")
    found = acc.delta(acc.Repeat(event=rare, times=10_000), epsilon="0.5")
    assert 0 <= found.lower <= found.upper < Fraction(1, 10**50)


def test_long_runs_that_rounding_makes_wide_take_no_other_road(monkeypatch: pytest.MonkeyPatch) -> None:
    """No road is narrower there, and all of them together took seconds."""

    def taken(*_: object) -> Interval:
        raise AssertionError("it cannot be narrower")

    monkeypatch.setattr(lattice, "epsilon", taken)
    steps = [(1, "1e-7"), (2, "1e-6"), (3, "1e-6"), ("0.9", "1e-7"), (5, "1e-5"), ("1.5", "1e-7")]
    found = acc.epsilon(acc.Sequence(events=[sampled(noise, rate, 10**12) for noise, rate in steps]), delta="1e-6")
    assert 11.85862 < found.lower < found.upper < 11.85865


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (
            acc.Sequence(
                events=[
                    acc.PoissonSample(event=acc.Laplace(scale="3.44"), rate="0.999999999"),
                    acc.Repeat(event=acc.RandomizedResponse(epsilon="0.87", categories=3), times=1000),
                    acc.DiscreteGaussian(variance=579000),
                ]
            ),
            "0.999",
        ),
        (
            acc.Sequence(
                events=[
                    acc.Repeat(event=acc.DiscreteGaussian(variance="0.445"), times=10**4),
                    acc.Repeat(event=acc.Exponential(epsilon="4.33"), times=2),
                    acc.RandomizedResponse(epsilon="0.000105", categories=3),
                ]
            ),
            "1e-6",
        ),
    ],
    ids=["rates", "ranges"],
)
def test_mixes_are_answered_soon(event: acc.Event, delta: str) -> None:
    """They took a minute and 18 seconds."""
    with ends():
        found = acc.epsilon(event, delta)
        assert found.width <= Fraction(1, 1000) * found.upper


@pytest.mark.slow
def test_ranges_beside_samples_of_ranges_are_one_answer() -> None:
    """Both games are played, and the nearest ends count."""
    sampled = acc.PoissonSample(event=acc.Exponential(epsilon="0.8"), rate="0.5")
    both = acc.Sequence(events=[sampled, sampled, acc.Repeat(event=acc.Exponential(epsilon="0.3"), times=2)])
    found = acc.epsilon(both, "1e-4")
    assert found.upper < found.lower * Fraction(103, 100)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "noise", "delta"), [(200, "1", "1e-6"), (500, "0.5", "1e-9"), (500, "2", "1e-5")])
def test_many_rare_samples_at_different_rates_are_narrow(number: int, noise: str, delta: str) -> None:
    """More of them than are taken as they are elsewhere, too; between runs of the lowest and of the highest rate."""
    samples = [
        acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=Fraction(1, 1000 + place))
        for place in range(number)
    ]
    found = acc.epsilon(acc.Sequence(events=samples), delta=delta)
    assert found.width <= Fraction(1, 10**6) * found.lower
    least, most = (acc.epsilon(acc.Repeat(event=samples[end], times=number), delta=delta) for end in (-1, 0))
    assert least.lower < found.lower < found.upper < most.upper


@pytest.mark.parametrize("base", ["ZCDP", "Exponential"])
def test_lower_ends_of_fixed_size_samples_do_not_fall(base: str) -> None:
    """Two runs reveal no less than one of them, while the other says nothing."""
    replaced = Neighbors.REPLACE
    inner = (
        acc.ZCDP(rho="0.2", neighbors=replaced) if base == "ZCDP" else acc.Exponential(epsilon=1, neighbors=replaced)
    )
    sample = acc.FixedSizeSample(event=inner, size=10, population=100)
    once, twice = (acc.epsilon(acc.Repeat(event=sample, times=times), "1e-5") for times in (1, 2))
    assert 0 < once.lower <= twice.lower <= twice.upper


LEAKY = acc.Sequence(events=[acc.Laplace(scale=3), acc.Approx(epsilon="0.01", delta="1e-3")])
ENDLESS = acc.Sequence(events=[acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=100)])


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (acc.PoissonSample(event=LEAKY, rate="0.5"), "4.9e-4"),
        (acc.Repeat(event=acc.PoissonSample(event=LEAKY, rate="0.5"), times=3), "1e-12"),
        (acc.PoissonSample(event=LEAKY, rate="0.9999999"), "1e-12"),
        (acc.PoissonSample(event=ENDLESS, rate="0.01"), 0),
        (acc.Sequence(events=[acc.PoissonSample(event=ENDLESS, rate="0.01"), acc.Laplace(scale=1)]), 0),
        (
            acc.Group(
                event=acc.Sequence(events=[acc.Approx(epsilon="0.1", delta="1e-3"), acc.Exponential(epsilon="0.01")]),
                size=7,
            ),
            "1e-3",
        ),
    ],
)
def test_where_no_epsilon_is_enough_both_ends_say_so(event: acc.Event, delta: Any) -> None:
    assert acc.epsilon(event, delta).lower == math.inf


def test_where_one_epsilon_is_enough_it_is_finite() -> None:
    assert acc.epsilon(acc.PoissonSample(event=LEAKY, rate="0.5"), "5.1e-4").upper < math.inf


@pytest.mark.parametrize(("one", "other"), [((20, "0.6"), ("0.3", "0.001")), (("0.3", "0.0001"), (20, "0.95"))])
def test_two_samples_at_a_large_delta(one: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    """Where a lattice is nearly as narrow as asked, cells are narrower."""
    samples = [acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate) for noise, rate in (one, other)]
    found = acc.epsilon(acc.Sequence(events=samples), "1e-2")
    assert found.width <= Fraction(1, 10**6) * found.upper
