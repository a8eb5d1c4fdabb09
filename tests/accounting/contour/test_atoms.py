"""The binomial part of a composition against exact fractions, and what it claims about its own errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import atoms as module
from privately.accounting.contour.atoms import Atoms
from privately.accounting.elementary import UNIT
from tests.accounting.contour.exact_transforms import precision

CASES = [
    # times, c, weights, losses
    (1, 2.0, (0.5, 0.125), (1.0, -1.5)),
    (7, 0.5, (0.25, 0.5), (0.5, -0.25)),
    (60, 3.0, (0.7, 0.1), (0.125, -0.75)),
    (60, 3.0, (0.1, 0.7), (-0.75, 0.125)),
    (150, 10.0, (0.001, 0.998), (0.01, -0.02)),
    (200, 1.0, (0.9990234375, 1e-30), (0.01, -0.5)),
]


def atoms_of(times: int, c: float, weights: tuple[float, float], losses: tuple[float, float]) -> Atoms:
    """Whose floats are exactly right."""
    return Atoms(
        times=times,
        c=c,
        weights=np.array(weights),
        losses=np.array(losses),
        weight_error=UNIT,
        loss_error=UNIT,
        variation=1.0,
    )


def exact_part(atoms: Atoms, s: float) -> arb:
    """The sum over k of C(T, k) p^k q^(T-k) e^(-c x) (1 - e^-x), x = loss - s above 0."""
    p, q = map(Fraction, atoms.weights.tolist())
    first, second = map(Fraction, atoms.losses.tolist())
    total = arb(0)
    for k in range(atoms.times + 1):
        excess = k * first + (atoms.times - k) * second - Fraction(s)
        if excess > 0:
            weight = math.comb(atoms.times, k) * p**k * q ** (atoms.times - k)
            x = arb(excess.numerator) / arb(excess.denominator)
            ratio = arb(weight.numerator) / arb(weight.denominator)
            total += ratio * (-arb(atoms.c) * x).exp() * -(-x).expm1()
    return total


def places(atoms: Atoms) -> list[float]:
    """From below the lowest loss to above the highest, losses themselves included."""
    low, high = sorted(atoms.times * loss for loss in atoms.losses.tolist())
    spread = [low + (high - low) * part for part in (-0.1, 0.0, 0.3, 0.5, 0.8, 0.97, 1.0, 1.2)]
    return [*spread, float(atoms.losses.sum()), 0.0]


@pytest.mark.parametrize("case", CASES)
def test_the_binomial_sum(case: tuple[int, float, tuple[float, float], tuple[float, float]]) -> None:
    atoms = atoms_of(*case)
    with precision(400):
        for s in places(atoms):
            value, off, _ = atoms.part(s)
            assert abs(exact_part(atoms, s) - arb(value)) <= arb(off)
            assert off <= 1e-9


@pytest.mark.parametrize("case", CASES[:4])
def test_wrong_floats_are_covered(case: tuple[int, float, tuple[float, float], tuple[float, float]]) -> None:
    """Weights and losses that are off by what is stated."""
    true = atoms_of(*case)
    random = np.random.default_rng(1)
    for _ in range(5):
        signs = random.choice([-1.0, 1.0], size=(2, 2))
        near = replace(
            true,
            weights=true.weights * (1 + 0.99e-9 * signs[0]),
            losses=true.losses + 0.99e-9 * signs[1],
            weight_error=1e-9,
            loss_error=1e-9,
        )
        with precision(300):
            for s in places(true):
                value, off, _ = near.part(s)
                assert abs(exact_part(true, s) - arb(value)) <= arb(off)
            whole = arb(true.mass) ** true.times
            assert abs(arb(near.whole) - whole) <= whole * arb(near.doubt)


def test_the_stated_errors_are_needed() -> None:
    """The same wrong floats, and no errors stated."""
    true = atoms_of(*CASES[2])
    near = replace(true, weights=true.weights * (1 + 1e-9))
    with precision(300):
        value, off, _ = near.part(0.0)
        assert abs(exact_part(true, 0.0) - arb(value)) > arb(off)


@pytest.mark.parametrize("case", CASES)
def test_the_transform(case: tuple[int, float, tuple[float, float], tuple[float, float]]) -> None:
    atoms = atoms_of(*case)
    found, bounds = atoms.transforms(0.75, 20)
    with precision(300):
        for n in (1, 2, 9, 20):
            pairs = zip(atoms.weights.tolist(), atoms.losses.tolist(), strict=True)
            turned = sum((arb(p) * (acb(0, 1) * arb(0.75) * n * arb(loss)).exp() for p, loss in pairs), acb(0))
            assert abs(turned**atoms.times - acb(complex(found[n - 1]))) <= arb(float(bounds[n - 1]))


def test_what_falls() -> None:
    """|phi^T - alpha^T| <= T (V/w) (a + V/w)^(T-1), for phi = alpha + a rest of size V/w turned against it."""
    atoms = replace(atoms_of(12, 1.0, (0.5, 0.2), (1.0, -1.0)), variation=0.8)
    reaches, largest = np.array([4.0, 20.0, 300.0]), 0.0
    for w, fall in zip(reaches.tolist(), atoms.falls(reaches).tolist(), strict=True):
        size = abs(0.5 * np.exp(1j * w) + 0.2 * np.exp(-1j * w))
        alpha = complex(size)
        most = max(abs((alpha + 0.8 / w * np.exp(1j * a)) ** 12 - alpha**12) for a in np.linspace(0, 6.3, 100))
        assert most <= math.exp(-fall)
        largest = (0.7 + 0.8 / w) ** 12 - 0.7**12  # both atoms and the rest in phase, as beyond w they may be
        assert largest <= math.exp(-fall) or fall <= 0
    assert math.exp(-atoms.falls(reaches)[-1]) <= 1.1 * largest


def test_an_atom_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: all but the largest weights are dropped."""
    monkeypatch.setattr(module, "_SMALLEST", 1e-3)
    atoms = atoms_of(*CASES[2])
    value, _, _ = atoms.part(0.0)
    monkeypatch.setattr(module, "_SMALLEST", 1e-40)
    honest, off, _ = atoms_of(*CASES[2]).part(0.0)
    assert abs(value - honest) > off


def test_the_derivative_is_at_most_one() -> None:
    """Of e^(-cx) (1 - e^-x), x >= 0, which is what moves with the losses."""
    x = np.linspace(0, 30, 20_001)
    for c in (1e-3, 0.1, 1.0, 7.0, 300.0):
        slope = (c + 1) * np.exp(-(c + 1) * x) - c * np.exp(-c * x)
        assert (np.abs(slope) <= 1 + 1e-12).all()


def test_the_slope_is_that_of_the_part() -> None:
    for case in CASES:
        atoms = atoms_of(*case)
        for s in (-0.3, 0.11, 0.4):
            (before, _, _), (_, _, slope), (after, _, _) = (atoms.part(s + step) for step in (-1e-7, 0.0, 1e-7))
            assert abs((after - before) / 2e-7 - slope) <= 1e-4 * (abs(slope) + atoms.whole)
