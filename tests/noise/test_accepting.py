"""Who is accepted, in random order: certain from its bits, exact over all of them, and no other law."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NotSupported
from privately.laws import FiniteLaw
from privately.noise import accepted, draws
from privately.noise.accepting import Accepting, _Arrivals
from privately.noise.kernels import Draws
from privately.noise.repeatable import RepeatableStream
from privately.noise.samplers import Sampler
from privately.noise.source import Source
from privately.rounding import Interval
from tests.noise.scripted import ScriptedStream, ScriptEnded
from tests.noise.statistical_cases import Case, histograms, sampler_of
from tests.noise.statistics import accept, drawn, examine, statistical

Groups = tuple[list[int], list[Fraction]]
CASES: dict[str, Groups] = {
    "two": ([1, 1], [Fraction(0), Fraction(1)]),
    "several": ([2, 3, 40], [Fraction(0), Fraction(1, 3), Fraction(2)]),
    "far and many": ([1, 2**40, 5], [Fraction(0), Fraction(29), Fraction(1, 9)]),
    "all are best": ([3, 2**62], [Fraction(0), Fraction(0)]),
    "levels": ([1 + i % 7 for i in range(200)], [Fraction(i, 8) for i in range(200)]),
}
module = sys.modules[Accepting.__module__]
ENOUGH = 12


def time(words: list[int], count: int, exponent: Fraction, bits: int = 64) -> Any:
    """When the next one comes, by other means: V in the middle of what is known of it."""
    logs = (mpmath.log1p(-(mpmath.mpf(2 * word + 1) / 2 ** (bits + 1))) / (count - j) for j, word in enumerate(words))
    return -mpmath.expm1(mpmath.fsum(logs)) * mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)


def in_order(script: bytes, groups: Groups) -> Iterator[int]:
    """The same from the same words, with 150 digits, and a look at everybody."""
    counts, exponents = groups
    stream = ScriptedStream(script)
    words = [[int(word)] for word in Source(stream).words(len(counts), "<u8")]
    left = list(counts)
    while any(number and not exponent for number, exponent in zip(left, exponents, strict=True)):
        with mpmath.workdps(150):
            times = {i: time(words[i], counts[i], exponents[i]) for i, number in enumerate(left) if number}
        found = min(times, key=lambda i: times[i])
        left[found] -= 1
        yield found
        words[found].append(Source(stream).integer(64))


@pytest.mark.parametrize("name", CASES)
def test_the_first_to_come_are_those_of_the_bits(name: str) -> None:
    for seed in range(5):
        script = RepeatableStream(seed=f"{name} {seed}").take(20_000).tobytes()
        ours, theirs = Accepting(*CASES[name]).draw(Source(ScriptedStream(script))), in_order(script, CASES[name])
        found = [one for one, _ in zip(ours, range(ENOUGH), strict=False)]
        assert found == [one for one, _ in zip(theirs, range(ENOUGH), strict=False)]
        assert found


@given(
    words=st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**64 - 2, 2**64 - 1]), min_size=1, max_size=4),
    count=st.integers(4, 2**63),
    exponent=st.fractions(0, 70, max_denominator=8),
    longer=st.integers(0, 2),
)
def test_times_are_enclosed(words: list[int], count: int, exponent: Fraction, longer: int) -> None:
    arrivals = _Arrivals(count, exponent, words[0])
    for word in words[1:]:
        arrivals.go_on(Source(ScriptedStream(word.to_bytes(8, "little"))))
    for _ in range(longer):
        arrivals.refine(Source(ScriptedStream(b"\x55" * 8 * len(words))))
    more = 0x5555555555555555
    known = [((word << 64 | more) << 64 | more) >> 64 * (2 - longer) for word in words]
    lower, upper = (mpmath.mpf(str(end)) for end in arrivals.bounds())
    with mpmath.workdps(150):
        truth = time(known, count, exponent, 64 + 64 * longer)
        lower, upper = (mpmath.mpf(str(end)) for end in arrivals.bounds())
        assert lower <= truth <= upper
        if min(words) > 2**40 and max(words) < 2**64 - 2**40:
            assert upper - lower < truth / 2**20


def test_bits_are_added_until_it_is_certain() -> None:
    """The same word for two that are alike; the second words decide, or the third."""
    alike = Accepting([1, 1], [Fraction(0), Fraction(0)])
    for tied in range(3):
        words = [7, 7] * (1 + tied)
        for last, winner in (([9, 5], 1), ([5, 9], 0)):
            script = b"".join(word.to_bytes(8, "little") for word in [*words, *last])
            assert next(alike.draw(Source(ScriptedStream(script)))) == winner
        with pytest.raises(ScriptEnded):
            next(alike.draw(Source(ScriptedStream(b"".join(word.to_bytes(8, "little") for word in words)))))


def chances(groups: Groups) -> list[Any]:
    """That somebody of each group is the first: n q times the integral of what is left of the others."""
    counts, exponents = groups
    heads = [mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) for x in exponents]

    def comes(i: int, t: Any) -> Any:
        others = (
            (1 - head * t) ** (count - (j == i)) for j, (count, head) in enumerate(zip(counts, heads, strict=True))
        )
        return counts[i] * heads[i] * mpmath.fprod(others)

    return [mpmath.quad(lambda t, i=i: comes(i, t), [0, "0.01", "0.1", "0.3", 1]) for i in range(len(counts))]


def certain_part(law: Any, first: int) -> tuple[int, int]:
    """Of all second bytes: how many are certain to let the second group come first, and how many the first."""

    def found(second: int) -> int | None:
        try:
            return int(next(law.draw(Source(ScriptedStream(bytes([first, second]))))))
        except ScriptEnded:
            return None

    return _least(lambda second: found(second) != 1), 256 - _least(lambda second: found(second) == 0)


def _least(above: Any) -> int:
    """The later the second comes, the more likely it is the first that is first."""
    low, high = 0, 256
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if above(middle) else (middle + 1, high)
    return low


def all_scripts(law: Any) -> tuple[Fraction, Fraction]:
    """How much of all pairs of bytes is certain to let the first group come first, or the second."""
    parts = [certain_part(law, first) for first in range(256)]
    return Fraction(sum(b for _, b in parts), 2**16), Fraction(sum(a for a, _ in parts), 2**16)


PAIRS: list[Groups] = [
    CASES["two"],
    ([2, 5], [Fraction(0), Fraction(5, 3)]),
    ([1, 900], [Fraction(0), Fraction(6)]),
]


@pytest.mark.parametrize("groups", PAIRS)
def test_all_scripts_together_have_the_exact_law(groups: Groups, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each certain part is at most its probability, and few pairs of bytes are left open."""
    monkeypatch.setattr(module, "_BITS", 8)
    for part, chance in zip(all_scripts(Accepting(*groups)), chances(groups), strict=True):
        exact = mpmath.mpf(part.numerator) / part.denominator
        assert exact <= chance <= exact + 0.02


class EarliestOfAll(Accepting):
    """The false twin that takes a group for one candidate."""

    def __init__(self, counts: list[int], exponents: list[Fraction]) -> None:
        super().__init__([1] * len(counts), exponents)


class Memoryless(Accepting):
    """The false twin that chooses in proportion to the weights, as the exponential mechanism does."""

    def draw(self, source: Source) -> Iterator[int]:
        words = source.words(len(self._counts), f"<u{module._BITS // 8}").tolist()
        weights = [n * mpmath.exp(-float(x)) for n, x in zip(self._counts, self._exponents, strict=True)]
        times = [-mpmath.log1p(-(w + 0.5) / 2**module._BITS) / one for w, one in zip(words, weights, strict=True)]
        yield times.index(min(times))


@pytest.mark.parametrize("twin", [EarliestOfAll, Memoryless])
def test_twins_have_another_law(twin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BITS", 8)
    groups = PAIRS[1]
    parts, exact = all_scripts(twin(*groups)), chances(groups)
    found = [mpmath.mpf(part.numerator) / part.denominator for part in parts]
    assert not all(part <= chance <= part + 0.02 for part, chance in zip(found, exact, strict=True))


def test_who_may_come_early_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that leaves out a group whose first word is just within the bound."""
    groups: Groups = ([1, 1], [Fraction(0), Fraction(1)])
    words = b"".join(word.to_bytes(8, "little") for word in (2**64 - 2, 2**61))
    assert next(Accepting(*groups).draw(Source(ScriptedStream(words)))) == 1
    monkeypatch.setattr(Accepting, "_near", lambda self, expected, first: [0])
    assert next(Accepting(*groups).draw(Source(ScriptedStream(words)))) == 0


def test_those_who_are_certain_come_and_then_it_ends() -> None:
    stream = RepeatableStream(seed="end")
    for _ in range(20):
        found = list(Accepting([2, 1, 3], [Fraction(0), Fraction(1), Fraction(0)]).draw(Source(stream)))
        assert (found.count(0), found.count(2)) == (2, 3)
        assert found.count(1) <= 1
        assert found[-1] != 1


@dataclass(frozen=True)
class First:
    """The group of the first who comes."""

    counts: tuple[int, ...]
    exponents: tuple[Fraction, ...]

    def cdf(self, k: int) -> Interval:
        return self._listed.cdf(k)

    def quantile(self, probability: Fraction) -> int:
        return self._listed.quantile(probability)

    interval = quantile

    @cached_property
    def _listed(self) -> FiniteLaw:
        parts = [Fraction(str(chance)) for chance in chances((list(self.counts), list(self.exponents)))]
        return FiniteLaw(table={i: part / sum(parts) for i, part in enumerate(parts)})


class Firsts:
    """Draws of it."""

    bytes_per_draw = 1000

    def __init__(self, law: First) -> None:
        self._law = Accepting(law.counts, law.exponents)

    def draw(self, source: Source, size: int) -> Draws:
        return np.array([next(self._law.draw(source)) for _ in range(size)], np.int64)


@sampler_of.register
def _(law: First) -> Sampler:
    return Firsts(law)


FIRSTS = [
    Case(First((1, 3, 40, 1), (Fraction(0), Fraction(1, 3), Fraction(3), Fraction(2)))),
    Case(First(tuple(range(1, 13)), tuple(Fraction(i, 3) for i in range(12)))),
]


@pytest.mark.thinned(2)
@statistical("case", FIRSTS)
def test_the_first_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, 3_000), drawn(case.sampler, 3_000)))


@pytest.mark.slow
@statistical("case", FIRSTS)
def test_many_firsts_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, 300_000), drawn(case.sampler, 300_000)))


# The public function


def first_of(**arguments: Any) -> int:
    return next(accepted(**arguments))


def test_groups_of_nobody_are_left_out() -> None:
    found = {first_of(counts=[0, 3, 0, 5], exponents=[0, 0, -7, "1/2"]) for _ in range(60)}
    assert found == {1, 3}
    assert first_of(counts=np.array([1, 1]), exponents=[0, 10**9]) == 0
    assert {first_of(counts=[1, 2**63], exponents=[0, 43]) for _ in range(60)} == {0, 1}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"counts": [], "exponents": []}, "counts"),
        ({"counts": [0], "exponents": [0]}, "counts"),
        ({"counts": [1], "exponents": [0, 1]}, "counts"),
        ({"counts": [-1], "exponents": [0]}, "counts"),
        ({"counts": [1.0], "exponents": [0]}, "counts"),
        ({"counts": [1], "exponents": [1]}, "exponents"),
        ({"counts": [0, 1], "exponents": [0, 1]}, "exponents"),
        ({"counts": [1, 1], "exponents": [0, -1]}, "exponents"),
        ({"counts": [1, 1], "exponents": [0, 10**9 + 1]}, "exponents"),
        ({"counts": [1], "exponents": "0"}, "exponents"),
    ],
)
def test_bad_input(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        accepted(**arguments)
    assert caught.value.field == field


def test_a_choice_does_not_go_on_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = accepted(counts=[5], exponents=[0])
    assert next(begun) == 0
    monkeypatch.setattr(draws, "here", lambda: (0, 0))
    with pytest.raises(NotSupported, match="another process"):
        next(begun)
