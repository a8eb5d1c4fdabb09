"""The parameter found is on the safe side, and no better one is far."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting import answers, calibrating, trying, which_road
from privately.accounting.guessing import Guess
from privately.errors import InvalidParameter
from privately.rounding import Interval

Make = Callable[[float], acc.Event]


def steps(noise: Any, rate: Any, times: Any) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate), times=times)


@pytest.mark.parametrize(
    ("make", "epsilon", "delta", "expected"),
    [
        (lambda noise: steps(noise, "0.01", 1000), 1, "1e-5", 1.41462),
        (lambda noise: steps(noise, "0.01", 10**4), 3, "1e-6", 1.70828),
        (lambda noise: steps(noise, "0.01", 10**4), 8, "1e-5", 0.88253),
        (lambda noise: acc.Gaussian(noise_multiplier=noise), 1, "1e-5", 3.73063),
        (lambda scale: acc.Laplace(scale=scale), "0.001", 0, 1000.0),
        (lambda scale: acc.Laplace(scale=scale), 10**6, 0, 1e-6),
        (lambda epsilon: acc.Repeat(event=acc.Pure(epsilon=epsilon), times=50), 1, 0, 0.02),
    ],
)
def test_known_noise(make: Make, epsilon: Any, delta: Any, expected: float) -> None:
    found = acc.calibrate(make, epsilon=epsilon, delta=delta)
    assert found == pytest.approx(expected, rel=2e-5)
    assert acc.epsilon(make(found), delta).upper <= Fraction(epsilon)


def test_the_promise_may_be_told_in_order() -> None:
    def noisy(scale: float) -> acc.Event:
        return acc.Laplace(scale=scale)

    assert acc.calibrate(noisy, 1, "1e-6") == acc.calibrate(noisy, epsilon=1, delta="1e-6")


@pytest.mark.parametrize("off", [0.5, 0.99, 0.99998, 1.00001, 1.01, 2.0])
@pytest.mark.parametrize("power", [-1.0, -0.2, 1.0])
def test_wrong_guesses_lead_to_the_safe_side(off: float, power: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the guess is too low, too high, or rises where it should fall."""
    monkeypatch.setattr(calibrating, "guessed", lambda *_: Guess(10 * off, power))
    found = acc.calibrate(lambda scale: acc.Laplace(scale=scale), epsilon="0.1")
    assert 10 <= found <= 10 * (1 + 1e-5)


@pytest.mark.parametrize("precision", ["0.1", "1e-3", "1e-8"])
def test_the_precision_is_kept(precision: str) -> None:
    found = acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon="0.3", precision=precision)
    assert 1 / 0.3 <= found <= 1 / 0.3 * (1 + float(precision))


def asked(monkeypatch: pytest.MonkeyPatch, profile: Callable[[float], float]) -> list[tuple[float, Fraction]]:
    """What is asked of answers about Laplace noise that are as wide as they may be, the truth anywhere between."""
    known: list[tuple[float, Fraction]] = []

    def wide(event: acc.Laplace, delta: Any, *, width: Fraction = which_road.WIDTH) -> Interval:
        del delta
        known.append((float(event.scale), width))
        share = (len(known) * 0.618) % 1
        truth, room = Fraction(profile(float(event.scale))), width * Fraction(profile(float(event.scale)))
        return Interval(truth - room * Fraction(share), truth + room * Fraction(1 - share), method="as wide as asked")

    monkeypatch.setattr(answers, "epsilon", wide)
    return known


PROFILES: list[Callable[[float], float]] = [
    lambda scale: 1 / scale,
    lambda scale: scale**-0.3,
    lambda scale: 30 / scale**8,
    lambda scale: 1 / scale + 0.3 / scale**2,
    lambda scale: math.expm1(1 / scale**2),
    lambda scale: 3.0 if scale < 0.7 else 0.7 / scale,
    lambda scale: scale**3,
]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("epsilon", [0.9, 1.3, 2.5])
def test_wide_answers_are_not_trusted(
    profile: Callable[[float], float], epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However wide rough answers are, the parameter is safe and within its precision; and few answers are narrow."""
    known = asked(monkeypatch, profile)
    found = acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=epsilon)
    assert profile(found) <= epsilon
    dearer = found * (1 - 3e-5 if profile(found * 0.9) > profile(found) else 1 + 3e-5)
    slack = 1e-4 if abs(profile(dearer) / profile(found) - 1) < 1e-5 else 0.0  # flatter than answers are narrow
    assert profile(dearer) > epsilon * (1 - slack)
    assert sum(width == which_road.WIDTH for _, width in known) <= (7 if profile is not PROFILES[5] else 30)


def test_rough_answers_that_were_trusted_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a rough answer settles on which side it is wherever its middle lies."""
    asked(monkeypatch, PROFILES[0])
    honest = trying.Trials._noted

    def middle(self: Any, parameter: float) -> float:
        found = answers.epsilon(self.event(parameter), self.delta, width=trying.ROUGHLY)
        return honest(self, parameter, (found.lower + found.upper) / 2)

    monkeypatch.setattr(trying.Trials, "roughly", middle)
    monkeypatch.setattr(trying.Trials, "excess", middle)
    wrong = [acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=e) * e for e in (0.9, 1.3, 2.5)]
    assert any(one < 1 or one > 1 + 3e-5 for one in wrong)


@pytest.mark.parametrize(("rate", "times", "epsilon", "most"), [("0.01", 10**4, 3, 9), ("0.01", 1000, 1, 10)])
def test_few_answers_are_needed(
    rate: str, times: int, epsilon: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[object] = []
    honest = answers.epsilon

    def counted(*args: Any, **more: Any) -> Interval:
        asked_for.append(args)
        return honest(*args, **more)

    monkeypatch.setattr(answers, "epsilon", counted)
    acc.calibrate(lambda noise: steps(noise, rate, times), epsilon=epsilon, delta="1e-6")
    assert len(asked_for) <= most


def test_rates_rise() -> None:
    found = acc.calibrate(lambda rate: steps(1, rate, 10**4), epsilon=2, delta="1e-5")
    assert acc.epsilon(steps(1, found, 10**4), "1e-5").upper <= 2
    assert acc.epsilon(steps(1, found * 1.0001, 10**4), "1e-5").lower > 2


def test_parameters_that_begin_far_from_1() -> None:
    found = acc.calibrate(lambda x: acc.PoissonSample(event=acc.Laplace(scale=1), rate=1000 * x), epsilon="0.1")
    rate = Fraction(1000 * found)
    assert math.log(1 - rate + rate * Fraction(math.e)) == pytest.approx(0.1, rel=1e-4)


def test_the_dearest_parameter_there_is() -> None:
    assert acc.calibrate(lambda rate: acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate), epsilon=2) == 1
    assert acc.calibrate(lambda rate: acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate / 4), epsilon=2) == (
        pytest.approx(4, rel=1e-4)
    )


def test_the_largest_number_of_steps_there_is() -> None:
    """The first ones are all covered by delta, and so cost the same."""

    def made(times: float) -> acc.Event:
        return acc.Repeat(event=acc.Gaussian(noise_multiplier=10**8), times=int(times))

    assert acc.calibrate(made, epsilon=1, delta="1e-5", whole=True) == 10**12


def test_rates_that_fall_to_nothing() -> None:
    found = acc.calibrate(lambda share: steps(1, 1 - share, 1000), epsilon=1, delta="1e-5")
    assert acc.epsilon(steps(1, 1 - found, 1000), "1e-5").upper <= 1
    assert acc.epsilon(steps(1, 1 - found / 1.00002, 1000), "1e-5").upper > 1


def test_promises_of_any_size() -> None:
    noise = acc.calibrate(lambda s: acc.Gaussian(noise_multiplier=s), epsilon="1e-20", delta="1e-25")
    assert noise == pytest.approx(3.619e20, rel=1e-3)
    assert acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=2**29) == pytest.approx(2.0**-29, rel=1e-4)
    assert acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=10**400) == pytest.approx(1e-9, rel=1e-4)


def test_whole_numbers_of_steps() -> None:
    found = acc.calibrate(lambda times: steps(1, "0.01", times), epsilon=2, delta="1e-5", whole=True)
    assert isinstance(found, int)
    assert acc.epsilon(steps(1, "0.01", found), "1e-5").upper <= 2
    assert acc.epsilon(steps(1, "0.01", found + 1), "1e-5").upper > 2


@pytest.mark.parametrize("whole", ["yes", 1, None])
def test_whole_is_true_or_false(whole: Any) -> None:
    with pytest.raises(InvalidParameter, match="whole"):
        acc.calibrate(lambda times: steps(1, "0.01", times), epsilon=2, delta="1e-5", whole=whole)


@pytest.mark.parametrize("times", [7, 30, 49])
def test_steps_that_fit_exactly(times: int) -> None:
    made = acc.Laplace(scale=times)
    assert acc.calibrate(lambda n: acc.Repeat(event=made, times=int(n)), epsilon=1, whole=True) == times


def test_parameters_that_end() -> None:
    """The best rate is just below the largest there is."""
    found = acc.calibrate(
        lambda rate: acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate), epsilon=math.log(0.05 + 0.95 * math.e)
    )
    assert found == pytest.approx(0.95, rel=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: acc.Pure(epsilon=1), "all of the parameters"),
        (lambda _: acc.Pure(epsilon=3), "none of the parameters"),
        (lambda _: "laplace", "is no event"),
        (lambda s: acc.Laplace(scale=-s), "scale"),
        (3, "function"),
    ],
)
def test_what_cannot_be_found(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        acc.calibrate(make, epsilon=2)


@pytest.mark.parametrize("bad", [{"epsilon": -1}, {"epsilon": math.nan}, {"epsilon": 1, "delta": 2}])
def test_bad_promises(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        acc.calibrate(lambda s: acc.Laplace(scale=s), **bad)


def test_a_promise_of_nothing() -> None:
    with pytest.raises(InvalidParameter, match="none of the parameters"):
        acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=0)


def test_precision_has_limits() -> None:
    with pytest.raises(InvalidParameter):
        acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=1, precision="1e-20")


def test_what_is_made_must_be_an_event() -> None:
    with pytest.raises(InvalidParameter, match="event"):
        acc.calibrate(lambda _: 3, epsilon=1, delta="1e-5")  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(("epsilon", "expected"), [("0.65", 5.529071), (3, 5.0)])
def test_parameters_between_two_powers_of_two(epsilon: Any, expected: float) -> None:
    """Both ends lie between 4 and 8; where all keep the promise, the dearest is found."""

    def make(noise: float) -> acc.Event:
        if not 5 <= noise <= 6:
            raise InvalidParameter("noise", "must be between 5 and 6.")
        return acc.Gaussian(noise_multiplier=noise)

    found = acc.calibrate(make, epsilon=epsilon, delta="1e-5")
    assert found == pytest.approx(expected, rel=2e-5)
    assert acc.epsilon(make(found), "1e-5").upper <= Fraction(epsilon)


def test_whole_numbers_between_two_powers_of_two() -> None:
    def make(times: float) -> acc.Event:
        if not 1000 <= times <= 1011:
            raise InvalidParameter("times", "must be between 1000 and 1011.")
        return acc.Repeat(event=acc.Laplace(scale=1000), times=int(times))

    assert acc.calibrate(make, epsilon="1.0075", whole=True) == 1007
    assert acc.calibrate(make, epsilon=2, whole=True) == 1011


def test_a_single_number_that_is_not_met() -> None:
    def make(noise: float) -> acc.Event:
        if noise != 5.5:
            raise InvalidParameter("noise", "must be 5.5.")
        return acc.Gaussian(noise_multiplier=noise)

    with pytest.raises(InvalidParameter, match=r"of 1 it says 'noise: must be 5.5'.*make\(5.5 \* times\)"):
        acc.calibrate(make, epsilon=3, delta="1e-5")
    assert acc.calibrate(lambda times: make(5.5 * times), epsilon=3, delta="1e-5") == 1


def laplace(scale: Any) -> acc.Event:
    return acc.Laplace(scale=scale)


def sampled(rate: Any) -> acc.Event:
    return acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate)


def pure(divisor: Any) -> acc.Event:
    return acc.Pure(epsilon=1 / Fraction(divisor))


@pytest.mark.parametrize(
    ("make", "epsilon", "delta", "expected"),
    [
        (lambda noise: acc.Gaussian(noise_multiplier=noise / 2**60), "1e-15", "1e-30", 8.558793e33),
        (
            lambda noise: acc.Repeat(event=acc.Gaussian(noise_multiplier=noise), times=10**12),
            "1e-10",
            "1e-30",
            8.7837e16,
        ),
        (sampled, "1e-40", 0, 5.81977e-41),
        (pure, "1e-300", 0, 1e300),
        (lambda scale: acc.Laplace(scale=Fraction(scale) * 10**200), 1, 0, 1e-200),
        (lambda scale: acc.Laplace(scale=scale * 1e-200), 1, 0, 1e200),  # that of small ones is none
    ],
)
def test_beyond_any_fixed_range(make: Make, epsilon: Any, delta: Any, expected: float) -> None:
    found = acc.calibrate(make, epsilon=epsilon, delta=delta)
    assert found == pytest.approx(expected, rel=2e-5)
    assert acc.epsilon(make(found), delta).upper <= Fraction(epsilon)


@pytest.mark.parametrize(
    ("make", "epsilon", "delta", "whole"),
    [
        (sampled, 0, 0, False),
        (sampled, "1e-400", 0, False),
        (lambda rate: acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate=rate), 1, 0, False),
        (lambda times: acc.Repeat(event=acc.Laplace(scale=1), times=times), 0, 0, True),
        (lambda times: acc.Repeat(event=acc.Laplace(scale=1), times=times), "0.5", 0, True),
        (lambda share: sampled(1 - share), 2, 0, False),  # all keep the promise, 0 costs most
    ],
)
def test_nothing_at_all_is_a_parameter(make: Make, epsilon: Any, delta: Any, whole: bool) -> None:
    found = acc.calibrate(make, epsilon=epsilon, delta=delta, whole=whole)
    assert (found, type(found)) == (0, int if whole else float)


@pytest.mark.parametrize(
    ("make", "epsilon", "expected"),
    [
        (laplace, "1e-18", 10**18),
        (laplace, "1e-29", 10**29),
        (pure, "1e-40", 10**40),
        (lambda times: acc.Repeat(event=acc.Laplace(scale=10**12), times=times), "0.9", 9 * 10**11),
    ],
)
def test_whole_numbers_are_exact_however_large(make: Make, epsilon: str, expected: int) -> None:
    assert acc.calibrate(make, epsilon=epsilon, whole=True) == expected


def test_few_answers_for_large_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they lie closer than floats, and nothing is foreseen."""
    known: list[Fraction] = []

    def answer(event: acc.Pure, _delta: Any, **_: Any) -> Interval:
        known.append(event.epsilon)
        return Interval(0, 0) if event.epsilon * 10**40 <= 10**30 + 7 else Interval(math.inf, math.inf)

    monkeypatch.setattr(answers, "epsilon", answer)
    found = acc.calibrate(lambda n: acc.Pure(epsilon=Fraction(n, 10**40)), epsilon=1, whole=True)
    assert found == 10**30 + 7
    assert len(known) <= 250


@pytest.mark.parametrize("precision", ["1e-5", "1e-12"])
@pytest.mark.parametrize("unit", [Fraction(10) ** -305, Fraction(10) ** 250, Fraction(10) ** 318])
def test_precision_at_the_ends_of_floats(unit: Fraction, precision: str) -> None:
    """The last are so small that floats have few digits."""
    found = acc.calibrate(lambda scale: acc.Laplace(scale=Fraction(scale) * unit), epsilon="0.3", precision=precision)
    best = 1 / (Fraction("0.3") * unit)
    assert best <= Fraction(found) <= best * (1 + Fraction(precision)) + Fraction(math.ulp(0.0))


def bumpy(scale: float) -> acc.Event:
    return acc.Laplace(scale=scale * (1 + 0.3 * math.sin(40 * math.log(scale))))


def with_a_hole(scale: float) -> acc.Event:
    if 2.4 < scale < 2.6:
        raise InvalidParameter("scale", "is not sold.")
    return acc.Laplace(scale=scale)


def leaping(scale: float) -> acc.Event:
    return acc.Laplace(scale=10 if scale > 3.7 else 0.1)


@pytest.mark.parametrize("epsilon", ["0.1", "0.4", "0.41", "3", "1/7"])
@pytest.mark.parametrize("make", [bumpy, with_a_hole, leaping, lambda x: acc.Laplace(scale=1 / x)])
def test_whatever_is_found_is_safe(make: Make, epsilon: str) -> None:
    """Also where epsilon rises and falls, or leaps, or is not known everywhere."""
    found = acc.calibrate(make, epsilon=epsilon)
    assert acc.epsilon(make(found), 0).upper <= Fraction(epsilon)


def test_narrow_answers_have_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rough upper ends that are below narrow ones, as they should not be, change nothing."""

    def answer(event: acc.Laplace, _delta: Any, *, width: Fraction = which_road.WIDTH) -> Interval:
        return Interval(0, 1 / event.scale * (1 if width == which_road.WIDTH else Fraction(1, 2)))

    monkeypatch.setattr(answers, "epsilon", answer)
    for make, expected in ((laplace, 10.0), (lambda scale: acc.Laplace(scale=min(max(scale, 6), 30)), 10.0)):
        found = acc.calibrate(make, epsilon="0.1")
        assert expected <= found <= expected * (1 + 1e-5)


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.2])
@pytest.mark.parametrize("off", [0.2, 0.7])
def test_games_are_played_a_few_times(epsilon: float, off: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrow ends that jump within their width: what is found is safe, and at most their width below."""
    narrow: list[float] = []

    def truth(scale: float) -> float:
        return (1 + 0.2 * math.atan(math.log(scale))) * math.exp(-0.7 * math.log(scale))

    def answer(event: acc.Laplace, _delta: Any, *, width: Fraction = which_road.WIDTH, **_: Any) -> Interval:
        scale = float(event.scale)
        if width != which_road.WIDTH:
            return Interval(Fraction(truth(scale) * (1 - off / 2)), Fraction(truth(scale) * (1 + 0.8 * off)))
        narrow.append(scale)
        upper = truth(scale) * (1 + 2e-4 * math.sin(1e6 * scale) ** 2)
        return Interval(Fraction(truth(scale) * (1 - 4e-4)), Fraction(upper), method="adaptive choices")

    monkeypatch.setattr(answers, "epsilon", answer)
    found = acc.calibrate(laplace, epsilon=epsilon)
    assert epsilon * (1 - 1e-3) <= answer(acc.Laplace(scale=found), 0).upper <= epsilon
    assert len(narrow) - 1 <= 4


def test_games_of_many_steps_are_played_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers that are nearer than answers are narrow are not told apart."""
    narrow: list[int] = []

    def answer(event: acc.Repeat, _delta: Any, *, width: Fraction = which_road.WIDTH, **_: Any) -> Interval:
        upper = Fraction(event.times, 10**9) * (1 + Fraction(math.sin(event.times)) / 10**5)
        if width == which_road.WIDTH:
            narrow.append(event.times)
        return Interval(upper * Fraction(99, 100), upper, method="adaptive choices")

    monkeypatch.setattr(answers, "epsilon", answer)
    made = acc.Laplace(scale=1)
    found = acc.calibrate(lambda n: acc.Repeat(event=made, times=n), epsilon=1, whole=True)
    assert 1 - Fraction(1, 990) <= answer(acc.Repeat(event=made, times=int(found)), 0).upper <= 1
    assert len(narrow) <= 8


def test_what_is_soon_found_must_be_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a search by rough answers that stops beyond the promise."""
    monkeypatch.setattr(calibrating, "compared", lambda *_: 9.9)
    assert 10 <= acc.calibrate(laplace, epsilon="0.1") <= 10 * (1 + 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda rho: acc.Repeat(event=acc.ZCDP(rho=rho), times=100),
        lambda rho: acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho=rho), rate="0.1"), times=10),
        lambda share: acc.Sequence(events=[acc.Exponential(epsilon=share * k / 100) for k in range(1, 9)]),
        lambda share: acc.Sequence(events=[acc.Renyi(bounds={2: share / 10, 8: share / 2}), acc.ZCDP(rho=share / 20)]),
    ],
)
def test_games_of_statements(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most five are played, and the last answer is what is found."""
    narrow: list[Interval] = []
    honest = answers.epsilon

    def counted(event: acc.Event, delta: Any, **options: Any) -> Interval:
        answer = honest(event, delta, **options)
        if "width" not in options:
            narrow.append(answer)
        return answer

    monkeypatch.setattr(answers, "epsilon", counted)
    found = acc.calibrate(make, epsilon=1, delta="1e-5")
    assert len(narrow) <= 5
    assert honest(make(found), "1e-5").upper == narrow[-1].upper
    assert 1 - Fraction(1, 990) <= narrow[-1].upper <= 1
