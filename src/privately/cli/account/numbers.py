"""Numbers as people type and read them; whatever is rounded is rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from privately.errors import InvalidParameter
from privately.rounding import Enclosure, End, Interval, decimal_text, rational

FEWEST, MOST = 7, 15
"""Digits of an end."""

_CERTAIN = 40
"""Above this epsilon, somebody's certainty has no digits that mean anything."""


@contextmanager
def options(names: Mapping[str, str]) -> Iterator[None]:
    """Complaints about these fields name the option that was typed."""
    try:
        yield
    except InvalidParameter as fault:
        if fault.field not in names:
            raise
        text = fault.message.removeprefix(f"{fault.field}: ")
        raise InvalidParameter(names[fault.field], text, hint=fault.hint) from None


def option(name: str) -> str:
    """How a parameter is written on the command line.

    >>> option("noise_multiplier")
    '--noise-multiplier'
    """
    return f"--{name.replace('_', '-')}"


def counted(text: str, name: str) -> int:
    """A whole number, such as 10000 or 1e4."""
    exact = rational(text, name)
    if exact.denominator != 1:
        raise InvalidParameter(name, f"{text} is not a whole number.")
    return int(exact)


def ends(interval: Interval) -> tuple[str, str]:
    """Both ends rounded outward, to the digits on which they agree and those that first differ.

    >>> ends(Interval(Fraction("6.18771144444"), Fraction("6.18771266666")))
    ('6.187711', '6.187713')
    >>> ends(Interval(1, 1))
    ('1', '1')
    """
    digits = _digits(interval)
    low = decimal_text(interval.lower, digits, ROUND_FLOOR)
    high = decimal_text(interval.upper, digits, ROUND_CEILING)
    return (low, high) if low == high else (_filled(low, high), _filled(high, low))


def sentence(interval: Interval) -> str:
    """Where the truth lies.

    >>> sentence(Interval(0, math.inf)), sentence(Interval(2, 2))
    ('is at least 0, and no upper end was found', 'is 2')
    """
    low, high = ends(interval)
    if low == high:
        return "is infinite" if interval.upper == math.inf else f"is {low}"
    if interval.upper == math.inf:
        return f"is at least {low}, and no upper end was found"
    return f"is between {low} and {high}"


def plain(interval: Interval) -> dict[str, float | None]:
    """For JSON: floats rounded outward, null for infinity."""
    return {"lower": _float(interval.lower, -math.inf), "upper": _float(interval.upper, math.inf)}


def right_guesses(epsilon: End, delta: End = 0) -> Fraction:
    """How often at most somebody is right who guesses between two equally likely neighbours: rounded up.

    The largest difference of two probabilities under (epsilon, delta)-DP is (e^epsilon - 1 + 2 delta)/(e^epsilon + 1),
    and a guess is right with half of one plus that.

    >>> float(right_guesses(0)), float(right_guesses(0, Fraction(1, 2)))
    (0.5, 0.75)
    """
    if epsilon > _CERTAIN or delta >= 1:
        return Fraction(1)
    even = Fraction((1 / ((-Enclosure.of(Fraction(epsilon))).exp() + 1)).clip(0, 1).interval().upper)
    return even + Fraction(delta) * (1 - even)


def per_hundred(certainty: Fraction) -> str:
    """A certainty of at least a half out of a hundred, with two digits of what is missing; rounded up.

    >>> per_hundred(Fraction(1, 2)), per_hundred(Fraction("0.99794321"))
    ('50', '99.8')
    >>> per_hundred(right_guesses(1))
    '73.2'
    """
    missing = 100 * (1 - certainty)
    if missing < Fraction(1, 10**6):
        return "100"
    places = max(1, 1 - math.floor(math.log10(missing)))
    return decimal_text(100 - Fraction(math.floor(missing * 10**places), 10**places), MOST, ROUND_CEILING)


def rounded(value: float, digits: int, *, upward: bool) -> str:
    """That many digits of a number, rounded as told.

    >>> rounded(3.14159, 3, upward=True), rounded(3.14159, 3, upward=False)
    ('3.15', '3.14')
    """
    return decimal_text(Fraction(value), digits, ROUND_CEILING if upward else ROUND_FLOOR)


def _digits(interval: Interval) -> int:
    low, high = interval.lower, interval.upper
    if isinstance(low, float) or isinstance(high, float) or high <= 0:
        return FEWEST
    if low == high:
        return MOST
    return min(MOST, max(FEWEST, 1 + math.floor(_log10(high)) - math.floor(_log10(high - low))))


def _filled(text: str, other: str) -> str:
    """With zeros at the end, to as many places as the other has."""
    digits, power = text.partition("e")[::2]
    if text == "0" or power != other.partition("e")[2] or "inf" in text + other:
        return text
    places, wanted = (len(one.partition("e")[0].partition(".")[2]) for one in (text, other))
    filled = digits + "." * (places == 0 < wanted) + "0" * (wanted - places)
    return f"{filled}e{power}" if power else filled


def _log10(value: Fraction) -> float:
    """Also where a float would not reach."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def _float(value: End, toward: float) -> float | None:
    if isinstance(value, float):
        return None
    near = float(value)
    beyond = Fraction(near) > value if toward < 0 else Fraction(near) < value
    return math.nextafter(near, toward) if beyond else near
