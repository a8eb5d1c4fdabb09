"""The tree of errors as drawn is the tree of errors as built, and each error says what it should."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately import errors
from privately.errors import (
    BudgetExhausted,
    CertificateInvalid,
    Contradiction,
    DataDependentKeys,
    EngineFailed,
    InvalidParameter,
    LedgerCorrupt,
    LedgerUnavailable,
    MixedNeighbors,
    NoSuchRule,
    NotPrivate,
    NotSupported,
    PrivatelyError,
    Refused,
    Unanswered,
    UnboundedContribution,
    UnknownBounds,
    Unproved,
)
from privately.guarantees import Neighbors

TEXTS = st.text(max_size=9).map(lambda text: f"<{text}>")
PLAIN: list[type[PrivatelyError]] = [PrivatelyError, Unproved, LedgerCorrupt, LedgerUnavailable, EngineFailed]
REFUSALS: list[type[Refused]] = [Refused, NotSupported, UnboundedContribution, UnknownBounds, DataDependentKeys]

EXAMPLES: list[PrivatelyError] = [
    *(kind("it went wrong.", hint="Do this.") for kind in PLAIN),
    *(kind("not as asked.", hint="Ask so.", span=(3, 8)) for kind in REFUSALS),
    BudgetExhausted(asked="epsilon 2", left="epsilon 1", hint="Ask for less."),
    Unanswered("charged, not answered.", charge=7, hint="Ask again."),
    InvalidParameter("epsilon", "-1 is below 0.", hint="Give more."),
    NoSuchRule(premise="ZCDP", wanted="PureDP", hint="It would be false."),
    MixedNeighbors(Neighbors.ADD_REMOVE, Neighbors.REPLACE, hint="Bring them together."),
    NotPrivate("refuted.", witness=("yes", "no"), hint="Add noise."),
    CertificateInvalid("nodes[3]", "is too small.", hint="Derive it again."),
    Contradiction(lower=2, upper=1),
]
NAMES = [type(example).__name__ for example in EXAMPLES]


def drawn_tree() -> dict[str, str | None]:
    """Each name in the module's drawing, with the name that it hangs from."""
    parents: dict[str, str | None] = {}
    branch: list[str] = []
    for line in inspect.cleandoc(errors.__doc__ or "").splitlines():
        name = line.lstrip("│├└─ ").partition(" ")[0]
        if not name.isidentifier() or not hasattr(errors, name):
            continue
        depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
        branch[depth:] = [name]
        parents[name] = branch[depth - 1] if depth else None
    return parents


def built_tree() -> dict[str, str | None]:
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    return {kind.__name__: kind.__bases__[0].__name__ if kind is not PrivatelyError else None for kind in classes}


def test_the_drawing_is_the_tree() -> None:
    assert drawn_tree() == built_tree()
    assert len(drawn_tree()) == 18


def test_the_examples_are_all_of_them() -> None:
    assert sorted(NAMES) == sorted(built_tree())


@pytest.mark.parametrize("error", EXAMPLES, ids=NAMES)
def test_all_are_caught_together_and_explained(error: PrivatelyError) -> None:
    assert isinstance(error, PrivatelyError)
    assert inspect.getdoc(type(error))
    assert str(error) == f"{error.message} {error.hint}"


@pytest.mark.parametrize("error", EXAMPLES, ids=NAMES)
def test_no_other_kind_of_error_is_a_builtin(error: PrivatelyError) -> None:
    """Only InvalidParameter may be caught as something of Python's own."""
    assert isinstance(error, ValueError) == (type(error) is InvalidParameter)
    assert not isinstance(error, (LookupError, ArithmeticError, TypeError, OSError))


@pytest.mark.parametrize("error", EXAMPLES, ids=NAMES)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_cross_to_other_processes(
    error: PrivatelyError, again: Callable[[PrivatelyError], PrivatelyError]
) -> None:
    found = again(error)
    assert type(found) is type(error)
    assert (str(found), vars(found)) == (str(error), vars(error))


@given(TEXTS, TEXTS)
def test_the_hint_follows_the_message(message: str, hint: str) -> None:
    for kind in (*PLAIN, *REFUSALS):
        error = kind(message, hint=hint)
        assert (error.message, error.hint, str(error)) == (message, hint, f"{message} {hint}")


@given(TEXTS)
def test_without_a_hint_the_message_stands_alone(message: str) -> None:
    for kind in (*PLAIN, *REFUSALS):
        assert (str(kind(message)), kind(message).hint) == (message, "")


@given(TEXTS, TEXTS)
def test_the_field_comes_first(field: str, message: str) -> None:
    error = InvalidParameter(field, message)
    assert (error.field, str(error)) == (field, f"{field}: {message}")


@given(TEXTS, TEXTS)
def test_a_certificate_names_the_place_if_there_is_one(field: str, reason: str) -> None:
    error = CertificateInvalid(field, reason)
    assert (error.field, error.reason, str(error)) == (field, reason, f"{field}: {reason}")
    assert str(CertificateInvalid("", reason)) == reason


@given(st.integers(), st.integers())
def test_a_budget_says_what_was_asked_and_what_is_left(asked: int, left: int) -> None:
    error = BudgetExhausted(asked=asked, left=left)
    assert (error.asked, error.left) == (asked, left)
    assert str(error) == f"asked {asked}, but only {left} is left."


@given(TEXTS, TEXTS)
def test_a_missing_rule_names_both_ends(premise: str, wanted: str) -> None:
    error = NoSuchRule(premise=premise, wanted=wanted)
    assert (error.premise, error.wanted) == (premise, wanted)
    assert str(error) == f"there is no rule from {premise} to {wanted}."


def test_mixed_neighbors_are_listed_once_each() -> None:
    found = [Neighbors.ADD_REMOVE, Neighbors.REPLACE, Neighbors.ADD_REMOVE]
    error = MixedNeighbors(*found)
    assert error.found == tuple(found)
    assert str(error).endswith(": adding or removing one row and replacing one row.")


def test_a_refusal_knows_its_place_in_the_text() -> None:
    assert UnknownBounds("no bounds.", span=(7, 12)).span == (7, 12)
    assert UnknownBounds("no bounds.").span is None


def test_a_refutation_carries_its_witness() -> None:
    witness = {"data": [1, 2]}
    assert NotPrivate("not private.", witness=witness).witness is witness


@pytest.mark.parametrize(
    "call",
    [
        lambda: InvalidParameter("epsilon", "bad.", "hint"),  # type: ignore[call-arg]
        lambda: PrivatelyError("bad.", "hint"),  # type: ignore[call-arg]
        lambda: NoSuchRule("premise", "wanted"),  # type: ignore[call-arg]
        lambda: BudgetExhausted(1, 2),  # type: ignore[call-arg]
        lambda: NotPrivate("bad."),  # type: ignore[call-arg]
    ],
)
def test_hints_and_fields_are_given_by_name(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        call()
