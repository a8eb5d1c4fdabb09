"""What every mechanism promises: frozen values with a proof, a text and a statement of their error."""

import inspect
from abc import ABC
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from typing import Any, Generic

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Neighbors, PureDP, Sensitivity, rules
from privately.mechanisms import (
    Accuracy,
    Alignment,
    BinaryTree,
    DiscreteGaussian,
    Exponential,
    FiniteExact,
    Gaussian,
    Laplace,
    Mechanism,
    NoisyMax,
    NoisyMaxWithGap,
    PermuteAndFlip,
    Program,
    SparseVector,
    Theorem,
)
from privately.mechanisms.mechanism import set_fields
from tests.mechanisms.enumeration import Untouchable
from tests.mechanisms.number_checks import certified

ONE = Sensitivity(value=1, norm="Linf", neighbors=Neighbors.REPLACE)
MECHANISMS: list[tuple[Mechanism, Any]] = [
    (Laplace(scale=2, dimension=2), [1, 2]),
    (Gaussian(standard_deviation=2, grid="1/4"), 1.5),
    (DiscreteGaussian(variance=4), 3),
    (Exponential(scale=2, candidates=3), [1, 2, 3]),
    (PermuteAndFlip(scale=2, candidates=3, grid="1/2"), [0.5, 1.0, -2.0]),
    (NoisyMax(scale=2, candidates=3), [1, 2, 3]),
    (NoisyMaxWithGap(scale=2, candidates=3), [1, 2, 3]),
    (SparseVector(threshold_scale=2, query_scale=3), [1, 2, 3]),
    (BinaryTree(scale=2, length=3), [1, 2, 3]),
]
every = pytest.mark.parametrize(("mechanism", "value"), MECHANISMS, ids=lambda one: type(one).__name__)


@every
def test_a_mechanism_is_a_frozen_value(mechanism: Any, value: Any) -> None:
    kind = type(mechanism)
    *mixins, base = kind.__bases__
    assert base is Mechanism
    assert all({*mixin.__bases__} <= {object, ABC, Generic} for mixin in mixins), "inheritance is at most one deep"
    settings = {one.name: getattr(mechanism, one.name) for one in fields(mechanism)}
    given = {name: one.step if name == "grid" else one for name, one in settings.items()}
    assert kind(**given) == mechanism
    assert hash(kind(**given)) == hash(mechanism)
    with pytest.raises(FrozenInstanceError):
        setattr(mechanism, next(iter(settings)), 1)


@every
def test_parameters_have_names(mechanism: Mechanism, value: Any) -> None:
    kinds = {one.kind for one in inspect.signature(type(mechanism)).parameters.values()}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}


@every
def test_a_mechanism_says_why_it_is_private(mechanism: Mechanism, value: Any) -> None:
    assert isinstance(mechanism.justification, (Alignment, FiniteExact, Theorem))
    assert isinstance(mechanism.program, Program)
    assert mechanism.program.private
    inputs = mechanism.program_inputs(value)
    assert {*mechanism.program.private} <= {*inputs}
    assert {*inputs} == {one.arg for one in mechanism.program.tree.args.args}


@every
def test_its_guarantee_is_derived_and_checked(mechanism: Mechanism, value: Any) -> None:
    derived = mechanism.derive(ONE)
    assert isinstance(derived, Derivation)
    assert mechanism.guarantee(ONE) == derived.conclusion
    assert derived.conclusion.neighbors == Neighbors.REPLACE
    certified(derived)


@every
def test_a_release_is_a_run_on_noise(mechanism: Mechanism, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism.release(value)
    monkeypatch.setattr("privately.mechanisms.mechanism.SYSTEM", Untouchable())
    with pytest.raises(AssertionError, match="was called"):
        mechanism.release(value)


@every
def test_worst_cases_can_be_run(mechanism: Mechanism, value: Any) -> None:
    for one in mechanism.worst_case(ONE):
        mechanism.release(one)
        mechanism.program_inputs(one)


@every
def test_accuracies_grow_with_the_confidence(mechanism: Mechanism, value: Any) -> None:
    small, large = (mechanism.accuracy(confidence=one) for one in ("0.6", "0.99"))
    assert 0 < small.error < large.error
    for wrong in (0, 1, "x", None):
        with pytest.raises(InvalidParameter):
            mechanism.accuracy(confidence=wrong)  # type: ignore[arg-type]  # what people try


@every
def test_changes_that_leave_no_privacy_are_refused(mechanism: Mechanism, value: Any) -> None:
    with pytest.raises(InvalidParameter):
        mechanism.derive(Sensitivity(value=10**29, norm="Linf"))


def test_an_accuracy_is_rounded_to_the_safe_side() -> None:
    stated = Accuracy(error=Fraction(2, 3), confidence=Fraction(2, 3), measure="the error")
    assert str(stated) == "With probability at least 66.6666 %, the error is at most 0.666667."
    assert str(Accuracy(error=Fraction(30), confidence=Fraction("0.95"), measure="x")).endswith(
        "95 %, x is at most 30."
    )


def test_justifications_say_how() -> None:
    assert Alignment(shifts="a").shifts == "a"
    assert FiniteExact(bounds="b").bounds == "b"
    assert Theorem(reference="c").reference == "c"
    with pytest.raises(TypeError):
        Mechanism()  # type: ignore[abstract]


class Derived:
    """A mixin that derives."""

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        return rules.assumption(PureDP(epsilon=1), statement="for the sake of the test")

    def derive_zcdp(self, sensitivity: Sensitivity) -> Derivation:
        return self.derive(sensitivity)


@pytest.mark.parametrize("name", ["derive", "derive_zcdp"])
def test_what_a_mixin_derives_is_checked_too(name: str) -> None:
    missing = dict.fromkeys(Mechanism.__abstractmethods__ - {"derive"})
    made: Any = type("Made", (Derived, Mechanism), missing)()
    assert isinstance(getattr(made, name)(ONE), Derivation)
    with pytest.raises(InvalidParameter, match="int is no Sensitivity"):
        getattr(made, name)(1)


def test_fields_are_set_on_frozen_values() -> None:
    made = object.__new__(Laplace)
    set_fields(made, scale=Fraction(2), dimension=3)
    assert vars(made) == {"scale": 2, "dimension": 3}
