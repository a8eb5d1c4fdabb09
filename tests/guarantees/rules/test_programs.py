"""What is concluded of programs, against all their ways one by one; and conclusions that look alike and are false."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.certificates import certify
from privately.errors import CertificateInvalid, InvalidParameter
from privately.guarantees import ZCDP, ApproxDP, Derivation, Guarantee, PureDP, rules
from tests.certificates.programs import proved
from tests.guarantees.enumeration import Law, Pair
from tests.guarantees.rules.refutation import refutation
from tests.proving.ways import law_by_running

BITS = [list(one) for one in product((0, 1), repeat=2)]
ONE_BIT = [(one, other) for one in BITS for other in BITS if sum(a != b for a, b in zip(one, other, strict=True)) == 1]
ALL = [(one, other) for one in BITS for other in BITS if one != other]
MONOTONE = [(one, other) for one, other in ALL if all(a <= b for a, b in zip(one, other, strict=True))]
TEXTS = [
    "def f(x: {}):\n    return [v ^ flip(1/3) for v in x]\n",
    "def f(x: {}):\n    s = 0\n    for v in x:\n        s += v if flip(3/4) else 1 - v\n    return s\n",
    "def f(x: {}):\n    a = uniform(4)\n    return (a * uniform(2) + x[0] + 2 * x[1] + uniform(4) % 3) % 4\n",
    "def f(x: {}):\n    b = flip(1/5 + x[0] / 5)\n    return [b, flip(2/5) if b else flip(1/5 + x[1] / 5)]\n",
]
CASES = [
    (text.format(change), pairs)
    for text in TEXTS
    for change, pairs in (
        ("replaced(0, 1)", ONE_BIT),
        ("one(1, whole(0, 1))", ONE_BIT),
        ("each(1, whole(0, 1))", ALL),
        ("monotone(1, whole(0, 1))", MONOTONE),
    )
]


def bare(text: str) -> str:
    """Without its annotation, as Python runs it."""
    return "def f(x):\n" + text.split("\n", 1)[1]


def laws(text: str, pairs: list[tuple[list[int], list[int]]]) -> list[Pair]:
    def law(data: list[int]) -> Law:
        return {repr(output): mass for output, mass in law_by_running(bare(text), {"x": data}).items()}

    return [(law(one), law(other)) for one, other in pairs]


@pytest.mark.parametrize(("text", "pairs"), CASES)
def test_finite_program_dominates_enumeration(text: str, pairs: Any) -> None:
    found = proved(text, sizes=[2])
    certify(found)
    exact = laws(text, pairs)
    assert refutation(found.conclusion, exact) == ""
    epsilon = found.conclusion.parameters["epsilon"]
    if epsilon:
        assert refutation(PureDP(epsilon=epsilon * Fraction(999, 1000), neighbors=found.conclusion.neighbors), exact)


def twin(found: Derivation, conclusion: Guarantee, **changed: Any) -> Derivation:
    """The same with another conclusion, or about other inputs."""
    given = {name: _thawed(value) for name, value in found.parameters.items()}
    return rules.finite_program(conclusion, **{**given, **changed}, unit=found.witness["unit"])  # type: ignore[arg-type]


def _thawed(value: Any) -> Any:
    if hasattr(value, "items"):
        return {name: _thawed(one) for name, one in value.items()}
    return [_thawed(one) for one in value] if isinstance(value, tuple) else value


TWINS: dict[str, Callable[[Guarantee], Guarantee]] = {
    "half of it": lambda said: PureDP(epsilon=said.parameters["epsilon"] / 2, neighbors=said.neighbors),
    "a hair less": lambda said: PureDP(
        epsilon=said.parameters["epsilon"] * (1 - Fraction(1, 10**9)), neighbors=said.neighbors
    ),
    "too small a delta": lambda said: ApproxDP(
        epsilon=said.parameters["epsilon"] / 2, delta="1/1000", neighbors=said.neighbors
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_finite_program_twins_are_refuted(name: str) -> None:
    """The rule writes down what it is given, so a twin is a conclusion: enumeration and the checker both refuse it."""
    for text, pairs in CASES[:4]:
        found = proved(text, sizes=[2])
        wrong = TWINS[name](found.conclusion)
        assert refutation(wrong, laws(text, pairs))
        with pytest.raises(CertificateInvalid, match=r"conclusion\.(epsilon|delta)"):
            certify(twin(found, wrong))


def test_one_neighbour_too_few_is_refused_by_its_name() -> None:
    """What is proved of bits of which one changes is no proof where both may."""
    found = proved(CASES[0][0], sizes=[2])
    private = [{**_thawed(found.parameters["private"][0]), "change": "anything"}]
    with pytest.raises(CertificateInvalid, match="epsilon"):
        certify(twin(found, found.conclusion, private=private))


def test_delta_may_be_enough() -> None:
    found = proved(CASES[0][0], sizes=[2])
    exact = laws(*CASES[0])
    delta = max(sum(max(mass - q.get(o, Fraction(0)), Fraction(0)) for o, mass in p.items()) for p, q in exact)
    certify(twin(found, ApproxDP(epsilon=0, delta=delta + Fraction(1, 10**30), neighbors=found.conclusion.neighbors)))
    with pytest.raises(CertificateInvalid, match="delta"):
        certify(
            twin(found, ApproxDP(epsilon=0, delta=delta * Fraction(999, 1000), neighbors=found.conclusion.neighbors))
        )


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("conclusion", {"conclusion": ZCDP(rho=1)}),
        ("program", {"program": {"text": "return 1"}}),
        ("private", {"private": []}),
        ("private", {"private": ["x"]}),
        ("public", {"public": 3}),
        ("unit", {"unit": 0}),
        ("epsilon", {"conclusion": PureDP(epsilon=10**6)}),
    ],
)
def test_bad_input_is_refused(field: str, given: dict[str, Any]) -> None:
    program: dict[str, Any] = {"variables": [], "expressions": [], "blocks": []}
    whole = {"conclusion": PureDP(epsilon=1), "program": program, "private": [{}], **given}
    with pytest.raises(InvalidParameter, match=field):
        rules.finite_program(**whole)
