"""Events: what a described use of mechanisms costs, from the event itself and a witness."""

from collections.abc import Mapping
from typing import Any

from ..accounting.events import Event, read_event
from ..accounting.methods import METHODS as SHARED
from ..accounting.methods import Method, Question, Witness, answer, read_witness
from ..accounting.numbers import BITS, PLACES, upper
from ..accounting.terms import TWO, alternatives, is_directed
from ..elementary import LARGEST_EXPONENT, OutOfReach, exponential, logarithm
from ..intervals import Interval, Undecided
from ..rationals import ONE, Rational
from ..schema import Invalid, array
from .lattice import excess
from .step import Rule, Step

VERSION = 1
MOST_BOUNDS = 200
MOST_RUNS = 200_000


def _accounted(step: Step) -> None:
    """Each list of laws in each direction is within the claim."""
    step.claim_must_be("ApproxDP")
    event: Event = step.parameters["event"]
    if step.claim.neighbors != event.neighbors:
        raise Invalid("conclusion.neighbors", "are not those of the event")
    epsilon, delta = step.claim.number("epsilon"), step.claim.number("delta")
    listed = [
        (terms, removes)
        for terms in alternatives(event, step.work)
        for removes in ((True, False) if is_directed(terms.items()) else (True,))
    ]
    witnesses: list[Witness] = step.witness["bounds"]
    if len(witnesses) != len(listed):
        raise Invalid("witness.bounds", f"must be {len(listed)} for this event, not {len(witnesses)}")
    if not delta < ONE:
        return
    for i, ((terms, removes), witness) in enumerate(zip(listed, witnesses, strict=True)):
        try:
            answer(Question(terms, epsilon, delta, removes=removes, work=step.work), witness, METHODS)
        except (OutOfReach, Undecided) as error:
            raise Invalid(f"witness.bounds[{i}]", f"cannot be evaluated: {error}") from None
        except Invalid as error:
            raise _placed(error, i) from None


def _placed(error: Invalid, place: int) -> Invalid:
    rest = error.field.removeprefix("witness")
    return error if rest == error.field else Invalid(f"witness.bounds[{place}]{rest}", error.reason)


def _read_version(value: object, field: str) -> int:
    if type(value) is not int or value != VERSION:
        raise Invalid(field, f"must be {VERSION}")
    return value


def _read_bounds(value: object, field: str) -> list[Any]:
    listed = array(value, field)
    if len(listed) > MOST_BOUNDS:
        raise Invalid(field, f"must be at most {MOST_BOUNDS}")
    return [read_witness(item, f"{field}[{i}]", METHODS) for i, item in enumerate(listed)]


def _binomial(question: Question, _: Witness) -> None:
    """One randomized response with two answers, so many times: the exact sum."""
    found = question.only("response")
    if len(found) != 1 or found[0][0].number(1) != TWO or found[0][1] > MOST_RUNS or question.delta.is_zero():
        raise Invalid("witness.method", f"is for one response of two answers, at most {MOST_RUNS} times, and a delta")
    law, times = found[0]
    lost = max(0, question.delta.denominator.bit_length() - question.delta.numerator.bit_length())
    if law.number(0) > Rational(LARGEST_EXPONENT):
        raise OutOfReach("exponents beyond 10,000 are not evaluated")
    if law.number(0) * Rational(times) <= question.epsilon:
        question.require_only_infinite()
        return
    if law.number(2) == ONE:
        raise Invalid("conclusion.delta", "must be 1: some mechanism reveals everything")
    safe = exponential(logarithm(ONE - law.number(2), BITS).times(times))
    beyond = excess({1: times}, law.number(0), question.epsilon, PLACES + lost, question.work)
    question.require(upper(Interval(beyond.low, beyond.high, beyond.exponent, BITS) * safe))


METHODS: Mapping[str, Method] = {**SHARED, "binomial": (_binomial, {})}

RULES = {
    "accounted": Rule(
        _accounted,
        premises=0,
        parameters={"version": _read_version, "event": read_event},
        witness={"bounds": _read_bounds},
    ),
}
