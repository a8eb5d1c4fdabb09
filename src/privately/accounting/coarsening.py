"""Events of very many different terms: these are rounded until few are different, so that the cost stays bounded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Repeat,
    Sequence,
)
from privately.accounting.events.event import LEAST_NOISE, MOST_NOISE
from privately.accounting.roads import NotApplicable
from privately.accounting.terms import Terms, alternatives, count, is_short
from privately.errors import NoSuchRule
from privately.guarantees.curves import gaussian_within
from privately.rounding import LARGEST, round_down, round_up

MOST_DIFFERENT = 256
"""Events with at most so many different terms are taken as they are."""

MOST_RIGID = 512
"""So many that cannot be rounded are enough for Renyi divergences."""

_BITS = (12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7)
_DIGITS = 40
_ORDINARY = 25
"""Numbers between two to this power and its inverse are within all limits when they are rounded."""
_NORMAL = (Gaussian, GaussianDP)
"""All of them together are one law anyway."""
_ROUNDED = (*_NORMAL, Laplace, DiscreteLaplace, Pure, RandomizedResponse, Exponential, Approx)


def coarser(event: Event, *, upward: bool, most: int | None = None) -> Event:
    """An event of few different terms that costs at least as much, or at most; the event itself where it has few.

    At most `most`, if that is given, instead of few. Terms that no rounding is known for stay as they are;
    NotApplicable where these are too many themselves.

    Theorem: the profile of a composition grows with the strength of each of its terms; (epsilon, delta)-DP has the
        losses of epsilon-DP beside those of (0, delta)-DP; rho of zCDP add up, and normal noise of the same rho is
        within.
    Reference: Zhu-Dong-Wang 2022, Theorem 10; Kairouz-Oh-Viswanath 2015
    Proof: docs/theory/accounting/events.md#rounded-terms
    Checked-by: tests/accounting/test_coarsening.py::test_every_rounded_term_is_on_its_side,
        tests/accounting/test_coarsening.py::test_rounded_events_enclose_the_event
    """
    listed = _many(event)
    if listed is None:
        return event
    if sum(not _can_be_rounded(term) for terms in listed for term in _different(terms)) > MOST_DIFFERENT:
        raise NotApplicable("too many different terms that cannot be rounded")
    rounded = [_fewer(terms, (most or MOST_DIFFERENT) // len(listed), upward=upward) for terms in listed]
    parts = [_sequence(terms) for terms in rounded]
    return parts[0] if len(parts) == 1 else Parallel(events=parts)


def has_few(event: Event) -> bool:
    """Whether so few terms are different that none is rounded."""
    return _many(event) is None


def _many(event: Event) -> list[Terms] | None:
    """The terms of each alternative, if more of one's are different than are taken as they are."""
    listed = _long(event)
    return listed if any(sum(1 for _ in _different(terms)) > MOST_DIFFERENT for terms in listed) else None


def _long(event: Event) -> list[Terms]:
    """The terms of each alternative; none where they are few, or cannot be listed."""
    if event.nodes <= MOST_DIFFERENT or is_short(event, MOST_DIFFERENT):
        return []
    try:
        return alternatives(event)
    except NoSuchRule:
        return []


def _different(terms: Terms) -> Iterator[Event]:
    return (term for term in terms if not isinstance(term, _NORMAL))


def concentrated(event: Event) -> Event:
    """For Renyi divergences: what is normal as one zCDP term, which costs at least as much, and the rest rounded up.

    Theorem: normal and discrete normal noise have divergences within those of rho-zCDP, and the rho add up.
    Reference: Bun-Steinke 2016, Lemma 1.7 and Proposition 1.6; Canonne-Kamath-Steinke 2020, Theorem 4
    Proof: docs/theory/accounting/events.md#rounded-terms
    Checked-by: tests/accounting/test_coarsening.py::test_normal_terms_become_one
    """
    listed = _long(event)
    if len(listed) != 1 or len(listed[0]) <= MOST_DIFFERENT:
        return event
    rho, others = Fraction(0), {}
    for term, times in listed[0].items():
        found = _rho(term)
        if found is None:
            others[term] = times
        else:
            rho += round_up(times * found, _DIGITS)
    if sum(not _can_be_rounded(term) for term in others) > MOST_RIGID:
        raise NotApplicable("too many different terms that cannot be rounded")
    terms = _fewer(others, MOST_DIFFERENT, upward=True)
    return _sequence({**terms, ZCDP(rho=rho, neighbors=event.neighbors): 1} if rho else terms)


def _rho(term: Event) -> Fraction | None:
    match term:
        case Gaussian(noise_multiplier=multiplier) if multiplier:
            return 1 / (2 * multiplier**2)
        case GaussianDP(mu=mu):
            return mu**2 / 2
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity) if variance:
            return sensitivity**2 / (2 * variance)
        case ZCDP(rho=rho):
            return rho
    return None


def _sequence(terms: Mapping[Event, int]) -> Event:
    listed = terms.items()
    return Sequence(events=[term if times == 1 else Repeat(event=term, times=times) for term, times in listed])


def _can_be_rounded(term: Event) -> bool:
    inner = term.event if isinstance(term, (PoissonSample, FixedSizeSample)) else term
    return isinstance(inner, _ROUNDED) or (inner is term and isinstance(term, ZCDP))


def _fewer(terms: Terms, most: int, *, upward: bool) -> Terms:
    """Rounded to fewer and fewer bits; as the grids are nested, step by step comes to the same as at once."""
    kept: dict[Event, int] = {}
    moving: dict[Event, int] = {}
    rho, rounded_off = Fraction(0), round_up if upward else round_down
    for term, times in terms.items():
        match term:
            case ZCDP():
                rho += rounded_off(times * term.rho, _DIGITS)
            case _ if isinstance(term, _NORMAL):
                kept[term] = times
            case Approx(epsilon=epsilon, delta=delta) if epsilon and delta < 1:
                count(moving, Pure(epsilon=epsilon, neighbors=term.neighbors), times)
                count(moving, Approx(epsilon=0, delta=delta, neighbors=term.neighbors), times)
            case _:
                count(moving if _can_be_rounded(term) else kept, term, times)
    if rho:
        neighbors = next(iter(terms)).neighbors
        mechanism = GaussianDP(mu=gaussian_within(rho), neighbors=neighbors)
        count(kept, ZCDP(rho=rho, neighbors=neighbors) if upward else mechanism, 1)
    most = max(most - sum(not isinstance(term, _NORMAL) for term in kept), most // 8)
    for bits in _BITS[_start(moving, most, upward=upward) :]:
        if len(moving) <= most:
            break
        moving = all_rounded(moving, bits, upward=upward)
    return {**kept, **moving}


def _start(terms: Mapping[Event, int], most: int, *, upward: bool) -> int:
    """The first of all numbers of bits at which at most so many places are left, or the last that is not below 0."""

    def is_enough(step: int) -> bool:
        return len({_place(term, _BITS[step], upward=upward) for term in terms}) <= most

    return bisect_left(range(_BITS.index(0)), True, key=is_enough) if len(terms) > most else 0


def all_rounded(terms: Mapping[Event, int], bits: int, *, upward: bool) -> dict[Event, int]:
    """Every term rounded; those that come to lie at the same place only once, as it takes long."""
    known: dict[tuple[object, ...], Event] = {}
    found: dict[Event, int] = {}
    for term, times in terms.items():
        place = _place(term, bits, upward=upward)
        if place not in known:
            known[place] = rounded_term(term, bits, upward=upward)
        count(found, known[place], times)
    return found


def _place(term: Event, bits: int, *, upward: bool) -> tuple[object, ...]:
    """What all terms have in common that are rounded to the same one."""

    def more(value: Fraction) -> object:
        return _whole(value, bits, ceil if upward else floor)

    def less(value: Fraction) -> object:
        return _whole(value, bits, floor if upward else ceil)

    match term:
        case PoissonSample(event=inner) | FixedSizeSample(event=inner):
            drawn = (more(term.rate),) if isinstance(term, PoissonSample) else (term.size, term.population)
            return *drawn, *_place(inner, bits, upward=upward)
        case Gaussian(noise_multiplier=multiplier):
            return Gaussian, less(multiplier)
        case Laplace(scale=scale):
            return Laplace, less(scale)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplace, sensitivity, less(scale)
        case Pure(epsilon=epsilon) | Exponential(epsilon=epsilon):
            return type(term), more(epsilon)
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            return RandomizedResponse, categories, more(epsilon)
        case GaussianDP(mu=mu):
            return GaussianDP, more(mu)
    return (term,)


def _whole(value: Fraction, bits: int, towards: Callable[[Fraction], int]) -> object:
    """What tells multiples of the grid apart, as whole numbers; where they may be out of range, the number itself."""
    above, below = value.as_integer_ratio()
    exponent = above.bit_length() - below.bit_length()
    if bits < 0 or above <= 0 or abs(exponent) > _ORDINARY:
        return value
    if (above << -exponent if exponent < 0 else above) < (below << exponent if exponent > 0 else below):
        exponent -= 1
    shift = bits - exponent
    above, below = (above << shift, below) if shift > 0 else (above, below << -shift)
    multiple = above // below if towards is floor else -(-above // below)
    return (exponent + 1, multiple >> 1) if multiple >> bits + 1 else (exponent, multiple)


def rounded_term(term: Event, bits: int, *, upward: bool) -> Event:
    """A term of the same family that is at least as strong, or at most."""

    def more(value: Fraction) -> Fraction:
        found = on_grid(value, bits, ceil if upward else floor)
        return found if found <= LARGEST else value

    def less(value: Fraction) -> Fraction:
        found = on_grid(value, bits, floor if upward else ceil)
        return found if LEAST_NOISE <= found <= MOST_NOISE else value

    match term:
        case PoissonSample(event=inner, rate=rate):
            return PoissonSample(event=rounded_term(inner, bits, upward=upward), rate=min(more(rate), Fraction(1)))
        case FixedSizeSample(event=inner):
            return replace(term, event=rounded_term(inner, bits, upward=upward))
        case Gaussian(noise_multiplier=multiplier):
            return replace(term, noise_multiplier=less(multiplier))
        case Laplace(scale=scale) | DiscreteLaplace(scale=scale):
            return replace(term, scale=less(scale))
        case Pure(epsilon=epsilon) | RandomizedResponse(epsilon=epsilon) | Exponential(epsilon=epsilon):
            return replace(term, epsilon=more(epsilon))
        case Approx(epsilon=epsilon, delta=delta):
            return replace(term, epsilon=more(epsilon), delta=min(more(delta), Fraction(1)))
        case GaussianDP(mu=mu):
            return replace(term, mu=more(mu))
    return term


def on_grid(value: Fraction, bits: int, towards: Callable[[Fraction], int]) -> Fraction:
    """A number of so many bits after the first one; of fewer than none: a power of 2^(2^-bits), a multiple of it."""
    if value <= 0:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    if bits >= 0:
        unit = Fraction(2) ** (exponent - bits)
        return towards(value / unit) * unit
    stride = 1 << -bits
    low = Fraction(2) ** (exponent // stride * stride)
    return low if value == low or towards is floor else low * (1 << stride)
