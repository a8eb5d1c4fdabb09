"""Proposals through bins: accepted as often as the density says, put together exactly, at any size."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import floor
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, Law, RoundedNormal
from privately.noise.bins import PLACE_BITS, Bins
from privately.noise.brackets import Bracket
from privately.noise.compiled import NUMBA
from privately.noise.kernels import COIN_BITS, NUMPY
from privately.noise.repeatable import RepeatableStream
from privately.noise.samplers import build
from privately.noise.source import Source
from tests.noise.scripted import CountingStream, Expansion, ScriptedStream, ScriptEnded, as_read_by_inversion, cut
from tests.rounding.truth import real, truth

FINE = 2000
COINS = 1 << COIN_BITS
HEADS = Expansion(0, COIN_BITS)
"""A coin that is below every density."""

LAWS: dict[str, Law] = {
    str(law): law
    for law in (
        DiscreteLaplace(scale="65"),
        DiscreteLaplace(scale="1000/3"),
        DiscreteLaplace(scale=2**53),
        DiscreteLaplace(scale=2**60),
        DiscreteExponential(scale="65.5"),
        DiscreteExponential(scale=2**60),
        Geometric(success="1/65"),
        Geometric(success=Fraction(1, 10**9)),
        DiscreteGaussian(variance=4097),
        DiscreteGaussian(variance=10**12),
        DiscreteGaussian(variance=2**80),
        RoundedNormal(standard_deviation="64.1"),
        RoundedNormal(standard_deviation="1000"),
        RoundedNormal(standard_deviation=2**40),
    )
}


def bins_of(law: Law) -> Bins:
    made = build(law)
    assert isinstance(made, Bins)
    return made


class Proposal(NamedTuple):
    """What a stream says: the bin, the place in it, the coin, the sign."""

    j: int
    place: Expansion
    coin: Expansion = HEADS
    minus: bool = False


@lru_cache
def bytes_for_bin(bins: Bins, j: int) -> bytes:
    """What the inversion that chooses bins reads in order to arrive at j, and not a byte more."""
    coarse = bins._shape.coarse
    before = coarse._law.bracket(j - 1, FINE).upper if j else 0
    middle = (before + coarse._law.bracket(j, FINE).lower) // 2
    stream = ScriptedStream(as_read_by_inversion(Expansion(middle, FINE)))
    assert coarse.draw(Source(stream), 1).tolist() == [j]
    return stream.script[: stream.position]


def toss(proposal: Proposal) -> bytes:
    return (proposal.coin.digits(0, COIN_BITS) << 1 | proposal.minus).to_bytes(4, "little")


def more_bits(bins: Bins, proposal: Proposal, rounds: int) -> bytes:
    """64 more digits of the coin and, for a real place, of the place, again and again."""
    script = b""
    for i in range(rounds):
        script += proposal.coin.bytes(COIN_BITS + 64 * i, COIN_BITS + 64 * i + 64)
        if bins._shape.real:
            script += proposal.place.bytes(PLACE_BITS + 64 * i, PLACE_BITS + 64 * i + 64)
    return script


def propose(bins: Bins, proposal: Proposal, *, rounds: int = 10) -> list[int]:
    """What becomes of one proposal: one outcome, or none."""
    script = bytes_for_bin(bins, proposal.j) + proposal.place.bytes(0, PLACE_BITS) + toss(proposal)
    stream = ScriptedStream(script + more_bits(bins, proposal, rounds))
    found: list[int] = bins._propose(Source(stream), 1).tolist()
    return found


def density(law: Law, y: Fraction) -> Any:
    """In proportion to the density or the probability of y >= 0, as an mpmath number."""
    match law:
        case DiscreteLaplace(scale=scale) | DiscreteExponential(scale=scale):
            return mpmath.exp(-real(y / scale))
        case Geometric(success=success):
            return mpmath.exp(real(y) * mpmath.log1p(-real(success)))
        case DiscreteGaussian(variance=variance):
            return mpmath.exp(-real(y * y / (2 * variance)))
        case RoundedNormal(standard_deviation=deviation):
            return mpmath.exp(-real(y * y / (2 * deviation**2)))
    raise TypeError(law)


def position(bins: Bins, j: int, place: Expansion) -> Fraction:
    """Where a proposal lies: anywhere in its bin, or at a whole number."""
    width = 1 << bins._shape.shift
    within = Fraction(place.known * width, 1 << place.bits)
    return Fraction(j * width + (within if bins._shape.real else floor(within)))


@lru_cache
def height(law: Law, bins: Bins, j: int, place: Expansion) -> Fraction:
    """The density at the place as a part of that where the bin begins."""
    y, start = position(bins, j, place), Fraction(j << bins._shape.shift)
    return truth(lambda: density(law, y) / density(law, start), 300)


def expected(law: Law, bins: Bins, proposal: Proposal) -> list[int]:
    j, place, coin, minus = proposal
    y = position(bins, j, place)
    size = floor(y + Fraction(1, 2)) if isinstance(law, RoundedNormal) else int(y)
    signed = not isinstance(law, (DiscreteExponential, Geometric))
    second_zero = signed and minus and y == 0 and not isinstance(law, RoundedNormal)
    accepted = coin.is_below(height(law, bins, j, place)) and not second_zero
    return [-size if signed and minus else size] if accepted else []


def coins(heads: Fraction) -> Iterator[Expansion]:
    """Next to where heads turn to tails, closer and closer, and far from it."""
    for bits in (COIN_BITS, 64, 95, 200, 500):
        for near in (cut(heads, bits) + step for step in (-1, 0, 1)):
            for u in (Expansion(near, bits), Expansion(near, bits, ones=True)):
                if near >= 0 and u.known + u.ones < 1 << bits:
                    yield u
    yield from (HEADS, Expansion(1, 1), Expansion((1 << 20) - 1, 20))


PLACES = [
    Expansion(0, 1),
    Expansion(1, 1),
    Expansion((1 << 64) - 1, 64),
    Expansion(0x123456789ABCDEF0123456789ABCDEF, 128),
    Expansion((1 << 200) // 7, 200),
    Expansion((1 << 300) - 1, 300),
]


def misjudged(law: Law, bins: Bins) -> list[Proposal]:
    """The proposals of which something wrong becomes."""
    found = []
    for j in (0, 1, 37, 90):
        for i, place in enumerate(PLACES):
            for coin in coins(height(law, bins, j, place)):
                proposal = Proposal(j, place, coin, minus=bool((i + coin.known) & 1))
                if propose(bins, proposal) != expected(law, bins, proposal):
                    found.append(proposal)
    return found


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", LAWS)
def test_every_proposal_is_accepted_as_its_density_says(name: str) -> None:
    assert misjudged(LAWS[name], bins_of(LAWS[name])) == []


def simple(law: Law | None = None) -> tuple[Law, Bins]:
    chosen = law or DiscreteLaplace(scale=65)
    return chosen, bins_of(chosen)


def changed(bins: Bins, **parts: Any) -> Bins:
    return Bins(dataclasses.replace(bins._shape, **parts))


def test_looking_at_hidden_digits_of_a_place_is_noticed() -> None:
    law, bins = simple()
    bins._mask = np.uint64((1 << 64) - 1)
    assert misjudged(law, bins) != []


def test_a_wrong_slope_is_noticed() -> None:
    law, bins = simple()
    slope = bins._shape.slope
    assert misjudged(law, changed(bins, slope=dataclasses.replace(slope, upper=slope.upper * 99 // 100))) != []
    assert misjudged(law, changed(bins, slope=dataclasses.replace(slope, lower=slope.lower * 101 // 100))) != []


@pytest.mark.parametrize("shift", [1 << 33, -(1 << 33)])
def test_a_density_off_by_two_units_is_noticed(shift: int) -> None:
    law, bins = simple(RoundedNormal(standard_deviation=1000))

    def off(j: int, place: int, bits: int, precision: int) -> Bracket:
        found = bins._shape.density(j, place, bits, precision)
        return Bracket(found.lower + shift, found.upper + shift)

    assert misjudged(law, changed(bins, density=off)) != []


def test_far_bins_of_a_bell_are_decided_exactly_too() -> None:
    """The screen leaves bins beyond 1000 to exact arithmetic."""
    law, bins = simple(DiscreteGaussian(variance=10**6))
    for j in (1000, 1001, 1100):
        for place in PLACES:
            for coin in coins(height(law, bins, j, place)):
                assert propose(bins, Proposal(j, place, coin)) == expected(law, bins, Proposal(j, place, coin))


def test_a_real_place_is_neither_the_beginning_nor_the_end_of_what_is_known_of_it() -> None:
    """The density meets a coin of 95 bits within what 128 bits of a place leave open: only more of both can tell."""
    law, bins = simple(RoundedNormal(standard_deviation=1000))
    j, coin = 400, (97 << COIN_BITS + 64) // 100
    met = Fraction(coin, 1 << COIN_BITS + 64)

    def meeting() -> Any:
        """The part of the bin where the density is `met`."""
        c = real(Fraction(4**bins._shape.shift, 10**6))
        return mpmath.sqrt(j * j - 2 * mpmath.log(real(met)) / c) - j

    place = cut(truth(meeting, 300), 128)
    for beyond, near in (
        (Expansion((place << 200) + (1 << 200) - 1, 328), Expansion(coin - 1, COIN_BITS + 64, ones=True)),
        (Expansion(place, 128), Expansion(coin, COIN_BITS + 64)),
    ):
        proposal = Proposal(j, beyond, near)
        assert propose(bins, proposal) == expected(law, bins, proposal)
    assert height(law, bins, j, Expansion(place + 1, 128)) < met < height(law, bins, j, Expansion(place, 128))


@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("j", [0, 3])
def test_real_places_are_rounded_to_the_nearest_integer(j: int, minus: bool) -> None:
    _, bins = simple(RoundedNormal(standard_deviation=1000))
    shift, sign = bins._shape.shift, -1 if minus else 1
    for n in range(1 << shift):
        half = (2 * n + 1) << (PLACE_BITS - shift - 1)
        start = j << shift
        assert propose(bins, Proposal(j, Expansion(half, PLACE_BITS), HEADS, minus)) == [sign * (start + n + 1)]
        assert propose(bins, Proposal(j, Expansion(half - 1, PLACE_BITS, ones=True), HEADS, minus)) == [
            sign * (start + n)
        ]


@pytest.mark.parametrize(
    ("law", "minus_zero"),
    [
        (DiscreteLaplace(scale=1000), []),
        (DiscreteGaussian(variance=10**6), []),
        (DiscreteLaplace(scale=2**60), []),
        (RoundedNormal(standard_deviation=1000), [0]),
        (DiscreteExponential(scale=1000), [0]),
        (Geometric(success="1/1000"), [0]),
    ],
    ids=str,
)
def test_only_a_whole_law_with_signs_has_a_second_zero_to_reject(law: Law, minus_zero: list[int]) -> None:
    _, bins = simple(law)
    least = Expansion((1 << PLACE_BITS - bins._shape.shift - 1) - 1, PLACE_BITS)
    assert propose(bins, Proposal(0, least, HEADS)) == [0]
    assert propose(bins, Proposal(0, least, HEADS, minus=True)) == minus_zero
    [one] = propose(bins, Proposal(0, Expansion(1, bins._shape.shift), HEADS, minus=True))
    assert abs(one) == 1
    [beginning] = propose(bins, Proposal(1, least, HEADS, minus=True))
    assert abs(beginning) == 1 << bins._shape.shift


@pytest.mark.parametrize("exponent", [7, 8, 20, 21, 37, 52, 53, 54, 59, 60])
def test_outcomes_are_put_together_exactly_at_every_width(exponent: int) -> None:
    _, bins = simple(DiscreteLaplace(scale=2**exponent))
    shift = bins._shape.shift
    assert shift == exponent - 5
    for within in {0, 1, (1 << shift) - 1, (1 << shift) // 3}:
        place = Expansion(within << 1 | 1, shift + 1)
        drawn = [propose(bins, Proposal(5, place, HEADS, minus)) for minus in (False, True)]
        assert drawn == [[(5 << shift) + within], [-(5 << shift) - within]]


def batch(bins: Bins, rounds: list[list[Proposal]]) -> bytes:
    """What rounds of proposals read, if the screen decides them all: cells, words, places, tosses."""
    script = b""
    for proposals in rounds:
        chosen = [bytes_for_bin(bins, proposal.j) for proposal in proposals]
        script += b"".join(one[:2] for one in chosen) + b"".join(one[2:10] for one in chosen)
        script += b"".join(one[10:] for one in chosen)
        script += b"".join(proposal.place.bytes(0, PLACE_BITS) for proposal in proposals)
        script += b"".join(map(toss, proposals))
    return script


THIRD = Expansion((1 << 64) // 3, 64)
TAILS = Expansion(COINS - 1, COIN_BITS)
LONGEST = DiscreteLaplace(scale=2**53)


def test_python_integers_take_over_where_64_bits_end() -> None:
    """Bin 2^15 begins at 2^63. What came before stays, and what comes after is drawn as ever."""
    _, bins = simple(LONGEST)
    shift = bins._shape.shift
    start, part = 1 << 15, (1 << shift) // 3
    rounds = [
        [
            Proposal(7, THIRD, HEADS, minus=True),
            Proposal(1, THIRD, TAILS),
            Proposal(2, THIRD),
            Proposal(1, THIRD, TAILS),
        ],
        [Proposal(1, THIRD, TAILS), Proposal(start, THIRD)],
        [Proposal(start + 1, THIRD, HEADS, minus=True)],
    ]
    stream = ScriptedStream(batch(bins, rounds))
    drawn = bins.draw(Source(stream), 4)
    long = [(start << shift) + part, -(start + 1 << shift) - part]
    assert drawn.tolist() == [-(7 << shift) - part, (2 << shift) + part, *long]
    assert min(map(abs, long)) > 2**63
    assert drawn.dtype == object
    assert all(type(one) is int for one in drawn)
    assert stream.left == 0


def test_64_bits_last_as_long_as_they_can() -> None:
    """Promotion begins with bin 2^14, which begins at 2^62; one batch may hold both kinds."""
    _, bins = simple(LONGEST)
    shift = bins._shape.shift
    for j, kind in ((1 << 14) - 1, np.int64), (1 << 14, object):
        drawn = bins.draw(Source(ScriptedStream(batch(bins, [[Proposal(j, THIRD), Proposal(0, THIRD)]]))), 2)
        assert drawn.tolist() == [(j << shift) + (1 << shift) // 3, (1 << shift) // 3]
        assert drawn.dtype == kind


def test_wide_laws_give_python_integers_always() -> None:
    for law, kind in ((DiscreteLaplace(scale=2**60), object), (LONGEST, np.int64)):
        _, bins = simple(law)
        drawn = bins.draw(Source(ScriptedStream(batch(bins, [[Proposal(0, THIRD), Proposal(1, THIRD)]]))), 2)
        assert drawn.dtype == kind
        assert all(type(one) is int for one in drawn.tolist())
    with pytest.raises(ScriptEnded):
        bins_of(LONGEST).draw(Source(ScriptedStream(b"")), 1)


@pytest.mark.parametrize("law", [DiscreteLaplace(scale=1000), RoundedNormal(standard_deviation=1000)], ids=str)
def test_both_kernels_read_the_same_bytes_in_the_same_order(law: Law) -> None:
    found = []
    for loops in (NUMPY, NUMBA):
        stream = CountingStream(RepeatableStream(seed="bins"))
        found.append((bins_of(law).draw(Source(stream, loops), 200_000).tolist(), stream.asked))
    assert found[0] == found[1]


def weight(bins: Bins, j: int) -> Fraction:
    """The probability of a bin, good to 2^-300."""
    law = bins._shape.coarse._law
    lower = law.bracket(j - 1, 300).lower if j else 0
    return Fraction(law.bracket(j, 300).lower - lower, 1 << 300)


def outcome_of(bins: Bins, proposal: Proposal) -> list[int] | None:
    """One outcome or none, or None if the first bits do not decide."""
    try:
        return propose(bins, proposal, rounds=0)
    except ScriptEnded:
        return None


def counts(bins: Bins, j: int, place: Expansion, minus: bool) -> tuple[int, int]:
    """How many coins are surely accepted, and how many may be."""

    def least(unwanted: bool) -> int:
        low, high = 0, COINS
        while low < high:
            coin = (low + high) // 2
            found = outcome_of(bins, Proposal(j, place, Expansion(coin, COIN_BITS), minus))
            go_on = bool(found) or (found is None and unwanted)
            low, high = (coin + 1, high) if go_on else (low, coin)
        return low

    return least(False), least(True)


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(scale=65),
        DiscreteExponential(scale=140),
        Geometric(success="1/70"),
        DiscreteGaussian(variance=70**2),
        DiscreteGaussian(variance=150**2),
    ],
    ids=str,
)
def test_counting_the_coins_of_every_proposal_gives_the_law(law: Law) -> None:
    """Bin by bin, place by place, sign by sign: masses, from below and above, in proportion to the probabilities."""
    _, bins = simple(law)
    shift, masses = bins._shape.shift, defaultdict[int, list[Fraction]](lambda: [Fraction(0)] * 2)
    for j in range(3):
        for place in (Expansion(within, shift) for within in range(1 << shift)):
            for minus in (False, True):
                surely, possibly = counts(bins, j, place, minus)
                if possibly:
                    [outcome] = propose(bins, Proposal(j, place, HEADS, minus))
                    below, above = masses[outcome]
                    masses[outcome] = [below + weight(bins, j) * surely, above + weight(bins, j) * possibly]
    assert len(masses) == (3 << shift) * (1 if min(masses) == 0 else 2) - (min(masses) < 0)
    at_zero = Fraction(law.pmf(0).lower)
    for outcome, (below, above) in masses.items():
        assert below / masses[0][1] <= Fraction(law.pmf(outcome).lower) / at_zero <= above / masses[0][0]
        assert above - below < above / 10**4


@pytest.mark.parametrize("deviation", ["64.1", "150"])
def test_integrating_the_acceptance_over_all_places_gives_the_rounded_normal(deviation: str) -> None:
    law, bins = simple(RoundedNormal(standard_deviation=deviation))
    width = 1 << bins._shape.shift

    def mass(start: Fraction, end: Fraction) -> Any:
        """Of what lies between two numbers without a bin's end between them."""
        j = int(start / width)

        def accepted(x: Any) -> Any:
            place = int(mpmath.floor(x * 2**150))
            return mpmath.mpf(bins._shape.density(j, place, 150, 200).lower) / 2**200

        part = mpmath.quad(accepted, [real(start / width - j), real(end / width - j)])
        return real(weight(bins, j)) * part

    with mpmath.workdps(40):
        half = Fraction(1, 2)
        at_zero = 2 * mass(Fraction(0), half)
        for n in range(1, 2 * width + 2):
            split = [n - half, Fraction(n), n + half] if n % width == 0 else [n - half, n + half]
            found = sum(mass(start, end) for start, end in pairwise(split)) / at_zero
            assert abs(found - real(Fraction(law.pmf(n).lower) / Fraction(law.pmf(0).lower))) < mpmath.mpf(10) ** -30
