"""One step between the atoms of Laplace noise, against integrals in high precision."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, fmpq

from privately import accounting as acc
from privately.accounting.contour import laplaces, one_off
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.one_off import OneOff
from privately.accounting.losses import LaplaceLoss
from tests.accounting.contour.exact_transforms import precision

CASES = [(2, 1.5, Fraction(1)), (7, 4.0, Fraction(1, 4)), (40, 9.0, Fraction(1, 10)), (300, 12.5, Fraction(1, 50))]


def one_off_of(times: int, c: float, epsilon: Fraction) -> OneOff:
    laws = Laplaces.of([(LaplaceLoss(epsilon=epsilon), times)])
    found = laws.atoms(c, laws.view(c, 1.0), 1)
    assert isinstance(found, OneOff)
    return found


class Exact:
    """The tilted law of one step, centred as the floats are: two atoms, and a density e^((c + 1/2) l) between."""

    def __init__(self, found: OneOff, epsilon: Fraction) -> None:
        self.c = arb(found.c)
        self.epsilon = arb(fmpq(epsilon.numerator, epsilon.denominator))
        self.centre = self.epsilon - arb(float(found.losses[0]))
        e, c = self.epsilon, self.c
        self.mass = ((c + 1) * (c * e).exp() + c * (-(c + 1) * e).exp()) / (2 * c + 1)
        self.atoms = [((c * e).exp() / 2 / self.mass, e), ((-(c + 1) * e).exp() / 2 / self.mass, -e)]
        self.density = (-e / 2).exp() / 4 / self.mass

    def between(self, w: float) -> acb:
        power = acb(self.c + arb(0.5), arb(w))
        ends = [(power * self.epsilon).exp(), (-power * self.epsilon).exp()]
        return self.density * (ends[0] - ends[1]) / power * acb(0, -arb(w) * self.centre).exp()

    def alpha(self, w: float) -> acb:
        return sum((p * acb(0, arb(w) * (loss - self.centre)).exp() for p, loss in self.atoms), acb(0))

    def part(self, s: float, times: int) -> arb:
        """The profile of all paths with one step between the atoms."""
        (p, up), (q, down) = self.atoms
        total = arb(0)
        for k in range(times):
            left = arb(s) - k * (up - self.centre) - (times - 1 - k) * (down - self.centre) + self.centre
            low = max(-self.epsilon, left)
            if low < self.epsilon:
                first = 2 * (self.c * left).exp() * ((self.epsilon / 2).exp() - (low / 2).exp())
                second = 2 * ((self.c + 1) * left).exp() * ((-low / 2).exp() - (-self.epsilon / 2).exp())
                weight = math.comb(times - 1, k) * p**k * q ** (times - 1 - k)
                total += times * weight * self.density * (first - second)
        return total


@pytest.mark.parametrize("case", CASES)
def test_one_step_off_the_atoms(case: tuple[int, float, Fraction]) -> None:
    times, c, epsilon = case
    found = one_off_of(times, c, epsilon)
    with precision(500):
        exact = Exact(found, epsilon)
        spread = float(times * (found.losses[0] - found.losses[1]))
        for share in (-0.6, -0.2, -0.01, 0.0, 0.02, 0.1, 0.3):
            value, off, _ = found.part(share * spread)
            atoms, atoms_off, _ = super(OneOff, found).part(share * spread)
            assert abs(exact.part(share * spread, times) - (arb(value) - arb(atoms))) <= arb(off) + arb(atoms_off)
            assert off <= 1e-9
        step = 0.37
        transforms, errors = found.transforms(step, 40)
        for n in (1, 2, 5, 17, 40):
            w = step * n
            truth = exact.alpha(w) ** (times - 1) * (exact.alpha(w) + times * exact.between(w))
            assert abs(truth - acb(*map(arb, (transforms[n - 1].real, transforms[n - 1].imag)))) <= arb(errors[n - 1])
            assert errors[n - 1] <= 1e-8
        taken = exact.alpha(0.0) ** (times - 1) * (exact.alpha(0.0) + times * exact.between(0.0))
        assert abs(taken - arb(found.taken)) <= arb(found.taken_error)


@pytest.mark.parametrize("case", CASES)
def test_what_is_left_falls(case: tuple[int, float, Fraction]) -> None:
    times, c, epsilon = case
    found = one_off_of(times, c, epsilon)
    reaches = np.array([3.0, 20.0, 150.0, 1000.0])
    falls = found.falls(reaches)
    with precision(300):
        exact = Exact(found, epsilon)
        for reach, fall in zip(reaches.tolist(), falls.tolist(), strict=True):
            for w in (reach, 1.03 * reach, 1.7 * reach):
                alpha, rest = exact.alpha(w), exact.between(w)
                left = abs((alpha + rest) ** times - alpha ** (times - 1) * (alpha + times * rest))
                assert left <= arb(-fall).exp()


def test_slopes() -> None:
    for case in CASES:
        found = one_off_of(*case)
        for s in (-0.31, 0.013, 0.21):
            (before, _, _), (_, _, slope), (after, _, _) = (found.part(s + step) for step in (-1e-7, 0.0, 1e-7))
            assert (after - before) / 2e-7 == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_the_ends_are_much_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    event = acc.Repeat(event=acc.Laplace(scale=10), times=100)
    close = acc.epsilon(event, delta="1e-6", method="contour")
    monkeypatch.setattr(laplaces, "_FEW_STEPS", 0)
    wide = acc.epsilon(event, delta="1e-6", method="contour")
    assert wide.lower <= close.lower <= close.upper <= wide.upper
    assert close.width * 20 <= wide.width
    assert close.width <= Fraction(1, 10**8)


def test_a_forgotten_path_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the exact part the integral would be far too small."""
    event = acc.Repeat(event=acc.Laplace(scale=2), times=10)
    honest = acc.delta(event, epsilon=3, method="contour")
    monkeypatch.setattr(one_off.OneOff, "part", lambda self, s: super(OneOff, self).part(s))
    assert acc.delta(event, epsilon=3, method="contour").upper < honest.lower
