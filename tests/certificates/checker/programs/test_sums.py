"""Sums of variables in the checker, beside sums of their masses."""

import pytest

from privately.certificates.checker.programs.sums import Falls, first_and_rest, law_of_sum
from privately.certificates.checker.programs.weights import Decay, Field, Weight
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work

FIELD = Field(2, b"sums", 256)
HALF, SLOW, FAST = Decay(1, 2, 0), Decay(1, 1, 1), Decay(1, 1, 3)
SUMS = [[SLOW], [SLOW, SLOW], [SLOW, FAST], [FAST, SLOW], [FAST, SLOW, FAST, HALF], [SLOW, SLOW, SLOW, FAST, FAST]]


def convolved(decays: list[Decay], most: int) -> list[int]:
    """The fingerprints of the first masses."""
    found = [1] + [0] * (most - 1)
    for decay in decays:
        more, rest = (one.mark for one in FIELD.shares(decay))
        found = [
            sum(found[k - j] * rest * pow(more, j, FIELD.prime) for j in range(k + 1)) % FIELD.prime
            for k in range(most)
        ]
    return found


def masses(falls: Falls, most: int) -> list[Weight]:
    found = []
    for _ in range(most):
        first, falls = first_and_rest(falls, FIELD, Work())
        found.append(first)
    return found


def test_sums_and_what_is_left_of_them() -> None:
    for decays in SUMS:
        found = masses(law_of_sum(decays, FIELD, Work()), 6)
        assert [one.mark for one in found] == convolved(decays, 6)
        assert all(one.interval.low > 0 for one in found)
        assert sum(share.mark for share in law_of_sum(decays, FIELD, Work()).values()) % FIELD.prime == 1


def test_a_term_that_is_forgotten_would_be_noticed() -> None:
    falls = law_of_sum(SUMS[-1], FIELD, Work())
    for key in falls:
        shorter = {other: share for other, share in falls.items() if other != key}
        assert [one.mark for one in masses(shorter, 6)] != convolved(SUMS[-1], 6)


def test_sums_of_very_many_noises_are_too_much_work() -> None:
    for decays in (400 * SUMS[-1], [Decay(1, 3, power) for power in range(1, 2000)]):
        with pytest.raises(Invalid, match="more work"):
            law_of_sum(decays, FIELD, Work(10**6))
