"""What may be spent, and the least that an accuracy takes."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately.engines.protocol import Counts
from privately.errors import InvalidParameter, NotSupported
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP
from privately.plans import Column, Order, Question, Table, Unit
from privately.query.allocation import Budget, allocated
from privately.query.asking import Accuracy, _is_accurate, _wanted, budget_of, delta_of, least_budget, unpayable
from privately.query.binding import bind
from privately.query.drawing import drawn
from privately.query.listing import groups_of
from privately.query.results import Result
from privately.query.uses import uses
from privately.query.widths import width_of
from tests.query.small_questions import NoNoise, question, shown
from tests.query.test_listing import unknown


@pytest.mark.parametrize(
    ("text", "error", "confidence", "relative"),
    [
        ("50 at 95%", "50", "0.95", False),
        ("  0.5 at 99.9 % ", "0.5", "0.999", False),
        ("5% at 95%", "0.05", "0.95", True),
        ("1e-3 at 50%", "0.001", "0.5", False),
        ("2.5 % at 90%", "0.025", "0.9", True),
    ],
)
def test_accuracies_as_texts(text: str, error: str, confidence: str, relative: bool) -> None:
    wanted = Accuracy(error=Fraction(error), confidence=Fraction(confidence), relative=relative)
    assert Accuracy.parse(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        *["", "50", "50 at 95", "at 95%", "50 at 100%", "50 at 101%", "50 at 0%", "0 at 95%", "-5 at 95%"],
        *["1e at 95%", "5 5 at 95%", "nan at 95%", "50 at 9.5.5%", "50at95%x", 50, None],
    ],
)
def test_what_is_no_accuracy(text: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Accuracy.parse(text)
    assert refused.value.field == "accuracy"


def test_budgets() -> None:
    assert budget_of(epsilon="0.1", rho=None, mu=None) == Budget(currency="epsilon", amount=Fraction(1, 10))
    assert budget_of(epsilon=None, rho="0.5", mu=None) == Budget(currency="mu squared", amount=Fraction(1))
    assert budget_of(epsilon=None, rho=None, mu=3) == Budget(currency="mu squared", amount=Fraction(9))
    assert budget_of(epsilon=None, rho=None, mu=None) is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": "1000.001"}, "epsilon"),
        ({"epsilon": 10**10}, "epsilon"),
        ({"rho": 125_001}, "rho"),
        ({"mu": 501}, "mu"),
        ({"rho": 0}, "rho"),
        ({"mu": "much"}, "mu"),
        ({"epsilon": 1, "mu": 1}, "epsilon"),
        ({"rho": 1, "mu": 1}, "epsilon"),
    ],
)
def test_bad_budgets(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        budget_of(**({"epsilon": None, "rho": None, "mu": None} | given))
    assert refused.value.field == field


@pytest.mark.parametrize(("currency", "most"), [("epsilon", 1000), ("rho", 125_000), ("mu", 500)])
@pytest.mark.parametrize("names", [("rows",), ("sum",), ("units",), ("mean",), ("median",), ("variance", "quarter")])
def test_nothing_that_is_asked_is_answered_as_less(currency: str, most: int, names: tuple[str, ...]) -> None:
    """Up to the most that can be asked, more buys less noise: no scale is the narrowest one instead of its own."""
    nothing, asked = {"epsilon": None, "rho": None, "mu": None}, uses(question(*names))

    def made(amount: Fraction) -> list[Any]:
        budget = budget_of(**(nothing | {currency: amount}))
        assert budget is not None
        return [mechanism for one in allocated(asked, 2, budget) for mechanism in one.mechanisms]

    at_most, almost = made(Fraction(most)), made(Fraction(most * 999, 1000))
    assert all(one != other for one, other in zip(at_most, almost, strict=True))


def accurate(asked: Question, accuracy: Accuracy, budget: Budget, rows: int | None) -> bool:
    plan = allocated(uses(asked), 2, budget)
    return all(_is_accurate(asked, one, plan, accuracy, rows) for one in _wanted(asked, 2, accuracy))


@pytest.mark.parametrize("unit", [Unit(), Unit(column="person", rows=4, rows_per_group=2, change="replace")])
@pytest.mark.parametrize(
    ("names", "text", "rows"),
    [
        (("rows",), "50 at 95%", None),
        (("rows", "units", "sum"), "200 at 99%", None),
        (("mean",), "0.1 at 95%", 5000),
        (("mean", "count", "sum"), "30 at 90%", 1000),
        (("rows",), "5% at 95%", 20_000),
        (("sum", "mean"), "1% at 95%", 20_000),
    ],
)
def test_the_least_budget_is_enough_and_less_is_not(
    unit: Unit, names: tuple[str, ...], text: str, rows: int | None
) -> None:
    asked, accuracy = question(*names, unit=unit), Accuracy.parse(text)
    found = least_budget(asked, uses(asked), 2, accuracy, rows)
    assert found.currency == "epsilon"
    assert accurate(asked, accuracy, found, rows)
    split = found.split or (found.amount,)
    assert sum(split) == found.amount
    for place in range(len(split)):
        less = tuple(part * Fraction(99 if at == place else 100, 100) for at, part in enumerate(split))
        assert not accurate(asked, accuracy, replace(found, split=less), rows)


def test_several_columns_take_what_each_takes_alone() -> None:
    """A count that is within 50 costs little beside a sum that is, and has not as much as that."""
    texts = ["COUNT(*) AS n", "SUM(x) AS s", "SUM(x * x) AS q"]
    alone = [widest(f"SELECT {text} FROM t", "50 at 95%")[1].amount for text in texts]
    (_, together) = widest(f"SELECT {', '.join(texts)} FROM t", "50 at 95%")
    assert together.amount == sum(alone)
    assert together.split == tuple(alone)


def test_no_other_split_is_as_accurate_for_less() -> None:
    asked, accuracy = bind("SELECT SUM(x) - 3 * COUNT(*) AS v FROM t", {"t": VISITS}), Accuracy.parse("90 at 90%")
    found = least_budget(asked, uses(asked), 1, accuracy, None)
    for share in range(5, 100, 5):
        other = tuple(found.amount * Fraction(98 * one, 10_000) for one in (share, 100 - share))
        assert not accurate(asked, accuracy, replace(found, split=other), None)


def test_an_accuracy_takes_no_more_than_can_be_asked() -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon of [0-9.]+, and 1,000 is the most") as refused:
        widest("SELECT SUM(x) AS s FROM t", "0.01 at 95%")
    assert refused.value.field == "accuracy"


def test_a_count_has_the_error_of_its_law() -> None:
    """The least scale is the one with which Laplace noise is within 50 in 95 of 100 draws."""
    asked = question("rows")
    found = least_budget(asked, uses(asked), 2, Accuracy.parse("50 at 95%"), None)
    (plan,) = allocated(uses(asked), 2, found)
    law = plan.mechanisms[0].law  # type: ignore[union-attr]
    assert law.interval(Fraction(95, 100)) == 50
    assert 0.058 < found.amount < 0.061


def test_steps_count_in_the_error() -> None:
    """In steps of a quarter, the same numbers are four times as many steps, and the same epsilon is needed."""
    whole, fine = question("sum"), question("sum", low=-40, high=40, step=Fraction(1, 4))
    one, other = (least_budget(each, uses(each), 2, Accuracy.parse("500 at 95%"), None) for each in (whole, fine))
    assert float(one.amount / other.amount) == pytest.approx(1, rel=0.02)
    whole, fine = question("mean"), question("mean", low=-40, high=40, step=Fraction(1, 4))
    one, other = (least_budget(each, uses(each), 2, Accuracy.parse("0.2 at 95%"), 1000) for each in (whole, fine))
    assert float(one.amount / other.amount) == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize(
    ("names", "text", "rows", "field"),
    [
        (("rows",), "5% at 95%", None, "assuming"),
        (("mean",), "0.1 at 95%", None, "assuming"),
        (("rows",), "5% at 95%", 0, "assuming"),
        (("rows",), "5% at 95%", 2.5, "assuming"),
        (("sum",), f"1e-9 at 99.{'9' * 900}%", None, "accuracy"),
    ],
)
def test_what_cannot_be_met(names: tuple[str, ...], text: str, rows: Any, field: str) -> None:
    asked = question(*names)
    with pytest.raises(InvalidParameter) as refused:
        least_budget(asked, uses(asked), 2, Accuracy.parse(text), rows)
    assert refused.value.field == field
    assert (rows is None and field == "assuming") == ("assuming=1000" in refused.value.hint)


@pytest.mark.parametrize("name", ["median", "variance", "deviation"])
def test_quantiles_and_spreads_have_no_accuracy(name: str) -> None:
    asked = question(name)
    with pytest.raises(NotSupported, match="epsilon="):
        least_budget(asked, uses(asked), 2, Accuracy.parse("5 at 95%"), 100)


# --- accounts that cannot count a cost --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "cap", "field", "word"),
    [
        (ApproxDP(epsilon=1, delta="1e-6"), PureDP(epsilon=1), "delta", "keys="),
        (ApproxZCDP(rho=1, delta="1e-6"), ZCDP(rho=1), "delta", "ApproxDP"),
        (GaussianDP(mu=1), PureDP(epsilon=1), "mu", "epsilon="),
        (ZCDP(rho=1), GaussianDP(mu=1), "mu", "epsilon="),
        (ZCDP(rho=1), ApproxDP(epsilon=1, delta="1e-6"), "mu", "epsilon="),
    ],
)
def test_what_an_account_cannot_pay(cost: Guarantee, cap: Guarantee, field: str, word: str) -> None:
    found = unpayable(cost, cap, "mu")
    assert found.field == field
    assert word in found.hint


@pytest.mark.parametrize("delta", [0, 1, "1.5", -1])
def test_deltas_are_small(delta: Any) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        delta_of(delta)
    assert delta_of("1e-6") == Fraction(1, 10**6)
    assert delta_of(None) is None


def test_an_accuracy_of_unknown_groups() -> None:
    asked = unknown("rows", "sum", unit=Unit())
    budget = least_budget(asked, uses(asked), 1, Accuracy.parse("20 at 95%"), None, delta="1e-6")
    assert budget.delta == Fraction(1, 10**6)
    first, second = allocated(uses(asked), 1, budget)
    assert width_of(first.mechanisms[0].law, Fraction(95, 100)) <= 20  # type: ignore[union-attr]
    assert width_of(second.mechanisms[0].law, Fraction(95, 100)) <= 20  # type: ignore[union-attr]


# --- what is shown is as accurate as asked ----------------------------------------------------------------------------

VISITS = Table(
    name="t",
    columns=(
        Column(name="g", type="text", categories=("a", "b", "c"), nullable=False),
        Column(name="x", type="real", bounds=(-3, 10)),
        Column(name="n", type="integer", bounds=(0, 9), nullable=False),
    ),
    unit=Unit(),
)


def widest(text: str, accuracy: str, assuming: int | None = None) -> tuple[Fraction, Budget]:
    """The longest side of all intervals that are shown, at the confidence that was asked for."""
    asked, wanted = bind(text, {"t": VISITS}), Accuracy.parse(accuracy)
    groups = groups_of(asked)
    budget = least_budget(asked, uses(asked), len(groups), wanted, assuming)
    plan = allocated(uses(asked), len(groups), budget)
    exact: Counts = {group: tuple(10**6 + 1 for _ in asked.aggregation.tallies) for group in groups}
    noise = drawn(plan, asked.aggregation, exact, groups, NoNoise(3, -4, 1))
    found = Result.table_of(asked, groups, noise, wanted.confidence)
    sides = [
        max(Fraction(interval.upper) - Fraction(value), Fraction(value) - Fraction(interval.lower))
        for row, intervals in zip(found.rows, found.intervals, strict=True)
        for value, interval in zip(row, intervals, strict=True)
        if interval is not None and isinstance(value, (int, float))
    ]
    return max(sides), budget


@pytest.mark.parametrize(
    ("text", "accuracy", "assuming"),
    [
        ("SELECT COUNT(*) AS v FROM t", "50 at 95%", None),
        ("SELECT COUNT(*) * 1000 AS v FROM t", "5000 at 95%", None),
        ("SELECT COUNT(*) / 8 AS v FROM t", "3 at 95%", None),
        ("SELECT SUM(x) - 2 * COUNT(*) AS v, COUNT(*) AS n FROM t", "90 at 90%", None),
        ("SELECT COUNT(*) AS v, AVG(n) AS m FROM t", "20 at 95%", 10**6),
        ("SELECT g, COUNT(*) AS v FROM t GROUP BY g ORDER BY v LIMIT 1", "50 at 95%", None),
        ("SELECT g, 3 * COUNT(*) AS v FROM t GROUP BY g HAVING COUNT(*) > 5", "50 at 95%", None),
        ("SELECT g, COUNT(*) AS v FROM t GROUP BY g ORDER BY g LIMIT 1", "50 at 95%", None),
    ],
)
def test_columns_are_as_accurate_as_asked(text: str, accuracy: str, assuming: int | None) -> None:
    """And not much more accurate, which would cost more than it takes."""
    found, _ = widest(text, accuracy, assuming)
    error = Accuracy.parse(accuracy).error
    assert error * Fraction(9, 10) <= found <= error


@pytest.mark.parametrize("accuracy", ["9 at 99%", "100% at 90%", "9 at 70%"])
@pytest.mark.parametrize("rows", [1, 5])
def test_averages_are_seldom_missing(accuracy: str, rows: int) -> None:
    """An error as wide as the range takes noise that leaves an average, which COALESCE would put a 0 in place of."""
    asked, wanted = bind("SELECT COALESCE(AVG(n), 0) AS v FROM t", {"t": VISITS}), Accuracy.parse(accuracy)
    (pair,) = allocated(uses(asked), 1, least_budget(asked, uses(asked), 1, wanted, rows))
    law, total = pair.mechanisms[0].law, 9 * rows  # type: ignore[union-attr]
    missing = [float(law.cdf(-above).upper * law.cdf(above - total).upper) for above in range(total + 1)]
    assert max(missing) <= 1 - wanted.confidence


def test_a_relative_error_of_a_multiple_is_that_of_the_number() -> None:
    budgets = [
        widest(f"SELECT {text} AS v FROM t", "5% at 95%", 1000)[1]
        for text in ("COUNT(*)", "COUNT(*) * 1000", "-COUNT(*)")
    ]
    assert len({one.amount for one in budgets}) == 1


def test_ratios_have_no_accuracy() -> None:
    for column in ("SUM(x) / COUNT(*)", "COUNT(*) * COUNT(*)", "CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END"):
        with pytest.raises(NotSupported, match=r"depends on the numbers in it.*epsilon="):
            widest(f"SELECT {column} AS v FROM t", "5 at 95%")


def test_rows_that_noise_chooses_from_unknown_groups_have_no_accuracy() -> None:
    ordered = (Order(expression=shown("rows"), direction="descending"),)
    asked = replace(unknown("rows", unit=Unit()), limit=1, order=ordered)
    with pytest.raises(NotSupported, match="chosen by their noise"):
        least_budget(asked, uses(asked), 1, Accuracy.parse("20 at 95%"), None, delta="1e-6")
