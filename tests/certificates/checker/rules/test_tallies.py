"""What tallies move by, to the last step: the table of docs/theory/stability.md, number by number."""

from fractions import Fraction
from math import isqrt
from typing import Any

import pytest

from tests.certificates.checker.building import Plain, node, run, statement
from tests.certificates.checker.rules.tables import (
    BINS,
    PERSON,
    REPLACED,
    STEPS,
    accept,
    keyed,
    noisy,
    refuse_value,
    refused,
    scan,
    sensitivity,
    tally,
)

LITTLE = Fraction(1, 10**30)
COUNT: Plain = {"argument": None}
PAIR: Plain = {**STEPS, "counted": "rows"}

# Of one unit 7 rows in 4 groups, at most 2 in each: R = 7, S = 2^2 + 2^2 + 2^2 + 1 = 13.
BOUNDS = (7, 4, 2)
CASES = [
    # rule, parameters, neighbours, listed, L1, L2 squared, Linf
    ("count_rows", COUNT, PERSON, None, 7, 13, 2),
    ("count_rows", {"argument": "x"}, PERSON, 9, 7, 13, 2),
    ("count_rows", COUNT, PERSON, 2, 4, 8, 2),
    ("count_rows", COUNT, REPLACED, None, 14, 26, 2),
    ("count_rows", COUNT, REPLACED, 5, 10, 20, 2),
    ("count_rows", COUNT, REPLACED, 1, 2, 4, 2),
    ("count_units", {}, PERSON, None, 4, 4, 1),
    ("count_units", {}, PERSON, 3, 3, 3, 1),
    ("count_units", {}, REPLACED, None, 8, 8, 1),
    ("count_units", {}, REPLACED, 5, 5, 5, 1),
    ("sum_steps", STEPS, PERSON, None, 21, 117, 6),
    ("sum_steps", {**STEPS, "low": "-5", "high": "-1"}, PERSON, None, 35, 325, 10),
    ("sum_steps", STEPS, REPLACED, None, 42, 468, 10),
    ("sum_steps", STEPS, REPLACED, 2, 20, 200, 10),
    ("sum_steps", {**STEPS, "low": "0"}, REPLACED, None, 42, 234, 6),
    ("sum_steps", {**STEPS, "low": "0"}, REPLACED, 2, 12, 72, 6),
    ("sum_steps", {**STEPS, "low": "-3", "high": "0"}, REPLACED, None, 42, 234, 6),
    ("sum_steps", {**STEPS, "low": str(-(2**62)), "high": "0"}, PERSON, None, 7 * 2**62, 13 * 2**124, 2**63),
    ("sum_steps", {**STEPS, "low": "0", "high": "0"}, REPLACED, None, 0, 0, 0),
    ("sum_pairs", PAIR, PERSON, None, 35, 325, 10),
    ("sum_pairs", PAIR, REPLACED, None, 70, 650, 10),
    ("sum_pairs", {**PAIR, "low": "0"}, PERSON, None, 21, 117, 6),
    ("sum_pairs", {**PAIR, "high": "0"}, PERSON, None, 14, 52, 4),
    ("sum_pairs", {**PAIR, "low": "1000", "high": "1001", "counted": "values"}, REPLACED, 1, 4, 8, 2),
    ("count_bins", {**BINS, "bins": 2**20}, PERSON, None, 7, 13, 2),
    ("count_bins", BINS, REPLACED, 1, 4, 8, 2),
]


@pytest.mark.parametrize(("rule", "parameters", "who", "listed", "total", "squares", "largest"), CASES)
def test_moves(  # noqa: PLR0917
    rule: str, parameters: Plain, who: Plain, listed: int | None, total: int, squares: int, largest: int
) -> None:
    def claim(value: Fraction | int, norm: str) -> list[Plain]:
        found = sensitivity(value, norm, who)
        return tally(rule, found, parameters, neighbors=who, bounds=BOUNDS, listed=listed)

    for norm, value in (("L1", total), ("Linf", largest)):
        accept(claim(value, norm))
        accept(claim(value + LITTLE, norm))
        if value:
            assert "the rule gives" in refuse_value(claim(value - LITTLE, norm))
    scale = 10**40
    above = Fraction(isqrt(squares * scale**2 - 1) + 1, scale) if squares else Fraction(0)
    accept(claim(above, "L2"))
    if squares:
        assert f"at least {squares}" in refuse_value(claim(above - Fraction(1, scale), "L2"))


@pytest.mark.parametrize(
    ("rule", "parameters", "field"),
    [
        ("count_rows", {}, "parameters"),
        ("count_rows", {"argument": 1}, "parameters.argument"),
        ("count_units", {"argument": None}, "parameters"),
        ("sum_steps", {**STEPS, "low": "4"}, "parameters.low"),
        ("sum_steps", {**STEPS, "low": "1/2"}, "parameters.low"),
        ("sum_steps", {**STEPS, "low": -2}, "parameters.low"),
        ("sum_steps", {**STEPS, "high": str(2**62 + 1)}, "parameters.high"),
        ("sum_steps", {**STEPS, "step": "0"}, "parameters.step"),
        ("sum_pairs", {**PAIR, "low": "1"}, "parameters.counted"),
        ("sum_pairs", {**PAIR, "low": "-2", "high": "-1"}, "parameters.counted"),
        ("sum_pairs", {**PAIR, "counted": "all"}, "parameters.counted"),
        ("sum_pairs", STEPS, "parameters"),
        ("count_bins", {**BINS, "bins": 0}, "parameters.bins"),
        ("count_bins", {**BINS, "bins": 2**20 + 1}, "parameters.bins"),
        ("count_bins", {**BINS, "width": "0"}, "parameters.width"),
    ],
)
def test_wrong_parameters(rule: str, parameters: Plain, field: str) -> None:
    refused(f"nodes[2].{field}", *tally(rule, sensitivity(10**9), parameters), noisy(2))


@pytest.mark.parametrize(
    ("found", "field"),
    [
        (sensitivity(-6), "value"),
        ({**sensitivity(6), "value": 6}, "value"),
        (sensitivity(6, "L0"), "norm"),
        ({**sensitivity(6), "norm": 1}, "norm"),
        ({**sensitivity(6), "epsilon": "1"}, ""),
        (sensitivity(6, neighbors=REPLACED), "neighbors"),
        ({"kind": "ScoreSpread", "neighbors": PERSON, "value": "6"}, "kind"),
    ],
)
def test_wrong_sensitivities(found: Plain, field: str) -> None:
    place = f"nodes[2].conclusion{'.' if field else ''}{field}"
    refused(place, *tally("count_rows", found, COUNT), noisy(2))


# --- noise ----------------------------------------------------------------------------------------------------------


def laplace(epsilon: Any, scale: str = "3") -> Plain:
    return node("discrete_laplace", [2], statement("PureDP", PERSON, epsilon=epsilon), {"scale": scale})


def test_noise_costs_what_the_premise_says() -> None:
    counted = tally("count_rows", sensitivity(6), COUNT)
    report = run(*counted, laplace(2))
    assert report.claimed == ()
    refused("nodes[3].conclusion.epsilon", *counted, laplace(2 - LITTLE))
    refused("nodes[3].conclusion.neighbors", *counted, laplace(2) | {"conclusion": statement("PureDP", epsilon=2)})
    both = {"scale": "3", "sensitivity": "1"}
    refused("nodes[3].parameters", *counted, laplace(2) | {"parameters": both})
    claimed = node("discrete_laplace", [], statement("PureDP", PERSON, epsilon=2), both)
    assert run(claimed).claimed == ("node 0, discrete_laplace: sensitivity 1",)
    refused("nodes[3].premises", *counted, laplace(2) | {"premises": [2, 2]})


def test_norms_go_down_only() -> None:
    """L1 bounds L2, but not the other way round."""
    normal = node("rounded_gaussian", [2], statement("GaussianDP", PERSON, mu=2), {"standard_deviation": "3"})
    whole = node("discrete_gaussian", [2], statement("ZCDP", PERSON, rho=2), {"variance": "9"})
    for norm in ("L1", "L2"):
        run(*tally("count_rows", sensitivity(6, norm), COUNT), normal)
        run(*tally("count_rows", sensitivity(6, norm), COUNT), whole)
    refused("nodes[3].premises[0]", *tally("count_rows", sensitivity(6, "L2"), COUNT), laplace(2))
    refused("nodes[3].premises[0]", *tally("count_rows", sensitivity(6, "Linf"), COUNT), normal)
    refused("nodes[3].conclusion.mu", *tally("count_rows", sensitivity(6, "L2"), COUNT), _less(normal, "mu"))
    refused("nodes[3].conclusion.rho", *tally("count_rows", sensitivity(6, "L2"), COUNT), _less(whole, "rho"))


def _less(one: Plain, name: str) -> Plain:
    found = one["conclusion"]
    return one | {"conclusion": {**found, name: str(Fraction(found[name]) - LITTLE)}}


def test_noise_rests_on_nothing_else() -> None:
    scanned = scan()
    refused("nodes[2].premises[0]", scanned, keyed(scanned), laplace(9) | {"premises": [1]})
    refused("nodes[3].premises[0]", *quantile("1/2", 12), laplace(99))


# --- quantiles ------------------------------------------------------------------------------------------------------


def quantile(probability: str, spread: Any, who: Plain = PERSON, listed: int | None = None) -> list[Plain]:
    found = {"kind": "ScoreSpread", "neighbors": who, "value": str(Fraction(spread))}
    return tally("score_quantile", found, {**BINS, "probability": probability}, neighbors=who, listed=listed)


def chosen(epsilon: Any, who: Plain = PERSON, rule: str = "exponential_mechanism") -> Plain:
    return node(rule, [2], statement("PureDP", who, epsilon=epsilon), {"scale": "6"})


@pytest.mark.parametrize(
    ("probability", "who", "listed", "spread"),
    [
        ("1/2", PERSON, None, 12),
        ("1/2", PERSON, 1, 4),
        ("1/4", PERSON, None, 36),
        ("3/4", PERSON, None, 36),
        ("0", PERSON, None, 6),
        ("1", PERSON, None, 6),
        ("1/4", REPLACED, None, 72),
        ("1/4", REPLACED, 1, 24),
        ("0", REPLACED, None, 12),
        ("1/1000000", PERSON, None, 11_999_988),
    ],
)
@pytest.mark.parametrize("rule", ["exponential_mechanism", "permute_and_flip"])
def test_scores(probability: str, who: Plain, listed: int | None, spread: int, rule: str) -> None:
    nodes = quantile(probability, spread, who, listed)
    assert not run(*nodes, chosen(Fraction(spread, 6), who, rule)).claimed
    refused("nodes[3].conclusion.epsilon", *nodes, chosen(Fraction(spread, 6) - LITTLE, who, rule))
    less = quantile(probability, spread - LITTLE, who, listed)
    refused("nodes[2].conclusion.value", *less, chosen(10**8, who))


@pytest.mark.parametrize("probability", ["-1/2", "3/2", "0.5", 1, None])
def test_wrong_probabilities(probability: Any) -> None:
    refused("nodes[2].parameters.probability", *quantile(probability, 10**9), chosen(10**9))


def test_choices_may_be_concentrated() -> None:
    nodes = quantile("1/2", 12)
    run(*nodes, node("exponential_mechanism", [2], statement("ZCDP", PERSON, rho="1/2"), {"scale": "6"}))
    little = node("exponential_mechanism", [2], statement("ZCDP", PERSON, rho="49/100"), {"scale": "6"})
    refused("nodes[3].conclusion.rho", *nodes, little)
    flipped = node("permute_and_flip", [2], statement("ZCDP", PERSON, rho=99), {"scale": "6"})
    refused("nodes[3].conclusion.kind", *nodes, flipped)
    refused("nodes[3].premises[0]", *tally("count_rows", sensitivity(6), COUNT), chosen(99, rule="permute_and_flip"))
    refused("nodes[3].premises[0]", *tally("count_rows", sensitivity(6), COUNT), chosen(99))


# --- unknown groups -------------------------------------------------------------------------------------------------


def histogram(keys: Any, epsilon: Any, who: Plain = PERSON) -> list[Plain]:
    found = {"kind": "UnitKeys", "neighbors": who, "keys": keys}
    shown = {"noise": "discrete_laplace", "scale": "2", "threshold": 60}
    claim = statement("ApproxDP", who, epsilon=epsilon, delta="1e-10")
    counted = tally("count_units_by_key", found, neighbors=who)
    return [*counted, node("thresholded_histogram", [2], claim, shown)]


def test_keys() -> None:
    assert not run(*histogram(4, 2)).claimed
    run(*histogram(5, "5/2"))
    refused("nodes[2].conclusion.keys", *histogram(3, 2))
    refused("nodes[2].conclusion.keys", *histogram("4", 2))
    refused("nodes[3].conclusion.epsilon", *histogram(4, 2 - LITTLE))
    refused("nodes[3].conclusion.neighbors", *histogram(4, 2, REPLACED))
    hidden = histogram(4, 2)
    hidden[-1]["conclusion"]["delta"] = str(Fraction(1, 10**14))
    refused("nodes[3].conclusion.delta", *hidden)
    claimed = histogram(4, 2)[-1] | {"premises": []}
    claimed["parameters"]["keys"] = 4
    assert run(claimed).claimed == ("node 0, thresholded_histogram: keys 4",)
    refused("nodes[3].premises[0]", *tally("count_units", sensitivity(4)), histogram(4, 2)[-1])
