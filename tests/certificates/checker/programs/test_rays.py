"""Tails that fall in two ways, in the checker: beside long windows of their masses."""

from fractions import Fraction
from functools import partial

import pytest

from privately.certificates.checker.elementary import exponential
from privately.certificates.checker.intervals import Interval, Undecided, enclose, whole
from privately.certificates.checker.programs import rays
from privately.certificates.checker.programs.exact import Beyond
from privately.certificates.checker.programs.rays import Gap
from privately.certificates.checker.programs.sums import Falls, first_and_rest, law_of_sum
from privately.certificates.checker.programs.weights import Decay, Field
from privately.certificates.checker.rationals import Rational
from privately.certificates.checker.rules.programs import _equal
from privately.certificates.checker.work import Work

FIELD = Field(2, b"rays", 256)
HALF, SLOW, FAST = Decay(1, 2, 0), Decay(1, 1, 1), Decay(1, 1, 3)
LAWS = [
    law_of_sum(decays, FIELD, Work())
    for decays in ([SLOW], [SLOW, SLOW], [SLOW, FAST], [HALF], [HALF, HALF], [FAST, HALF], [SLOW, SLOW, HALF])
]
LAWS += [first_and_rest(falls, FIELD, Work())[1] for falls in LAWS[1:3]]
MOST = 80


def excess(ours: Falls, theirs: Falls, growth: Interval, mark: int | None = None) -> Interval:
    return Gap(ours, theirs, growth, partial(_equal, growth=mark, field=FIELD), FIELD).excess(Work())


def masses(falls: Falls) -> list[Fraction]:
    found = []
    for _ in range(MOST):
        first, falls = first_and_rest(falls, FIELD, Work())
        found.append(value(first.interval))
    return found


def value(one: Interval) -> Fraction:
    return Fraction(one.low) * Fraction(2) ** one.exponent


def disagreements() -> int:
    found, windows = 0, [masses(falls) for falls in LAWS]
    for ours, left in zip(LAWS, windows, strict=True):
        for theirs, right in zip(LAWS, windows, strict=True):
            for growth in (Fraction(1), Fraction(3, 2)):
                mark = growth.numerator * pow(growth.denominator, -1, FIELD.prime)
                said = excess(ours, theirs, enclose(Rational(growth.numerator, growth.denominator), 256), mark)
                inside = sum(max(Fraction(0), one - growth * other) for one, other in zip(left, right, strict=True))
                found += abs(float(value(said)) - float(inside)) > 1e-9
    return found


def test_windows_have_the_same_sums() -> None:
    assert disagreements() == 0


def test_tails_that_are_cut_off_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gap, "_is_settled", lambda *_, **__: True)
    assert disagreements() > 20


def test_a_limit_is_enough_and_less_is_not() -> None:
    """Two equal noises, one of them a step further: the ratio comes near to 1/r, and no value has it."""
    falls = law_of_sum([SLOW, SLOW], FIELD, Work())
    _, later = first_and_rest(falls, FIELD, Work())
    limit = exponential(enclose(Rational(1, 2), 272))
    mark = pow(FIELD.point, -1, FIELD.prime)
    none = excess(falls, later, limit, mark)
    assert (none.low, none.high) == (0, 0)
    assert excess(later, falls, limit, mark).high == 0
    with pytest.raises(Undecided):
        excess(falls, later, limit)
    assert excess(falls, later, exponential(enclose(Rational(49, 100), 272))).low > 0
    assert excess(falls, falls, whole(1, 256), 1).high == 0


def test_what_is_open_for_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    near = law_of_sum([Decay(1000, 1001, 0)], FIELD, Work()), law_of_sum([Decay(1001, 1002, 0)], FIELD, Work())
    with pytest.raises(Beyond, match="too long"):
        excess(*near, enclose(Rational(1, 10), 256))
    monkeypatch.setattr(rays, "LONGEST", 0)
    with pytest.raises(Beyond, match="too long"):
        excess(LAWS[0], LAWS[3], enclose(Rational(3, 1), 256))
