"""Parts that are chosen beforehand, the same in every run: what they cost is within what an opponent may choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from privately.accounting.chosen_parts.divided import Divided
from privately.accounting.events import Event, Group, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.questions import NO_LOWER, Question
from privately.accounting.roads import DEAD_ENDS
from privately.errors import NoSuchRule
from privately.rounding import End, Interval

Asked = Callable[[Event, Question], Interval]

_ROUGH, _ROUNDS, _MOST_TRIES = Fraction(1, 50), 2, 64


def steadily(event: Event, question: Question, asked: Asked) -> Interval:
    """A lower end by one part of each division; none where there are no different parts.

    Theorem: a row may meet the same part of a division in every run, and so may all rows of a group.
    Reference: none; by what the event means
    Proof: docs/theory/accounting/events.md#parts-that-are-chosen
    Checked-by: tests/accounting/chosen_parts/test_beforehand.py::test_no_less_than_any_one_part
    """
    rough = replace(question, width=max(question.width, _ROUGH))
    inner, size = (event.event, event.size) if isinstance(event, Group) else (event, 1)
    try:
        found = Divided.of(inner, is_grouped=size > 1)
        if not found.runs:
            return NO_LOWER
        worst = worst_choice(found, lambda way: asked(_grouped(way, size), rough).lower)
        return asked(_grouped(worst, size), question)
    except (*DEAD_ENDS, NoSuchRule):
        return NO_LOWER


def _grouped(event: Event, size: int) -> Event:
    return event if size == 1 else Group(event=event, size=size)


def worst_choice(found: Divided, worth: Callable[[Event], End]) -> Event:
    """About the worst list of parts, one for each division: from the best of some one by one to better ones."""
    tries: dict[tuple[int, ...], End] = {}

    def tried(way: tuple[int, ...]) -> End:
        if way not in tries:
            tries[way] = worth(chosen(found, way)) if len(tries) < _MOST_TRIES else NO_LOWER.lower
        return tries[way]

    sizes = [len(parts) for parts in found.runs]
    best = max((tuple(min(k, size - 1) for size in sizes) for k in range(max(sizes))), key=tried)
    for _ in range(_ROUNDS if len(sizes) > 1 else 0):
        before = best
        for place, size in enumerate(sizes):
            best = max(((*best[:place], k, *best[place + 1 :]) for k in range(size)), key=tried)
        if best == before:
            break
    return chosen(found, best)


def chosen(found: Divided, way: tuple[int, ...]) -> Event:
    """All that is beside, and of each division this part, as often as it is run."""
    runs = [Repeat(event=parts[k], times=times) for k, (parts, times) in zip(way, found.runs.items(), strict=True)]
    return Steps(events=[*found.others, *runs])
