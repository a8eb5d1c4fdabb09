"""Finite laws against their definition, outcome by outcome."""

from fractions import Fraction

import mpmath
import pytest

from privately.certificates.checker.accounting.finite import infinite_mass, largest_loss, points, unlisted
from privately.certificates.checker.accounting.terms import Law
from privately.certificates.checker.rationals import ZERO
from privately.certificates.checker.schema import Invalid
from tests.certificates.checker.accounting.knowns import enclosing, high, law
from tests.certificates.checker.accounting.test_profiles import true_profile
from tests.certificates.checker.building import Number, mpf, rational

Pair = list[tuple[mpmath.mpf, mpmath.mpf]]
both = pytest.mark.parametrize("removes", [True, False])


def base(epsilon: Number, categories: int, delta: Number) -> Pair:
    """All outcomes of a response, those of infinite loss included."""
    t, d = mpmath.exp(mpf(epsilon)), mpf(delta)
    unit = (1 - d) / (t + categories - 1)
    return [
        (d, mpmath.mpf(0)),
        (unit * t, unit),
        *[(unit, unit)] * (categories - 2),
        (unit, unit * t),
        (mpmath.mpf(0), d),
    ]


def mixed(pair: Pair, rate: Number, *, removes: bool) -> Pair:
    q = mpf(rate)
    if removes:
        return [((1 - q) * b + q * a, b) for a, b in pair]
    return [(a, (1 - q) * a + q * b) for a, b in pair]


def moment(pair: Pair, c: mpmath.mpf) -> mpmath.mpf:
    return mpmath.fsum(a * (a / b) ** c for a, b in pair if a > 0 and b > 0)


def revealed(pair: Pair) -> mpmath.mpf:
    return mpmath.fsum(a for a, b in pair if b == 0)


def total(found: Law, c: Number, *, removes: bool) -> mpmath.mpf:
    weights = points(found, rational(c), removes=removes).weights
    assert all(weight.high - weight.low <= weight.high >> 150 for weight in weights)
    return mpmath.fsum(mpmath.ldexp(weight.low, weight.exponent) for weight in weights)


PARAMETERS: list[tuple[Number, int, Number]] = [(1, 2, 0), ("1/10", 5, 0), (3, 2, "1/7"), (0, 2, "1/7"), (0, 2, 1)]


@pytest.mark.parametrize("numbers", PARAMETERS)
@both
@pytest.mark.parametrize("c", ["1/2", 3])
def test_moments_and_infinite_masses(numbers: tuple[Number, int, Number], removes: bool, c: Number) -> None:
    for name, pair in [
        ("response", base(*numbers)),
        ("sampled response", mixed(base(*numbers), "1/10", removes=removes)),
    ]:
        found = law(name, *numbers) if name == "response" else law(name, *numbers, "1/10")
        assert mpmath.almosteq(mpf(infinite_mass(found, removes=removes)), revealed(pair), mpmath.mpf(10) ** -60)
        assert abs(total(found, c, removes=removes) - moment(pair, mpf(c))) < mpmath.mpf(10) ** -60


@pytest.mark.parametrize("numbers", PARAMETERS[:4])
@pytest.mark.parametrize("level", ["0", "1/20", "-1/20", "1/4"])
def test_glued_profiles(numbers: tuple[Number, int, Number], level: str) -> None:
    """Above 0 the profile is that of a removed row, below 0 that of an added one."""
    found = law("glued response", *numbers, "1/10")
    ratio = mpmath.exp(mpf(level))
    pair = mixed(base(*numbers), "1/10", removes=Fraction(level) >= 0)
    expected = mpmath.fsum(max(a - ratio * b, 0) for a, b in pair)
    shown = points(found, ZERO, removes=True)
    excess = mpf(infinite_mass(found, removes=True))
    for weight, loss in zip(shown.weights, shown.losses, strict=True):
        excess += mpmath.ldexp(weight.low, weight.exponent) * max(1 - ratio * mpmath.exp(-high(loss)), 0)
    assert abs(excess - expected) < mpmath.mpf(10) ** -50


@both
@pytest.mark.parametrize("numbers", PARAMETERS[:4])
def test_largest_losses(numbers: tuple[Number, int, Number], removes: bool) -> None:
    assert high(largest_loss(law("laplace", 2), removes=removes)) == 2
    assert high(largest_loss(law("range", 2), removes=removes)) == 2
    assert high(largest_loss(law("response", 2, 5, "1/9"), removes=removes)) == 2
    found = high(largest_loss(law("sampled response", *numbers, "1/10"), removes=removes))
    true = max(mpmath.log(a / b) for a, b in mixed(base(*numbers), "1/10", removes=removes) if b > 0 < a)
    assert true <= found + mpmath.mpf(10) ** -60
    assert found <= true + mpmath.mpf(10) ** -60
    glued = high(largest_loss(law("glued response", *numbers, "1/10"), removes=removes))
    assert abs(glued - mpmath.log(1 + mpmath.expm1(mpf(numbers[0])) / 10)) < mpmath.mpf(10) ** -60


FAILING, SURER = law("response", 1, 2, "1/9"), law("response", 2, 2, "1/4")
SELDOM = law("sampled response", 1, 2, "1/9", "1/2")


@pytest.mark.parametrize(
    ("found", "removed", "added"),
    [
        (law("glued response", 1, 2, "1/9", "1/3"), "1/27", "1/27"),
        (SELDOM, "1/18", "0"),
        (law("normal", 1), "0", "0"),
        (enclosing("worst", [{FAILING: 1}, {SURER: 2}, {law("laplace", 1): 1}]), "1/2", "1/2"),
        (enclosing("worst", [{FAILING: 1}, {SELDOM: 5}]), "5/18", "1/9"),
        (enclosing("sampled mix", [{FAILING: 2}], "1/3"), "2/27", "2/9"),
        (enclosing("sampled mix", [{SELDOM: 2}], "1/3"), "1/27", "0"),
        (enclosing("sampled mix", [{SURER: 9}], "1/3"), "1/3", "1"),
        (enclosing("glued mix", [{FAILING: 2}], "1/3"), "2/27", "2/27"),
        (enclosing("glued mix", [{SELDOM: 2}], "1/3"), "1/27", "1/27"),
        (enclosing("group", [{law("renyi", 2, 1): 1}], 3), "0", "0"),
    ],
    ids=str,
)
def test_infinite_masses_of_several_laws(found: Law, removed: str, added: str) -> None:
    assert infinite_mass(found, removes=True) == rational(removed)
    assert infinite_mass(found, removes=False) == rational(added)


@both
@pytest.mark.parametrize("inside", [FAILING, SELDOM], ids=str)
def test_groups_of_what_may_reveal_everything_are_refused(inside: Law, removes: bool) -> None:
    with pytest.raises(Invalid, match="reveal"):
        infinite_mass(enclosing("group", [{inside: 1}], 3), removes=removes)


@both
@pytest.mark.parametrize("kind", ["", "sampled ", "glued "])
def test_discrete_noise_far_out_is_not_forgotten(kind: str, removes: bool) -> None:
    """What `points` leaves out is some of P, and none of it where it has the largest loss that there is."""
    noise = law(f"{kind}discrete normal", 2, 1, *(["1/3"] if kind else []))
    left = high(unlisted(noise, removes=removes))
    with mpmath.workprec(600):
        true = mpmath.nsum(lambda k: 2 * mpmath.exp(-k * k / 4), [37, 60]) / mpmath.jtheta(3, 0, mpmath.exp(-0.25))
    is_listed = kind == "sampled " and not removes
    assert (left == 0) == is_listed
    assert is_listed or true / 3 <= left < mpmath.mpf(10) ** -138
    assert high(unlisted(law("discrete laplace", 2, 3), removes=removes)) == 0


def grown(loss: int, rate: Number) -> mpmath.mpf:
    """ln(1 - q + q e^loss)."""
    return mpmath.log1p(mpf(rate) * mpmath.expm1(loss))


TWICE = {law("laplace", 1): 2, law("response", 2, 2, 0): 1}
DIRECTED = law("sampled laplace", 2, "1/2")


@pytest.mark.parametrize(
    ("found", "removed", "added"),
    [
        (law("discrete laplace", 2, 6), mpf(3), mpf(3)),
        (enclosing("worst", [{law("laplace", 1): 1}, TWICE]), mpf(4), mpf(4)),
        (enclosing("worst", [TWICE, {law("laplace", 1): 1}]), mpf(4), mpf(4)),
        (enclosing("group", [TWICE], 3), mpf(12), mpf(12)),
        (enclosing("group", [{DIRECTED: 1}], 3), 3 * grown(2, "1/2"), 3 * grown(2, "1/2")),
        (DIRECTED, grown(2, "1/2"), -grown(-2, "1/2")),
        (enclosing("sampled mix", [TWICE], "1/3"), grown(4, "1/3"), -grown(-4, "1/3")),
        (enclosing("sampled mix", [{law("response", 4, 2, "1/9"): 1}], "1/3"), grown(4, "1/3"), -grown(-4, "1/3")),
        (law("sampled response", 4, 2, "1/9", "1/3"), grown(4, "1/3"), mpmath.log(mpf("3/2"))),
        (enclosing("glued mix", [TWICE], "1/3"), grown(4, "1/3"), grown(4, "1/3")),
        (law("sampled laplace", 5000, "1/3"), 5000 - mpmath.log(3), mpmath.log(mpf("3/2"))),
    ],
    ids=lambda value: str(value)[:40],
)
def test_largest_losses_of_several_laws(found: Law, removed: mpmath.mpf, added: mpmath.mpf) -> None:
    for removes, true in ((True, removed), (False, added)):
        most = high(largest_loss(found, removes=removes))
        assert abs(most - true) < 1e-11


@both
def test_laplace_noise_on_a_sample_is_below_its_lines(removes: bool) -> None:
    """They have all mass under both laws, a profile that is never below, and moments that are hardly more."""
    laplace = law("sampled laplace", 2, "1/5")
    found = points(laplace, ZERO, removes=removes)
    masses = [mpmath.ldexp(weight.low, weight.exponent) for weight in found.weights]
    losses = [high(loss) for loss in found.losses]
    assert abs(mpmath.fsum(masses) - 1) < mpmath.mpf(10) ** -50
    falls = [mpmath.exp(-loss) for loss in losses]
    assert abs(mpmath.fsum(mass * fall for mass, fall in zip(masses, falls, strict=True)) - 1) < mpmath.mpf(10) ** -50
    for level in ("-1", "-1/5", "-1/30", "0", "1/100", "1/3", "4/5", "2"):
        alpha = mpmath.exp(mpf(level))
        lines = mpmath.fsum(mass * max(1 - alpha * fall, 0) for mass, fall in zip(masses, falls, strict=True))
        true = true_profile(laplace, alpha, removes=removes)
        assert true <= lines + mpmath.mpf(10) ** -50
        assert lines <= true + mpmath.mpf(10) ** -4
    more = mixed(base(2, 2, 0), "1/5", removes=removes)
    assert total_of(laplace, 3, removes=removes) < moment(more, mpf(3))


def total_of(found: Law, c: Number, *, removes: bool) -> mpmath.mpf:
    weights = points(found, rational(c), removes=removes).weights
    return mpmath.fsum(mpmath.ldexp(weight.high, weight.exponent) for weight in weights)


def test_losses_without_a_bound() -> None:
    for one in (law("normal", 1), law("sampled normal", 1, "1/2"), law("concentrated", 1)):
        with pytest.raises(Invalid, match="no bound"):
            largest_loss(one, removes=True)
    assert abs(high(largest_loss(law("sampled normal", 1, "1/2"), removes=False)) - mpmath.log(2)) < 1e-60
