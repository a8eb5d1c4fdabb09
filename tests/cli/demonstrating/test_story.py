"""Five answers, one refusal, one free answer, one valid certificate; and the budget adds up."""

from pathlib import Path

import pytest

from privately.cli.demonstrating.story import BUDGET, QUESTIONS, independently, refusal
from privately.errors import InvalidParameter
from tests.cli.demonstrating.played import small


def test_five_questions_are_answered_within_the_budget() -> None:
    story, said = small()
    assert [told.question for told in story.answers] == list(QUESTIONS)
    spent = sum(told.result.guarantee.parameters["epsilon"] for told in story.answers)
    left = story.answers[-1].remaining.parameters["epsilon"]
    assert spent + left == BUDGET.parameters["epsilon"]
    assert [len(told.result.rows) for told in story.answers] == [8, 8, 8, 12, 1]
    assert len(said) == 10


def test_what_is_too_much_is_refused_and_what_is_known_is_free() -> None:
    story, _ = small()
    assert story.refused.startswith("asked PureDP with epsilon 0.25")
    assert story.free
    assert "Laplace" in story.explained
    with pytest.raises(InvalidParameter):
        refusal(lambda: None)


def test_other_code_checks_the_certificate(tmp_path: Path) -> None:
    story, _ = small()
    assert story.checker == "check.pyz"
    assert story.checked.startswith("valid: 0.1-DP")
    story.answers[0].result.certificate.save(tmp_path / "c.json")
    told, checker = independently(tmp_path / "c.json", tmp_path, builder=tmp_path / "nothing.py")
    assert checker == "privately.check"
    assert told.startswith("valid: 0.1-DP")
