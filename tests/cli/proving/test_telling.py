"""Answers for people and for programs."""

import json

from privately.cli.proving.telling import analysis_json, analysis_text, formula, verdict_json, verdict_text
from privately.proving import analyze, prove
from privately.proving.exact.weights import UNKNOWN

MANY = "def f(x: replaced(whole(0, 9))):\n    return x if flip() else uniform(10)\n"


def test_long_laws_are_cut() -> None:
    assert "more rows" in analysis_text(analyze(MANY))
    assert json.loads(analysis_json(analyze(MANY)))["worst"]["inputs"]


def test_infinite_and_exponential_ones_have_a_curve() -> None:
    assert "tight epsilon: inf" in analysis_text(analyze("def f(x: replaced(0, 1)):\n    return x\n"))
    text = analysis_text(analyze("def f(x: replaced(1, 2)):\n    return flip_exp(x)\n"))
    assert "tight delta" in text


def test_numbers() -> None:
    assert formula(UNKNOWN + 1, "p") == "1 + p"


def test_probabilities_with_e_have_digits_and_a_formula() -> None:
    text = analysis_text(analyze("def f(x: each(1, whole(0, 1))):\n    return x + discrete_laplace(2)\n"))
    assert "tight epsilon: 0.5" in text
    assert "between 0.2449186624 and 0.2449186625, which is (1 - t)/(1 + t) for t = e^(-1/2)" in text


def test_unknown_verdicts() -> None:
    verdict = prove("def f(x: replaced(0, 1)):\n    return [v if flip() else flip() for v in x]\n", "ln(3)")
    assert "epsilon is at least" in verdict_text(verdict)
    assert json.loads(verdict_json(verdict))["upper"] is None
