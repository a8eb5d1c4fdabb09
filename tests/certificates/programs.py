"""Programs of certificates, read back: the library analyses again what the checker has accepted."""

from fractions import Fraction
from typing import Any

from privately.errors import NotSupported
from privately.guarantees import Derivation
from privately.proving.analysis import Analysis, Question, question
from privately.proving.certifying import derivation_of
from privately.proving.exact.claims import Claim, read_claim
from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.language.program import Parameter, Program
from privately.proving.language.syntax import (
    Apply,
    Assign,
    Assume,
    Constant,
    Each,
    Expression,
    If,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privately.proving.reading import read_program

Data = dict[str, Any]


def proved(text: str, claim: str = "1000", **known: Any) -> Derivation:
    """What the library derives for a program."""
    asked = question(read_program(text), **known)
    return derivation_of(Analysis(asked), read_claim(claim, dict(asked.public)))


def analysis(parameters: Data) -> Analysis:
    """The analysis of a program in a certificate."""
    names: list[str] = parameters["program"]["variables"]
    private = [_parameter(names, one) for one in parameters["private"]]
    public = {names[place]: _value(value) for place, value in parameters["public"]}
    inputs = (*private, *(Parameter(name, is_list=isinstance(value, tuple)) for name, value in public.items()))
    lengths = {tuple(one["lengths"]) for one in parameters["private"] if one["lengths"] is not None}
    if len(lengths) > 1:
        raise NotSupported("lists of different lengths.")
    program = Program("f", inputs, _body(parameters["program"]), "")
    return Analysis(Question(program=program, public=public, sizes=next(iter(lengths), (1,))))


def claim_of(epsilon: Fraction) -> Claim:
    """A number as a claim."""
    return read_claim(str(epsilon), {})


def _parameter(names: list[str], data: Data) -> Parameter:
    domain = Domain(values=tuple(sorted(Fraction(one) for one in data["values"])))
    distance = None if data["distance"] is None else Fraction(data["distance"])
    neighborhood = Neighborhood(data["change"], distance=distance, domain=domain)
    return Parameter(names[data["variable"]], neighborhood, is_list=data["lengths"] is not None, private=True)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_value(one) for one in value)
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def _body(program: Data) -> tuple[Statement, ...]:
    names = program["variables"]
    expressions: list[Expression] = []
    for one in program["expressions"]:
        expressions.append(_expression(one, expressions, names))
    blocks: list[tuple[Statement, ...]] = []
    for block in program["blocks"]:
        read = (_statement(one, expressions, blocks, names) for one in block if one[0] != "forget")
        blocks.append(tuple(read))
    return blocks[-1]


def _expression(data: list[Any], known: list[Expression], names: list[str]) -> Expression:
    match data:
        case ["number", value]:
            return Constant(_value(value))
        case ["variable", place]:
            return Variable(names[place])
        case ["each", element, place, source, condition]:
            return Each(known[element], names[place], known[source], known[condition])
        case [operator, *operands]:
            return Apply(operator, tuple(known[one] for one in operands))
    raise AssertionError(data)


def _statement(data: list[Any], known: list[Expression], blocks: list[Any], names: list[str]) -> Statement:
    match data:
        case ["assign", place, value]:
            return Assign(names[place], known[value])
        case ["draw", place, law, given]:
            return Sample(names[place], law, (known[given],))
        case ["if", condition, then, otherwise]:
            return If(known[condition], blocks[then], blocks[otherwise])
        case ["while", condition, body]:
            return While(known[condition], blocks[body])
        case ["return", value]:
            return Return(known[value])
        case ["assume", condition]:
            return Assume(known[condition])
    raise AssertionError(data)
