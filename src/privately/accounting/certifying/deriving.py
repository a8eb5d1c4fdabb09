"""Accounting with a certificate: an epsilon that an independent checker can derive again from the event alone."""

from __future__ import annotations

import math
from collections.abc import Sequence as Listing
from fractions import Fraction

from privately.accounting.certifying.bounds import Question, for_claim
from privately.accounting.certifying.cases import cases
from privately.accounting.certifying.roads import Bound, short
from privately.accounting.encoding import encode
from privately.accounting.events import (
    Event,
    FixedSizeSample,
    Group,
    Parallel,
    PoissonSample,
    Repeat,
    Sequence,
)
from privately.accounting.events.event import check_part
from privately.accounting.groups import gathered
from privately.accounting.roads import nearly_log
from privately.accounting.tiny_rates import has_tiny_rates
from privately.accounting.undisturbed import undisturbed
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ApproxDP, Derivation
from privately.guarantees.rules import (
    accounted,
    group,
    parallel_by_value,
    poisson_sampling,
    sampling_without_replacement,
    sequential,
    weaken,
)
from privately.rounding import Number, rational

_MOST_NESTED = 8
_SEVERAL = 4
_ROUNDS, _LESS = 8, Fraction(999, 1000)


def derive(event: Event, *, delta: Number) -> Derivation:
    """A Derivation of (epsilon, delta)-DP for everything that the event describes, ready for `certify`.

    Its epsilon is slightly above that of `epsilon(event, delta)`; above it by more, where a checker knows only a weaker
    bound. Where it knows none, NoSuchRule.

    >>> from privately import accounting as acc, certify, check
    >>> steps = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.01"), times=10_000)
    >>> certificate = certify(derive(steps, delta="1e-5"))
    >>> round(float(certificate.guarantee.parameters["epsilon"]), 4), check(certificate).rules
    (6.1877, ('accounted',))
    """
    check_part(event, "event")
    allowed = rational(delta, "delta", minimum=0, maximum=1)
    if allowed == 1:
        raise InvalidParameter("delta", "1 allows everything; ask for less.")
    if event.depth > _MOST_NESTED:
        raise NoSuchRule(premise=f"events nested more than {_MOST_NESTED} deep", wanted="a certificate")
    if has_tiny_rates(event):
        hint = "Describe them by a larger rate; it costs hardly more."
        raise NoSuchRule(premise="samples of rates below 1e-200", wanted="a certificate", hint=hint)
    with undisturbed():
        found = _best(event, allowed)
    if found is None:
        raise NoSuchRule(
            premise="these events at this delta",
            wanted="an epsilon that can be checked",
            hint="Allow a larger delta, if some mechanism can reveal everything or has no largest loss; or add noise, "
            "if epsilon is in the thousands.",
        )
    return found


def _best(event: Event, allowed: Fraction) -> Derivation | None:
    found = _accounted(event, allowed)
    if found is None:
        try:
            return _by_rules(event, allowed)
        except InvalidParameter:  # more than a guarantee can say
            return None
    other = _by_single_changes(event, allowed) if _has_group(event) else None
    return found if other is None else min(found, other, key=_epsilon)


def _epsilon(found: Derivation) -> Fraction:
    return Fraction(found.conclusion.parameters["epsilon"])


def _accounted(event: Event, allowed: Fraction) -> Derivation | None:
    """By the checker's own accounting of the whole event; None where it has none."""
    try:
        bounds = _bounds([Question.of(case, allowed) for case in cases(event)])
        epsilon = max((bound.epsilon for bound in bounds), default=Fraction(0))
        conclusion = ApproxDP(epsilon=short(epsilon), delta=allowed, neighbors=event.neighbors)
        return accounted(conclusion, event=encode(event), bounds=[bound.witness for bound in bounds])
    except (NoSuchRule, InvalidParameter):
        return None


def _bounds(questions: Listing[Question]) -> list[Bound]:
    """One for each; those that have a simple answer last, as they may not need a better one.

    Of many the largest is looked for first, so that most of the others need only what is quickly checked.
    """
    many = len(questions) > _SEVERAL

    def turn(place: int) -> tuple[bool, float]:
        rough = questions[place].rough if many else None
        return questions[place].simple is not None, -float(rough.epsilon) if rough else -math.inf

    found: dict[int, Bound] = {}
    for place in sorted(range(len(questions)), key=turn):
        enough = max((bound.epsilon for bound in found.values()), default=Fraction(-1))
        rough = questions[place].rough if many else None
        found[place] = rough if rough and rough.epsilon <= enough else questions[place].bound(enough)
    most = max((bound.epsilon for bound in found.values()), default=Fraction(0))
    return [for_claim(found[place], most) for place in range(len(questions))]


def _has_group(event: Event) -> bool:
    """Whether some group is known by its single changes only."""
    return any(law.name == "group" for case in cases(event) for law, _ in case.terms)


def _by_rules(event: Event, allowed: Fraction) -> Derivation | None:
    """Part by part, by the rules for guarantees: (epsilon, delta) of each, and their sums."""
    match gathered(event):
        case Group():
            return _by_single_changes(event, allowed)
        case Repeat(event=inner, times=times):
            found = _best(inner, allowed / times)
            return found and sequential(found, counts=[times])
        case Sequence(events=events):
            parts = [_best(part, allowed / len(events)) for part in events]
            known = [part for part in parts if part is not None]
            return sequential(*known) if len(known) == len(parts) else None
        case Parallel(events=events):
            parts = [_best(part, allowed) for part in events]
            known = [part for part in parts if part is not None]
            return parallel_by_value(*known) if len(known) == len(parts) else None
        case PoissonSample(event=inner, rate=rate) if allowed < rate:
            found = _best(inner, allowed / rate)
            return found and poisson_sampling(found, rate=rate)
        case FixedSizeSample(event=inner, size=size, population=population) if allowed * population < size:
            found = _best(inner, allowed * population / size)
            return found and sampling_without_replacement(found, sample=size, population=population)
    return None


def _by_single_changes(event: Event, allowed: Fraction) -> Derivation | None:
    """A group by what one change sees, at a delta so much smaller."""
    whole = gathered(event)
    if not isinstance(whole, Group):
        return None
    delta = allowed / whole.size
    for _ in range(_ROUNDS):
        found = _best(whole.event, _shortened(delta))
        if found is None:
            return None
        try:
            derived = group(found, size=whole.size)
        except InvalidParameter:  # too large an epsilon
            return None
        reached = derived.conclusion.parameters["delta"]
        if reached <= allowed:
            return weaken(derived, to=ApproxDP(epsilon=_epsilon(derived), delta=allowed, neighbors=event.neighbors))
        delta *= allowed / reached * _LESS
    return None


def _shortened(delta: Fraction) -> Fraction:
    """Rounded down to a few digits."""
    if not delta:
        return delta
    places = max(math.ceil(-nearly_log(delta) / math.log(10)), 0) + 6
    return Fraction(math.floor(delta * 10**places), 10**places)
