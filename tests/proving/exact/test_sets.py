"""Laws with tails as masses of sets."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.sets import (
    apart,
    has_exponentials,
    has_tails,
    in_words,
    includes,
    mass_at,
    met,
    side_by_side,
)
from privately.proving.exact.spreads import Spread, law_of_sum
from privately.proving.exact.tails import Geometric, Tail, variables
from privately.proving.exact.weights import ONE, Quotient, Weight, fraction, weight

Law = dict[Any, Weight]
Comparer = Callable[[Law, Law], tuple[Law, Law]]

HALF, THIRD = weight(Fraction(1, 2)), weight(Fraction(1, 3))
WINDOW = 60


def tail(start: Any, *, step: Any = 1, ratio: Weight = HALF, number: int = 0) -> Tail:
    return Tail(start, ((Geometric(number, ratio), step),))


def points(law: Law) -> dict[Any, Fraction]:
    """The first values of every tail, one by one, with their masses; up to the window."""
    found: dict[Any, Fraction] = {}
    for output, mass in law.items():
        leaf = output[0] if isinstance(output, tuple) else output
        if not isinstance(leaf, Tail):
            found[output] = found.get(output, Fraction(0)) + fraction(mass)
            continue
        ((one, step),) = leaf.factors
        ratio = fraction(one.ratio)
        for k in range(WINDOW):
            value = leaf.constant + k * step
            key = (value, *output[1:]) if isinstance(output, tuple) else value
            found[key] = found.get(key, Fraction(0)) + fraction(mass) * (1 - ratio) * ratio**k
    return found


def some_law(rng: random.Random, ratio: Weight) -> Law:
    """Single values and tails that overlap one another; outputs are numbers, or such numbers in a list."""
    law: Law = {}
    for _ in range(rng.randint(2, 5)):
        start = rng.randint(-3, 3) + Fraction(rng.choice([0, 0, 1]), 2)
        leaf = rng.choice([start, tail(start, ratio=ratio), tail(start, ratio=ratio, step=-1)])
        key = rng.choice([leaf, (leaf, rng.randint(0, 1))])
        law[key] = law.get(key, 0) + weight(Fraction(rng.randint(1, 9), 10))
    return law


def excess(left: dict[Any, Fraction], right: dict[Any, Fraction], factor: Fraction) -> Fraction:
    return sum(
        (max(Fraction(0), mass - factor * right.get(key, Fraction(0))) for key, mass in left.items()), Fraction(0)
    )


def most(left: dict[Any, Fraction], right: dict[Any, Fraction]) -> Fraction:
    """The largest ratio; a large number where an output is missing."""
    return max(
        (mass / right[key] if right.get(key) else Fraction(10**9) for key, mass in left.items()), default=Fraction(0)
    )


def disagreements(compare: Comparer) -> int:
    rng, found = random.Random(5), 0
    for _ in range(60):
        ratio = rng.choice([HALF, THIRD])
        left, right = some_law(rng, ratio), some_law(rng, ratio)
        sets = [{key: fraction(mass) for key, mass in law.items()} for law in compare(left, right)]
        ours, theirs = sets
        window = points(left), points(right)
        for factor in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)):
            missing = (1 + factor) * Fraction(1, 2**40)
            found += abs(excess(ours, theirs, factor) - excess(*window, factor)) > missing
        inside = {key: mass for key, mass in window[0].items() if abs(key[0] if isinstance(key, tuple) else key) < 20}
        found += most(inside, window[1]) != most(ours, theirs)
    return found


def test_sets_agree_with_a_long_window() -> None:
    assert disagreements(side_by_side) == 0


def _as_they_are(left: Law, right: Law) -> tuple[Law, Law]:
    """Tails with different starts as different outputs."""
    return left, right


def _by_direction(left: Law, right: Law) -> tuple[Law, Law]:
    """All tails that rise as one output, wherever they start."""

    def merged(law: Law) -> Law:
        found: Law = {}
        for key, mass in law.items():
            name = ("up" if key.factors[0][1] > 0 else "down") if isinstance(key, Tail) else key
            found[name] = found.get(name, 0) + mass
        return found

    return merged(left), merged(right)


def _without_tails(left: Law, right: Law) -> tuple[Law, Law]:
    ours, theirs = side_by_side(left, right)
    return tuple({key: mass for key, mass in law.items() if not has_tails([key])} for law in (ours, theirs))  # type: ignore[return-value]  # two laws


@pytest.mark.parametrize("planted", [_as_they_are, _by_direction, _without_tails])
def test_planted_faults_are_found(planted: Comparer) -> None:
    assert disagreements(planted) > 10


def test_a_tail_and_its_first_values() -> None:
    left, right = side_by_side({tail(0): ONE}, {2: ONE})
    assert list(left) == [0, 1, 2, tail(3)]
    assert [fraction(mass) for mass in left.values()] == [
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 8),
        Fraction(1, 8),
    ]
    assert right == {2: ONE}
    assert len(apart({tail(0): HALF, tail(-1, step=-1): HALF})) == 2
    assert side_by_side({1: ONE}, {2: ONE}) == ({1: ONE}, {2: ONE})


def test_the_mass_of_one_output() -> None:
    law: Law = {(tail(0), 5): HALF, (1, 5): HALF}
    assert fraction(mass_at(law, (1, 5))) == Fraction(5, 8)
    assert not mass_at(law, (1, 6))
    assert not mass_at(law, (Fraction(1, 2), 5))
    assert not mass_at(law, 1)


def test_what_an_output_stands_for() -> None:
    falling = (tail(3, step=-2), 5)
    assert [value for value in range(-2, 6) if includes(falling, (value, 5))] == [-1, 1, 3]
    assert not includes(falling, (3, 6))
    assert not includes(falling, (3,))
    assert not includes(falling, 3)
    assert not includes(tail(0), (1,))
    assert not includes(tail(0), Fraction(1, 2))
    assert includes((1, 2), (1, 2))


def test_what_a_law_holds() -> None:
    assert has_tails([(1, tail(0))])
    assert not has_tails([(1, 2)])
    assert has_exponentials({tail(0, ratio=Quotient.power(1)): ONE})
    assert not has_exponentials({tail(0): ONE})


G3, H3 = tail(0, ratio=THIRD), tail(0, number=1, ratio=THIRD)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({(tail(0) + tail(0, number=1), tail(1) - tail(0, number=1)): ONE}, {}, "ties"),
        (
            {(tail(0), tail(0, number=1)): HALF, (tail(0, ratio=THIRD), tail(0, number=1, ratio=THIRD)): HALF},
            {},
            "depend",
        ),
        ({tail(0): ONE}, {tail(0, step=1009): ONE}, "in steps that"),
        ({tail(0): ONE}, {10**6: ONE}, "values apart"),
    ],
)
def test_what_has_no_common_sets_is_refused(left: Law, right: Law, message: str) -> None:
    with pytest.raises(NotFinite, match=message):
        side_by_side(left, right)


def test_noises_of_other_sizes_and_steps_meet() -> None:
    [met_once] = met({tail(0): ONE}, {tail(0, ratio=THIRD): ONE})
    assert met_once.masses == (ONE, ONE)
    assert met_once.differing == ((Geometric(0, HALF), Geometric(0, THIRD)),)
    odd, even = met({tail(0): ONE}, {tail(0, step=2): ONE})
    assert [fraction(one) for one in (*even.masses, *odd.masses)] == [Fraction(2, 3), 1, Fraction(1, 3), 0]
    mixed: Any = Spread(0, {(HALF, 1): HALF, (THIRD, 1): HALF})
    assert side_by_side({tail(0): HALF, tail(0, ratio=THIRD): HALF}, {})[0] == {Tail(0, ((mixed, 1),)): ONE}
    left, right = side_by_side({tail(0): ONE}, {tail(0, ratio=THIRD): ONE})
    assert set(left) != set(right)


def test_sums_of_noises_are_one_noise() -> None:
    """Of two independent sums in a list each has a law of its own."""
    first, second = tail(0) + tail(0, number=1), tail(0, number=2) + tail(0, number=3, ratio=THIRD)
    [(output, mass)] = apart({(first, second): ONE}).items()
    assert mass == 1
    noises: list[Any] = list(variables(output))
    assert [one.falls for one in noises] == [law_of_sum([HALF, HALF]), law_of_sum([HALF, THIRD])]
    assert fraction(mass_at({first: ONE}, 3)) == Fraction(4, 32)
    assert fraction(mass_at({tail(0) - tail(0, number=1, ratio=THIRD): ONE}, -1)) == Fraction(1, 3) * Fraction(2, 5)


def test_sizes_may_differ_between_outputs_that_never_meet() -> None:
    law: Law = {(0, tail(0)): HALF, (1, tail(0, ratio=THIRD)): HALF}
    assert [list(one.values()) for one in side_by_side(law, law)] == [[HALF, HALF]] * 2


G, H = tail(0), tail(0, ratio=THIRD, number=1)


def test_an_earlier_place_tells_the_noise_of_a_later_one() -> None:
    """Sums of noise, one after the other: as good as the noises themselves."""
    left = {(G, G + H): HALF, (0, H): HALF}
    right = {(G + 1, G + H + 2): HALF, (0, H): HALF}
    one, other = side_by_side(left, right)
    plain = side_by_side({(G, H): HALF, (0, H): HALF}, {(G + 1, H + 1): HALF, (0, H): HALF})
    assert sorted(map(fraction, one.values())) == sorted(map(fraction, plain[0].values()))
    assert sorted(map(fraction, other.values())) == sorted(map(fraction, plain[1].values()))
    assert {(a, b - a) for a, b in one} == set(plain[0])
    assert mass_at(left, (3, 5)) == HALF * HALF**4 * THIRD**2 * (1 - THIRD)


def test_whatever_is_taken_away_is_taken_from_all() -> None:
    """(G, G) lies on a line that (G, 5) meets once: the sets are told apart."""
    with pytest.raises(NotFinite, match="ties"):
        side_by_side({(G, G): ONE}, {(G, 5): ONE})


def test_values_of_tied_noise_are_recognised() -> None:
    assert includes((G, G + H), (2, 3))
    assert includes((G, 2 * G + H - 1), (2, 3))
    assert not includes((G, G + H), (2, 1))
    assert not includes((G, G + H), (-1, 1))
    assert not includes((G, G), (1, 2))
    assert not includes((G, G + H), 3)


def test_words_for_outputs_mean_one_set() -> None:
    assert in_words((G, 3 - H)) == "[0 or more, 3 or less]"
    assert in_words((5 + G, 3 + G)) == "[5 + i, 3 + i], i from 0 on"
    assert in_words((G, 1 - G - 2 * H)) == "[0 + i, 1 - i - 2*i1], i and i1 from 0 on"
    assert in_words((2 * G, 0)) == "[0 + 2*i, 0], i from 0 on"
    assert in_words(2 * G) == "0, 2, 4, ..."
    assert in_words((True, 0)) == "[1, 0]"
