"""Every rule, given what it cannot take: a typed error that names the field."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule, PrivatelyError
from privately.guarantees import ZCDP, ApproxDP, Derivation, GaussianDP, PureDP, RenyiDP, rules
from tests.guarantees.rules.knowns import REPLACE, renyi

PURE = rules.suppose(PureDP(epsilon=1))

ONE: dict[str, Callable[[Any], Derivation]] = {
    "postprocessing": lambda premise: rules.postprocessing(premise, description="rounded"),
    "weaken": lambda premise: rules.weaken(premise, to=PureDP(epsilon=2)),
    "group": lambda premise: rules.group(premise, size=2),
    "bounded_unit": lambda premise: rules.bounded_unit(premise, unit="person"),
    "add_remove_to_replace": rules.add_remove_to_replace,
    "pure_to_zcdp": rules.pure_to_zcdp,
    "approx_to_zcdp": rules.approx_to_zcdp,
    "pure_to_gaussian": rules.pure_to_gaussian,
    "zcdp_to_renyi": lambda premise: rules.zcdp_to_renyi(premise, orders=[2]),
    "zcdp_to_approx": lambda premise: rules.zcdp_to_approx(premise, delta="0.1"),
    "renyi_to_approx": lambda premise: rules.renyi_to_approx(premise, delta="0.1"),
    "gaussian_to_approx": lambda premise: rules.gaussian_to_approx(premise, delta="0.1"),
    "gaussian_to_zcdp": rules.gaussian_to_zcdp,
    "poisson_sampling": lambda premise: rules.poisson_sampling(premise, rate="0.1"),
    "sampling_without_replacement": lambda premise: rules.sampling_without_replacement(premise, sample=1, population=2),
}
SEVERAL: dict[str, Callable[..., Derivation]] = {
    "sequential": rules.sequential,
    "parallel_by_position": rules.parallel_by_position,
    "parallel_by_value": rules.parallel_by_value,
    "optimal_composition": lambda *premises, **counts: rules.optimal_composition(*premises, delta="0.1", **counts),
    "advanced_composition": lambda *premises, **counts: rules.advanced_composition(*premises, slack="0.1", **counts),
    "parallel_by_value_replace": lambda *premises: rules.parallel_by_value_replace(moved=premises, stayed=premises),
}
TRIED_WITH_THEIR_MECHANISM = {
    "discrete_laplace",
    "rounded_gaussian",
    "discrete_gaussian",
    "exponential_mechanism",
    "permute_and_flip",
    "noisy_max",
    "sparse_vector",
    "adaptive_sparse_vector",
    "thresholded_histogram",
    "randomized_response",
    "accounted",
}
TRIED_WITH_THEIR_TABLE = {
    "scan_rows",
    "filter_rows",
    "project_rows",
    "group_rows",
    "count_rows",
    "count_units",
    "count_units_by_key",
    "sum_steps",
    "sum_pairs",
    "count_bins",
    "score_quantile",
}
TRIED_WITH_THEIR_PROGRAM = {"finite_program"}
COUNTED = ["sequential", "optimal_composition", "advanced_composition"]


def test_every_rule_is_tried_here() -> None:
    leaves = {name for name, rule in rules.RULES.items() if name not in {*ONE, *SEVERAL}}
    elsewhere = {*TRIED_WITH_THEIR_MECHANISM, *TRIED_WITH_THEIR_TABLE, *TRIED_WITH_THEIR_PROGRAM}
    assert leaves == {"finite_table", "assumption", *elsewhere}


@pytest.mark.parametrize("premise", [None, 1, "PureDP", PureDP(epsilon=1), [PURE], Derivation], ids=repr)
@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_only_derivations_are_premises(name: str, premise: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        (ONE | SEVERAL)[name](premise)
    assert caught.value.field == "premises"


def test_a_guarantee_is_told_what_to_do() -> None:
    with pytest.raises(InvalidParameter, match="only a statement"):
        rules.group(PureDP(epsilon=1), size=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SEVERAL)
def test_no_premises(name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        SEVERAL[name]()
    assert caught.value.field == "premises"


@pytest.mark.parametrize("name", SEVERAL)
def test_mixed_neighbors(name: str) -> None:
    with pytest.raises(MixedNeighbors):
        SEVERAL[name](PURE, rules.suppose(PureDP(epsilon=1, neighbors=REPLACE)))


@pytest.mark.parametrize("name", SEVERAL)
def test_mixed_kinds(name: str) -> None:
    neighbors = REPLACE if name == "parallel_by_position" else PURE.conclusion.neighbors
    listed = [
        rules.suppose(kind) for kind in (PureDP(epsilon=1, neighbors=neighbors), ZCDP(rho=1, neighbors=neighbors))
    ]
    with pytest.raises(NoSuchRule):
        SEVERAL[name](*listed)


@pytest.mark.parametrize(
    "counts",
    [[], [1], [1, 2, 3], [0, 1], [-1, 1], [True, 1], [1.0, 1], ["1", 1], "11", [math.inf, 1], [10**10, 1], [None, 1]],
)
@pytest.mark.parametrize("name", COUNTED)
def test_bad_counts(name: str, counts: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        SEVERAL[name](PURE, PURE, counts=counts)
    assert caught.value.field == "counts"


@pytest.mark.parametrize("number", [-1, math.nan, math.inf, -math.inf, "one", "", True, None, [1], 1j, 10**10, 2**5000])
def test_numbers_that_no_statement_takes(number: Any) -> None:
    for make in (
        lambda: PureDP(epsilon=number),
        lambda: ApproxDP(epsilon=number, delta=0),
        lambda: ApproxDP(epsilon=0, delta=number),
        lambda: ZCDP(rho=number),
        lambda: GaussianDP(mu=number),
        lambda: renyi({2: number}),
        lambda: RenyiDP(bounds=[(number, 1)]),
    ):
        with pytest.raises(InvalidParameter):
            make()


def test_sums_beyond_the_largest_are_refused() -> None:
    large = rules.suppose(PureDP(epsilon=10**9))
    attempts: list[Callable[[], Derivation]] = [
        lambda: rules.sequential(large, large),
        lambda: rules.sequential(large, counts=[10**9]),
        lambda: rules.group(large, size=2),
        lambda: rules.add_remove_to_replace(large),
        lambda: rules.group(rules.suppose(ZCDP(rho=10**9)), size=2),
        lambda: rules.group(rules.group(PURE, size=10**9), size=10**9),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidParameter):
            attempt()


def test_long_fractions_stay_short_and_safe() -> None:
    """Sums of many unrelated fractions are rounded up once they get long."""
    premises = [
        rules.suppose(ApproxDP(epsilon=Fraction(1, 2**2000 + i), delta=Fraction(1, 3**1200 + i))) for i in range(9)
    ]
    found = rules.sequential(*premises).conclusion.parameters
    assert found["epsilon"] >= sum(premise.conclusion.parameters["epsilon"] for premise in premises)
    assert found["delta"] >= sum(premise.conclusion.parameters["delta"] for premise in premises)
    assert max(value.denominator.bit_length() for value in found.values()) < 4096


def test_huge_rationals_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="too long"):
        PureDP(epsilon=Fraction(1, 2**4097))
    with pytest.raises(InvalidParameter, match="too long"):
        rules.poisson_sampling(PURE, rate=Fraction(1, 2**4097))


@pytest.mark.parametrize("to", [None, "PureDP", 3, PureDP])
def test_weaken_wants_a_statement(to: Any) -> None:
    with pytest.raises(PrivatelyError):
        rules.weaken(PURE, to=to)
