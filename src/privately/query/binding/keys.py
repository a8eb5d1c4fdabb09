"""Which groups are public: those that follow from declarations and from the question, whatever the data.

A group's key is public if all values it can have are known beforehand: constants of a CASE, declared categories, true
and false, whole numbers in a small range such as months, and what functions make of them. What rows may be is narrowed
by conditions of the question itself, such as ward IN ('a', 'b').
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from privately.errors import DataDependentKeys, InvalidParameter, NotSupported
from privately.plans import (
    Call,
    Column,
    Constant,
    Expression,
    Field,
    Filter,
    Identity,
    Project,
    Relation,
    Type,
    Value,
    call,
)
from privately.plans.expressions import fields_of
from privately.plans.meaning import STRICT, evaluate
from privately.plans.types import type_of

MOST_WHOLE_NUMBERS = 1_000
MOST_TRIED = 10_000
MOST_GROUPS = 1_000_000

Values = tuple[Value, ...]


def possible(expression: Expression, relation: Relation, columns: Mapping[Identity, Column]) -> Values | None:
    """All values that an expression can have in the rows of a relation, or None if there is no list of them."""
    found = _possible(expression, relation, columns)
    return None if found is None else in_order(found)


def in_order(values: Iterable[Value]) -> Values:
    """Each once, NULL last."""
    listed = dict.fromkeys(values)
    return (*(one for one in listed if one is not None), *([None] if None in listed else []))


def _possible(expression: Expression, relation: Relation, columns: Mapping[Identity, Column]) -> Values | None:
    if isinstance(expression, Constant):
        return (expression.value,)
    if isinstance(expression, Field):
        found = _of_field(expression, relation, columns)
    else:
        ways = (way(expression, relation, columns) for way in (_by_branches, _by_trying))
        found = next((one for one in ways if one is not None), _by_type(expression))
    return _told(found, expression, relation)


def _by_branches(expression: Call, relation: Relation, columns: Mapping[Identity, Column]) -> Values | None:
    """A CASE or COALESCE has the values of its branches."""
    if expression.function == "case":
        branches = [*expression.arguments[1::2], expression.arguments[-1]]
    elif expression.function == "coalesce":
        branches = [*expression.arguments]
    else:
        return None
    listed = [_possible(one, relation, columns) for one in branches]
    if any(one is None for one in listed):
        return None
    real = expression.known.type is Type.REAL
    found = in_order(value for one in listed for value in one or ())
    if expression.function == "coalesce" and not expression.known.nullable:
        found = tuple(one for one in found if one is not None)
    return None if real else found


def _by_trying(expression: Call, relation: Relation, columns: Mapping[Identity, Column]) -> Values | None:
    """If the fields in it have few values, so has the expression: it is evaluated for all of them."""
    identities = sorted(fields_of(expression), key=lambda one: one.number)
    fields = [next(one for one in relation.fields if one.identity == identity) for identity in identities]
    lists = [_possible(field, relation, columns) for field in fields]
    if any(one is None for one in lists) or math.prod(len(one or ()) for one in lists) > MOST_TRIED:
        return None
    rows = product(*(one or () for one in lists))
    return tuple(evaluate(expression, dict(zip(identities, row, strict=True))) for row in rows)


def _of_field(field: Field, relation: Relation, columns: Mapping[Identity, Column]) -> Values | None:
    """What a field can be, by its column or by the projection that makes it."""
    found: Values | None = None
    column = columns.get(field.identity)
    made, source = _made_by(field.identity, relation)
    if column is not None and column.categories is not None:
        found = (*column.categories, *([None] if column.nullable else []))
    elif made is not None and source is not None:
        found = _possible(made, source, columns)
    return found if found is not None else _by_type(field)


def _told(found: Values | None, expression: Expression, relation: Relation) -> Values | None:
    """What is left of the values by the conditions of the question: x IN (1, 2) lists them, x > 1 leaves NULL out."""
    for condition in _conditions(relation):
        if isinstance(condition, Call) and condition.function in {"in", "equal"} and expression in condition.arguments:
            others = [one for one in condition.arguments if one != expression]
            listed = tuple(one.value for one in others if isinstance(one, Constant))
            alike = all(one.known.type is expression.known.type for one in others)
            if alike and len(listed) == len(condition.arguments) - 1 and None not in listed:
                found = listed if found is None else tuple(one for one in found if one in listed)
    if found is None or None not in found or _may_be_null(expression, relation):
        return found
    return tuple(one for one in found if one is not None)


def _may_be_null(expression: Expression, relation: Relation) -> bool:
    """Whether a value may be NULL in rows of which all conditions are true."""
    needed = [_needed(_present(condition)) for condition in _conditions(relation)]
    return _without_null(expression, set[Expression]().union(*needed)).known.nullable


def _present(condition: Expression) -> Expression:
    """What cannot be NULL if the condition is true: what is asked for by IS NOT NULL, or else the condition itself."""
    if isinstance(condition, Call) and condition.function == "not":
        (inner,) = condition.arguments
        if isinstance(inner, Call) and inner.function == "is_null":
            return inner.arguments[0]
    return condition


def _needed(expression: Expression) -> set[Expression]:
    """What cannot be NULL if the expression is not: the arguments of functions of which every NULL makes a NULL."""
    found, waiting = set[Expression](), [expression]
    while waiting:
        one = waiting.pop()
        found.add(one)
        waiting += one.arguments if isinstance(one, Call) and one.function in STRICT else ()
    return found


def _without_null(expression: Expression, present: set[Expression]) -> Expression:
    """The expression, with what is known if these parts of it are not NULL."""
    if isinstance(expression, Call):
        again = call(expression.function, *(_without_null(one, present) for one in expression.arguments))
        known = replace(again.known, nullable=again.known.nullable and expression not in present)
        return replace(again, known=known)
    if isinstance(expression, Field) and expression in present:
        return replace(expression, known=replace(expression.known, nullable=False))
    return expression


def _made_by(identity: Identity, relation: Relation) -> tuple[Expression | None, Relation | None]:
    """The expression that a projection made a new value of, and the rows that it speaks of."""
    while isinstance(relation, (Filter, Project)):
        if isinstance(relation, Project):
            made = dict(relation.outputs).get(identity)
            if made is not None and not isinstance(made, Field):
                return made, relation.source
        relation = relation.source
    return None, None


def _conditions(relation: Relation) -> Iterator[Expression]:
    """What is true of every row: the conditions of all filters, and the parts of each AND."""
    while isinstance(relation, (Filter, Project)):
        waiting = [relation.condition] if isinstance(relation, Filter) else []
        while waiting:
            one = waiting.pop()
            yield one
            if isinstance(one, Call) and one.function == "and":
                waiting.extend(one.arguments)
        relation = relation.source


def _by_type(expression: Expression) -> Values | None:
    known = expression.known
    nulls: list[Value] = [None] if known.nullable else []
    if known.type is Type.BOOLEAN:
        return (False, True, *nulls)
    if known.type is Type.INTEGER and known.range is not None:
        low, high = math.ceil(known.range.lower), math.floor(known.range.upper)
        if high - low < MOST_WHOLE_NUMBERS:
            return (*range(low, high + 1), *nulls)
    return None


def given_values(name: str, values: Sequence[Value], type_: Type) -> Values:
    """Values of a key as its owner lists them, checked."""
    if isinstance(values, str):
        raise InvalidParameter("keys", f"those of {name} must be a list.", hint=f'Write keys={{"{name}": ["a", "b"]}}.')
    try:
        listed = in_order(value.item() if isinstance(value, np.generic) else value for value in values)
    except TypeError:
        raise InvalidParameter("keys", f"those of {name} must be a list of values.") from None
    if not 0 < len(listed) <= MOST_GROUPS:
        raise InvalidParameter("keys", f"list between 1 and {MOST_GROUPS:,} values of {name}.")
    for value in listed:
        try:
            fits = value is None or type_of(value) is type_
        except ValueError:
            fits = False
        if not fits:
            raise InvalidParameter("keys", f"{value!r} is no {type_.value}, which {name} is.")
    return listed


def unknown_values(name: str, span: tuple[int, int] | None) -> DataDependentKeys:
    """The refusal of a key whose values nobody has listed."""
    listed = f'keys={{"{name}": [...]}}'
    hint = f"List them, {listed}, declare the categories of the column, or pay to see those that many have: delta=1e-6."
    return DataDependentKeys(f"nobody has said which values {name} can have.", hint=hint, span=span)


def check_groups(lists: Iterable[Values | None]) -> None:
    """Passes if the groups that are known beforehand are not too many to list."""
    if math.prod(len(one) for one in lists if one is not None) > MOST_GROUPS:
        hint = "Group by fewer columns, or by coarser ones."
        raise NotSupported(f"more than {MOST_GROUPS:,} groups.", hint=hint)
