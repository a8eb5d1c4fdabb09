"""Ends of epsilon close to the largest sum of losses, against exact profiles."""

import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from privately.accounting.compositions import Composition
from privately.accounting.lattice import top
from privately.accounting.lattice.top import near_the_top
from privately.accounting.losses import (
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteLaplaceLoss,
    SampledLaplaceLoss,
    response,
)
from privately.rounding import Interval
from tests.accounting.lattice import exact

RATE = Fraction(1, 10)


def one(law: Loss, times: int = 1) -> Composition:
    return Composition(parts=((law, times),))


def found(composition: Composition, delta: Fraction) -> Interval:
    edge = near_the_top(composition, delta, delta, "here")
    assert edge is not None
    return edge


@pytest.mark.parametrize("tenths", [1, 5, 20])
def test_ends_near_the_largest_loss(tenths: int) -> None:
    """Two Laplace laws: h below their largest sum, delta is (1 - e^-h)/4 and integrals over one and two densities."""
    size = Fraction(tenths, 10)
    for delta in (Fraction(1, 10**3), Fraction(1, 10**5), Fraction(1, 10**9)):
        edge = found(one(LaplaceLoss(epsilon=size), 2), delta)
        with mp.workdps(40):
            low, high = (_two_laplaces(2 * exact.number(size) - exact.number(end)) for end in (edge.upper, edge.lower))
            assert low <= exact.number(delta) <= high
        assert edge.width <= 200 * delta**2 + Fraction(1, 10**14)


def _two_laplaces(h: mpf) -> mpf:
    """A loss at depth x below its largest has the density e^(-x/2)/4, the sum of two x e^(-x/2)/16."""

    def lack(x: mpf) -> mpf:
        return 1 - mp.exp(x - h)

    single = mp.quad(lambda x: mp.exp(-x / 2) / 4 * lack(x), [0, h])
    double = mp.quad(lambda x: x * mp.exp(-x / 2) / 16 * lack(x), [0, h])
    return lack(mpf(0)) / 4 + single + double


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_ends_under_sampling(direction: str) -> None:
    """One step, where the profile is known in closed form."""
    law = SampledLaplaceLoss(epsilon=Fraction(1), rate=RATE, direction="remove" if direction == "remove" else "add")
    mixed = exact.removed if direction == "remove" else exact.added
    for delta in (Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**12)):
        edge = found(one(law), delta)
        with mp.workdps(40):
            high, low = (
                mixed(lambda y: exact.laplace(mpf(1), y), exact.number(RATE), exact.number(end))
                for end in (edge.lower, edge.upper)
            )
            assert low <= exact.number(delta) <= high
        assert edge.width <= 400 * delta**2 + Fraction(1, 10**14)


ATOMS: list[Loss] = [
    response(Fraction(1, 2)),
    DiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3),
    SampledDiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3, rate=RATE, direction="remove"),
    SampledDiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3, rate=RATE, direction="add"),
]


@pytest.mark.parametrize("law", ATOMS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("delta", [Fraction(1, 50), Fraction(1, 10**4), Fraction(1, 10**8)])
def test_ends_of_atoms(law: Loss, delta: Fraction) -> None:
    edge = found(one(law, 2), delta)
    with mp.workdps(40):
        pair = exact.discrete_laplace(Fraction(2), 3)
        if isinstance(law, SampledDiscreteLaplaceLoss):
            pair = list(exact.poisson(pair, RATE, removes=law.direction == "remove"))
        if isinstance(law, FiniteLoss):
            truth = 1 / (1 + mp.exp(-mpf(1) / 2))
            pair = [(truth, 1 - truth), (1 - truth, truth)]
        composed = exact.power(exact.law_of(pair), 2)
        high, low = (exact.finite_profile(composed, exact.number(end)) for end in (edge.lower, edge.upper))
        assert edge.upper == 0 or low <= exact.number(delta) * (1 + mpf(10) ** -30)
        assert edge.lower == 0 or exact.number(delta) <= high * (1 + mpf(10) ** -30)
    if delta < Fraction(1, 1000):
        assert edge.width <= Fraction(1, 10**12), "no other atom is near"


def test_a_density_that_is_forgotten_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    delta = Fraction(1, 1000)
    composition = one(LaplaceLoss(epsilon=Fraction(1)))
    with mp.workdps(40):
        truth = 1 + 2 * mp.log1p(-exact.number(delta))
        assert exact.holds(found(composition, delta), truth)
        monkeypatch.setattr(top, "_density_from", lambda *_: Fraction(0))
        assert not exact.holds(found(composition, delta), truth)


def test_two_deltas() -> None:
    """Where the mass at infinite loss is not known exactly, each end takes the delta that is safe for it."""
    composition = one(LaplaceLoss(epsilon=Fraction(1)), 3)
    easier, harder = Fraction(2, 10**6), Fraction(1, 10**6)
    edge = near_the_top(composition, easier, harder, "here")
    assert edge is not None
    assert edge.lower == found(composition, easier).lower
    assert found(composition, harder).upper <= edge.upper < found(composition, harder).upper + Fraction(1, 10**8)


def test_where_the_largest_loss_tells_little() -> None:
    composition = one(LaplaceLoss(epsilon=Fraction(1)), 3)
    for delta in (Fraction(1, 10**3), Fraction(1, 10**40)):
        # of three Laplace losses, all the largest with probability 1/8
        assert float(found(composition, delta).lower) == pytest.approx(3 + math.log1p(-8 * float(delta)), rel=1e-12)
    large = found(composition, Fraction(1, 2))
    assert (large.lower, large.upper) == (0, 3)
    for unknown in (
        one(GaussianLoss(mu_squared=Fraction(1))),
        one(response(Fraction(1, 10**6)), 10**18),
        one(GluedLoss(base=GaussianLoss(mu_squared=Fraction(1)), rate=RATE)),
    ):
        assert near_the_top(unknown, Fraction(1, 2), Fraction(1, 2), "here") is None
    glued = found(one(GluedLoss(base=LaplaceLoss(epsilon=Fraction(1)), rate=RATE), 2), Fraction(1, 10**6))
    sampled = found(one(SampledLaplaceLoss(epsilon=Fraction(1), rate=RATE, direction="remove"), 2), Fraction(1, 10**6))
    assert glued.lower == pytest.approx(sampled.lower)
    assert glued.upper == pytest.approx(sampled.upper)


def test_losses_too_near_to_tell_apart() -> None:
    """Which of the two is the largest is not known, so neither is how likely it is."""
    near = Fraction(1, 2**80)
    weights = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 4), Fraction(1, 8) * (1 + near))]
    weights.append((Fraction(1, 4), Fraction(1) - sum((q for _, q in weights), Fraction(0))))
    law = FiniteLoss(epsilon=Fraction(0), outcomes=tuple(((p, Fraction(0)), (q, Fraction(0))) for p, q in weights))
    assert near_the_top(one(law), Fraction(1, 100), Fraction(1, 100), "here") is None
