"""Calibration by rough answers next to few narrow ones."""

import math
from collections.abc import Callable

import pytest

from privately.accounting.comparing import compared, sketched
from privately.errors import InvalidParameter
from privately.rounding import Interval

PRECISION = 1e-5


def found(truth: Callable[[float], float], wide: float = 0.05) -> tuple[float | None, list[float]]:
    """What is found for 1, and where narrow answers were asked for: rough ones are above by a part that changes."""
    asked: list[float] = []

    def rough(x: float) -> Interval:
        if x > 1e6:
            raise InvalidParameter("x", "too large.")
        return Interval(truth(x) * (1 - wide), truth(x) * (1 + wide * (1 + 0.1 * math.sin(math.log(x)))))

    def narrow(x: float) -> float:
        asked.append(x)
        return math.log(truth(x))

    return compared(rough, narrow, 1.0, PRECISION), asked


@pytest.mark.parametrize("power", [0.5, 1.0, -2.0])
@pytest.mark.parametrize("best", [3e-4, 1.0, 700.0])
def test_few_narrow_answers(power: float, best: float) -> None:
    """The parameter is on the safe side, within the precision, and the last that was asked for."""
    parameter, asked = found(lambda x: (x / best) ** power * (1 + 0.01 * math.atan(math.log(x / best))))
    assert parameter == asked[-1]
    assert 0 <= (best - parameter) * math.copysign(1, power) <= PRECISION * best
    assert len(asked) <= 4


def test_left_to_others() -> None:
    """Where rough answers are narrow, where epsilon does not depend on the parameter, and where it jumps."""
    assert found(lambda x: x, wide=1e-3) == (None, [])
    assert found(lambda x: 1.1)[0] is None
    assert found(lambda x: x if x < 0.9 else 1.5 * x)[0] is None


@pytest.mark.parametrize("phase", range(12))
def test_narrow_answers_that_jump(phase: int) -> None:
    """With slack for jumps the parameter is still on the safe side, no farther below than that, and soon found."""
    asked: list[float] = []

    def narrow(x: float) -> float:
        asked.append(x)
        return math.log(x / 3) + 5e-5 * math.sin(1e7 * x + phase)

    def rough(x: float) -> Interval:
        return Interval(x / 3 * 0.9, x / 3 * 1.2)

    for parameter in (
        compared(rough, narrow, 1.0, PRECISION, lambda _: 2e-4),
        sketched(lambda x: math.log(0.4 * x), narrow, PRECISION, lambda _: 2e-4),
    ):
        assert parameter in asked
        assert -2e-4 <= narrow(parameter) <= 0
    assert len(asked) <= 2 + 2 * 4
