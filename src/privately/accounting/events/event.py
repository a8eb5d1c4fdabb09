"""What every event has in common: its neighbours, its size, how it prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction

from privately.errors import InvalidParameter, MixedNeighbors, NotSupported
from privately.guarantees import Neighbors
from privately.rounding import rational

MAX_NODES = 100_000
"""An event holds at most this many events, itself included."""

MAX_DEPTH = 100
"""So deep may events be nested."""

MAX_TIMES = 10**12
"""An event may be repeated this often."""

MAX_RUNS = 10**15
"""So many mechanisms may run in one event, repetitions counted."""

LEAST_NOISE = Fraction(1, 10**9)
MOST_NOISE = 10**30

_SHOWN = 3


@dataclass(frozen=True, init=False, repr=False)
class Event:
    """A description of what was run, apart from any data and from what it costs. Events are data: frozen, exact.

    An event stands for every mechanism that it describes, so its cost is that of the worst of them. What a kind of
    event means is never changed, and no kind is ever removed: ledgers hold them.
    """

    neighbors: Neighbors
    """Whose change the event hides."""

    nodes: int = field(init=False, repr=False, compare=False, default=1)
    depth: int = field(init=False, repr=False, compare=False, default=1)
    runs: int = field(init=False, repr=False, compare=False, default=1)

    def __init_subclass__(cls) -> None:
        """Kinds of this package only: of others nothing is known, and what inherits from one would pass for it."""
        super().__init_subclass__()
        if cls.__bases__ != (Event,):
            raise NotSupported(f"{cls.__name__} cannot inherit from a kind of event, as it would be accounted as that.")
        if not cls.__module__.startswith(f"{__package__}."):
            raise NotSupported(
                f"{cls.__name__} is an unknown kind of event: nothing could tell what it costs.",
                hint="Describe it by what it keeps, such as acc.Pure(epsilon=1) or acc.ZCDP(rho=1).",
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(shown(self))})"


def shown(event: Event) -> list[str]:
    """The arguments that make this event again; long lists of events are cut short."""
    texts = [(one.name, getattr(event, one.name)) for one in fields(event) if one.init and one.name != "neighbors"]
    listed = [f"{name}={_text(value)}" for name, value in texts]
    own = type(event).__dataclass_fields__["neighbors"].init
    if own and event.neighbors != Neighbors.ADD_REMOVE:
        listed.append(f"neighbors=<{event.neighbors}>")
    return listed


def settle(event: Event, name: str, value: object) -> None:
    """Sets a field of a frozen event that is still being made."""
    object.__setattr__(event, name, value)


def check_neighbors(value: object) -> Neighbors:
    """A leaf says whose change it hides."""
    if not isinstance(value, Neighbors):
        raise InvalidParameter("neighbors", f"a {type(value).__name__} is not a Neighbors.")
    return value


def check_part(value: object, name: str) -> Event:
    """An event inside another one."""
    if not isinstance(value, Event) or not isinstance(getattr(value, "neighbors", None), Neighbors):
        raise InvalidParameter(name, f"a {type(value).__name__} is not an event.")
    return value


def enclose(event: Event, parts: Sequence[Event], *, name: str, times: int = 1) -> None:
    """Counts an event that is made of parts, and gives it their neighbours. `name` is the field that holds them."""
    different = dict.fromkeys(part.neighbors for part in parts)
    if len(different) > 1:
        raise MixedNeighbors(*different, hint="All parts of an event must protect the same change.")
    settle(event, "neighbors", next(iter(different)))
    settle(event, "nodes", 1 + sum(part.nodes for part in parts))
    settle(event, "depth", 1 + max(part.depth for part in parts))
    settle(event, "runs", times * sum(part.runs for part in parts))
    if event.nodes > MAX_NODES:
        raise InvalidParameter(name, f"more than {MAX_NODES} events in one; repeat equal ones with Repeat.")
    if event.depth > MAX_DEPTH:
        raise InvalidParameter(name, f"events nested more than {MAX_DEPTH} deep.")
    if event.runs > MAX_RUNS:
        raise InvalidParameter(name, f"more than {MAX_RUNS} runs of mechanisms in one event.")


def noise(value: object, name: str) -> Fraction:
    """The size of noise: none at all, or an amount in the range where a guarantee can say something."""
    amount = rational(value, name, minimum=0, maximum=MOST_NOISE)
    if 0 < amount < LEAST_NOISE:
        raise InvalidParameter(name, f"below {float(LEAST_NOISE):g}, where no privacy is left.", hint="Use 0 for none.")
    return amount


def _text(value: object) -> str:
    match value:
        case Fraction():
            return _number(value)
        case tuple() if value and isinstance(value[0], Event):
            rest = [f"... {len(value)} in all"] if len(value) > _SHOWN else []
            return f"[{', '.join([*map(repr, value[:_SHOWN]), *rest])}]"
        case tuple():
            return "{" + ", ".join(f"{_number(order)}: {_number(bound)}" for order, bound in value) + "}"
    return repr(value)


def _number(value: Fraction) -> str:
    """Python that gives exactly this number."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    near = _nearest(value)
    if Fraction(near) == value:
        return repr(near)
    if Fraction(Decimal(repr(near))) == value:
        return repr(repr(near))
    return repr(str(value))


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.ldexp(1, 1000)
