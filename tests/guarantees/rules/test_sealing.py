"""A Derivation comes into being by a rule, and stays as it is."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from privately.errors import InvalidParameter, Unproved
from privately.guarantees import Derivation, PureDP, rules
from privately.guarantees.rules.sealing import conclude, conclusions

PREMISE = rules.suppose(PureDP(epsilon=1))


def test_a_derivation_cannot_be_constructed() -> None:
    forged: list[tuple[object, ...]] = [(), (PREMISE,), ("sequential", (PREMISE,), {}, {}, PureDP(epsilon=0))]
    for arguments in forged:
        with pytest.raises(Unproved, match="made only by a rule"):
            Derivation(*arguments)
    with pytest.raises(Unproved):
        Derivation(rule="sequential", premises=(), parameters={}, witness={}, conclusion=PureDP(epsilon=0))
    with pytest.raises(Unproved):
        type(PREMISE)()


def test_a_derivation_cannot_be_subclassed() -> None:
    with pytest.raises(TypeError, match="subclassed"):
        type("Forged", (Derivation,), {})


@pytest.mark.parametrize("name", ["rule", "premises", "parameters", "witness", "conclusion", "other", "__class__"])
def test_a_derivation_cannot_be_changed(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(PREMISE, name, None)
    with pytest.raises(AttributeError):
        delattr(PREMISE, name)


def test_what_it_holds_cannot_be_changed() -> None:
    derived = rules.zcdp_to_approx(rules.pure_to_zcdp(PREMISE), delta="1e-6")
    parameters: Any = rules.sequential(PREMISE, counts=[3]).parameters
    witness: Any = derived.witness
    conclusion: Any = derived.conclusion
    with pytest.raises(TypeError):
        parameters["counts"] = [1]
    with pytest.raises((TypeError, AttributeError)):
        parameters["counts"].append(1)
    with pytest.raises(TypeError):
        witness["order"] = "2"
    with pytest.raises(TypeError):
        conclusion.parameters["epsilon"] = 0
    with pytest.raises(AttributeError):
        conclusion.neighbors = None
    assert isinstance(derived.premises, tuple)


def test_the_giver_keeps_no_hold() -> None:
    """What was passed in may change afterwards; the derivation does not."""
    counts = [1]
    premises, parameters, witness = [PREMISE], {"counts": counts}, {"unit": "1"}
    derived = conclude("sequential", premises, PREMISE.conclusion, parameters=parameters, witness=witness)
    premises.append(PREMISE)
    counts.append(2)
    parameters["counts"] = [3]
    witness.clear()
    assert derived.premises == (PREMISE,)
    assert list(derived.parameters) == ["counts"]
    assert list(derived.parameters["counts"]) == [1]
    assert dict(derived.witness) == {"unit": "1"}


def test_a_derivation_cannot_be_pickled() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(PREMISE, protocol)


def test_copies_are_the_same() -> None:
    assert copy.copy(PREMISE) is PREMISE
    assert copy.deepcopy(PREMISE) is PREMISE
    assert copy.deepcopy([PREMISE])[0] is PREMISE


def test_conclusions_of_derivations() -> None:
    assert conclusions([PREMISE, PREMISE]) == [PREMISE.conclusion, PREMISE.conclusion]


@pytest.mark.parametrize("premises", [[], [PureDP(epsilon=1)], [PREMISE, None], ["PureDP"], [PREMISE, 1]])
def test_everything_else_is_refused(premises: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        conclusions(premises)
    assert caught.value.field == "premises"


def test_nodes_come_before_what_rests_on_them() -> None:
    shared = rules.pure_to_zcdp(PREMISE)
    top = rules.sequential(shared, rules.postprocessing(shared, description="rounded"), shared)
    nodes = top.nodes()
    assert [node.rule for node in nodes] == ["assumption", "pure_to_zcdp", "postprocessing", "sequential"]
    for place, node in enumerate(nodes):
        assert all(any(premise is earlier for earlier in nodes[:place]) for premise in node.premises)


def test_long_chains_do_not_recurse() -> None:
    derived = PREMISE
    for _ in range(5000):
        derived = rules.postprocessing(derived, description="again")
    assert len(derived.nodes()) == 5001
