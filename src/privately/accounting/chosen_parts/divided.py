"""What an event runs: parts of data that was divided, each division so many times, and all that is beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from privately.accounting.events import Event, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.terms import Terms, alternatives, count, side_by_side


@dataclass(frozen=True)
class Divided:
    """Each Parallel of different parts, with its number of runs; and the others."""

    runs: dict[tuple[Event, ...], int]
    others: tuple[Event, ...]

    @classmethod
    def of(cls, event: Event, *, is_grouped: bool = False) -> Divided:
        """For groups with all parts: of several rows one that is covered by another may reveal more."""
        runs, others = dict[tuple[Event, ...], int](), list[Event]()
        for one, times in _steps(event, 1):
            ways = _all(one) if is_grouped else _uncovered(one)
            if len(ways) > 1:
                count(runs, tuple(ways), times)
            else:
                others.append(Repeat(event=one, times=times))
        return cls(runs, tuple(others))


def _steps(event: Event, times: int) -> Iterator[tuple[Event, int]]:
    match event:
        case Steps(events=events):
            for one in events:
                yield from _steps(one, times)
        case Repeat(event=inner, times=more):
            yield from _steps(inner, times * more) if times * more else ()
        case _:
            yield event, times


def _all(event: Event) -> list[Event]:
    return list(dict.fromkeys(side_by_side(event)))


def _uncovered(event: Event) -> list[Event]:
    """Those that no other covers, if they are several."""
    ways = alternatives(event) if side_by_side(event) else []
    return [_together(terms) for terms in ways] if len(ways) > 1 else []


def _together(terms: Terms) -> Event:
    return Steps(events=[Repeat(event=term, times=times) for term, times in terms.items()])
