"""Answers for people, for programs, and as a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from privately.cli.account.asking import LEAST_PLOTTED, Answer, Found
from privately.cli.account.numbers import ends, per_hundred, plain, right_guesses, sentence
from privately.errors import InvalidParameter
from privately.guarantees import Neighbors
from privately.views import Axis, Chart, Line, Mark, table

if TYPE_CHECKING:
    from privately.accounting import Event

LONGEST = 300


def text(event: Event, answers: Sequence[Answer], found: Found | None) -> str:
    """Answers for people: a sentence each, or a table if there are many."""
    parts = [f"{cut(repr(event))}\nhides {event.neighbors}"]
    if found:
        parts.append(
            f"found {found.option} {found.value}, which keeps epsilon at most {found.target} at delta {found.delta}"
        )
    if len(answers) <= 2:
        parts += [f"{_statement(answer)}\n{_words(answer, event.neighbors)}" for answer in answers]
    else:
        for given in ("delta", "epsilon"):
            listed = [answer for answer in answers if answer.given == given]
            parts += [_table(listed)] if listed else []
    return "\n\n".join(parts)


def as_json(event: Event, answers: Sequence[Answer], found: Found | None) -> str:
    """Answers for programs. Floats are rounded outward; null is infinite."""
    from privately.accounting import encoding

    data = {
        "event": encoding.encode(event),
        "neighbors": str(event.neighbors),
        "answers": [
            {
                answer.given: answer.value,
                answer.found: plain(answer.interval),
                "method": answer.interval.method,
                "right_guesses": plain_guesses(answer),
            }
            for answer in answers
        ],
    }
    if found:
        data["found"] = {"option": found.option, "value": found.value, "target_epsilon": found.target}
    return json.dumps(data)


def plot(event: Event, curve: Sequence[Answer], asked: Sequence[Answer]) -> str:
    """Epsilon over delta, both ends, as SVG."""
    finite = [answer for answer in curve if answer.interval.upper < math.inf]
    if not finite:
        raise InvalidParameter("--plot", "there is nothing to draw: no epsilon is enough at these deltas.")
    lower = tuple((float(answer.delta), float(answer.interval.lower)) for answer in finite)
    upper = tuple((float(answer.delta), float(answer.interval.upper)) for answer in finite)
    drawn = [one for one in asked if one.epsilon < math.inf and LEAST_PLOTTED <= one.delta < 1]
    return Chart(
        title=f"Epsilon at each delta, {event.neighbors}",
        subtitle=cut(repr(event)),
        x=Axis(label="delta", logarithmic=True),
        y=Axis(label="epsilon"),
        lines=(Line(name="at most", points=upper), Line(name="at least", points=lower)),
        shaded=upper + lower[::-1],
        marks=tuple(Mark(text=_short(answer), point=(float(answer.delta), float(answer.epsilon))) for answer in drawn),
    ).svg()


def plain_guesses(answer: Answer) -> float:
    """How often a guess is right, as a float that is not below it."""
    rounded = float(right_guesses(answer.epsilon, answer.delta))
    return min(1.0, math.nextafter(rounded, math.inf))


def cut(shown: str) -> str:
    """The beginning of a long text."""
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 4]} ..."


def _short(answer: Answer) -> str:
    return f"{answer.found} at most {ends(answer.interval)[1]} at {answer.given} {answer.value}"


def _statement(answer: Answer) -> str:
    by = f" ({answer.interval.method})" if answer.interval.method else ""
    return f"at {answer.given} {answer.value}, {answer.found} {sentence(answer.interval)}{by}"


def _words(answer: Answer, neighbors: Neighbors) -> str:
    """What the upper end means."""
    if answer.epsilon == math.inf:
        return "In words: nothing is promised."
    often = per_hundred(right_guesses(answer.epsilon, answer.delta))
    return (
        f"In words: of two equally likely data sets that differ by {neighbors}, whoever sees the answers guesses the"
        f" right one at most {often} times in 100."
    )


def _table(answers: Sequence[Answer]) -> str:
    first = answers[0]
    rows = [[answer.value, *ends(answer.interval), answer.interval.method] for answer in answers]
    return table([first.given, f"{first.found}, at least", f"{first.found}, at most", "by"], rows)
