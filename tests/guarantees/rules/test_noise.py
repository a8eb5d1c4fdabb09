"""Noise on integers: exact and enclosed distances of the noisy values against what the rules conclude."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, Derivation, GaussianDP, Guarantee, Neighbors, PureDP, Sensitivity, rules
from privately.guarantees.sensitivity import Norm
from privately.laws import DiscreteGaussian, DiscreteLaplace, Law, RoundedNormal
from privately.rounding import Enclosure, Interval
from tests.guarantees.enumeration import Pair, clamped_noise, joint
from tests.guarantees.rules.integer_sums import scale_of, window
from tests.guarantees.rules.knowns import REPLACE, Rule
from tests.guarantees.rules.refutation import refutation

LITTLE = Fraction(1, 10**9)
NOTHING = Fraction(1, 10**40)
Vector = tuple[int, ...]


def changes(dimension: int, most: int, size: Callable[[Vector], float]) -> Iterator[Vector]:
    """All changes of a vector of integers up to this size, of each pair of opposite ones one."""
    for vector in product(range(-most, most + 1), repeat=dimension):
        if vector > (0,) * dimension and size(vector) <= most:
            yield vector


def sum_of_sizes(vector: Vector) -> int:
    return sum(map(abs, vector))


def slightly_less(statement: Guarantee) -> Guarantee:
    made: Any = type(statement)
    found: Guarantee = made(**{name: value - LITTLE for name, value in statement.parameters.items()})
    return found


# Discrete Laplace


def laplace_pairs(change: Vector, q: Fraction) -> list[Pair]:
    """Exact: clamping to a window that holds both centres leaves all ratios, for beyond it they stay the same."""
    inside = range(-5, 6)
    before, after = (
        [clamped_noise(centre, 1 / q, inside) for centre in place] for place in ([0] * len(change), change)
    )
    return [(joint(before), joint(after))]


def laplace_fault(rule: Rule, change: Vector, sensitivity: int, q: Fraction) -> str:
    derived = rule(scale=scale_of(q), sensitivity=Sensitivity(value=sensitivity))
    return refutation(derived.conclusion, laplace_pairs(change, q))


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 20)])
def test_discrete_laplace_dominates_enumeration(dimension: int, sensitivity: int, q: Fraction) -> None:
    """And is attained by every change of that size."""
    for change in changes(dimension, sensitivity, sum_of_sizes):
        assert not laplace_fault(rules.discrete_laplace, change, sensitivity, q)
        if sum_of_sizes(change) == sensitivity:
            less = slightly_less(
                rules.discrete_laplace(scale=scale_of(q), sensitivity=Sensitivity(value=sensitivity)).conclusion
            )
            assert refutation(less, laplace_pairs(change, q))


@pytest.mark.parametrize("scale", ["1/4", "7/3", 12])
@pytest.mark.parametrize("change", [1, 2, 5])
def test_discrete_laplace_dominates_the_enclosed_law(scale: str | int, change: int) -> None:
    law, inside = DiscreteLaplace(scale=scale), range(-8, 9)
    pairs = [(window(law, 0, inside), window(law, change, inside))]
    statement = rules.discrete_laplace(scale=scale, sensitivity=Sensitivity(value=change)).conclusion
    assert not refutation(statement, pairs)
    assert refutation(slightly_less(statement), pairs)


LAPLACE_TWINS: dict[str, Rule] = {
    "half the scale": lambda scale, sensitivity: rules.discrete_laplace(scale=2 * scale, sensitivity=sensitivity),
    "sensitivity forgotten": lambda scale, sensitivity: rules.discrete_laplace(
        scale=scale, sensitivity=Sensitivity(value=1)
    ),
    "the norm of L2": lambda scale, sensitivity: rules.discrete_laplace(
        scale=scale, sensitivity=Sensitivity(value="1.4142135623730951")
    ),
    "the norm of Linf": lambda scale, sensitivity: rules.discrete_laplace(
        scale=scale, sensitivity=sensitivity.scaled("1/2")
    ),
}


@pytest.mark.parametrize("name", LAPLACE_TWINS)
def test_discrete_laplace_twins_are_refuted(name: str) -> None:
    """Two entries move by one each: 2 in L1, the square root of 2 in L2, 1 in Linf."""
    for q in (Fraction(1, 2), Fraction(9, 10)):
        assert laplace_fault(LAPLACE_TWINS[name], (1, 1), 2, q)
        assert not laplace_fault(rules.discrete_laplace, (1, 1), 2, q)


# Gaussian noise: distances of log-concave laws, which half lines attain


@lru_cache(maxsize=100_000)
def tail(law: Law, k: int) -> Interval:
    return law.tail(k)


def excess(law: Law, change: int, epsilon: Fraction) -> Interval:
    """The largest P(E) - e^epsilon Q(E) of change + X and X, attained by a half line, as the law is log-concave.

    Beyond the window: above it P alone is at most its tail, below it 1 - e^epsilon (1 - P(X <= k)) is what is left.
    """
    most = law.interval("0.999999999999999") + change + 1
    ratio = Enclosure.of(epsilon).exp().interval()
    low, high = Fraction(ratio.lower), Fraction(ratio.upper)
    ends = [(tail(law, k - change), tail(law, k)) for k in range(-most, most + 1)]
    least = max(Fraction(p.lower) - high * Fraction(q.upper) for p, q in ends)
    largest = max(Fraction(p.upper) - low * Fraction(q.lower) for p, q in ends)
    beyond = max(Fraction(law.tail(most - change).upper), high * Fraction(law.cdf(-most).upper))
    return Interval(max(least, Fraction(0)), max(largest, beyond, Fraction(0)))


def corners(change: int, deviation: Fraction) -> list[Fraction]:
    """The epsilons at which a normal likelihood ratio is passed halfway between two integers."""
    found = [((k - Fraction(1, 2)) * change - Fraction(change**2, 2)) / deviation**2 for k in range(-3, 8)]
    return [epsilon for epsilon in found if 0 <= epsilon <= 12]


def gaussian_fault(statement: Guarantee, law: Law, change: int, epsilons: list[Fraction]) -> str:
    """Where the law certainly exceeds the curve of the statement."""
    for epsilon in epsilons:
        found, allowed = excess(law, change, epsilon), statement.delta(epsilon=epsilon)
        if found.lower > allowed.upper:
            return f"at epsilon {float(epsilon):g} delta is {float(found.lower):g}, not {float(allowed.upper):g}"
    return ""


@pytest.mark.parametrize("deviation", ["1/2", 1, "5/2"])
@pytest.mark.parametrize("change", [1, 2])
def test_rounded_gaussian_dominates_enumeration(deviation: str | int, change: int) -> None:
    """Up to what lies outside the window; at the corners it is the normal curve itself."""
    law, width = RoundedNormal(standard_deviation=deviation), Fraction(deviation)
    sensitivity = Sensitivity(value=change, norm="L2")
    statement = rules.rounded_gaussian(standard_deviation=deviation, sensitivity=sensitivity).conclusion
    assert statement == GaussianDP(mu=change / width)
    for epsilon in [Fraction(tenths, 10) for tenths in range(0, 60, 7)] + corners(change, width):
        allowed = Fraction(statement.delta(epsilon=epsilon).upper)
        assert excess(law, change, epsilon).upper <= max(allowed + NOTHING, Fraction(1, 10**13))
    assert not gaussian_fault(statement, law, change, corners(change, width))
    assert gaussian_fault(slightly_less(statement), law, change, corners(change, width))


@pytest.mark.parametrize("change", [(1, 1), (2, -1), (-1, 3)])
def test_rounded_gaussian_vectors_dominate_enumeration(change: Vector) -> None:
    """The twin that takes the largest entry for the norm is refuted."""
    law, inside = RoundedNormal(standard_deviation="3/2"), range(-5, 8)
    pairs = [(joint([window(law, 0, inside)] * 2), joint([window(law, by, inside) for by in change]))]
    sizes = [Enclosure.of(sum(by**2 for by in change)).sqrt().claim(), Fraction(max(map(abs, change)))]
    right, twin = (
        rules.rounded_gaussian(standard_deviation="3/2", sensitivity=Sensitivity(value=size, norm="L2"))
        for size in sizes
    )
    assert not refutation(right.conclusion, pairs)
    assert refutation(twin.conclusion, pairs)


@pytest.mark.parametrize(
    "twin",
    [
        rules.rounded_gaussian(standard_deviation=2, sensitivity=Sensitivity(value=2)),  # half the deviation
        rules.rounded_gaussian(standard_deviation=1, sensitivity=Sensitivity(value=1)),  # sensitivity forgotten
        rules.suppose(GaussianDP(mu=Fraction(199, 100))),
    ],
)
def test_rounded_gaussian_twins_are_refuted(twin: Derivation) -> None:
    """The standard deviation is 1 and the value changes by 2."""
    law = RoundedNormal(standard_deviation=1)
    right = rules.rounded_gaussian(standard_deviation=1, sensitivity=Sensitivity(value=2))
    assert gaussian_fault(twin.conclusion, law, 2, corners(2, Fraction(1)))
    assert not gaussian_fault(right.conclusion, law, 2, corners(2, Fraction(1)))


# Discrete Gaussian


def renyi_divergence(variance: Fraction, change: int, order: Fraction) -> Interval:
    """Of X and change + X, by the sum of P^order Q^(1 - order) over all integers.

    The exponent is -((k - c)^2 + order (1 - order) change^2)/(2 variance) with c = (1 - order) change. Beyond a
    distance of w from c the sum is at most that of exp(-(w^2 + i)/(2 variance)) over i >= 0, twice.
    """
    centre, width = (1 - order) * change, 30 + math.isqrt(math.ceil(200 * variance))
    inside = range(math.floor(centre) - width, math.ceil(centre) + width + 1)
    constant = order * (1 - order) * change**2
    weights = [order * k**2 + (1 - order) * (k - change) ** 2 - constant for k in inside]
    found = sum((Enclosure.of(-weight / (2 * variance)).exp() for weight in weights), Enclosure.of(0))
    step = Enclosure.of(-1 / (2 * variance)).exp()
    rest = 2 * Enclosure.of(-(width**2) / (2 * variance)).exp() / (1 - step)
    at_zero = DiscreteGaussian(variance=variance).pmf(0)
    lowest = Enclosure.of(Fraction(at_zero.lower)) * found
    highest = Enclosure.of(Fraction(at_zero.upper)) * (found + rest)
    logs = Interval(lowest.log().interval().lower, highest.log().interval().upper)
    ends = [(Fraction(end) - constant / (2 * variance)) / (order - 1) for end in (logs.lower, logs.upper)]
    return Interval(*ends)


ORDERS = [Fraction(text) for text in ("1.01", "1.5", "2", "2.25", "3", "7.5", "8", "40")]


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(7, 2), Fraction(20)])
@pytest.mark.parametrize("change", [1, 2, 3])
def test_discrete_gaussian_dominates_every_order(variance: Fraction, change: int) -> None:
    """And whole orders attain it."""
    sensitivity = Sensitivity(value=change, norm="L2")
    rho = rules.discrete_gaussian(variance=variance, sensitivity=sensitivity).conclusion.parameters["rho"]
    assert rho == change**2 / (2 * variance)
    for order in ORDERS:
        found = renyi_divergence(variance, change, order)
        assert found.upper <= order * rho + NOTHING
        if order.denominator == 1:
            assert found.lower >= order * rho - LITTLE


def test_discrete_gaussian_vectors_dominate_enumeration() -> None:
    law, inside = DiscreteGaussian(variance=1), range(-6, 8)
    pairs = [(joint([window(law, 0, inside)] * 2), joint([window(law, 1, inside)] * 2))]
    root = Sensitivity(value=1, norm="Linf").to("L2", dimension=2)
    assert not refutation(rules.discrete_gaussian(variance=1, sensitivity=root).conclusion, pairs)
    one_entry = rules.discrete_gaussian(variance=1, sensitivity=Sensitivity(value=1))
    assert refutation(one_entry.conclusion, pairs)


DISCRETE_TWINS: dict[str, Fraction] = {
    "half the variance": Fraction(4, 2 * 6),
    "sensitivity not squared": Fraction(2, 2 * 3),
    "sensitivity forgotten": Fraction(1, 2 * 3),
    "deviation in place of variance": Fraction(4, 2 * 9),
    "slightly less": Fraction(4, 2 * 3) * (1 - LITTLE),
}


@pytest.mark.parametrize("name", DISCRETE_TWINS)
def test_discrete_gaussian_twins_are_refuted(name: str) -> None:
    """The variance is 3 and the value changes by 2."""
    law, inside = DiscreteGaussian(variance=3), range(-20, 23)
    pairs = [(window(law, 0, inside), window(law, 2, inside))]
    assert refutation(ZCDP(rho=DISCRETE_TWINS[name]), pairs)
    assert not refutation(rules.discrete_gaussian(variance=3, sensitivity=Sensitivity(value=2)).conclusion, pairs)


@pytest.mark.parametrize("variance", ["1/2", 1])
def test_discrete_gaussian_is_not_gaussian(variance: str | int) -> None:
    """The twin that claims GaussianDP for it is refuted; of the rounded normal the same check finds nothing."""
    deviation = Enclosure.of(Fraction(variance)).sqrt().claim()
    statement = GaussianDP(mu=1 / deviation * (1 + LITTLE))
    epsilons = [Fraction(tenths, 10) for tenths in range(5, 56)]
    assert gaussian_fault(statement, DiscreteGaussian(variance=variance), 1, epsilons)
    assert not gaussian_fault(statement, RoundedNormal(standard_deviation=deviation), 1, epsilons)
    with pytest.raises(NoSuchRule):
        rules.convert(rules.discrete_gaussian(variance=variance, sensitivity=Sensitivity(value=1)), GaussianDP)


# What is said, and what is refused


PERSON = REPLACE.of_unit("person", max_rows=3)


def test_what_the_derivations_hold() -> None:
    derived = [
        rules.discrete_laplace(scale="5/2", sensitivity=Sensitivity(value=3, neighbors=PERSON)),
        rules.rounded_gaussian(standard_deviation=0.5, sensitivity=Sensitivity(value="1/3", norm="L2")),
        rules.discrete_gaussian(variance=4, sensitivity=Sensitivity(value=3, neighbors=REPLACE.times(2))),
    ]
    assert [one.conclusion for one in derived] == [
        PureDP(epsilon="6/5", neighbors=PERSON),
        GaussianDP(mu="2/3"),
        ZCDP(rho="9/8", neighbors=REPLACE.times(2)),
    ]
    assert [dict(one.parameters) for one in derived] == [
        {"scale": "5/2", "sensitivity": "3"},
        {"standard_deviation": "1/2", "sensitivity": "1/3"},
        {"variance": "4", "sensitivity": "3"},
    ]
    assert [one.rule for one in derived] == ["discrete_laplace", "rounded_gaussian", "discrete_gaussian"]
    assert all((one.premises, dict(one.witness), one.assumptions) == ((), {}, ()) for one in derived)


RULES: dict[str, tuple[Rule, str]] = {
    "discrete_laplace": (rules.discrete_laplace, "scale"),
    "rounded_gaussian": (rules.rounded_gaussian, "standard_deviation"),
    "discrete_gaussian": (rules.discrete_gaussian, "variance"),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("width", [0, -1, math.nan, math.inf, True, None, "wide", 2**5000])
def test_bad_widths(name: str, width: Any) -> None:
    rule, field = RULES[name]
    with pytest.raises(InvalidParameter) as caught:
        rule(**{field: width}, sensitivity=Sensitivity(value=1))
    assert caught.value.field == field


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("sensitivity", [None, 1, "1", Fraction(1), Sensitivity, Neighbors.ADD_REMOVE])
def test_bad_sensitivities(name: str, sensitivity: Any) -> None:
    rule, field = RULES[name]
    with pytest.raises(InvalidParameter) as caught:
        rule(**{field: 1}, sensitivity=sensitivity)
    assert caught.value.field == "sensitivity"


@pytest.mark.parametrize(
    ("name", "norm"),
    [
        ("discrete_laplace", "L2"),
        ("discrete_laplace", "Linf"),
        ("rounded_gaussian", "Linf"),
        ("discrete_gaussian", "Linf"),
    ],
)
def test_norms_that_say_too_little(name: str, norm: Norm) -> None:
    rule, field = RULES[name]
    stated = Sensitivity(value=1, norm=norm)
    with pytest.raises(NoSuchRule, match="dimension") as caught:
        rule(**{field: 1}, sensitivity=stated)
    assert str(stated) in str(caught.value.premise)
    wanted: Norm = "L1" if name == "discrete_laplace" else "L2"
    (number,) = rule(**{field: 1}, sensitivity=stated.to(wanted, dimension=4)).conclusion.parameters.values()
    assert number >= 2


@pytest.mark.parametrize("name", RULES)
def test_nothing_moves_and_too_much_moves(name: str) -> None:
    rule, field = RULES[name]
    still = rule(**{field: 1}, sensitivity=Sensitivity(value=0)).conclusion
    assert set(still.parameters.values()) == {0}
    with pytest.raises(InvalidParameter):
        rule(**{field: "1e-9"}, sensitivity=Sensitivity(value=2))


@pytest.mark.parametrize("name", RULES)
def test_long_rationals_are_rounded_up(name: str) -> None:
    rule, field = RULES[name]
    width, value = Fraction(3**1200, 2**1900 + 1), Fraction(2**1500 + 1, 7**540)
    (number,) = rule(**{field: width}, sensitivity=Sensitivity(value=value)).conclusion.parameters.values()
    exact = value**2 / (2 * width) if name == "discrete_gaussian" else value / width
    assert exact <= number <= exact * (1 + Fraction(1, 10**300))
    assert max(number.numerator.bit_length(), number.denominator.bit_length()) <= 4096
