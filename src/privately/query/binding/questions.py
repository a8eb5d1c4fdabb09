"""The whole way from a text to a question, and nothing else comes out of it than that or a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from privately.errors import InvalidParameter, NotSupported, Refused
from privately.plans import Call, Expression, Filter, Project, Question, Table, UnitCount
from privately.plans.expressions import DEEPEST, MOST_NODES
from privately.query.binding.outputs import bind_select
from privately.query.grammar import GENERAL
from privately.query.parsing import parse
from privately.query.public_tables import Keys


def bind(
    text: str,
    tables: Mapping[str, Table],
    *,
    keys: Keys | None = None,
    unknown: bool = True,
) -> Question:
    """The question that a text asks of some tables; `Refused` with a span and a hint if it asks none that we answer.

    `keys` lists values of GROUP BY columns that are public, by name, or groups as the rows of a public table. Without,
    declared categories, truth values and whole numbers in a small range (such as months) are public; other groups are
    unknown beforehand, and refused unless they may be.

    >>> from privately.plans import Column, Type, Unit
    >>> visits = Table(name="visits", columns=(Column(name="age", type=Type.INTEGER, bounds=(0, 120)),), unit=Unit())
    >>> question = bind("SELECT AVG(age) AS age FROM visits WHERE age >= 18", {"visits": visits})
    >>> [output.name for output in question.outputs]
    ['age']
    """
    select, source = parse(text)
    try:
        question = bind_select(select, tables, keys or {}, source, unknown=unknown)
        _check_size(question)
    except RecursionError:
        hint = "Name parts of it in a WITH clause."
        raise NotSupported("this is nested too deeply.", hint=hint, span=(0, len(text))) from None
    except InvalidParameter as error:
        if error.field == "keys":
            raise
        raise NotSupported(error.message, hint=error.hint or "Ask for less.", span=(0, len(text))) from None
    except Refused as error:
        span = error.span or (0, len(text))
        raise type(error)(error.message, hint=error.hint or GENERAL, span=span) from None
    return question


def _check_size(question: Question) -> None:
    """Passes if no expression of the plan is too large, or nested too deeply, for those who read it."""
    for expression in _expressions(question):
        waiting, count = [(expression, 1)], 0
        while waiting:
            one, depth = waiting.pop()
            count += 1
            if count > MOST_NODES or depth > DEEPEST:
                raise NotSupported("this is too large a question.", hint="Ask for less, or give long lists as keys.")
            if isinstance(one, Call):
                waiting.extend((argument, depth + 1) for argument in one.arguments)


def _expressions(question: Question) -> Iterator[Expression]:
    relation = question.aggregation.source
    while isinstance(relation, (Filter, Project)):
        yield from [relation.condition] if isinstance(relation, Filter) else [one for _, one in relation.outputs]
        relation = relation.source
    yield from (key.expression for key in question.aggregation.keys)
    for _, tally in question.aggregation.tallies:
        if not isinstance(tally, UnitCount) and tally.argument is not None:
            yield tally.argument
    yield from (output.expression for output in question.outputs)
    yield from (order.expression for order in question.order)
    yield from [] if question.having is None else [question.having]
