"""Adaptive sparse vector: a coarse yes costs a part of a fine one, and no more is answered than was paid for."""

import math
from fractions import Fraction
from typing import Any

import pytest

import privately
from privately.errors import BudgetExhausted, InvalidParameter
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.mechanisms.adaptive_sparse_vector import COARSE, FINE, NO, AdaptiveSparseVector
from privately.mechanisms.sparse_vector import SparseVector
from privately.mechanisms.threshold_sessions import Session, begin
from tests.mechanisms.enumeration import outcomes
from tests.mechanisms.streams import Streams, Untouched, losses, neighbours, worst_loss

ONE = Sensitivity(value=1, norm="Linf")
QUARTER = Fraction(1, 4)


def adaptive(**settings: Any) -> AdaptiveSparseVector:
    return AdaptiveSparseVector(
        **{"threshold_scale": QUARTER, "coarse_scale": "1/2", "fine_scale": QUARTER, "margin": 1, **settings}
    )


def claimed(mechanism: AdaptiveSparseVector) -> float:
    return float(mechanism.guarantee(ONE).parameters["epsilon"])


@pytest.mark.parametrize(("monotone", "count"), [(False, 1), (False, 2), (True, 2)])
def test_no_loss_exceeds_the_claim(monotone: bool, count: int) -> None:
    mechanism = adaptive(threshold=1, monotone=monotone, count=count)
    found = worst_loss(Streams(mechanism.start, 14), neighbours([0, 2], 3, monotone=monotone))
    assert claimed(mechanism) / 4 < found <= claimed(mechanism) + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "count"), [(FINE, 1), (COARSE, 1), (COARSE, 2)])
def test_the_worst_case_attains_what_its_answers_cost(answer: int, count: int) -> None:
    """All of the claim if they are fine; a coarse yes costs half."""
    mechanism = adaptive(count=count, margin=0)
    before, after = mechanism.worst_case(ONE)
    streams = Streams(mechanism.start, 34)
    answers = (*[NO] * (len(before) - count), *[answer] * count)
    found = math.log(streams.chance(before, answers) / streams.chance(after, answers))
    per_yes = 8 if answer == FINE else 4
    assert claimed(mechanism) == 4 + 8 * count
    assert abs(found - (4 + per_yes * count)) < 1e-6


@pytest.mark.parametrize("values", [[0, 1], [2, 0]])
def test_the_program_does_the_same(values: list[int]) -> None:
    mechanism = adaptive(threshold=1, threshold_scale="1/6", coarse_scale="1/5", fine_scale="1/6")
    run = outcomes(lambda branch: mechanism.run(values, branch), window=3)
    text = outcomes(lambda branch: mechanism.program.run(mechanism.program_inputs(values), branch), window=3)
    assert run.farthest(text) < 1e-40
    assert run.missing == text.missing


def unpaid_coarse_answers(randomness: Any) -> Session[Any]:
    """Only fine ones count."""
    right = adaptive()

    def compare(query: int, threshold: int, source: Any) -> tuple[int, Fraction]:
        answer, _ = right.compare(query, threshold, source)
        return answer, Fraction(answer == FINE)

    return begin(compare=compare, grid=right.grid, threshold=Fraction(0), scale=QUARTER, count=1, source=randomness)


def without_threshold_noise(randomness: Any) -> Session[Any]:
    right = adaptive()
    return Session(compare=right.compare, grid=right.grid, threshold=0, count=1, source=randomness)


class OneMore(Session[int]):
    """Goes on while anything is left."""

    @property
    def stopped(self) -> bool:
        return self._left <= 0


def one_yes_too_many(randomness: Any) -> Session[Any]:
    right = adaptive(monotone=True)
    start = right.start(randomness)
    return OneMore(compare=right.compare, grid=right.grid, threshold=start._threshold, count=1, source=randomness)


@pytest.mark.parametrize(
    ("mutant", "monotone", "before", "after"),
    [
        (unpaid_coarse_answers, False, (0, 0, 0, 0, 0, 0, 0), (1, 1, 1, 1, -1, -1, -1)),
        (without_threshold_noise, False, (0, 0, 0, 0), (1, 1, 1, 1)),
        (one_yes_too_many, True, (0, 0, 0, 0, 0, 0), (1, 1, 1, 1, 0, 0)),
    ],
)
def test_mutants_are_refuted(mutant: Any, monotone: bool, before: tuple[int, ...], after: tuple[int, ...]) -> None:
    right = adaptive(monotone=monotone)
    assert losses(Streams(mutant, 16), before, after)[0] > claimed(right) + 0.1
    assert losses(Streams(right.start, 16), before, after)[1] <= claimed(right) + 1e-3


def test_far_queries_get_more_answers_for_the_same_price() -> None:
    plain = SparseVector.for_epsilon(1, ONE, count=4, threshold=50)
    mechanism = AdaptiveSparseVector.for_epsilon(1, ONE, count=4, threshold=50)
    assert mechanism.guarantee(ONE) == plain.guarantee(ONE)
    assert sum(plain.release([10**6] * 20)) == 4
    assert mechanism.release([10**6] * 20) == [COARSE] * 7
    assert mechanism.most_answers == 7


def test_it_stops_before_a_fine_yes_might_exceed_what_is_left() -> None:
    mechanism = adaptive(count=2, margin=10**6)
    session = mechanism.start()
    assert session.ask(10**9) == COARSE
    assert session.ask(10**5) == FINE
    assert session.stopped
    with pytest.raises(BudgetExhausted, match="1/2 of 2"):
        session.ask(0)


@pytest.mark.parametrize("settings", [{}, {"count": 5}, {"monotone": True, "count": 2}, {"grid": "1/8"}])
def test_an_epsilon_is_met_exactly_and_certified(settings: dict[str, Any]) -> None:
    neighbors = Neighbors.ADD_REMOVE if settings.get("monotone") else Neighbors.REPLACE
    sensitivity = Sensitivity(value=2, norm="Linf", neighbors=neighbors)
    mechanism = AdaptiveSparseVector.for_epsilon("1.1", sensitivity, threshold=3, **settings)
    derivation = mechanism.derive(sensitivity)
    assert derivation.conclusion == PureDP(epsilon="1.1", neighbors=neighbors)
    assert privately.check(privately.certify(derivation)).rules == ("adaptive_sparse_vector",)


def test_an_accuracy_is_met_and_with_a_hundredth_more_noise_it_is_not() -> None:
    wanted: dict[str, Any] = {"confidence": "0.9", "queries": 10}
    mechanism = AdaptiveSparseVector.for_accuracy(error=40, **wanted, count=2)
    assert mechanism.accuracy(**wanted).error == 40
    more = Fraction(101, 100)
    scales = ("threshold_scale", "coarse_scale", "fine_scale")
    noisier = adaptive(**{name: more * getattr(mechanism, name) for name in scales}, margin=mechanism.margin, count=2)
    assert noisier.accuracy(**wanted).error > 40


@pytest.mark.parametrize(
    "parameters",
    [
        {"coarse_scale": QUARTER},
        {"coarse_scale": "1/5"},
        {"margin": -1},
        {"margin": "1/2"},
        {"fine_scale": 0},
        {"threshold": -1},
        {"count": 0},
        {"monotone": None},
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        adaptive(**parameters)


@pytest.mark.parametrize("values", [[], [1.5], [float("nan")], ["5"], None])
def test_bad_streams_are_refused_before_any_noise(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        adaptive().run(values, Untouched())
