"""Valid derivations that between them use every rule, from tables, mechanisms and assumptions."""

from fractions import Fraction
from functools import cache
from typing import Any

from privately import accounting as acc
from privately.accounting.certifying import derive
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    FiniteMechanism,
    GaussianDP,
    Neighbors,
    PureDP,
    RenyiDP,
    Sensitivity,
    rules,
)
from privately.guarantees.finite import Input
from tests.certificates.programs import proved

REPLACE = Neighbors.REPLACE
PATIENT = Neighbors.ADD_REMOVE.of_unit("patient")
REPLACED = Neighbors.REPLACE.of_unit("patient")


def response(truth: Fraction) -> FiniteMechanism:
    """Randomized response to one yes-no question."""

    def law(data: Input) -> dict[str, Fraction]:
        return {data[0]: truth, "no" if data[0] == "yes" else "yes": 1 - truth}

    return FiniteMechanism.tabulate(law, records=["yes", "no"], sizes=[1])


def noisy_count(levels: int = 4) -> FiniteMechanism:
    """The number of "a" among up to two rows, noisy, wrapped around a few levels."""

    def law(data: Input) -> dict[str, Fraction]:
        weights = {str(level): 2 ** abs(abs(level - data.count("a")) - levels) for level in range(levels)}
        return {level: Fraction(weight, sum(weights.values())) for level, weight in weights.items()}

    return FiniteMechanism.tabulate(law, records=["a", "b"], sizes=[0, 1, 2])


@cache
def from_tables() -> dict[str, Derivation]:
    """Complete proofs: every leaf is a table, or a mechanism with its parameters."""
    survey = rules.finite_table(response(Fraction(3, 5)), neighbors=REPLACE)
    count = rules.finite_table(noisy_count())
    leaky = rules.finite_table(noisy_count(), delta="0.05")
    stayed = rules.finite_table(noisy_count(), neighbors=REPLACE)
    total = rules.sequential(count, count, rules.parallel_by_value(count, count))
    return {
        "survey": rules.postprocessing(rules.sequential(survey, counts=[7]), description="majority vote"),
        "sampled": rules.sampling_without_replacement(survey, sample=2, population=9),
        "poisson": rules.optimal_composition(rules.poisson_sampling(leaky, rate="0.1"), counts=[30], delta="0.3"),
        "zcdp": rules.zcdp_to_approx(rules.sequential(rules.pure_to_zcdp(count), counts=[20]), delta="1e-6"),
        "leaky": rules.zcdp_to_approx(rules.sequential(rules.approx_to_zcdp(leaky), counts=[3]), delta="0.2"),
        "renyi": rules.renyi_to_approx(
            rules.sequential(rules.zcdp_to_renyi(rules.pure_to_zcdp_simple(count), orders=[2, 4, 8])), delta="1e-6"
        ),
        "gaussian": rules.gaussian_to_approx(rules.sequential(rules.pure_to_gaussian(count), counts=[5]), delta="1e-7"),
        "gaussian zcdp": rules.gaussian_to_zcdp(rules.group(rules.pure_to_gaussian(survey), size=2)),
        "group": rules.bounded_unit(rules.group(leaky, size=3), unit="patient_id"),
        "replace": rules.add_remove_to_replace(total),
        "moving": rules.parallel_by_value_replace(moved=[count, count], stayed=[stayed, stayed]),
        "position": rules.parallel_by_position(survey, survey),
        "advanced": rules.advanced_composition(leaky, count, counts=[3, 40], slack="1e-5"),
        "optimal": rules.optimal_composition(survey, counts=[50], delta="1e-6"),
        "weakened": rules.weaken(total, to=ApproxDP(epsilon=9, delta="0.001")),
        **from_mechanisms(),
        **from_events(),
        **from_plans(),
        **from_programs(),
    }


@cache
def from_mechanisms() -> dict[str, Derivation]:
    """Complete proofs from the rules that state a mechanism."""
    one, long = Sensitivity(value=1), Sensitivity(value="5/2", norm="L2")
    person = Neighbors(unit="person", max_rows=9)
    sums = Sensitivity(value=3, neighbors=person)
    laplace = rules.discrete_laplace(scale="7/2", sensitivity=one)
    normal = rules.rounded_gaussian(standard_deviation=20, sensitivity=long)
    whole = rules.discrete_gaussian(variance=150, sensitivity=long)
    chosen = rules.exponential_mechanism(scale=12, spread=2)
    ranked = rules.exponential_mechanism(scale="25/3", spread=1, kind=ZCDP)
    flipped = rules.permute_and_flip(scale=9, spread="1/2")
    winner = rules.noisy_max(noise="discrete_exponential", scale=15, spread="3/2", gap=False)
    margin = rules.noisy_max(noise="discrete_laplace", scale=15, spread=2, gap=True)
    above = rules.sparse_vector(threshold_scale=9, query_scale=40, count=5, monotone=True, sensitivity=sums)
    tested = rules.adaptive_sparse_vector(
        threshold_scale=9, query_scales=[60, 30, "31/2"], query_epsilon="4/5", monotone=False, sensitivity=sums
    )
    keys = rules.thresholded_histogram(noise="discrete_laplace", scale=2, threshold=45, keys=3, neighbors=person)
    frequent = rules.thresholded_histogram(noise="rounded_gaussian", scale=10, threshold=80, keys=4)
    survey = rules.randomized_response(categories=5, truth="1/3")
    return {
        "laplace": rules.postprocessing(rules.sequential(laplace, counts=[4]), description="rounded to tens"),
        "rounded": rules.gaussian_to_approx(rules.sequential(normal, counts=[3]), delta="1e-6"),
        "concentrated": rules.zcdp_to_approx(rules.sequential(whole, ranked, counts=[2, 5]), delta="1e-8"),
        "selection": rules.sequential(chosen, flipped, winner, margin, counts=[1, 2, 1, 3]),
        "queries": rules.sequential(above, tested),
        "keys": rules.sequential(keys, rules.discrete_laplace(scale=8, sensitivity=sums)),
        "frequent": rules.zcdp_to_approx(frequent, delta="1e-7"),
        "responses": rules.sampling_without_replacement(survey, sample=30, population=100),
    }


def from_plans() -> dict[str, Derivation]:
    """Answers about tables, each step of the plan a node."""
    return {
        "counts": _counts(),
        "averages": _averages(),
        "quantiles": _quantiles(),
        "medians": _medians(),
        "unlisted": _unlisted(),
        "whole": _whole(),
    }


def _counts() -> Derivation:
    """Of rows and units in groups that are listed, all of them of some rows only."""
    visits = rules.scan_rows(table="visits", neighbors=PATIENT, rows=6, groups=4, rows_per_group=2)
    some = rules.filter_rows(visits, condition="(age >= 30)")
    made = rules.project_rows(some, values=["decade = floor((age / 10))"])
    groups = rules.group_rows(made, keys=[("region", 3), ("decade", 2)])
    rows = rules.count_rows(groups, norm="L1")
    units = rules.count_units(groups, norm="L1")
    bins = rules.count_bins(groups, norm="L1", argument="cost", lower=0, width="1/2", bins=100)
    return rules.sequential(*(rules.discrete_laplace(scale=12, sensitivity=one) for one in (rows, units, bins)))


def _averages() -> Derivation:
    """Of two tables, under replacement."""
    visits = rules.scan_rows(table="visits", neighbors=REPLACED, rows=5, groups=5, rows_per_group=2)
    stays = rules.scan_rows(table="stays", neighbors=REPLACED, rows=3)
    regions, all_stays = rules.group_rows(visits, keys=[("region", 3)]), rules.group_rows(stays)
    value: dict[str, Any] = {"norm": "L2", "argument": "cost", "step": "1/100", "low": -200, "high": 500}
    pairs = rules.sum_pairs(regions, **value, counted="rows")
    total = rules.sum_steps(all_stays, **value)
    known = rules.count_rows(all_stays, norm="L2", argument="cost")
    normal = [rules.rounded_gaussian(standard_deviation=9000, sensitivity=one) for one in (pairs, total)]
    return rules.sequential(*normal, rules.rounded_gaussian(standard_deviation=30, sensitivity=known))


def _quantiles() -> Derivation:
    """Three of them, in each of an unknown number of groups, under replacement of a row."""
    groups = rules.group_rows(rules.scan_rows(table="visits", neighbors=REPLACE), keys=[("region", 7)])
    bins: dict[str, Any] = {"argument": "cost", "lower": 0, "width": "1/2", "bins": 100}
    spreads = [rules.score_quantile(groups, **bins, probability=p) for p in ("1/4", "1/2", 1)]
    return rules.sequential(*(rules.exponential_mechanism(scale=40, spread=spread) for spread in spreads))


def _medians() -> Derivation:
    """By permute and flip in each of three groups, of a person with several rows; and another quantile."""
    visits = rules.scan_rows(table="visits", neighbors=PATIENT, rows=4, groups=3, rows_per_group=2)
    groups = rules.group_rows(visits, keys=[("region", 3)])
    bins: dict[str, Any] = {"argument": "cost", "lower": -10, "width": "5/2", "bins": 64}
    spreads = [rules.score_quantile(groups, **bins, probability=p) for p in ("1/2", "9/10")]
    return rules.sequential(*(rules.permute_and_flip(scale=80, spread=spread) for spread in spreads))


def _unlisted() -> Derivation:
    """Groups that become public because many are in them, and sums of those."""
    visits = rules.scan_rows(table="visits", neighbors=PATIENT, rows=4, groups=3, rows_per_group=2)
    groups = rules.group_rows(visits, keys=[("diagnosis", None)])
    keys = rules.count_units_by_key(groups)
    shown = rules.thresholded_histogram(noise="discrete_laplace", scale=6, threshold=120, keys=keys)
    total = rules.sum_steps(groups, norm="L1", argument="cost", step=1, low=0, high=90)
    return rules.sequential(shown, rules.discrete_laplace(scale=900, sensitivity=total))


def _whole() -> Derivation:
    """With discrete Gaussian noise, and of a choice of the same kind."""
    groups = rules.group_rows(rules.scan_rows(table="visits", neighbors=PATIENT, rows=2))
    rows = rules.discrete_gaussian(variance=200, sensitivity=rules.count_rows(groups, norm="L2"))
    bins: dict[str, Any] = {"argument": "cost", "lower": 0, "width": "1/2", "bins": 100}
    spread = rules.score_quantile(groups, **bins, probability=0)
    return rules.sequential(rows, rules.exponential_mechanism(scale=20, spread=spread, kind=ZCDP))


def from_events() -> dict[str, Derivation]:
    """The costs of events, each by another method."""
    steps = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="1/50"), times=2000)
    moments = acc.Sequence(events=[steps, acc.ZCDP(rho="1/50"), acc.Exponential(epsilon="1/10")])
    answers = acc.Repeat(event=acc.Approx(epsilon="1/5", delta="1e-9"), times=40)
    seldom = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=3), rate="1/1000"), times=1)
    rare = acc.Repeat(event=acc.PoissonSample(event=acc.Laplace(scale=1), rate="1/3"), times=3)
    often = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2), rate="0.9999999999"), times=99)
    several = acc.Sequence(events=[acc.Pure(epsilon="1/2"), acc.RandomizedResponse(epsilon="1/4", categories=3)])
    together = acc.Repeat(event=acc.PoissonSample(event=several, rate="1/10"), times=3)
    stated = acc.PoissonSample(event=acc.Sequence(events=[acc.ZCDP(rho="1/50"), acc.Pure(epsilon="1/9")]), rate="1/9")
    changes = acc.Group(
        event=acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho="1/50"), rate="1/9"), times=9), size=2
    )
    branches = acc.Repeat(event=acc.Parallel(events=[acc.GaussianDP(mu="1/5"), acc.Pure(epsilon="1/10")]), times=3)
    batch = acc.FixedSizeSample(
        event=acc.Gaussian(noise_multiplier=2, neighbors=Neighbors.REPLACE), size=1, population=9
    )
    return {
        "together": derive(together, delta="1e-3"),
        "stated": derive(stated, delta="1e-4"),
        "changes": derive(changes, delta="1e-4"),
        "branches": derive(branches, delta="1e-4"),
        "batch": derive(batch, delta="1e-4"),
        "integers": derive(acc.Repeat(event=acc.DiscreteGaussian(variance=4), times=3), delta="1e-4"),
        "steps": derive(steps, delta="1e-6"),
        "seldom": derive(seldom, delta="1e-6"),
        "rare": derive(rare, delta="1e-3"),
        "often": derive(often, delta="1e-6"),
        "moments": derive(moments, delta="1e-6"),
        "curves": derive(acc.Parallel(events=[acc.Laplace(scale=3), acc.GaussianDP(mu="1/9")]), delta="1e-5"),
        "repeated": rules.postprocessing(derive(answers, delta="1e-6"), description="an average"),
    }


@cache
def from_programs() -> dict[str, Derivation]:
    """Programs that are followed: values that move under noise without end, the largest of some, rows and a loop."""
    largest = """
def largest(x: each(1, whole(0, 1)), scale):
    first, second = x[0] + discrete_laplace(scale), x[1] + discrete_laplace(scale)
    return first < second
"""
    retried = """
def retried(x: replaced(0, 1)):
    answer = 2
    while answer == 2:
        answer = uniform(3) if flip_exp(1/2) else x[0]
    return answer
"""
    count = "def count(x: added(0, 1)):\n    return sum(x) + discrete_laplace(5/2)\n"
    return {
        "program": rules.sequential(proved(largest, public={"scale": 3}, sizes=[2]), counts=[3]),
        "loop": rules.postprocessing(proved(retried, sizes=[1, 2]), description="a choice"),
        "noisy program": rules.group(proved(count, sizes=[0, 1]), size=2),
    }


@cache
def from_assumptions() -> dict[str, Derivation]:
    """Conditional proofs of the kinds that tables do not reach."""
    flaky = rules.suppose(ApproxZCDP(rho="0.1", delta="1e-9"))
    steady = rules.suppose(ZCDP(rho="0.05"))
    listed = rules.suppose(RenyiDP(bounds={2: "0.5", 8: "1.5", 32: "7"}))
    mixed = [rules.suppose(PureDP(epsilon=Fraction(i, 7))) for i in range(1, 5)]
    return {
        "flaky": rules.zcdp_to_approx(rules.sequential(flaky, steady, counts=[3, 2]), delta="1e-6"),
        "listed": rules.renyi_to_approx(listed, delta="1e-5"),
        "mixed": rules.optimal_composition(*mixed, counts=[2, 3, 1, 1], delta="1e-4"),
        "normal": rules.gaussian_to_approx(rules.suppose(GaussianDP(mu="0.7")), delta="1e-30"),
    }
