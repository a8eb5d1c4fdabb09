"""The public corpus: no wrong verdict, under no spelling."""

import pytest

from privately.proving import prove
from tests.proving.corpus import Case, cases
from tests.proving.rewrites import REWRITES, rewritten

ALL = cases()
TAILS = {"discrete_laplace_mechanism", "truncated_geometric"}
FINITE = [case for case in ALL if case.finite or case.name in TAILS]


def test_the_corpus_is_there() -> None:
    assert len(ALL) >= 55
    assert sum(not case.private for case in ALL) >= 20
    assert len(FINITE) >= 16


@pytest.mark.parametrize("case", FINITE, ids=lambda case: case.name)
def test_finite_programs_are_decided(case: Case) -> None:
    verdict = prove(case.text, case.head["claim"], **case.known)
    assert verdict.word == ("proved" if case.private else "refuted"), str(verdict)


@pytest.mark.parametrize("case", [case for case in FINITE if "tight" in case.head], ids=lambda case: case.name)
def test_tight_claims_are_proved_and_smaller_ones_refuted(case: Case) -> None:
    tight = case.head["tight"]
    if tight == "infinity":
        assert prove(case.text, "1000000", **case.known).word == "refuted"
        return
    assert prove(case.text, tight, **case.known).word == "proved"
    if tight != "0":
        assert prove(case.text, f"{tight} - 1/1000000", **case.known).word == "refuted"


@pytest.mark.parametrize("name", REWRITES)
def test_other_spellings_of_finite_programs_have_the_same_verdict(name: str) -> None:
    for case in FINITE:
        text = rewritten(case.text, REWRITES[name]())
        verdict = prove(text, case.head["claim"], **case.known)
        assert verdict.word == ("proved" if case.private else "refuted"), text


def test_rewrites_change_the_text() -> None:
    for name, rewrite in REWRITES.items():
        changed = [case for case in ALL if rewritten(case.text, rewrite()) != rewritten(case.text, lambda _: None)]
        assert len(changed) >= 5, name
