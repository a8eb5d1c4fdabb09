"""Certificates from plain dictionaries, and intervals against mpmath."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

import mpmath
import pytest

from privately.certificates.checker import Invalid, Report, check
from privately.certificates.checker.intervals import Interval
from privately.certificates.checker.rationals import Rational

Number = int | str | Fraction
Plain = dict[str, Any]

NINE = Fraction(1, 10**9)
ROW: Plain = {"change": "add_remove", "size": 1, "unit": None, "max_rows": None}
REPLACE: Plain = {**ROW, "change": "replace"}
PERSON: Plain = {**ROW, "unit": "person", "max_rows": 3}


def statement(kind: str, neighbors: Plain = ROW, **numbers: Any) -> Plain:
    written = {name: str(Fraction(value)) for name, value in numbers.items()}
    return {"kind": kind, "neighbors": neighbors, **written}


def renyi(bounds: Mapping[Any, Number], neighbors: Plain = ROW) -> Plain:
    pairs = [[str(Fraction(order)), str(Fraction(bound))] for order, bound in bounds.items()]
    return {"kind": "RenyiDP", "neighbors": neighbors, "bounds": pairs}


def node(
    rule: str,
    premises: Sequence[int],
    conclusion: Plain,
    parameters: Plain | None = None,
    witness: Plain | None = None,
) -> Plain:
    return {
        "rule": rule,
        "premises": list(premises),
        "parameters": parameters or {},
        "witness": witness or {},
        "conclusion": conclusion,
    }


def assume(conclusion: Plain) -> Plain:
    return node("assumption", [], conclusion, {"statement": "given", "reference": "a test"})


def plain_certificate(*nodes: Plain, subject: str | None = None) -> Plain:
    return {"schema": "privately.certificate/1", "subject": subject, "nodes": list(nodes)}


def seal(content: Plain) -> bytes:
    """With the right hash, whatever the contents are."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return json.dumps({**rest, "hash": "sha256:" + sha256(text.encode()).hexdigest()}).encode()


def run(*nodes: Plain) -> Report:
    return check(seal(plain_certificate(*nodes)), allow_assumptions=True)


def conclude(
    rule: str,
    premises: Sequence[Plain],
    conclusion: Plain,
    parameters: Plain | None = None,
    witness: Plain | None = None,
) -> Report:
    """Check one rule on assumed premises."""
    last = node(rule, range(len(premises)), conclusion, parameters, witness)
    return run(*map(assume, premises), last)


def refuse(  # noqa: PLR0917 - as `conclude`, and the field
    field: str,
    rule: str,
    premises: Sequence[Plain],
    conclusion: Plain,
    parameters: Plain | None = None,
    witness: Plain | None = None,
) -> str:
    """Check that one rule refuses, at this field of its node; return the reason."""
    with pytest.raises(Invalid) as caught:
        conclude(rule, premises, conclusion, parameters, witness)
    assert caught.value.field == f"nodes[{len(premises)}].{field}"
    return caught.value.reason


def up(value: mpmath.mpf, relative: Fraction = Fraction(1, 10**20)) -> Fraction:
    """A rational above a number, by this share of it."""
    return exact(value) * (1 + relative)


def down(value: mpmath.mpf, relative: Fraction = NINE) -> Fraction:
    return exact(value) * (1 - relative)


def exact(value: mpmath.mpf) -> Fraction:
    """An mpf as a rational of few bits: a certificate allows 4,096."""
    sign, mantissa, exponent, _ = mpmath.mpf(value)._mpf_
    mantissa, exponent = int(mantissa), int(exponent)
    excess = max(0, mantissa.bit_length() - 160)
    number = Fraction(mantissa >> excess) * Fraction(2) ** (exponent + excess)
    return -number if sign else number


def mpf(value: Number | Rational) -> mpmath.mpf:
    if isinstance(value, Rational):
        value = Fraction(value.numerator, value.denominator)
    number = Fraction(value)
    return mpmath.mpf(number.numerator) / number.denominator


def rational(value: Number) -> Rational:
    number = Fraction(value)
    return Rational(number.numerator, number.denominator)


def assert_encloses(interval: Interval, value: mpmath.mpf, tight: int) -> None:
    """The interval holds the value, and its width is below 2^-tight of it."""
    scale = mpmath.ldexp(1, interval.exponent)
    low, high = interval.low * scale, interval.high * scale
    assert low <= value <= high
    assert high - low <= abs(value) * mpmath.ldexp(1, -tight)
