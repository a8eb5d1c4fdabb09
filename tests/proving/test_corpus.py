"""The public corpus: no wrong verdict, under no spelling."""

from fractions import Fraction
from typing import Any

import pytest

from privately.proving import Refuted, Unknown, prove
from privately.proving.exact.claims import read_claim
from tests.proving.corpus import Case, cases
from tests.proving.rewrites import REWRITES, rewritten, variants

ALL = cases()
TAILS = {"discrete_laplace_mechanism", "truncated_geometric"}
FINITE = [case for case in ALL if case.finite or case.name in TAILS]


def test_the_corpus_is_there() -> None:
    assert len(ALL) >= 125
    assert sum(not case.private for case in ALL) >= 70
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


WRONG = [case for case in ALL if not case.private]
ENDLESS = [case for case in ALL if not case.finite]


def marked(chosen: list[Case]) -> list[Any]:
    return [
        pytest.param(case, marks=[pytest.mark.slow] if "slow" in case.head else [], id=case.name) for case in chosen
    ]


@pytest.mark.parametrize("case", marked([case for case in WRONG if not case.finite]))
def test_wrong_programs_are_refuted_with_nearly_all_they_lose(case: Case) -> None:
    verdict = prove(case.text, case.head["claim"], **case.known)
    assert isinstance(verdict, Refuted), str(verdict)
    tight = case.head.get("tight", "grows")
    if tight == "infinity":
        assert verdict.witness.epsilon.lower == float("inf")
    elif tight != "grows":
        size = max(case.known.get("sizes", [1]))
        wanted = read_claim(tight, {**case.numbers, "size": size}).epsilon
        assert verdict.witness.epsilon.lower >= wanted.lower * Fraction(9, 10)
        assert verdict.witness.epsilon.lower <= wanted.upper


@pytest.mark.parametrize("case", marked([case for case in ENDLESS if case.private]))
def test_right_programs_are_never_refuted(case: Case) -> None:
    verdict = prove(case.text, case.head["claim"], **case.known)
    assert not isinstance(verdict, Refuted), str(verdict)
    if isinstance(verdict, Unknown):
        size = max(case.known.get("sizes", [1]))
        assert verdict.lower is not None
        assert verdict.lower.lower <= read_claim(case.head["claim"], {**case.numbers, "size": size}).epsilon.upper


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", REWRITES)
def test_other_spellings_of_finite_programs_have_the_same_verdict(name: str) -> None:
    for case in FINITE:
        text = rewritten(case.text, REWRITES[name]())
        verdict = prove(text, case.head["claim"], **case.known)
        assert verdict.word == ("proved" if case.private else "refuted"), text


QUICK = ["bad_svt_3", "bad_partial_sum", "shared_noise", "bad_noisy_max_exponential", "svt", "laplace_mechanism"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", REWRITES)
def test_other_spellings_of_some_endless_programs_have_the_same_verdict(name: str) -> None:
    _same_verdicts(name, [case for case in ENDLESS if case.name in QUICK])


@pytest.mark.slow
@pytest.mark.parametrize("case", ENDLESS, ids=lambda case: case.name)
def test_ten_other_spellings_of_every_endless_program_have_the_same_verdict(case: Case) -> None:
    texts = variants(case.text)
    assert len(texts) >= 10
    for name, text in texts.items():
        verdict = prove(text, case.head["claim"], **case.known)
        assert (verdict.word == "refuted") is not case.private, f"{name}: {verdict}\n{text}"


def test_every_program_has_ten_other_spellings() -> None:
    for case in ALL[::9]:
        texts = variants(case.text)
        assert len(set(texts.values())) == len(texts) >= 10, case.name


def _same_verdicts(name: str, chosen: list[Case]) -> None:
    for case in chosen:
        text = rewritten(case.text, REWRITES[name]())
        verdict = prove(text, case.head["claim"], **case.known)
        assert (verdict.word == "refuted") is not case.private, f"{verdict}\n{text}"


def test_rewrites_change_the_text() -> None:
    for name, rewrite in REWRITES.items():
        changed = [case for case in ALL if rewritten(case.text, rewrite()) != rewritten(case.text, lambda _: None)]
        assert len(changed) >= 5, name
