"""What is left out of a sum, and allowed for."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import cast

import mpmath
import numpy as np
import pytest

from privately.accounting.lattice import blurring, laying
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.composing import Sum
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.laying import Far, FarPart, Laid, lay, lay_chords
from privately.accounting.lattice.planning import Contour, View
from privately.accounting.lattice.smooth import NOTHING, Masses
from privately.accounting.losses import (
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    response,
)
from privately.rounding import Enclosure
from tests.accounting.lattice.exact import Outcomes, enumerated_profile, number

HALF = Fraction(1, 2)


def three(top: float) -> Outcomes:
    """Losses ln 4, 0 and -ln 2, roughly the first rarely."""
    p = Fraction(top)
    return [(p, p / 4), (1 - 2 * p, 1 - 2 * p), (p, 1 - p / 4 - (1 - 2 * p))]


def test_far_losses_are_added_exactly() -> None:
    """All combinations with a far loss, one by one, against the formula."""
    outcomes = three(0.05)
    times, epsilon = 3, Fraction(1, 10)
    p, q = outcomes[0]
    far = Far((FarPart(Enclosure.of(p), Enclosure.of(q), times, Fraction(100)),))
    with mpmath.workdps(30):
        whole = enumerated_profile([(outcomes, times)], epsilon)
        near = enumerated_profile([(outcomes[1:], times)], epsilon)
        reaches = math.log(4) + 2 * math.log(outcomes[2][0] / outcomes[2][1])
        found = far.at(epsilon)
        if float(epsilon) <= reaches:
            assert abs(whole - near - number(Fraction(found.lower))) < 1e-25
        else:
            assert whole - near >= number(Fraction(found.lower)) - 1e-25
    assert far.at(Fraction(101)).lower == 0
    assert number(Fraction(far.at(Fraction(101)).upper)) == pytest.approx(1 - float(1 - p) ** times)


def test_a_far_loss_is_enough() -> None:
    """Losses ln 8 against at most two of -ln 2: the sum stays above epsilon = ln 2, and the formula is exact."""
    outcomes = [(Fraction(8, 100), Fraction(1, 100)), (Fraction(92, 100), Fraction(99, 100))]
    lowest = math.log(92 / 99)
    epsilon = Fraction(1, 2)
    assert math.log(8) + 2 * lowest > epsilon
    far = Far((FarPart(Enclosure.of(outcomes[0][0]), Enclosure.of(outcomes[0][1]), 3, Fraction(1)),))
    with mpmath.workdps(30):
        whole = enumerated_profile([(outcomes, 3)], epsilon) - enumerated_profile([(outcomes[1:], 3)], epsilon)
        assert abs(whole - number(Fraction(far.at(epsilon).upper))) < 1e-25


@pytest.mark.parametrize("swapped", [False, True])
def test_what_is_enough_for_one_law_is_not_for_another(swapped: bool) -> None:
    """Far losses ln 8 twice, enough at epsilon = 1, beside ln 1.5 once, which is not: known but for the mass of the
    latter, which a formula that takes all of them for enough, or none, does not give.
    """
    large = [(Fraction(8, 100), Fraction(1, 100)), (Fraction(92, 100), Fraction(99, 100))]
    small = [(Fraction(3, 1000), Fraction(2, 1000)), (Fraction(997, 1000), Fraction(998, 1000))]
    epsilon = Fraction(1)
    parts = [
        FarPart(Enclosure.of(large[0][0]), Enclosure.of(large[0][1]), 2, Fraction(3, 2)),
        FarPart(Enclosure.of(small[0][0]), Enclosure.of(small[0][1]), 1, Fraction(1, 4)),
    ]
    far = Far(tuple(parts[::-1] if swapped else parts))
    with mpmath.workdps(30):
        whole = enumerated_profile([(large, 2), (small, 1)], epsilon)
        left = enumerated_profile([(large[1:], 2), (small[1:], 1)], epsilon)
        found = far.at(epsilon)
        low, high = number(Fraction(found.lower)), number(Fraction(found.upper))
        assert low - 1e-25 <= whole - left <= high + 1e-25
        assert abs(high - low - number(small[0][0])) < 1e-25
        all_enough = Far(tuple(replace(part, enough=Fraction(2)) for part in parts)).at(epsilon)
        assert number(Fraction(all_enough.upper)) < whole - left
    assert far.rough(0.2) == pytest.approx(float(far.at(Fraction(1, 5)).lower))
    assert far.rough(1.0) == float(far.at(epsilon).lower)
    assert far.rough(1.4999) == pytest.approx(far.rough(1.5001), rel=0.1)
    assert far.doubtful(epsilon) == pytest.approx(small[0][0])
    assert far.doubtful(Fraction(1, 5)) == 0
    assert Far(tuple(replace(part, enough=None) for part in parts)).at(epsilon).lower == 0


def test_far_losses_of_laws_that_leave_out_some_of_the_other() -> None:
    """Q has only 0.91 of these outcomes, three times: its far masses are parts of that."""
    outcomes = [(Fraction(8, 100), Fraction(1, 100)), (Fraction(92, 100), Fraction(90, 100))]
    losses, none = np.array([math.log(8), math.log(92 / 90)]), np.zeros(2)
    view = View(None, Atoms(losses, none, np.array([0.08, 0.92]), none), 3, 0.02, highest=1.0)
    far = laying._far([(view, (Masses(0.08, 0.0, 0.01, 0.0), NOTHING), 2.07)])
    epsilon = HALF
    with mpmath.workdps(30):
        whole = enumerated_profile([(outcomes, 3)], epsilon) - enumerated_profile([(outcomes[1:], 3)], epsilon)
    found = far.at(epsilon)
    assert Fraction(found.lower) <= whole <= Fraction(found.upper)
    assert float(found.upper) == pytest.approx(float(found.lower), rel=1e-12)


def test_up_to_which_epsilon_a_far_loss_is_enough() -> None:
    """All others may be as low as they get."""
    none = np.zeros(1)
    one, other = (View(None, Atoms(none, none, none + 1, none), times, low) for times, low in ((3, -0.25), (2, -0.5)))
    masses = Masses(0.1, 0.0, 0.05, 0.0), NOTHING
    first, second = laying._far([(one, masses, 2.0), (other, masses, 3.0)]).parts
    assert (first.enough, second.enough) == (2 - 2 * Fraction(1, 4) - 1, 3 - 3 * Fraction(1, 4) - HALF)


def test_below_all_far_losses() -> None:
    """Those of a density above a cut, and atoms wherever they are."""
    view = View.of(LaplaceLoss(epsilon=Fraction(1)), 1)
    masses = Masses(0.1, 0.0, 0.05, 0.0)
    assert laying._least(replace(view, highest=-2.0), 0.5, masses) <= -1
    assert laying._least(replace(view, highest=0.0), 0.5, masses) <= 0.5
    assert laying._least(replace(view, highest=0.0), math.inf, masses) <= 1
    assert laying._least(view, math.inf, NOTHING) == math.inf


class Asked:
    """A sum that remembers where it was asked."""

    def __init__(self) -> None:
        self.places: list[tuple[Fraction, bool]] = []

    def share(self, epsilon: Fraction, *, up: bool) -> Fraction:
        self.places.append((epsilon, up))
        return Fraction(0)

    def above(self, *_: object) -> Enclosure:
        return Enclosure.of(Fraction(1, 8))

    below = above


def test_what_is_allowed_for_at_both_ends() -> None:
    """Losses that may be off to either side, and masses that were dropped, which may all be above epsilon."""
    asked = Asked()
    found = Laid(cast("Sum", asked), Fraction(1), Fraction(1, 64), Fraction(1, 100), Far())
    assert found.upper(Fraction(3)) >= Fraction(1, 8) + Fraction(1, 100)
    assert found.lower(Fraction(3)) <= Fraction(1, 8)
    assert asked.places == [(2 - Fraction(1, 64), False), (2 + Fraction(1, 64), True)]


def test_every_step_may_be_off_and_drop_something() -> None:
    off, outside, times = 1e-12, 1e-5, 7
    atoms = Atoms(np.array([1.0, -1.0]), np.full(2, off), np.array([0.7, 0.3]), np.zeros(2), outside)
    view, frame = View(None, atoms, times, -2.0), Frame(2.0**-6, 1024, 1.5)
    chosen = Contour(tilt=1.5, period=16.0, height=3.0, deviation=1.0, log_share=-3.0)
    for found in (laying._lay([(view, 0.0)], frame, 3.0, "upper"), laying._blurred([view], frame, chosen)):
        assert found.dropped == times * Fraction(outside)
        assert found.slack >= times * Fraction(off)


def test_chords_carry_no_more_than_what_is_left_of_the_law() -> None:
    """What is cut off is no part of what comes from the left."""
    view = replace(View.of(GaussianLoss(mu_squared=Fraction(1)), 3), cut=2.0)
    found = lay_chords(view, Contour(tilt=3.0, period=16.0, height=6.0, deviation=1.0, log_share=-3.0), 2**12)
    kept = 1 - math.erfc(1.5 / math.sqrt(2)) / 2
    assert float(found.carried) == pytest.approx(kept**3, rel=2e-3)
    assert float(found.carried) < (1 - float(found.far.parts[0].first.lower)) ** 3 * (1 + 1e-12)


def laid(law: Loss, times: int, epsilon: float, **cut: float) -> tuple[laying.Laid, laying.Laid]:
    view = View.of(law, times)
    view = View(view.dense, view.atoms, times, view.lowest, **cut)
    return lay([view], Contour(tilt=6.0, period=8.0, height=12.0, deviation=0.1, log_share=-3.0), 2**15)


SAMPLED = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 20), direction="remove")


def twice(epsilon: float) -> float:
    """The profile of two sampled Gaussian steps, by an integral over the first."""
    y = np.linspace(-12.0, 14.0, 200_001)
    loss = np.log1p(0.05 * np.expm1(y))
    mass = np.exp(-((y + 0.5) ** 2) / 2) / math.sqrt(2 * math.pi) * np.exp(loss)
    rest = epsilon - loss
    inner = np.array([_one(x) for x in rest[::50]])
    return float(np.trapezoid(mass[::50] * inner, y[::50]))


def _one(x: float) -> float:
    """The profile of one step at any x."""
    ratio = 1 + math.expm1(x) / 0.05
    if ratio <= 0:
        return -math.expm1(x)
    y = math.log(ratio)
    above, below = (math.erfc((y + s) / math.sqrt(2)) / 2 for s in (-0.5, 0.5))
    return 0.05 * (above - math.exp(y) * below)


@pytest.mark.parametrize("cut", [4.4, 5.5, 7.5])
def test_wherever_the_cut_is_both_ends_hold(cut: float) -> None:
    """Near the answer, above it, and so far that hardly anything is left out."""
    lower, upper = laid(SAMPLED, 2, 1.0, cut=cut)
    assert lower is upper
    exact = twice(1.0)
    found = lower.lower(Fraction(1)), upper.upper(Fraction(1))
    assert found[0] <= exact * (1 + 1e-7)
    assert exact * (1 - 1e-7) <= found[1]
    rough, off = upper.rough(1.0)
    assert rough == pytest.approx(math.log(exact), abs=1e-3)
    if cut < 7:
        assert found[1] - found[0] < 1e-3 * exact
        assert off < 1e-3


def test_a_forgotten_tail_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "_far", lambda gone: Far())
    _, upper = laid(SAMPLED, 2, 1.0, cut=4.4)
    assert upper.upper(Fraction(1)) < 0.99 * twice(1.0)


def test_a_cut_below_what_is_enough_leaves_room() -> None:
    """Where one cut-off loss is not enough, between nothing and all of its mass is added."""
    _, upper = laid(SAMPLED, 2, 1.0, cut=2.0)
    assert upper.far.parts[0].enough is not None
    assert upper.far.parts[0].enough < 1
    exact = twice(1.0)
    assert upper.lower(Fraction(1)) <= exact <= upper.upper(Fraction(1))
    assert upper.upper(Fraction(1)) - upper.lower(Fraction(1)) > 0.1 * exact


def test_atoms_may_be_far_too() -> None:
    law = response(Fraction(2))
    lower, upper = laid(law, 1, 0.5, highest=0.0)
    exact = 1 / (1 + math.exp(-2)) * (1 - math.exp(0.5 - 2))
    assert float(lower.lower(HALF)) <= exact <= float(upper.upper(HALF))
    assert float(upper.upper(HALF) - lower.lower(HALF)) < 1e-9


def few(times: int) -> tuple[View, list[tuple[float, float]]]:
    """Three losses that have nothing to do with one another."""
    weights = [(Fraction(3, 10), Fraction(1, 10)), (Fraction(1, 2), Fraction(7, 10)), (Fraction(1, 5), Fraction(1, 5))]
    weights[2] = (Fraction(1, 5), 1 - weights[0][1] - weights[1][1] - Fraction(1, 50))
    law = FiniteLoss(epsilon=Fraction(0), outcomes=tuple(((p, Fraction(0)), (q, Fraction(0))) for p, q in weights))
    return View.of(law, times), [(float(p), math.log(p / q)) for p, q in weights]


def trinomial(atoms: list[tuple[float, float]], times: int, epsilon: float) -> float:
    (p, first), (q, second), (r, third) = atoms
    total = []
    for i in range(times + 1):
        for j in range(times + 1 - i):
            loss = i * first + j * second + (times - i - j) * third
            if loss > epsilon:
                ways = math.comb(times, i) * math.comb(times - i, j)
                total.append(ways * p**i * q**j * r ** (times - i - j) * -math.expm1(epsilon - loss))
    return math.fsum(total)


BLUR = Contour(tilt=0.5, period=64.0, height=2.0, deviation=0.1, log_share=-5.0)


@pytest.mark.parametrize("epsilon", [8, 14, 20])
def test_blurred_sums(epsilon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends hold; where the change is forgotten on the lower side, or taken off the upper one, they do not."""
    view, atoms = few(40)
    blurred = laying._blurred([view], Frame(2.0**-8, 2**14, 0.5), BLUR)
    sums = [i * atoms[0][1] + j * atoms[1][1] + (40 - i - j) * atoms[2][1] for i in range(41) for j in range(41 - i)]
    place = Fraction(min(sums, key=lambda one: abs(one - epsilon)))
    exact = trinomial(atoms, 40, float(place))
    lower, upper = float(blurred.lower(place)), float(blurred.upper(place))
    assert lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= upper
    assert upper - lower < 1e-2 * exact
    assert blurred.lowered(float(place)) == pytest.approx(1 - lower / upper, rel=0.01)
    monkeypatch.setattr(Sum, "change", lambda self, share: 0.0)
    assert float(blurred.lower(place)) > exact


def test_atoms_at_epsilon_need_all_of_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it would do beside atoms."""
    view, atoms = few(2)
    blurred = laying._blurred([view], Frame(2.0**-8, 2**14, 0.5), BLUR)
    place = Fraction(2 * atoms[0][1]) - Fraction(1, 10**7)
    exact = trinomial(atoms, 2, float(place))
    assert float(blurred.lower(place)) <= exact <= float(blurred.upper(place))
    honest = Sum.change
    monkeypatch.setattr(Sum, "change", lambda self, share: honest(self, share) / 2)
    assert float(blurred.lower(place)) > exact


def test_a_density_beside_atoms_may_be_blurred() -> None:
    """Two Laplace steps beside three atoms twenty times: what is computed without a lattice meets what is on one."""
    views = [View.of(LaplaceLoss(epsilon=Fraction(1)), 2), few(20)[0]]
    blurred = laying._blurred(views, Frame(2.0**-10, 2**16, 0.5), BLUR)
    lower, upper = lay(views, BLUR, 2**16, may_blur=False)
    assert lower.blur == upper.blur == 0
    for place in (Fraction(3), Fraction(9)):
        assert blurred.lower(place) <= upper.upper(place)
        assert lower.lower(place) <= blurred.upper(place)
        assert blurred.upper(place) - blurred.lower(place) < Fraction(1, 10**4) * blurred.upper(place)


def test_blurs_are_for_atoms_off_the_lattice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless that is not wanted, or there are too many of them; what lies on the lattice needs none."""
    lower, upper = lay([few(3)[0]], BLUR, 2**12)
    assert lower is upper
    assert upper.blur > 0
    lower, upper = lay([few(3)[0]], BLUR, 2**12, may_blur=False)
    assert lower is not upper
    assert upper.blur == lower.blur == 0
    with monkeypatch.context() as patch:
        patch.setattr(blurring, "_MOST", 2)
        lower, upper = lay([few(3)[0]], BLUR, 2**12)
    assert upper.blur == lower.blur == 0
    lower, upper = lay([View.of(response(Fraction(1)), 10**6)], BLUR, 2**12)
    assert lower is upper
    assert upper.blur == 0


def test_cuts_lie_between_lattice_points() -> None:
    dense = View.of(SAMPLED, 1).dense
    assert dense is not None
    frame = Frame(1e-3, 64, 5.0)
    cut, masses = laying._cut(dense, 4.0, frame, 0.0)
    place = dense.loss(cut) / frame.step
    assert abs(place - math.floor(place) - 0.5) < 1e-6
    assert masses.first > 0
    assert laying._cut(dense, math.inf, frame, 0.0) == (math.inf, NOTHING)


def test_cuts_are_never_below_zero() -> None:
    """What lies above a cut is known for y > 0 only; the first cell above 0 is the lowest."""
    dense = View.of(SAMPLED, 1).dense
    assert dense is not None
    for offset in (0.0, 4e-4, 9e-4):
        cut, masses = laying._cut(dense, 1e-9, Frame(1e-3, 64, 5.0), offset)
        assert cut > 0
        assert masses.first == pytest.approx(dense.above(cut).first)


def test_far_losses_begin_below_themselves() -> None:
    view = View.of(SAMPLED, 1)
    assert view.dense is not None
    least = laying._least(view, 4.0, NOTHING)
    with mpmath.workdps(40):
        exact = mpmath.log1p(mpmath.expm1(4) / 20)
        assert exact * (1 - mpmath.mpf(10) ** -14) <= least <= exact


@pytest.mark.parametrize("exponent", [-(10**9), 10**9])
def test_bounds_with_a_billion_digits_are_never_written_out(exponent: int) -> None:
    """As fractions they would take all memory there is."""

    class Extreme:
        def share(self, _epsilon: Fraction, *, up: bool) -> Fraction:
            return Fraction(int(up))

        def above(self, _share: Fraction, _carried: Fraction) -> Enclosure:
            return Enclosure.of(exponent).exp()

        def below(self, _share: Fraction) -> Enclosure:
            return Enclosure.of(exponent).exp() * (1 if exponent < 0 else -1)

    laid = Laid(cast(Sum, Extreme()), Fraction(0), Fraction(0), Fraction(0), Far())
    assert laid.lower(Fraction(1)) == 0
    assert laid.upper(Fraction(1)) == 1 if exponent > 0 else 0 < laid.upper(Fraction(1)) < Fraction(1, 10**900)
