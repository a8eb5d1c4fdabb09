"""Noise without end, as sums of geometric variables."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.sets import mass_at
from privately.proving.exact.tails import (
    Geometric,
    Tail,
    Undecided,
    Uneven,
    common_step,
    drawn,
    fresh,
    put,
    renamed,
    residues,
    split,
    summed,
    variables,
    writable,
)
from privately.proving.exact.weights import ONE, Quotient, fraction, weight

Splitter = Callable[[tuple[Any, ...], Tail], list[tuple[tuple[Any, ...], Any]]]

FIRST, SECOND = (Geometric(k, weight(ratio)) for k, ratio in enumerate((Fraction(1, 2), Fraction(1, 3))))
G, H = (Tail(0, ((one, 1),)) for one in (FIRST, SECOND))
STATE = (G, H, (3 + G - H, 7))
WINDOW = 6


def test_draws_have_the_laws_that_are_named() -> None:
    t = Quotient.power(1)
    laplace = dict(drawn("discrete_laplace", (2,), 2, None))
    exponential = dict(drawn("discrete_exponential", (2,), 2, None))
    geometric = dict(drawn("geometric", (Fraction(1, 4),), 1, None))
    for law in (laplace, exponential, geometric):
        assert sum(law.values(), start=0 * ONE) == ONE
    for k in range(6):
        assert mass_at(laplace, k) == mass_at(laplace, -k) == (1 - t) / (1 + t) * t**k
        assert mass_at(exponential, k) == (1 - t) * t**k
        assert fraction(mass_at(geometric, k)) == Fraction(1, 4) * Fraction(3, 4) ** k
    assert not mass_at(exponential, -1)
    assert not mass_at(laplace, Fraction(1, 2))
    assert drawn("geometric", (1,), 1, None) == [(0, ONE)]
    assert drawn("uniform", (1,), 1, None) == [(0, ONE)]


@pytest.mark.parametrize(
    ("law", "argument"), [("discrete_laplace", 0), ("discrete_exponential", -1), ("geometric", 0), ("geometric", 2)]
)
def test_bad_parameters_are_refused(law: str, argument: int) -> None:
    with pytest.raises(NotSupported, match="positive"):
        drawn(law, (argument,), 1, None)


def test_noise_has_no_open_or_noisy_size() -> None:
    with pytest.raises(NotFinite, match="open parameter"):
        drawn("geometric", (Fraction(1, 2),), 1, Between(Fraction(0), Fraction(1)))
    with pytest.raises(NotFinite, match="whose size is noise"):
        drawn("geometric", (G,), 1, None)


def test_arithmetic_is_that_of_the_values() -> None:
    mixed = 2 * (G - H) / 4 + Fraction(1, 2) - H
    for g, h in product(range(4), repeat=2):
        assert put(mixed, {FIRST: g, SECOND: h}) == Fraction(2 * (g - h), 4) + Fraction(1, 2) - h
    assert G - G == 0
    assert G * 0 == 0
    assert 1 - (1 - G) == G
    assert summed(3, ()) == 3
    for bad in (lambda: G * H, lambda: 1 / G, lambda: G / H, lambda: G**2, lambda: int(G)):
        with pytest.raises(NotFinite):
            bad()


def test_comparisons_are_answered_where_all_values_agree() -> None:
    assert G > -1
    assert G >= 0
    assert not G < 0
    assert -G <= 0
    assert Fraction(1, 2) < 1 + G
    assert not (1 + G).is_zero()
    assert abs(-1 - G) == 1 + G
    assert 1 + G > G
    for open_question in (
        lambda: G > 0,
        lambda: G <= 0,
        lambda: G < 5,
        lambda: -G >= 0,
        lambda: G < H,
        G.is_zero,
        (G - H - 1).is_zero,
    ):
        with pytest.raises(Undecided):
            open_question()


def joint(state: tuple[Any, ...], share: Any = ONE) -> dict[tuple[Any, ...], Fraction]:
    """The law of all values of a state, as long as no variable reaches the window."""
    names = list(dict.fromkeys(variables(state)))
    law: dict[tuple[Any, ...], Fraction] = {}
    for values in product(range(WINDOW), repeat=len(names)):
        mass = fraction(share)
        for one, value in zip(names, values, strict=True):
            mass *= (1 - fraction(one.ratio)) * fraction(one.ratio) ** value
        key = put(state, dict(zip(names, values, strict=True)))
        law[key] = law.get(key, Fraction(0)) + mass
    return law


def keeps_the_law(splitter: Splitter, gap: Tail) -> bool:
    """Small values of G and H come from small values of what they are split into, so their masses are whole."""
    before, after = joint(STATE), dict[tuple[Any, ...], Fraction]()
    for part, share in splitter(STATE, gap):
        for key, mass in joint(part, share).items():
            after[key] = after.get(key, Fraction(0)) + mass
    return all(after.get(key) == mass for key, mass in before.items())


@pytest.mark.parametrize("gap", [G - 3, -H, G - H, H - G + 2, 2 * G - H])
def test_splitting_keeps_the_law_of_every_state(gap: Tail) -> None:
    assert keeps_the_law(split, gap)
    assert sum((fraction(share) for _, share in split(STATE, gap)), Fraction(0)) == 1


@pytest.mark.parametrize("period", [1, 2, 3])
def test_residues_keep_the_law_of_every_state(period: int) -> None:
    assert keeps_the_law(lambda state, _: residues(state, FIRST, period), G)
    if period > 1:
        assert not keeps_the_law(lambda state, _: residues(state, FIRST, period)[1:], G)


def test_whole_parts_are_those_of_the_values() -> None:
    assert (2 * G + Fraction(5, 2)).__floor__() == 2 * G + 2
    with pytest.raises(Uneven) as asked:
        (G / 3 + H).__floor__()
    assert (asked.value.one, asked.value.period) == (FIRST, 3)
    assert common_step([Fraction(1, 2), Fraction(2, 3), 3]) == 6


def _no_shift(state: tuple[Any, ...], gap: Tail) -> list[tuple[tuple[Any, ...], Any]]:
    return [(put(part, {one: Tail(-1, ((one, 1),)) for one in variables(part)}), s) for part, s in split(state, gap)]


def _dropped(state: tuple[Any, ...], gap: Tail) -> list[tuple[tuple[Any, ...], Any]]:
    return split(state, gap)[:-1]


def _wrong_mass(state: tuple[Any, ...], gap: Tail) -> list[tuple[tuple[Any, ...], Any]]:
    return [(part, share * (1 - FIRST.ratio * SECOND.ratio)) for part, share in split(state, gap)]


def _old_ratio(state: tuple[Any, ...], gap: Tail) -> list[tuple[tuple[Any, ...], Any]]:
    """The smaller of two noises with the ratio of one of them."""
    names = {one.number: one for one in (FIRST, SECOND)}
    slow = Geometric(2, FIRST.ratio)
    return [
        (put(part, {one: Tail(0, ((slow, 1),)) for one in variables(part) if one.number not in names}), share)
        for part, share in split(state, gap)
    ]


@pytest.mark.parametrize("planted", [_no_shift, _dropped, _wrong_mass, _old_ratio])
def test_planted_faults_are_found(planted: Splitter) -> None:
    assert not keeps_the_law(planted, G - H)


def test_splitting_ends() -> None:
    def parts(state: tuple[Any, ...]) -> int:
        try:
            return int(state[0] + 4 > state[1] + state[2]) * 0 + 1
        except Undecided as undecided:
            return sum(parts(part) for part, _ in split(state, undecided.gap))

    third = Tail(0, ((Geometric(2, weight(Fraction(1, 5))), 1),))
    assert 10 < parts((G, H, third)) < 200


def test_names_do_not_matter() -> None:
    one, other = Geometric(4, FIRST.ratio), Geometric(2, SECOND.ratio)
    assert renamed((Tail(1, ((one, 1),)), (5, Tail(0, ((other, -1),))))) == (1 + G, (5, -H))
    assert renamed((1, 2)) == (1, 2)
    drawn_again = fresh(G, (G, H))
    assert [variable.number for variable in variables(drawn_again)] == [2]
    assert fresh(3, (G,)) == 3


def test_tails_in_words() -> None:
    assert str(3 + G) == "3 or more"
    assert str(-G - 1) == "-1 or less"
    assert str(2 * G) == "0, 2, 4, ..."
    assert str(G - H) == "0 and noise that other places tell"
    assert repr(G - H) == "0 + 1*G0 + -1*G1"


def test_weights_have_a_limit() -> None:
    assert writable(ONE) == ONE
    with pytest.raises(NotFinite, match="too long"):
        writable(Quotient.power(20_000))
