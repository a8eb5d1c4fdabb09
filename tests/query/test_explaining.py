"""Explanations say what will be done, and with which noise."""

from fractions import Fraction
from typing import Any

import pytest

from privately import mechanisms as m
from privately.guarantees import PureDP
from privately.plans import Column, Table, Unit
from privately.query.allocation import Budget, allocated
from privately.query.asking import budget_of
from privately.query.binding import bind
from privately.query.explaining import Explanation, explained
from privately.query.pricing import Priced
from privately.query.proving import derivation
from privately.query.uses import uses

TABLE = Table(
    name="visits",
    columns=(
        Column(name="patient", type="integer"),
        Column(name="age", type="integer", bounds=(0, 100)),
        Column(name="cost", type="real", bounds=(0, 1000), step="0.5"),
        Column(name="dose", type="real", bounds=(0, 10), resolution=5),
    ),
    unit=Unit(column="patient", rows=3),
)


def told(text: str, **budget: Any) -> Explanation:
    question = bind(text, {"visits": TABLE})
    given = budget_of(**{"epsilon": None, "rho": None, "mu": None} | budget)
    assert given is not None
    plan = allocated(uses(question), 1, given)
    priced = Priced(
        question=question,
        groups=((),) if question.aggregation.keys_are_public else None,
        budget=given,
        plan=plan,
        proof=derivation(plan, question.aggregation),
    )
    return explained(priced, PureDP(epsilon=3))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("SELECT COUNT(*) AS n FROM visits", ("count of rows", "3 (L1)", "Laplace, scale 3", "± 9")),
        ("SELECT SUM(cost) AS s FROM visits", ("sum of cost", "3,000 (L1)", "Laplace, scale 3,000")),
        ("SELECT AVG(cost) AS a FROM visits", ("average of cost (two-sided sums)", "/ n, for n rows")),
        ("SELECT MEDIAN(age) AS m FROM visits", ("quantiles 0.5 of age", "permute-and-flip", "ranks")),
        ("SELECT COUNT(DISTINCT patient) AS p FROM visits", ("count of units", "1 (L1)", "Laplace, scale 1")),
        ("SELECT COUNT(*) AS n FROM visits WHERE age > 20", ("keep rows where age > 20",)),
        ("SELECT COUNT(age) AS n FROM visits", ("count of age",)),
        ("SELECT SUM(a) AS n FROM (SELECT age + 1 AS a FROM visits)", ("compute a = age + 1",)),
    ],
)
def test_what_is_told(text: str, parts: tuple[str, ...]) -> None:
    found = str(told(text, epsilon=1))
    for part in ("scan visits, at most 3 rows of each patient", "one group", "cost: PureDP with epsilon 1", *parts):
        assert part in found, found


def test_every_quantile_has_its_error() -> None:
    text = "SELECT MEDIAN(age) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) AS p FROM visits"
    (step,) = told(text, epsilon=1).steps
    plan = allocated(uses(bind(text, {"visits": TABLE})), 1, Budget(currency="epsilon", amount=Fraction(1)))
    middle, high = (
        one.interval("0.95") for one in plan[0].mechanisms if isinstance(one, (m.Quantile, m.PermutedQuantile))
    )
    assert middle < high
    assert step.what == "quantiles 0.5, 0.9 of age"
    assert step.error == f"± {float(middle):g}, {float(high):g} ranks"


def test_quantiles_that_are_off_as_far_are_told_once_with_their_bins() -> None:
    text = "SELECT QUANTILE_CONT(dose, 0.1) AS m, QUANTILE_CONT(dose, 0.9) AS p FROM visits"
    (step,) = told(text, epsilon=1).steps
    assert step.error.endswith(" ranks, to within ± 2.5")
    assert "," not in step.error.partition(" ranks")[0]


def test_normal_noise() -> None:
    assert "rounded normal, standard deviation 6" in str(told("SELECT COUNT(*) AS n FROM visits", mu="0.5"))


def test_groups_that_nobody_listed() -> None:
    text = "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient"
    found = told(text, epsilon=1, delta="1e-6")
    assert found.groups is None
    for part in (
        "those groups that enough units are in",
        "which groups there are (count of units)",
        "3 (L1)",
        "Laplace, scale 6, shown from 87 on",
        "cost: ApproxDP with epsilon 1, delta",
        "Groups of fewer than about 87 units (patient) are not shown; of 101 or more, 95 in 100 are.",
    ):
        assert part in str(found), str(found)
    normal = str(told(text, rho="0.5", delta="1e-6"))
    assert "rounded normal, standard deviation" in normal
    assert "cost: ApproxZCDP with rho 0.5, delta" in normal
