"""What somebody who sees an output can still believe about the input (seed 002)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

from privately.errors import InvalidParameter, NotSupported
from privately.guarantees.couplings import Lifted, NotLifted, Relation, lifting
from privately.proving.analysis import UNROLLING, Analysis, rational_law
from privately.proving.exact.budgets import spend
from privately.proving.exact.inputs import Inputs, named
from privately.proving.exact.sets import mass_at, side_by_side
from privately.proving.exact.states import Outputs
from privately.proving.language.declarations import decimal
from privately.proving.language.syntax import Value
from privately.rounding import Number

ALIKE = 10
"""Outputs that are compared in a step of work."""


def all_inputs(found: Analysis) -> list[Inputs]:
    """Every private input that has a neighbour, in order."""
    _check_analysis(found)
    return list(dict.fromkeys(one for pair in found.pairs for one in pair))


def feasible(found: Analysis, output: Value) -> list[Inputs]:
    """The inputs that can have led to the output.

    >>> from privately.proving import analyze, replaced
    >>> match = "def match(secret: replaced(0, 1, 2), guess):\\n    return secret == guess\\n"
    >>> feasible(analyze(match, public={"guess": 1}), False)
    [(0,), (2,)]
    """
    seen = _output(output)
    return [one for one in all_inputs(found) if mass_at(found.law_of(one), seen)]


def posterior(found: Analysis, output: Value, prior: Mapping[Inputs, Number] | None = None) -> dict[Inputs, Fraction]:
    """What to believe after the output, by Bayes. Before it all inputs are as likely, unless a prior says otherwise: a
    weight for each input, in proportion to how likely it is."""
    inputs, seen = all_inputs(found), _output(output)
    before = {one: Fraction(1) for one in inputs}
    if not (prior is None or isinstance(prior, Mapping)):
        raise InvalidParameter("prior", "give a dictionary of inputs, such as {(0,): 1, (1,): 3}.")
    if prior is not None:
        unknown = set(prior) - set(inputs)
        if unknown:
            raise InvalidParameter("prior", f"{min(map(repr, unknown))} is no input of the program.")
        before = {one: decimal(prior.get(one, 0), "prior", minimum=0) for one in inputs}
    joint = {one: before[one] * _chance(found, one, seen) for one in inputs}
    whole = sum(joint.values())
    if not whole:
        raise NotSupported("nobody who believes this sees that output.")
    return {one: mass / whole for one, mass in joint.items() if mass}


def _chance(found: Analysis, inputs: Inputs, output: Value) -> Fraction:
    return rational_law({output: mass_at(found.law_of(inputs), output)})[output]


def odds(found: Analysis, output: Value, one: Inputs, other: Inputs) -> Fraction | None:
    """By how much the output multiplies the odds of one input against another; None: the other is ruled out.

    Theorem: for neighbours it is at most e^epsilon.
    Reference: Bayes; Kasiviswanathan-Smith 2014
    Proof: docs/theory/programs.md#beliefs
    Checked-by: tests/proving/test_beliefs.py::test_odds_stay_within_epsilon
    """
    seen = _output(output)
    above, below = (_chance(found, place, seen) for place in _inputs(found, one, other))
    if not above and not below:
        raise NotSupported("neither input leads to that output.")
    return above / below if below else None


def _check_analysis(found: object) -> None:
    if not isinstance(found, Analysis):
        raise InvalidParameter("found", "give what pv.analyze returned.")


def _inputs(found: Analysis, *inputs: Inputs) -> list[Inputs]:
    """Inputs as the laws have them."""
    known = set(all_inputs(found))
    given = [_tuples(one) if isinstance(one, tuple) else None for one in inputs]
    for one, wanted in zip(inputs, given, strict=True):
        if wanted is None or not _is_value(wanted) or wanted not in known:
            raise InvalidParameter("inputs", f"{one!r} is no input.", hint="Give a tuple of the private inputs.")
    return [one for one in given if one is not None]


def _output(value: Value) -> Value:
    """An output as the laws have it."""
    found = _tuples(value)
    if not _is_value(found):
        raise InvalidParameter("output", f"{value!r} is no output.", hint="Outputs are numbers and lists of them.")
    return found


def _tuples(value: Value) -> Value:
    """Lists as tuples, and floats as they are written."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_tuples, value))
    return decimal(value, "output") if isinstance(value, float) and isfinite(value) else value


def _is_value(value: object) -> bool:
    return all(map(_is_value, value)) if isinstance(value, tuple) else isinstance(value, (int, Fraction))


def expected(found: Analysis, measure: Callable[[dict[str, Value], Value], Number | bool]) -> dict[Inputs, Fraction]:
    """The expectation of a measure of input and output, such as an error, for every input; True counts as 1."""
    if not callable(measure):
        raise InvalidParameter("measure", "give a function of the inputs, by name, and the output.")
    _check_analysis(found)
    private = found.asked.program.private
    return {
        one: sum(
            (
                mass * _measured(measure(dict(named(private, one)), output))
                for output, mass in rational_law(found.law_of(one)).items()
            ),
            Fraction(0),
        )
        for one in all_inputs(found)
    }


def _measured(value: Number | bool) -> Fraction:  # noqa: FBT001 - what a measure gives
    return decimal(int(value) if isinstance(value, bool) else value, "measure")


def reveals_nothing(found: Analysis) -> bool:
    """Whether the output has the same law for all neighbours: noninterference, epsilon = 0."""
    _check_analysis(found)
    with found.answering():
        return all(_alike(found.law_of(one), found.law_of(other)) for one, other in found.pairs)


def _alike(left: Outputs, right: Outputs) -> bool:
    spend(1 + len(left) // ALIKE)
    if left == right:
        return True
    spend(UNROLLING * len(left))
    first, second = side_by_side(left, right)  # tails may start elsewhere
    return bool(first == second)


def coupled(found: Analysis, one: Inputs, other: Inputs, relation: Relation[Any, Any]) -> Lifted[Any, Any] | NotLifted:
    """A coupling of the outputs for two inputs inside a relation, or a set of outputs that shows there is none."""
    first, second = _inputs(found, one, other)
    with found.answering():
        laws = rational_law(found.law_of(first)), rational_law(found.law_of(second))
        return lifting(*laws, relation, spend=spend)
