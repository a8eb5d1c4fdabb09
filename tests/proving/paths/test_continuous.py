"""Trees of continuous noise."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx
from mpmath import erfc, exp, mp, mpf, quad, sqrt

from privately.proving.paths import continuous
from privately.proving.paths.affine import Constraint, symbol_form
from privately.proving.paths.continuous import probability
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled, parts

Z = [symbol_form(number) for number in range(4)]


def laplace(scale: float) -> Callable[[float], float]:
    return lambda s: exp(-abs(s) / scale) / (2 * scale)


def above(scale: float) -> Callable[[float], float]:
    return lambda s: exp(-s / scale) / 2 if s > 0 else 1 - exp(s / scale) / 2


def measured(constraints: list[Constraint], noises: list[Noise]) -> float:
    with ctx.workprec(90):
        whole = arb(1)
        for part in parts(constraints, noises):
            whole *= probability(part)
        assert whole.rel_accuracy_bits() > 50
        return float(whole.mid())


def noises(law: str, *scales: int) -> list[Noise]:
    return [Noise(law, Fraction(scale)) for scale in scales]


def test_trees_agree_with_quadrature_by_another_library() -> None:
    mp.dps = 25
    star = [Constraint(Z[1] - Z[0] + 1, ">"), Constraint(Z[0] - Z[2] - 2, ">"), Constraint(4 - Z[0], ">")]
    wanted = quad(lambda s: laplace(2)(s) * above(3)(s - 1) * (1 - above(1)(s - 2)), [-60, 0, 1, 2, 4])
    assert measured(star, noises("laplace", 2, 3, 1)) == pytest.approx(float(wanted), rel=1e-12)

    chain = [Constraint(Z[1] - Z[0], ">"), Constraint(Z[2] - Z[1] - 1, ">")]
    inner = quad(lambda s: laplace(2)(s) * (1 - above(1)(s)) * above(3)(s + 1), [-60, -1, 0, 60])
    assert measured(chain, noises("laplace", 1, 2, 3)) == pytest.approx(float(inner), rel=1e-12)

    window = [Constraint(2 * Z[0] + Z[1] - 1, ">"), Constraint(3 - 2 * Z[0] - Z[1], ">")]
    wanted = quad(
        lambda s: exp(-s) * (exp(-max(1 - 2 * s, 0)) - exp(-max(3 - 2 * s, 0))), [0, mpf(1) / 2, mpf(3) / 2, 60]
    )
    assert measured(window, noises("exponential", 1, 1)) == pytest.approx(float(wanted), rel=1e-12)


def test_normal_noise_at_the_root_and_at_leaves() -> None:
    mp.dps = 25
    star = [Constraint(Z[1] - Z[0], ">"), Constraint(Z[0] - Z[2] + 1, ">"), Constraint(Z[0] + 2, ">")]
    wanted = quad(
        lambda s: exp(-s * s / 8) / sqrt(8 * mp.pi) * erfc(s / sqrt(2)) / 2 * (1 - above(3)(s + 1)), [-2, -1, 0, 3, 30]
    )
    mixed = [Noise("gaussian", Fraction(2)), Noise("gaussian", Fraction(1)), Noise("laplace", Fraction(3))]
    assert measured(star, mixed) == pytest.approx(float(wanted), rel=1e-12)
    around = [Constraint(Z[0] - Z[1], ">"), Constraint(Z[1] - Z[0] + 1, ">")]
    wanted = quad(lambda s: laplace(1)(s) * (erfc(s / sqrt(2)) - erfc((s + 1) / sqrt(2))) / 2, [-60, 0, 60])
    assert measured(around, [Noise("gaussian", Fraction(1)), Noise("laplace", Fraction(1))]) == pytest.approx(
        float(wanted), rel=1e-12
    )
    rooted = [Constraint(Z[0] - Z[1], ">"), Constraint(Z[0] - Z[2], ">"), Constraint(Z[3] - Z[0], ">")]
    wanted = quad(lambda s: laplace(1)(s) * (erfc(-s / sqrt(2)) / 2) ** 2 * above(2)(s), [-60, 0, 60])
    law = [Noise("laplace", Fraction(1)), *noises("gaussian", 1, 1), Noise("laplace", Fraction(2))]
    assert measured(rooted, law) == pytest.approx(float(wanted), rel=1e-12)


def test_normal_noise_alone_has_its_tails() -> None:
    mp.dps = 40
    bounds = [Constraint(Z[0] - 40, ">"), Constraint(41 - Z[0], ">")]
    wanted = (erfc(40 / sqrt(2)) - erfc(41 / sqrt(2))) / 2
    for side in (bounds, [Constraint(-Z[0] - 40, ">"), Constraint(41 + Z[0], ">")]):
        with ctx.workprec(400):
            found = probability(parts(side, noises("gaussian", 1))[0])
            assert found.rel_accuracy_bits() > 300
            assert float((found / arb(str(wanted))).mid()) == pytest.approx(1, rel=1e-12)
    with ctx.workprec(60):
        (part,) = parts([Constraint(3 - Z[0], ">")], noises("gaussian", 3))
        assert probability(part).overlaps(1 - (arb(1) / arb(2).sqrt()).erfc() / 2)
        (part,) = parts([Constraint(Z[0] + 3, ">")], noises("gaussian", 3))
        assert probability(part).overlaps(1 - (arb(1) / arb(2).sqrt()).erfc() / 2)


def test_what_a_quadrature_cuts_off_is_inside_the_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    constraints = [Constraint(Z[1] - Z[0] + 1, ">"), Constraint(Z[0] - Z[2] + 1, ">")]
    law = [*noises("gaussian", 1), *noises("laplace", 1, 1)]
    with ctx.workprec(60):
        fine = probability(parts(constraints, law)[0])
        monkeypatch.setattr(continuous, "_above", lambda _: Fraction(1))
        coarse = probability(parts(constraints, law)[0])
    assert coarse.contains(fine.mid())
    assert coarse.rad() > 0.05


def test_chains_of_normal_noise_are_refused() -> None:
    chain = [Constraint(Z[number + 1] - Z[number], ">") for number in range(3)]
    with pytest.raises(Entangled):
        measured(chain, noises("gaussian", 1, 1, 1, 1))


def test_an_empty_range_has_no_mass() -> None:
    far = [Constraint(Z[0] - 10**6, ">"), Constraint(Z[1] - Z[0], ">")]
    with ctx.workprec(60):
        assert probability(parts(far, noises("gaussian", 1, 1))[0]) < 1e-15
