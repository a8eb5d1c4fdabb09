"""epsilon and delta by loss distributions, against closed forms and enumeration."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting import closed_forms
from privately.accounting.compositions import Composition
from privately.accounting.lattice import delta, epsilon, laying, road
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.errors import InvalidParameter
from privately.rounding import Interval
from tests.accounting.lattice import exact
from tests.accounting.lattice.exact import enumerated_profile, number

WIDTH = Fraction(1, 10**6)
RATE = Fraction(1, 50)
HALF = Fraction(1, 2)


def one(law: Loss, times: int = 1) -> Composition:
    return Composition(parts=((law, times),))


def meet(first: Interval, second: Interval) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


SINGLE: list[Loss] = [
    GaussianLoss(mu_squared=Fraction(2)),
    LaplaceLoss(epsilon=Fraction(3, 2)),
    SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction="remove"),
    SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction="add"),
    SampledLaplaceLoss(epsilon=Fraction(1), rate=RATE, direction="remove"),
    SampledLaplaceLoss(epsilon=Fraction(1), rate=RATE, direction="add"),
    GluedLoss(base=LaplaceLoss(epsilon=Fraction(1)), rate=RATE),
    DiscreteGaussianLoss(variance=Fraction(5), sensitivity=2),
    DiscreteLaplaceLoss(scale=Fraction(3), sensitivity=4),
    SampledDiscreteLaplaceLoss(scale=Fraction(3), sensitivity=2, rate=RATE, direction="remove"),
]


@pytest.mark.parametrize("law", SINGLE, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("wanted", [Fraction(1, 10**3), Fraction(1, 10**9)])
def test_one_step_agrees_with_the_closed_form(law: Loss, wanted: Fraction) -> None:
    found, exact = epsilon(one(law), wanted, Fraction(1, 10**4)), closed_forms.epsilon(one(law), wanted, WIDTH)
    assert meet(found, exact), (found, exact)
    assert found.width <= 1e-3 * max(float(exact.upper), 1e-3)


@pytest.mark.parametrize(
    "composition",
    [
        one(GaussianLoss(mu_squared=Fraction(1, 100)), 150),
        one(GaussianLoss(mu_squared=Fraction(2500))),
        one(response(Fraction(1, 10)), 100),
        one(response(Fraction(1, 100)), 10**4),
        Composition(parts=((response(Fraction(1, 10)), 20), (response(Fraction(1, 7)), 9))),
        Composition(parts=((GaussianLoss(mu_squared=Fraction(1)), 1), (GaussianLoss(mu_squared=Fraction(1, 3)), 2))),
    ],
)
@pytest.mark.parametrize("wanted", [Fraction(1, 10**5), Fraction(1, 10**15)])
def test_several_steps_agree_with_the_closed_form(composition: Composition, wanted: Fraction) -> None:
    found, exact = epsilon(composition, wanted, WIDTH), closed_forms.epsilon(composition, wanted, WIDTH)
    assert meet(found, exact), (found, exact)
    assert found.width <= 1e-5 * float(exact.upper)
    assert "lattice" in found.method
    place = Fraction(exact.lower)
    curve = delta(composition, place, WIDTH)
    assert meet(curve, closed_forms.delta(composition, place, WIDTH))
    assert curve.width <= 1e-4 * float(curve.upper)


weights = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=4)


@settings(max_examples=25)
@given(weights, st.integers(1, 4), st.integers(0, 12))
def test_finite_laws_against_enumeration(listed: list[tuple[int, int]], times: int, tenths: int) -> None:
    """Losses that have nothing to do with one another: both sides of the lattice."""
    firsts, seconds = sum(p for p, _ in listed), sum(q for _, q in listed)
    outcomes = [(Fraction(p, firsts), Fraction(q, seconds)) for p, q in listed]
    law = FiniteLoss(epsilon=Fraction(0), outcomes=tuple(((p, Fraction(0)), (q, Fraction(0))) for p, q in outcomes))
    place = Fraction(tenths, 10)
    with mpmath.workdps(30):
        exact = enumerated_profile([(outcomes, times)], place)
    try:
        found = delta(one(law, times), place, Fraction(1, 1000))
    except NotApplicable:
        return
    assert float(found.lower) <= float(exact) * (1 + 1e-14) + 1e-300
    assert float(found.upper) >= float(exact) * (1 - 1e-14)


def test_mixed_laws_against_enumeration_and_an_integral() -> None:
    """A Gaussian beside two responses is a mixture of shifted Gaussian profiles."""
    composition = Composition(parts=((GaussianLoss(mu_squared=Fraction(1)), 1), (response(Fraction(1, 2)), 2)))
    place = Fraction(2)
    found = delta(composition, place, WIDTH)
    with mpmath.workdps(30):
        p = 1 / (1 + mpmath.exp(mpmath.mpf(-1) / 2))

        def normal(e: mpmath.mpf) -> mpmath.mpf:
            return mpmath.ncdf(-e + mpmath.mpf(1) / 2) - mpmath.exp(e) * mpmath.ncdf(-e - mpmath.mpf(1) / 2)

        exact = (
            p**2 * normal(mpmath.mpf(1))
            + 2 * p * (1 - p) * normal(mpmath.mpf(2))
            + (1 - p) ** 2 * normal(mpmath.mpf(3))
        )
        assert number(Fraction(found.lower)) <= exact <= number(Fraction(found.upper))
        assert found.width <= 1e-5 * float(exact)


def test_atoms_of_many_steps() -> None:
    """They are not moved: moves would add up. Fewer nodes give intervals that are hardly wider."""
    law = SampledDiscreteLaplaceLoss(scale=Fraction(3), sensitivity=2, rate=RATE / 10, direction="remove")
    found = [epsilon(one(law, 10**6), Fraction(1, 10**6), width) for width in (Fraction(1, 10**3), WIDTH)]
    assert meet(*found)
    assert found[1].width <= WIDTH * found[1].upper


def test_the_first_guess_may_be_far_off() -> None:
    """Rare large losses mislead the saddle point; what is known of one side leads to a better guess."""
    law = SampledDiscreteGaussianLoss(variance=HALF, sensitivity=1, rate=Fraction(1, 100), direction="remove")
    found = epsilon(one(law, 2), Fraction(1, 10**3), WIDTH)
    with mpmath.workdps(30):
        pair = exact.poisson(exact.discrete_gaussian(HALF, 1), Fraction(1, 100), removes=True)
        twice = exact.power(exact.law_of(pair), 2)
        above, below = (exact.finite_profile(twice, exact.number(end)) for end in (found.lower, found.upper))
    assert below <= 1e-3 <= above
    assert found.width <= 1e-6 * float(found.upper)


def _removed(mu: float, rate: float, epsilon: float) -> float:
    """The profile of one sampled Gaussian step, a row removed, at any epsilon."""
    ratio = 1 + math.expm1(epsilon) / rate
    if ratio <= 0:
        return -math.expm1(epsilon)
    y = math.log(ratio)
    above, below = (math.erfc((y / mu + s) / math.sqrt(2)) / 2 for s in (-mu / 2, mu / 2))
    return rate * (above - ratio * below)


DIFFERENT = [
    ((1.0, "0.01"), (1.0, "0.5"), "1e-3"),
    ((2.0, "0.9"), (0.25, "0.02"), "1e-3"),
    ((1.0, "0.1"), (0.2, "0.01"), "1e-6"),
    ((0.5, "0.001"), (2.0, "0.9"), "1e-5"),
    ((0.2, "0.1"), (0.05, "0.001"), "1e-3"),  # the first guess is just below the truth
    ((2.0, "0.1"), (0.05, "0.001"), "1e-3"),  # the losses of one are far below the step that serves for the other
]


@pytest.mark.parametrize(("first", "second", "allowed"), DIFFERENT)
def test_two_different_steps(first: tuple[float, str], second: tuple[float, str], allowed: str) -> None:
    """One is sampled often, the other seldom: against an integral over the losses of the first, and narrow."""
    laws = [
        SampledGaussianLoss(mu_squared=Fraction(mu**2), rate=Fraction(q), direction="remove")
        for mu, q in (first, second)
    ]
    found = epsilon(Composition(parts=tuple((law, 1) for law in laws)), Fraction(allowed), WIDTH)
    assert found.width <= WIDTH * found.upper
    _check_ends(found, first, lambda x: _removed(second[0], float(second[1]), x), float(allowed))


@pytest.mark.parametrize(
    ("reach", "rate", "seldom", "allowed", "below"),
    [
        ("1", "0.01", "0.01", "1e-3", 0.4),
        ("0.2", "0.01", "0.001", "1e-9", 4.2),
        ("0.2", "0.001", "0.001", "1e-5", 0.34),
    ],
)
def test_first_guesses_that_are_too_large(reach: str, rate: str, seldom: str, allowed: str, below: float) -> None:
    """A sampled Laplace step beside a sampled Gaussian one with little noise: the guess is led down, step by step."""
    a, q = float(reach), float(rate)

    def laplace(x: float) -> float:
        ratio = 1 + math.expm1(x) / q
        if ratio <= math.exp(-a):
            return -math.expm1(x)
        return q * max(1 - math.exp((math.log(ratio) - a) / 2), 0.0)

    laws = (
        SampledGaussianLoss(mu_squared=Fraction(4), rate=Fraction(seldom), direction="remove"),
        SampledLaplaceLoss(epsilon=Fraction(reach), rate=Fraction(rate), direction="remove"),
    )
    found = epsilon(Composition(parts=tuple((law, 1) for law in laws)), Fraction(allowed), WIDTH)
    assert found.width <= WIDTH * found.upper
    assert found.upper < below
    _check_ends(found, (2.0, seldom), laplace, float(allowed))


def _check_ends(found: Interval, first: tuple[float, str], second: Callable[[float], float], allowed: float) -> None:
    """By an integral of the second profile over the losses of a sampled Gaussian step."""
    mu, rate = first[0], float(first[1])
    y = np.linspace(-mu * mu / 2 - 12 * mu, mu * mu / 2 + 12 * mu, 20_001)
    loss = np.log1p(rate * np.expm1(y))
    mass = np.exp(-(((y + mu * mu / 2) / mu) ** 2) / 2 + loss) / (mu * math.sqrt(2 * math.pi))
    for end, sign in ((found.lower, 1), (found.upper, -1)):
        rest = [second(float(end) - x) for x in loss.tolist()]
        profile = float((mass * rest).sum()) * (y[1] - y[0])
        assert sign * (profile - allowed) > -1e-6 * allowed


def test_a_late_refusal_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    composition = one(SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 10), direction="remove"), 10)
    narrow = WIDTH / 100
    sums: list[tuple[laying.Laid, laying.Laid] | None] = []

    def lay(*arguments: object, **options: object) -> object:
        if sums:
            raise refused
        sums.append(laying.lay(*arguments, **options))  # type: ignore[arg-type]
        return sums[0]

    monkeypatch.setattr(road, "lay", lay)
    for refused in (NotApplicable("later"), OverflowError()):
        sums.clear()
        found = epsilon(composition, Fraction(1, 10**6), narrow)
        assert narrow * found.upper < found.width < 1e-4
        sums.append(None)
        with pytest.raises(type(refused)):
            epsilon(composition, Fraction(1, 10**6), narrow)


def test_contradictions_are_not_hidden() -> None:
    with pytest.raises(InvalidParameter):
        road._common(Interval(1, 2), Interval(3, 4))


def test_directions_are_not_the_same() -> None:
    """Removing costs more than adding: taking one for the other would be seen."""
    remove, add = (
        epsilon(
            one(SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction=direction), 10),
            Fraction(1, 10**6),
            WIDTH,
        )
        for direction in ("remove", "add")
    )
    assert remove.lower > 2 * add.upper
    swapped = delta(
        one(SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction="add"), 10), Fraction(remove.lower), WIDTH
    )
    assert swapped.upper < Fraction(1, 10**7)


def test_monotone_in_steps_and_delta() -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction="remove")
    found = [epsilon(one(law, times), Fraction(1, 10**6), WIDTH) for times in (2, 5, 20, 80)]
    assert all(first.upper < second.lower for first, second in itertools.pairwise(found))
    by_delta = [epsilon(one(law, 5), Fraction(1, 10**k), WIDTH) for k in (3, 6, 9, 12)]
    assert all(first.upper < second.lower for first, second in itertools.pairwise(by_delta))


def test_infinite_losses_are_put_back() -> None:
    law = response(Fraction(1, 2))
    lost = Fraction(1, 1000)
    composition = Composition(parts=((law, 3),), infinite=lost)
    inner = (Fraction(1, 100) - lost) / (1 - lost)
    assert meet(epsilon(composition, Fraction(1, 100), WIDTH), epsilon(one(law, 3), inner, WIDTH))
    found, plain = delta(composition, Fraction(1), WIDTH), delta(one(law, 3), Fraction(1), WIDTH)
    assert float(found.lower) == pytest.approx(float(lost + (1 - lost) * plain.lower))
    with pytest.raises(NotApplicable):
        epsilon(composition, lost, WIDTH)
    doubtful = Composition(parts=((law, 3),), infinite=lost, infinite_lower=lost / 2)
    assert epsilon(doubtful, Fraction(1, 100), WIDTH).width > epsilon(composition, Fraction(1, 100), WIDTH).width


def test_epsilon_may_be_zero() -> None:
    assert epsilon(Composition(infinite=Fraction(1, 10)), Fraction(1, 2), WIDTH) == Interval(0, 0)
    with pytest.raises(NotApplicable):
        delta(Composition(), Fraction(1), WIDTH)
    found = epsilon(one(GaussianLoss(mu_squared=Fraction(1)), 2), Fraction(9, 10), WIDTH)
    assert found.lower == 0
    assert found.upper < 1e-6


@pytest.mark.parametrize(
    "composition",
    [
        one(GaussianLoss(mu_squared=Fraction(1, 10**16))),
        one(SampledGaussianLoss(mu_squared=Fraction(1), rate=1 - Fraction(1, 2**30), direction="remove"), 2),
        one(SampledGaussianLoss(mu_squared=Fraction(1, 10**6), rate=RATE, direction="remove"), 10**12),
        one(DiscreteGaussianLoss(variance=Fraction(10**14), sensitivity=1), 5),
    ],
)
def test_what_has_no_answer_here_is_refused(composition: Composition) -> None:
    with pytest.raises(NotApplicable):
        epsilon(composition, Fraction(1, 2), WIDTH)


def test_finer_than_asked_where_that_costs_little() -> None:
    """Absolute errors of other programs are of about 4e-9 for every step: ours stay below, however large epsilon is."""
    law = SampledGaussianLoss(mu_squared=Fraction(25, 16), rate=Fraction(1, 10), direction="remove")
    found = epsilon(one(law, 2), Fraction(1, 10**6), WIDTH)
    assert found.width < 8e-9
    assert meet(found, epsilon(one(law, 2), Fraction(1, 10**6), Fraction(1, 100)))
    noise = SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 10), direction="remove")
    assert epsilon(one(noise, 10), Fraction(1, 10**6), WIDTH).width < 2e-7


@pytest.mark.parametrize("number", [2, 3, 5, 6, 7])
def test_numbers_of_nodes_are_powers_of_two(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where several laws leave fewer of them for each, and the answer is made finer than asked."""
    counts: list[int] = []

    def lay(cut: Any, chosen: Any, count: int, **options: Any) -> object:
        counts.append(count)
        return laying.lay(cut, chosen, count, **options)

    monkeypatch.setattr(road, "lay", lay)
    laws = [LaplaceLoss(epsilon=Fraction(k + 7, 10)) for k in range(number - 1)]
    noise = SampledGaussianLoss(mu_squared=Fraction(4), rate=Fraction(1, 5), direction="remove")
    found = epsilon(Composition(parts=((noise, 3), *((law, 1) for law in laws))), Fraction(1, 10**5), WIDTH)
    assert found.width <= 1e-4 * float(found.upper)
    assert all(count & (count - 1) == 0 for count in counts)


def test_an_atom_at_epsilon() -> None:
    """Where a blur is at its worst the atoms are moved onto a lattice as well; few different sums are on both."""
    third, listed = Fraction(1, 3), [(Fraction(6, 10), Fraction(2, 10)), (Fraction(3, 10), Fraction(5, 10))]
    listed.append((Fraction(1, 10), Fraction(3, 10)))
    law = FiniteLoss(epsilon=Fraction(0), outcomes=tuple(((p, Fraction(0)), (q, Fraction(0))) for p, q in listed))
    place = Fraction(math.log(3)) + Fraction(math.log(third))  # one of its sums, but for rounding
    for aside in (Fraction(0), Fraction(1, 10**6), Fraction(-1, 10**6), Fraction(1, 100)):
        found = delta(one(law, 2), Fraction(1, 10) + place + aside, WIDTH)
        with mpmath.workdps(30):
            assert exact.holds(found, enumerated_profile([(listed, 2)], Fraction(1, 10) + place + aside))
    at = Fraction(math.log(3)) + Fraction(math.log(Fraction(3, 5)))
    found = delta(one(law, 2), at, WIDTH)
    with mpmath.workdps(30):
        assert exact.holds(found, enumerated_profile([(listed, 2)], at))
    assert found.width < 1e-4


@pytest.mark.parametrize(
    ("multiplier", "rate", "times", "target", "most"),
    [("1", "1e-4", 1_000, "1e-8", 1e-5), ("1", "1e-3", 100, "1e-8", 1e-6), ("0.7", "1e-4", 10_000, "1e-5", 1e-4)],
)
def test_rows_that_are_seldom_sampled(multiplier: str, rate: str, times: int, target: str, most: float) -> None:
    """The first guess is far off, and a search that is finer than asked ends without an answer or far too wide."""
    square, limit = 1 / Fraction(multiplier) ** 2, Fraction(target)
    steps = one(SampledGaussianLoss(mu_squared=square, rate=Fraction(rate), direction="remove"), times)
    found = epsilon(steps, limit, WIDTH)
    assert found.lower > 0
    assert found.width <= most * found.upper
    below, above = (
        delta(steps, Fraction(place) * part, Fraction(1, 1000))
        for place, part in ((found.lower, Fraction(99, 100)), (found.upper, Fraction(101, 100)))
    )
    assert below.upper > limit > above.lower


def test_very_few_steps_are_as_narrow_as_floats_allow() -> None:
    """Where others use a fine grid: dp-accounting 0.6.0 has 2.469371937 for the first, at its step of 1e-4."""
    law = SampledLaplaceLoss(epsilon=Fraction(2), rate=Fraction(1, 5), direction="remove")
    found = epsilon(one(law, 3), Fraction(1, 10**6), WIDTH)
    assert found.width < 1e-8
    assert found.upper < 2.469371937
    steps = one(SampledGaussianLoss(mu_squared=Fraction(4), rate=Fraction(1, 20), direction="remove"), 2)
    assert epsilon(steps, Fraction(1, 10**6), WIDTH).width < 5e-8


@pytest.mark.parametrize(
    ("scale", "rate", "times", "allowed", "theirs"),
    [
        ("0.3", "0.05", 10, "1e-6", 4.593379178848172),
        ("0.3", "0.2", 5, "1e-4", 7.610425719636276),
        ("0.5", "0.5", 10, "1e-4", 12.372446750424547),
        ("1", "0.5", 10, "1e-8", 6.2006885039234465),
    ],
)
def test_few_steps_are_below_a_fine_grid(scale: str, rate: str, times: int, allowed: str, theirs: float) -> None:
    """Upper ends of loss distributions on a grid of step 1e-4, by another library."""
    law = SampledLaplaceLoss(epsilon=1 / Fraction(scale), rate=Fraction(rate), direction="remove")
    assert epsilon(one(law, times), Fraction(allowed), WIDTH).upper < theirs


@pytest.mark.parametrize(
    ("rate", "times", "allowed", "truth", "theirs"),
    [
        ("0.01", 2, "1e-3", 5.646169945721, 5.646169948720904),
        pytest.param("0.1", 5, "1e-5", 0.0, 27.6316271155, marks=pytest.mark.slow),
        pytest.param("0.1", 10, "1e-3", 0.0, 23.5502483637, marks=pytest.mark.slow),
        pytest.param("0.5", 5, "1e-3", 0.0, 38.0894609736, marks=pytest.mark.slow),
    ],
)
def test_chords_are_below_a_fine_grid(rate: str, times: int, allowed: str, truth: float, theirs: float) -> None:
    """The same, of little normal noise, where what is charged for rounding matters."""
    law = SampledGaussianLoss(mu_squared=Fraction(100, 9), rate=Fraction(rate), direction="remove")
    assert truth < epsilon(one(law, times), Fraction(allowed), WIDTH).upper < theirs


def twice(mu: mpmath.mpf, rate: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The profile of two steps of a sampled Gaussian, "remove": the closed form of one, over the other."""

    def once(left: mpmath.mpf) -> mpmath.mpf:
        ratio = 1 + mpmath.expm1(left) / rate
        if ratio <= 0:
            return -mpmath.expm1(left)
        return rate * exact.gaussian(mu, mpmath.log(ratio))

    def weighted(x: mpmath.mpf) -> mpmath.mpf:
        loss = mpmath.log1p(rate * mpmath.expm1(mu * x - mu * mu / 2))
        return mpmath.npdf(x) * mpmath.exp(loss) * once(epsilon - loss)

    bend = mpmath.log(mpmath.expm1(epsilon - mpmath.log1p(-rate)) / rate + 1) / mu + mu / 2  # nearly a kink
    near = [bend + side * mpmath.mpf(2) ** -k for k in range(2, 24) for side in (-1, 0, 1)]
    return mpmath.quad(weighted, sorted({mpmath.mpf(k) / 2 for k in range(-16, 25)} | set(near)))


TWICE = [
    ("0.5", "0.01", "1e-5", "3.4282991613372"),
    ("0.6", "0.5", "1e-3", "7.0616934813176"),
    ("0.3", "0.1", "1e-5", "20.3110077382927"),
]


@pytest.mark.parametrize(("noise", "rate", "allowed", "truth"), TWICE)
def test_chords_bring_the_upper_end_near_the_truth(noise: str, rate: str, allowed: str, truth: str) -> None:
    law = SampledGaussianLoss(mu_squared=1 / Fraction(noise) ** 2, rate=Fraction(rate), direction="remove")
    found = epsilon(one(law, 2), Fraction(allowed), WIDTH)
    assert found.lower <= Fraction(truth) <= found.upper <= Fraction(truth) + Fraction(3, 10**9)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "rate", "allowed", "truth"), TWICE)
def test_the_truth_about_two_steps(noise: str, rate: str, allowed: str, truth: str) -> None:
    with mpmath.workdps(25):
        found = twice(1 / mpmath.mpf(noise), mpmath.mpf(rate), mpmath.mpf(truth))
        assert abs(found / mpmath.mpf(allowed) - 1) < 1e-10


def test_chords_are_needed_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(4), rate=Fraction(1, 1000), direction="remove")
    found = epsilon(one(law, 10), Fraction(1, 10**7), WIDTH)
    monkeypatch.setattr(road, "_MOST_CHORDED", 0)
    without = epsilon(one(law, 10), Fraction(1, 10**7), WIDTH)
    assert without.lower <= found.lower <= found.upper < without.upper - 10**-6


def test_an_epsilon_of_0_is_exactly_that() -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 1000), direction="remove")
    assert epsilon(one(law, 2), Fraction(1, 1000), WIDTH) == Interval(0, 0, method="lattice")
