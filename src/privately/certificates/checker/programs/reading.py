"""Programs as they stand in certificates: flat lists, in which every part refers to earlier ones only."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..canonical import canonical_bytes
from ..schema import Invalid, array, choice, integer, integers, members, rational, text
from .exact import Number, fraction
from .operators import OPERATORS

MOST = 10_000
DEEPEST = 100
LAWS = {
    "flip": 1,
    "flip_exp": 1,
    "uniform": 1,
    "uniform_bits": 1,
    "discrete_laplace": 1,
    "discrete_exponential": 1,
    "geometric": 1,
}
CHANGES = ("each", "one", "monotone", "replaced", "added", "anything")
_PROGRAM = frozenset({"variables", "expressions", "blocks"})
_PRIVATE = frozenset({"variable", "change", "distance", "values", "lengths"})


class Program(NamedTuple):
    """`expressions` and statements are lists whose first member says what they are; the last block is the program."""

    variables: list[str]
    expressions: list[list[Any]]
    blocks: list[list[list[Any]]]
    document: bytes


class Private(NamedTuple):
    """A private input: the values of an entry, how long the list may be (None: a number), how neighbours differ."""

    variable: int
    change: str
    distance: Number | None
    values: list[Number]
    lengths: list[int] | None


def read_number(value: object, field: str) -> Number:
    found = rational(value, field)
    return fraction(found.numerator, found.denominator)


def read_program(value: object, field: str) -> Program:
    raw = members(value, _PROGRAM, field)
    variables = [text(one, f"{field}.variables[{i}]") for i, one in enumerate(array(raw["variables"], "variables"))]
    expressions, blocks = (array(raw[name], f"{field}.{name}") for name in ("expressions", "blocks"))
    if max(len(variables), len(expressions), sum(len(array(one, f"{field}.blocks")) for one in blocks)) > MOST:
        raise Invalid(field, f"has more than {MOST} parts")
    if len(set(variables)) != len(variables) or not blocks:
        raise Invalid(field, "must have distinct variables, and at least one block")
    depths: list[int] = []
    for i, one in enumerate(expressions):
        depths.append(_check_expression(one, depths, len(variables), f"{field}.expressions[{i}]"))
    numbers = [["number", read_number(one[1], field)] if one[0] == "number" else one for one in expressions]
    levels: list[int] = []
    for i, block in enumerate(blocks):
        place = f"{field}.blocks[{i}]"
        found = [
            _check_statement(one, levels, len(expressions), len(variables), f"{place}[{j}]")
            for j, one in enumerate(block)
        ]
        levels.append(1 + max(found, default=0))
        if levels[-1] > DEEPEST:
            raise Invalid(place, "is nested too deep")
        kinds = [one[0] for one in block]
        leading = kinds.count("assume") if i == len(blocks) - 1 else 0
        if "assume" in kinds[leading:]:
            raise Invalid(place, "assumes something after it has begun")
    return Program(variables, numbers, blocks, canonical_bytes(value))


def _check_expression(value: object, depths: list[int], variables: int, field: str) -> int:
    """How deep it is."""
    kind, operands = _headed(value, field)
    if kind == "number":
        _exactly(operands, 1, field)
        read_number(operands[0], f"{field}[1]")
        return 1
    if kind == "variable":
        _exactly(operands, 1, field)
        _index(operands[0], variables, f"{field}[1]")
        return 1
    if kind == "each":
        _exactly(operands, 4, field)
        _index(operands[1], variables, f"{field}[2]")
        operands = [operands[0], *operands[2:]]
    else:
        _exactly(operands, _arity(kind, field), field)
    depth = 1 + max((depths[_index(one, len(depths), field)] for one in operands), default=0)
    if depth > DEEPEST:
        raise Invalid(field, "is nested too deep")
    return depth


def _arity(kind: str, field: str) -> int | None:
    lazy = {"and": 2, "or": 2, "if": 3}
    if kind in lazy:
        return lazy[kind]
    if kind not in OPERATORS:
        raise Invalid(f"{field}[0]", f"is not an operator: {kind!a}")
    return OPERATORS[kind][0]


def _check_statement(value: object, levels: list[int], expressions: int, variables: int, field: str) -> int:
    """How deep it is."""
    kind, operands = _headed(value, field)
    if kind not in STATEMENTS:
        raise Invalid(f"{field}[0]", f"is not a statement: {kind!a}")
    form = STATEMENTS[kind]
    _exactly(operands, len(form), field)
    depth = 0
    for i, (what, one) in enumerate(zip(form, operands, strict=True)):
        place = f"{field}[{i + 1}]"
        if what == "law":
            choice(one, place, tuple(LAWS))
        elif what == "block":
            depth = max(depth, levels[_index(one, len(levels), place)])
        else:
            _index(one, variables if what == "variable" else expressions, place)
    return depth


STATEMENTS: Mapping[str, tuple[str, ...]] = {
    "assign": ("variable", "expression"),
    "draw": ("variable", "law", "expression"),
    "if": ("expression", "block", "block"),
    "while": ("expression", "block"),
    "return": ("expression",),
    "assume": ("expression",),
    "forget": ("variable",),
}


def _headed(value: object, field: str) -> tuple[str, list[Any]]:
    raw = array(value, field)
    if not raw or not isinstance(raw[0], str):
        raise Invalid(field, "must begin with what it is")
    return raw[0], raw[1:]


def _exactly(operands: list[Any], count: int | None, field: str) -> None:
    if count is not None and len(operands) != count:
        raise Invalid(field, f"must have {count} operands, not {len(operands)}")


def _index(value: object, end: int, field: str) -> int:
    found = integer(value, field, least=0)
    if found >= end:
        raise Invalid(field, "refers to what is not there, or not yet")
    return found


def read_private(value: object, field: str) -> list[Private]:
    found = []
    for i, one in enumerate(array(value, field)):
        place = f"{field}[{i}]"
        raw = members(one, _PRIVATE, place)
        values = [read_number(entry, f"{place}.values") for entry in array(raw["values"], f"{place}.values")]
        if not values or len(set(values)) != len(values):
            raise Invalid(f"{place}.values", "must be distinct numbers, at least one")
        change = choice(raw["change"], f"{place}.change", CHANGES)
        near = change in {"each", "one", "monotone"}
        if (raw["distance"] is not None) != near:
            raise Invalid(f"{place}.distance", f"is {'needed' if near else 'not known'} for {change}")
        distance = read_number(raw["distance"], f"{place}.distance") if near else None
        lengths = None if raw["lengths"] is None else integers(raw["lengths"], f"{place}.lengths", least=0)
        if lengths is not None and (not lengths or lengths != sorted(set(lengths))):
            raise Invalid(f"{place}.lengths", "must be strictly increasing, at least one")
        if change == "added" and lengths is None:
            raise Invalid(f"{place}.lengths", "are needed where entries come and go")
        variable = integer(raw["variable"], f"{place}.variable", least=0)
        found.append(Private(variable, change, distance, values, lengths))
    if not found:
        raise Invalid(field, "must be at least one")
    return found


def read_public(value: object, field: str) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for i, one in enumerate(array(value, field)):
        if len(array(one, f"{field}[{i}]")) != 2:
            raise Invalid(f"{field}[{i}]", "must be a pair of variable and value")
        variable = integer(one[0], f"{field}[{i}][0]", least=0)
        if variable in found:
            raise Invalid(f"{field}[{i}][0]", "has two values")
        found[variable] = _read_value(one[1], f"{field}[{i}][1]")
    return found


def _read_value(value: object, field: str) -> Any:
    if isinstance(value, list):
        return tuple(_read_value(one, field) for one in value)
    return read_number(value, field)
