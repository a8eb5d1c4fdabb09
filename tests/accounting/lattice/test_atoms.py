"""Atoms against their definitions in many digits."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.lattice import atoms as module
from privately.accounting.lattice.atoms import NONE, Atoms, _floats, atoms
from privately.accounting.lattice.smooth import NOTHING, smooth
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure
from tests.accounting.lattice.exact import number

RATE = Fraction(1, 10)


def base_truth(law: DiscreteGaussianLoss | DiscreteLaplaceLoss | LaplaceLoss) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """(loss, probability under Q) of the pair without sampling."""
    if isinstance(law, LaplaceLoss):
        epsilon = number(law.epsilon)
        return [(epsilon, mpmath.exp(-epsilon) / 2), (-epsilon, mpmath.mpf(1) / 2)]
    found: dict[mpmath.mpf, mpmath.mpf] = {}
    if isinstance(law, DiscreteLaplaceLoss):
        scale = number(law.scale)
        for k in range(-2000, 2000):
            loss = (abs(k) - abs(k - law.sensitivity)) / scale
            found[loss] = found.get(loss, 0) + mpmath.exp(-abs(k) / scale)
    else:
        scale = number(law.variance)
        for k in range(-120, 120):
            found[law.sensitivity * mpmath.mpf(2 * k - law.sensitivity) / (2 * scale)] = mpmath.exp(
                -(k**2) / (2 * scale)
            )
    total = mpmath.fsum(found.values())
    return [(loss, mass / total) for loss, mass in found.items()]


def truth(law: Loss) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """(loss, probability under P)."""
    match law:
        case SampledLaplaceLoss(epsilon=epsilon):
            base: Loss = LaplaceLoss(epsilon=epsilon)
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            base = DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            base = DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity)
        case GluedLoss(base=base):
            pass
        case _:
            return [(-loss, mass) for loss, mass in base_truth(law)]  # type: ignore[arg-type]
    rate = number(law.rate)
    mixed = [(1 - rate + rate * mpmath.exp(loss), mass) for loss, mass in base_truth(base)]  # type: ignore[arg-type]
    if isinstance(law, GluedLoss):
        found = [(mpmath.log(r), r * mass) for r, mass in mixed if r > 1]
        found += [(-mpmath.log(r), mass) for r, mass in mixed if r > 1]
        dense = smooth(law)
        carried = mpmath.fsum(mass for _, mass in found) + (dense.mass()[0] if dense else 0)
        return [*found, (mpmath.mpf(0), 1 - carried)]
    if law.direction == "remove":
        return [(mpmath.log(r), r * mass) for r, mass in mixed]
    return [(-mpmath.log(r), mass) for r, mass in mixed]


LAWS: list[Loss] = [
    LaplaceLoss(epsilon=Fraction(1, 3)),
    DiscreteLaplaceLoss(scale=Fraction(5, 2), sensitivity=3),
    DiscreteLaplaceLoss(scale=Fraction(10), sensitivity=4),
    DiscreteGaussianLoss(variance=Fraction(3), sensitivity=2),
    SampledLaplaceLoss(epsilon=Fraction(1, 3), rate=RATE, direction="remove"),
    SampledLaplaceLoss(epsilon=Fraction(1, 3), rate=RATE, direction="add"),
    SampledDiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3, rate=RATE, direction="remove"),
    SampledDiscreteGaussianLoss(variance=Fraction(3), sensitivity=1, rate=RATE, direction="add"),
    GluedLoss(base=LaplaceLoss(epsilon=Fraction(1)), rate=RATE),
    GluedLoss(base=DiscreteLaplaceLoss(scale=Fraction(3), sensitivity=4), rate=RATE),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_atoms_are_within_their_errors(law: Loss) -> None:
    found = atoms(law)
    with mpmath.workdps(40):
        expected = truth(law)
        assert abs(mpmath.fsum(mass for _, mass in expected) + (_dense(law)) - 1) < 1e-13
        for loss, mass in expected:
            if mass < 1e-250:
                continue
            place = int(np.argmin(np.abs(found.losses - float(loss))))
            assert abs(found.losses[place] - loss) <= found.loss_errors[place] + mpmath.mpf(10) ** -35
            assert abs(found.masses[place] - mass) <= found.mass_errors[place]
            assert found.mass_errors[place] < 1e-12
    assert found.outside < 1e-250


def _dense(law: Loss) -> float:
    dense = smooth(law)
    return dense.mass()[0] if dense else 0.0


def test_normal_losses_have_none_but_glued_ones_one() -> None:
    gaussian = GaussianLoss(mu_squared=Fraction(1))
    assert atoms(gaussian) is NONE
    found = atoms(GluedLoss(base=gaussian, rate=RATE))
    assert found.losses.tolist() == [0.0]
    # (1 - q) times the total variation distance
    assert found.masses[0] == pytest.approx(0.9 * math.erf(0.5 / math.sqrt(2)), abs=1e-12)


def test_those_above_a_loss_are_counted_under_both() -> None:
    found = atoms(response(Fraction(1)))
    kept, far = found.up_to(0.0)
    assert kept.losses.tolist() == [-1.0]
    assert far.first == pytest.approx(1 / (1 + math.exp(-1)))
    assert far.second == pytest.approx(far.first * math.exp(-1))
    assert found.up_to(2.0) == (found, NOTHING)


@pytest.mark.parametrize(
    "law",
    [
        DiscreteGaussianLoss(variance=Fraction(10**14), sensitivity=1),
        DiscreteLaplaceLoss(scale=Fraction(10**6), sensitivity=10**6),
        DiscreteLaplaceLoss(scale=Fraction(1, 10**6), sensitivity=2),
        SampledLaplaceLoss(epsilon=Fraction(1), rate=1 - Fraction(1, 2**40), direction="add"),
    ],
)
def test_what_is_out_of_range_is_refused(law: Loss) -> None:
    with pytest.raises(NotApplicable):
        atoms(law)


def test_equal_arrays_are_one_object() -> None:
    assert isinstance(atoms(response(Fraction(1))), Atoms)
    assert atoms(response(Fraction(1))) is atoms(response(Fraction(1)))


def test_enclosures_around_zero() -> None:
    """A loss of 0 is enclosed, however narrowly, on both sides of 0: its error is not relative."""
    narrow = Enclosure(Decimal("-1e-60"), Decimal("1e-60"))
    (near,), (off,) = _floats([narrow])
    assert near - off <= -1e-60
    assert near + off >= 1e-60
    (near,), (off,) = _floats([Enclosure.of(Fraction(1, 3))])
    assert abs(Fraction(near) - Fraction(1, 3)) <= Fraction(off) < Fraction(1, 10**15)


def test_what_atoms_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so few of discrete normal noise that it is seen."""
    monkeypatch.setattr(module, "_QUIET", 2.5)
    wide = DiscreteGaussianLoss(variance=Fraction(400), sensitivity=1)
    sampled = [
        SampledDiscreteGaussianLoss(variance=Fraction(400), sensitivity=1, rate=Fraction(1, 3), direction=direction)
        for direction in DIRECTIONS
    ]
    for law in (wide, *sampled):
        found = module.atoms.__wrapped__(law)
        assert 1e-4 < 1 - found.masses.sum() <= found.outside < 0.1


def test_errors_of_far_atoms_add_up() -> None:
    """Under P, and under Q with those of the losses."""
    losses, masses = np.array([3.0, 2.0, 0.0]), np.array([0.1, 0.2, 0.7])
    kept, far = Atoms(losses, np.full(3, 0.01), masses, 0.1 * masses).up_to(1.0)
    assert kept.losses.tolist() == [0.0]
    assert far.first_error >= 0.03 * (1 - 1e-12)
    assert far.second_error >= 0.11 * float(masses[:2] @ np.exp(-losses[:2]))
