"""Which closed form is taken, infinite losses, and what is refused."""

from fractions import Fraction

import pytest

from privately.accounting import Gaussian, GaussianDP, Laplace, PoissonSample, RandomizedResponse, Repeat, Sequence
from privately.accounting import delta as delta_of
from privately.accounting import epsilon as epsilon_of
from privately.accounting.closed_forms import delta, epsilon, finite, gaussian, road
from privately.accounting.compositions import Composition, compositions
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval
from tests.accounting.closed_forms.true_profiles import exact, many_digits, true_delta

WIDTH = Fraction(1, 10**6)
NORMAL = GaussianLoss(mu_squared=Fraction(1, 3))
LAPLACE = LaplaceLoss(epsilon=Fraction(2))
RESPONSE = response(Fraction(1, 2))
DISCRETE = DiscreteGaussianLoss(variance=Fraction(4), sensitivity=3)


def of(*parts: tuple[Loss, int], infinite: str = "0", lower: str = "-1") -> Composition:
    return Composition(parts=parts, infinite=Fraction(infinite), infinite_lower=Fraction(lower))


@pytest.mark.parametrize(
    ("composition", "method"),
    [
        (of((NORMAL, 5)), road.NORMAL),
        (of((NORMAL, 1), (GaussianLoss(mu_squared=Fraction(2)), 7)), road.NORMAL),
        (of((LAPLACE, 1)), road.ONE),
        (of((DISCRETE, 1)), road.ONE),
        (of((RESPONSE, 1)), road.FINITE),
        (of((RESPONSE, 9), (response(Fraction(1)), 2)), road.FINITE),
    ],
)
def test_the_method_is_named(composition: Composition, method: str) -> None:
    assert delta(composition, Fraction(1, 10), WIDTH).method == method
    assert epsilon(composition, Fraction(1, 10), WIDTH).method == method


@pytest.mark.parametrize(
    "composition",
    [
        of((LAPLACE, 2)),
        of((LAPLACE, 1), (NORMAL, 1)),
        of((NORMAL, 1), (RESPONSE, 1)),
        of((DISCRETE, 1), (LAPLACE, 1)),
        of((SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 2), direction="add"), 2)),
    ],
)
def test_several_steps_are_refused(composition: Composition) -> None:
    with pytest.raises(NotApplicable, match="several steps"):
        delta(composition, Fraction(1), WIDTH)
    with pytest.raises(NotApplicable, match="several steps"):
        epsilon(composition, Fraction(1, 10), WIDTH)


@pytest.mark.parametrize("wanted", ["0", "1", "1/4", "1/5"])
def test_deltas_out_of_reach_are_refused(wanted: str) -> None:
    with pytest.raises(NotApplicable, match="infinite loss"):
        epsilon(of((LAPLACE, 1), infinite="1/4", lower="1/5"), Fraction(wanted), WIDTH)


@pytest.mark.parametrize("law", [LAPLACE, RESPONSE], ids=str)
def test_numbers_out_of_range_are_refused(law: Loss) -> None:
    with pytest.raises(NotApplicable, match="range"):
        delta(of((law, 1)), Fraction(10) ** 400, WIDTH)


@pytest.mark.parametrize(
    "law",
    [
        SampledGaussianLoss(mu_squared=Fraction(10) ** 18, rate=Fraction(1, 2), direction="remove"),
        DiscreteLaplaceLoss(scale=Fraction(1, 10**9), sensitivity=10**9),
        DiscreteGaussianLoss(variance=Fraction(1, 10**9), sensitivity=10**9),
    ],
    ids=str,
)
def test_epsilons_out_of_range_are_refused(law: Loss) -> None:
    with pytest.raises(NotApplicable, match="range"):
        epsilon(of((law, 1)), Fraction(1, 10**5), WIDTH)


def test_nothing_to_add_up_is_refused() -> None:
    with pytest.raises(NotApplicable):
        delta(of(infinite="1/2"), Fraction(1), WIDTH)
    with pytest.raises(NotApplicable):
        epsilon(of(infinite="1/4"), Fraction(1, 2), WIDTH)


def test_normal_losses_add_up() -> None:
    total = GaussianLoss(mu_squared=Fraction(5, 3) + 14)
    composition = of((NORMAL, 5), (GaussianLoss(mu_squared=Fraction(2)), 7))
    found = delta(composition, Fraction(20), WIDTH)
    with many_digits():
        truth = exact(true_delta(total, Fraction(20)))
        one_more = exact(true_delta(GaussianLoss(mu_squared=total.mu_squared + Fraction(1, 3)), Fraction(20)))
    assert truth in found
    assert one_more not in found


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 10**90), Fraction(10**4)])
def test_many_normal_losses_are_added_up_on_both_sides(scale: Fraction) -> None:
    """Sums of some 200 bits, rounded down and up, with the exact one between them and close."""
    squares = [scale * Fraction(k + 1, 10**9 + k) for k in range(20)]
    found = road._normal(of(*((GaussianLoss(mu_squared=one), 3) for one in squares)))
    assert found is not None
    low, high = found
    assert low < 3 * sum(squares) < high
    assert high - low <= high / 2**150


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 10**120), Fraction(999, 1000)])
@pytest.mark.parametrize("noise", [1, 40, Fraction(1, 10**3), 10**29])
def test_many_normal_noises_are_answered_as_all_else(noise: Fraction, delta: Fraction) -> None:
    """Without the exact sum: the same ends as with it, but for the last digits."""
    many = [Gaussian(noise_multiplier=noise * (1 + Fraction(k, 10**7 + k))) for k in range(12)]
    found, (exact_sum,) = road.noises(Sequence(events=many), delta), compositions(Sequence(events=many))
    assert found is not None
    known = epsilon(exact_sum, delta, WIDTH)
    assert float(found.lower) == pytest.approx(float(known.lower), rel=1e-9)
    assert float(found.upper) == pytest.approx(float(known.upper), rel=1e-9)
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert epsilon_of(Sequence(events=many), delta) == found


def test_what_is_no_list_of_normal_noises_is_composed() -> None:
    noise, delta = Gaussian(noise_multiplier=3), Fraction(1, 10**6)
    silent = Sequence(events=[noise] * 9)
    assert road.noises(silent, delta) is not None
    for event in (noise, Sequence(events=[noise, noise]), Sequence(events=[noise] * 9 + [Laplace(scale=9)])):
        assert road.noises(event, delta) is None
    assert road.noises(Sequence(events=[noise] * 9 + [Gaussian(noise_multiplier=0)]), delta) is None


@pytest.mark.parametrize("law", [LAPLACE, NORMAL, RESPONSE, DISCRETE], ids=str)
@pytest.mark.parametrize(
    ("infinite", "lower"), [("1/100", "1/100"), ("1/100", "1/101"), ("1/100", "0"), ("1/10", "-1")]
)
def test_infinite_losses_are_put_back(law: Loss, infinite: str, lower: str) -> None:
    """Both ends, whatever the mass is between its bounds."""
    composition, bare = of((law, 1), infinite=infinite, lower=lower), of((law, 1))
    at, wanted = Fraction(1, 3), Fraction(1, 5)
    found, costs = delta(composition, at, WIDTH), epsilon(composition, wanted, WIDTH)
    plain = delta(bare, at, WIDTH)
    for mass in (composition.infinite_lower, composition.infinite):
        assert mass + (1 - mass) * Fraction(plain.lower) in found
        assert mass + (1 - mass) * Fraction(plain.upper) in found
        needed = epsilon(bare, (wanted - mass) / (1 - mass), WIDTH)
        assert costs.lower <= needed.lower
        assert needed.upper <= costs.upper


def test_forgetting_infinite_losses_would_be_seen() -> None:
    bare = delta(of((LAPLACE, 1)), Fraction(1, 3), WIDTH)
    mass = Fraction(1, 100)
    assert mass + (1 - mass) * Fraction(bare.upper) not in bare


def test_delta_and_epsilon_are_inverse() -> None:
    for law in (LAPLACE, NORMAL, RESPONSE, DISCRETE):
        composition = of((law, 1), infinite="1/1000")
        for wanted in (Fraction(1, 10), Fraction(1, 500)):
            found = epsilon(composition, wanted, WIDTH)
            assert delta(composition, Fraction(found.upper), WIDTH).lower <= wanted
            assert found.lower == 0 or delta(composition, Fraction(found.lower), WIDTH).upper >= wanted


def test_an_empty_sample_of_normals_is_one_normal() -> None:
    event = Sequence(events=[Gaussian(noise_multiplier=2), GaussianDP(mu=1)])
    (composition,) = compositions(event)
    assert epsilon(composition, Fraction(1, 100), WIDTH) == Interval(
        *gaussian.inverse(Fraction(5, 4), Fraction(1, 100))
    )


def test_a_million_responses_through_the_front_door() -> None:
    """Once an OverflowError."""
    event = Repeat(event=RandomizedResponse(epsilon=".001"), times=10**6)
    found = epsilon_of(event, "1e-5")
    assert found.method == road.FINITE
    assert 4.37 < found.lower <= found.upper < 4.38
    assert delta_of(event, found.upper).lower <= Fraction(1, 10**5) <= delta_of(event, found.lower).upper


def test_directions_of_a_sample_differ() -> None:
    remove, add = compositions(PoissonSample(event=Laplace(scale=1), rate=".1"))
    first, second = (epsilon(one, Fraction(1, 1000), WIDTH) for one in (remove, add))
    assert first.lower > second.upper


def test_long_tables_are_asked_once() -> None:
    finite._kept.cache_clear()
    law = FiniteLoss(epsilon=Fraction(1), outcomes=RESPONSE.outcomes)
    for _ in range(3):
        delta(of((law, 10_000)), Fraction(1), WIDTH)
    assert finite._kept.cache_info().misses == 1
