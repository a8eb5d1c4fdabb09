"""The truncated geometric mechanism: exact at the ends, private, and no wider than needed."""

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.mechanisms.truncated_geometric import TruncatedGeometric
from tests.mechanisms.enumeration import Distribution, outcomes
from tests.mechanisms.tables import certified, real

ONE = Sensitivity(value=1)
SMALL = TruncatedGeometric(scale=2, lowest=-1, highest=3)
DIGITS = mpmath.mpf(10) ** -25


def law(mechanism: TruncatedGeometric, value: int, window: int = 150) -> Distribution:
    return outcomes(lambda randomness: mechanism.run(value, randomness), window=window)


def exact(mechanism: TruncatedGeometric, value: int) -> dict[Any, Any]:
    """By the formula for each answer."""
    answers = range(mechanism.lowest, mechanism.highest + 1)
    return {answer: real(Fraction(mechanism.probability(answer, value=value).upper)) for answer in answers}


@pytest.mark.parametrize("value", [-7, -1, 0, 3, 9])
def test_answers_have_the_stated_probabilities(value: int) -> None:
    found, stated = law(SMALL, value), exact(SMALL, value)
    assert abs(sum(stated.values()) - 1) < DIGITS
    assert found.chances.keys() == stated.keys()
    assert all(abs(found.chances[answer] - stated[answer]) < DIGITS for answer in stated)


def test_text_and_mechanism_agree() -> None:
    for value in (-7, 0, 3):
        inputs = SMALL.program_inputs(value)
        read = outcomes(lambda randomness, i=inputs: SMALL.program.run(i, randomness), window=150)  # type: ignore[misc]
        ran = law(SMALL, value)
        assert read.chances.keys() == ran.chances.keys()
        assert all(abs(ran.chances[a] - read.chances[a]) < DIGITS for a in ran.chances)


@pytest.mark.parametrize("change", [1, 2, 4, 9])
def test_the_claim_is_the_exact_distance(change: int) -> None:
    """A change by more than the range costs no more than the range."""
    claim = certified(SMALL.derive(Sensitivity(value=change)))
    assert claim == PureDP(epsilon=Fraction(min(change, 4), 2))
    laws = {value: Distribution(exact(SMALL, value), 0) for value in range(-6, 9)}
    worst = max(laws[a].loss(laws[b]) for a, b in product(laws, laws) if abs(a - b) <= change)
    assert abs(worst - real(claim.parameters["epsilon"])) < 1e-9


def test_half_the_noise_is_refuted() -> None:
    careless = TruncatedGeometric(scale=1, lowest=-1, highest=3)
    loss = Distribution(exact(careless, 0), 0).loss(Distribution(exact(careless, 1), 0))
    assert loss > SMALL.guarantee(ONE).parameters["epsilon"] + Fraction(1, 10**9)


def test_the_worst_case_reaches_the_claim() -> None:
    one, other = SMALL.worst_case(ONE)
    loss = Distribution(exact(SMALL, one), 0).loss(Distribution(exact(SMALL, other), 0))
    assert abs(loss - mpmath.mpf(1) / 2) < 1e-9


@pytest.mark.parametrize("span", [1, 2, 3, 4, 5, 8, 9, 40])
@pytest.mark.parametrize("confidence", ["0.3", "0.7", "0.9", "0.99"])
def test_intervals_cover_every_value_and_are_the_least(span: int, confidence: str) -> None:
    mechanism = TruncatedGeometric(scale=2, lowest=0, highest=span)
    laws = {value: exact(mechanism, value) for value in range(span + 1)}

    def covered(w: int) -> Any:
        return min(
            sum(chance for answer, chance in law.items() if abs(answer - value) <= w) for value, law in laws.items()
        )

    w = int(mechanism.interval(confidence))
    assert covered(w) >= real(Fraction(confidence)) - DIGITS
    assert w == 0 or covered(w - 1) < real(Fraction(confidence))
    assert mechanism.accuracy(confidence=confidence).error == w


def test_calibration() -> None:
    replaced = Sensitivity(value=1, neighbors=Neighbors.REPLACE)
    mechanism = TruncatedGeometric.for_epsilon("0.1", replaced, lowest=0, highest=100)
    assert mechanism.scale == 10
    assert certified(mechanism.derive(replaced)) == PureDP(epsilon="0.1", neighbors=Neighbors.REPLACE)
    short = TruncatedGeometric.for_epsilon(1, Sensitivity(value=50), lowest=0, highest=5)
    assert short.scale == 5


def test_the_most_noise_for_an_error() -> None:
    mechanism = TruncatedGeometric.for_accuracy(error=20, confidence="0.95", lowest=0, highest=1000)
    more = TruncatedGeometric(scale=mechanism.scale * Fraction(101, 100), lowest=0, highest=1000)
    assert mechanism.interval("0.95") <= 20 < more.interval("0.95")


def test_extreme_ranges() -> None:
    wide = TruncatedGeometric(scale=2**60, lowest=-(2**62), highest=2**62)
    assert all(-(2**62) <= wide.release(2**63 - 1) <= 2**62 for _ in range(20))


@pytest.mark.parametrize(
    "parameters",
    [
        {"scale": 0},
        {"scale": float("nan")},
        {"lowest": 5, "highest": 5},
        {"lowest": 6, "highest": 5},
        {"lowest": 0.5},
        {"highest": 2**63},
        {"highest": None},
    ],
)
def test_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        TruncatedGeometric(**{"scale": 1, "lowest": 0, "highest": 5, **parameters})


@pytest.mark.parametrize("bad", [[], [1, 2], 0.5, float("nan"), "1", None, object()])
def test_bad_values_are_refused_before_anything_is_drawn(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        SMALL.run(bad, None)  # type: ignore[arg-type]


def test_answers_beyond_the_range_are_no_answers() -> None:
    with pytest.raises(InvalidParameter, match="answer"):
        SMALL.probability(4, value=0)


@pytest.mark.parametrize("bad", [0.5, float("nan"), "1", None])
def test_values_that_are_no_integers_have_no_probabilities(bad: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        SMALL.probability(3, value=bad)
    assert caught.value.field == "value"
