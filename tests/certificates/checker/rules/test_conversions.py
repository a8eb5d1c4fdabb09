from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.certificates.checker.building import (
    NINE,
    REPLACE,
    Number,
    Plain,
    conclude,
    down,
    mpf,
    refuse,
    renyi,
    statement,
    up,
)

small = st.builds(lambda a, k: a / 10**k, st.fractions(Fraction(1, 100), 1, max_denominator=10**6), st.integers(0, 60))
positive = st.fractions(Fraction(1, 100), 30, max_denominator=10**9)
deltas = st.builds(lambda a, k: a / 10**k, st.fractions(Fraction(1, 10), Fraction(9, 10)), st.integers(0, 300))


def pure(epsilon: Number) -> Plain:
    return statement("PureDP", epsilon=epsilon)


@given(positive | small)
def test_pure_to_zcdp(epsilon: Fraction) -> None:
    bound = mpf(epsilon) * mpmath.tanh(mpf(epsilon) / 2)
    conclude("pure_to_zcdp", [pure(epsilon)], statement("ZCDP", rho=up(bound)))
    conclude("pure_to_zcdp", [pure(epsilon)], statement("ZCDP", rho=epsilon**2 / 2))
    refuse("conclusion.rho", "pure_to_zcdp", [pure(epsilon)], statement("ZCDP", rho=down(bound)))


@given(positive | small)
def test_approx_to_zcdp(epsilon: Fraction) -> None:
    bound = mpf(epsilon) * mpmath.tanh(mpf(epsilon) / 2)
    premise = statement("ApproxDP", epsilon=epsilon, delta="1/100")
    conclude("approx_to_zcdp", [premise], statement("ApproxZCDP", rho=up(bound), delta="1/100"))
    conclude("approx_to_zcdp", [premise], statement("ApproxZCDP", rho=epsilon**2 / 2, delta="1/99"))
    refuse("conclusion.rho", "approx_to_zcdp", [premise], statement("ApproxZCDP", rho=down(bound), delta="1/100"))
    refuse("conclusion.delta", "approx_to_zcdp", [premise], statement("ApproxZCDP", rho=epsilon**2, delta="1/101"))
    refuse("conclusion.kind", "approx_to_zcdp", [premise], statement("ZCDP", rho=epsilon**2))
    refuse("premises[0]", "approx_to_zcdp", [pure(epsilon)], statement("ApproxZCDP", rho=epsilon**2, delta=0))


def test_pure_to_zcdp_without_exponentials() -> None:
    conclude("pure_to_zcdp", [pure(0)], statement("ZCDP", rho=0))
    conclude("pure_to_zcdp", [pure(10**6)], statement("ZCDP", rho=10**6))
    refuse("conclusion.rho", "pure_to_zcdp", [pure(10**6)], statement("ZCDP", rho=10**6 - 1))
    refuse("conclusion.kind", "pure_to_zcdp", [pure(1)], statement("ApproxZCDP", rho=1, delta=0))
    refuse("premises[0]", "pure_to_zcdp", [statement("ApproxDP", epsilon=1, delta=0)], statement("ZCDP", rho=1))
    refuse("conclusion.neighbors", "pure_to_zcdp", [pure(1)], statement("ZCDP", REPLACE, rho=1))


@given(positive | small)
def test_pure_to_gaussian(epsilon: Fraction) -> None:
    with mpmath.workprec(400):
        share = mpmath.tanh(mpf(epsilon) / 2)
        bound = 2 * mpmath.sqrt(2) * mpmath.erfinv(share)
    conclude("pure_to_gaussian", [pure(epsilon)], statement("GaussianDP", mu=up(bound)))
    refuse("conclusion.mu", "pure_to_gaussian", [pure(epsilon)], statement("GaussianDP", mu=down(bound)))


def test_pure_to_gaussian_at_the_ends() -> None:
    conclude("pure_to_gaussian", [pure(0)], statement("GaussianDP", mu=0))
    refuse("conclusion.mu", "pure_to_gaussian", [pure("1e-300")], statement("GaussianDP", mu=0))
    conclude("pure_to_gaussian", [pure("1e-300")], statement("GaussianDP", mu=5))
    assert "10,000" in refuse("conclusion.mu", "pure_to_gaussian", [pure(10_001)], statement("GaussianDP", mu=3))
    assert "10,000" in refuse("conclusion.mu", "pure_to_gaussian", [pure(10)], statement("GaussianDP", mu=10**6))


def test_zcdp_to_renyi() -> None:
    zcdp = statement("ZCDP", rho="1/7")
    conclude("zcdp_to_renyi", [zcdp], renyi({"3/2": "3/14", 7: 1}))
    refuse("conclusion.bounds[1][1]", "zcdp_to_renyi", [zcdp], renyi({"3/2": "3/14", 7: 1 - Fraction(1, 10**50)}))
    refuse("premises[0]", "zcdp_to_renyi", [statement("ApproxZCDP", rho=1, delta=0)], renyi({2: 9}))


def test_gaussian_to_zcdp() -> None:
    conclude("gaussian_to_zcdp", [statement("GaussianDP", mu="1/3")], statement("ZCDP", rho="1/18"))
    too_small = statement("ZCDP", rho=Fraction(1, 18) - Fraction(1, 10**50))
    refuse("conclusion.rho", "gaussian_to_zcdp", [statement("GaussianDP", mu="1/3")], too_small)
    refuse("premises[0]", "gaussian_to_zcdp", [statement("ZCDP", rho=1)], statement("ZCDP", rho=1))


def profile(mu: Fraction, epsilon: Fraction) -> mpmath.mpf:
    m, e = mpf(mu), mpf(epsilon)
    root = mpmath.sqrt(2)
    return (mpmath.erfc((e / m - m / 2) / root) - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / root)) / 2


def gaussian(mu: Number, epsilon: Number, delta: Number) -> tuple[list[Plain], Plain]:
    return [statement("GaussianDP", mu=mu)], statement("ApproxDP", epsilon=epsilon, delta=delta)


@given(st.fractions(Fraction(1, 1000), 8, max_denominator=10**9), st.fractions(-8, 37, max_denominator=10**9))
def test_gaussian_to_approx(mu: Fraction, distance: Fraction) -> None:
    epsilon = max(Fraction(0), distance * mu + mu * mu / 2)
    bound = profile(mu, epsilon)
    conclude("gaussian_to_approx", *gaussian(mu, epsilon, up(bound)))
    refuse("conclusion.delta", "gaussian_to_approx", *gaussian(mu, epsilon, down(bound)))
    if epsilon:
        refuse("conclusion.delta", "gaussian_to_approx", *gaussian(mu, epsilon, down(bound, Fraction(1, 10**30))))
        conclude("gaussian_to_approx", *gaussian(mu, epsilon, up(bound, Fraction(1, 10**30))))


@pytest.mark.parametrize(("epsilon", "delta"), [("4.37717809568122", "1e-5"), ("6.54792406686495", "1e-10")])
def test_known_gaussian_values(epsilon: str, delta: str) -> None:
    conclude("gaussian_to_approx", *gaussian(1, Fraction(epsilon) + Fraction(1, 10**13), delta))
    refuse("conclusion.delta", "gaussian_to_approx", *gaussian(1, Fraction(epsilon) - Fraction(1, 10**13), delta))


@pytest.mark.parametrize("power", [30, 300, 1000])
def test_gaussians_that_nearly_cancel(power: int) -> None:
    """At epsilon 0 delta is 2 Phi(mu/2) - 1, here about mu / sqrt(2 pi)."""
    mu = Fraction(1, 10**power)
    with mpmath.workprec(5000):
        bound = mpmath.erf(mpf(mu) / 2 / mpmath.sqrt(2))
    conclude("gaussian_to_approx", *gaussian(mu, 0, up(bound)))
    refuse("conclusion.delta", "gaussian_to_approx", *gaussian(mu, 0, down(bound)))


def test_gaussian_to_approx_at_the_ends() -> None:
    conclude("gaussian_to_approx", *gaussian(0, 0, 0))
    conclude("gaussian_to_approx", *gaussian(10**6, 0, 1))
    refuse("conclusion.delta", "gaussian_to_approx", *gaussian(1, 5, 0))
    refuse("conclusion.delta", "gaussian_to_approx", *gaussian(10**6, 0, 1 - NINE))
    conclude("gaussian_to_approx", *gaussian(1, 10_001, "1/2"))
    assert "10,000" in refuse("conclusion.delta", "gaussian_to_approx", *gaussian(1, 10_001, 0))
    refuse("premises[0]", "gaussian_to_approx", [statement("ZCDP", rho=1)], statement("ApproxDP", epsilon=9, delta=1))


def renyi_epsilon(order: Fraction, divergence: Fraction, delta: Fraction) -> mpmath.mpf:
    a = mpf(order)
    return mpf(divergence) + mpmath.log((a - 1) / a) - (mpmath.log(mpf(delta)) + mpmath.log(a)) / (a - 1)


def zcdp(
    rho: Number, epsilon: Number, delta: Number, order: Number, d0: Number | None = None
) -> tuple[list[Plain], Plain, Plain, Plain]:
    premise = statement("ZCDP", rho=rho) if d0 is None else statement("ApproxZCDP", rho=rho, delta=d0)
    return [premise], statement("ApproxDP", epsilon=epsilon, delta=delta), {}, {"order": str(Fraction(order))}


@given(positive | small, deltas, st.fractions(Fraction(10001, 10000), 1000, max_denominator=10**6), st.booleans())
def test_zcdp_to_approx(rho: Fraction, inner: Fraction, order: Fraction, approximate: bool) -> None:
    bound = renyi_epsilon(order, order * rho, inner)
    assume(bound < 10**8)
    d0 = Fraction(1, 1000) if approximate else None
    delta = d0 + (1 - d0) * inner if d0 else inner
    conclude("zcdp_to_approx", *zcdp(rho, max(Fraction(0), up(bound)), delta, order, d0))
    if bound > 0:
        refuse("conclusion.epsilon", "zcdp_to_approx", *zcdp(rho, down(bound), delta, order, d0))


@pytest.mark.parametrize(
    ("delta", "order", "epsilon", "too_small"),
    [("1e-5", "5.4", "4.728387", "4.7283"), ("1e-6", "5.85", "5.2216", "5.2215")],
)
def test_known_zcdp_values(delta: str, order: str, epsilon: str, too_small: str) -> None:
    """The best order gives 4.728386... and 5.221534...; no order gives less."""
    with mpmath.workprec(80):
        orders = [Fraction(a, 1000) for a in range(4000, 8000)]
        witness = min(orders, key=lambda a: renyi_epsilon(a, a / 2, Fraction(delta)))
    conclude("zcdp_to_approx", *zcdp("1/2", epsilon, delta, witness))
    refuse("conclusion.epsilon", "zcdp_to_approx", *zcdp("1/2", too_small, delta, witness))
    for a in (2, 4, 5, Fraction(order), 6, 8, 20):
        refuse("conclusion.epsilon", "zcdp_to_approx", *zcdp("1/2", too_small, delta, a))


def test_the_seeds_conversion_is_refused() -> None:
    """Seed 003: epsilon = rho + 4 rho ln(1/delta), below the truth for small rho."""
    seed = Fraction("0.4706")
    for order in ("5/4", 2, 10, 20, 31, 40, 100, 1000):
        refuse("conclusion.epsilon", "zcdp_to_approx", *zcdp("0.01", seed, "1e-5", order))


def test_zcdp_to_approx_at_the_ends() -> None:
    conclude("zcdp_to_approx", *zcdp(5, 0, 1, 2))
    conclude("zcdp_to_approx", *zcdp(0, 0, 0, 2))
    conclude("zcdp_to_approx", *zcdp(0, 0, "1/3", 2, "1/3"))
    conclude("zcdp_to_approx", *zcdp(5, 0, 1, 2, 1))
    refuse("conclusion.delta", "zcdp_to_approx", *zcdp(0, 10**9, Fraction(1, 3) - NINE, 2, "1/3"))
    refuse("conclusion.delta", "zcdp_to_approx", *zcdp(1, 10**9, "1/3", 2, "1/3"))
    refuse("conclusion.delta", "zcdp_to_approx", *zcdp(1, 10**9, 0, 2))
    for order in (1, 0, -2, "1/2"):
        refuse("witness.order", "zcdp_to_approx", *zcdp(1, 10**9, "1/2", order))
    premise, claim = [statement("ZCDP", rho=1)], statement("ApproxDP", epsilon=9, delta="1/2")
    refuse("witness", "zcdp_to_approx", premise, claim)
    refuse("witness.order", "zcdp_to_approx", premise, claim, {}, {"order": 2})


BOUNDS: dict[Number, Number] = {2: 1, 4: "3/2", 8: 4}


@pytest.mark.parametrize(
    ("order", "divergence"),
    [
        (2, Fraction(1)),
        (4, Fraction(3, 2)),
        (8, Fraction(4)),
        ("3/2", Fraction(1)),  # K rises from 0 at 1 to 1 at 2
        (3, Fraction(11, 8)),  # K is 1 at 2 and 9/2 at 4
        (5, Fraction(41, 16)),  # K is 9/2 at 4 and 28 at 8
    ],
)
def test_renyi_to_approx(order: Number, divergence: Fraction) -> None:
    if order == 5:
        divergence = (Fraction(9, 2) + (28 - Fraction(9, 2)) / 4) / 4
    delta = Fraction(1, 10**6)
    bound = renyi_epsilon(Fraction(order), divergence, delta)
    witness = {"order": str(Fraction(order))}
    conclude("renyi_to_approx", [renyi(BOUNDS)], statement("ApproxDP", epsilon=up(bound), delta=delta), {}, witness)
    lower = statement("ApproxDP", epsilon=down(bound), delta=delta)
    refuse("conclusion.epsilon", "renyi_to_approx", [renyi(BOUNDS)], lower, {}, witness)


def test_renyi_to_approx_at_the_ends() -> None:
    claim = statement("ApproxDP", epsilon=10**6, delta="1e-6")
    refuse("witness.order", "renyi_to_approx", [renyi(BOUNDS)], claim, {}, {"order": "9"})
    refuse("witness.order", "renyi_to_approx", [renyi(BOUNDS)], claim, {}, {"order": "1"})
    zero = statement("ApproxDP", epsilon=10**6, delta=0)
    refuse("conclusion.delta", "renyi_to_approx", [renyi(BOUNDS)], zero, {}, {"order": "2"})
    conclude("renyi_to_approx", [renyi(BOUNDS)], statement("ApproxDP", epsilon=0, delta=1), {}, {"order": "2"})
    refuse("premises[0]", "renyi_to_approx", [statement("ZCDP", rho=1)], claim, {}, {"order": "2"})
