"""Histograms over unknown keys: exact distances of all neighbours, mutants, thresholds, error bars."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import mpmath
import pytest

import privately
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ApproxDP, ApproxZCDP, Neighbors, Sensitivity
from privately.laws import DiscreteLaplace
from privately.mechanisms.thresholded_histogram import ThresholdedHistogram, least_threshold
from privately.noise import add
from privately.rounding import Enclosure, normal_cdf
from tests.mechanisms.enumeration import Distribution, outcomes, probability
from tests.mechanisms.streams import Untouched

Pairs = tuple[tuple[str, Any], ...]
Run = Callable[[Pairs, Any], dict[Any, int]]
PERSON = Neighbors.ADD_REMOVE.of_unit("person")
ONE = Sensitivity(value=1, norm="Linf", neighbors=PERSON)
SECRET = b"for tests"


def histogram(**parameters: Any) -> ThresholdedHistogram:
    return ThresholdedHistogram(**{"scale": "1/2", "threshold": 3, "keys": 1, "secret": SECRET, **parameters})


def law(run: Run, pairs: Pairs, window: int = 12) -> Distribution:
    return outcomes(lambda branch: tuple(run(pairs, branch).items()), window=window, negligible=1e-14)


def excess(run: Run, epsilon: Fraction, neighbours: Iterable[tuple[Pairs, Pairs]], window: int = 12) -> float:
    """The largest delta at this epsilon, from below, in both directions."""
    known: dict[Pairs, Distribution] = {}
    worst = mpmath.mpf(0)
    for pair in neighbours:
        laws = [
            known.setdefault(pairs, law(run, pairs, window)) if pairs not in known else known[pairs] for pairs in pair
        ]
        for one, other in (laws, laws[::-1]):
            lost = mpmath.exp(float(epsilon)) * other.missing
            worst = max(worst, one.excess(other, mpmath.mpf(epsilon.numerator) / epsilon.denominator) - lost)
    return float(worst)


def tables(units: str, keys: str) -> list[Pairs]:
    """All tables in which each of the units has some of the keys."""
    subsets = [chosen for size in range(len(keys) + 1) for chosen in combinations(keys, size)]
    return [
        tuple((unit, key) for unit, own in zip(units, chosen, strict=True) for key in own)
        for chosen in product(subsets, repeat=len(units))
    ]


def without(pairs: Pairs, unit: str) -> Pairs:
    return tuple(pair for pair in pairs if pair[0] != unit)


def numbers(mechanism: ThresholdedHistogram) -> tuple[Fraction, Fraction]:
    claim = mechanism.guarantee(ONE)
    assert isinstance(claim, ApproxDP)
    return claim.parameters["epsilon"], claim.parameters["delta"]


@pytest.mark.parametrize("keys", [1, 2])
@pytest.mark.parametrize("threshold", [2, 3])
def test_distances_of_all_neighbours_attain_the_claim_and_no_more(keys: int, threshold: int) -> None:
    """Two units, each with none, one or both of two keys; one of the units leaves."""
    mechanism = histogram(keys=keys, threshold=threshold)
    epsilon, delta = numbers(mechanism)
    neighbours = [(pairs, without(pairs, "u")) for pairs in tables("uv", "ab")]
    found = excess(mechanism.run, epsilon, neighbours)
    assert found == pytest.approx(float(delta), rel=1e-8)


def test_gaussian_noise_keeps_its_delta_and_its_rho() -> None:
    """Of one key that a single unit has, all that is shown is delta; of others, the loss is that of the noise."""
    mechanism = histogram(noise="rounded_gaussian", scale=1, threshold=4, keys=1)
    claim = mechanism.guarantee(ONE)
    assert isinstance(claim, ApproxZCDP)
    alone, nobody = law(mechanism.run, (("u", "a"),)), law(mechanism.run, ())
    shown = 1 - alone.chances[()]
    assert float(shown) == pytest.approx(float(claim.parameters["delta"]), rel=1e-9)
    assert nobody.chances == {(): 1}
    many = outcomes(lambda branch: tuple(mechanism.run({"a": 8}, branch).items()), window=14).chances
    more = outcomes(lambda branch: tuple(mechanism.run({"a": 9}, branch).items()), window=14).chances
    for order in (2, 5):
        moment = sum(p**order * many[shown] ** (1 - order) for shown, p in more.items() if shown in many)
        assert (
            0.9 * float(claim.parameters["rho"])
            <= mpmath.log(moment) / (order - 1)
            <= order * float(claim.parameters["rho"]) + 1e-6
        )


def rows_for_units(pairs: Pairs, randomness: Any) -> dict[Any, int]:
    """Counts rows."""
    return histogram().run(tuple((str(i), key) for i, (_, key) in enumerate(pairs)), randomness)


def exact_threshold(pairs: Pairs, randomness: Any) -> dict[Any, int]:
    """Compares the exact count."""
    counts = histogram().counts(pairs, randomness)
    if not counts:
        return {}
    noisy = add(list(counts.values()), randomness.draw(DiscreteLaplace(scale="1/2"), size=len(counts))).tolist()
    return {key: value for key, value in zip(counts, noisy, strict=True) if counts[key] >= 2}


def positional_choice(pairs: Pairs, randomness: Any) -> dict[Any, int]:
    """Keeps the first key of each unit, in an order that the size of the table decides."""
    turned = pairs[len(pairs) // 2 :] + pairs[: len(pairs) // 2]
    return histogram().run(tuple({unit: (unit, key) for unit, key in reversed(turned)}.values()), randomness)


def half_the_noise(pairs: Pairs, randomness: Any) -> dict[Any, int]:
    return histogram(scale="1/4").run(pairs, randomness)


def lower_threshold(pairs: Pairs, randomness: Any) -> dict[Any, int]:
    return histogram(threshold=2).run(pairs, randomness)


def without_a_bound(pairs: Pairs, randomness: Any) -> dict[Any, int]:
    return histogram(keys=9).run(pairs, randomness)


CROWD = tuple((unit, key) for unit in "uvw" for key in "ab")


@pytest.mark.parametrize(
    ("mutant", "pairs"),
    [
        (rows_for_units, (("u", "a"),) * 4),
        (exact_threshold, (("u", "a"), ("v", "a"))),
        (positional_choice, (("u", "a"),) * 6 + tuple((unit, key) for key in "ab" for unit in "vwx")),
        (half_the_noise, tuple((unit, "a") for unit in "uvwxy")),
        (lower_threshold, (("u", "a"),)),
        (without_a_bound, CROWD),
    ],
)
def test_mutants_are_refuted(mutant: Run, pairs: Pairs) -> None:
    epsilon, delta = numbers(histogram())
    neighbours = [(pairs, without(pairs, "u"))]
    assert excess(mutant, epsilon, neighbours) > delta * Fraction(101, 100)
    assert excess(histogram().run, epsilon, neighbours) <= delta


def test_a_delta_for_one_key_does_not_hold_for_two() -> None:
    mechanism = histogram(keys=2)
    nobody, alone = mechanism.worst_case(ONE)
    assert (nobody, len(alone)) == ([], 2)
    shown = 1 - law(mechanism.run, (*alone,)).chances[()]
    assert float(shown) == pytest.approx(float(numbers(mechanism)[1]), rel=1e-9)
    assert shown > 1.5 * float(numbers(histogram(keys=1))[1])


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
def test_the_program_does_the_same(noise: Any) -> None:
    mechanism = histogram(noise=noise, keys=2)
    pairs = (("u", "b"), ("v", "a"), ("w", "a"), ("w", "b"))
    names = list(mechanism.counts(pairs, Untouched()))

    def told(branch: Any) -> list[int]:
        shown = mechanism.run(pairs, branch)
        return [shown.get(name, 0) for name in names]

    run = outcomes(told, window=10)
    text = outcomes(lambda branch: mechanism.program.run(mechanism.program_inputs(pairs), branch), window=10)
    assert run.farthest(text) < 1e-25


def test_the_program_shows_nothing_of_keys_that_nobody_has() -> None:
    assert histogram().program.run({"counts": [0, 0], "scale": Fraction(9), "threshold": 2}, Untouched()) == [0, 0]


@pytest.mark.parametrize("keys", [1, 3, 50])
@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-9", Fraction(1, 10**60)])
def test_thresholds_are_the_least(keys: int, delta: Any) -> None:
    allowed = Fraction(delta)
    mechanism = ThresholdedHistogram.for_budget(epsilon="0.7", delta=delta, keys=keys)
    assert mechanism.scale == keys / Fraction("0.7")

    def exact(threshold: int) -> Enclosure:
        q = Enclosure.of(-1 / mechanism.scale).exp()
        alone = Enclosure.of(-(threshold - 1) / mechanism.scale).exp() / (1 + q)
        return 1 - (1 - alone) ** keys if allowed > Fraction(1, 10**30) else keys * alone

    assert exact(mechanism.threshold).upper <= allowed
    assert mechanism.threshold == 2 or exact(mechanism.threshold - 1).lower > allowed
    claim = mechanism.guarantee(ONE)
    assert claim.parameters["epsilon"] == Fraction("0.7")
    assert claim.parameters["delta"] <= allowed


@pytest.mark.parametrize("delta", ["0.01", "1e-9"])
def test_thresholds_of_gaussian_noise_are_the_least(delta: str) -> None:
    mechanism = ThresholdedHistogram.for_rho(rho="0.1", delta=delta, keys=3)
    claim = mechanism.guarantee(ONE)
    assert Fraction("0.1") * (1 - Fraction(1, 10**12)) < claim.parameters["rho"] <= Fraction("0.1")

    def exact(threshold: int) -> Enclosure:
        return 1 - (1 - normal_cdf(-(threshold - Fraction(3, 2)) / mechanism.scale)) ** 3

    assert exact(mechanism.threshold).upper <= Fraction(delta) < exact(mechanism.threshold - 1).lower


def test_guarantees_are_certified() -> None:
    for mechanism in (histogram(), histogram(noise="rounded_gaussian", keys=4)):
        report = privately.check(privately.certify(mechanism.derive(ONE)))
        assert report.rules == ("thresholded_histogram",)
        assert not report.assumptions


def test_pairs_and_bounded_counts_give_the_same() -> None:
    pairs = [(unit, key) for unit in range(30) for key in ("a", "b")]
    sure = histogram(scale="1/1000", threshold=20, keys=2)
    assert sure.release(pairs) == sure.release({"b": 30, "a": 30, "c": 3, "d": 0}) == {"a": 30, "b": 30}


def test_the_order_of_keys_says_nothing() -> None:
    sure = histogram(scale="1/1000", threshold=2, keys=9)
    pairs: list[Any] = [(unit, key) for key in ("b", 10, None, "a", 9, ("x", 1)) for unit in "uvw"]
    assert list(sure.release(pairs)) == list(sure.release(pairs[::-1])) == [None, 9, 10, "a", "b", ("x", 1)]


def test_nobody_is_no_error_and_draws_nothing() -> None:
    assert histogram().run([], Untouched()) == {}
    assert histogram().run({}, Untouched()) == {}
    assert histogram().run({"a": 0}, Untouched()) == {}


def test_a_secret_is_drawn_for_each_release_and_never_shown() -> None:
    drawing = histogram(secret=None, scale="1/1000", threshold=2)
    pairs = [("u", key) for key in "abcdefgh"] + [("v", key) for key in "abcdefgh"]
    assert len({tuple(drawing.counts(pairs, privately.noise)) for _ in range(30)}) > 1
    assert "for tests" not in repr(histogram())


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
def test_error_bars_and_visibility_follow_the_law(noise: Any) -> None:
    mechanism = histogram(noise=noise, scale=5, threshold=40)
    chance = {k: probability(mechanism.law, k) for k in range(-400, 401)}

    def within(width: int) -> Any:
        return sum(chance[k] for k in range(-width, width + 1))

    width = int(mechanism.interval("0.95"))
    assert within(width) >= 0.95 > within(width - 1)
    assert mechanism.accuracy(confidence="0.95").error == width

    def shown(count: int) -> Any:
        return sum(p for k, p in chance.items() if count + k >= 40)

    least = mechanism.shown_from("0.95")
    assert shown(least) >= 0.95 > shown(least - 1)


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
def test_an_accuracy_is_met_and_with_a_hundredth_more_noise_it_is_not(noise: Any) -> None:
    mechanism = ThresholdedHistogram.for_accuracy(error=30, confidence="0.9", delta="1e-6", keys=2, noise=noise)
    assert mechanism.interval("0.9") == 30
    assert histogram(scale=mechanism.scale * Fraction(101, 100), noise=noise).interval("0.9") > 30
    assert mechanism.threshold == least_threshold(mechanism.scale, Fraction(1, 10**6), 2, noise)


def test_counts_of_rows_and_guarantees_for_rows_are_refused() -> None:
    with pytest.raises(NoSuchRule, match="different units"):
        histogram().derive(Sensitivity(value=3, norm="Linf", neighbors=PERSON))
    with pytest.raises(NoSuchRule, match="Name the unit"):
        histogram().derive(Sensitivity(value=1, norm="Linf"))
    with pytest.raises(NoSuchRule, match="added or removed"):
        histogram().derive(Sensitivity(value=1, norm="Linf", neighbors=Neighbors.REPLACE.of_unit("person")))


def test_a_row_can_exchange_the_keys_of_its_unit() -> None:
    """Why there is no guarantee for one row: with the key it prefers gone, the unit shows another."""
    mechanism = histogram()
    crowd = tuple((str(i), key) for i in range(6) for key in "ab")
    both = (*crowd, ("u", "a"), ("u", "b"))
    (preferred,) = mechanism.counts((("u", "a"), ("u", "b")), Untouched())
    one_row_less = tuple(pair for pair in both if pair != ("u", preferred))
    before, after = (mechanism.counts(pairs, Untouched()) for pairs in (both, one_row_less))
    assert sum(abs(before[key] - after[key]) for key in "ab") == 2
    epsilon, delta = numbers(mechanism)
    assert excess(mechanism.run, epsilon, [(both, one_row_less)]) > 2 * delta


@pytest.mark.parametrize(
    "parameters",
    [
        {"threshold": 1},
        {"threshold": 0},
        {"threshold": -3},
        {"threshold": 2.5},
        {"scale": 0},
        {"scale": float("nan")},
        {"scale": 2**61},
        {"keys": 0},
        {"noise": "gaussian"},
        {"noise": None},
        {"secret": ""},
        {"secret": b""},
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        histogram(**parameters)


@pytest.mark.parametrize("delta", [0, -1, 2, "small", float("nan")])
def test_bad_deltas_are_refused(delta: Any) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        ThresholdedHistogram.for_budget(epsilon=1, delta=delta)


@pytest.mark.parametrize("value", [5, None, "ab", [("u", 1.5)], [("u",)], {"a": -1}, {"a": 1.5}, {1.5: 1}])
def test_bad_input_is_refused_before_any_noise(value: Any) -> None:
    with pytest.raises(InvalidParameter):
        histogram().run(value, Untouched())
