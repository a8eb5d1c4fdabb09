"""Questions go to the accountant as they were typed; what is found for a target keeps it."""

from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.cli.account.asking import CURVE, METHODS, Accountant, calibrated, plotted
from privately.cli.account.mechanisms import MECHANISMS, Use
from privately.errors import InvalidParameter
from privately.rounding import Interval, rational

BY_COMMAND = {mechanism.command: mechanism for mechanism in MECHANISMS}
LAPLACE = acc.Repeat(event=acc.Laplace(scale=10), times=100)


def laplace(scale: str | None = None, **settings: str) -> Use:
    return Use(mechanism=BY_COMMAND["laplace"], parameters={"scale": scale}, **settings)


def test_answers_are_those_of_the_library() -> None:
    (one,) = Accountant().epsilons(LAPLACE, ["1e-6"])
    assert one.interval == acc.epsilon(LAPLACE, "1e-6")
    assert (one.epsilon, one.delta) == (one.interval.upper, Fraction(1, 10**6))
    (other,) = Accountant().deltas(LAPLACE, ["2"])
    assert other.interval == acc.delta(LAPLACE, 2)
    assert (other.epsilon, other.delta) == (2, other.interval.upper)


def test_the_method_and_the_width() -> None:
    (by_contour,) = Accountant(method="contour", width="1e-3").epsilons(LAPLACE, ["1e-6"])
    assert by_contour.interval == acc.epsilon(LAPLACE, "1e-6", method="contour", width="1e-3")
    with pytest.raises(InvalidParameter, match="--method: must be one of closed-form, contour"):
        Accountant(method="guessing").epsilons(LAPLACE, ["1e-6"])


def test_the_methods_are_those_of_the_library() -> None:
    from privately.accounting.which_road import METHODS as KNOWN

    assert tuple(METHODS.values()) == KNOWN


@pytest.mark.parametrize(
    ("use", "find", "neighbour"),
    [
        (laplace(steps="100"), None, 0.999),
        (laplace("20", steps="100"), "rate", 1.001),
        (laplace("100"), "steps", None),
    ],
)
def test_what_is_found_keeps_the_target_and_hardly_more(use: Use, find: str | None, neighbour: float | None) -> None:
    found_use, found = calibrated(use, target="1", delta="1e-6", find=find)
    assert acc.epsilon(found_use.event(), "1e-6").upper <= 1
    name = found.option.removeprefix("--")
    assert found_use.given(name) == found.value
    beyond = int(found.value) + 1 if neighbour is None else float(found.value) * neighbour
    assert acc.epsilon(use.put(name, beyond).event(), "1e-6").upper > 1
    assert neighbour is None or len(found.value) <= 9


@pytest.mark.parametrize(
    ("find", "use", "expected"), [(None, laplace(), "3.14160"), ("rate", laplace("1"), "0.314159")]
)
def test_few_digits_on_the_safe_side(
    find: str | None, use: Use, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = 3.1415926 if find is None else 0.31415926
    monkeypatch.setattr(acc, "calibrate", lambda make, **_: exact)
    monkeypatch.setattr(acc, "epsilon", lambda event, delta: Interval(0, 1))
    assert Fraction(calibrated(use, target="1", delta="1e-6", find=find)[1].value) == Fraction(expected)


def test_more_digits_where_few_do_not_keep_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acc, "calibrate", lambda make, **_: 3.1415926)

    def refusing(event: acc.Laplace, delta: str) -> Interval:
        return Interval(0, 2 if event.scale > Fraction("3.1415927") else 1)

    monkeypatch.setattr(acc, "epsilon", refusing)
    assert calibrated(laplace(), target="1", delta="1e-6", find=None)[1].value == "3.14159261"
    monkeypatch.setattr(acc, "epsilon", lambda event, delta: Interval(0, 2))
    assert Fraction(calibrated(laplace(), target="1", delta="1e-6", find=None)[1].value) == Fraction(3.1415926)


def test_the_dearest_is_found_where_all_will_do() -> None:
    _, found = calibrated(laplace("100"), target="1", delta="0", find="rate")
    assert (found.option, found.value) == ("--rate", "1")


def test_what_cannot_be_found() -> None:
    normal = Use(mechanism=BY_COMMAND["gaussian"], parameters={"noise_multiplier": None})
    with pytest.raises(InvalidParameter, match="--noise-multiplier: none was found"):  # none is enough without a delta
        calibrated(normal, target="1", delta="0", find=None)
    with pytest.raises(InvalidParameter, match="--find: must be one of scale, rate, steps"):
        calibrated(laplace("100"), target="1", delta="1e-6", find="categories")
    with pytest.raises(InvalidParameter, match="--scale: is to be found; leave it out"):
        calibrated(laplace("100"), target="1", delta="1e-6", find=None)
    with pytest.raises(InvalidParameter, match="--target-epsilon: "):
        calibrated(laplace(), target="-1", delta="1e-6", find=None)


@pytest.mark.parametrize(
    "deltas", [[], ["1e-5"], ["0.5"], ["1e-20"], ["1e-100"], ["0", "1"], ["1e-400"], ["3e-15", "0.3"]]
)
def test_the_plot_covers_what_was_asked(deltas: list[str]) -> None:
    drawn = [rational(delta, "delta") for delta in plotted(deltas)]
    assert drawn == sorted(set(drawn))
    assert len(drawn) <= 50
    assert 0 < drawn[0] <= rational(CURVE[-1], "delta")
    assert rational(CURVE[0], "delta") <= drawn[-1] < 1
    for delta in map(Fraction, deltas):
        if Fraction(1, 10**300) <= delta <= Fraction(1, 2):
            assert drawn[0] <= delta <= drawn[-1]
