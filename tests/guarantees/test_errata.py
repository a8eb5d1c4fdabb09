"""What the seeds get wrong, row by row (see ERRATA.md beside them): each unsound claim is refuted or has no rule.

A claim is refuted by enumeration: a small mechanism, built as the seed says, whose exact laws contradict the claim.
The corrected form, on the same mechanism, is not refuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import pytest

from privately.errors import NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, rules
from privately.laws import DiscreteGaussian
from privately.rounding import Enclosure
from tests.guarantees.enumeration import (
    Data,
    Law,
    Table,
    adaptive,
    by_position,
    by_value,
    clamped_noise,
    data_sets,
    joint,
    mechanism,
    mixture,
    neighbour_pairs,
    poisson_sampled,
    present,
    response,
    revealing,
    sampled_without_replacement,
    size_table,
)
from tests.guarantees.rules.knowns import ADD_REMOVE, REPLACE, claim, fault, know

RATIO = 2
COST = Enclosure.of(RATIO).log().claim()
"""ln 2: what noise in proportion to 2^-|k| costs for each step."""


def exact_ratio(table: Table) -> Fraction:
    """The largest ratio of probabilities under replacement of one record."""
    pairs = neighbour_pairs(table, REPLACE)
    return max(max(p[o] / q[o], q[o] / p[o]) for p, q in pairs for o in p)


def table_of(law: Callable[[Data], Law], records: list[str], sizes: list[int]) -> Table:
    return {data: law(data) for data in data_sets(records, sizes)}


# 000: formal methods


def test_000_parallel_composition_by_value_under_replacement_costs_two_parts() -> None:
    """Seed: the largest epsilon and delta, for every data-independent partition."""
    parts = [present(RATIO, records=[record], most=1) for record in "ab"]
    table = by_value(parts, {"a": 0, "b": 1}, data_sets(["a", "b"], [1]))
    assert fault(claim(PureDP, REPLACE, epsilon=COST), table)
    assert not fault(claim(PureDP, REPLACE, epsilon=2 * COST), table)
    assert exact_ratio(table) == RATIO**2
    approximate = by_value([revealing(part, Fraction(1, 10)) for part in parts], {"a": 0, "b": 1}, [("a",), ("b",)])
    assert fault(claim(ApproxDP, REPLACE, epsilon=COST, delta=Fraction(1, 10)), approximate)
    with pytest.raises(NoSuchRule):
        rules.parallel_by_value(claim(PureDP, REPLACE, epsilon=COST), claim(PureDP, REPLACE, epsilon=COST))


@pytest.mark.parametrize("size", [2, 3])
def test_000_dummy_sum_with_noise_on_every_prefix_costs_size_times_epsilon(size: int) -> None:
    """Seed, first version: Lap(1/epsilon) on every prefix sum, read as epsilon."""

    def noisy_prefixes(data: Data) -> Law:
        sums = list(accumulate(int(bit) for bit in data))
        return joint([clamped_noise(total, RATIO, range(place + 2)) for place, total in enumerate(sums)])

    def noisy_items(data: Data) -> Law:
        return joint([clamped_noise(int(bit), RATIO, range(2)) for bit in data])

    first, second = (table_of(law, ["0", "1"], [size]) for law in (noisy_prefixes, noisy_items))
    assert fault(claim(PureDP, REPLACE, epsilon=(size - 1) * COST), first)
    assert fault(claim(PureDP, REPLACE, epsilon=COST), first)
    assert not fault(claim(PureDP, REPLACE, epsilon=size * COST), first)
    assert exact_ratio(first) == RATIO**size
    assert not fault(claim(PureDP, REPLACE, epsilon=COST), second)


# 001: sanitizers


def test_001_a_ratio_of_one_plus_epsilon_is_not_what_laplace_noise_gives() -> None:
    """Seed: the ratio of each transcript lies in 1 +- epsilon, "equivalently" to e^epsilon."""
    table = present(RATIO)
    epsilon = rules.finite_table(mechanism(table)).conclusion.parameters["epsilon"]
    largest = max(p[o] / q[o] for p, q in neighbour_pairs(table, ADD_REMOVE) for o in p)
    assert largest == RATIO > 1 + epsilon
    assert fault(claim(PureDP, ADD_REMOVE, epsilon=math.log(1 + epsilon)), table)
    assert not fault(claim(PureDP, ADD_REMOVE, epsilon=epsilon), table)


# 002: randomized response


def test_002_parallel_composition_bounds_the_ratio_by_e_to_the_epsilon() -> None:
    """Seed: the last line of the proof bounds the ratio by the largest epsilon itself."""
    table = by_position([response(3), response(2)])
    parts = [know(PureDP, [response(ratio)], REPLACE).derivation for ratio in (3, 2)]
    epsilon = rules.parallel_by_position(*parts).conclusion.parameters["epsilon"]
    assert exact_ratio(table) == 3 > epsilon
    assert fault(claim(PureDP, REPLACE, epsilon=math.log(epsilon)), table)
    assert not fault(rules.parallel_by_position(*parts), table)


def test_002_parallel_composition_of_value_based_parts_changes_two() -> None:
    """Seed: only one part differs. Under replacement the sizes of two parts do."""
    parts = [size_table([record], 1) for record in "ab"]
    table = by_value(parts, {"a": 0, "b": 1}, [("a",), ("b",)])
    assert fault(claim(PureDP, REPLACE, epsilon=0), table)
    with pytest.raises(NoSuchRule):
        rules.parallel_by_value(claim(PureDP, REPLACE, epsilon=0), claim(PureDP, REPLACE, epsilon=0))


# 003: zCDP, Renyi, subsampling, DP-SGD


@pytest.mark.parametrize("kind", [PureDP, ZCDP, GaussianDP])
def test_003_replacement_does_not_imply_add_remove(kind: type[Guarantee]) -> None:
    """Seed: with the same (epsilon, delta)."""
    table = size_table(["0", "1"], 2)
    known = know(kind, [table], REPLACE)
    (number,) = known.statement.parameters.values()
    assert number <= Fraction(1, 10**12)
    for pretended in (0, 1, 1000):
        (name,) = known.statement.parameters
        assert fault(claim(kind, ADD_REMOVE, **{name: pretended}), table)
    with pytest.raises(NoSuchRule, match="would be false"):
        rules.convert(known.derivation, kind, neighbors=ADD_REMOVE)


def test_003_add_remove_implies_replacement_at_twice_the_price_only() -> None:
    laws = {("0",): Fraction(1, 20), (): Fraction(1, 5), ("1",): Fraction(1, 2)}
    table: Table = {data: {"yes": mass, "no": 1 - mass} for data, mass in laws.items()}
    known = rules.finite_table(mechanism(table), delta=Fraction(1, 10))
    epsilon = known.conclusion.parameters["epsilon"]
    assert fault(claim(ApproxDP, REPLACE, epsilon=epsilon, delta=Fraction(1, 10)), table)
    assert fault(claim(ApproxDP, REPLACE, epsilon=2 * epsilon, delta=Fraction(1, 5)), table)
    assert not fault(rules.add_remove_to_replace(known), table)


@pytest.mark.parametrize(
    ("ratio", "delta"), [(Fraction(101, 100), Fraction(1, 1000)), (Fraction(1001, 1000), Fraction(1, 10**5))]
)
def test_003_zcdp_to_dp_needs_the_square_root(ratio: Fraction, delta: Fraction) -> None:
    """Seed: epsilon = rho + 4 rho ln(1/delta)."""
    known = know(ZCDP, [response(ratio)], REPLACE)
    rho = known.statement.parameters["rho"]
    seed = rho * (1 + 4 * Fraction(math.log(1 / delta)))
    assert fault(claim(ApproxDP, REPLACE, epsilon=seed, delta=delta), known.table)
    root = rho + 2 * Fraction(math.sqrt(rho * math.log(1 / delta)) * (1 + 1e-12))
    assert not fault(claim(ApproxDP, REPLACE, epsilon=root, delta=delta), known.table)
    tight = rules.zcdp_to_approx(known.derivation, delta=delta)
    assert seed < tight.conclusion.parameters["epsilon"] < root
    assert not fault(tight, known.table)


@pytest.mark.parametrize(("records", "epsilon"), [(2, 1.862), (4, 1.531)])
def test_003_k_ary_randomized_response_lies_among_the_others(records: int, epsilon: float) -> None:
    """Seed: truth with e^epsilon/(K-1+e^epsilon), otherwise "at random"; over all K: ln(1 + K e^epsilon/(K-1))."""
    names = [str(i) for i in range(records)]
    grown = Fraction(math.e)
    truth = grown / (grown + records - 1)
    over_all: Table = {
        (true,): mixture([(truth, {true: Fraction(1)}), (1 - truth, dict.fromkeys(names, Fraction(1, records)))])
        for true in names
    }
    assert fault(claim(PureDP, REPLACE, epsilon=1), over_all)
    found = rules.finite_table(mechanism(over_all), neighbors=REPLACE).conclusion.parameters["epsilon"]
    assert abs(float(found) - math.log(1 + records * math.e / (records - 1))) < 1e-12
    assert abs(float(found) - epsilon) < 5e-4
    others = response(grown, records=names)
    assert not fault(claim(PureDP, REPLACE, epsilon=Fraction(1) + Fraction(1, 10**12)), others)


def test_003_a_clipped_gradient_changes_by_twice_the_bound_under_replacement() -> None:
    """Seed: clipped to norm B it has sensitivity B. Gradients are -B, 0 and B here, and noise costs COST per B."""

    def noisy_sum(data: Data) -> Law:
        return clamped_noise(sum(int(gradient) for gradient in data), RATIO, range(-2, 3))

    table = table_of(noisy_sum, ["-1", "0", "1"], [0, 1, 2])
    assert fault(claim(PureDP, REPLACE, epsilon=COST), table)
    assert not fault(claim(PureDP, REPLACE, epsilon=2 * COST), table)
    assert not fault(claim(PureDP, ADD_REMOVE, epsilon=COST), table)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("0.5", "1e-6"), ("4", "1e-8")])
def test_003_scenario_2_rho_is_the_square(epsilon: str, delta: str) -> None:
    """Seed: rho = sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta)). Noise for rho has mu = sqrt(2 rho)."""
    log = math.log(1 / float(delta))
    root = math.sqrt(log + float(epsilon)) - math.sqrt(log)
    wrong, right = GaussianDP(mu=math.sqrt(2 * root)), GaussianDP(mu=math.sqrt(2) * root)
    assert wrong.delta(epsilon=epsilon).lower > Fraction(delta)
    assert ZCDP(rho=root).epsilon(delta=delta).lower > Fraction(epsilon)
    assert right.delta(epsilon=epsilon).upper <= Fraction(delta)
    assert ZCDP(rho=root**2).epsilon(delta=delta).upper <= Fraction(epsilon)
    both_slips = GaussianDP(mu=root)
    assert both_slips.delta(epsilon=epsilon).upper <= Fraction(delta)


def test_003_scenario_3_noise_on_a_batch_mean_has_sensitivity_over_the_batch() -> None:
    """Seed: the base mechanism is charged B/n and amplified by m/n: the sampling counts twice.

    n = 3 rows of 0 or 1, batches of m = 1; in steps of B/n the batch mean is 0 or 3, and each step costs COST.
    """
    base = table_of(lambda data: clamped_noise(3 * int(data[0]), RATIO, range(4)), ["0", "1"], [1])
    sampled = sampled_without_replacement(base, 1, data_sets(["0", "1"], [3]))
    seed = rules.sampling_without_replacement(claim(PureDP, REPLACE, epsilon=COST), sample=1, population=3)
    assert fault(seed, sampled)
    assert fault(claim(PureDP, REPLACE, epsilon=COST), sampled)
    right = rules.sampling_without_replacement(know(PureDP, [base], REPLACE).derivation, sample=1, population=3)
    assert not fault(right, sampled)


def test_003_the_realised_poisson_batch_size_is_no_denominator() -> None:
    """Seed: divide by m_t. n = 4, rate 1/2: the public denominator is 2, and each step of B/2 costs COST."""

    def by_realised_size(data: Data) -> Law:
        mean = Fraction(sum(int(bit) for bit in data), max(len(data), 1))
        return clamped_noise(round(2 * mean), RATIO, range(5))

    def by_public_size(data: Data) -> Law:
        return clamped_noise(sum(int(bit) for bit in data), RATIO, range(5))

    inputs = data_sets(["0", "1"], range(5))
    claimed = rules.poisson_sampling(claim(PureDP, ADD_REMOVE, epsilon=COST), rate="1/2")
    realised, public = ({data: law(data) for data in inputs} for law in (by_realised_size, by_public_size))
    assert fault(claim(PureDP, ADD_REMOVE, epsilon=COST), realised)
    assert not fault(claim(PureDP, ADD_REMOVE, epsilon=COST), public)
    assert fault(claimed, poisson_sampled(realised, Fraction(1, 2), inputs))
    assert not fault(claimed, poisson_sampled(public, Fraction(1, 2), inputs))


# 004: Laplace vector, exponential mechanism


def test_004_eye_colours_need_the_natural_logarithm() -> None:
    """Seed: 2/epsilon (log 5 + 3) < 7.4/epsilon, a decimal logarithm. The theorem fails there and holds at 9.22."""
    assert round(2 * (math.log10(5) + 3), 1) == 7.4
    assert round(2 * (math.log(5) + 3), 2) == 9.22

    def chance_of_error_at_least(error: float) -> float:
        """Four colours that are worse by just that much, epsilon = 1: the exponential mechanism picks one of them."""
        return 4 * math.exp(-error / 2) / (1 + 4 * math.exp(-error / 2))

    assert chance_of_error_at_least(7.4) > math.exp(-3) * 1.5
    assert chance_of_error_at_least(9.22) < math.exp(-3)


# Not in the seeds


def test_often_said_discrete_gaussian_has_the_delta_of_the_continuous_one() -> None:
    """At sigma = 1 and sensitivity 1 its delta is up to 2.5 times as large; it is zCDP all the same."""
    law, continuous = DiscreteGaussian(variance=1), GaussianDP(mu=1)

    def delta_below(epsilon: Fraction) -> Fraction:
        """A lower bound of the largest P(E) - e^epsilon Q(E), over the outcomes -30 to 30."""
        grown = Fraction(Enclosure.of(epsilon).exp().upper)
        gains = (Fraction(law.pmf(k).lower) - grown * Fraction(law.pmf(k + 1).upper) for k in range(-30, 31))
        return sum((max(gain, Fraction(0)) for gain in gains), Fraction(0))

    ratios = []
    for tenths in range(5, 56):
        epsilon = Fraction(tenths, 10)
        ratios.append(delta_below(epsilon) / Fraction(continuous.delta(epsilon=epsilon).upper))
    assert max(ratios) > 2
    assert min(ratios) < 1
    with pytest.raises(NoSuchRule, match="discrete Gaussian"):
        rules.convert(rules.suppose(ZCDP(rho="0.5")), GaussianDP)
    concentrated = ZCDP(rho="0.5")
    assert all(delta_below(Fraction(n)) <= concentrated.delta(epsilon=n).upper for n in range(6))


def test_often_said_a_rank_may_use_the_position() -> None:
    """One row per person is kept: the one whose position (or whose content) has the smallest key.

    Removing the first person moves everybody else, and with the position their kept rows change too.
    """
    keys = [0, 3, 1, 2, 5, 0, 4]

    def count(data: Data, rank: Callable[[int, str], object]) -> int:
        chosen: dict[str, tuple[object, str]] = {}
        for place, row in enumerate(data):
            chosen[row[0]] = min(chosen.get(row[0], (rank(place, row), row)), (rank(place, row), row))
        return sum(row[1] == "y" for _, row in chosen.values())

    inputs = [data for data in data_sets(["1y", "2y", "2n", "3y", "3n"], range(6)) if len(set(data)) == len(data)]
    person = ADD_REMOVE.of_unit("person", max_rows=2)

    def noisy(rank: Callable[[int, str], object]) -> Table:
        return {data: clamped_noise(count(data, rank), RATIO, range(4)) for data in inputs}

    assert fault(claim(PureDP, person, epsilon=COST), noisy(lambda place, row: keys[place]))
    assert not fault(claim(PureDP, person, epsilon=COST), noisy(lambda place, row: row))


def test_often_said_adaptively_chosen_events_may_be_recomposed_afterwards() -> None:
    """Whatever was chosen, the recorded events compose optimally to (epsilon, delta); the whole does not satisfy it.

    After the answer "1" the analyst spends delta on a second response, after "0" on a chance to be told everything.
    """
    delta = Fraction(1, 20)
    first = know(PureDP, [response(2)], REPLACE)
    again = know(PureDP, [response(2)], REPLACE)
    told = know(ApproxDP, [revealing({("0",): {"": Fraction(1)}, ("1",): {"": Fraction(1)}}, delta)], REPLACE)
    assert told.statement == ApproxDP(epsilon=0, delta=delta, neighbors=REPLACE)
    recorded = [rules.optimal_composition(first.derivation, then.derivation, delta=delta) for then in (again, told)]
    epsilon = max(one.conclusion.parameters["epsilon"] for one in recorded)
    recomposed = claim(ApproxDP, REPLACE, epsilon=epsilon, delta=delta)
    for then in (again, told):  # either of them, fixed beforehand, is as recorded
        assert not fault(recomposed, adaptive(first.table, {"0": then.table, "1": then.table}.__getitem__))
    chosen = {"1": again.table, "0": told.table}
    whole = adaptive(first.table, chosen.__getitem__)
    assert fault(recomposed, whole)
    total = claim(ApproxDP, REPLACE, epsilon=again.statement.parameters["epsilon"], delta=delta)
    assert not fault(rules.sequential(first.derivation, total), whole)
