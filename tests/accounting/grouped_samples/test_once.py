"""One sample of normal noise seen by a group: against many digits, and against lists."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest

from privately import accounting as acc
from privately.accounting.grouped_samples import once as module
from privately.accounting.grouped_samples import road
from privately.accounting.grouped_samples import seen as seen_module
from privately.accounting.grouped_samples.mixtures import Numbers, listed
from privately.accounting.grouped_samples.once import Mixtures, once
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.losses import GaussianLoss
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.roads import NotApplicable
from tests.accounting.grouped_samples.profiles import normal_profile

WIDTH = Fraction(1, 10**6)


def group(noise: str, rate: str, size: int) -> acc.Group:
    return acc.Group(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate), size=size)


def truth(noise: str, rate: str, size: int, epsilon: Fraction) -> mpmath.mpf:
    """The largest over all splits."""
    level = mpmath.mpf(epsilon.numerator) / epsilon.denominator
    return max(normal_profile(noise, rate, (removed, size - removed), level) for removed in range(size + 1))


@pytest.mark.parametrize(
    ("noise", "rate", "size", "delta"),
    [("1.25", "0.3", 3, "1e-5"), ("0.5", "0.01", 4, "1e-9"), ("20", "0.001", 2, "1e-6"), ("2", "0.9", 3, "0.3")],
)
def test_answers_contain_many_digits(noise: str, rate: str, size: int, delta: str) -> None:
    found = acc.epsilon(group(noise, rate, size), delta)
    assert found.method == road.METHOD
    assert found.width <= max(Fraction(found.upper), Fraction(1, 1000)) / 10**9
    with mpmath.workdps(40):
        assert truth(noise, rate, size, Fraction(found.upper)) <= mpmath.mpf(delta)
        if found.lower:
            assert truth(noise, rate, size, Fraction(found.lower)) >= mpmath.mpf(delta)
        for part in (Fraction(1, 2), Fraction(1)):
            epsilon = Fraction(found.upper) * part
            back, exact = acc.delta(group(noise, rate, size), epsilon), truth(noise, rate, size, epsilon)
            assert back.lower <= exact <= back.upper
            assert back.width <= Fraction(back.upper) / 10**6


@pytest.mark.parametrize("split", [(3, 0), (2, 1), (1, 2), (0, 3)])
def test_every_split_is_what_lists_say(split: tuple[int, int]) -> None:
    seen = Seen.of(group("0.8", "0.05", 3))
    mixtures = Mixtures.of(GaussianLoss(mu_squared=Fraction(25, 16)), Fraction(1, 20), split)
    for question in (EpsilonAt(Fraction(1, 10**5), WIDTH), DeltaAt(Fraction(1, 10), WIDTH)):
        known, found = road._of(seen, split, question), mixtures.answer(question)
        assert known.lower <= found.upper
        assert found.lower <= known.upper
        assert found.width <= known.width


@pytest.mark.parametrize("split", [(6, 0), (3, 3), (0, 6)])
@pytest.mark.parametrize("in_logs", [False, True])
def test_lists_of_fewer_rows_contain_it_too(
    split: tuple[int, int],
    in_logs: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six rows at a fifth of what each changes are out of range: some are left out, or counted as fewer; in logarithms
    all of them are listed.
    """
    if not in_logs:
        monkeypatch.setattr(seen_module, "listed_either_way", listed)
    seen = Seen.of(group("0.2", "0.01", 6))
    mixtures = Mixtures.of(GaussianLoss(mu_squared=Fraction(25)), Fraction(1, 100), split)
    exact = Numbers.of(6, Fraction(1, 100), "upper", 1e-30).most
    (found, _), *_ = seen.parted(split, "upper", 1 << 10, 1e-30).lists
    assert exact == 6
    assert (found.outside > 1e-14) == (split[0] > 0 and not in_logs)
    for delta in (Fraction(1, 10**3), Fraction(1, 10**5)):
        known, found_answer = mixtures.epsilon(delta), road._listed(seen, split, EpsilonAt(delta, WIDTH))
        assert found_answer.lower <= known.upper
        assert known.lower <= found_answer.upper
        assert found_answer.width <= max(found_answer.upper, 1) / 100


def test_little_noise_and_tiny_deltas_are_known() -> None:
    """Where lists are out of range: a fifth and a tenth of what a row changes, delta 1e-100, many rows."""
    for noise, rate, size, delta in (
        ("0.2", "0.00216", 6, "7.69e-13"),
        ("0.1", "0.01", 5, "1e-6"),
        ("1", "0.001", 5, "1e-100"),
        ("1", "0.5", 9, "1e-8"),
        ("0.7", "1e-12", 10, "1e-60"),
    ):
        found = acc.epsilon(group(noise, rate, size), delta)
        assert found.width <= found.upper / 10**6
        assert found.lower >= acc.epsilon(group(noise, rate, size - 1), delta).lower


def test_a_split_or_a_direction_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    event = group("1.25", "0.3", 3)
    right = acc.epsilon(event, "1e-5")
    of = Mixtures.of
    monkeypatch.setattr(module.Mixtures, "of", lambda base, rate, split: of(base, rate, split[::-1]))
    assert acc.epsilon(event, "1e-5").lower == right.lower  # all splits, in another order
    monkeypatch.setattr(Seen, "splits", lambda _: iter([(3, 0)]))
    assert acc.epsilon(event, "1e-5").upper < right.lower


def test_left_to_others() -> None:
    noise = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.1")
    question = EpsilonAt(Fraction(1, 10**5), WIDTH)
    for event in (
        acc.Repeat(event=noise, times=2),
        acc.PoissonSample(event=acc.Laplace(scale=1), rate="0.1"),
        acc.Sequence(events=[noise, acc.Laplace(scale=3)]),
        acc.PoissonSample(event=acc.Gaussian(noise_multiplier=10**5), rate="0.1"),
    ):
        assert once(Seen.of(acc.Group(event=event, size=2)), question) is None
    assert once(Seen.of(acc.Group(event=noise, size=41)), question) is None
    one = Seen.of(acc.Group(event=noise, size=2))
    assert once(one, replace(question, delta=Fraction(1, 10**300))) is None
    assert once(one, DeltaAt(Fraction(10**9), WIDTH)) is None
    mixtures = Mixtures.of(GaussianLoss(mu_squared=Fraction(1)), Fraction(1, 10), (0, 2))
    assert mixtures.delta(Fraction(1)).upper == 0
    with pytest.raises(NotApplicable):
        Mixtures.of(GaussianLoss(mu_squared=Fraction(1)), Fraction(1, 10), (2, 0)).delta(Fraction(10**9))
