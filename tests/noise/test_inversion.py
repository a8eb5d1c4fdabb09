"""A draw is the least k with U < F(k), for every U: next to a boundary, far out in a tail, and in every cell."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, floor
from typing import NamedTuple

import mpmath
import numpy as np
import pytest

from privately.laws import (
    DiscreteExponential,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    Law,
    RoundedNormal,
)
from privately.noise import inversion
from privately.noise.brackets import Bracket, exp_minus, ratio
from privately.noise.compiled import NUMBA
from privately.noise.inversion import CHUNK, Cumulative, Inversion
from privately.noise.kernels import NUMPY, UNDECIDED_CELL, Kernels
from privately.noise.repeatable import RepeatableStream
from privately.noise.samplers import (
    Sampler,
    _exponential_decay,
    _geometric_decay,
    certain,
    coin,
    coin_of_exponential,
    coin_of_rational,
    discrete_gaussian,
    half_gaussian,
    one_sided,
    rounded_normal,
    sampler,
    two_sided,
)
from privately.noise.source import Source
from tests.noise import true_laws
from tests.noise.scripted import CountingStream, Expansion, ScriptedStream, as_read_by_inversion, cut
from tests.noise.true_laws import DIGITS, Distribution, quantile
from tests.rounding.truth import truth

ONE, HALF, THIRD = Fraction(1), Fraction(1, 2), Fraction(1, 3)


class Case(NamedTuple):
    """A sampler, the true law, and outcomes below and above all that the test will meet."""

    law: Sampler
    true: Distribution
    lowest: int
    highest: int


def case(law: Law, true: Callable[[Fraction], Distribution], far: int) -> Case:
    [parameter] = vars(law).values()
    endless = isinstance(law, (DiscreteLaplace, DiscreteGaussian, RoundedNormal))
    return Case(sampler(law), true(parameter), -far if endless else -1, far)


def half_bell(c: Fraction) -> Case:
    return Case(Inversion(half_gaussian(c)), true_laws.half_gaussian(c), -1, 1300)


def rational_coin(heads: Fraction) -> Case:
    return Case(coin_of_rational(heads), true_laws.coin(1 - heads), -1, 1)


@lru_cache
def tails_of_e() -> Fraction:
    return 1 - truth(lambda: mpmath.exp(-1), DIGITS)


LAWS: dict[str, Callable[[], Case]] = {
    str(law): partial(case, law, true, far)
    for law, true, far in (
        (DiscreteLaplace(scale="1/9"), true_laws.laplace, 60),
        (DiscreteLaplace(scale="1"), true_laws.laplace, 400),
        (DiscreteLaplace(scale="64"), true_laws.laplace, 30_000),
        (DiscreteExponential(scale="7/3"), true_laws.exponential, 900),
        (DiscreteExponential(scale="64"), true_laws.exponential, 30_000),
        (Geometric(success="1/3"), true_laws.geometric, 900),
        (Geometric(success="1/2"), true_laws.geometric, 600),
        (Geometric(success="3/8"), true_laws.geometric, 900),
        (Geometric(success="1/64"), true_laws.geometric, 25_000),
        (RoundedNormal(standard_deviation="1"), true_laws.rounded_normal, 28),
        (RoundedNormal(standard_deviation="10"), true_laws.rounded_normal, 270),
        (DiscreteGaussian(variance="1"), true_laws.gaussian, 28),
        (DiscreteGaussian(variance="99"), true_laws.gaussian, 270),
    )
}
CASES: dict[str, Callable[[], Case]] = LAWS | {
    "half a Gaussian": partial(half_bell, Fraction(1, 1500)),
    "coin 1/3": partial(rational_coin, THIRD),
    "coin 3/8": partial(rational_coin, Fraction(3, 8)),
    "coin 2^-70": partial(rational_coin, Fraction(1, 2**70)),
    "coin 1 - 2^-70": partial(rational_coin, 1 - Fraction(1, 2**70)),
    "coin exp(-1)": lambda: Case(coin_of_exponential(ONE), true_laws.coin(tails_of_e()), -1, 1),
}


def simple() -> Case:
    return CASES[str(DiscreteLaplace(scale=1))]()


def draw(law: Sampler, u: Expansion, **layout: int) -> int:
    if isinstance(law, Inversion):
        layout = {"cell_bits": law._cell_bits, "word_bits": law._word_bits, **layout}
    [outcome] = law.draw(Source(ScriptedStream(as_read_by_inversion(u, **layout))), 1).tolist()
    assert isinstance(outcome, int)
    return outcome


def beside(boundary: Fraction, bits: int) -> Iterator[Expansion]:
    """The numbers of so many bits around the boundary, ended by 0s or by 1s."""
    known = cut(boundary, bits)
    for u in (Expansion(near, bits, ones) for near in (known - 1, known, known + 1) for ones in (False, True)):
        if 0 < u.known + u.ones < 1 << bits:
            yield u


def ordinary(seed: str) -> list[Expansion]:
    chance = random.Random(seed)
    return [Expansion(chance.getrandbits(150), 150, ones=bool(chance.getrandbits(1))) for _ in range(50)]


def misjudged(chosen: Case, law: Sampler) -> list[Expansion]:
    """The numbers for which the draw is not the quantile."""
    _, true, lowest, highest = chosen
    outcomes = [k for k in (-20, -2, -1, 0, 1, 7, 31) if lowest < k < highest]
    close = [u for k in outcomes for bits in (64, 128, 200, 500) for u in beside(true(k), bits)]
    return [u for u in (*close, *ordinary("150 bits")) if draw(law, u) != quantile(true, u, lowest, highest)]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CASES)
def test_a_draw_is_the_quantile_of_its_bits(name: str) -> None:
    chosen = CASES[name]()
    assert misjudged(chosen, chosen.law) == []


def test_a_table_that_decides_at_its_boundaries_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    locate = inversion._locate
    monkeypatch.setattr(inversion, "_locate", lambda *arguments: (locate(*arguments)[0], np.zeros(1, np.bool_)))
    assert misjudged(simple(), simple().law) != []


@pytest.mark.parametrize("shift", [-(1 << 33), 1 << 33])
def test_a_bracket_beside_the_truth_is_noticed(shift: int) -> None:
    """Two units of the known bits, in refinements alone."""
    right = two_sided(_exponential_decay(ONE))

    def bracket(k: int, bits: int) -> Bracket:
        found = right.bracket(k, bits)
        return Bracket(found.lower + shift, found.upper + shift) if bits > 100 else found

    assert misjudged(simple(), Inversion(Cumulative(bracket=bracket))) != []


FIRST_STEP = range(1440, 1446)
RUNS: dict[str, tuple[Callable[[], Case], Sequence[int]]] = {
    str(law): (partial(case, law, true, far), runs)
    for law, true, far, runs in (
        (DiscreteLaplace(scale="1/1000"), true_laws.laplace, 3, FIRST_STEP),
        (DiscreteExponential(scale="1/1000"), true_laws.exponential, 3, FIRST_STEP),
        (RoundedNormal(standard_deviation="1/50"), true_laws.rounded_normal, 2, (400, 455, 456, 460, 461)),
        (DiscreteGaussian(variance="1/900"), true_laws.gaussian, 2, (640, 655)),
        (DiscreteGaussian(variance="400"), true_laws.gaussian, 550, (100, 400)),
        (DiscreteLaplace(scale="64"), true_laws.laplace, 100_000, (60, 500, 1400)),
    )
}


@pytest.mark.parametrize("name", RUNS)
def test_long_runs_of_equal_bits_reach_far_into_the_tails(name: str) -> None:
    (law, true, lowest, highest), runs = RUNS[name][0](), RUNS[name][1]
    drawn = set()
    for zeros in runs:
        for u in (Expansion(1, zeros + 1), Expansion((1 << zeros + 1) - 2, zeros + 1, ones=True)):
            found = draw(law, u)
            assert found == quantile(true, u, lowest, highest)
            drawn.add(found)
    assert len(drawn) > 1


def test_the_first_step_away_from_zero_at_the_smallest_scale() -> None:
    """It takes 1443 equal bits to get there."""
    law, true, *_ = case(DiscreteLaplace(scale="1/1000"), true_laws.laplace, 2)
    for boundary, sides in ((true(-1), (-1, 0)), (true(0), (0, 1))):
        known = cut(boundary, 1600)
        assert (draw(law, Expansion(known, 1600)), draw(law, Expansion(known + 1, 1600))) == sides
    assert true(-1) < Fraction(1, 2**1442)


DYADIC: dict[Fraction, dict[str, int]] = {
    HALF: {"0": 0, "1": 1},
    Fraction(1, 4): {"0": 0, "1": 0, "10": 0, "11": 1},
    Fraction(3, 8): {"0": 0, "1": 0, "101": 1, "11": 1},
    Fraction(1, 2**16): {"1" * 15: 0, "1" * 16: 1},
    Fraction(1, 2**64): {"1" * 63: 0, "1" * 64: 1},
    Fraction(1, 2**128): {"1" * 127: 0, "1" * 128: 1},
    1 - Fraction(1, 2**128): {"0" * 127: 0, "0" * 127 + "1": 1},
}


@pytest.mark.parametrize("heads", DYADIC)
def test_a_coin_at_equality(heads: Fraction) -> None:
    """U = F(k) is not below F(k), but ones without end that tend to it are."""
    for digits, outcome in DYADIC[heads].items():
        assert draw(coin_of_rational(heads), Expansion(int(digits, 2), len(digits))) == outcome
    tails = 1 - heads
    bits = tails.denominator.bit_length() - 1
    assert draw(coin_of_rational(heads), Expansion(cut(tails, bits) - 1, bits, ones=True)) == 0


@pytest.mark.parametrize(("success", "ones"), [(HALF, 1), (Fraction(3, 4), 2), (Fraction(7, 8), 3)])
@pytest.mark.parametrize("outcome", [1, 2, 3, 8, 16, 21, 32, 64, 65, 200])
def test_a_geometric_law_at_equality(success: Fraction, ones: int, outcome: int) -> None:
    """F(k) is a number of (k + 1) times so many ones, and nothing else."""
    law, bits = sampler(Geometric(success=success)), ones * outcome
    assert draw(law, Expansion((1 << bits) - 1, bits)) == outcome
    assert draw(law, Expansion((1 << bits) - 2, bits, ones=True)) == outcome - 1


CERTAIN: dict[str, tuple[Callable[[], Sampler], int]] = {
    "never": (lambda: coin_of_rational(Fraction(0)), 0),
    "always": (lambda: coin_of_rational(ONE), 1),
    "exp(0)": (lambda: coin_of_exponential(Fraction(0)), 1),
    "success": (lambda: sampler(Geometric(success=1)), 0),
    "listed": (lambda: sampler(FiniteLaw(table={-7: 1})), -7),
    "no cell holds it": (lambda: Inversion(certain(40_000)), 40_000),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_a_certain_outcome_comes_from_every_cell(name: str) -> None:
    law, outcome = CERTAIN[name][0](), CERTAIN[name][1]
    for words in np.arange(1 << 16, dtype="<u2").reshape(2, -1):
        stream = ScriptedStream(words.tobytes() + bytes(8 * words.size))
        assert set(law.draw(Source(stream), words.size).tolist()) == {outcome}


def test_a_listed_law_gives_its_outcomes_exactly() -> None:
    digits = [Expansion(0, 3), Expansion(1, 3), Expansion(3, 3), Expansion(4, 3), Expansion(7, 3, ones=True)]
    for far, kind in ((2**70, object), (2**62, np.int64)):
        law = sampler(FiniteLaw(table={-5: "1/8", 0: "3/8", far: "1/2"}))
        assert [draw(law, u) for u in digits] == [-5, 0, 0, far, far]
        assert law.draw(Source(ScriptedStream(digits[0].bytes(0, 16) + bytes(16))), 1).dtype == kind


NARROW: dict[str, tuple[Cumulative, Callable[[], Distribution]]] = {
    "Laplace": (two_sided(_exponential_decay(Fraction(2))), lambda: true_laws.laplace(Fraction(2))),
    "geometric": (one_sided(_geometric_decay(THIRD)), lambda: true_laws.geometric(THIRD)),
    "dyadic": (one_sided(_geometric_decay(HALF)), lambda: true_laws.geometric(HALF)),
    "normal": (rounded_normal(Fraction(3)), lambda: true_laws.rounded_normal(Fraction(3))),
    "Gaussian": (discrete_gaussian(Fraction(5)), lambda: true_laws.gaussian(Fraction(5))),
    "coin": (coin(lambda bits: exp_minus(ONE, bits)), lambda: true_laws.coin(tails_of_e())),
    "rare": (coin(lambda bits: ratio(Fraction(1, 1000), bits)), lambda: true_laws.coin(Fraction(999, 1000))),
}


def judge(law: Inversion, true: Distribution, bits: int) -> None:
    """Every cell that is decided is decided rightly; every other one contains a boundary; and the masses add up."""
    cells = law._cells.tolist()
    decided = Counter(cells)
    undecided = decided.pop(UNDECIDED_CELL, 0)
    assert sum(decided.values()) + undecided == 1 << bits
    least = min(decided) - 40 if law._law.lowest is None else law._law.lowest
    scaled = {k: true(k) * 2**bits for k in range(least, max(decided) + 40)} | {least - 1: Fraction(0)}
    for k, count in decided.items():
        chosen = [prefix for prefix, cell in enumerate(cells) if cell == k]
        assert ceil(scaled[k - 1]) <= min(chosen) <= max(chosen) < floor(scaled[k])
        assert count <= scaled[k] - scaled[k - 1] <= count + undecided
    boundaries = {floor(value) for k, value in scaled.items() if k >= least}
    assert {prefix for prefix, cell in enumerate(cells) if cell == UNDECIDED_CELL} <= boundaries


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize(("cell_bits", "word_bits"), [(4, 8), (8, 8), (8, 16), (16, 64)])
def test_every_cell_is_decided_rightly(name: str, cell_bits: int, word_bits: int) -> None:
    law, true = NARROW[name][0], NARROW[name][1]()
    judge(Inversion(law, cell_bits=cell_bits, word_bits=word_bits), true, cell_bits)


def test_a_wrong_cell_is_noticed() -> None:
    law, true = NARROW["normal"][0], NARROW["normal"][1]()
    undecided = np.flatnonzero(Inversion(law, cell_bits=8, word_bits=16)._cells == UNDECIDED_CELL)
    for prefix in undecided:
        wrong = Inversion(law, cell_bits=8, word_bits=16)
        wrong._cells[prefix] = wrong._cells[prefix - 1]
        if wrong._cells[prefix] != UNDECIDED_CELL:
            with pytest.raises(AssertionError):
                judge(wrong, true, 8)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize(("cell_bits", "word_bits"), [(4, 8), (8, 8)])
def test_every_word_is_decided_rightly(name: str, cell_bits: int, word_bits: int) -> None:
    law, true = NARROW[name][0], NARROW[name][1]()
    narrow = Inversion(law, cell_bits=cell_bits, word_bits=word_bits)
    lowest = -100 if law.lowest is None else law.lowest - 1
    for u in (Expansion(word, word_bits, ones) for word in range(1 << word_bits) for ones in (False, True)):
        if 0 < u.known + u.ones < 1 << word_bits:
            found = draw(narrow, u, cell_bits=cell_bits, word_bits=word_bits)
            assert found == quantile(true, u, lowest, law.highest or 100)


def test_a_batch_reads_cells_first_then_words_then_all_the_bits_it_takes() -> None:
    law, true = simple()[:2]
    easy, hard = Expansion(0x4321, 16), [Expansion(cut(true(k), 500), 500) for k in (-1, 3)]
    middling = Expansion(cut(true(1), 30), 30)
    order = [easy, hard[0], middling, hard[1], easy]
    script = b"".join(u.bytes(0, 16) for u in order)
    script += b"".join(u.bytes(16, 64, within=64) for u in (hard[0], middling, hard[1]))
    script += b"".join(u.bytes(start, start + 64) for u in hard for start in range(64, 512, 64))
    stream = CountingStream(ScriptedStream(script))
    drawn = law.draw(Source(stream), 5)
    assert drawn.tolist() == [quantile(true, u, -50, 50) for u in order]
    assert stream.asked == [10, 24, *[8] * 14]


@pytest.mark.parametrize(
    ("ends", "undecided"),
    [
        ((True, True), [10, 20, 30]),
        ((False, True), [0, 9, 10, 20, 30]),
        ((True, False), [10, 20, 30, 31, 40]),
        ((False, False), [0, 9, 10, 20, 30, 31, 40]),
    ],
)
def test_a_table_decides_between_its_boundaries_and_beyond_them_only_where_the_law_ends(
    ends: tuple[bool, bool], undecided: list[int]
) -> None:
    u = np.array([0, 9, 10, 11, 19, 20, 21, 29, 30, 31, 40], np.uint64)
    found, open_ = inversion._locate(np.array([10, 20, 20, 30], np.uint64), u, ends)
    assert u[open_].tolist() == undecided
    assert dict(zip(u.tolist(), found.tolist(), strict=True)) | dict.fromkeys(undecided, -1) == {
        **dict.fromkeys([0, 9], 0),
        **dict.fromkeys([11, 19], 1),
        **dict.fromkeys([21, 29], 3),
        **dict.fromkeys([31, 40], 4),
        **dict.fromkeys(undecided, -1),
    }


def read(law: Sampler, kernels: Kernels, size: int) -> tuple[list[int], list[int]]:
    stream = CountingStream(RepeatableStream(seed="order"))
    return law.draw(Source(stream, kernels), size).tolist(), stream.asked


KINDS: dict[str, Callable[[], Sampler]] = {
    "Laplace": lambda: sampler(DiscreteLaplace(scale=64)),
    "normal": lambda: sampler(RoundedNormal(standard_deviation=10)),
    "coin": lambda: coin_of_rational(THIRD),
    "narrow": lambda: Inversion(NARROW["normal"][0], cell_bits=8),
    "certain": lambda: Inversion(certain(3)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 1000, CHUNK + 1])
def test_both_kernels_read_the_same_bytes_in_the_same_order(kind: str, size: int) -> None:
    drawn, asked = read(KINDS[kind](), NUMPY, size)
    assert (drawn, asked) == read(KINDS[kind](), NUMBA, size)
    assert asked[0] == 2 * min(size, CHUNK)
    assert len(drawn) == size


def test_a_law_next_to_a_multiple_of_the_word_is_drawn_without_endless_search() -> None:
    """F(0) and F(1) are 1/2 -/+ 3^-300: no reasonable precision finds its floor, so both candidates stay open."""
    doubt = Fraction(1, 3**300)
    law = Cumulative(bracket=lambda k, bits: ratio(HALF + (1 if k else -1) * doubt, bits), lowest=0, highest=2)
    table = Inversion(law)
    assert table._doubtful.tolist() == [2**63]
    assert draw(table, Expansion(1, 1)) == 1
    assert draw(table, Expansion(0, 1, ones=True)) == 1
    assert draw(table, Expansion(2**399 - 1, 400)) == 0
    assert draw(table, Expansion(2**399 + 1, 400)) == 2
