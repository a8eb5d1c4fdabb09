"""The parameter found is on the safe side, and no better one is far."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting import answers, calibrating, which_road
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
    honest = calibrating._Search._seen

    def middle(self: Any, parameter: float) -> float:
        found = answers.epsilon(self._made(parameter), self.delta, width=calibrating._ROUGHLY)
        return honest(self, parameter, (found.lower + found.upper) / 2)

    monkeypatch.setattr(calibrating._Search, "_roughly", middle)
    monkeypatch.setattr(calibrating._Search, "_excess", middle)
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
