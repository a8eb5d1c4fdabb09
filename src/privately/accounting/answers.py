"""epsilon and delta of an event: by its own compositions, or by others on either side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction

from privately.accounting import closed_forms, contour, renyi, sampled_games, two_outcomes, which_road
from privately.accounting.basic_sums import basic_sum, rarely_shown
from privately.accounting.below import continuous, noticed, overlapping, told_apart
from privately.accounting.bounded_range import Ranges, alone, chosen_adaptively, in_the_long_run
from privately.accounting.bounding import bounding, has_fixed_size, within
from privately.accounting.chosen_parts import among_parts, chosen_as_it_goes, covered, steadily
from privately.accounting.coarsening import coarser, concentrated, has_few
from privately.accounting.compositions import Composition, compositions, one_by_one
from privately.accounting.ends import between, between_rounded, least_of, lowest_of, worst_of
from privately.accounting.events import Event, Group
from privately.accounting.group_bounds import group_bound, group_lower
from privately.accounting.grouped_parts import splits
from privately.accounting.grouped_samples import on_samples
from privately.accounting.groups import gathered, has_rule
from privately.accounting.many_parts import hopefuls
from privately.accounting.plain import plain
from privately.accounting.questions import ALLOWED, LARGEST_EPSILON, NO_LOWER, DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable, refusal
from privately.accounting.terms import flatten, side_by_side
from privately.accounting.tiny_rates import has_tiny_rates, without_tiny_rates
from privately.accounting.undisturbed import undisturbed
from privately.accounting.which_road import (
    NEARLY,
    WIDTH,
    Method,
    Named,
    honoured,
    is_tight,
    method_of,
    not_by,
    of_one,
    of_worst,
    of_worst_soon,
)
from privately.accounting.wide_noise import OFF, enclosed, event_on_the_line
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import Interval, Number, rational

_ENOUGH, _CLOSE = Fraction(1, 1000), Fraction(1, 10**4)
_MANY = 4_000, 1_000
"""To so many different terms others are rounded for it, if it takes them."""
_MOST_RESPONSES = 50_000
"""So many different responses stand for mechanisms of bounded range, from below."""
_MOST_WORST, _MOST_PARTS, _FEW_TERMS = 200, 32, 4
"""Of more alternatives each is asked of the contour alone; more parts without a worst pair are not told apart."""


def epsilon(event: Event, delta: Number, *, width: Number = WIDTH, method: Named | None = None) -> Interval:
    """The least epsilon such that everything the event describes is (epsilon, delta)-DP: an interval that contains it.

    >>> from privately import accounting as acc
    >>> steps = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.01"), times=10_000)
    >>> print(acc.epsilon(steps, delta="1e-5"))
    [6.187712, 6.187713]
    """
    exact, narrow = rational(delta, "delta", minimum=0, maximum=1), _width(width)
    _check(event)
    named = method_of(method)
    with undisturbed():
        return ALLOWED if exact == 1 else _answer(event, EpsilonAt(exact, narrow), named)


def delta(event: Event, epsilon: Number, *, width: Number = WIDTH, method: Named | None = None) -> Interval:
    """The least delta such that everything the event describes is (epsilon, delta)-DP; `width` is relative to it.

    >>> from privately import accounting as acc
    >>> print(acc.delta(acc.Laplace(scale=2), epsilon="0.1"))
    [0.1812692, 0.1812693]
    """
    exact, narrow = rational(epsilon, "epsilon", minimum=0), _width(width)
    _check(event)
    named = method_of(method)
    with undisturbed():
        return _answer(event, DeltaAt(exact, narrow), named)


def _check(event: object) -> None:
    if not isinstance(event, Event) or not isinstance(getattr(event, "neighbors", None), Neighbors):
        raise InvalidParameter("event", f"a {type(event).__name__} is no event, such as acc.Laplace(scale=1).")


def _width(width: Number) -> Fraction:
    return WIDTH if width is WIDTH else rational(width, "width", above=0, maximum=1)


def _answer(event: Event, question: Question, method: Method | None) -> Interval:
    """By the event itself or, if it has too many different terms, by two that have fewer, on either side."""
    if isinstance(event, Group) or event.neighbors.size > 1:
        event = gathered(plain(event))
    if method == "renyi":
        return _by_renyi(event, question)
    if has_few(event):
        return _exact(event, question, method)
    return _of_rare_samples(event, question, method) or _of_many(event, question, method)


def _of_rare_samples(event: Event, question: Question, method: Method | None) -> Interval | None:
    if not has_tiny_rates(event):
        return None
    above, below = (without_tiny_rates(event, upward=upward) for upward in (True, False))
    return between(_answer(below, question, method), _answer(above, question, method))


def _of_many(event: Event, question: Question, method: Method | None) -> Interval:
    """With many different terms."""
    direct = _unrounded(event, question, method)
    if direct is not None and (question.is_met(direct) or method == "contour"):
        return honoured(direct, event, method)
    above: Event | None = None
    with suppress(NotApplicable):
        above = coarser(event, upward=True)
    if above is None and method is not None:
        raise not_by(method, event)
    if above is None:
        return _rigid(event, question, direct)
    if direct is None and method in {None, "contour"}:
        direct = _little_rounded(event, question) or _of_many_ranges(event, question, method)
        if direct is not None:
            return direct
    rounded = between_rounded(_exact(above, question, method), _exact(coarser(event, upward=False), question, method))
    if method is not None or is_tight(rounded, question):
        return rounded
    return least_of([rounded, direct, _renyi_or_none(event, question)])


def _rigid(event: Event, question: Question, direct: Interval | None) -> Interval:
    """With too many different terms that cannot be rounded."""
    upper = _on_the_line(event, question) or _renyi_or_none(event, question)
    if upper is None and (direct is None or direct.upper == math.inf):
        upper = _by_renyi(event, question)
    if has_fixed_size(event):
        return between(_lower(event, question, None), lowest_of([direct, upper]))
    return least_of([direct, upper, *_from_below(_compositions_or_none(event), question)])


def _of_many_ranges(event: Event, question: Question, method: Method | None) -> Interval | None:
    """With mechanisms of bounded range, however many, as they are; None if there are none."""
    played = chosen_adaptively(event, question, of_worst_soon) if method is None else None
    if played is None:
        return None
    found = _compositions_or_none(within(coarser(event, upward=False, most=_MOST_RESPONSES)))
    below = max(of_worst(found, question, "contour") if found else NO_LOWER, played, key=lambda end: end.lower)
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
    return two_outcomes.composed(event, question, of_worst_soon) if direct is None and method is None else direct


def _direct(event: Event, question: Question) -> Interval | None:
    """By the contour integral, to which several hundred different terms are not too many, if it takes them all."""
    with suppress(NotApplicable, NoSuchRule):
        if not has_fixed_size(event):
            return of_worst(map(_not_too_large, one_by_one(event)), question, "contour")
    return None


def _not_too_large(composition: Composition) -> Composition:
    if contour.amount(composition) > which_road.MOST_DIRECT:
        raise NotApplicable("too many different laws")
    return composition


def _exact(event: Event, question: Question, method: Method | None) -> Interval:
    if isinstance(question, EpsilonAt) and question.delta and method in {None, "closed form"}:
        known = closed_forms.noises(event, question.delta)
        if known is not None:
            return known
    rare = _of_rare_samples(event, question, method)
    if rare is not None:
        return rare
    try:
        found = compositions(event)
    except (NotApplicable, NoSuchRule) as reason:
        return _indirect(event, question, method, reason)
    if isinstance(question, EpsilonAt) and question.delta and method in {None, "contour"}:
        known = contour.alike(found, question.delta, question.width)
        if known is not None and not has_fixed_size(event):
            return known
    candidates = hopefuls(found, question) if method is None else found
    is_soon = method is None and len(candidates) > _MOST_WORST
    worst = honoured(of_worst(candidates, question, "contour" if is_soon else method), event, method)
    is_wide = method is None and not is_tight(worst, question)
    renyi_end = _renyi_or_none(event, question) if is_wide else None
    if has_fixed_size(event):
        return between(_lower(event, question, method), lowest_of([worst, renyi_end]))
    return least_of([worst, renyi_end, *_from_below(candidates, question)]) if is_wide else worst


def _indirect(event: Event, question: Question, method: Method | None, reason: Exception) -> Interval:
    """For events without a worst pair: the best of some upper bounds, and a mechanism within from below."""
    parts = dict.fromkeys(side_by_side(event) or splits(event))
    if 0 < len(parts) <= _MOST_PARTS:
        return worst_of([_answer(part, question, method) for part in parts])
    known = (alone(event, question) or two_outcomes.alone(event, question)) if method in {None, "closed form"} else None
    if known is not None:
        return known
    if method is not None:
        raise not_by(method, event)
    return _best_known(event, question, reason)


def _best_known(event: Event, question: Question, reason: Exception) -> Interval:
    """The nearest ends of all roads."""
    shared = _shared(event, question)
    if shared is not None and is_tight(shared, question):
        return shared
    long = in_the_long_run(event, question, _renyi_or_none, of_worst)
    if long is not None:
        return long
    chosen = _chosen(event, question)
    if chosen is not None and question.is_met(chosen, max(question.width, NEARLY)):
        return chosen
    ways = (
        _bounded(event, question),
        _renyi_or_none(event, question),
        _by_group(event, question),
        basic_sum(event, question, _anyhow),
        rarely_shown(event, question, _anyhow),
    )
    uppers = list(filter(None, (*ways, shared)))
    below = max(_lower(event, question, None, chosen), shared or NO_LOWER, key=lambda end: end.lower)
    if not uppers and below.lower < math.inf:
        raise refusal(type(event).__name__, reason)
    above = lowest_of(uppers or [below])
    found = between(below, above)
    if question.is_met(found, max(question.width, NEARLY)):
        return found
    below = max(below, steadily(event, question, _anyhow), key=lambda end: end.lower)
    if above.upper == math.inf:
        below = max([below, *_one_run(event, question, None)], key=lambda end: end.lower)
    return _with_chosen(chosen, below, above)


def _with_chosen(chosen: Interval | None, below: Interval, above: Interval) -> Interval:
    """The nearest ends, one of which may be that of a game."""
    if chosen is None or (chosen.lower <= below.lower and chosen.upper >= above.upper):
        return between(below, above)
    if chosen.lower > below.lower and chosen.upper < above.upper:
        return chosen
    return between(max(below, chosen, key=lambda end: end.lower), min(above, chosen, key=lambda end: end.upper))


def _shared(event: Event, question: Question) -> Interval | None:
    """Of rows that share samples, or meet parts: by lists of parts and, where these are wide, by a game of them."""
    shared = among_parts(event, question, _anyhow) or on_samples(event, question, _anyhow)
    if shared is not None and is_tight(shared, question):
        return shared
    known = [shared, chosen_as_it_goes(event, question, of_worst_soon, shared, _renyi_or_none)]
    if not any(one is not None and question.is_met(one, max(question.width, _CLOSE)) for one in known):
        known.append(covered(event, question, of_worst_soon))
    return least_of(known) if any(known) else None


def _chosen(event: Event, question: Question) -> Interval | None:
    """Games of ranges and of statements, on samples or not; where both can be played the nearest ends count."""
    ranges = chosen_adaptively(event, question, of_worst_soon)
    is_enough = ranges is not None and question.is_met(ranges, max(question.width, _ENOUGH))
    known = [ranges, None if is_enough else sampled_games.chosen(event, question, of_worst_soon)]
    return least_of(known) if any(known) else None


def _from_below(found: Iterable[Composition], question: Question) -> Iterator[Interval | None]:
    """Lower ends alone, of simpler noise and of a simple test."""
    for one in found:
        simpler = continuous(one)
        if simpler is not None:
            answer = of_one(simpler, question, None)
            yield Interval(answer.lower, math.inf, method=answer.method)
        yield told_apart(one, question)
        yield overlapping(one, question)
        yield noticed(one, question)


def _bounded(event: Event, question: Question) -> Interval | None:
    try:
        return of_worst(compositions(bounding(event)), question, None)
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


def _one_run(event: Event, question: Question, method: Method | None) -> Iterator[Interval]:
    """Of each of few terms, while all else reveals nothing: compositions need not reach the pairs of their terms."""
    inner, size = (event.event, event.size) if isinstance(event, Group) else (event, 1)
    try:
        terms = flatten(inner)
    except (NotApplicable, NoSuchRule):
        return
    if sum(terms.values()) > 1 and len(terms) <= _FEW_TERMS:
        for term in terms:
            with suppress(NotApplicable, NoSuchRule):
                yield _answer(term if size == 1 else Group(event=term, size=size), question, method)


def _lower(event: Event, question: Question, method: Method | None, chosen: Interval | None = None) -> Interval:
    try:
        found = of_worst(compositions(within(event)), question, method)
    except (NotApplicable, NoSuchRule):
        return NO_LOWER
    if has_fixed_size(event):
        found = max([found, *_one_run(event, question, method)], key=lambda one: one.lower)
    ranges = Ranges.of(event)
    if ranges is not None and not ranges.is_enough(chosen, question):
        skewed = ranges.largest(lambda pairs: of_worst(tuple(pairs), question, method).lower)
        if skewed > found.lower:
            found = Interval(skewed, math.inf, method=found.method)
    if isinstance(event, Group) and event.size > 1 and (least := group_lower(event, question, _anyhow)) > found.lower:
        return Interval(least, math.inf, method="rows of a group that are sampled together")
    return found
