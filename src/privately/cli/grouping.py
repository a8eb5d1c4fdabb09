"""Commands that share options: a parameter that is a dataclass stands for one option a field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def with_fields_as_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer should see it; what is typed is put together again before it is called."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    def spread(parameter: Parameter) -> list[Parameter]:
        if parameter.name not in groups:
            return [parameter.replace(annotation=hints[parameter.name])]
        group = groups[parameter.name]
        types = get_type_hints(group, include_extras=True)
        return [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name])
            for field in fields(group)
        ]

    def run(**typed: Any) -> None:
        made = {
            name: group(**{field.name: typed.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**typed, **made)

    parameters = [one for parameter in signature(command).parameters.values() for one in spread(parameter)]
    vars(run)["__signature__"] = Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
