"""What all statements share: exact numbers, equality, texts that never flatter, and the arithmetic of statements."""

from __future__ import annotations

import copy
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
)

KINDS: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP]
AMOUNTS = st.fractions(min_value=0, max_value=10**9, max_denominator=10**15)
SMALL = st.fractions(min_value=0, max_value=20, max_denominator=10**6)
PROBABILITIES = st.fractions(min_value=0, max_value=1, max_denominator=10**20)
ORDERS = st.fractions(min_value=1, max_value=10**9, max_denominator=10**15).filter(lambda order: order > 1)
NEIGHBORS = st.sampled_from(
    [Neighbors.ADD_REMOVE, Neighbors.REPLACE, Neighbors.REPLACE.times(3), Neighbors.ADD_REMOVE.of_unit("p", max_rows=2)]
)
EVERY_KIND: list[Guarantee] = [
    PureDP(epsilon=1),
    ApproxDP(epsilon=1, delta="0.25"),
    ZCDP(rho="0.5"),
    ApproxZCDP(rho="0.5", delta="0.25"),
    RenyiDP(bounds=[(2, 1), (8, 4)]),
    GaussianDP(mu=1),
]
NAMES = [type(example).__name__ for example in EVERY_KIND]


def statements(amounts: st.SearchStrategy[Fraction] = AMOUNTS) -> st.SearchStrategy[Guarantee]:
    bounds = st.dictionaries(ORDERS, amounts, min_size=1, max_size=4)
    return st.one_of(
        st.builds(PureDP, epsilon=amounts, neighbors=NEIGHBORS),
        st.builds(ApproxDP, epsilon=amounts, delta=PROBABILITIES, neighbors=NEIGHBORS),
        st.builds(ZCDP, rho=amounts, neighbors=NEIGHBORS),
        st.builds(ApproxZCDP, rho=amounts, delta=PROBABILITIES, neighbors=NEIGHBORS),
        st.builds(RenyiDP, bounds=bounds, neighbors=NEIGHBORS),
        st.builds(GaussianDP, mu=amounts, neighbors=NEIGHBORS),
    )


def numbers(statement: Guarantee) -> list[Fraction]:
    """Every number in it but the orders, in the order in which they are shown."""
    if isinstance(statement, RenyiDP):
        return [bound for _, bound in statement.parameters["bounds"]]
    return list(statement.parameters.values())


def shown_numbers(statement: Guarantee) -> list[Fraction]:
    text = repr(statement).partition("neighbors=")[0]
    return [Fraction(found) for found in re.findall(r"[=:] ?([0-9.e+-]+)[,)}]", text)]


# Exact numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_given_by_name(kind: Any) -> None:
    with pytest.raises(TypeError):
        kind(1)
    with pytest.raises(TypeError):
        kind(1, 0)
    with pytest.raises(TypeError):
        kind()


def test_ten_times_a_tenth_is_exactly_one() -> None:
    tenth = PureDP(epsilon="0.1")
    assert tenth.repeat(10) == tenth.compose(*[tenth] * 9) == PureDP(epsilon=1)


def test_a_float_is_taken_for_what_it_is() -> None:
    assert PureDP(epsilon=0.1).repeat(10).parameters["epsilon"] == 10 * Fraction(0.1) > 1


@given(st.floats(min_value=0, max_value=1e9))
def test_floats_are_exact(amount: float) -> None:
    """Subnormal ones too."""
    assert ZCDP(rho=amount).parameters["rho"] == Fraction(amount)


@given(st.decimals(min_value=0, max_value=10**9, places=30))
def test_decimals_and_their_texts_are_exact(amount: Decimal) -> None:
    assert PureDP(epsilon=amount) == PureDP(epsilon=str(amount)) == PureDP(epsilon=Fraction(amount))


@given(statements())
def test_parameters_are_fractions(statement: Guarantee) -> None:
    assert all(type(number) is Fraction for number in numbers(statement))


def test_orders_are_kept_sorted() -> None:
    assert RenyiDP(bounds=[(8, 4), ("2", 1.0)]) == RenyiDP(bounds=[(2, 1), (8, "4")])


# Equality, copies, immutability


@given(statements())
def test_copies_are_equal(statement: Guarantee) -> None:
    for again in (copy.copy(statement), copy.deepcopy(statement), pickle.loads(pickle.dumps(statement))):
        assert again == statement
        assert hash(again) == hash(statement)
        assert (again.neighbors, repr(again), str(again)) == (statement.neighbors, repr(statement), str(statement))


@given(statements(SMALL), statements(SMALL))
def test_equal_means_the_same_kind_numbers_and_neighbours(first: Guarantee, second: Guarantee) -> None:
    same = (type(first), dict(first.parameters), first.neighbors) == (
        type(second),
        dict(second.parameters),
        second.neighbors,
    )
    assert (first == second) == same
    assert len({first, second}) == 2 - same


def test_the_same_number_in_another_kind_is_another_statement() -> None:
    assert ZCDP(rho=1) != PureDP(epsilon=1)
    assert ApproxDP(epsilon=1, delta=0) != PureDP(epsilon=1)
    assert PureDP(epsilon=1) != 1
    assert PureDP(epsilon=1) != PureDP(epsilon=1, neighbors=Neighbors.REPLACE)


@pytest.mark.parametrize("statement", EVERY_KIND, ids=NAMES)
def test_a_statement_cannot_be_changed(statement: Guarantee) -> None:
    before = repr(statement)
    for name in ("neighbors", "parameters", "epsilon", "anything"):
        with pytest.raises(AttributeError):
            setattr(statement, name, 0)
        with pytest.raises(AttributeError):
            delattr(statement, name)
    with pytest.raises(TypeError):
        statement.parameters["epsilon"] = Fraction(0)  # type: ignore[index]
    assert repr(statement) == before


def test_the_base_makes_no_statements() -> None:
    with pytest.raises(TypeError):
        Guarantee()  # type: ignore[abstract]


# Texts


@given(statements())
def test_shown_numbers_are_never_smaller(statement: Guarantee) -> None:
    shown = shown_numbers(statement)
    assert len(shown) == len(numbers(statement))
    for text, number in zip(shown, numbers(statement), strict=True):
        assert number <= text <= number * (1 + Fraction(1, 10**9))


@given(ORDERS)
def test_a_shown_order_is_never_larger(order: Fraction) -> None:
    """The same bound at a larger order would be a stronger statement."""
    text = repr(RenyiDP(bounds=[(order, 1)]))
    assert Fraction(text.partition("{")[2].partition(":")[0]) <= order


@given(statements())
def test_texts_are_short_and_name_the_kind(statement: Guarantee) -> None:
    for text in (repr(statement), str(statement)):
        assert text.startswith(type(statement).__name__)
        assert len(text) < 300
    assert str(statement).endswith(str(statement.neighbors))


@given(st.integers(0, 10**9))
def test_short_numbers_are_shown_exactly(thousandths: int) -> None:
    epsilon = Fraction(thousandths, 1000)
    assert shown_numbers(PureDP(epsilon=epsilon)) == [epsilon]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (PureDP(epsilon="1/3"), "PureDP(epsilon=0.3333333334)"),
        (ApproxDP(epsilon=2, delta="1e-6"), "ApproxDP(epsilon=2, delta=1e-6)"),
        (ZCDP(rho=0.1), "ZCDP(rho=0.1000000001)"),
        (GaussianDP(mu=1, neighbors=Neighbors.REPLACE), "GaussianDP(mu=1, neighbors=<replacing one row>)"),
        (RenyiDP(bounds=[(8, 4), ("1.5", "1/3")]), "RenyiDP(bounds={1.5: 0.3333333334, 8: 4})"),
    ],
)
def test_known_texts(statement: Guarantee, text: str) -> None:
    assert repr(statement) == text


# Arithmetic


@given(statements(SMALL), st.integers(1, 50))
def test_repeating_is_composing_with_itself(statement: Guarantee, times: int) -> None:
    assert statement.repeat(times) == statement.compose(*[statement] * (times - 1))


@given(st.lists(SMALL, min_size=1, max_size=6), NEIGHBORS)
def test_pure_statements_add_exactly(amounts: list[Fraction], neighbors: Neighbors) -> None:
    first, *others = (PureDP(epsilon=amount, neighbors=neighbors) for amount in amounts)
    assert first.compose(*others) == PureDP(epsilon=sum(amounts), neighbors=neighbors)


@given(SMALL, SMALL, PROBABILITIES, PROBABILITIES)
def test_approximate_statements_add_exactly_up_to_one(
    first: Fraction, second: Fraction, delta: Fraction, other: Fraction
) -> None:
    found = ApproxDP(epsilon=first, delta=delta).compose(ApproxDP(epsilon=second, delta=other))
    assert found == ApproxDP(epsilon=first + second, delta=min(delta + other, Fraction(1)))
    assert ApproxDP(epsilon=first, delta=delta).compose(PureDP(epsilon=second)).parameters["delta"] == delta


@given(SMALL, SMALL)
def test_gaussian_statements_add_in_squares(first: Fraction, second: Fraction) -> None:
    total = first**2 + second**2
    found = GaussianDP(mu=first).compose(GaussianDP(mu=second)).parameters["mu"] ** 2
    assert total <= found <= total * (1 + Fraction(1, 10**13))


@given(statements(SMALL), st.integers(1, 20))
def test_groups_are_about_more_changes_and_say_less(statement: Guarantee, size: int) -> None:
    if isinstance(statement, (RenyiDP, ApproxZCDP)):
        with pytest.raises(NoSuchRule, match="group of"):
            statement.group(size)
        return
    found = statement.group(size)
    assert found.neighbors == statement.neighbors.times(size)
    assert all(after >= before for before, after in zip(numbers(statement), numbers(found), strict=True))


def test_known_groups() -> None:
    assert PureDP(epsilon="0.1").group(3) == PureDP(epsilon="0.3", neighbors=Neighbors.ADD_REMOVE.times(3))
    assert ZCDP(rho="0.1").group(3).parameters["rho"] == Fraction(9, 10)
    assert GaussianDP(mu="0.1").group(3).parameters["mu"] == Fraction(3, 10)


def test_statements_about_different_neighbours_do_not_mix() -> None:
    with pytest.raises(MixedNeighbors, match="adding or removing one row and replacing one row") as caught:
        PureDP(epsilon=1).compose(PureDP(epsilon=1, neighbors=Neighbors.REPLACE))
    assert caught.value.found == (Neighbors.ADD_REMOVE, Neighbors.REPLACE)
    assert "add_remove_to_replace" in caught.value.hint


def test_statements_of_different_kinds_do_not_add() -> None:
    with pytest.raises(NoSuchRule, match="GaussianDP with ZCDP") as caught:
        ZCDP(rho=1).compose(GaussianDP(mu=1))
    assert "Convert" in caught.value.hint


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (ZCDP(rho=1), PureDP),
        (ZCDP(rho=1), GaussianDP),
        (ApproxDP(epsilon=1, delta="0.1"), PureDP),
        (ApproxDP(epsilon=1, delta="0.1"), ZCDP),
        (RenyiDP(bounds=[(2, 1)]), ZCDP),
        (RenyiDP(bounds=[(2, 1)]), PureDP),
        (GaussianDP(mu=1), PureDP),
        (ApproxZCDP(rho=1, delta="0.1"), ZCDP),
    ],
)
def test_false_conversions_do_not_exist(statement: Guarantee, kind: type[Guarantee]) -> None:
    with pytest.raises(NoSuchRule, match=f"to {kind.__name__}") as caught:
        statement.to(kind)
    assert caught.value.premise == statement


def test_replacement_does_not_give_addition_and_removal() -> None:
    with pytest.raises(NoSuchRule, match="It would be false"):
        PureDP(epsilon=1, neighbors=Neighbors.REPLACE).to(PureDP, neighbors=Neighbors.ADD_REMOVE)
    replaced = PureDP(epsilon=1).to(PureDP, neighbors=Neighbors.REPLACE)
    assert replaced == PureDP(epsilon=2, neighbors=Neighbors.REPLACE)


@pytest.mark.parametrize("statement", EVERY_KIND, ids=NAMES)
@pytest.mark.parametrize("delta", ["0.3", 0.3, "1/3", 1])
def test_converting_to_approximate_agrees_with_the_curve(statement: Guarantee, delta: Any) -> None:
    found = statement.to(ApproxDP, delta=delta).parameters["epsilon"]
    upper = statement.epsilon(delta=delta).upper
    assert upper <= found <= upper * (1 + Fraction(1, 10**13))


@pytest.mark.parametrize("delta", ["1e-6", 1e-6, 1e-5, "1/3", "1e-70", 0.1])
def test_an_approximate_statement_is_its_own_conversion(delta: Any) -> None:
    found = ApproxDP(epsilon=1, delta=delta).to(ApproxDP, delta=delta)
    assert 1 <= found.parameters["epsilon"] <= 1 + Fraction(1, 10**13)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda g: g.repeat(0), "counts"),
        (lambda g: g.repeat(2.0), "counts"),
        (lambda g: g.repeat("2"), "counts"),
        (lambda g: g.group(0), "size"),
        (lambda g: g.group(1.5), "size"),
        (lambda g: g.group(True), "size"),
        (lambda g: g.compose("more"), "conclusion"),
        (lambda g: g.to("ApproxDP", delta=0), "kind"),
        (lambda g: g.to(int), "kind"),
        (lambda g: g.to(ApproxDP), "delta"),
        (lambda g: g.to(ApproxDP, delta=2), "delta"),
        (lambda g: g.to(ZCDP, delta=0), "delta"),
        (lambda g: g.to(ZCDP, orders=[2]), "orders"),
        (lambda g: g.to(RenyiDP, orders=[1]), "orders"),
        (lambda g: g.to(RenyiDP, orders=2), "orders"),
        (lambda g: g.repeat(10**9 + 1), "counts"),
        (lambda g: g.repeat(10**9).repeat(2), "epsilon"),
    ],
)
def test_bad_arithmetic_names_the_field(call: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        call(PureDP(epsilon=1))
    assert caught.value.field == field
