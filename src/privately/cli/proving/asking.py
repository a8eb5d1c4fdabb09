"""What was typed, as arguments of `prove` and `analyze`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from privately.errors import InvalidParameter, NotSupported
from privately.proving.language.annotations import declared
from privately.proving.language.declarations import Domain, Neighborhood


def neighborhoods(options: Sequence[str]) -> dict[str, Neighborhood]:
    """From `d=replaced(0,1)`, one an option."""
    found: dict[str, Neighborhood] = {}
    for option in options:
        name, text = _split(option, "neighbors", "d=replaced(0,1)")
        value = _declared(text, "neighbors")
        if not isinstance(value, Neighborhood):
            raise InvalidParameter("neighbors", f"{text!r} says nothing of neighbours.", hint="Such as each(1).")
        if name in found:
            raise InvalidParameter("neighbors", f"{name!r} is given twice.")
        found[name] = value
    return found


def public_values(options: Sequence[str]) -> dict[str, Any]:
    """From `p=1/4`, `q=1,2,3` or `p=inside(0,1/2)`, one an option."""
    found: dict[str, Any] = {}
    for option in options:
        name, text = _split(option, "public", "epsilon=1")
        if name in found:
            raise InvalidParameter("public", f"{name!r} is given twice.")
        if "(" in text:
            value = _declared(text, "public")
            if not isinstance(value, Domain):
                raise InvalidParameter("public", f"{text!r} is no domain.", hint="Such as between(0, 1/2).")
            found[name] = value
        else:
            found[name] = [one.strip() for one in text.split(",")] if "," in text else text
    return found


def _split(option: str, field: str, example: str) -> tuple[str, str]:
    name, sign, text = option.partition("=")
    if not sign or not name.strip() or not text.strip():
        raise InvalidParameter(field, f"{option!r} should look like {example}.")
    return name.strip(), text.strip()


def _declared(text: str, field: str) -> Any:
    try:
        return declared(ast.parse(text, mode="eval").body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, NotSupported) as error:
        reason = error.message.removeprefix("line 1: ") if isinstance(error, NotSupported) else "cannot be read."
        raise InvalidParameter(field, f"{text!r}: {reason}") from None
