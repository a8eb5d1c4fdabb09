"""The truth lies between both sides: for coarse lattices above all, where the bounds are wide and have to work.

Truths are closed forms, integrals and enumerations in many digits; each planted fault makes one of them fall outside.
"""

from __future__ import annotations

import contextlib
import math
import random
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp, mpf

from privately.accounting.compositions import Composition
from privately.accounting.elementary import Floats
from privately.accounting.lattice import laying, pieces, placing, planning, road
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.composing import Sum, Value
from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.laying import Laid, lay
from privately.accounting.lattice.pieces import Piece
from privately.accounting.lattice.placing import Placed
from privately.accounting.lattice.planning import Outline, View, contour
from privately.accounting.lattice.smooth import Smooth, smooth
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure
from tests.accounting.contour import exact_transforms
from tests.accounting.lattice import exact
from tests.accounting.lattice.exact import number

Profile = Callable[[mpf], mpf]
Case = tuple[Loss, int, Profile]
COUNTS = (64, 256, 4096)


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(40):
        yield


def laid(law: Loss, times: int, epsilon: float, count: int, mass: float = 1e-9) -> tuple[Laid, Laid]:
    """Both sides with so few nodes, and with this mass of the largest losses cut off."""
    views = [View.of(law, times).trimmed(mass, math.inf)]
    outline = Outline.of(views)
    return lay(views, contour(outline, epsilon, outline.log_delta(epsilon), math.log(1e-4)), count)


def within(case: Case, epsilon: float, count: int, mass: float = 1e-9) -> bool | None:
    """Whether the truth is between both sides; None if there is no answer."""
    law, times, truth = case
    try:
        below, above = laid(law, times, epsilon, count, mass)
        lower, upper = below.lower(Fraction(epsilon)), above.upper(Fraction(epsilon))
    except NotApplicable:
        return None
    return bool(number(lower) <= truth(number(epsilon)) <= number(upper))


def normal(mu: float, times: int) -> Case:
    root = number(mu) * mp.sqrt(times)
    return GaussianLoss(mu_squared=Fraction(mu) ** 2), times, lambda e: exact.gaussian(root, e)


def sampled_normal(mu: float, rate: float, direction: str, times: int) -> Case:
    law = SampledGaussianLoss(mu_squared=Fraction(mu) ** 2, rate=Fraction(rate), direction=direction)  # type: ignore[arg-type]
    steps = exact_transforms.sampled_gaussian_profile if times == 1 else exact_transforms.two_steps
    return law, times, lambda e: steps(number(mu), number(rate), direction == "remove", e)


def laplace(size: float, rate: float | None, form: str) -> Case:
    epsilon = Fraction(size)

    def plain(e: mpf) -> mpf:
        return exact.laplace(number(size), e)

    if rate is None:
        return LaplaceLoss(epsilon=epsilon), 1, plain
    q = number(rate)
    if form == "glued":
        return GluedLoss(base=LaplaceLoss(epsilon=epsilon), rate=Fraction(rate)), 1, lambda e: exact.glued(plain, q, e)
    law = SampledLaplaceLoss(epsilon=epsilon, rate=Fraction(rate), direction=form)  # type: ignore[arg-type]
    sides = {"remove": exact.removed, "add": exact.added}
    return law, 1, lambda e: sides[form](plain, q, e)


def glued_normal(mu: float, rate: float) -> Case:
    law = GluedLoss(base=GaussianLoss(mu_squared=Fraction(mu) ** 2), rate=Fraction(rate))
    return law, 1, lambda e: exact.glued(lambda y: exact.gaussian(number(mu), y), number(rate), e)


def finite(law: Loss, pair: exact.Pair, times: int) -> Case:
    """What is too rare to be seen with 40 digits is left out of the enumeration."""
    composed = exact.power([(p, loss) for p, loss in exact.law_of(pair) if p > mpf(10) ** -45], times)
    return law, times, lambda e: exact.finite_profile(composed, e)


def noises(times: int) -> list[Case]:
    """Discrete noise, both directions of sampling, and glued."""
    found: list[Case] = []
    rate = Fraction(1, 7)
    for variance, sensitivity in ((Fraction(2), 1), (Fraction(3, 2), 2)):
        pair = exact.discrete_gaussian(variance, sensitivity)
        base = DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity)
        found.append(finite(base, pair, times))
        found.append(finite(GluedLoss(base=base, rate=rate), exact.fixed_size(pair, rate), times))
        for direction in DIRECTIONS:
            law: Loss = SampledDiscreteGaussianLoss(
                variance=variance, sensitivity=sensitivity, rate=rate, direction=direction
            )
            found.append(finite(law, exact.poisson(pair, rate, removes=direction == "remove"), times))
    for scale, sensitivity in ((Fraction(3, 2), 3), (Fraction(5), 4)):
        pair = exact.discrete_laplace(scale, sensitivity)
        other = DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
        found.append(finite(other, pair, times))
        found.append(finite(GluedLoss(base=other, rate=rate), exact.fixed_size(pair, rate), times))
        for direction in DIRECTIONS:
            law = SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity, rate=rate, direction=direction)
            found.append(finite(law, exact.poisson(pair, rate, removes=direction == "remove"), times))
    return found


def dense() -> list[Case]:
    found = [normal(1.0, 1), normal(0.3, 10), normal(0.01, 1000), normal(4.0, 1)]
    found += [laplace(1.0, None, ""), laplace(0.1, None, ""), laplace(12.0, None, "")]
    for form in ("remove", "add", "glued"):
        found += [laplace(1.0, 0.1, form), laplace(3.0, 0.7, form), laplace(0.2, 0.999, form)]
    for direction in DIRECTIONS:
        found += [sampled_normal(mu, q, direction, 1) for mu, q in ((1.0, 0.01), (2.0, 0.5), (0.3, 0.9), (0.5, 1e-4))]
    return [*found, glued_normal(1.0, 0.1), glued_normal(2.0, 0.6), glued_normal(0.2, 0.01)]


def epsilons(case: Case) -> list[float]:
    """About where the profile is neither nearly 1 nor nearly 0, on the scale of the law."""
    law, times, truth = case
    losses, masses = View.of(law, times).trimmed(1e-9, math.inf).sketch()
    weights = np.exp(masses)
    spread = math.sqrt(float((weights * losses * losses).sum() / weights.sum())) * math.sqrt(times)
    places = [part * spread for part in (0.05, 0.4, 1.0, 2.5, 4.0)]
    return [place for place in places if truth(number(place)) > mpf(10) ** -25]


def check(case: Case, counts: tuple[int, ...] = COUNTS) -> int:
    """How many answers there were; all were right."""
    law, times, truth = case
    answers = 0
    for epsilon in epsilons(case):
        for count in counts:
            found = within((law, times, truth), epsilon, count)
            assert found is not False, (law, times, epsilon, count)
            answers += found is True
    return answers


@pytest.mark.parametrize("case", dense())
def test_densities(case: Case) -> None:
    assert check(case) > 0


@pytest.mark.thinned(2)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.1), pytest.param(2.0, 0.6, marks=pytest.mark.slow)])
def test_two_sampled_steps(mu: float, rate: float, direction: str) -> None:
    law, times, truth = sampled_normal(mu, rate, direction, 2)
    for epsilon in (0.05, 0.1, 0.4):
        value = truth(number(epsilon))
        for count in COUNTS:
            assert within((law, times, lambda _, value=value: value), epsilon, count) is not False  # type: ignore[misc]
    found = road.delta(Composition(parts=((law, 2),)), Fraction(1, 10), Fraction(1, 10**4))
    assert exact.holds(found, truth(mpf(1) / 10))
    assert found.width < Fraction(found.upper) / 5000


@pytest.mark.parametrize("times", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_atoms(times: int) -> None:
    for case in noises(times):
        assert check(case) > 0


def random_law(draw: random.Random) -> tuple[FiniteLoss, exact.Law]:
    """Rational masses, a part of Q perhaps left out, on no lattice."""
    size = draw.randint(2, 5)
    pairs = [(Fraction(draw.randint(1, 50)), Fraction(draw.randint(1, 50))) for _ in range(size)]
    pairs.sort(key=lambda pair: pair[1] / pair[0])
    zero = Fraction(0)
    law = FiniteLoss(epsilon=zero, outcomes=tuple(((p, zero), (q, zero)) for p, q in pairs))
    total = sum(p for p, _ in pairs)
    return law, [(number(p / total), mp.log(number(p / q))) for p, q in pairs]


@pytest.mark.parametrize("seed", range(12))
def test_random_finite_laws(seed: int) -> None:
    """The loss is ln(p/q) even where the masses of Q are not those of a probability law."""
    draw = random.Random(seed)
    law, truth = random_law(draw)
    times = draw.randint(1, 5)
    composed = exact.power(truth, times)
    for epsilon in (0.02, 0.3, 1.0, 2.0):
        for count in COUNTS:
            assert within((law, times, lambda e: exact.finite_profile(composed, e)), epsilon, count) is not False


@pytest.mark.thinned(2)
@pytest.mark.parametrize("cut", [1e-12, 1e-4, 0.03, 0.2])
def test_heavy_cuts(cut: float) -> None:
    """However much is cut off, and wherever a lattice point comes to lie beside the cut."""
    for case in (normal(1.0, 2), sampled_normal(1.0, 0.3, "remove", 1), glued_normal(1.5, 0.3), *noises(2)[:4]):
        law, times, truth = case
        for epsilon in epsilons(case)[:4]:
            for count in (64, 300 // 64 * 64, 1024):
                nodes = 1 << (count - 1).bit_length()
                assert within((law, times, truth), epsilon, nodes, cut) is not False, (law, epsilon, nodes)


MIXED = [
    (normal(0.5, 2), laplace(1.0, None, "")),
    (laplace(1.0, 0.2, "remove"), sampled_normal(1.0, 0.2, "remove", 1)),
    pytest.param(glued_normal(1.0, 0.2), laplace(0.5, 0.2, "glued"), marks=pytest.mark.slow),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("first", "second"), MIXED)
def test_several_laws_together(first: Case, second: Case) -> None:
    """Where only one of them has atoms, or both: the mean over the losses of one of the profile of the other."""
    parts = tuple((law, times) for law, times, _ in (first, second))
    single = _mean(first, second)
    for epsilon in (Fraction(1, 10), Fraction(3, 5)):
        found = road.delta(Composition(parts=parts), epsilon, Fraction(1, 1000))
        truth = single(number(epsilon))
        assert number(found.lower) <= truth <= number(found.upper) * (1 + mpf(10) ** -5)
        assert found.width <= Fraction(found.upper) / 300


def _mean(first: Case, second: Case) -> Profile:
    """D of a product, a little from above: the mean of D_2 over the losses of a law whose profile is chords of D_1."""
    (_, _, one), (_, _, other) = first, second

    def found(epsilon: mpf) -> mpf:
        with mp.workdps(20):
            places = [mpf(k) / 400 for k in range(-3200, 3201)]
            values = [one(place) for place in places]
            masses = _kinks(places, values)
            return sum((m * other(epsilon - place) for place, m in zip(places, masses, strict=True)), mpf(0))

    return found


def _kinks(places: list[mpf], values: list[mpf]) -> list[mpf]:
    """Masses at the places whose profile has these values there: chords, so a little above; off by the step squared."""
    powers = [mp.exp(place) for place in places]
    slopes = [(b - a) / (y - x) for a, b, x, y in zip(values, values[1:], powers, powers[1:], strict=False)]
    inner = [(after - before) * power for (before, after), power in zip(pairwise(slopes), powers[1:-1], strict=True)]
    return [mpf(0), *inner, -slopes[-1] * powers[-1]]


EXTREME = [
    (sampled_normal(1.0, 1e-8, "remove", 1), 1e-9),
    (sampled_normal(3.0, 1 - 2.0**-18, "add", 1), 2.0),
    (sampled_normal(3.0, 1 - 2.0**-18, "remove", 1), 2.0),
    (sampled_normal(0.01, 0.5, "add", 1), 0.001),
    (normal(1e-4, 10**6), 0.1),
    (laplace(200.0, None, ""), 190.0),
    (laplace(100.0, 1e-6, "remove"), 50.0),
    (laplace(100.0, 0.5, "add"), 0.6),
    (laplace(1e-4, 0.5, "glued"), 2e-5),
]


@pytest.mark.parametrize(("case", "epsilon"), EXTREME)
def test_extreme_parameters(case: Case, epsilon: float) -> None:
    law, times, truth = case
    for count in (64, 1024, 1 << 14):
        assert within((law, times, truth), epsilon, count) is not False


@pytest.mark.parametrize("bits", [24, 40, 56, 70])
@pytest.mark.parametrize("form", ["remove", "add", "glued"])
def test_rates_next_to_one_are_refused(bits: int, form: str) -> None:
    """1 - rate would be lost in rounding; a rate that rounds to 1 must not count as no sampling."""
    rate, base = 1 - Fraction(1, 2**bits), GaussianLoss(mu_squared=Fraction(36))
    law = (
        GluedLoss(base=base, rate=rate)
        if form == "glued"
        else SampledGaussianLoss(mu_squared=Fraction(36), rate=rate, direction=form)  # type: ignore[arg-type]
    )
    with pytest.raises(NotApplicable):
        road.delta(Composition(parts=((law, 1),)), Fraction(30), Fraction(1, 1000))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("times", [10**12, 10**18])
@pytest.mark.parametrize(
    "law",
    [
        response(Fraction(1, 10**6)),
        LaplaceLoss(epsilon=Fraction(1, 10**6)),
        SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 10**6), direction="add"),
        SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10**6), direction="remove"),
        DiscreteGaussianLoss(variance=Fraction(10**4), sensitivity=1),
        GluedLoss(base=GaussianLoss(mu_squared=Fraction(1)), rate=Fraction(1, 10**6)),
    ],
)
def test_too_many_steps_are_refused_or_enclosed(law: Loss, times: int) -> None:
    """Nothing but NotApplicable comes out, and no warning."""
    with contextlib.suppress(NotApplicable):
        found = road.epsilon(Composition(parts=((law, times),)), Fraction(1, 10**6), Fraction(1, 1000))
        assert found.lower <= found.upper


def test_many_atoms_at_one_place_are_added_with_their_rounding() -> None:
    many = 100_000
    zeros: Floats = np.zeros(many)
    piece, _, _ = placing.atom_piece(
        Atoms(zeros, zeros, np.full(many, 1 / many), zeros), Frame(0.01, 4096, 1.0), 0.0, "upper"
    )
    assert abs(Fraction(float(piece.values[0].real)) - many * Fraction(1 / many)) <= Fraction(float(piece.errors[0]))


def test_memory_is_bounded() -> None:
    law = SampledDiscreteGaussianLoss(variance=Fraction(10**4), sensitivity=1, rate=Fraction(1, 10), direction="remove")
    tracemalloc.start()
    with contextlib.suppress(NotApplicable):
        road.delta(Composition(parts=((law, 50),)), Fraction(1, 10), Fraction(1, 100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20


def _no_tilt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "exp_of_many", np.ones_like)


def _wrong_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    good = smooth

    def turned(law: Loss) -> Smooth | None:
        found = good(law)
        return found and Smooth(found.base, found.rate, "remove")

    monkeypatch.setattr(planning, "smooth", turned)


def _no_far_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = laying.Far()
    monkeypatch.setattr(laying, "_far", lambda _gone: nothing)


def _no_blur(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "_blurred_or_none", lambda *_: None)


def test_atoms_on_a_lattice_are_sound_without_a_blur(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_blur(monkeypatch)
    case = _rough_response()
    assert all(within(case, place, count, 1e-9) is not False for place in epsilons(case) for count in (64, 128, 1024))


def _losses_down(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_blur(monkeypatch)

    def down(atoms: Atoms, frame: Frame, offset: float) -> Placed:
        return np.floor((atoms.losses - offset) / frame.step), atoms.masses, atoms.mass_errors

    monkeypatch.setattr(placing, "_split", down)


def _losses_up(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_blur(monkeypatch)

    def up(atoms: Atoms, frame: Frame, offset: float, _raised: float) -> Placed:
        return np.ceil((atoms.losses - offset) / frame.step), atoms.masses, atoms.mass_errors

    monkeypatch.setattr(placing, "_joined", up)


def _no_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Sum.at
    monkeypatch.setattr(Sum, "at", lambda self, share: Value(good(self, share).total, 0.0))


def _no_aliases_of_the_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sum, "aliases", lambda _self, _share: Enclosure.of(0))


def _no_lattice_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_lattice_law", lambda *_: (0.0, 0.0, 0.0))


def _forgotten_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sum, "_lattice_sum", lambda _self, _alone, _share: Value(0.0, 0.0))


def _no_discount_above_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_samples", lambda law, epsilon, _top: law.curve(epsilon))


def _rough_response() -> Case:
    _, law = random_law(random.Random(3))
    finite_law, _ = random_law(random.Random(3))
    composed = exact.power(law, 3)
    return finite_law, 3, lambda e: exact.finite_profile(composed, e)


FAULTS: list[tuple[Callable[[pytest.MonkeyPatch], None], Callable[[], Case], float]] = [
    (_no_tilt, lambda: noises(1)[8], 1e-9),
    (_wrong_direction, lambda: sampled_normal(2.0, 0.5, "add", 1), 1e-9),
    (_no_far_losses, lambda: normal(1.0, 2), 0.03),
    (_losses_down, _rough_response, 1e-9),
    (_losses_up, _rough_response, 1e-9),
    (_no_errors, lambda: laplace(3.0, 0.7, "remove"), 1e-9),
    (_no_aliases_of_the_period, lambda: normal(1.0, 1), 1e-9),
    (_no_lattice_law, lambda: glued_normal(2.0, 0.6), 1e-9),
    (_forgotten_references, lambda: laplace(1.0, None, ""), 1e-9),
    (_no_discount_above_the_cut, lambda: sampled_normal(1.0, 0.3, "remove", 1), 0.03),
]


@pytest.mark.parametrize(("plant", "case", "cut"), FAULTS, ids=lambda one: getattr(one, "__name__", ""))
def test_planted_faults_are_seen(
    plant: Callable[[pytest.MonkeyPatch], None],
    case: Callable[[], Case],
    cut: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law, times, truth = case()
    places, nodes = epsilons((law, times, truth)), (64, 128, 256, 1024)
    assert all(within((law, times, truth), place, count, cut) is not False for place in places for count in nodes)
    plant(monkeypatch)
    assert any(within((law, times, truth), place, count, cut) is False for place in places for count in nodes)


def test_piece_is_what_the_tests_mean() -> None:
    """The truths of this file agree among themselves: the transform of a law with a density at 0 is its mass."""
    for form in ("remove", "add", "glued"):
        law = smooth(
            GluedLoss(base=GaussianLoss(mu_squared=Fraction(1)), rate=Fraction(1, 4))
            if form == "glued"
            else SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 4), direction=form)  # type: ignore[arg-type]
        )
        assert law is not None
        mass, error = law.mass()
        with mp.workdps(20):
            whole = exact.transform(law, mp.mpc(0), -math.inf, math.inf)
        assert abs(whole - number(mass)) <= error + mpf(10) ** -15
        frame = Frame(1 / 64, 256, 1.5)
        right = math.inf if form == "add" else 7.0
        found: Piece = pieces.smooth_piece(law, frame, 0.0, right)
        for n in (0, 3, 30):
            z = mp.mpc(1.5, 2 * mp.pi * n / 4)
            with mp.workdps(20):
                truth = exact.transform(law, z, -math.inf, right)
            assert abs(mp.mpc(complex(found.values[n])) - truth) <= found.errors[n]
            assert abs(truth) <= found.bounds[n]
