"""Pages."""

from privately.cli.proving.page import page
from privately.proving import Refuted, analyze, prove

TEXT = "\n\ndef f(x: replaced(0, 1)):\n    # <b>\n    return [x if flip() else uniform(2) for i in range(9)]\n"


def test_long_trees_are_left_out_and_text_is_escaped() -> None:
    text = page(prove(TEXT, 1), analyze(TEXT), TEXT, "<name>")
    assert "No tree" in text
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert '<td class="number">3</td><td>def f' in text
    assert "<name>" not in text


def test_programs_that_were_not_analysed_have_a_page_too() -> None:
    text = "def f(x: each(1)):\n    return x + laplace(1)\n"
    assert "unknown" in page(prove(text, 1), None, text, "f")


def test_pages_about_formulas_and_infinite_losses() -> None:
    open_parameter = "def f(x: replaced(0, 1), p):\n    return x if flip(p) else flip(p)\n"
    assert "Two worlds" not in page(prove(open_parameter, "ln(2)"), analyze(open_parameter), open_parameter, "f")
    shown = page(prove(open_parameter, "ln(2)"), analyze(open_parameter), open_parameter, "f")
    assert "ln((2 - p)/(1 - p))" in shown
    assert "<svg" in shown
    leaky = "def f(x: replaced(0, 1)):\n    return x\n"
    assert "<svg" in page(prove(leaky, 1), analyze(leaky), leaky, "f")


def test_a_witness_that_was_searched_for_is_shown_in_two_worlds() -> None:
    text = "def f(x: each(1)):\n    return x + laplace(1/3)\n"
    verdict = prove(text, 1)
    assert isinstance(verdict, Refuted)
    shown = page(verdict, None, text, "f")
    assert "Two worlds" in shown
    assert shown.index('class="beside"') < shown.index("The program") < shown.index("Two worlds")
    assert shown.count("<p>probability") == 2
    assert verdict.witness.probability.in_words(10) in shown
