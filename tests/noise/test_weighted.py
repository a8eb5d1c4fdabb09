"""A choice by weights is the quantile of its bits: exact at every boundary, for any weights, and nothing else."""

import math
import sys
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately import noise
from privately.errors import InvalidParameter
from privately.noise import weighted
from privately.noise.kernels import Draws
from privately.noise.repeatable import RepeatableStream
from privately.noise.source import Source
from privately.noise.weighted import Weighted
from tests.noise.scripted import CountingStream, ScriptedStream, ScriptEnded

Weights = tuple[list[int], list[Fraction]]
CASES: dict[str, Weights] = {
    "one": ([5], [Fraction(0)]),
    "alike": ([1] * 7, [Fraction(0)] * 7),
    "falling": ([1, 2, 3, 4], [Fraction(0), Fraction(1, 8), Fraction(7, 3), Fraction(20)]),
    "rising": ([9, 1, 1], [Fraction(50), Fraction(3), Fraction(0)]),
    "counts of 63 bits": ([1, 2**63, 2**62], [Fraction(0), Fraction(44), Fraction(43)]),
    "hardly ever": ([1, 1, 1], [Fraction(1000), Fraction(0), Fraction(10**6)]),
    "levels": (list(range(1, 514)), [Fraction(k, 8) for k in range(513)]),
}
BITS = 64
FINE = 400
"""Bits of the truth."""


@cache
def truth(name: str) -> list[int]:
    """The partial sums over the total times 2^FINE, rounded down, by other means; the last is certain."""
    with mpmath.workdps(150):
        each = [n * mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) for n, x in zip(*CASES[name], strict=True)]
        total = mpmath.fsum(each)
        ends = [int(mpmath.floor(part / total * 2**FINE)) for part in accumulate(each)]
    return [min(end, 2**FINE - 1) for end in ends[:-1]]


def expected(name: str, known: int, bits: int) -> int | None:
    """What U in [known, known + 1]/2^bits chooses; None if that depends on its other bits."""
    places = [end >> FINE - bits for end in truth(name)]
    return None if known in places else sum(place < known for place in places)


def word(u: int) -> bytes:
    return u.to_bytes(8, "little")


@cache
def sampler(name: str) -> Weighted:
    return Weighted(*CASES[name])


def check(name: str, *words: int) -> int | None:
    """A script chooses what the bits that were read settle, and is too short only if they settle nothing."""
    stream = ScriptedStream(b"".join(map(word, words)))
    try:
        found: int | None = sampler(name).draw(Source(stream), 1).tolist()[0]
    except ScriptEnded:
        found = None
    known = 0
    for u in words[: stream.position // 8]:
        known = known << BITS | u
    assert found == expected(name, known, 8 * stream.position)
    return found


@pytest.mark.parametrize("name", CASES)
@given(u=st.integers(0, 2**BITS - 1), v=st.integers(0, 2**BITS - 1), w=st.integers(0, 2**BITS - 1))
def test_a_choice_is_the_quantile_of_its_bits(name: str, u: int, v: int, w: int) -> None:
    check(name, u, v, w)


@pytest.mark.parametrize("name", CASES)
def test_boundaries_are_settled_by_further_bits(name: str) -> None:
    """Of U the first word is that of C(i)/C or next to it, and so is the second."""
    seen = set()
    for end in truth(name)[:60]:
        first, second, third = (end >> FINE - k * BITS & 2**BITS - 1 for k in (1, 2, 3))
        for u in {max(first - 1, 0), min(first + 1, 2**BITS - 1)}:
            check(name, u, 5, 5)
        for v in {max(second - 1, 0), min(second + 1, 2**BITS - 1)}:
            seen.add(check(name, first, v, 5))
        assert check(name, first, second, third) is None
    assert len(seen) > 1 or name in {"one", "hardly ever"}


def test_bits_are_read_until_all_is_certain() -> None:
    """Half of the weight each: U = 0.1000... stays open for as long as the script goes on with zeros."""
    stream = ScriptedStream(word(2**63) + word(0) * 9 + word(1))
    halves = Weighted([1, 1], [Fraction(1, 3), Fraction(1, 3)])
    assert halves.draw(Source(stream), 1).tolist() == [1]
    assert stream.left < 80
    below = ScriptedStream(word(2**63 - 1) + word(2**64 - 1) * 3 + word(7))
    assert halves.draw(Source(below), 1).tolist() == [0]


def law_of_first_bytes(
    weights: Weights, depth: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Fraction], Fraction]:
    """How much of all words of so many bytes is certain to choose each i, reading a byte at a time."""
    module = sys.modules[Weighted.__module__]
    monkeypatch.setattr(module, "_FIRST", 8)
    monkeypatch.setattr(module, "_MORE", 8)
    decided, open_, law = [Fraction(0)] * len(weights[0]), [b""], Weighted(*weights)
    for _ in range(depth):
        longer, open_ = [start + bytes([last]) for start in open_ for last in range(256)], []
        for script in longer:
            try:
                (found,) = law.draw(Source(ScriptedStream(script)), 1).tolist()
            except ScriptEnded:
                open_.append(script)
            else:
                decided[found] += Fraction(1, 256 ** len(script))
    return decided, Fraction(len(open_), 256**depth)


@pytest.mark.parametrize("name", ["one", "alike", "falling", "rising", "hardly ever"])
def test_all_scripts_together_have_the_exact_law(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each certain part is at most its probability, and only a few scripts in 256^3 are left open."""
    decided, left = law_of_first_bytes(CASES[name], 3, monkeypatch)
    ends = [Fraction(end, 2**FINE) for end in (0, *truth(name), 2**FINE)]
    tiny = Fraction(1, 2 ** (FINE - 1))
    assert sum(decided) + left == 1
    assert left <= Fraction(2 * len(decided), 256**3)
    for i, part in enumerate(decided):
        assert part - tiny <= ends[i + 1] - ends[i] <= part + left + tiny


class ByFloats(Weighted):
    """The false twin that compares with sums in floats."""

    def _choose(self, source: Source) -> int:
        each = [n * math.exp(-x) for n, x in zip(self._counts, self._exponents, strict=True)]
        u = source.integer(64) / 2**64
        return next((i for i in range(len(each)) if u * sum(each) < sum(each[: i + 1])), len(each) - 1)


class Careless(Weighted):
    """The false twin that takes the known bits for all of them."""

    def _least_above(self, known: int, bits: int) -> int | None:
        sums, lower = self._partial_sums(bits), self._partial_sums(bits)[-1].lower
        return next((i for i in range(len(sums)) if known * lower < sums[i].upper << bits), len(sums) - 1)


@pytest.mark.parametrize("twin", [ByFloats, Careless])
def test_twins_are_noticed_at_a_boundary(twin: type[Weighted]) -> None:
    """Where further bits must be read to know, a twin answers too early."""
    counts, exponents = CASES["falling"]
    u = truth("falling")[0] >> FINE - BITS
    twin(counts, exponents).draw(Source(ScriptedStream(word(u))), 1)
    with pytest.raises(ScriptEnded):
        Weighted(counts, exponents).draw(Source(ScriptedStream(word(u))), 1)


def test_draws_take_a_word_each() -> None:
    stream = CountingStream(RepeatableStream(seed="weighted"))
    drawn = Weighted(*CASES["falling"]).draw(Source(stream), 1000)
    assert stream.asked == [8] * 1000
    assert set(drawn.tolist()) == {0, 1, 2}
    assert drawn.dtype == np.int64


# The public function


def public(**arguments: Any) -> Draws:
    return weighted(**arguments)


def test_zero_counts_are_never_chosen() -> None:
    drawn = public(counts=[0, 3, 0, 5, 0], exponents=[0, 1, -7, 1, -1000], size=200)
    assert set(drawn.tolist()) == {1, 3}
    assert set(public(counts=[0, 1], exponents=[0, 10**6], size=5).tolist()) == {1}


def test_only_differences_of_exponents_count(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Weights] = []

    class Noted(Weighted):
        def __init__(self, counts: list[int], exponents: list[Fraction]) -> None:
            built.append((counts, exponents))
            super().__init__(counts, exponents)

    monkeypatch.setattr("privately.noise.draws.Weighted", Noted)
    for shift in (0, -5, "10.5", Fraction(10**9)):
        noise.weighted(counts=[1, 0, 2], exponents=[Fraction(shift), -99, Fraction(shift) + 2], size=1)
    assert built == [([1, 2], [Fraction(0), Fraction(2)])] * 4


def test_huge_exponents_and_counts() -> None:
    assert set(public(counts=[2**63, 1], exponents=["1e9", 0], size=50).tolist()) == {1}
    assert set(public(counts=[2**63, 1], exponents=[0, 0], size=50).tolist()) == {0}
    assert public(counts=[1], exponents=[Fraction(1, 3)], size=3).tolist() == [0, 0, 0]
    assert public(counts=np.array([1, 1]), exponents=np.array([0.5, 800.0]), size=2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"counts": [], "exponents": []}, "counts"),
        ({"counts": [0, 0], "exponents": [1, 2]}, "counts"),
        ({"counts": [1], "exponents": [1, 2]}, "counts"),
        ({"counts": [-1, 2], "exponents": [1, 2]}, "counts"),
        ({"counts": [2**63 + 1], "exponents": [0]}, "counts"),
        ({"counts": [1.0], "exponents": [0]}, "counts"),
        ({"counts": [True], "exponents": [0]}, "counts"),
        ({"counts": 3, "exponents": [0]}, "counts"),
        ({"counts": [[1]], "exponents": [0]}, "counts"),
        ({"counts": [1, 1], "exponents": [0, math.nan]}, "exponents"),
        ({"counts": [1, 1], "exponents": [0, math.inf]}, "exponents"),
        ({"counts": [1], "exponents": "0"}, "exponents"),
        ({"counts": [1], "exponents": []}, "exponents"),
    ],
)
def test_bad_input(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        public(**arguments, size=1)
    assert caught.value.field == field


@pytest.mark.parametrize("size", [-1, 0, 0.5, None, 2**31])
def test_bad_sizes(size: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        weighted(counts=[1], exponents=[0], size=size)
    assert caught.value.field == "size"
