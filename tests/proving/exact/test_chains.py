"""How often states are visited."""

import random
from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.exact.budgets import NotFinite
from privately.proving.exact.chains import components, visits
from privately.proving.exact.weights import ONE, ZERO, weight


@pytest.mark.parametrize("seed", range(10))
def test_visits_solve_their_equations(seed: int) -> None:
    chance = random.Random(seed)
    steps = {s: {r: weight(Fraction(1, 8)) for r in range(7) if chance.random() < 0.5 and (r != 6)} for s in range(7)}
    entry = {0: ONE}
    found = visits(entry, steps)
    for state in steps:
        arriving = sum((found[r] * row[state] for r, row in steps.items() if state in row), ZERO)
        assert found[state] == entry.get(state, ZERO) + arriving


def test_components_come_before_what_they_lead_to() -> None:
    steps = {0: {1: ONE}, 1: {2: ONE}, 2: {1: ONE, 3: ONE}, 3: {}}
    assert [sorted(one) for one in components(steps)] == [[0], [1, 2], [3]]


def test_a_chain_without_exit_is_refused() -> None:
    with pytest.raises(NotSupported, match="never ends"):
        visits({0: ONE}, {0: {1: ONE}, 1: {0: ONE}})


def test_long_chains_do_not_recurse() -> None:
    steps = {k: {k + 1: ONE} for k in range(5000)} | {5000: {}}
    assert visits({0: ONE}, steps)[5000] == ONE


def test_a_large_component_takes_too_much_and_is_no_fault() -> None:
    half = weight(Fraction(1, 2))
    steps = {k: {(k + 1) % 400: half, (k - 1) % 400: half} for k in range(400)}
    with pytest.raises(NotFinite, match="more than 300 states"):
        visits({0: ONE}, steps)
