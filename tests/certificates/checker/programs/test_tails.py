"""Numbers with noise: sums, signs, and parts that together are the whole."""

import pytest

from privately.certificates.checker.programs import tails
from privately.certificates.checker.programs.exact import Beyond, fraction
from privately.certificates.checker.programs.tails import Tail, Undecided, Variable, noise
from privately.certificates.checker.programs.weights import Decay, Field

FIELD = Field(2, b"tails", 256)
SLOW, FAST = Decay(1, 1, 1), Decay(1, 3, 0)
G, H = noise(0, SLOW), noise(1, FAST)


def mass(field: Field, values: dict[Variable, int]) -> int:
    """The fingerprint of the chance that variables have these values."""
    found = 1
    for one, value in values.items():
        more, rest = field.shares(one.decay)
        found = found * rest.mark * pow(more.mark, value, field.prime) % field.prime
    return found


def chances(state: tuple[object, ...], most: int) -> dict[tuple[int, ...], int]:
    """Every plain state with small variables, by its fingerprint."""
    names = list(dict.fromkeys(tails.variables(state)))
    found: dict[tuple[int, ...], int] = {}
    values: list[list[int]] = [[]]
    for _ in names:
        values = [[*one, value] for one in values for value in range(most)]
    for chosen in values:
        places = dict(zip(names, chosen, strict=True))
        plain = tuple(tails.put(one, lambda variable: places[variable]) for one in state)  # noqa: B023
        found[plain] = (found.get(plain, 0) + mass(FIELD, places)) % FIELD.prime
    return found


@pytest.mark.parametrize("gap", [G, tails.multiply(G, -1), tails.subtract(G, H), tails.subtract(H, G)])
def test_parts_are_the_whole(gap: Tail) -> None:
    state = (G, H, 5)
    whole, split = chances(state, 3), dict[tuple[int, ...], int]()
    for part, share in tails.split(state, gap, FIELD):
        for plain, chance in chances(part, 4).items():
            split[plain] = (split.get(plain, 0) + share.mark * chance) % FIELD.prime
    assert all(split[plain] == chance for plain, chance in whole.items())


def test_sums_hold_every_variable_once() -> None:
    assert tails.add(G, tails.multiply(G, -1)) == 0
    assert tails.add(G, 2) == noise(0, SLOW, 2)
    assert tails.multiply(tails.add(G, 1), fraction(1, 2)) == noise(0, SLOW, fraction(1, 2), fraction(1, 2))
    assert len({tails.add(G, H), tails.add(H, G)}) == 1
    assert tails.multiply(G, 0) == 0
    with pytest.raises(Beyond, match="list"):
        tails.add((1,), 1)


def test_signs_are_said_where_there_is_one() -> None:
    assert tails.is_negative(-1)
    assert not tails.is_negative(G)
    assert tails.is_negative(noise(0, SLOW, -1, -1))
    assert not tails.is_zero(noise(0, SLOW, 1))
    assert not tails.is_zero(noise(0, SLOW, -1, -1))
    for vague in (noise(0, SLOW, -1), tails.multiply(G, -1)):
        with pytest.raises(Undecided):
            tails.is_negative(vague)
    with pytest.raises(Undecided):
        tails.is_zero(G)


def test_names_of_variables_do_not_matter() -> None:
    state = (noise(4, SLOW), (noise(2, FAST), noise(4, SLOW)))
    assert tails.renamed(state) == (noise(0, SLOW), (noise(1, FAST), noise(0, SLOW)))
    assert tails.unused(state) == 5
    assert tails.unused((1, 2)) == 0


def test_the_smaller_of_two_falls_as_both_do() -> None:
    assert tails.product(Decay(1, 2, 3), Decay(2, 3, 1)) == Decay(1, 3, 4)
