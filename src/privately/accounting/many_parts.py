"""Which of many alternatives may be the worst: all are answered roughly, and what is below another one is left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from privately.accounting import closed_forms, contour, lattice
from privately.accounting.compositions import Composition
from privately.accounting.extremes import roughly_largest
from privately.accounting.questions import Question, Road
from privately.accounting.roads import DEAD_ENDS
from privately.rounding import Interval

SEVERAL = 16
"""So many alternatives are each looked at by themselves."""
_WIDTHS = Fraction(1, 50), Fraction(1, 10**4)
_FEW_LEFT, _FEW_LAWS = 8, 4
_FOR_FEW: tuple[Road, ...] = (contour.BRIEF, closed_forms, contour.FewSteps(is_last=False), lattice.Plain())
_FOR_MANY: tuple[Road, ...] = (contour.FewSteps(is_last=False), contour.BRIEF)


def hopefuls(found: Sequence[Composition], question: Question) -> Sequence[Composition]:
    """All that may be the worst, the likely one first: no other one is above the worst of these."""
    if len(found) <= SEVERAL:
        return found
    left = sorted(found, key=roughly_largest, reverse=True)
    for width in (*_WIDTHS, question.width):
        left = _not_below(left, replace(question, width=max(width, question.width)))
        if len(left) <= _FEW_LEFT:
            break
    return left


def _not_below(found: Sequence[Composition], question: Question) -> list[Composition]:
    """Without those whose answer, or largest loss, is at most a lower end of another one."""
    known: list[tuple[Interval, Composition]] = []
    bar = Interval(0, 0)
    for one in found:
        if not question.is_below(_LargestLoss(), one, bar):
            answer = _roughly(one, question)
            known.append((answer, one))
            bar = Interval(max(bar.lower, answer.lower), max(bar.lower, answer.lower))
    known.sort(key=lambda pair: pair[0].upper, reverse=True)
    return [one for answer, one in known if answer.upper >= bar.lower]


class _LargestLoss:
    """Looks no further than the largest loss."""

    def is_at_most(self, composition: Composition, epsilon: Fraction, delta: Fraction) -> bool:  # noqa: ARG002
        return False


def _roughly(composition: Composition, question: Question) -> Interval:
    settled = question.settled(composition)
    if settled is not None:
        return settled
    for road in _FOR_FEW if len(composition.parts) <= _FEW_LAWS else _FOR_MANY:
        with suppress(*DEAD_ENDS):
            return question.by(road, composition)
    return Interval(0, math.inf, method="no rough road")
