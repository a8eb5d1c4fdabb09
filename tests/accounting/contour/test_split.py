"""Near losses and jumps of a sampled Gaussian: masses, transforms on a line, and how fast they fall."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

from privately.accounting.contour.split import Law
from privately.accounting.contour.split_points import Split
from privately.accounting.elementary import Floats
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable

LAWS = [
    (Law(1.4285714285714286, 1e-5, Split(6.5, 9.125)), 300.0, 5.0),
    (Law(1.0, 1e-3, Split(4.5, 6.25)), 60.0, 4.0),
    (Law(2.5, 1e-4, Split(6.0, 8.375)), 3.0, 2.0),
]
QUIET = 34.0


def exact(law: Law, c: float, w: float, *, jumps: bool) -> complex:
    """The transform at c + iw, by a fine sum with many digits."""
    before, ctx.prec = ctx.prec, 160
    try:
        step, total = arb(2) ** -7, acb(0)
        k, at, mu, rate = (arb(one) for one in (law.split.steepness, law.split.at, law.mu, law.rate))
        height = 1 / (2 * k)
        for place in range(-400, 3400) if jumps else range(-1400, 1200):
            x = acb(place * step, height)
            loss = (1 + rate * ((mu * x - mu * mu / 2).exp() - 1)).log()
            weight = (-(k * (x - at)).exp()).exp()
            total += (-x * x / 2 + acb(c + 1, w) * loss).exp() * ((1 - weight) if jumps else weight)
        found = total * step / (2 * arb.pi()).sqrt()
        return complex(float(found.real.mid()), float(found.imag.mid()))
    finally:
        ctx.prec = before


@pytest.mark.parametrize(("law", "steep", "low"), LAWS)
def test_masses(law: Law, steep: float, low: float) -> None:
    near, jumps = law.grid(steep, 1.2 * steep, 0.0, QUIET), law.jumps(low, 1.2 * low, QUIET)
    for c in (steep, 0.3 * steep):
        least, most = near.log_mass(c)
        assert least <= math.log(exact(law, c, 0.0, jumps=False).real) + 1e-15
        assert most >= math.log(exact(law, c, 0.0, jumps=False).real) - 1e-15
        assert most - least < 1e-9
    for c in (low, 0.3 * low):
        lower, upper = jumps.mass(c)
        true = exact(law, c, 0.0, jumps=True).real
        assert lower <= true * (1 + 1e-15)
        assert upper >= true * (1 - 1e-15)
        assert upper - lower < 1e-9 * true


@pytest.mark.parametrize(("law", "steep", "low"), LAWS)
def test_transforms_on_a_line(law: Law, steep: float, low: float) -> None:
    """phi - 1 is within its error, and that is small."""
    near, jumps = law.grid(steep, 1.2 * steep, 0.0, QUIET), law.jumps(low, 1.2 * low, QUIET)
    step = 3.0 / law.rate**0.5
    seen = near.view(steep, 0.0)
    views = [(seen, False, steep), (jumps.view(low, float(seen.centre)), True, low)]
    for view, jumpy, c in views:
        found, error = view.transforms(step, 8)
        whole = exact(law, c, 0.0, jumps=jumpy)
        for n in (1, 8):
            w = n * step
            true = exact(law, c, w, jumps=jumpy) / whole * np.exp(-1j * w * float(view.centre))
            assert abs(found[n - 1] + 1 - true) <= error[n - 1] + 1e-14
            assert error[n - 1] < 1e-6


@pytest.mark.parametrize(("law", "steep", "low"), LAWS)
def test_how_fast_near_losses_fall(law: Law, steep: float, low: float) -> None:
    """Never faster than they do, and at least a quarter as fast once they do at all."""
    for c in (steep, low):
        grid = law.grid(c, 1.2 * c, 0.0, QUIET)
        frequencies: Floats = np.array([0.01, 0.1, 1.0, 10.0, 100.0]) / law.rate
        bounds = grid.decay(c, frequencies)
        assert (np.diff(bounds) >= 0).all()
        whole = exact(law, c, 0.0, jumps=False)
        for w, bound in zip(frequencies.tolist(), bounds.tolist(), strict=True):
            true = -math.log(abs(exact(law, c, w, jumps=False) / whole))
            assert bound <= true + 1e-12
            if w * law.rate in {1.0, 10.0}:
                assert bound > true / 4


@pytest.mark.parametrize(("law", "low"), [(law, low) for law, _, low in LAWS])
def test_how_fast_jumps_fall(law: Law, low: float) -> None:
    """Above what is there, from each frequency on; and in the end little is left."""
    jumps = law.jumps(low, 1.2 * low, QUIET)
    share = float(jumps.steps.share[np.searchsorted(jumps.steps.x, law.split.at)])
    whole, unit = exact(law, low, 0.0, jumps=True).real, law.split.steepness / (law.mu * share)
    for frequency in (unit, 8 * unit, 64 * unit):
        most = max(abs(exact(law, low, frequency * more, jumps=True)) for more in (1.0, 1.4)) / whole
        assert most <= jumps.rest(low, frequency)
    assert jumps.rest(low, 1e9) < 1e-9


def test_refusals() -> None:
    loss = SampledGaussianLoss(mu_squared=Fraction(100), rate=Fraction(1, 1000), direction="remove")
    with pytest.raises(NotApplicable, match="too little noise"):
        Law.of(loss, Split.near(4.0, 2.0))
    loss = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 1000), direction="add")
    with pytest.raises(NotApplicable, match="direction"):
        Law.of(loss, Split.near(4.0, 6.0))
