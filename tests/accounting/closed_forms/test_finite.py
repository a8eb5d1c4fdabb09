"""Tables of finitely many losses against exact sums, in rational numbers and by mpmath."""

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from privately.accounting import RandomizedResponse
from privately.accounting.closed_forms import finite
from privately.accounting.compositions import Composition, compositions
from privately.accounting.losses import FiniteLoss, Weight, response
from privately.accounting.roads import NotApplicable
from tests.accounting.closed_forms.true_profiles import (
    exact,
    many_digits,
    real,
    true_binomial_delta,
)

RANDOM = random.Random(52)
DELTAS = [Fraction(1, 10**k) for k in (1, 3, 5, 10, 30, 60, 100)]
RESPONSES = [
    (Fraction(epsilon), times)
    for epsilon, times in [
        ("0.001", 10**6),
        ("0.1", 10**4),
        ("1", 1),
        ("1", 2),
        ("1", 1001),
        ("3", 10**5),
        ("20", 10**6),
        ("20", 10**12),
        ("1e-9", 10**4),
        ("1e-30", 3),
        ("100", 4),
        *((str(round(10 ** RANDOM.uniform(-4, 1), 6)), RANDOM.randint(1, 10**4)) for _ in range(8)),
    ]
]


def of(law: FiniteLoss, times: int = 1) -> Composition:
    return Composition(parts=((law, times),))


def weight(number: Fraction | int) -> Weight:
    return Fraction(number), Fraction(0)


def rational_law(*outcomes: tuple[Fraction | int, Fraction | int]) -> FiniteLoss:
    """Weights without e^epsilon: everything but the logarithms is rational."""
    return FiniteLoss(epsilon=Fraction(0), outcomes=tuple((weight(p), weight(q)) for p, q in outcomes))


def response_delta(epsilon: Fraction, times: int, at: Fraction) -> Fraction:
    with mp.workdps(90):
        loss = real(epsilon)
        return exact(true_binomial_delta(1 / (1 + mp.exp(-loss)), (loss, -loss), times, at))


def near(truth: Fraction, lower: Fraction | float, upper: Fraction | float) -> bool:
    """The truth is known to 50 digits and more."""
    return lower <= truth * (1 + Fraction(1, 10**50)) and truth * (1 - Fraction(1, 10**50)) <= upper


def response_faults(epsilon: Fraction, times: int) -> list[object]:
    """Where the profile, or its inverse, misses the truth."""
    composition = of(response(epsilon), times)
    spread = Fraction(math.isqrt(times)) * epsilon
    top = times * epsilon
    places = [Fraction(0), top / 3, top * Fraction(2, 3), top * Fraction(999, 1000), top * 2]
    mean = top * Fraction(math.tanh(epsilon / 2))
    places += [one for one in (mean + spread * k for k in (-1, 0, 1, 4, 15)) if one >= 0]
    found: list[object] = []
    for place in places:
        profile = finite.profile(composition, place)
        if not near(response_delta(epsilon, times, place), Fraction(profile.lower), Fraction(profile.upper)):
            found.append(("profile", place))
    for delta in DELTAS:
        lower, upper = finite.inverse(composition, delta)
        above = lower == 0 or near(response_delta(epsilon, times, lower), delta, 1)
        if not (lower <= upper and above and near(response_delta(epsilon, times, upper), 0, delta)):
            found.append(("inverse", delta))
    return found


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("epsilon", "times"), RESPONSES, ids=str)
def test_binomial_tables_contain_the_truth(epsilon: Fraction, times: int) -> None:
    assert response_faults(epsilon, times) == []


def enumerated(laws: list[tuple[list[tuple[Fraction, Fraction]], int]]) -> dict[Fraction, Fraction]:
    """All products of likelihood ratios with their probabilities, exactly."""
    sums = {Fraction(1): Fraction(1)}
    for atoms, times in laws:
        total = sum(p for p, _ in atoms)
        for _ in range(times):
            grown: dict[Fraction, Fraction] = {}
            for ratio, mass in sums.items():
                for p, q in atoms:
                    key = ratio * p / q
                    grown[key] = grown.get(key, Fraction(0)) + mass * p / total
            sums = grown
    return sums


def exact_delta(sums: dict[Fraction, Fraction], epsilon: Fraction) -> Fraction:
    with many_digits():
        alpha = exact(mp.exp(real(epsilon)))
    return sum((mass * (1 - alpha / ratio) for ratio, mass in sums.items() if ratio > alpha), Fraction(0))


def random_atoms(count: int) -> list[tuple[Fraction, Fraction]]:
    size = RANDOM.choice([10, 1000, 10**9])
    found = [(Fraction(RANDOM.randint(1, size)), Fraction(RANDOM.randint(1, size))) for _ in range(count)]
    return sorted(found, key=lambda atom: atom[0] / atom[1], reverse=True)


MIXES = [
    [(random_atoms(3), 5)],
    [(random_atoms(5), 4)],
    [(random_atoms(2), 40)],
    [(random_atoms(2), 9), (random_atoms(2), 20)],
    [(random_atoms(3), 3), (random_atoms(2), 12)],
    [(random_atoms(4), 2), (random_atoms(3), 2), (random_atoms(2), 5)],
    [(random_atoms(40), 2)],
    [(random_atoms(1), 7)],
]


@pytest.mark.parametrize("laws", MIXES, ids=lambda laws: "+".join(f"{times}x{len(atoms)}" for atoms, times in laws))
def test_sums_of_several_laws_contain_the_truth(laws: list[tuple[list[tuple[Fraction, Fraction]], int]]) -> None:
    composition = Composition(parts=tuple((rational_law(*atoms), times) for atoms, times in laws))
    sums = enumerated(laws)
    with many_digits():
        bends = sorted(exact(mp.log(real(ratio))) for ratio in sums)
    tail = [bends[-1] * Fraction(k, 8) for k in range(9) if bends[-1] > 0]
    for epsilon in [Fraction(0), *RANDOM.sample(bends, min(6, len(bends))), *tail, abs(bends[-1]) + 1]:
        if epsilon < 0:
            continue
        found = finite.profile(composition, epsilon)
        assert near(exact_delta(sums, epsilon), Fraction(found.lower), Fraction(found.upper)), float(epsilon)
    for delta in DELTAS:
        lower, upper = finite.inverse(composition, delta)
        assert near(exact_delta(sums, upper), 0, delta)
        assert lower == 0 or near(exact_delta(sums, lower), delta, 1)
        assert upper - lower <= Fraction(1, 10**9) * max(upper, Fraction(1))


def test_three_categories_contain_the_truth() -> None:
    epsilon, times = Fraction(1, 2), 6
    (composition,) = compositions(RandomizedResponse(epsilon=epsilon, categories=3))
    many = Composition(parts=((composition.parts[0][0], times),))
    with many_digits():
        grown = exact(mp.exp(real(epsilon)))
    sums = enumerated([([(grown, Fraction(1)), (Fraction(1), Fraction(1)), (Fraction(1), grown)], times)])
    for at in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(29, 10)):
        found = finite.profile(many, at)
        assert near(exact_delta(sums, at), Fraction(found.lower), Fraction(found.upper))


def test_profiles_and_inverses_fall() -> None:
    composition = of(response(Fraction(1, 10)), 10**4)
    profiles = [finite.profile(composition, Fraction(k, 7)) for k in range(0, 7000, 97)]
    assert all(one.lower <= one.upper for one in profiles)
    assert all(later.lower <= one.upper for one, later in itertools.pairwise(profiles))
    found = [finite.inverse(composition, delta) for delta in DELTAS]
    assert all(one[0] <= later[1] for one, later in itertools.pairwise(found))


@pytest.mark.parametrize(("epsilon", "times"), RESPONSES, ids=str)
def test_inverses_are_narrow(epsilon: Fraction, times: int) -> None:
    for delta in DELTAS:
        lower, upper = finite.inverse(of(response(epsilon), times), delta)
        assert upper - lower <= Fraction(1, 10**8) * max(upper, times * epsilon / 10**5, Fraction(1, 1000))


def test_too_many_sums_are_refused() -> None:
    three = rational_law((3, 1), (2, 2), (1, 3))
    for composition in (
        of(three, 1000),
        Composition(parts=((response(Fraction(1)), 10**4), (response(Fraction(2)), 10**4))),
    ):
        with pytest.raises(NotApplicable):
            finite.profile(composition, Fraction(1))
        with pytest.raises(NotApplicable):
            finite.inverse(composition, Fraction(1, 100))


@pytest.mark.parametrize("epsilon", ["1e-43", "1e-45", "1e-50", "1e-55", "1e-58"])
def test_tiny_losses_contain_the_truth(epsilon: str) -> None:
    """Their enclosures are wide, relative to them."""
    loss = Fraction(epsilon)
    found = finite.profile(of(response(loss)), Fraction(0))
    truth = loss / 2 * (1 - loss**2 / 12)  # tanh(loss/2), to 100 digits and more
    assert found.lower <= truth <= found.upper


def test_outcomes_that_are_next_to_impossible_in_floats() -> None:
    for epsilon in (470, 800, 10**5):
        lower, upper = finite.inverse(of(response(Fraction(epsilon))), Fraction(1, 10**5))
        with many_digits():
            truth = exact(mp.log(mp.exp(epsilon) - real(Fraction(1, 10**5)) * (1 + mp.exp(epsilon))))
        assert near(truth, lower, upper)
        assert upper - lower <= Fraction(1, 10**12) * upper


def test_one_loss_many_times_is_quick() -> None:
    many = of(rational_law((2, 1)), 10**9)
    lower, upper = finite.inverse(many, Fraction(1, 10**5))
    with many_digits():
        truth = exact(10**9 * mp.log(2) + mp.log(1 - real(Fraction(1, 10**5))))
    assert lower <= truth <= upper
    assert upper - lower <= Fraction(1, 10**6) * upper


def test_deltas_below_all_floats() -> None:
    delta = Fraction(1, 10**400)
    lower, upper = finite.inverse(of(response(Fraction(1)), 1000), delta)
    with mp.workdps(900):
        truths = [response_delta(Fraction(1), 1000, end) for end in (upper, lower)]
    assert truths[0] <= delta <= truths[1] * (1 + Fraction(1, 10**40))
    assert upper - lower <= Fraction(1, 10**12) * upper


def test_what_is_left_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table cut off early is wide, but right; and wrong when the rest is forgotten."""
    monkeypatch.setattr(finite, "_DEVIATIONS", 2.0)
    monkeypatch.setattr(finite, "_FEWEST", 1)
    composition = of(response(Fraction(1, 10)), 10**4)
    at = Fraction(60)
    truth = response_delta(Fraction(1, 10), 10**4, at)
    finite._kept.cache_clear()
    wide = finite.profile(composition, at)
    assert near(truth, Fraction(wide.lower), Fraction(wide.upper))
    assert Fraction(wide.upper) > Fraction(wide.lower) * Fraction(11, 10)
    finite._kept.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(finite, "_rest", lambda terms, ratio: 0.0 * (terms.size + ratio))
        short = finite.profile(composition, at)
        assert not near(truth, Fraction(short.lower), Fraction(short.upper))
    finite._kept.cache_clear()


def scaled(table: finite.Table, factor: float) -> finite.Table:
    return replace(table, masses=table.masses * factor)


@pytest.mark.parametrize("law", [response(Fraction(1, 10)), response(Fraction(470)), response(Fraction(700))])
def test_atoms_agree(law: FiniteLoss) -> None:
    """With those of the law, which have more digits; likewise for losses between."""
    many = FiniteLoss(epsilon=law.epsilon, outcomes=(*law.outcomes[:1], (weight(3), weight(2)), *law.outcomes[1:]))
    for one in (law, many):
        for (p, loss), (true_p, true_loss) in zip(finite.atoms_of(one), one.atoms(), strict=True):
            assert p.lower <= true_p.upper
            assert true_p.lower <= p.upper
            assert loss.lower <= true_loss.upper
            assert true_loss.lower <= loss.upper
            assert float((p.upper - p.lower) / p.lower) <= 1e-32


@pytest.mark.parametrize(
    "fault", ["one step more", "one step less", "other direction", "one more to share", "half unit"]
)
def test_faults_are_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    sound = finite._two_point
    match fault:
        case "one step more":
            monkeypatch.setattr(finite, "_two_point", lambda a, b, times: sound(a, b, times + 1))
        case "one step less":
            monkeypatch.setattr(finite, "_two_point", lambda a, b, times: sound(a, b, times - 1))
        case "other direction":  # the law of L under Q
            monkeypatch.setattr(finite, "_two_point", lambda a, b, times: sound((b[0], a[1]), (a[0], b[1]), times))
        case "one more to share":  # masses that do not add up to 1
            monkeypatch.setattr(finite, "_two_point", lambda *a: scaled(sound(*a), 1 / (1 + 1e-3)))
        case "half unit":
            monkeypatch.setattr(finite, "ERROR", 2.0**-60)
            monkeypatch.setattr(finite, "UNIT", 0.0)
            monkeypatch.setattr(finite, "_two_point", lambda *a: scaled(sound(*a), 1 + 1e-11))
    finite._kept.cache_clear()
    faults = response_faults(Fraction(1, 10), 1000)
    finite._kept.cache_clear()
    assert faults != []


@pytest.mark.parametrize(("mass", "error"), [(0.0, 2.0), (0.5, 2.0), (0.0, 0.0)])
def test_nothing_is_promised_of_masses_that_are_not_known(mass: float, error: float) -> None:
    table = finite.Table(np.array([1.0]), np.array([mass]), 0.0, error, 0.0)
    assert finite.delta_of(table, Fraction(1, 2), sign=-1) == 0


def test_what_is_not_known_adds_up() -> None:
    """Of two sums each value may be off by both, each mass by both parts, and either may be outside."""
    first, second = (
        finite.Table(np.array([1.0, -1.0]), np.array([0.7, 0.3]), slack, error, outside)
        for slack, error, outside in ((0.25, 0.5, 0.125), (0.5, 0.25, 0.0625))
    )
    found = finite._combined(first, second)
    assert found.slack >= 0.75
    assert found.error >= 1.5 * 1.25 - 1
    assert found.outside >= 0.1875
