"""What a rule is, and what it sees of a node."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..intervals import Interval
from ..rationals import ONE, Rational
from ..schema import Invalid, boolean, choice, integer, integers, rational, text
from ..statements import GUARANTEES, Statement, require, require_delta
from ..work import Work

Parser = Callable[[object, str], Any]


class Step(NamedTuple):
    """One node, read, with the conclusions of its premises."""

    claim: Statement
    premises: list[Statement]
    parameters: Mapping[str, Any]
    witness: Mapping[str, Any]
    work: Work

    def given(self, name: str) -> Rational:
        """A parameter that is a rational."""
        number: Rational = self.parameters[name]
        return number

    def only_premise(self, *kinds: str) -> Statement:
        """The single premise, which must be of one of these kinds."""
        premise = self.premises[0]
        if premise.kind not in kinds:
            raise Invalid("premises[0]", f"is {premise.kind}, but the rule needs {' or '.join(kinds)}")
        return premise

    def claim_must_be(self, *kinds: str) -> None:
        if self.claim.kind not in kinds:
            raise Invalid("conclusion.kind", f"is {self.claim.kind}, but the rule gives {' or '.join(kinds)}")

    def require_number(self, name: str, needed: Rational) -> None:
        """Check a number of the claim against what the rule gives, exactly."""
        require(f"conclusion.{name}", self.claim.number(name), needed)

    def require_bound(self, name: str, bound: Callable[[int], Interval]) -> None:
        """Check a number of the claim against an enclosure of its bound."""
        self.work.require_bound(f"conclusion.{name}", self.claim.number(name), bound)

    def require_delta_bound(self, exact: Rational | None, bound: Callable[[int], Interval]) -> None:
        """The same for delta, exactly where the bound is rational; delta 1 always is enough."""
        if exact is not None:
            require_delta(self.claim.number("delta"), exact)
        elif self.claim.number("delta") < ONE:
            self.require_bound("delta", bound)

    def stated(self, name: str) -> Any:
        """What the single premise, a stability, says."""
        return self.premises[0].stated[name]

    def counts(self) -> list[int]:
        """How often each premise is used."""
        counts: list[int] = self.parameters["counts"]
        if len(counts) != len(self.premises):
            raise Invalid("parameters.counts", "must have one count for each premise")
        return counts


class Rule(NamedTuple):
    """How a node with this rule is read and checked."""

    check: Callable[[Step], None]
    premises: int | None
    """How many premises; None for any number from 1."""
    parameters: Mapping[str, Parser] = {}
    witness: Mapping[str, Parser] = {}
    same_neighbors: bool = True
    takes: frozenset[str] = GUARANTEES
    """The kinds that premises may have."""
    gives: frozenset[str] = GUARANTEES
    """The kinds that the conclusion may have."""
    any_rows: bool = False
    """Whether premises must leave open which rows they are about; those that begin at a table do not."""
    derived: "Rule | None" = None
    """The same, where a premise says what is a claim among the parameters otherwise."""

    def form(self, premises: int) -> "Rule":
        """The one for so many premises."""
        return self.derived if premises and self.derived is not None else self


def read_counts(value: object, field: str) -> list[int]:
    return integers(value, field, least=1)


def read_multiples(value: object, field: str) -> list[int]:
    return integers(value, field, least=0)


def read_positive(value: object, field: str) -> int:
    return integer(value, field, least=1)


def read_several(value: object, field: str) -> int:
    return integer(value, field, least=2)


def read_rational(value: object, field: str) -> Rational:
    return rational(value, field)


def read_text(value: object, field: str) -> str:
    return text(value, field)


def read_above_zero(value: object, field: str) -> Rational:
    number = rational(value, field)
    if number.numerator <= 0:
        raise Invalid(field, "must be above 0")
    return number


def read_not_negative(value: object, field: str) -> Rational:
    number = rational(value, field)
    if number.numerator < 0:
        raise Invalid(field, "is negative")
    return number


def read_boolean(value: object, field: str) -> bool:
    return boolean(value, field)


def read_choice(*names: str) -> Parser:
    return lambda value, field: choice(value, field, names)
