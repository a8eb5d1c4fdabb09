"""Derivations: made by rules alone, unchangeable, and walked without recursion."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import PrivatelyError, Unproved
from privately.guarantees import Derivation, Proof, PureDP, rules

DEEP = 50_000


def leaf(number: int = 1) -> Derivation:
    return rules.assumption(PureDP(epsilon=0), statement=f"assumption {number}")


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    """A random graph: every node rests on some of those before it."""
    made = [leaf(0)]
    for number in range(1, draw(st.integers(1, 12))):
        premises = draw(st.lists(st.sampled_from(made), max_size=4))
        made.append(rules.sequential(*premises) if premises else leaf(number))
    return made[-1]


def reachable(derivation: Proof) -> set[int]:
    found = {id(derivation)}
    for premise in derivation.premises:
        found |= reachable(premise)
    return found


@given(derivations())
def test_nodes_come_after_their_premises_each_once(derivation: Derivation) -> None:
    nodes = derivation.nodes()
    place = {id(node): index for index, node in enumerate(nodes)}
    assert len(place) == len(nodes)
    assert set(place) == reachable(derivation)
    assert nodes[-1] is derivation
    for node in nodes:
        assert all(place[id(premise)] < place[id(node)] for premise in node.premises)


@given(derivations())
def test_the_order_of_nodes_is_stable(derivation: Derivation) -> None:
    assert [id(node) for node in derivation.nodes()] == [id(node) for node in derivation.nodes()]


@given(derivations())
def test_assumptions_are_those_of_the_leaves(derivation: Derivation) -> None:
    leaves = [node for node in derivation.nodes() if not node.premises]
    assert derivation.assumptions == tuple(dict.fromkeys(node.parameters["statement"] for node in leaves))


def test_equal_assumptions_are_named_once() -> None:
    both = rules.sequential(leaf(1), leaf(2), leaf(1))
    assert both.assumptions == ("assumption 1", "assumption 2")
    assert len(both.nodes()) == 4


def test_a_deep_chain_is_walked() -> None:
    derivation = leaf()
    for _ in range(DEEP):
        derivation = rules.postprocessing(derivation, description="again")
    nodes = derivation.nodes()
    assert len(nodes) == DEEP + 1
    assert nodes[0].rule == "assumption"
    assert derivation.assumptions == ("assumption 1",)
    assert repr(derivation) == "Derivation(PureDP(epsilon=0) by postprocessing)"


def test_a_wide_diamond_is_walked_once() -> None:
    """Each level uses the one below twice: there are 2^300 ways down."""
    derivation = leaf()
    for _ in range(300):
        derivation = rules.sequential(derivation, derivation)
    assert len(derivation.nodes()) == 301


def test_a_broad_derivation_is_walked() -> None:
    leaves = [leaf(number) for number in range(2000)]
    assert [id(node) for node in rules.sequential(*leaves).nodes()[:-1]] == [id(node) for node in leaves]


@pytest.mark.slow
def test_a_deep_and_broad_derivation_is_walked() -> None:
    derivation = leaf()
    for number in range(DEEP):
        derivation = rules.sequential(leaf(number % 100), derivation, derivation)
    assert len(derivation.nodes()) == 2 * DEEP + 1
    assert len(derivation.assumptions) == 100


# Sealed


@pytest.mark.parametrize(
    "make",
    [
        Derivation,
        lambda: Derivation(PureDP(epsilon=0)),
        lambda: Derivation(rule="trust me", premises=(), conclusion=PureDP(epsilon=0)),
    ],
)
def test_only_rules_make_derivations(make: Callable[[], object]) -> None:
    with pytest.raises(Unproved, match="only by a rule") as caught:
        make()
    assert "privately.guarantees.rules" in caught.value.hint


def test_a_derivation_cannot_be_subclassed() -> None:
    with pytest.raises(TypeError, match="subclassed"):
        type("Mine", (Derivation,), {})


@pytest.mark.parametrize("name", ["conclusion", "premises", "rule", "parameters", "witness", "anything"])
def test_a_derivation_cannot_be_changed(name: str) -> None:
    derivation = rules.sequential(leaf(), leaf())
    with pytest.raises(AttributeError, match="cannot be changed"):
        setattr(derivation, name, PureDP(epsilon=0))
    with pytest.raises(AttributeError, match="cannot be changed"):
        delattr(derivation, name)


def test_what_a_derivation_holds_cannot_be_changed_either() -> None:
    derivation = rules.sequential(leaf(), leaf())
    with pytest.raises(TypeError):
        derivation.parameters["counts"] = [1]  # type: ignore[index]
    with pytest.raises((TypeError, AttributeError)):
        derivation.parameters["counts"].append(7)
    assert list(derivation.parameters["counts"]) == [1, 1]


def test_copies_are_the_derivation_itself() -> None:
    derivation = rules.sequential(leaf(), leaf())
    assert copy.copy(derivation) is derivation
    assert copy.deepcopy([derivation])[0] is derivation


def test_a_derivation_travels_only_as_a_certificate() -> None:
    with pytest.raises(TypeError, match="certificate"):
        pickle.dumps(leaf())


def test_rules_take_derivations_not_statements() -> None:
    with pytest.raises(PrivatelyError, match="not a Derivation"):
        rules.sequential(PureDP(epsilon=1))  # type: ignore[arg-type]
