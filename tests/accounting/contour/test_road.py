"""The main road: its intervals contain what other methods find, and nothing but NotApplicable comes out of it."""

from __future__ import annotations

import csv
import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from mpmath import mp, mpf

from privately.accounting.compositions import Composition, compositions
from privately.accounting.contour import METHOD, road
from privately.accounting.contour.saddle import for_epsilon
from privately.accounting.encoding import from_text
from privately.accounting.losses import (
    DIRECTIONS,
    Direction,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.guarantees.curves import gaussian_delta, gaussian_epsilon
from privately.rounding import Interval
from tests.accounting.contour import exact_transforms

WIDTH = Fraction(1, 1000)
REFERENCES = Path(__file__).parent.parent / "references" / "references.csv"


def sampled(mu: float, rate: float, direction: Direction, times: int = 1) -> Composition:
    law = SampledGaussianLoss(mu_squared=Fraction(mu) ** 2, rate=Fraction(rate), direction=direction)
    return Composition(parts=((law, times),))


def ends(found: Interval) -> tuple[mpf, mpf]:
    lower, upper = Fraction(found.lower), Fraction(found.upper)
    return mpf(lower.numerator) / lower.denominator, mpf(upper.numerator) / upper.denominator


def near(found: Interval, truth: Fraction, error: Fraction = Fraction(0)) -> bool:
    """Whether the interval contains the truth, which is known up to an error, and is as narrow as asked."""
    inside = found.lower - error <= truth <= found.upper + error
    return inside and found.upper - found.lower <= WIDTH * max(found.upper, Fraction(1, 1000))


# From a table made by other programs: contour integrals in doubles, good to about 9 digits; Gaussians in closed form.
NORMAL = ("4.37717809568122", "4.88655411746221", "5.77609838289027", "6.54792406686495")
TABLE = [
    (GaussianLoss(mu_squared=Fraction(1)), 1, NORMAL),
    (GaussianLoss(mu_squared=Fraction(1, 10**4)), 10**4, NORMAL),
    (LaplaceLoss(epsilon=Fraction(1, 10)), 100, ("4.22034733", "4.69266741", "5.50015514", "6.17959647")),
    (LaplaceLoss(epsilon=Fraction(1, 20)), 1000, ("7.42127287", "8.20444034", "9.57269067", "10.7592367")),
]
SAMPLED = {
    10**3: ("1.828236667", "2.124515171", "2.697867934", "3.290443751"),
    10**4: ("6.18771239", "6.907384495", "8.185122968", "9.316138526"),
    10**5: ("25.57310699", "27.67259769", "31.37388371", "34.61702157"),
    10**6: ("139.0302727", "145.4968356", "156.8748295", "166.8191772"),
}
DELTAS = (Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 10**8), Fraction(1, 10**10))


@pytest.mark.parametrize(("law", "times", "epsilons"), TABLE)
def test_the_table(law: GaussianLoss | LaplaceLoss, times: int, epsilons: tuple[str, ...]) -> None:
    for delta, text in zip(DELTAS, epsilons, strict=True):
        found = road.epsilon(Composition(parts=((law, times),)), delta, WIDTH)
        assert near(found, Fraction(text), Fraction(text) * Fraction(1, 10**8))
        assert found.method == METHOD


@pytest.mark.parametrize("times", sorted(SAMPLED))
def test_the_table_of_sampled_gaussians(times: int) -> None:
    rate = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove")
    for delta, text in zip(DELTAS, SAMPLED[times], strict=True):
        found = road.epsilon(Composition(parts=((rate, times),)), delta, WIDTH)
        assert near(found, Fraction(text), Fraction(text) * Fraction(1, 10**8))


def test_chernoff_bounds() -> None:
    """Above the truth at every height, and hardly above it times the loss of such bounds at the best one."""
    for law, times in ((GaussianLoss(mu_squared=Fraction(1, 4)), 8), (GaussianLoss(mu_squared=Fraction(1)), 1)):
        sums = road.Sums(Composition(parts=((law, times),)))
        for epsilon in (0.5, 3.0, 9.0):
            truth = float(gaussian_delta(Fraction(math.sqrt(times * float(law.mu_squared))), Fraction(epsilon)).lower)
            found = [sums.chernoff(b, epsilon) for b in (1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0)]
            assert min(found) >= math.log(truth) + 0.01
            assert min(found) <= math.log(truth) + 3


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_chernoff_bounds_of_samples(direction: Direction) -> None:
    for times in (1000, 10**6):
        composition = sampled(0.5, 0.01, direction, times)
        sums = road.Sums(composition)
        for epsilon in (0.3, 2.0):
            upper = road.delta(composition, Fraction(epsilon), Fraction(1, 10**4)).upper
            found = [sums.chernoff(b, epsilon) for b in (0.5, 2.0, 8.0, 20.0)]
            assert min(found) >= math.log(upper) - 1e-4


def test_far_below_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried is only a guess: the bound decides."""
    composition = sampled(0.5, 0.01, "add", 1000)
    epsilon, delta = Fraction(3, 4), Fraction(1, 10**6)
    assert road.is_at_most(composition, epsilon, delta)
    sums = road.Sums(composition)
    saddle = for_epsilon(sums.outline, float(epsilon))
    assert sums.is_far_below(saddle, epsilon, math.log(delta))
    monkeypatch.setattr(road.Sums, "chernoff", lambda *_: 0.0)
    assert not sums.is_far_below(saddle, epsilon, math.log(delta))


def references() -> list[dict[str, str]]:
    with REFERENCES.open(newline="") as lines:
        return list(csv.DictReader(lines))


def check_reference(row: dict[str, str]) -> bool:
    """Whether the road has an answer; if so it is right."""
    delta, truth = Fraction(Decimal(row["delta"])), Fraction(Decimal(row["epsilon"]))
    error = Fraction(Decimal(row["error"]))
    parts = [each for each in compositions(from_text(row["event"])) if each.infinite == 0]
    try:
        found = [road.epsilon(part, delta, WIDTH) for part in parts]
    except NotApplicable:
        return False
    assert found
    assert max(each.lower for each in found) <= truth + error, row["text"]
    assert max(each.upper for each in found) >= truth - error, row["text"]
    return True


def test_references() -> None:
    """Some of the reference answers here; more in the slow run."""
    rows = [row for row in references() if "response" not in row["text"]]
    answered = [check_reference(row) for row in rows[::5]]
    assert sum(answered) >= 0.6 * len(answered)


@pytest.mark.slow
def test_all_references() -> None:
    """All but those of responses alone, which other roads answer at once and this one slowly or not at all."""
    rows = [row for row in references() if not row["text"].startswith("response ")]
    answered = {row["text"] + row["delta"]: check_reference(row) for row in rows}
    smooth = [name for name in answered if "gaussian" in name]
    assert sum(answered[name] for name in smooth) >= 0.8 * len(smooth)


def beside_gaussian(mu: float, rate: float, direction: Direction, beside: mpf, epsilon: mpf) -> mpf:
    """One step of a sampled Gaussian and a Gaussian: the mean over the first loss of the second's profile."""

    def mean(x: mpf) -> mpf:
        loss = mp.log1p(mpf(rate) * mp.expm1(mpf(mu) * x - mpf(mu) ** 2 / 2))
        if direction == "remove":
            return mp.npdf(x) * mp.exp(loss) * exact_transforms.gaussian_profile(beside, epsilon - loss)
        return mp.npdf(x) * exact_transforms.gaussian_profile(beside, epsilon + loss)

    return mp.quad(mean, [-13, -6, -2, 0, 2, 6, 13 + mu])


def check_beside_gaussian(seed: int, direction: Direction) -> None:
    """No transform is involved in the truth."""
    draw = random.Random(seed)
    with mp.workdps(25):
        mu, rate, beside = 10 ** draw.uniform(-1.5, 0.4), 10 ** draw.uniform(-4, -0.01), draw.choice([0.5, 1.0, 2.0])
        epsilon = draw.uniform(0, 4 * beside + mu)
        parts = (*sampled(mu, rate, direction).parts, (GaussianLoss(mu_squared=Fraction(beside) ** 2), 1))
        found = road.delta(Composition(parts=parts), Fraction(epsilon), WIDTH)
        truth = beside_gaussian(mu, rate, direction, mpf(beside), mpf(epsilon))
        low, high = ends(found)
        assert low * (1 - mpf(10) ** -12) <= truth <= high * (1 + mpf(10) ** -12), (mu, rate, epsilon)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(6))
def test_a_step_beside_a_gaussian(seed: int, direction: Direction) -> None:
    check_beside_gaussian(seed, direction)


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_steps_beside_gaussians(seed: int, direction: Direction) -> None:
    check_beside_gaussian(seed, direction)


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_few_steps_against_real_space(seed: int, times: int, direction: Direction) -> None:
    """One step in closed form, two by an integral over the first loss; the road seldom has an answer here."""
    draw = random.Random(seed)
    solve = exact_transforms.sampled_gaussian_profile if times == 1 else exact_transforms.two_steps
    with mp.workdps(40):  # some deltas are below 1e-25
        mu, rate = 10 ** draw.uniform(-1, 0.4), 10 ** draw.uniform(-2.5, -0.05)
        highest = 2.0 * mu if direction == "remove" else -math.log1p(-rate)
        epsilon = times * highest * draw.uniform(0.05, 0.8)
        try:
            found = road.delta(sampled(mu, rate, direction, times), Fraction(epsilon), WIDTH)
        except NotApplicable:
            return
        truth = solve(mpf(mu), mpf(rate), direction == "remove", mpf(epsilon))
        low, high = ends(found)
        assert low * (1 - mpf(10) ** -10) <= truth <= high * (1 + mpf(10) ** -10), (mu, rate, epsilon)


@pytest.mark.parametrize("times", [1, 10, 300])
def test_responses_beside_a_gaussian(times: int) -> None:
    """A binomial mean of Gaussian profiles."""
    composition = Composition(parts=((response(Fraction(1, 4)), times), (GaussianLoss(mu_squared=Fraction(1)), 1)))
    with mp.workdps(40):
        p = mp.exp(0.25) / (1 + mp.exp(0.25))
        for epsilon in (0, 1, 4, 8):
            truth = mp.fsum(
                mp.binomial(times, k)
                * p**k
                * (1 - p) ** (times - k)
                * exact_transforms.gaussian_profile(mpf(1), epsilon - mpf(2 * k - times) / 4)
                for k in range(times + 1)
            )
            found = road.delta(composition, Fraction(epsilon), WIDTH)
            low, high = ends(found)
            assert low <= truth <= high <= 1.01 * low


def test_outcomes_of_less_mass() -> None:
    """What is left of a sampled pair when much of it has infinite loss: the transform is far below 1."""
    half = Fraction(9, 20), Fraction(0)
    outcomes = (
        ((Fraction(1, 10), Fraction(0)), (Fraction(1, 10), Fraction(0))),
        (half, (Fraction(9, 10), Fraction(0))),
    )
    law = FiniteLoss(epsilon=Fraction(0), outcomes=outcomes)
    composition = Composition(parts=((law, 5), (GaussianLoss(mu_squared=Fraction(1)), 1)))
    with mp.workdps(30):
        kept = mpf(2) / 11
        for epsilon in (0, 1, 3):
            truth = mp.fsum(
                mp.binomial(5, k)
                * kept**k
                * (1 - kept) ** (5 - k)
                * exact_transforms.gaussian_profile(mpf(1), epsilon + (5 - k) * mp.log(2))
                for k in range(6)
            )
            found = road.delta(composition, Fraction(epsilon), WIDTH)
            low, high = ends(found)
            assert low <= truth <= high


@pytest.mark.parametrize("mu", [Fraction(1, 100), Fraction(1), Fraction(6)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**9), Fraction(1, 10**100), Fraction(1, 10**300)])
def test_gaussians(mu: Fraction, delta: Fraction) -> None:
    composition = Composition(parts=((GaussianLoss(mu_squared=mu * mu), 1),))
    truth = gaussian_epsilon(mu, delta)
    found = road.epsilon(composition, delta, WIDTH)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    back = road.delta(composition, Fraction(float(truth.upper)), WIDTH)
    exact = gaussian_delta(mu, Fraction(float(truth.upper)))
    assert back.lower <= Fraction(exact.upper)
    assert Fraction(exact.lower) <= back.upper


def test_they_grow_and_fall_as_they_must() -> None:
    """Monotone in the number of steps, the noise, delta and the rate: no two intervals contradict it."""

    def epsilons(cases: list[tuple[Composition, Fraction]]) -> None:
        found = [road.epsilon(composition, delta, Fraction(1, 10**5)) for composition, delta in cases]
        for one, other in pairwise(found):
            assert one.lower <= other.upper
            assert one.upper < other.lower  # far enough apart to tell

    small = Fraction(1, 10**6)
    for direction in DIRECTIONS:
        epsilons([(sampled(1.0, 0.01, direction, times), small) for times in (900, 1000, 1100, 5000)])
        epsilons([(sampled(mu, 0.02, direction, 500), small) for mu in (0.5, 0.6, 0.75, 1.0)])
        epsilons([(sampled(1.0, rate, direction, 500), small) for rate in (0.01, 0.011, 0.02, 0.1, 0.5)])
        epsilons([(sampled(1.0, 0.01, direction, 1000), Fraction(1, 10**k)) for k in (3, 4, 5, 6, 9, 12, 30)])


def outcome(composition: Composition, delta: Fraction) -> str:
    """An answer that is not absurd, or a clean refusal."""
    try:
        found = road.epsilon(composition, delta, WIDTH)
    except NotApplicable as refusal:
        return refusal.reason
    assert 0 <= found.lower <= found.upper < math.inf
    return "answered"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_extremes(direction: Direction) -> None:
    """Warnings are errors in this suite, so none is given either."""
    cases = [
        (mu, rate, times, delta)
        for mu, rate in (
            (1e-4, 0.5),
            (0.01, 1e-9),
            (1.0, 1e-9),
            (1.0, 1 - 1e-9),
            (20.0, 1e-3),
            (20.0, 1 - 1e-9),
            (1e-4, 1e-9),
        )
        for times in (1, 1000, 10**12)
        for delta in (Fraction(1, 2), Fraction(1, 10**9), Fraction(1, 10**300))
    ]
    cases = [case for case in cases if not (case[0] > 1 and case[2] == 1)]
    answers = [outcome(sampled(mu, rate, direction, times), delta) for mu, rate, times, delta in cases]
    assert "answered" in answers
    assert all(answers)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_extremes_of_the_sampled_laplace(direction: Direction) -> None:
    for epsilon in (Fraction(1, 10**6), Fraction(1), Fraction(40), Fraction(499)):
        for rate in (Fraction(1, 10**9), Fraction(1, 2), 1 - Fraction(1, 10**9)):
            law = SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=direction)
            for times in (1, 1000, 10**12):
                outcome(Composition(parts=((law, times),)), Fraction(1, 10**6))


def test_very_long_compositions_are_nearly_gaussian() -> None:
    """mu^2 = 10^-12 and 10^12 steps: the sampled Gaussian at rate q is as q^2 of it."""
    times = 10**12
    law = SampledGaussianLoss(mu_squared=Fraction(1, 10**10), rate=Fraction(1, 10), direction="remove")
    found = road.epsilon(Composition(parts=((law, times),)), Fraction(1, 10**6), WIDTH)
    truth = gaussian_epsilon(Fraction(1), Fraction(1, 10**6))
    assert float(found.lower) == pytest.approx(float(truth.lower), rel=1e-3)


def test_nothing_is_enough() -> None:
    """When delta at epsilon = 0 is below the delta that is allowed, epsilon is 0, or the road has no answer."""
    for mu, times in ((Fraction(1, 10), 1), (Fraction(1, 100), 10)):
        composition = Composition(parts=((GaussianLoss(mu_squared=mu * mu), times),))
        allowed = Fraction(1, 4)
        assert gaussian_delta(mu * times, Fraction(0)).upper < allowed
        try:
            found = road.epsilon(composition, allowed, WIDTH)
        except NotApplicable:
            continue
        assert found.lower == 0
        assert found.upper <= Fraction(1, 1000)


def test_a_quick_look() -> None:
    composition = sampled(1.0, 0.01, "remove", 1000)
    delta = Fraction(1, 10**5)
    assert road.is_at_most(composition, Fraction(185, 100), delta)
    assert not road.is_at_most(composition, Fraction(1828, 1000), delta)
    assert not road.is_at_most(Composition(parts=((response(Fraction(1)), 3),)), Fraction(1), delta)


def test_no_transform() -> None:
    many = tuple(((Fraction(1), Fraction(0)), (Fraction(k + 1), Fraction(0))) for k in range(100))
    with pytest.raises(NotApplicable):
        road.epsilon(Composition(parts=((FiniteLoss(epsilon=Fraction(0), outcomes=many), 1),)), DELTAS[0], WIDTH)


def test_a_few_steps_are_left_to_the_lattice() -> None:
    """Where only a coarse sum would stay short; as a last resort it is taken."""
    before, last = road.FewSteps(is_last=False), road.FewSteps(is_last=True)
    few, delta, fine = sampled(0.5, 0.01, "remove", 10), Fraction(1, 10**6), Fraction(1, 10**6)
    assert before.is_improvable(few, before.epsilon(few, delta, fine))
    with pytest.raises(NotApplicable, match="long"):
        before.delta(few, Fraction(1, 20), fine)
    assert near(last.epsilon(few, delta, fine), Fraction("0.085345009"), Fraction(1, 10**6))
    assert last.delta(few, Fraction("0.085345009"), WIDTH).upper > delta * Fraction(99, 100)
    many = sampled(1, 0.01, "remove", 1000)
    assert not before.is_improvable(many, Interval(0, 1))
    assert before.epsilon(many, delta, fine) == road.epsilon(many, delta, fine)
    assert before.delta(many, Fraction(1), fine) == road.delta(many, Fraction(1), fine)
    for ask in (last.epsilon, last.delta):
        with pytest.raises(NotApplicable, match="before"):
            ask(many, delta, fine)


@pytest.mark.parametrize(("rate", "allowed"), [(0.5, 7), (0.01, 5), (0.001, 7)])
def test_a_hundred_steps_are_known_narrowly(rate: float, allowed: int) -> None:
    """However little noise there is."""
    composition, delta = sampled(2.5, rate, "remove", 100), Fraction(1, 10**allowed)
    found = road.epsilon(composition, delta, Fraction(1, 10**6))
    assert found.width <= 1e-7
    assert near(found, Fraction(road.epsilon(composition, delta, Fraction(1, 10**3)).upper), Fraction(1, 10**4))


def test_an_epsilon_of_0_is_exactly_that() -> None:
    assert road.epsilon(sampled(1, 0.001, "add", 2), Fraction(1, 1000), WIDTH).upper == 0
    assert road.epsilon(sampled(1, 0.001, "add", 2), Fraction(1, 10**4), WIDTH).lower > 0


@pytest.mark.parametrize(
    ("noise", "rate", "times", "allowed", "theirs"),
    [
        ("0.4", "0.5", 3, "1e-6", 25.290569940602662),
        ("0.4", "0.8", 2, "1e-6", 21.652636761859835),
        ("0.4", "0.5", 10, "1e-6", 50.28012231499079),
    ],
)
def test_few_steps_are_below_a_fine_grid(noise: str, rate: str, times: int, allowed: str, theirs: float) -> None:
    """Upper ends of loss distributions on a grid of step 1e-4, by another library."""
    law = SampledGaussianLoss(mu_squared=1 / Fraction(noise) ** 2, rate=Fraction(rate), direction="remove")
    steps, few = Composition(parts=((law, times),)), road.FewSteps(is_last=False)
    assert few.epsilon(steps, Fraction(allowed), Fraction(1, 10**6)).upper < theirs
