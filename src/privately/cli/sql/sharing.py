"""Groups that were typed once for several questions: each question is told of those that it groups by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privately.errors import InvalidParameter, Refused

if TYPE_CHECKING:
    from privately.plans import Table
    from privately.query.batching import Options


def shared(texts: Sequence[str], options: Options, table: Table) -> list[tuple[str, Options]]:
    """The questions with their options: of the listed keys, each has its own. What no question groups by is refused.

    A public table goes to the questions that group by any of its columns; they have to group by all.
    """
    from privately.query.public_tables import PublicTable

    keys = options.get("keys")
    if keys is None or len(texts) == 1:
        return [(text, options) for text in texts]
    names = keys.columns if isinstance(keys, PublicTable) else tuple(keys)
    used = [[name for name in names if _groups_by(text, name, table)] for text in texts]
    unused = next((name for name in names if not any(name in own for own in used)), None)
    if unused is not None:
        raise InvalidParameter("keys", f"none of these questions is grouped by {unused}.")
    found: list[tuple[str, Options]] = []
    for text, own in zip(texts, used, strict=True):
        told = keys if isinstance(keys, PublicTable) else {name: keys[name] for name in own}
        found.append((text, options | {"keys": told if own else None}))
    return found


def _groups_by(text: str, name: str, table: Table) -> bool:
    """Whether a question groups by something of this name; what cannot be understood is refused later, in its place."""
    from privately.query.binding import bind

    try:
        bind(text, {table.name: table}, keys={name: [None]})
    except InvalidParameter:
        return False
    except Refused:
        return True
    return True
