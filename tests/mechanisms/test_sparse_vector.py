"""Sparse vector, plain and with gaps: exact laws of all answers, mutants, calibration, errors."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import privately
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.laws import DiscreteLaplace
from privately.mechanisms.sparse_vector import SparseVector
from privately.mechanisms.sparse_vector_with_gap import SparseVectorWithGap
from privately.mechanisms.threshold_sessions import Session, read_stream
from tests.mechanisms.enumeration import outcomes
from tests.mechanisms.streams import Streams, Untouched, Values, losses, neighbours, worst_loss

Either = SparseVector | SparseVectorWithGap
KINDS: list[type[Either]] = [SparseVector, SparseVectorWithGap]
ONE = Sensitivity(value=1, norm="Linf")
HALF = Fraction(1, 2)
ROUNDING = 1e-9
CUT_OFF = 1e-5


def claimed(mechanism: Either, change: int = 1) -> float:
    return float(mechanism.guarantee(Sensitivity(value=change, norm="Linf")).parameters["epsilon"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("monotone", "count"), [(False, 1), (False, 2), (True, 1), (True, 2)])
def test_no_loss_exceeds_the_claim(kind: type[Either], monotone: bool, count: int) -> None:
    """All streams of two or three queries around the threshold, all changes, both directions."""
    mechanism = kind(threshold_scale="1/3", query_scale="1/3", count=count, threshold=1, monotone=monotone)
    streams = Streams(mechanism.start, window=12)
    tables = neighbours([-1, 1, 2], 3, monotone=monotone)
    if kind is SparseVectorWithGap:
        tables = neighbours([0, 2], 2, monotone=monotone)
    found = worst_loss(streams, tables)
    assert claimed(mechanism) / 3 < found <= claimed(mechanism) + CUT_OFF


@pytest.mark.parametrize("kind", KINDS)
def test_no_loss_exceeds_the_claim_for_larger_changes(kind: type[Either]) -> None:
    mechanism = kind(threshold_scale=HALF, query_scale=HALF, threshold=1)
    streams = Streams(mechanism.start, window=18)
    found = worst_loss(streams, neighbours([0, 2], 2, monotone=False, change=2))
    assert claimed(mechanism) < found <= claimed(mechanism, change=2) + CUT_OFF


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("monotone", "count"), [(False, 1), (False, 2), (True, 2)])
def test_the_worst_case_attains_the_claim(kind: type[Either], monotone: bool, count: int) -> None:
    mechanism = kind(threshold_scale=HALF, query_scale=HALF, count=count, threshold=1, monotone=monotone)
    before, after = mechanism.worst_case(ONE)
    streams = Streams(mechanism.start, window=46)
    yes = True if kind is SparseVector else Fraction(0)
    answers = (*[False if kind is SparseVector else None] * (len(before) - count), *[yes] * count)
    found = math.log(streams.chance(before, answers) / streams.chance(after, answers))
    assert abs(found - claimed(mechanism)) < ROUNDING


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("monotone", [False, True])
def test_the_worst_case_on_a_grid_attains_the_claim(kind: type[Either], monotone: bool) -> None:
    """Of queries as `run` reads them, one step further apart than the sensitivity for rounding."""
    mechanism = kind(threshold_scale="1/8", query_scale="1/8", threshold=1, monotone=monotone, grid="1/4")
    before, after = (read_stream(stream, mechanism.grid) for stream in mechanism.worst_case(ONE))
    streams = Streams(mechanism.start, window=60)
    no, yes = (False, True) if kind is SparseVector else (None, Fraction(0))
    answers = (*[no] * (len(before) - 1), yes)
    found = math.log(streams.chance(before, answers) / streams.chance(after, answers))
    assert abs(found - claimed(mechanism)) < ROUNDING


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [[0, 1], [2, 1], [3, 0]])
def test_the_program_does_the_same(kind: type[Either], values: list[int]) -> None:
    mechanism = kind(threshold_scale="1/3", query_scale="1/4", count=1, threshold=1)
    run = outcomes(lambda branch: mechanism.run(values, branch), window=7)
    text = outcomes(
        lambda branch: told(kind, mechanism.program.run(mechanism.program_inputs(values), branch)), window=7
    )
    assert run.farthest(text) < 1e-40
    assert run.missing == text.missing
    asked = Streams(mechanism.start, window=7).law(tuple(values))
    assert all(math.isclose(chance, run.chances.get(answers, 0), abs_tol=1e-15) for answers, chance in asked.items())


def told(kind: type[Either], answers: list[Any]) -> list[Any]:
    """Texts know no None: a no is an empty list, a yes a list of its gap."""
    return answers if kind is SparseVector else [answer[0] if answer else None for answer in answers]


ONCE = SparseVector(threshold_scale=1, query_scale=HALF)
TWICE = SparseVector(threshold_scale=HALF, query_scale=HALF, count=2)


def noise(scale: Fraction, randomness: Any) -> int:
    return int(randomness.draw(DiscreteLaplace(scale=scale), size=1)[0])


def without_threshold_noise(right: SparseVector, randomness: Any) -> Session[Any]:
    return Session(compare=right.compare, grid=right.grid, threshold=0, count=right.count, source=randomness)


class Mutant(Session[Any]):
    """A session with the right noise on its threshold, and something else wrong."""

    def __init__(self, right: SparseVector, randomness: Any) -> None:
        self.right = right
        threshold = noise(right.threshold_scale, randomness)
        super().__init__(
            compare=self.compare, grid=right.grid, threshold=threshold, count=right.count, source=randomness
        )

    def compare(self, query: int, threshold: int, source: Any) -> tuple[Any, Fraction]:
        return self.right.compare(query, threshold, source)


class WithoutQueryNoise(Mutant):
    def compare(self, query: int, threshold: int, source: Any) -> tuple[bool, Fraction]:
        return query >= threshold, Fraction(query >= threshold)


class WithoutCounting(Mutant):
    def compare(self, query: int, threshold: int, source: Any) -> tuple[bool, Fraction]:
        return self.right.compare(query, threshold, source)[0], Fraction(0)


class WithTheNoiseCompared(Mutant):
    def compare(self, query: int, threshold: int, source: Any) -> tuple[int | None, Fraction]:
        noisy = query + noise(self.right.query_scale, source)
        return (noisy, Fraction(1)) if noisy >= threshold else (None, Fraction(0))


class WithANewThreshold(Mutant):
    def ask_in_steps(self, query: int) -> bool:
        answer = super().ask_in_steps(query)
        if answer:
            self._threshold = noise(self.right.threshold_scale, self._source)
        return bool(answer)


def with_half_the_noise(right: SparseVector, randomness: Any) -> Session[Any]:
    half = SparseVector(threshold_scale=right.threshold_scale / 2, query_scale=right.query_scale / 2, count=right.count)
    return half.start(randomness)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("mutant", "right", "before", "after", "window"),
    [
        (without_threshold_noise, ONCE, (0, 0, 0), (1, 1, 1), 40),
        (WithoutQueryNoise, ONCE, (0, 1), (1, 0), 40),
        (WithoutCounting, ONCE, (1, 1, -1, -1), (2, 2, -2, -2), 40),
        (WithTheNoiseCompared, ONCE, (1, 1, 1, 0), (2, 2, 2, -1), 40),
        (WithANewThreshold, TWICE, (1, 1, 1, -1) * 2, (2, 2, 2, -2) * 2, 17),
        (with_half_the_noise, ONCE, (2, 2, -2), (3, 3, -3), 40),
    ],
)
def test_mutants_are_refuted(
    mutant: Callable[[SparseVector, Any], Session[Any]],
    right: SparseVector,
    before: Values,
    after: Values,
    window: int,
) -> None:
    """By losses that the mechanism itself does not have on the same streams."""
    assert losses(Streams(partial(mutant, right), window), before, after)[0] > claimed(right) + 0.1
    assert losses(Streams(right.start, 40), before, after)[1] <= claimed(right) + ROUNDING


def test_queries_that_move_both_ways_refute_a_claim_of_monotony() -> None:
    mechanism = SparseVector(threshold_scale=1, query_scale=HALF, monotone=True)
    streams = Streams(mechanism.start, 40)
    assert losses(streams, (2, 2, 2, -2), (3, 3, 3, -3))[0] > claimed(mechanism) + 0.1
    assert losses(streams, (2, 2, 2, -2), (3, 3, 3, -2))[1] <= claimed(mechanism) + ROUNDING


def test_a_change_by_two_refutes_the_claim_for_one() -> None:
    mechanism = SparseVector(threshold_scale=1, query_scale=HALF)
    assert losses(Streams(mechanism.start, 40), (2, 2, -2), (4, 4, -4))[0] > claimed(mechanism) + 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("settings", [{}, {"count": 3}, {"count": 5, "monotone": True}, {"grid": "1/8", "count": 2}])
def test_an_epsilon_is_met_exactly_and_certified(kind: type[Either], settings: dict[str, Any]) -> None:
    neighbors = Neighbors.ADD_REMOVE if settings.get("monotone") else Neighbors.REPLACE
    sensitivity = Sensitivity(value="3/2", norm="Linf", neighbors=neighbors)
    mechanism = kind.for_epsilon("0.3", sensitivity, threshold=7, **settings)
    derivation = mechanism.derive(sensitivity)
    assert derivation.conclusion == PureDP(epsilon="0.3", neighbors=neighbors)
    assert not privately.check(privately.certify(derivation)).assumptions


@pytest.mark.parametrize("kind", KINDS)
def test_an_accuracy_is_met_and_with_a_hundredth_more_noise_it_is_not(kind: type[Either]) -> None:
    wanted: dict[str, Any] = {"confidence": "0.9", "queries": 20}
    mechanism = kind.for_accuracy(error=30, **wanted, count=2)
    assert mechanism.accuracy(**wanted).error == 30
    more = Fraction(101, 100)
    noisier = kind(threshold_scale=more * mechanism.threshold_scale, query_scale=more * mechanism.query_scale, count=2)
    assert noisier.accuracy(**wanted).error > 30


def test_floats_are_compared_on_the_grid() -> None:
    mechanism = SparseVector(threshold_scale="1/1000", query_scale="1/1000", threshold="1/2", grid="1/4")
    assert mechanism.release([0.3, 0.7]) == [False, True]


BAD_STREAMS: list[Any] = [
    [],
    [1.5],
    [float("nan")],
    ["5"],
    [None],
    [[1, 2]],
    [[1], [2, 3]],
    None,
    {1: 2},
    [True],
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", BAD_STREAMS, ids=str)
def test_bad_streams_are_refused_before_any_noise(kind: type[Either], values: Any) -> None:
    with pytest.raises(InvalidParameter):
        kind(threshold_scale=1, query_scale=1).run(values, Untouched())


@pytest.mark.parametrize("values", [[float("inf")], [float("nan")], [0.5, float("-inf")]])
def test_infinite_queries_are_refused_on_a_grid_too(values: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        SparseVector(threshold_scale=1, query_scale=1, grid="1/4").release(values)


@pytest.mark.parametrize(
    "parameters",
    [
        {"threshold_scale": 0},
        {"query_scale": -1},
        {"query_scale": float("nan")},
        {"threshold_scale": "1/2000"},
        {"query_scale": 2**61},
        {"count": 0},
        {"count": 1.5},
        {"threshold": -1},
        {"threshold": "1/2"},
        {"threshold": float("inf")},
        {"threshold": 2**63},
        {"monotone": 1},
        {"grid": "1/3"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_bad_parameters_are_refused(kind: type[Either], parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        kind(**{"threshold_scale": 1, "query_scale": 1, **parameters})


@pytest.mark.parametrize("arguments", [{"epsilon": 0}, {"epsilon": "x"}, {"epsilon": 1, "count": 0}])
def test_bad_calibrations_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        SparseVector.for_epsilon(sensitivity=ONE, **arguments)
    with pytest.raises(InvalidParameter):
        SparseVector.for_accuracy(error=-1, confidence="0.9", queries=1)


def test_queries_are_not_monotone_when_a_row_is_replaced() -> None:
    with pytest.raises(NoSuchRule, match="monotone=False"):
        SparseVector(threshold_scale=1, query_scale=1, monotone=True).derive(
            Sensitivity(value=1, norm="Linf", neighbors=Neighbors.REPLACE)
        )


def test_unknown_settings_are_named_together_with_the_known_ones() -> None:
    words = "there is no 'foo' to set; beside the noise there are count, threshold, monotone, grid"
    made: Any = SparseVector
    with pytest.raises(TypeError, match=words):
        made(threshold_scale=1, query_scale=1, foo=1)
    with pytest.raises(TypeError, match=words):
        made.for_epsilon(1, ONE, foo=1)
    with pytest.raises(TypeError, match=words):
        made.for_accuracy(error=9, confidence="0.9", queries=1, foo=1)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_that_never_change_are_no_calibration(kind: type[Either]) -> None:
    """Integers that change by less than one do not change at all, and zero is the scale of no noise."""
    for nothing in (0, "1/2"):
        with pytest.raises(InvalidParameter, match="grid") as caught:
            kind.for_epsilon(1, Sensitivity(value=nothing, norm="Linf"))
        assert caught.value.field == "sensitivity"
    kind.for_epsilon(1, Sensitivity(value="1/2", norm="Linf"), grid="1/4")


def test_the_interval_of_yes_and_no_is_the_distance_from_the_threshold() -> None:
    mechanism = SparseVector(threshold_scale=3, query_scale=5, count=2, grid="1/4")
    for queries in (1, 20):
        stated = mechanism.accuracy(confidence="0.9", queries=queries).error
        assert mechanism.interval("0.9", queries=queries) == stated
