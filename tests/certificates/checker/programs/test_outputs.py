"""Laws with tails over the same sets: beside a long window of single values, and what cannot be laid side by side."""

from typing import Any

import pytest

from privately.certificates.checker.programs import outputs
from privately.certificates.checker.programs.exact import Beyond, fraction
from privately.certificates.checker.programs.outputs import side_by_side
from privately.certificates.checker.programs.tails import Tail, add, noise
from privately.certificates.checker.programs.weights import Decay, Field, Weight
from privately.certificates.checker.work import Work

FIELD = Field(2, b"outputs", 256)
SLOW, FAST = Decay(1, 1, 1), Decay(1, 1, 3)
HALF = FIELD.rational(fraction(1, 2))


def laid(one: dict[Any, Weight], other: dict[Any, Weight]) -> tuple[Any, Any]:
    left, right, rays = side_by_side(one, other, FIELD, Work())
    assert not rays
    return left, right


def up(start: int, decay: Decay = SLOW, number: int = 0) -> Tail:
    return noise(number, decay, start)


def down(start: int) -> Tail:
    return noise(0, SLOW, start, -1)


def at(law: dict[Any, Weight], value: int) -> int:
    """The fingerprint of the mass at one value, of a law as it is given or laid out."""
    total = 0
    for output, weight in law.items():
        leaf = output[1][0] if isinstance(output, tuple) else output
        start: Any = leaf.constant if isinstance(leaf, Tail) else 0
        factor: Any = leaf.parts[0][1] if isinstance(leaf, Tail) else 0
        if isinstance(leaf, tuple):
            _, start, factor = leaf
        if factor:
            count = (value - start) * factor
            more, rest = FIELD.shares(SLOW)
            if count >= 0:
                total += weight.mark * rest.mark * pow(more.mark, count, FIELD.prime)
        elif leaf == value:
            total += weight.mark
    return total % FIELD.prime


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({up(0): HALF, down(-1): HALF}, {up(3): HALF, down(2): HALF}),
        ({up(0): HALF, 5: HALF}, {down(0): HALF, -4: HALF}),
        ({up(0): HALF, up(2): HALF}, {7: FIELD.one}),
    ],
)
def test_a_window_of_values_has_the_same_masses(left: Any, right: Any) -> None:
    found = laid(left, right)
    for before, after in zip((left, right), found, strict=True):
        assert all(at(before, value) == at(after, value) for value in range(-12, 13))
    keys = list(dict.fromkeys([*found[0], *found[1]]))
    for value in range(-12, 13):
        holding = [key for key in keys if at({key: FIELD.one}, value)]
        assert len(holding) <= 1  # no two sets overlap


def test_laws_without_tails_stay_as_they_are() -> None:
    left, right = {1: FIELD.one}, {(2, 1): FIELD.one}
    assert laid(left, right) == (left, right)


def test_tails_of_lists_are_laid_out_place_by_place() -> None:
    left = {(up(0), up(1, number=1)): FIELD.one}
    right = {(up(1), up(0, number=1)): FIELD.one}
    one, other = laid(left, right)
    assert len(one) == 2  # 0 or from 1 on, then from 1 on
    assert len(other) == 2
    assert len(set(one) & set(other)) == 1


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ({(up(0), up(0, SLOW, 1)): HALF}, {(up(0, FAST), up(0, FAST, 1)): HALF}, "sizes"),
        ({up(0): HALF}, {noise(0, SLOW, 0, 1009): HALF}, "steps"),
        ({(add(up(0), up(0, SLOW, 1)), up(0)): HALF}, {}, "ties"),
        ({(up(0), up(0)): HALF}, {(up(0), 5): HALF}, "ties"),
        ({up(0): HALF}, {up(10_000): HALF}, "far"),
    ],
)
def test_what_cannot_be_compared_is_refused(left: Any, right: Any, why: str) -> None:
    with pytest.raises(Beyond, match=why):
        laid(left, right)


def test_what_falls_in_two_ways_is_left_to_rays() -> None:
    _, _, [(ours, theirs)] = side_by_side({up(0): HALF}, {up(0, FAST): HALF}, FIELD, Work())
    assert (list(ours), list(theirs)) == ([(SLOW, 1)], [(FAST, 1)])
    summed = add(up(0), up(0, SLOW, 1))
    left, right, [(ours, theirs)] = side_by_side({summed: HALF}, {add(summed, 1): HALF}, FIELD, Work())
    assert [list(law) for law in (left, right)] == [[(None, (0,))], []]
    assert list(theirs) == [(SLOW, 2)]
    assert set(ours) == {(SLOW, 1), (SLOW, 2)}
    even = side_by_side({up(0): HALF}, {noise(0, SLOW, 0, 2): HALF}, FIELD, Work())
    assert (len(even[0]), len(even[1])) == (1, 0)  # odd values; even ones fall in two ways
    assert len(even[2]) == 1


def test_values_between_the_steps_do_not_meet() -> None:
    half = noise(0, SLOW, fraction(1, 2))
    one, other = laid({up(0): FIELD.one}, {half: FIELD.one})
    assert not set(one) & set(other)


def test_noise_that_an_earlier_place_tells_is_taken_away() -> None:
    """Sums of noise one after the other are as good as the noises; what is taken away is taken from all outputs."""
    first, second = up(0), up(0, SLOW, 1)
    sums = laid({(first, add(first, second)): HALF, (0, 7): HALF}, {(up(1), add(first, up(1, SLOW, 1))): HALF})
    plain = laid({(first, second): HALF, (0, 7): HALF}, {(up(1), second): HALF})
    assert [{key: weight.mark for key, weight in law.items()} for law in sums] == [
        {key: weight.mark for key, weight in law.items()} for law in plain
    ]


def test_taking_away_from_some_outputs_only_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = outputs._sheared
    left, right = {(up(0), up(0)): FIELD.one}, {(up(0), 0): FIELD.one}
    with pytest.raises(Beyond, match="ties"):
        laid(left, right)
    monkeypatch.setattr(outputs, "_sheared", lambda values, known: values if 0 in values else honest(values, known))
    one, other = laid(left, right)
    assert set(one) == set(other)  # as if both had the same outputs
