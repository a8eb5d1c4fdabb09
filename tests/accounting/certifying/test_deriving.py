"""Derivations from events: what they claim is certified, near the truth, and never below it."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.accounting import contour, epsilon
from privately.accounting.certifying import derive
from privately.accounting.compositions import Composition, compositions
from privately.accounting.encoding import encode
from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.certificates import certify, check
from privately.errors import CertificateInvalid, InvalidParameter, NoSuchRule, PrivatelyError
from privately.guarantees import ApproxDP, Neighbors
from privately.guarantees.rules import accounted
from tests.accounting.random_events import drawn


def nested(depth: int) -> Event:
    return Pure(epsilon=1) if depth == 1 else Repeat(event=nested(depth - 1), times=1)


def steps(multiplier: str, rate: str, times: int) -> Event:
    return Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=multiplier), rate=rate), times=times)


TIGHT: dict[str, tuple[Event, str]] = {
    "a thousand steps": (steps("1", "0.01", 1000), "1e-5"),
    "a million steps": (steps("1", "0.01", 10**6), "1e-5"),
    "little noise": (steps("0.6", "0.001", 1000), "1e-5"),
    "small delta": (steps("20", "0.5", 10**5), "1e-15"),
    "mixed": (
        Sequence(
            events=[
                steps("1", "0.01", 500),
                steps("2", "0.05", 100),
                Repeat(event=Gaussian(noise_multiplier=5), times=10),
                Repeat(event=Laplace(scale=10), times=5),
                Pure(epsilon="0.1"),
            ]
        ),
        "1e-6",
    ),
}
CHECKED: dict[str, tuple[Event, str]] = {
    "normal": (Repeat(event=Gaussian(noise_multiplier=3), times=10), "1e-100"),
    "curves": (Sequence(events=[GaussianDP(mu="0.3"), Gaussian(noise_multiplier=7)]), "1e-6"),
    "nothing": (Repeat(event=Gaussian(noise_multiplier=1), times=0), "0"),
    "one step": (steps("1", "0.01", 1), "1e-5"),
    "ten steps": (steps("1", "0.01", 10), "1e-5"),
    "laplace": (Laplace(scale=2), "0.01"),
    "laplaces": (Repeat(event=Laplace(scale=10), times=30), "1e-5"),
    "sampled laplace": (Repeat(event=PoissonSample(event=Laplace(scale=2), rate="0.1"), times=30), "1e-5"),
    "responses": (Repeat(event=RandomizedResponse(epsilon="0.1", categories=5), times=100), "1e-6"),
    "pure": (Repeat(event=Pure(epsilon="0.1"), times=100), "0"),
    "failing": (Repeat(event=Approx(epsilon="0.1", delta="1e-9"), times=100), "1e-6"),
    "exactly failing": (Approx(epsilon="0.1", delta="1e-9"), "1e-9"),
    "sampled failing": (
        Repeat(event=PoissonSample(event=Approx(epsilon=1, delta="1e-9"), rate="0.1"), times=50),
        "1e-6",
    ),
    "revealed seldom": (PoissonSample(event=Gaussian(noise_multiplier=0), rate="1e-9"), "1e-6"),
    "zcdp": (Repeat(event=ZCDP(rho="0.01"), times=10), "1e-6"),
    "moments": (
        Sequence(events=[ZCDP(rho="0.01"), steps("1", "0.01", 100), Exponential(epsilon="0.1"), Laplace(scale=4)]),
        "1e-6",
    ),
    "listed": (Sequence(events=[Renyi(bounds={2: "0.1", 8: "0.5"}), DiscreteGaussian(variance=50)]), "1e-6"),
    "parts": (Parallel(events=[Gaussian(noise_multiplier=2), Laplace(scale=3)]), "1e-6"),
    "group": (Group(event=Repeat(event=DiscreteLaplace(scale=10), times=3), size=3), "1e-6"),
    "fixed": (
        Repeat(
            event=FixedSizeSample(event=Pure(epsilon=1, neighbors=Neighbors.REPLACE), size=10, population=1000),
            times=50,
        ),
        "1e-6",
    ),
    "losses far apart": (
        Repeat(event=PoissonSample(event=DiscreteLaplace(scale="0.1", sensitivity=2), rate="0.001"), times=10),
        "3.6e-5",
    ),
    "few losses": (Repeat(event=PoissonSample(event=Pure(epsilon="0.043"), rate="0.62"), times=2), "0.0037"),
    "between losses": (
        Repeat(
            event=FixedSizeSample(event=Laplace(scale="0.2", neighbors=Neighbors.REPLACE), size=5, population=100),
            times=3,
        ),
        "0.006",
    ),
    "a small part": (
        Parallel(
            events=[
                PoissonSample(event=RandomizedResponse(epsilon="0.003"), rate="0.8"),
                Repeat(event=Laplace(scale="0.5"), times=1000),
            ]
        ),
        "0.2",
    ),
    "no small sums": (
        Sequence(
            events=[
                Repeat(event=Approx(epsilon="0.1", delta="1e-15"), times=10**4),
                Repeat(event=Pure(epsilon="0.06"), times=10**4),
            ]
        ),
        "0.4",
    ),
    "sums above all": (
        Sequence(
            events=[
                Repeat(event=PoissonSample(event=Pure(epsilon=1), rate="0.999"), times=3),
                Repeat(event=PoissonSample(event=Laplace(scale="0.6"), rate="0.8"), times=1000),
            ]
        ),
        "1e-5",
    ),
    "little noise in all": (Repeat(event=Gaussian(noise_multiplier="0.01"), times=10), "1e-9"),
    "large losses": (Repeat(event=PoissonSample(event=Laplace(scale="0.06"), rate="0.7"), times=1000), "1e-12"),
    "large discrete losses": (Repeat(event=DiscreteLaplace(scale="0.3", sensitivity=2), times=1000), "1e-6"),
    "sampled statements": (Repeat(event=PoissonSample(event=ZCDP(rho="0.1"), rate="0.1"), times=50), "1e-6"),
    "one sampled statement": (PoissonSample(event=Renyi(bounds={2: "0.1", 8: "0.5"}), rate="0.1"), "1e-6"),
    "a group of failing ones": (Group(event=Approx(epsilon=1, delta="1e-9"), size=2), "1e-6"),
    "parts inside": (Repeat(event=Parallel(events=[ZCDP(rho="0.01"), Laplace(scale=5)]), times=20), "1e-6"),
    "nested samples": (
        PoissonSample(event=Repeat(event=PoissonSample(event=Pure(epsilon=1), rate="0.1"), times=5), rate="0.2"),
        "1e-6",
    ),
    "fixed normal": (
        Repeat(
            event=FixedSizeSample(
                event=Gaussian(noise_multiplier=1, neighbors=Neighbors.REPLACE), size=10, population=100
            ),
            times=20,
        ),
        "1e-6",
    ),
    "noise that is not listed": (Repeat(event=DiscreteGaussian(variance=2), times=10), "1e-150"),
    "much in all": (Repeat(event=DiscreteLaplace(scale=20, sensitivity=5), times=10**4), "1e-11"),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("event", "delta"), [*TIGHT.values(), *CHECKED.values()], ids=[*TIGHT, *CHECKED])
def test_what_is_derived_is_certified(event: Event, delta: str) -> None:
    derived = derive(event, delta=delta)
    report = check(certify(derived))
    assert isinstance(derived.conclusion, ApproxDP)
    assert derived.conclusion.parameters["delta"] == Fraction(delta)
    assert derived.conclusion.neighbors == event.neighbors
    assert report.rules == ("accounted",)


LEAVES: list[Event] = [
    Gaussian(noise_multiplier=2),
    Gaussian(noise_multiplier=0),
    Laplace(scale=2),
    DiscreteGaussian(variance=4),
    DiscreteLaplace(scale=3, sensitivity=2),
    RandomizedResponse(epsilon="0.3", categories=3),
    RandomizedResponse(epsilon="0.3"),
    Exponential(epsilon="0.3"),
    Pure(epsilon="0.3"),
    Pure(epsilon=0),
    Approx(epsilon="0.3", delta="1e-7"),
    Approx(epsilon=0, delta="1e-7"),
    ZCDP(rho="0.1"),
    Renyi(bounds={2: 1, 8: 2}),
    GaussianDP(mu="0.5"),
]
SMALL: list[Event] = [
    *LEAVES,
    *(Group(event=leaf, size=3) for leaf in LEAVES),
    *(Repeat(event=leaf, times=2) for leaf in LEAVES),
    *(PoissonSample(event=leaf, rate="0.2") for leaf in LEAVES),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("delta", ["1e-5", "0"])
@pytest.mark.parametrize(
    "place", [*(pytest.param(place, marks=pytest.mark.slow) for place in (None, 1, 2, 3)), 0, *range(4, len(LEAVES))]
)
def test_no_witness_is_refused(place: int | None, delta: str) -> None:
    """Of any leaf, alone, grouped, repeated, sampled, or beside any other: certified, or no derivation at all."""
    tried = SMALL
    if place is not None:
        pairs = [[LEAVES[place], other] for other in LEAVES[place:]]
        tried = [join(events=pair) for pair in pairs for join in (Sequence, Parallel)]
    certified = 0
    for event in tried:
        try:
            derived = derive(event, delta=delta)
        except NoSuchRule:
            continue
        check(certify(derived))
        certified += 1
    assert certified or delta == "0" or LEAVES[place or 0] == Gaussian(noise_multiplier=0)


@pytest.mark.parametrize(("event", "delta"), TIGHT.values(), ids=TIGHT)
def test_the_claim_is_just_above_the_truth(event: Event, delta: str) -> None:
    claimed = derive(event, delta=delta).conclusion.parameters["epsilon"]
    found = [
        contour.epsilon(Composition(parts=one.parts), Fraction(delta), Fraction(1, 10**6))
        for one in compositions(event)
    ]
    assert claimed >= max(one.upper for one in found)
    assert claimed <= max(one.lower for one in found) * (1 + Fraction(5, 10**6))


def sampled_laplace(scale: str, rate: str, times: int) -> Event:
    return Repeat(event=PoissonSample(event=Laplace(scale=scale), rate=rate), times=times)


NEAR: list[tuple[Event, str, str]] = [
    (steps("1", "0.01", 1), "1e-5", "1.00000001"),
    (steps("20", "0.001", 1), "1e-6", "1.00000001"),
    (steps("1", "0.01", 10), "1e-5", "1.001"),
    (steps("10", "0.001", 5), "1e-6", "1.001"),
    (steps("1", "0.00001", 5), "1e-8", "1.001"),
    (steps("3", "0.1", 2), "1e-40", "1.001"),
    (steps("1", "0.9999999999", 100), "1e-5", "1.00001"),
    (sampled_laplace("1", "0.0001", 1), "1e-5", "1.001"),
    (sampled_laplace("2", "0.1", 30), "1e-5", "1.001"),
    (sampled_laplace("0.5", "0.5", 1000), "1e-9", "1.001"),
    (sampled_laplace("1", "0.001", 10**6), "1e-6", "1.001"),
    (Sequence(events=[steps("2", "0.01", 2), sampled_laplace("1", "0.02", 2), Pure(epsilon="0.1")]), "1e-6", "1.01"),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("event", "delta", "factor"),
    [*NEAR, pytest.param(steps("50", "0.01", 10), "1e-6", "1.001", marks=pytest.mark.slow)],
    ids=lambda value: str(value)[:60],
)
def test_samples_are_not_far_above_the_truth(event: Event, delta: str, factor: str) -> None:
    """Few steps and many, rarely sampled ones and nearly full batches."""
    derived = derive(event, delta=delta)
    found = epsilon(event, delta)
    assert found.lower <= derived.conclusion.parameters["epsilon"] <= Fraction(factor) * found.upper
    check(certify(derived))


@pytest.mark.parametrize("rate", ["1e-300", "0.3"])
@pytest.mark.parametrize(
    "base",
    [Pure(epsilon=1000), Pure(epsilon="1e-60"), Laplace(scale="1e-6"), Laplace(scale="1e30"), GaussianDP(mu="1e-153")],
    ids=str,
)
def test_extreme_samples(base: Event, rate: str) -> None:
    """Certified or refused, never by an unforeseen error."""
    for times in (1, 3):
        try:
            derived = derive(Repeat(event=PoissonSample(event=base, rate=rate), times=times), delta="1e-5")
        except NoSuchRule:
            continue
        check(certify(derived))


@pytest.mark.parametrize("times", [1, 2])
def test_an_epsilon_of_0_is_certified(times: int) -> None:
    event = sampled_laplace("10", "1e-4", times)
    derived = derive(event, delta="1e-5")
    assert derived.conclusion.parameters["epsilon"] == epsilon(event, "1e-5").upper == 0
    check(certify(derived))


@pytest.mark.parametrize(
    "event",
    [
        PoissonSample(event=ZCDP(rho=1), rate="1e-6"),
        FixedSizeSample(event=Renyi(bounds={3: 1}, neighbors=Neighbors.REPLACE), size=1, population=10**6),
        Group(event=Renyi(bounds={2: 0, 9: 1}), size=5),
    ],
)
def test_what_delta_covers_is_certified_as_nothing(event: Event) -> None:
    derived = derive(event, delta="1e-5")
    assert derived.conclusion.parameters["epsilon"] == epsilon(event, "1e-5").upper == 0
    check(certify(derived))


def test_deltas_of_single_changes_below_the_range_of_floats() -> None:
    changes = Group(event=Renyi(bounds={"15.32": "0.0016", "59.09": "0.0194"}), size=64)
    with pytest.raises(NoSuchRule, match="epsilon"):
        derive(Repeat(event=changes, times=100), delta="1e-100")


@pytest.mark.filterwarnings("error")
def test_weights_below_the_range_of_floats() -> None:
    """Looked at by their logarithms, without a warning."""
    almost = PoissonSample(event=Pure(epsilon=1000), rate=1 - Fraction(1, 10**9))
    with pytest.raises(NoSuchRule, match="epsilon"):
        derive(Repeat(event=almost, times=10**9), delta="1e-6")


@pytest.mark.slow
@pytest.mark.parametrize("delta", ["1e-5", "1e-9"])
@pytest.mark.parametrize("make", [steps, sampled_laplace], ids=["normal", "laplace"])
@pytest.mark.parametrize("noise", ["0.5", "1", "3", "10"])
def test_certified_within_a_percent(make: Callable[[str, str, int], Event], noise: str, delta: str) -> None:
    for rate in ("1e-4", "1e-3", "1e-2", "0.1", "0.5", "0.9"):
        for times in (1, 2, 10, 100, 1000):
            event = make(noise, rate, times)
            upper = epsilon(event, delta).upper
            if upper < 2000:  # beyond, no conclusion is written down
                derived = derive(event, delta=delta)
                assert derived.conclusion.parameters["epsilon"] <= upper * Fraction(101, 100), (rate, times)
                check(certify(derived))


TOGETHER: list[tuple[Event, str]] = [
    (Repeat(event=PoissonSample(event=DiscreteGaussian(variance=2), rate="0.01"), times=1000), "1e-6"),
    (Repeat(event=PoissonSample(event=DiscreteLaplace(scale=2, sensitivity=3), rate="0.01"), times=5), "1e-6"),
    (Repeat(event=DiscreteGaussian(variance=50), times=5), "1e-7"),
    (
        Repeat(
            event=PoissonSample(event=Sequence(events=[Gaussian(noise_multiplier=2), Laplace(scale=3)]), rate="0.01"),
            times=10**5,
        ),
        "1e-9",
    ),
    (steps("1.68", "0.000143", 346400), "9.4e-6"),
    (PoissonSample(event=Sequence(events=[ZCDP(rho="0.1"), Pure(epsilon="0.5")]), rate="0.02"), "1e-6"),
    (Group(event=PoissonSample(event=Gaussian(noise_multiplier="1.91"), rate="0.0001"), size=5), "1e-5"),
    (Exponential(epsilon=1), "1e-3"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("event", "delta"), TOGETHER, ids=lambda value: str(value)[:60])
def test_certified_hardly_above_the_answer(event: Event, delta: str) -> None:
    """Discrete noise, several mechanisms on one sample, rare samples, groups: never below the truth."""
    derived = derive(event, delta=delta)
    found = epsilon(event, delta)
    assert found.lower <= derived.conclusion.parameters["epsilon"] <= Fraction(101, 100) * found.upper
    check(certify(derived))


ANSWERS = RandomizedResponse(epsilon="0.1")


@pytest.mark.parametrize(
    "event",
    [
        Group(event=Repeat(event=ANSWERS, times=20), size=3),
        Repeat(event=Group(event=Sequence(events=[ANSWERS, RandomizedResponse(epsilon="0.2")]), size=4), times=5),
        Group(event=Repeat(event=Approx(epsilon="0.5", delta="1e-9"), times=3), size=8),
        Repeat(event=Parallel(events=[Gaussian(noise_multiplier=one) for one in (4, 3, 5)]), times=10),
        Repeat(event=Parallel(events=[steps("2", "0.1", 1), steps("3", "0.05", 1)]), times=10),
    ],
    ids=lambda event: str(event)[:60],
)
def test_groups_and_parts_are_certified_as_they_are_answered(event: Event) -> None:
    derived = derive(event, delta="1e-6")
    found = epsilon(event, "1e-6")
    assert found.lower <= derived.conclusion.parameters["epsilon"] <= Fraction(10001, 10000) * found.upper
    check(certify(derived))


def test_of_many_parts_all_but_the_largest_are_quickly_checked() -> None:
    parts = [Repeat(event=Laplace(scale=10 + 5 * i), times=60 + i) for i in range(6)]
    derived = derive(Parallel(events=parts), delta="1e-6")
    assert derived.conclusion.parameters["epsilon"] <= Fraction(1001, 1000) * epsilon(parts[0], "1e-6").upper
    first, *others = derived.witness["bounds"]
    assert first["method"] != "renyi"
    assert {bound["method"] for bound in others} == {"renyi"}
    check(certify(derived))


def selections(epsilon: str, times: int) -> Event:
    return Repeat(event=Exponential(epsilon=epsilon), times=times)


def beside_normal(amount: str) -> Event:
    return Sequence(events=[selections(amount, 10), Gaussian(noise_multiplier=2)])


def beside_others(amount: str) -> Event:
    return Sequence(events=[selections(amount, 4), steps("2", "0.1", 3), Laplace(scale=2)])


@pytest.mark.parametrize(
    ("make", "amount"),
    [
        (lambda amount: selections(amount, 10), "1"),
        pytest.param(beside_normal, "0.1", marks=pytest.mark.slow),
        pytest.param(beside_others, "0.5", marks=pytest.mark.slow),
    ],
    ids=["alone", "beside a normal one", "beside others"],
)
def test_selections_are_certified_by_their_worst_pair(make: Callable[[str], Event], amount: str) -> None:
    """Close to the answer; a slightly smaller claim, or slightly larger ranges, are refused."""
    event, larger = make(amount), make(str(float(amount) * 1.01))
    derived, found = derive(event, delta="1e-6"), epsilon(event, "1e-6")
    claimed = derived.conclusion.parameters["epsilon"]
    assert found.lower <= claimed <= Fraction(103, 100) * found.upper
    check(certify(derived))
    bounds = derived.witness["bounds"]
    same, less = (ApproxDP(epsilon=claimed * part, delta="1e-6") for part in (1, Fraction(999, 1000)))
    for claim, of in ((less, event), (same, larger)):
        with pytest.raises(CertificateInvalid, match="claims"):
            certify(accounted(claim, event=encode(of), bounds=bounds))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [219, 240, 442, 450, 567, 731, 1783])
def test_rare_samples_and_large_losses_are_certified(seed: int) -> None:
    """One sample once, losses that stand alone, and losses beyond the powers of a checker."""
    event, delta = drawn(seed)
    check(certify(derive(event, delta=delta)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_whatever_has_an_epsilon_has_a_certificate(part: int) -> None:
    for seed in range(25 * part, 25 * part + 25):
        event, delta = drawn(seed)
        try:
            found = epsilon(event, delta)
        except PrivatelyError:
            continue
        if found.upper < 10**9:
            derived = derive(event, delta=delta)
            assert derived.conclusion.parameters["epsilon"] >= found.lower, (seed, event)
            check(certify(derived))


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (Gaussian(noise_multiplier=0), "0.1"),
        (Gaussian(noise_multiplier=1), "0"),
        (Approx(epsilon=1, delta="0.1"), "0.01"),
        (ZCDP(rho=1), "0"),
        (Group(event=Repeat(event=PoissonSample(event=ZCDP(rho=1), rate="0.1"), times=3), size=10), "0"),
        (nested(9), "1e-6"),
        (Repeat(event=Pure(epsilon=10**6), times=10**4), "1e-6"),
    ],
)
def test_what_cannot_be_checked_is_refused(event: Event, delta: str) -> None:
    with pytest.raises(NoSuchRule):
        derive(event, delta=delta)


@pytest.mark.parametrize("delta", [1, -1, 2, "x", None, True])
def test_bad_deltas(delta: object) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        derive(Pure(epsilon=1), delta=delta)  # type: ignore[arg-type]


def test_only_events() -> None:
    with pytest.raises(InvalidParameter, match="event"):
        derive("Pure", delta=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("noise", "rate", "at_most"),
    [("23.7", "0.00112", "0.002"), pytest.param("50", "0.01", "0.0019", marks=pytest.mark.slow)],
)
def test_orders_are_within_the_range_of_a_checker(noise: str, rate: str, at_most: str) -> None:
    """Few steps that are rarely sampled: a high order, and less than the largest loss of the direction add."""
    event = Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=noise), rate=rate), times=10)
    certificate = certify(derive(event, delta="1e-6"))
    assert check(certificate).rules == ("accounted",)
    assert Fraction(certificate.guarantee.parameters["epsilon"]) <= Fraction(at_most)
