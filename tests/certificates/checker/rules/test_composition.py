from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
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

Arguments = tuple[list[Plain], Plain, Plain, Plain]


def optimal(  # noqa: PLR0917 - all that a node says
    premises: list[tuple[Number, Number]],
    counts: list[int],
    epsilon: Number,
    delta: Number,
    unit: Number,
    multiples: list[int],
) -> Arguments:
    given = [
        statement("ApproxDP", epsilon=e, delta=d) if Fraction(d) else statement("PureDP", epsilon=e)
        for e, d in premises
    ]
    witness = {"unit": str(Fraction(unit)), "multiples": multiples}
    return given, statement("ApproxDP", epsilon=epsilon, delta=delta), {"counts": counts}, witness


def simple(each: str, count: int, epsilon: Number, delta: Number) -> Arguments:
    return optimal([(each, 0)], [count], epsilon, delta, each, [1])


@pytest.mark.parametrize(
    ("each", "count", "epsilon", "delta"),
    [
        ("0.1", 100, "4.30679137251651", "1e-5"),
        ("0.1", 100, "4.77456758810799", "1e-6"),
        ("1", 10, "9.99977063453494", "1e-5"),
        ("0.01", 10_000, "4.37638450926029", "1e-5"),
    ],
)
def test_known_compositions(each: str, count: int, epsilon: str, delta: str) -> None:
    conclude("optimal_composition", *simple(each, count, Fraction(epsilon) + Fraction(2, 10**14), delta))
    refuse(
        "conclusion.delta", "optimal_composition", *simple(each, count, Fraction(epsilon) - Fraction(2, 10**14), delta)
    )


def expectation(losses: list[tuple[Fraction, int]], epsilon: Fraction) -> mpmath.mpf:
    """E[max(0, 1 - e^(epsilon - S))] by convolving exactly as the definition says."""
    law = {Fraction(0): mpmath.mpf(1)}
    for loss, count in losses:
        p = 1 / (1 + mpmath.exp(-mpf(loss)))
        for _ in range(count):
            step: dict[Fraction, mpmath.mpf] = {}
            for value, mass in law.items():
                step[value + loss] = step.get(value + loss, 0) + mass * p
                step[value - loss] = step.get(value - loss, 0) + mass * (1 - p)
            law = step
    return mpmath.fsum(mass * (1 - mpmath.exp(mpf(epsilon - value))) for value, mass in law.items() if value > epsilon)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.booleans()), min_size=1, max_size=4),
    st.fractions(Fraction(1, 1000), 3, max_denominator=1000),
    st.fractions(0, 1, max_denominator=100),
)
def test_against_the_definition(parts: list[tuple[int, int, bool]], unit: Fraction, share: Fraction) -> None:
    tiny = Fraction(1, 10**7)
    multiples, counts = [m for m, _, _ in parts], [c for _, c, _ in parts]
    premises: list[tuple[Number, Number]] = [(unit * m, tiny if approximate else 0) for m, _, approximate in parts]
    total = sum(m * c for m, c, _ in parts)
    epsilon = share * total * unit
    with mpmath.workprec(400):
        excess = expectation([(unit * m, c) for m, c, _ in parts if m], epsilon)
        safe = (1 - mpf(tiny)) ** sum(c for _, c, approximate in parts if approximate)
        bound = 1 - (1 - excess) * safe
    conclude("optimal_composition", *optimal(premises, counts, epsilon, min(up(bound), Fraction(1)), unit, multiples))
    if bound:
        refuse(
            "conclusion.delta", "optimal_composition", *optimal(premises, counts, epsilon, down(bound), unit, multiples)
        )


@pytest.mark.parametrize("power", [100, 300])
def test_far_tails(power: int) -> None:
    """100 responses of loss 1/10; all must be positive for S > 9.8, so D is one term."""
    epsilon = Fraction(10) - Fraction(1, 10 ** (power - 20))
    p = 1 / (1 + mpmath.exp(-mpf("1/10")))
    bound = p**100 * -mpmath.expm1(mpf(epsilon) - 10)
    conclude("optimal_composition", *simple("0.1", 100, epsilon, up(bound)))
    refuse("conclusion.delta", "optimal_composition", *simple("0.1", 100, epsilon, down(bound)))


def test_nothing_beyond_the_largest_loss() -> None:
    conclude("optimal_composition", *simple("0.1", 100, 10, 0))
    refuse("conclusion.delta", "optimal_composition", *simple("0.1", 100, 10 - NINE, 0))
    conclude("optimal_composition", *simple("0.1", 100, 0, 1))
    third = Fraction(1, 3)
    conclude("optimal_composition", *optimal([(1, third)], [2], 2, Fraction(5, 9), 1, [1]))
    smaller = Fraction(5, 9) - Fraction(1, 10**60)
    refuse("conclusion.delta", "optimal_composition", *optimal([(1, third)], [2], 2, smaller, 1, [1]))
    refuse("conclusion.delta", "optimal_composition", *optimal([(1, 1)], [2], 2, 1 - NINE, 1, [1]))
    refuse("conclusion.delta", "optimal_composition", *optimal([(1, 1)], [2], 1, 1 - NINE, 1, [1]))
    conclude("optimal_composition", *optimal([(0, 0)], [10**9], 0, 0, 1, [0]))


def test_failures_of_a_billion() -> None:
    """1 - (1 - 1e-12)^1e9 is below 1e-3 by a little, and too large to be written down exactly."""
    bound = -mpmath.expm1(10**9 * mpmath.log1p(-mpf("1e-12")))
    arguments: tuple[list[tuple[Number, Number]], list[int], int] = ([(0, "1e-12")], [10**9], 0)
    conclude("optimal_composition", *optimal(*arguments, up(bound), 1, [0]))
    refuse("conclusion.delta", "optimal_composition", *optimal(*arguments, down(bound), 1, [0]))


def test_rounding_up_to_the_lattice_is_allowed_and_down_is_not() -> None:
    conclude("optimal_composition", *optimal([("0.95", 0)], [10], "9.99977063453495", "1e-5", 1, [1]))
    refuse("witness.multiples[0]", "optimal_composition", *optimal([("1.05", 0)], [10], 9, "1/2", 1, [1]))
    refuse("witness.multiples[0]", "optimal_composition", *optimal([("1e-300", 0)], [10], 9, "1/2", 1, [0]))


def test_limits_and_forms_of_the_lattice() -> None:
    rule = "optimal_composition"
    refuse("witness.multiples", rule, *simple("0.1", 200_001, 1, "1/2"))
    refuse("witness.multiples", rule, *optimal([(1, 0)] * 3, [1] * 3, 1, "1/2", 1, [1, 1]))
    refuse("witness.multiples[0]", rule, *optimal([(1, 0)], [1], 1, "1/2", 1, [-1]))
    refuse("witness.unit", rule, *optimal([(1, 0)], [1], 1, "1/2", 0, [1]))
    refuse("witness.unit", rule, *optimal([(1, 0)], [1], 1, "1/2", 10_001, [1]))
    refuse("parameters.counts", rule, *optimal([(1, 0)], [1, 1], 1, "1/2", 1, [1]))
    many = list(range(1, 100))
    work = optimal([("0.001", 0)] * 99, [20] * 99, 1, "1/2", "0.001", many)
    assert "work" in refuse("witness.multiples", rule, *work)
    refuse(
        "conclusion.kind",
        rule,
        [statement("PureDP", epsilon=1)],
        statement("PureDP", epsilon=1),
        {"counts": [1]},
        {"unit": "1", "multiples": [1]},
    )
    refuse(
        "premises[0]",
        rule,
        [renyi({2: 1})],
        statement("ApproxDP", epsilon=1, delta=1),
        {"counts": [1]},
        {"unit": "1", "multiples": [1]},
    )
    refuse(
        "conclusion.neighbors",
        rule,
        [statement("PureDP", epsilon=1)],
        statement("ApproxDP", REPLACE, epsilon=1, delta=0),
        {"counts": [1]},
        {"unit": "1", "multiples": [1]},
    )


def advanced(
    premises: list[tuple[Number, Number]], counts: list[int], epsilon: Number, delta: Number, slack: Number
) -> tuple[list[Plain], Plain, Plain]:
    given = [statement("ApproxDP", epsilon=e, delta=d) for e, d in premises]
    parameters = {"counts": counts, "slack": str(Fraction(slack))}
    return given, statement("ApproxDP", epsilon=epsilon, delta=delta), parameters


@given(
    st.lists(
        st.tuples(st.fractions(0, 3, max_denominator=10**6), st.integers(1, 1000), st.sampled_from([0, 9, 40, 300])),
        min_size=1,
        max_size=4,
    ),
    st.builds(lambda a, k: a / 10**k, st.fractions(Fraction(1, 10), Fraction(99, 100)), st.integers(0, 300)),
)
def test_advanced_composition(parts: list[tuple[Fraction, int, int]], slack: Fraction) -> None:
    premises: list[tuple[Number, Number]] = [(e, Fraction(1, 10**power) if power else 0) for e, _, power in parts]
    counts = [count for _, count, _ in parts]
    mean = mpmath.fsum(c * mpf(e) * mpmath.tanh(mpf(e) / 2) for e, c, _ in parts)
    squares = sum((c * e * e for e, c, _ in parts), Fraction(0))
    bound = mean + mpmath.sqrt(-2 * mpmath.log(mpf(slack)) * mpf(squares))
    safe = mpmath.fprod((1 - mpf(d)) ** c for (_, d), c in zip(premises, counts, strict=True))
    failure = 1 - (1 - mpf(slack)) * safe
    delta = up(failure) if any(d for _, d in premises) else slack
    rule = "advanced_composition"
    conclude(rule, *advanced(premises, counts, up(bound), delta, slack))
    refuse("conclusion.delta", rule, *advanced(premises, counts, up(bound), delta * (1 - NINE), slack))
    if bound:
        refuse("conclusion.epsilon", rule, *advanced(premises, counts, down(bound), delta, slack))


def test_advanced_composition_at_the_ends() -> None:
    rule = "advanced_composition"
    conclude(rule, *advanced([(0, 0)], [10**9], 0, "1e-9", "1e-9"))
    refuse("conclusion.delta", rule, *advanced([(0, 0)], [1], 0, Fraction(1, 10**9) - Fraction(1, 10**90), "1e-9"))
    for slack in (0, 1, "-1/2", 2):
        refuse("parameters.slack", rule, *advanced([(1, 0)], [1], 9, 1, slack))
    refuse("conclusion.epsilon", rule, *advanced([(10_001, 0)], [1], 10**9, 1, "1/2"))
    refuse(
        "premises[0]",
        rule,
        [statement("ZCDP", rho=1)],
        statement("ApproxDP", epsilon=1, delta=1),
        {"counts": [1], "slack": "1/2"},
    )
    with_one = advanced([(1, 1)], [1], 9, "1/2", "1/3")
    refuse("conclusion.delta", rule, *with_one)
