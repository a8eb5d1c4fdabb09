"""epsilon and delta of an event: which road is taken, and the worst of all directions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Literal, get_args

from privately.accounting import closed_forms, contour, lattice, renyi, sampled_games, spreading, two_outcomes
from privately.accounting.below import continuous, overlapping, told_apart
from privately.accounting.bounded_range import Ranges, alone, chosen_adaptively, in_the_long_run
from privately.accounting.bounding import bounding, within
from privately.accounting.chosen_parts import among_parts
from privately.accounting.coarsening import MOST_DIFFERENT, coarser, concentrated, has_few
from privately.accounting.compositions import Composition, compositions, one_by_one
from privately.accounting.conditioning import Conditioned, Inner
from privately.accounting.ends import between, between_rounded, both, least_of, lowest_of, proved, top_of, worst_of
from privately.accounting.events import Event, Group
from privately.accounting.group_bounds import group_bound, group_lower
from privately.accounting.grouped_parts import splits
from privately.accounting.grouped_samples import on_samples
from privately.accounting.groups import gathered, has_rule
from privately.accounting.large_losses import LARGE_LOSSES
from privately.accounting.little_noise import LITTLE_NOISE
from privately.accounting.many_parts import hopefuls
from privately.accounting.nearby_rates import between_rates, share_of_all
from privately.accounting.questions import ALLOWED, LARGEST_EPSILON, NO_LOWER, DeltaAt, EpsilonAt, Question, Road
from privately.accounting.roads import DEAD_ENDS, NotApplicable, refusal
from privately.accounting.terms import side_by_side
from privately.accounting.undisturbed import undisturbed
from privately.accounting.wide_noise import OFF, WideNoise, enclosed, event_on_the_line
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import End, Interval, Number, rational

Method = Literal["closed form", "contour", "lattice", "renyi"]
METHODS: tuple[Method, ...] = get_args(Method)

WIDTH = Fraction(1, 10**6)
"""How narrow an answer should be, relative to epsilon (or to 0.001, if that is more)."""

_MOST_DIRECT = 100_000
"""So much of different laws is not too much for the contour integral."""
_MANY = 4_000, 1_000
"""To so many different terms others are rounded for it, if it takes them."""
_LOOSE = Fraction(1, 1000)
"""An answer wider than this is held against Renyi divergences, and against a direction that is below it."""

_NEARLY, _ENOUGH = Fraction(1, 10**5), Fraction(1, 1000)
_MANY_STEPS, _LONG = 100, 10**9
"""Of so many steps rough roads are rougher, and rounding is what makes answers wide on every road."""
_MOST_LAWS = 2 * MOST_DIFFERENT
"""Compositions of more different laws are left to Renyi divergences."""
_MOST_RESPONSES = 50_000
"""So many different responses stand for mechanisms of bounded range, from below."""
_MOST_WORST, _MOST_PARTS = 200, 32
"""Of more alternatives each is asked of the contour alone; more parts without a worst pair are not told apart."""
_FOR_ONE_STEP: tuple[Road, ...] = (closed_forms,)
_SOON: tuple[Road, ...] = (closed_forms, lattice.Plain())
_FOR_STEPS: tuple[Road, ...] = (*_FOR_ONE_STEP, contour.FewSteps(is_last=False), contour.JUMPS, contour.BRIEF)
"""What is asked for the rest, beside few losses."""


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


def _asked(composition: Composition, question: Question) -> Interval:
    return _best(composition, question, None)


def _asked_for_a_contour(composition: Composition, question: Question) -> Interval:
    return _best(composition, question, "contour")


_WIDE = Fraction(3, 10**6)
"""Beside other losses noise so wide beside whole numbers is often as good as noise on the line, and soon told."""

_ROUGHLY: tuple[Road, ...] = (
    Conditioned(_by(*_FOR_STEPS), most=64, work=256, is_one_step=False),
    spreading,
    WideNoise(_asked, narrow=Fraction(1, 30)),
    LARGE_LOSSES,
)
"""Hardly narrower than what is narrow already, or slow."""

_NEARLY_BEST: tuple[Road, ...] = (spreading.LITTLE, spreading.VERY_LITTLE, spreading.SOME)
"""Where these are nearly as narrow as asked, others that follow hardly ever are, and take long."""

_ROADS: tuple[tuple[Method | None, Road], ...] = (
    ("closed form", closed_forms),
    (None, WideNoise(_asked, narrow=Fraction(1, 10**7))),
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
    ("contour", contour.FewSteps(is_last=True)),
    ("contour", contour.THOROUGH),
    *((None, road) for road in _ROUGHLY),
)


def epsilon(event: Event, delta: Number, *, width: Number = WIDTH, method: Method | None = None) -> Interval:
    """The least epsilon such that everything the event describes is (epsilon, delta)-DP: an interval that contains it.

    >>> from privately import accounting as acc
    >>> steps = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.01"), times=10_000)
    >>> print(acc.epsilon(steps, delta="1e-5"))
    [6.187712, 6.187713]
    """
    exact, narrow = rational(delta, "delta", minimum=0, maximum=1), _width(width)
    _check(event, method)
    with undisturbed():
        return ALLOWED if exact == 1 else _answer(event, EpsilonAt(exact, narrow), method)


def delta(event: Event, epsilon: Number, *, width: Number = WIDTH, method: Method | None = None) -> Interval:
    """The least delta such that everything the event describes is (epsilon, delta)-DP; `width` is relative to it.

    >>> from privately import accounting as acc
    >>> print(acc.delta(acc.Laplace(scale=2), epsilon="0.1"))
    [0.1812692, 0.1812693]
    """
    exact, narrow = rational(epsilon, "epsilon", minimum=0), _width(width)
    _check(event, method)
    with undisturbed():
        return _answer(event, DeltaAt(exact, narrow), method)


def _check(event: object, method: object) -> None:
    if not isinstance(event, Event) or not isinstance(getattr(event, "neighbors", None), Neighbors):
        raise InvalidParameter("event", f"a {type(event).__name__} is no event, such as acc.Laplace(scale=1).")
    if method is not None and method not in METHODS:
        raise InvalidParameter("method", f"must be one of {', '.join(METHODS)}.")


def _width(width: Number) -> Fraction:
    return WIDTH if width is WIDTH else rational(width, "width", above=0, maximum=1)


def _answer(event: Event, question: Question, method: Method | None) -> Interval:
    """By the event itself or, if it has too many different terms, by two that have fewer, on either side."""
    if isinstance(event, Group) or event.neighbors.size > 1:
        event = gathered(event)
    if method == "renyi":
        return _by_renyi(event, question)
    if has_few(event):
        return _exact(event, question, method)
    direct = _unrounded(event, question, method)
    if direct is not None and (question.is_met(direct) or method == "contour"):
        return direct
    above: Event | None = None
    with suppress(NotApplicable):
        above = coarser(event, upward=True)
    if above is None:
        upper = _on_the_line(event, question) or _renyi_or_none(event, question)
        if upper is None and (direct is None or direct.upper == math.inf):
            upper = _by_renyi(event, question)
        return least_of([direct, upper, *_from_below(_compositions_or_none(event), question)])
    if direct is None and method in {None, "contour"}:
        direct = _little_rounded(event, question) or _of_many_ranges(event, question, method)
        if direct is not None:
            return direct
    rounded = between_rounded(_exact(above, question, method), _exact(coarser(event, upward=False), question, method))
    if method is not None or _is_tight(rounded, question):
        return rounded
    return least_of([rounded, direct, _renyi_or_none(event, question)])


def _of_many_ranges(event: Event, question: Question, method: Method | None) -> Interval | None:
    """With mechanisms of bounded range, however many, as they are; None if there are none."""
    played = chosen_adaptively(event, question, _soon) if method is None else None
    if played is None:
        return None
    found = _compositions_or_none(within(coarser(event, upward=False, most=_MOST_RESPONSES)))
    below = max(_worst(found, question, "contour") if found else NO_LOWER, played, key=lambda end: end.lower)
    return least_of([between(below, played), _renyi_or_none(event, question)])


def _anyhow(event: Event, question: Question) -> Interval:
    return _answer(event, question, None)


def _compositions_or_none(event: Event) -> tuple[Composition, ...]:
    try:
        return compositions(event)
    except (NotApplicable, NoSuchRule):
        return ()


def _on_the_line(event: Event, question: Question) -> Interval | None:
    """By events with normal noise in place of wide discrete normal noise, if there is any."""
    above, below = (event_on_the_line(event, upward=upward) for upward in (True, False))
    if above == event:
        return None

    def asked(which: Event) -> Callable[[Question], Interval]:
        return lambda inner: _answer(which, inner, None)

    try:
        return enclosed(question, asked(above), asked(below), OFF * event.runs)
    except NoSuchRule:
        return None


def _little_rounded(event: Event, question: Question) -> Interval | None:
    """With as many different terms as the contour integral takes in reasonable time, if it takes them all."""
    for most in _MANY:
        top = _direct(coarser(event, upward=True, most=most), question)
        bottom = _direct(coarser(event, upward=False, most=most), question) if top else None
        if top and bottom:
            return between_rounded(top, bottom)
    return None


def _unrounded(event: Event, question: Question, method: Method | None) -> Interval | None:
    """By roads that take very many different terms: the contour integral, or normal noise above statements."""
    direct = _direct(event, question) if method in {None, "contour"} else None
    return two_outcomes.composed(event, question, _soon) if direct is None and method is None else direct


def _direct(event: Event, question: Question) -> Interval | None:
    """By the contour integral, to which several hundred different terms are not too many, if it takes them all."""
    with suppress(NotApplicable, NoSuchRule):
        return _worst(map(_not_too_large, one_by_one(event)), question, "contour")
    return None


def _not_too_large(composition: Composition) -> Composition:
    if contour.amount(composition) > _MOST_DIRECT or not composition.is_reached:
        raise NotApplicable("too many different laws, or such as tell upper ends alone")
    return composition


def _exact(event: Event, question: Question, method: Method | None) -> Interval:
    if isinstance(question, EpsilonAt) and question.delta and method in {None, "closed form"}:
        known = closed_forms.noises(event, question.delta)
        if known is not None:
            return known
    try:
        found = compositions(event)
    except (NotApplicable, NoSuchRule) as reason:
        return _indirect(event, question, method, reason)
    if isinstance(question, EpsilonAt) and question.delta and method in {None, "contour"}:
        known = contour.alike(found, question.delta, question.width)
        if known is not None:
            return known
    candidates = hopefuls(found, question) if method is None else found
    is_soon = method is None and len(candidates) > _MOST_WORST
    worst = _worst(candidates, question, "contour" if is_soon else method)
    is_wide = method is None and not _is_tight(worst, question)
    renyi_end = _renyi_or_none(event, question) if is_wide else None
    if not all(one.is_reached for one in found):
        return between(_lower(event, question, method), lowest_of([worst, renyi_end]))
    return least_of([worst, renyi_end, *_from_below(candidates, question)]) if is_wide else worst


def _worst(found: Iterable[Composition], question: Question, method: Method | None) -> Interval:
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
            answers.append(_best(one, question, method))
        del one  # it may be large, and the next one is made before it is let go
    top, lower = top_of(answers), max(answer.lower for answer in answers)
    if not skipped and len(answers) == 1:
        return top
    if skipped and not _is_tight(Interval(lower, top.upper), question):
        lower = max(lower, *(_best(one, question, method, top).lower for one in skipped))
    return proved(lower, top.upper, method=top.method)


def _soon(found: tuple[Composition, ...], question: Question) -> Interval:
    """The same, by roads that go no further than asked."""
    answers: list[Interval] = []
    for one in found:
        best = question.settled(one)
        for road in _SOON if best is None else ():
            with suppress(*DEAD_ENDS):
                best = question.by(road, one)
                break
        answers.append(best if best is not None and question.is_met(best) else _best(one, question, None))
    return worst_of(answers)


def _is_tight(found: Interval, question: Question) -> bool:
    return question.is_met(found, _LOOSE)


def _is_worth_a_look(composition: Composition, method: Method | None) -> bool:
    """Whether the contour may tell sooner than an answer that it is not needed; for one step it does not."""
    return method == "contour" or (method is None and [times for _, times in composition.parts] != [1])


def _best(
    composition: Composition, question: Question, method: Method | None, limit: Interval | None = None
) -> Interval:
    """By the first road that is narrow enough, or by all that lead anywhere; it is known to be below the limit."""
    if (settled := question.settled(composition)) is not None:
        return settled
    best = _at_nearby_rates(composition, question, method)
    if best is not None and question.is_met(best):
        return best
    left_out = () if best is None else (WideNoise,)  # asked for at nearby rates
    ways = [road for name, road in _ROADS if method in {None, name} and not isinstance(road, left_out)]
    most, size = (
        (_MOST_DIRECT, contour.amount(composition)) if method == "contour" else (_MOST_LAWS, len(composition.parts))
    )
    steps = sum(times for _, times in composition.parts)
    is_long, nearly = steps > _LONG, _NEARLY if steps < _MANY_STEPS else 10 * _NEARLY
    for road in ways if size <= most else ():
        rough = _LOOSE if road is LARGE_LOSSES else nearly
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
        if question.is_met(best, max(question.width, _NEARLY) if is_nearly_best else None):
            return best
    return question.unknown(composition) if best is None else best


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
    top, share = _best(found[0], question, method), share_of_all(composition)
    question = question.eased(top)
    name = f"{top.method}, rates rounded"
    lower: End = 0 if share is None else _from_all_samples(found[0], question, method, share)
    narrow = proved(max(lower, 0), top.upper, method=name)
    if question.is_met(narrow):
        return narrow
    return proved(max(lower, _best(found[1], question, method).lower), top.upper, method=name)


def _from_all_samples(unsampled: Composition, question: Question, method: Method | None, share: Fraction) -> End:
    """A lower end, where samples that hold the row have at least this share."""
    gap = (1 - share) / share  # at least ln(1/share)
    if isinstance(question, DeltaAt):
        return share * _best(unsampled, DeltaAt(question.epsilon + gap, question.width), method).lower
    if question.delta >= share:
        return 0
    return _best(unsampled, EpsilonAt(question.delta / share, question.width), method).lower - gap


def _indirect(event: Event, question: Question, method: Method | None, reason: Exception) -> Interval:
    """For events without a worst pair: the best of some upper bounds, and a mechanism within from below."""
    parts = dict.fromkeys(side_by_side(event) or splits(event))
    if 0 < len(parts) <= _MOST_PARTS:
        return worst_of([_answer(part, question, method) for part in parts])
    known = (alone(event, question) or two_outcomes.alone(event, question)) if method in {None, "closed form"} else None
    if known is not None:
        return known
    shared = (among_parts(event, question, _anyhow) or on_samples(event, question, _anyhow)) if method is None else None
    if shared is not None and _is_tight(shared, question):
        return shared
    long = in_the_long_run(event, question, _renyi_or_none, _worst) if method is None else None
    if long is not None:
        return long
    chosen = _chosen(event, question) if method is None else None
    if chosen is not None and question.is_met(chosen, max(question.width, _NEARLY)):
        return chosen
    ways = _bounded(event, question, method), _renyi_or_none(event, question), _by_group(event, question)
    uppers = list(filter(None, (*ways, shared)))
    below = max(_lower(event, question, method, chosen), shared or NO_LOWER, key=lambda end: end.lower)
    if not uppers and below.lower < math.inf:
        raise refusal(type(event).__name__, reason)
    above = lowest_of(uppers or [below])
    found = between(below, above)
    if method is not None or question.is_met(found, max(question.width, _NEARLY)):
        return found
    if chosen is None or (chosen.lower <= found.lower and chosen.upper >= found.upper):
        return found
    if chosen.lower > found.lower and chosen.upper < found.upper:
        return chosen
    return between(max(below, chosen, key=lambda end: end.lower), min(above, chosen, key=lambda end: end.upper))


def _chosen(event: Event, question: Question) -> Interval | None:
    """Games of ranges and of statements, on samples or not; where both can be played the nearest ends count."""
    ranges = chosen_adaptively(event, question, _soon)
    is_enough = ranges is not None and question.is_met(ranges, max(question.width, _ENOUGH))
    known = [ranges, None if is_enough else sampled_games.chosen(event, question, _soon)]
    return least_of(known) if any(known) else None


def _from_below(found: Iterable[Composition], question: Question) -> Iterator[Interval | None]:
    """Lower ends alone, of simpler noise and of a simple test."""
    for one in found:
        simpler = continuous(one)
        if simpler is not None:
            answer = _best(simpler, question, None)
            yield Interval(answer.lower, math.inf, method=answer.method)
        yield told_apart(one, question)
        yield overlapping(one, question)


def _bounded(event: Event, question: Question, method: Method | None) -> Interval | None:
    try:
        return _worst(compositions(bounding(event)), question, method)
    except (NotApplicable, NoSuchRule):
        return None


def _by_group(event: Event, question: Question) -> Interval | None:
    with suppress(NotApplicable, NoSuchRule):
        return group_bound(event, question, _anyhow) if isinstance(event, Group) and not has_rule(event) else None
    return None


def _renyi_or_none(event: Event, question: Question) -> Interval | None:
    with suppress(NoSuchRule):
        return _by_renyi(event, question)
    return None


def _by_renyi(event: Event, question: Question) -> Interval:
    try:
        event = concentrated(event)
        if isinstance(question, EpsilonAt):
            return renyi.epsilon(event, question.delta, question.width)
        return renyi.delta(event, min(question.epsilon, LARGEST_EPSILON), question.width)
    except DEAD_ENDS as reason:
        raise NoSuchRule(premise=type(event).__name__, wanted="Renyi divergences", hint=str(reason)) from None


def _lower(event: Event, question: Question, method: Method | None, chosen: Interval | None = None) -> Interval:
    try:
        found = _worst(compositions(within(event)), question, method)
    except (NotApplicable, NoSuchRule):
        return NO_LOWER
    ranges = Ranges.of(event)
    if ranges is not None and not ranges.is_enough(chosen, question):
        skewed = ranges.largest(lambda pairs: _worst(tuple(pairs), question, method).lower)
        if skewed > found.lower:
            found = Interval(skewed, math.inf, method=found.method)
    if isinstance(event, Group) and event.size > 1 and (least := group_lower(event, question, _anyhow)) > found.lower:
        return Interval(least, math.inf, method="rows of a group that are sampled together")
    return found
