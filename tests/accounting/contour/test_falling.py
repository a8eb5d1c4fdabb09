"""On a line beside the real one the integrand changes in size by no more than is said, for one law and for many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privately.accounting.contour import falling
from privately.accounting.contour.falling import Aside, aside, fallen, fallen_rows, law_by_law, lines, tangent

SHARES = np.linspace(0.0, 1.0, 101)
LINES = [(w, k) for w in (0.5, 4.0, 30.0) for k in (0.01, 0.05, 0.3, 0.55)]


def sizes(w: float, k: float, weight: float) -> np.ndarray:
    """How |e^(iw loss)| and, for "add", the rest change on the line: u + v e^(i theta) by its angle and its size."""
    whole = 1 - SHARES + SHARES * np.exp(2j * math.atan(k))
    return np.asarray(-w * np.angle(whole) - weight * np.log(np.abs(whole)))


@pytest.mark.parametrize("weight", [0.0, 0.3, 7.0, 60.0])
@pytest.mark.parametrize("near", [0.0, 0.02, 0.3, 0.5])
def test_sizes_off_the_real_line(weight: float, near: float) -> None:
    for w, k in LINES:
        for mu in (0.2, 1.0, 3.0):
            pull, cost = aside(w, k, mu, near, weight)
            y = 2 * math.atan(k) / mu
            assert pull >= 0
            if pull > 0:
                assert np.all(sizes(w, k, weight) + y * y / 2 <= cost - pull * SHARES + 1e-12)


def test_little_is_lost_at_the_share_it_is_made_for() -> None:
    for share in (0.01, 0.2, 0.5):
        pull, cost = aside(5.0, 0.02, 1.0, share, 4.0)
        truth = np.interp(share, SHARES, sizes(5.0, 0.02, 4.0)) + 2 * math.atan(0.02) ** 2
        assert cost - pull * share == pytest.approx(truth, rel=0.02)


def test_a_swelling_that_is_forgotten_is_seen() -> None:
    """Planted: "add" treated as "remove"."""
    pull, cost = aside(4.0, 0.3, 1.0, 0.3, 0.0)
    assert np.any(sizes(4.0, 0.3, 7.0) + 2 * math.atan(0.3) ** 2 > cost - pull * SHARES + 1e-3)


def test_one_line_or_two() -> None:
    gentle = lines([0.1, 0.2], 1.0, 0.1, 0.0)
    assert [one.frequency for one in gentle] == [0.1, 0.2]
    steep = lines([0.1, 40.0], 1.0, 0.5, 0.0)
    assert [one.frequency for one in steep] == [0.1, 40.0, 40.0]
    assert steep[1].pull > steep[2].pull


def test_the_best_of_all_tries() -> None:
    """-ln(1 - gain) - cost, from below; what is missing counts four times, and nothing falls below 0."""
    asides = [Aside(1.0, 0.1, 0.02), Aside(2.0, 0.2, 0.05), Aside(2.0, 0.1, 0.01), Aside(3.0, 0.1, 0.9)]
    gains = [0.05, 0.3, 0.5, 0.2]
    found = fallen(asides, gains, 0.0)
    truth = {1.0: -math.log1p(-0.05) - 0.02, 2.0: -math.log1p(-0.5) - 0.01, 3.0: 0.0}
    assert list(found) == list(truth)
    for w, value in truth.items():
        assert found[w] <= value
        assert found[w] == pytest.approx(value, rel=1e-2)
    less = fallen(asides, gains, 0.01)
    assert less[1.0] == 0
    assert less[2.0] < found[2.0]


def test_many_laws_are_as_one() -> None:
    mu, mean, frequencies = np.array([0.5, 1.0, 2.0]), np.array([0.01, 0.3, 0.9]), np.array([0.5, 3.0, 20.0])
    for weight in (0.0, 3.0):
        pulls, costs = law_by_law(frequencies, mu, mean, weight)
        assert pulls.shape == costs.shape == (6, 3)
        for law, (one, share) in enumerate(zip(mu.tolist(), mean.tolist(), strict=True)):
            for row, w in enumerate([*frequencies.tolist()] * 2):
                k = tangent(w, one, share, min(share, 0.5), weight) / (1 if row < 3 else 2.5)
                assert (pulls[row, law], costs[row, law]) == pytest.approx(aside(w, k, one, min(share, 0.5), weight))
        gains = np.full((6, 3), 0.4)
        rows = fallen_rows(gains, costs, np.array([0.0, 0.01, 0.0]), 3)
        for law, missing in enumerate((0.0, 0.01, 0.0)):
            asides = [Aside(w, 0.0, cost) for w, cost in zip([*frequencies] * 2, costs[:, law].tolist(), strict=True)]
            assert rows[:, law] == pytest.approx(list(fallen(asides, [0.4] * 6, missing).values()), rel=1e-5)


def test_nothing_is_said_of_what_turns_back() -> None:
    """Where the swelling outweighs the turn, the pull is 0 and nothing has fallen."""
    pull, cost = aside(0.01, 0.4, 1.0, 0.2, 50.0)
    assert pull == 0
    assert fallen([Aside(0.01, pull, cost)], [0.0], 0.0) == {0.01: 0.0}
    assert math.pi / 2 > falling.QUARTER_TURN > 1.5
