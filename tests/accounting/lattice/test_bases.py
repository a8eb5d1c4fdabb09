"""Losses without sampling against integrals in many digits."""

import math

import mpmath
import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.lattice.bases import ExponentialBase, NormalBase, exp_above, log_size
from privately.accounting.roads import NotApplicable

MUS = [0.01, 0.5, 1.0, 3.0]
SCALES = [0.05, 1.0, 8.0]


def normal_truth(mu: float, y: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    mu, y = mpmath.mpf(mu), mpmath.mpf(y)
    above = mpmath.erfc((y / mu - mu / 2) / mpmath.sqrt(2)) / 2
    return above, mpmath.exp(y) * mpmath.erfc((y / mu + mu / 2) / mpmath.sqrt(2)) / 2


def exponential_truth(epsilon: float, y: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    epsilon, y = mpmath.mpf(epsilon), min(mpmath.mpf(y), mpmath.mpf(epsilon))
    above = mpmath.quad(lambda l: mpmath.exp((l - epsilon) / 2) / 4, [y, epsilon])
    return above, mpmath.exp(y) * mpmath.quad(lambda l: mpmath.exp((-l - epsilon) / 2) / 4, [y, epsilon])


@pytest.mark.parametrize(
    ("base", "truth"),
    [(NormalBase(mu), normal_truth) for mu in MUS] + [(ExponentialBase(scale), exponential_truth) for scale in SCALES],
)
def test_tails_are_within_their_errors(base: NormalBase | ExponentialBase, truth: object) -> None:
    size = base.mu if isinstance(base, NormalBase) else base.epsilon
    parts = (0.0, 0.3, 1.0, 3.0, 9.0, 30.0) if isinstance(base, NormalBase) else (0.0, 0.2, 0.7, 0.999, 1.0, 1.3)
    y = np.array([part * size for part in parts])
    found = base.tails(y)
    with mpmath.workdps(40):
        for i, place in enumerate(y.tolist()):
            above, discounted = truth(size, place)  # type: ignore[operator]
            assert abs(found.above[i] - above) <= found.above_error[i]
            assert abs(found.discounted[i] - discounted) <= found.discounted_error[i]
            assert abs(found.curve[i] - (above - discounted)) <= found.curve_error[i]
            assert found.curve_error[i] <= 1e-11 * above / min(size, 1) + 1e-28


def test_nothing_is_certain_so_far_out() -> None:
    found = NormalBase(1.0).tails(np.array([60.0]))
    assert found.above[0] == 0 < found.above_error[0]


def integral(
    base: NormalBase | ExponentialBase, power: float, rate: float, ends: tuple[float, float], w: float
) -> float:
    """|E_Q[r^(power + iw)]|, with steps so small that what is oscillating is resolved."""
    low, high = base.spread()
    low, high = max(low, ends[0]), min(high, ends[1])
    y = np.linspace(low, high, 400_001)
    r = np.logaddexp(np.log1p(-rate), np.log(rate) + y) if rate < 1 else y
    heights = np.exp(base.log_density(y) + power * r) * np.exp(1j * w * r)
    return float(abs(np.trapezoid(heights, y)))


FALLS = [
    (NormalBase(1.0), 7.0, 0.01, -math.inf, 4.0),
    (NormalBase(0.5), -20.0, 0.1, -math.inf, math.inf),
    (NormalBase(2.0), 3.0, 1.0, -math.inf, 10.0),
    (NormalBase(1.0), 5.0, 0.05, 0.0, 5.0),
    (ExponentialBase(1.0), 9.0, 0.01, -math.inf, math.inf),
    (ExponentialBase(3.0), -4.0, 0.3, -math.inf, math.inf),
    (ExponentialBase(2.0), 1.5, 1.0, 0.0, 1.0),
]


@pytest.mark.parametrize(("base", "power", "rate", "left", "right"), FALLS)
def test_falls_are_above_the_transform(
    base: NormalBase | ExponentialBase, power: float, rate: float, left: float, right: float
) -> None:
    frequencies = np.array([1.0, 10.0, 100.0, 1000.0])
    found = base.fall(power, rate, left, right, frequencies)
    truths = np.array([integral(base, power, rate, (left, right), w) for w in frequencies.tolist()])
    assert (truths <= found + 1e-9 * integral(base, power, rate, (left, right), 0.0)).all()
    assert (np.diff(found) <= 0).all(), "a bound for all larger frequencies too"


def test_falls_are_not_far_above_either() -> None:
    """Where a bound is crude, the road only becomes slow; this one must not be."""
    base, found = NormalBase(1.0), np.zeros(0)
    frequencies = np.array([1e3, 1e4])
    found = base.fall(7.0, 0.01, -math.inf, 4.0, frequencies)
    whole = integral(base, 7.0, 0.01, (-math.inf, 4.0), 0.0)
    assert found[0] < 0.3 * whole
    assert found[1] < 0.01 * whole


@pytest.mark.parametrize("shrunk", [0.1, 0.3])
def test_a_bound_that_is_too_small_would_be_seen(shrunk: float) -> None:
    base = ExponentialBase(2.0)
    w = np.linspace(20.0, 60.0, 40)
    found = base.fall(1.5, 1.0, -math.inf, math.inf, w)
    truths = np.array([integral(base, 1.5, 1.0, (-math.inf, math.inf), one) for one in w.tolist()])
    assert (truths <= found).all()
    assert not (truths <= shrunk * found).all()


def test_sizes_of_mixtures() -> None:
    y: Floats = np.array([-30.0, -1.0, 0.0, 2.0, 50.0])
    for rate, theta in ((0.01, 0.7), (0.5, 1.4), (1.0, 0.0)):
        truth = np.log(np.abs(1 - rate + rate * np.exp(y + 1j * theta)))
        assert np.allclose(log_size(y, rate, theta), truth, atol=1e-11)


def test_what_is_out_of_range_is_refused() -> None:
    for mu in (1e-9, 50.0):
        with pytest.raises(NotApplicable):
            NormalBase(mu)
    with pytest.raises(NotApplicable):
        ExponentialBase(1e3)
    with pytest.raises(NotApplicable):
        NormalBase(1.0).fall(3.0, 0.1, -math.inf, 200.0, np.array([1.0]))
    assert NormalBase(1.0).fall(3.0, 0.1, 5.0, 4.0, np.array([1.0])) == [0.0]
    assert exp_above(800.0) == math.inf
    assert exp_above(-800.0) > 0


def test_narrow_laws_leave_the_range_of_floats_without_a_warning() -> None:
    """Where the path cannot be moved as far as asked, it is moved less far."""
    found = NormalBase(1 / 25.1).fall(-(10.0**6), 0.000275, -math.inf, math.inf, np.array([1e6, 1e8]))
    assert (found > 0).all()
    huge = NormalBase(1.0).fall(80.0, 0.9, -math.inf, 20.0, np.array([1.0]))
    assert huge[0] == math.inf, "never cut off from above"
