"""Which groups are public: those that follow from declarations and from the question, whatever the data.

A group's key is public if all values it can have are known beforehand: constants of a CASE, declared categories, true
and false, whole numbers in a small range such as months, and what functions make of them. What rows may be is narrowed
by conditions of the question itself, such as ward IN ('a', 'b').
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from privately.errors import DataDependentKeys, InvalidParameter, NotSupported
from privately.plans import Call, Column, Constant, Expression, Field, Filter, Identity, Project, Relation, Type, Value
from privately.plans.expressions import fields_of
from privately.plans.meaning import evaluate
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
        return _of_field(expression, relation, columns)
    for way in (_by_branches, _by_trying):
        found = way(expression, relation, columns)
        if found is not None:
            return found
    return _by_type(expression)


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
    lists = [_of_field(field, relation, columns) for field in fields]
    if any(one is None for one in lists) or math.prod(len(one or ()) for one in lists) > MOST_TRIED:
        return None
    rows = product(*(one or () for one in lists))
    return tuple(evaluate(expression, dict(zip(identities, row, strict=True))) for row in rows)


def _of_field(field: Field, relation: Relation, columns: Mapping[Identity, Column]) -> Values | None:
    """What a field can be: by its column or the projection that makes it, less what the filters leave out."""
    found: Values | None = None
    column = columns.get(field.identity)
    made, source = _made_by(field.identity, relation)
    if column is not None and column.categories is not None:
        found = (*column.categories, *([None] if column.nullable else []))
    elif made is not None and source is not None:
        found = _possible(made, source, columns)
    found = found if found is not None else _by_type(field)
    for condition in _conditions(relation):
        if isinstance(condition, Call) and field in condition.arguments:
            found = _narrowed(found, condition, field)
        elif isinstance(condition, Call) and condition == Call(
            "not", (Call("is_null", (field,), field.known),), field.known
        ):
            found = None if found is None else tuple(one for one in found if one is not None)
    return found


def _narrowed(found: Values | None, condition: Call, field: Field) -> Values | None:
    """A comparison that is true tells that the field is not NULL, and with constants what it is."""
    if condition.function not in _STRICT:
        return found
    others = [one for one in condition.arguments if one != field]
    listed = tuple(one.value for one in others if isinstance(one, Constant) and one.known.type is field.known.type)
    tells = condition.function in {"in", "equal"} and len(listed) == len(condition.arguments) - 1
    if tells and None not in listed:
        return listed if found is None else tuple(one for one in found if one in listed)
    return None if found is None else tuple(one for one in found if one is not None)


_STRICT = {"equal", "not_equal", "less", "less_or_equal", "greater", "greater_or_equal", "in", "like", "starts_with"}


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
        listed = in_order(values)
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
