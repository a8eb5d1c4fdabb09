"""For which inputs a verdict speaks."""

from __future__ import annotations

from fractions import Fraction

from privately.proving.analysis import Question
from privately.proving.language.program import Parameter, Program
from privately.proving.language.rendering import rendered
from privately.proving.language.syntax import Apply, Assume, Constant, Expression, Variable

LONGEST = 1000


def declared_sizes(program: Program) -> tuple[int, ...]:
    """The lengths of private lists that the program's own assumptions allow; none if they do not bound them."""
    lists = {one.name for one in program.private if one.is_list}
    if len(lists) != 1:
        return ()
    allowed: set[int] | None = None
    for statement in program.body:
        if not isinstance(statement, Assume):
            break
        for part in _conjuncts(statement.condition):
            found = _lengths(part, lists)
            if found is not None:
                allowed = found if allowed is None else allowed & found
    return tuple(sorted(allowed or ()))


def has_any_length(parameter: Parameter) -> bool:
    """Whether it is a list whose length nothing fixes."""
    domain = None if parameter.neighborhood is None else parameter.neighborhood.domain
    return parameter.is_list and (domain is None or domain.length is None)


def _conjuncts(condition: Expression) -> list[Expression]:
    match condition:
        case Apply("and", (left, right)):
            return _conjuncts(left) + _conjuncts(right)
        case _:
            return [condition]


def _lengths(condition: Expression, lists: set[str]) -> set[int] | None:
    """The lengths for which a comparison of a length with a whole number holds, if they have an end."""
    match condition:
        case Apply(operator, (Apply("length", (Variable(name),)), Constant(int() as bound))) if name in lists:
            pass
        case Apply(operator, (Constant(int() as bound), Apply("length", (Variable(name),)))) if name in lists:
            operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
        case _:
            return None
    match operator:
        case "==":
            return {bound} if 0 <= bound <= LONGEST else set()
        case "<=" if bound <= LONGEST:
            return set(range(bound + 1))
        case "<" if bound <= LONGEST:
            return set(range(bound))
        case _:
            return None


def scope_of(asked: Question) -> str:
    """The inputs in words."""
    if asked.chosen:
        return "two given inputs"
    parts = []
    for one in asked.program.private:
        more = " or one more" if one.neighborhood is not None and one.neighborhood.change == "added" else ""
        sizes = "" if not has_any_length(one) else f" of {', '.join(map(str, asked.sizes))}{more} entries"
        parts.append(f"{one.name}{sizes}, neighbours {one.neighborhood}")
    parts += [f"assuming {rendered(one.condition)}" for one in asked.program.assumptions]
    parts += [f"{name} = {_text(value)}" for name, value in asked.public.items()]
    if asked.open_parameter is not None:
        parts.append(f"{asked.open_parameter} in {asked.open_domain or 'inside(0, 1)'}")
    return "; ".join(parts)


def _text(value: object) -> str:
    return str(Fraction(value)) if isinstance(value, (int, Fraction)) else str(value)
