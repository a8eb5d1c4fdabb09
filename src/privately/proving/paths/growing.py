"""Outputs that grow entry by entry: a way whose list already differs from what is looked for need not be followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from privately.proving.language.program import Program
from privately.proving.language.syntax import Apply, Assign, Return, Sample, Value, Variable, statements
from privately.proving.paths.affine import Affine
from privately.proving.paths.events import Event


def growing(program: Program) -> str | None:
    """The name of the list that every way returns and that is only ever added to behind, if there is one."""
    returned = {one.value for one in statements(program.body) if isinstance(one, Return)}
    name = next((one.name for one in returned if isinstance(one, Variable)), None)
    if name is None or len(returned) > 1 or name in {one.name for one in program.parameters}:
        return None
    begun = 0
    for one in statements(program.body):
        if isinstance(one, Sample) and one.name == name:
            return None
        if isinstance(one, Assign) and one.name == name:
            match one.value:
                case Apply("joined", (Variable(same), Apply("list", _))) if same == name:
                    continue
                case Apply("list", ()) if one in program.body:
                    begun += 1
                case _:
                    return None
    return name if begun == 1 else None


def leading_to(event: Event, name: str) -> Callable[[Mapping[str, Value]], bool] | None:
    """Whether a state can still end in the event; None if the event does not ask for a list of one length.

    Theorem: where the list that is returned only grows, no way from a state that is turned down ends in the event.
    Reference: none, a beginning of a list stays its beginning
    Proof: docs/theory/refuting.md#growing-outputs
    Checked-by: tests/proving/paths/test_growing.py::test_no_way_to_the_event_is_lost
    """
    if not isinstance(event.shape, tuple) or any(one is not None for one in event.shape):
        return None
    wanted, length = event.constants, len(event.shape)

    def possible(variables: Mapping[str, Value]) -> bool:
        entries = variables.get(name)
        if not isinstance(entries, tuple):
            return True
        return len(entries) <= length and not any(
            _differs(entries[place], value) for place, value in wanted.items() if place < len(entries)
        )

    return possible


def _differs(entry: Value, value: Fraction) -> bool:
    return isinstance(entry, tuple) or (not isinstance(entry, Affine) and entry != value)
