"""Proofs of finite programs as certificates."""

import pytest

from privately import check
from privately.proving import analyze, anything, bits, prove
from privately.proving.certifying import certificate_of
from privately.proving.exact.claims import read_claim
from privately.proving.verdicts import Proved

RESPONSE = "def rr(x: replaced(0, 1)):\n    return x if flip() else flip()\n"
SEVERAL = "def rr(x: replaced(0, 1)):\n    assume(len(x) == 2)\n    return [v if flip() else flip() for v in x]\n"
PAD = "def pad(m: anything(bits(2))):\n    return [m[i] ^ uniform(2) for i in range(2)]\n"


@pytest.mark.parametrize(("text", "claim"), [(RESPONSE, "ln(3)"), (SEVERAL, "ln(3)"), (PAD, "0")])
def test_the_checker_accepts_what_was_proved(text: str, claim: str) -> None:
    verdict = prove(text, claim)
    assert isinstance(verdict, Proved)
    assert verdict.certificate is not None
    assert check(verdict.certificate)
    assert verdict.certificate.guarantee.parameters["epsilon"] <= 2


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("def f(x: each(1, whole(0, 2))):\n    return flip(x / 3 + 1/9)\n", {}),
        ("def f(x: replaced(0, 1)):\n    return flip_exp(x)\n", {}),
        ("def f(x: replaced(0, 1), p):\n    return x if flip(p) else flip(p)\n", {}),
    ],
)
def test_other_proofs_have_none_yet(text: str, public: dict[str, int]) -> None:
    found = analyze(text, public=public)
    assert certificate_of(found, read_claim("1", {})) is None
    assert anything(bits(1)).domain is not None
