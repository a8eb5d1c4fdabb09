"""Proofs of finite programs as certificates."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privately import check
from privately.certificates import checker
from privately.certificates.checker.programs.reading import LAWS as FOLLOWED
from privately.certificates.checker.programs.reading import read_private, read_program
from privately.certificates.checker.rules.programs import neighbors_of as neighbors_there
from privately.errors import NotSupported
from privately.guarantees import Neighbors
from privately.proving import (
    Analysis,
    Neighborhood,
    Program,
    added,
    analyze,
    anything,
    bits,
    each,
    monotone,
    one,
    prove,
    replaced,
    whole,
)
from privately.proving.analysis import question
from privately.proving.certifying import certificate_at, certificate_of, derivation_of, neighbors_of
from privately.proving.exact.claims import read_claim
from privately.proving.language.laws import LAWS
from privately.proving.reading import read_program as read_text
from privately.proving.verdicts import Proved
from tests.mechanisms.specimens import SPECIMENS
from tests.proving.corpus import Case
from tests.proving.test_corpus import FINITE
from tests.proving.test_mechanisms import PURE, exact

RESPONSE = "def rr(x: replaced(0, 1)):\n    return x if flip() else flip()\n"
SEVERAL = "def rr(x: replaced(0, 1)):\n    assume(len(x) == 2)\n    return [v if flip() else flip() for v in x]\n"
PAD = "def pad(m: anything(bits(2))):\n    return [m[i] ^ uniform(2) for i in range(2)]\n"
NOISE = "def f(x: {}):\n    return sum(x) + discrete_laplace(2)\n"


@pytest.mark.parametrize(("text", "claim"), [(RESPONSE, "ln(3)"), (SEVERAL, "ln(3)"), (PAD, "0")])
def test_the_checker_accepts_what_was_proved(text: str, claim: str) -> None:
    verdict = prove(text, claim)
    assert isinstance(verdict, Proved)
    assert verdict.certificate is not None
    assert check(verdict.certificate)
    assert verdict.certificate.guarantee.parameters["epsilon"] <= 2


@pytest.mark.parametrize("case", [case for case in FINITE if case.private], ids=lambda case: case.name)
def test_every_proof_of_the_corpus_has_one_or_says_why_not(case: Case) -> None:
    verdict = prove(case.text, case.head["claim"], **case.known)
    assert isinstance(verdict, Proved)
    if verdict.certificate is None:
        assert verdict.epsilon is None  # a parameter is open
        assert "no one value" in verdict.uncertified
        assert "no certificate" in str(verdict)
        return
    assert verdict.epsilon is not None
    assert check(verdict.certificate).rules == ("finite_program",)
    stated = verdict.certificate.guarantee.parameters["epsilon"]
    assert verdict.epsilon.lower <= stated <= verdict.epsilon.upper + Fraction(1, 10**9)
    claimed = read_claim(case.head["claim"], case.numbers)
    assert stated <= claimed.epsilon.upper + Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("change", "sizes", "who"),
    [
        ("replaced(0, 1)", [2], Neighbors.REPLACE),
        ("added(0, 1)", [0, 1], Neighbors.ADD_REMOVE),
        ("added(0, 1)", [0, 2], Neighbors.REPLACE.of_unit("private input (x: added)")),
        ("each(1/2, one_of(0, 1/2))", [2], Neighbors.REPLACE.of_unit("private input (x: each 1/2)")),
        ("one(1, whole(0, 2))", [1], Neighbors.REPLACE.of_unit("private input (x: one 1)")),
        ("monotone(1, whole(0, 1))", [2], Neighbors.REPLACE.of_unit("private input (x: monotone 1)")),
        ("anything(0, 1)", [2], Neighbors.REPLACE),
        ("anything(0, 1)", [1, 2], Neighbors.REPLACE.of_unit("private input (x: anything)")),
    ],
)
def test_the_certificate_says_who_is_protected(change: str, sizes: list[int], who: Neighbors) -> None:
    text = NOISE.format(change).replace("sum(x) +", "sum(x) * 2 +" if "1/2" in change else "sum(x) +")
    verdict = prove(text, "1000", sizes=sizes)
    assert isinstance(verdict, Proved)
    assert verdict.certificate is not None, verdict.uncertified
    assert verdict.certificate.guarantee.neighbors == who
    found = derivation_of(analyze(text, sizes=sizes), read_claim("1000", {}))
    program, private = (json_like(found.parameters[name]) for name in ("program", "private"))
    there = neighbors_there(read_program(program, "p"), read_private(private, "q"), all_included=True)
    assert (there.change, there.size, there.unit) == (who.change, who.size, who.unit)


def json_like(value: Any) -> Any:
    if hasattr(value, "items"):
        return {name: json_like(one) for name, one in value.items()}
    return [json_like(one) for one in value] if isinstance(value, tuple) else value


def test_inputs_that_are_assumed_away_are_no_rows() -> None:
    text = "def f(x: replaced(0, 1, 2)):\n    assume(x < 2)\n    return x ^ flip(1/4)\n"
    assert neighbors_of(analyze(text)).unit == "private input (x: replaced; as assumed)"


OWN: dict[str, tuple[Neighborhood, list[int]]] = {
    "Exponential": (each(1, whole(-1, 1)), [2]),
    "Exponential, monotone": (monotone(1, whole(0, 2)), [2]),
    "PermuteAndFlip": (each(1, whole(-1, 1)), [2]),
    "Quantile": (added(whole(0, 1)), [0, 1, 2]),
    "PermutedQuantile": (added(whole(0, 1)), [0, 1, 2]),
    "Quantiles": (added(whole(0, 1)), [0, 1, 2]),
    "RandomizedResponse": (replaced(0, 1, 2), [1, 2]),
    "Flip": (replaced(0, 1), [1, 2]),
    "Laplace": (one(1, whole(0, 2)), [1]),
    "Laplace of two": (each(1, whole(0, 1)), [2]),
    "NoisyMax": (each(1, whole(0, 2)), [2]),
    "NoisyMax, Laplace": (each(1, whole(0, 2)), [2]),
    "Average": (added(whole(0, 2)), [0, 1]),
    "SparseVector": (each(1, whole(-1, 1)), [2]),
    "NumericSparseVector": (each(1, whole(0, 1)), [1]),
    "AdaptiveSparseVector": (each(1, whole(0, 1)), [1]),
    "Histogram": (one(1, whole(0, 2)), [2]),
    "TruncatedGeometric": (each(1, whole(0, 3)), [1]),
    "DummySum1": (one(1, whole(0, 1)), [2]),
    "DummySum2": (one(1, whole(0, 1)), [2]),
    "BinaryTree": (one(1, whole(0, 1)), [2]),
    "RefinedTree": (one(1, whole(0, 1)), [2]),
}
"""Small domains of the library's mechanisms whose laws are exact, and how long their lists are."""
TIGHT = {
    "Laplace",
    "Laplace of two",
    "NoisyMax",
    "Average",
    "Histogram",
    "TruncatedGeometric",
    "DummySum1",
    "BinaryTree",
}


def test_all_mechanisms_with_finite_laws_are_there() -> None:
    assert set(PURE) <= set(OWN)


@pytest.mark.parametrize("name", OWN)
def test_mechanisms_of_the_library_have_one_on_small_domains(name: str) -> None:
    mechanism = SPECIMENS[name].mechanism
    promised = mechanism.guarantee(SPECIMENS[name].sensitivity)
    program = read_text(mechanism.program.source)
    (private,) = program.private
    change, sizes = OWN[name]
    given = mechanism.program_inputs(SPECIMENS[name].neighbors[0][0])
    public = {key: exact(value) for key, value in given.items() if key != private.name}
    asked = replace(question(program, neighbors={private.name: change}, sizes=sizes), public=public)
    claim = read_claim(str(promised.parameters["epsilon"]), {})
    found = Analysis(asked)
    assert found.holds(claim) is None
    certificate = certificate_of(found, claim)
    assert check(certificate).rules == ("finite_program",)
    assert certificate.guarantee.parameters["epsilon"] <= promised.parameters["epsilon"]
    if name in TIGHT:
        assert certificate.guarantee.parameters["epsilon"] == promised.parameters["epsilon"]
    elif change.change == "replaced":
        assert certificate.guarantee.parameters["epsilon"] >= promised.parameters["epsilon"] - Fraction(1, 10**9)
    if change.distance is None:
        assert certificate.guarantee.neighbors == promised.neighbors


@pytest.mark.parametrize(
    ("text", "known", "why"),
    [
        ("def f(x: replaced(0, 1), p):\n    return x if flip(p) else flip(1/2)\n", {}, "'p' has no one value"),
        (RESPONSE, {"between": ({"x": 0}, {"x": 1})}, "not all neighbours"),
    ],
)
def test_where_there_is_none_it_is_said_why(text: str, known: dict[str, Any], why: str) -> None:
    with pytest.raises(NotSupported, match=why):
        certificate_of(analyze(text, **known), read_claim("1", {}))


def test_noise_that_exists_on_paper_only_has_none() -> None:
    """No law of real numbers is in the checker's language, and no ledger gets to see a certificate about one."""
    found = analyze(RESPONSE)
    real = read_text("def f(x: replaced(0, 1)):\n    a = laplace(1)\n    return x if flip() else flip()\n")
    assert isinstance(real, Program)
    assert real.model == "real"
    found.asked = replace(found.asked, program=replace(found.asked.program, body=real.body))
    with pytest.raises(NotSupported, match="on paper"):
        certificate_of(found, read_claim("2", {}))
    assert not any(LAWS[law].continuous for law in FOLLOWED)


def test_every_size_has_its_own() -> None:
    text = "def f(x: each(1, whole(0, 1))):\n    return [v ^ flip(1/3) for v in x]\n"
    verdict = prove(text, "size*ln(2)", sizes=[1, 2])
    assert isinstance(verdict, Proved)
    assert verdict.certificate is None
    assert "every size" in verdict.uncertified
    alone = prove(text, "size*ln(2)", sizes=[2])
    assert isinstance(alone, Proved)
    assert alone.certificate is not None


def test_a_program_that_is_too_long_for_the_checker_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker.verify, "Work", lambda: checker.work.Work(100))
    verdict = prove(RESPONSE, "ln(3)")
    assert isinstance(verdict, Proved)
    assert verdict.certificate is None
    assert "more work" in verdict.uncertified


@pytest.mark.parametrize("text", [RESPONSE, NOISE.format("replaced(0, 1, 2)"), NOISE.format("added(0, 1)")])
@pytest.mark.parametrize("delta", ["1/10", "1/1000"])
def test_a_delta_can_be_certified(text: str, delta: str) -> None:
    found = analyze(text, sizes=[1])
    certificate = certificate_at(found, delta=delta)
    assert check(certificate).rules == ("finite_program",)
    stated = certificate.guarantee.parameters
    assert stated["delta"] == Fraction(delta)
    assert found.epsilon_at(delta).lower <= stated["epsilon"] < found.epsilon.lower
    assert found.delta(stated["epsilon"]).upper <= stated["delta"]


def test_no_epsilon_is_enough_for_some_deltas() -> None:
    with pytest.raises(NotSupported, match="no bound"):
        certificate_at(analyze("def f(x: replaced(0, 1)):\n    return x * flip()\n"), delta="1/4")


@pytest.mark.parametrize(
    ("name", "claim", "known"),
    [
        ("000-one-time-pad", "0", {"neighbors": {"m": anything(bits(3))}, "public": {"n": 3}}),
        ("002-randomized-response", "ln(3)", {"neighbors": {"F(x)": replaced(0, 1)}}),
    ],
)
def test_programs_of_the_lecture_have_one(name: str, claim: str, known: dict[str, Any]) -> None:
    verdict = prove(Path(__file__).parents[1] / "corpus" / "seeds" / f"{name}.txt", claim, **known)
    assert isinstance(verdict, Proved)
    assert verdict.certificate is not None
    assert check(verdict.certificate)
