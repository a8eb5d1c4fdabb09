"""Which road answers for a composition, and the worst of several compositions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Literal, TypeAlias, get_args

from privately.accounting import closed_forms, contour, lattice, spreading
from privately.accounting.coarsening import MOST_DIFFERENT
from privately.accounting.compositions import Composition
from privately.accounting.conditioning import Conditioned, Inner
from privately.accounting.ends import both, proved, top_of, worst_of
from privately.accounting.large_losses import LARGE_LOSSES
from privately.accounting.little_noise import LITTLE_NOISE
from privately.accounting.nearby_rates import between_rates, share_of_all
from privately.accounting.questions import NO_ROAD, DeltaAt, EpsilonAt, Question, Road
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.wide_noise import WideNoise
from privately.errors import InvalidParameter, NoSuchRule
from privately.rounding import End, Interval

Method = Literal["closed form", "contour", "lattice", "renyi"]
METHODS: tuple[Method, ...] = get_args(Method)
Named: TypeAlias = Method | Literal["closed-form"]
"""As people may write it: on the command line names have no spaces."""

WIDTH = Fraction(1, 10**6)
"""How narrow an answer should be, relative to epsilon (or to 0.001, if that is more)."""

MOST_DIRECT = 100_000
"""So much of different laws is not too much for the contour integral."""
_LOOSE = Fraction(1, 1000)
"""An answer wider than this is held against Renyi divergences, and against a direction that is below it."""

NEARLY = Fraction(1, 10**5)
_MANY_STEPS, _LONG = 100, 10**9
"""Of so many steps rough roads are rougher, and rounding is what makes answers wide on every road."""
_PAIR = 2
"""So few steps are as narrow in cells as anywhere, and soon told."""
_MOST_LAWS = 2 * MOST_DIFFERENT
"""Compositions of more different laws are left to Renyi divergences."""
_FOR_ONE_STEP: tuple[Road, ...] = (closed_forms,)
_SOON: tuple[Road, ...] = (closed_forms, lattice.Plain())
_FOR_STEPS: tuple[Road, ...] = (*_FOR_ONE_STEP, contour.FewSteps(is_last=False), contour.JUMPS, contour.BRIEF)
"""What is asked for the rest, beside few losses."""


def method_of(name: object) -> Method | None:
    """The method that somebody names; None is for the best of all."""
    plain = "closed form" if name == "closed-form" else name
    found = next((method for method in METHODS if method == plain), None)
    if found is None and name is not None:
        raise InvalidParameter("method", f"must be one of {', '.join(METHODS)}.")
    return found


def honoured(found: Interval, event: object, method: Method | None) -> Interval:
    """The same answer; NoSuchRule where somebody named a method and it led nowhere."""
    if method is not None and found.method.startswith(NO_ROAD):
        raise not_by(method, event)
    return found


def not_by(method: Method, event: object) -> NoSuchRule:
    """What is said of an event that a named method does not answer for."""
    hint = "This method does not apply to it; leave the method out, and the best one is taken."
    return NoSuchRule(premise=type(event).__name__, wanted=f"an upper end by the method {method!r}", hint=hint)


def _by(*roads: Road) -> Inner:
    """delta by the first of these that is narrow, or by all that lead anywhere."""

    def asked(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        question, best = DeltaAt(epsilon, width), None
        for road in roads:
            try:
                found = question.by(road, composition)
            except DEAD_ENDS:
                continue
            best = found if best is None else both(best, found)
            if question.is_met(best):
                return best
        if best is None:
            raise NotApplicable("no road leads to the profile of what is left")
        return best

    return asked


def asked(composition: Composition, question: Question) -> Interval:
    return of_one(composition, question, None)


def _asked_for_a_contour(composition: Composition, question: Question) -> Interval:
    return of_one(composition, question, "contour")


_WIDE = Fraction(3, 10**6)
"""Beside other losses noise so wide beside whole numbers is often as good as noise on the line, and soon told."""

_ROUGHLY: tuple[Road, ...] = (
    Conditioned(_by(*_FOR_STEPS), most=64, work=256, is_one_step=False),
    spreading,
    WideNoise(asked, narrow=Fraction(1, 30)),
    LARGE_LOSSES,
)
"""Hardly narrower than what is narrow already, or slow."""

_NEARLY_BEST: tuple[Road, ...] = (spreading.LITTLE, spreading.VERY_LITTLE, spreading.SOME)
"""Where these are nearly as narrow as asked, others that follow hardly ever are, and take long."""

_ROADS: tuple[tuple[Method | None, Road], ...] = (
    ("closed form", closed_forms),
    (None, WideNoise(asked, narrow=Fraction(1, 10**7))),
    ("contour", contour.RareJumps(is_first=True)),
    ("contour", contour.FewSteps(is_last=False)),
    (None, spreading.LITTLE),
    (None, LITTLE_NOISE),
    (None, spreading.VERY_LITTLE),
    ("contour", contour.Cutting(is_last=False)),
    ("contour", contour.RareJumps(is_first=False)),
    ("contour", contour.BRIEF),
    (None, spreading.SOME),
    (None, Conditioned(_by(*_FOR_ONE_STEP), most=256, work=4096, is_one_step=True)),
    (None, WideNoise(_asked_for_a_contour, narrow=_WIDE)),
    ("lattice", lattice),
    ("contour", contour.Cutting(is_last=True)),
    ("contour", contour.MORE_JUMPS),
    ("contour", contour.FEW_JUMPS),
    ("contour", contour.FewSteps(is_last=True)),
    ("contour", contour.THOROUGH),
    *((None, road) for road in _ROUGHLY),
)


def of_worst(found: Iterable[Composition], question: Question, method: Method | None) -> Interval:
    """The largest over all directions and alternatives; what is certainly below another one needs no answer.

    It may still have a better lower end than one whose answer is wide.
    """
    answers: list[Interval] = []
    skipped: list[Composition] = []
    for one in found:
        if answers and math.isinf(top_of(answers).lower):
            break
        if answers and _is_worth_a_look(one, method) and question.is_below(contour, one, top_of(answers)):
            skipped.append(one)
        else:
            answers.append(of_one(one, question, method))
        del one  # it may be large, and the next one is made before it is let go
    top, lower = top_of(answers), max(answer.lower for answer in answers)
    if not skipped and len(answers) == 1:
        return top
    if skipped and not is_tight(Interval(lower, top.upper), question):
        lower = max(lower, *(of_one(one, question, method, top).lower for one in skipped))
    return proved(lower, top.upper, method=top.method)


def of_worst_soon(found: tuple[Composition, ...], question: Question) -> Interval:
    """The same, by roads that go no further than asked."""
    answers: list[Interval] = []
    for one in found:
        best = question.settled(one)
        for road in _SOON if best is None else ():
            with suppress(*DEAD_ENDS):
                best = question.by(road, one)
                break
        answers.append(best if best is not None and question.is_met(best) else of_one(one, question, None))
    return worst_of(answers)


def is_tight(found: Interval, question: Question) -> bool:
    return question.is_met(found, _LOOSE)


def _is_worth_a_look(composition: Composition, method: Method | None) -> bool:
    """Whether the contour may tell sooner than an answer that it is not needed; for one step it does not."""
    return method == "contour" or (method is None and [times for _, times in composition.parts] != [1])


def of_one(
    composition: Composition, question: Question, method: Method | None, limit: Interval | None = None
) -> Interval:
    """By the first road that is narrow enough, or by all that lead anywhere; it is known to be below the limit."""
    if (settled := question.settled(composition)) is not None:
        return settled
    best = _at_nearby_rates(composition, question, method)
    if best is not None and question.is_met(best):
        return best
    ways = _ways(method, is_wide_left_out=best is not None)  # asked for at nearby rates
    most, size = (
        (MOST_DIRECT, contour.amount(composition)) if method == "contour" else (_MOST_LAWS, len(composition.parts))
    )
    steps = sum(times for _, times in composition.parts)
    is_long, nearly = steps > _LONG, NEARLY if steps < _MANY_STEPS else 10 * NEARLY
    for road in ways if size <= most else ():
        is_sharp = road is spreading and steps <= _PAIR
        rough = question.width if is_sharp else _LOOSE if road is LARGE_LOSSES else nearly
        if road in _ROUGHLY and best is not None and question.is_met(best, rough):
            continue
        if _is_vain(road, question, best or limit):
            continue
        try:
            found = question.by(road, composition)
        except DEAD_ENDS:
            continue
        best = found if best is None else both(best, found)
        if _is_improvable(road, composition, question, best, method):
            continue
        is_nearly_best = road in _NEARLY_BEST or (isinstance(road, contour.FewSteps) and is_long)
        if question.is_met(best, max(question.width, NEARLY) if is_nearly_best else None):
            return best
    return question.unknown(composition) if best is None else best


@cache
def _ways(method: Method | None, *, is_wide_left_out: bool) -> tuple[Road, ...]:
    """The roads to ask, in turn."""
    left_out = (WideNoise,) if is_wide_left_out else ()
    return tuple(road for name, road in _ROADS if method in {None, name} and not isinstance(road, left_out))


def _is_vain(road: Road, question: Question, known: Interval | None) -> bool:
    """Whether a road leaves out more than the whole of what is known to be above it already."""
    if known is None or road is not spreading or isinstance(question, EpsilonAt):
        return False
    return known.upper < spreading.LEFT_OUT / 10


def _is_improvable(
    road: Road, composition: Composition, question: Question, found: Interval, method: Method | None
) -> bool:
    """Whether an epsilon that is narrow enough is to be held against that of a lattice all the same."""
    if method is not None or isinstance(question, DeltaAt) or not isinstance(road, contour.FewSteps):
        return False
    return question.width <= WIDTH and not road.is_last and road.is_improvable(composition, found)


def _at_nearby_rates(composition: Composition, question: Question, method: Method | None) -> Interval | None:
    """Where a rate is so near 1 that few roads take it: between no sampling and a rate a little lower."""
    found = between_rates(composition)
    if found is None:
        return None
    top, share = of_one(found[0], question, method), share_of_all(composition)
    question = question.eased(top)
    name = f"{top.method}, rates rounded"
    lower: End = 0 if share is None else _from_all_samples(found[0], question, method, share)
    narrow = proved(max(lower, 0), top.upper, method=name)
    if question.is_met(narrow):
        return narrow
    return proved(max(lower, of_one(found[1], question, method).lower), top.upper, method=name)


def _from_all_samples(unsampled: Composition, question: Question, method: Method | None, share: Fraction) -> End:
    """A lower end, where samples that hold the row have at least this share."""
    gap = (1 - share) / share  # at least ln(1/share)
    if isinstance(question, DeltaAt):
        return share * of_one(unsampled, DeltaAt(question.epsilon + gap, question.width), method).lower
    if question.delta >= share:
        return 0
    return of_one(unsampled, EpsilonAt(question.delta / share, question.width), method).lower - gap
