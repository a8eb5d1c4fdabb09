"""Groups of one statement, against all chains of a grid and against what is known of them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import chains
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.chains import Found, Link, of_group
from privately.accounting.two_outcomes.road import answer

WIDTH = Fraction(1, 10**6)
ORDERS = np.concatenate([[1.0], 1 + np.geomspace(1e-2, 1e3, 50)])
HALF = np.geomspace(1e-4, 0.5, 180)
GRID = np.concatenate([HALF, 1 - HALF[-2::-1]])
STRICT, RELAXED = -0.01, 0.15
"""A pair that is allowed at so much less at all of these orders is allowed at those between."""
LISTED = AtOrders(((Fraction(2), Fraction(1, 10)), (Fraction(8), Fraction(1)), (Fraction(32), Fraction(5))))
LOW = AtOrders(((Fraction(11, 10), Fraction(1, 10)),))
HIGH = AtOrders(((Fraction(64), Fraction(1, 100)),))
Matrix = npt.NDArray[np.float64]


def concentrated(rho: str) -> Concentrated:
    return Concentrated(Fraction(rho))


def divergence(p: Matrix, q: Matrix, t: float) -> Matrix:
    """Of order t, of two outcomes, as it is defined."""
    if t == 1:
        return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    logs = np.logaddexp(t * np.log(p) + (1 - t) * np.log(q), t * np.log1p(-p) + (1 - t) * np.log1p(-q))
    found: Matrix = logs / (t - 1)
    return found


def bounds(statement: Statement) -> list[tuple[float, float]]:
    if isinstance(statement, AtOrders):
        return [(float(t), float(bound)) for t, bound in statement.bounds]
    return [(float(t), float(t) * statement.size) for t in ORDERS]


@cache
def exceeded(statement: Statement) -> Matrix:
    """For all pairs of a grid the largest divergence over its bound, in both directions."""
    p, q = GRID[:, None], GRID[None, :]
    found = np.max([divergence(p, q, t) / bound for t, bound in bounds(statement)], axis=0)
    largest: Matrix = np.maximum(found, found.T)
    return largest


def best(statement: Statement, size: int, epsilon: float, slack: float) -> float:
    """The largest delta of all chains of a grid, if all bounds are larger by so much of them."""
    linked = (exceeded(statement) <= 1 + slack).astype(np.float32)
    ends = np.eye(GRID.size, dtype=np.float32)
    for _ in range(size):
        ends = (linked @ ends > 0).astype(np.float32)
    return float(np.where(ends > 0, GRID[:, None] - math.exp(epsilon) * GRID[None, :], -1.0).max())


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("statement", [concentrated("0.05"), concentrated("0.5"), LISTED, LOW], ids=str)
def test_between_all_chains_of_a_grid(statement: Statement, size: int) -> None:
    """No chain is above the upper end; chains that are allowed a little more come up to the lower one."""
    for epsilon in (0.0, 0.5):
        found = of_group(statement, size, DeltaAt(Fraction(epsilon), WIDTH))
        strict, relaxed = (best(statement, size, epsilon, slack) for slack in (STRICT, RELAXED))
        assert strict <= found.upper
        assert strict > 0.9 * found.upper  # the grid is fine enough to tell
        assert found.lower <= relaxed


CASES = [
    *((concentrated(rho), size) for rho in ("1e-6", "0.01", "0.5", "5") for size in (2, 5)),
    pytest.param(concentrated("0.5"), 10, marks=pytest.mark.slow),
    *((statement, size) for statement in (LISTED, LOW, HIGH) for size in (2, 5)),
]
QUESTIONS: list[Question] = [
    *(EpsilonAt(Fraction(delta), WIDTH) for delta in ("0.01", "1e-6", "1e-40")),
    *(DeltaAt(Fraction(epsilon), WIDTH) for epsilon in (0, 1, 10)),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("statement", "size"), CASES, ids=str)
def test_both_ends_meet(statement: Statement, size: int) -> None:
    for question in QUESTIONS:
        if statement.size < 1e-5 and question == DeltaAt(Fraction(10), WIDTH):
            continue  # a delta below all that is reported
        found = of_group(statement, size, question)
        assert question.is_met(found, Fraction(1, 10**8)), (question, found)


@pytest.mark.slow
def test_one_change_is_the_statement() -> None:
    for statement in (concentrated("0.5"), LISTED, LOW):
        for question in QUESTIONS:
            one, known = of_group(statement, 1, question), answer(statement, question)
            assert one.lower <= known.upper
            assert known.lower <= one.upper


def found_chain(statement: Statement, size: int, epsilon: int) -> Found:
    found = chains._worst(statement, size, DeltaAt(Fraction(epsilon), WIDTH))
    assert found is not None
    return found


@pytest.mark.parametrize("epsilon", [0, 1])
def test_with_a_link_less_the_ends_are_others(epsilon: int) -> None:
    """The lower end is above the upper one of a chain that is shorter by one, and so for the longer one."""
    question = DeltaAt(Fraction(epsilon), WIDTH)
    for statement in (concentrated("0.1"), LISTED):
        two, three, four = (of_group(statement, size, question) for size in (2, 3, 4))
        assert two.upper < three.lower
        assert three.upper < four.lower
        strict = best(statement, 3, epsilon, STRICT)
        assert two.upper < strict <= three.upper  # what the grid shows refutes a chain of two links


def test_an_upper_end_without_a_factor_is_refuted() -> None:
    """D(epsilon_1) + D(epsilon_2) + ... is below what a chain of the grid reaches."""
    statement, epsilon = concentrated("0.1"), 1
    found = found_chain(statement, 3, epsilon)
    parts = found.split(Fraction(epsilon))
    assert sum(parts) == epsilon
    links = zip(parts, found.below, found.beyond, strict=True)
    wrong = sum(float(chains._most(statement, part, *sides).upper) for part, *sides in links)
    reached = best(statement, 3, epsilon, STRICT)
    assert wrong < reached <= chains.above(statement, found, Fraction(epsilon)).upper


def test_any_split_is_above_and_any_chain_below() -> None:
    """However wrong what was found is, both ends stay on their sides."""
    statement, epsilon = concentrated("0.1"), Fraction(1)
    right, elsewhere = found_chain(statement, 3, 1), found_chain(statement, 3, 2)
    truth = of_group(statement, 3, DeltaAt(epsilon, WIDTH))
    mixed = Found([right.below[0], *elsewhere.below[1:]], [right.beyond[0], *elsewhere.beyond[1:]])
    assert chains.above(statement, mixed, epsilon).upper > truth.lower
    too_far = [replace(link, distance=link.distance * 1.01) for link in right.below]
    assert chains.reached(statement, too_far).delta(epsilon).lower <= truth.upper


@pytest.mark.parametrize(("logit", "distance"), [(-5.0, 2.0), (-1.0, 3.0), (0.5, 1e-4), (-1e-4, 1e-4)])
@pytest.mark.parametrize("t", [1.0, 1.01, 2.0, 30.0])
def test_a_link_against_its_definition(logit: float, distance: float, t: float) -> None:
    link = Link(logit, distance, t)
    a, p = (np.array([1 / (1 + math.exp(-x))]) for x in (logit, logit + distance))
    first, second = (1 - a, 1 - p) if link.is_mirrored else (p, a)
    assert math.exp(link.log_apart(t)) == pytest.approx(float(divergence(first, second, t)[0]) / t, rel=1e-5)
    step = 1e-4 * distance
    ahead, behind = (math.exp(replace(link, distance=distance + d).log_apart(t)) for d in (step, -step))
    growth = math.exp(link.log_steepness(link.log_apart(t)))
    assert growth == pytest.approx((ahead - behind) / (2 * step), rel=1e-4)
    assert link.elasticity == pytest.approx(link.slope - math.log(p[0] / a[0]), abs=1e-9)


@pytest.mark.parametrize("statement", [concentrated("0.3"), LISTED], ids=str)
@pytest.mark.parametrize("logit", [-8.0, -1.5, 0.7])
def test_slopes_are_those_of_the_links(statement: Statement, logit: float) -> None:
    search = chains._Search(statement, 1)
    ends = [1 / (1 + math.exp(-x - search.chain(x)[0].distance)) for x in (logit - 1e-5, logit + 1e-5)]
    starts = [1 / (1 + math.exp(-x)) for x in (logit - 1e-5, logit + 1e-5)]
    slope = (ends[1] - ends[0]) / (starts[1] - starts[0])
    assert math.exp(search.chain(logit)[0].slope) == pytest.approx(slope, rel=1e-4)


def test_groups_of_zcdp_and_the_square_of_their_size() -> None:
    """k changes are k^2 rho-zCDP, of which they reveal nearly all at small deltas, and less at large ones."""
    for delta, least, most in (("1e-6", 1e-9, 1e-6), ("0.1", 1e-3, 1e-2)):
        group = acc.epsilon(acc.Group(event=acc.ZCDP(rho="0.01"), size=5), delta)
        single = acc.epsilon(acc.ZCDP(rho="0.25"), delta)
        assert group.method == chains.METHOD
        assert least < single.lower / group.upper - 1 < most


def test_what_is_asked_of_groups() -> None:
    group = acc.Group(event=acc.Renyi(bounds={2: "0.1"}), size=5)
    assert float(acc.epsilon(group, "1e-6").upper) == pytest.approx(354.01397, rel=1e-7)
    assert acc.epsilon(group, "0.9").upper == 0  # delta at 0 is less
    twice = acc.Group(event=acc.Group(event=acc.ZCDP(rho="0.1"), size=2), size=3)
    assert acc.epsilon(twice, "1e-6").upper >= acc.epsilon(acc.Group(event=acc.ZCDP(rho="0.1"), size=6), "1e-6").lower
    parts = acc.Group(event=acc.Parallel(events=[acc.ZCDP(rho="0.1")] * 2), size=3)  # all of it keeps the statement
    assert acc.epsilon(parts, "1e-6") == acc.epsilon(acc.Group(event=acc.ZCDP(rho="0.1"), size=3), "1e-6")


def test_far_beyond_floats_there_is_an_answer_or_none() -> None:
    assert of_group(concentrated("100"), 3, DeltaAt(Fraction(1), WIDTH)).lower > 1 - WIDTH
    near_one = of_group(concentrated("100"), 10, DeltaAt(Fraction(1), WIDTH))
    assert 1 - Fraction(1, 10**50) < near_one.lower <= near_one.upper == 1
    for size, question in ((10**6, QUESTIONS[0]), (2, EpsilonAt(Fraction(0), WIDTH))):
        with pytest.raises(NotApplicable):
            of_group(concentrated("0.1"), size, question)
    with pytest.raises(NotApplicable):
        of_group(concentrated("1e-9"), 2, DeltaAt(Fraction(300), WIDTH))


def test_floats_that_end_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> float:
        return math.log(0)

    monkeypatch.setattr(Link, "log_apart", ended)
    with pytest.raises(NotApplicable, match="beyond floats"):
        of_group(concentrated("0.1"), 2, QUESTIONS[0])
