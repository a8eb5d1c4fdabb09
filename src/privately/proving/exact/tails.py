"""Numbers with noise that has no end: sums of independent geometric variables, looked into only as far as is asked.

A geometric variable G with ratio r is k with probability (1 - r) r^k. A discrete Laplace draw is 0, or 1 + G, or
-1 - G. A state may hold such a sum as it is; when a program compares it and the answer is not the same for all its
values, the state is split: into G = 0 and G = 1 + another G, or, between two noises, by which of them stops first.
Whole parts split it by what is left of G after steps of some length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, lcm
from typing import Any, NoReturn

from privately.errors import NotSupported
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import NotFinite, outcomes, power_of_e
from privately.proving.exact.weights import ONE, Quotient, Weight, weight
from privately.proving.language.meaning import OpenNumber, ordered, shown, simple
from privately.proving.language.syntax import Value

ENDLESS = frozenset({"discrete_laplace", "discrete_exponential", "geometric"})

LONGEST = 2000
"""Values of tails that are looked at one by one, for one comparison."""

HIGHEST = 10_000
"""Powers of t in one weight."""

LONGEST_PERIOD = 200
"""Steps of a variable that are taken together."""


@dataclass(frozen=True, slots=True)
class Geometric:
    """One variable; variables of one state with different numbers are independent."""

    number: int
    ratio: Weight = field(hash=False)


class Undecided(Exception):
    """A comparison with 0 has different answers for different values of this sum."""

    def __init__(self, gap: Tail) -> None:
        super().__init__()
        self.gap = gap


class Uneven(Undecided):
    """A whole part depends on what is left of one variable after steps of this length."""

    def __init__(self, gap: Tail, one: Geometric, period: int) -> None:
        super().__init__(gap)
        self.one, self.period = one, period


@dataclass(frozen=True, slots=True, repr=False)
class Tail(OpenNumber):
    """constant + sum of factor * G, over at least one variable; == is for states, not for programs."""

    constant: Any
    factors: tuple[tuple[Geometric, Any], ...]

    def ordered(self) -> Tail:
        """It has a place among numbers, though it may take a split to say which."""
        return self

    def is_zero(self) -> bool:
        """Whether the whole sum is 0."""
        if (not self.falling and self.constant > 0) or (not self.rising and self.constant < 0):
            return False
        raise Undecided(self)

    @property
    def rising(self) -> list[Geometric]:
        """The variables that make it larger."""
        return [one for one, factor in self.factors if factor > 0]

    @property
    def falling(self) -> list[Geometric]:
        """And smaller."""
        return [one for one, factor in self.factors if factor < 0]

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Tail):
            return Tail(simple(self.constant + other), self.factors)
        return summed(self.constant + other.constant, (*self.factors, *other.factors))

    __radd__ = __add__

    def __neg__(self) -> Tail:
        return Tail(-self.constant, tuple((one, -factor) for one, factor in self.factors))

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Tail):
            _refuse("multiplies two noises")
        return summed(self.constant * other, tuple((one, factor * other) for one, factor in self.factors))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Tail):
            _refuse("divides by noise")
        return self * (1 / Fraction(other))

    def __rtruediv__(self, other: Any) -> NoReturn:
        _refuse("divides by noise")

    def __pow__(self, exponent: int) -> NoReturn:
        _refuse("raises noise to a power")

    def __floor__(self) -> Tail:
        for one, factor in self.factors:
            if factor.denominator != 1:
                raise Uneven(self, one, factor.denominator)
        return Tail(floor(self.constant), self.factors)

    def __int__(self) -> NoReturn:
        _refuse("uses noise where only some whole numbers will do")

    def __abs__(self) -> Tail:
        return self if self >= 0 else -self

    def __lt__(self, other: Any) -> bool:
        gap = self - other
        if not isinstance(gap, Tail):
            return bool(gap < 0)
        if not gap.falling and gap.constant >= 0:
            return False
        if not gap.rising and gap.constant < 0:
            return True
        raise Undecided(gap)

    def __gt__(self, other: Any) -> bool:
        return bool(-self < -other)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __repr__(self) -> str:
        return " + ".join([str(self.constant), *(f"{factor}*G{one.number}" for one, factor in self.factors)])

    def __str__(self) -> str:
        first, factor = self.constant, self.factors[0][1]
        if len(self.factors) > 1:
            return f"{first} and noise that other places tell"
        if abs(factor) == 1:
            return f"{first} or {'more' if factor > 0 else 'less'}"
        return f"{first}, {first + factor}, {first + 2 * factor}, ..."


def summed(constant: Any, factors: tuple[tuple[Geometric, Any], ...]) -> Any:
    """The sum with every variable once; a plain number if none is left."""
    whole: dict[Geometric, Any] = {}
    for one, factor in factors:
        whole[one] = whole.get(one, 0) + factor
    left = {one: simple(factor) for one, factor in whole.items() if factor}
    if not left:
        return simple(constant)
    return Tail(simple(constant), tuple(sorted(left.items(), key=lambda item: item[0].number)))


def drawn(law: str, given: tuple[Value, ...], unit: int, place: Between | None) -> list[tuple[Value, Weight]]:
    """The outcomes of any law that has exact weights; those without end as tails of a variable with number 0.

    Theorem: a discrete Laplace draw is 0 with probability (1-r)/(1+r), and with r/(1+r) each 1 + G and -1 - G, for a
        geometric G with ratio r = exp(-1/scale).
    Reference: Ghosh-Roughgarden-Sundararajan 2012, section 2
    Proof: docs/theory/programs.md#tails
    Checked-by: tests/proving/exact/test_tails.py::test_draws_have_the_laws_that_are_named
    """
    if any(isinstance(one, Tail) for one in given):
        _refuse("draws noise whose size is noise")
    if law not in ENDLESS:
        return outcomes(law, given, unit, place)
    if place is not None:
        raise NotFinite(f"{law} beside an open parameter.", hint="Give the parameter a value.")
    size = Fraction(ordered(given[0]))
    if size <= 0 or (law == "geometric" and size > 1):
        raise NotSupported(f"{law}({shown(given[0])}).", hint="Scales are positive, probabilities at most 1.")
    ratio = weight(1 - size) if law == "geometric" else power_of_e(1 / size, unit)
    if not ratio:
        return [(0, ONE)]
    noise = Tail(0, ((Geometric(0, ratio), 1),))
    if law != "discrete_laplace":
        return [(noise, ONE)]
    side = ratio / (1 + ratio)
    return [(0, (1 - ratio) / (1 + ratio)), (noise + 1, side), (-noise - 1, side)]


def split(state: tuple[Value, ...], gap: Tail) -> list[tuple[tuple[Value, ...], Weight]]:
    """The state in parts, with their shares, that know more about the sign of the gap.

    Theorem: G is 0 with probability 1 - r, else 1 + another G. Of G and H, independent with ratios r and q, the smaller
        one M is geometric with ratio rq and independent of what is left: (0, 0), (0, 1 + H) or (1 + G, 0), with
        probabilities (1-r)(1-q), (1-r)q and r(1-q), each over 1 - rq. Some number of splits leaves no part whose
        comparison with 0 is open.
    Reference: Feller 1968, section XIII.9 (memoryless waiting times)
    Proof: docs/theory/programs.md#tails
    Checked-by: tests/proving/exact/test_tails.py::test_splitting_keeps_the_law_of_every_state
    """
    if not (gap.rising and gap.falling):
        one = gap.factors[0][0]
        later = Tail(1, ((one, 1),))
        return [(put(state, {one: 0}), 1 - one.ratio), (put(state, {one: later}), one.ratio)]
    uneven = _uneven(gap)
    if uneven is not None:
        return residues(state, *uneven)
    one, other = gap.rising[0], gap.falling[0]
    both = one.ratio * other.ratio
    least = Tail(0, ((Geometric(_unused(state), both), 1),))
    longer, later = least + Tail(1, ((one, 1),)), least + Tail(1, ((other, 1),))
    shares = (1 - one.ratio) * (1 - other.ratio), (1 - one.ratio) * other.ratio, one.ratio * (1 - other.ratio)
    places = {one: least, other: least}, {one: least, other: later}, {one: longer, other: least}
    return [(put(state, place), share / (1 - both)) for place, share in zip(places, shares, strict=True)]


def residues(state: tuple[Value, ...], one: Geometric, period: int) -> list[tuple[tuple[Value, ...], Weight]]:
    """The state in parts that know what is left of a variable after whole periods.

    Theorem: G = R + period * H, where R < period is k with probability (1-r) r^k / (1-r^period), and H is geometric
        with ratio r^period and independent of R.
    Reference: Feller 1968, section XIII.9 (memoryless waiting times)
    Proof: docs/theory/programs.md#tails
    Checked-by: tests/proving/exact/test_tails.py::test_residues_keep_the_law_of_every_state
    """
    if period > LONGEST_PERIOD:
        raise NotFinite(f"noise in steps that are only together again after {period} of them.")
    longer = Geometric(one.number, writable(one.ratio**period))
    share = (1 - one.ratio) / (1 - longer.ratio)
    return [(put(state, {one: Tail(left, ((longer, period),))}), share * one.ratio**left) for left in range(period)]


def common_step(steps: Iterable[Any]) -> Fraction:
    """The least number of which all of these are divisors."""
    sizes = [Fraction(one) for one in steps]
    below = lcm(*(one.denominator for one in sizes))
    return Fraction(lcm(*(int(one * below) for one in sizes)), below)


def _uneven(gap: Tail) -> tuple[Geometric, int] | None:
    """A variable that moves the gap by less than others do, and how often it has to, to do as much as they do."""
    step = common_step(abs(factor) for _, factor in gap.factors)
    periods = ((one, int(step / abs(factor))) for one, factor in gap.factors)
    return next((found for found in periods if found[1] > 1), None)


def writable(mass: Weight) -> Weight:
    """The weight, unless unrolling has made it too long."""
    if isinstance(mass, Quotient) and max(mass.numerator.degree(), mass.denominator.degree()) > HIGHEST:
        raise NotFinite("the probability of a value far out in a tail is too long to be written exactly.")
    return mass


def put(value: Any, places: Mapping[Geometric, Any]) -> Any:
    """The value with these in the places of variables, in lists too."""
    if isinstance(value, tuple):
        return tuple(put(one, places) for one in value)
    if not isinstance(value, Tail):
        return value
    constant = value.constant
    factors: list[tuple[Geometric, Any]] = []
    for one, factor in value.factors:
        new = places.get(one)
        if new is None:
            factors.append((one, factor))
        elif isinstance(new, Tail):
            constant += new.constant * factor
            factors += [(inner, times * factor) for inner, times in new.factors]
        else:
            constant += new * factor
    return summed(constant, tuple(factors))


def variables(value: Any) -> Iterator[Geometric]:
    """All variables of a value, in lists too, as they come."""
    if isinstance(value, tuple):
        for one in value:
            yield from variables(one)
    elif isinstance(value, Tail):
        for one, _ in value.factors:
            yield one


def fresh(value: Value, state: tuple[Value, ...]) -> Value:
    """A draw with a variable that the state does not have yet."""
    if not isinstance(value, Tail):
        return value
    number = _unused(state)
    return Tail(value.constant, tuple((Geometric(number, one.ratio), factor) for one, factor in value.factors))


def renamed(state: tuple[Value, ...]) -> tuple[Value, ...]:
    """The state with its variables numbered in the order in which they come, so that like states are equal."""
    order = {one: place for place, one in enumerate(dict.fromkeys(variables(state)))}
    if all(one.number == place for one, place in order.items()):
        return state
    names = {one: Tail(0, ((Geometric(place, one.ratio), 1),)) for one, place in order.items()}
    return tuple(put(state, names))


def _unused(state: tuple[Value, ...]) -> int:
    return max((one.number for one in variables(state)), default=-1) + 1


def _refuse(what: str) -> NoReturn:
    raise NotFinite(f"the program {what}, which has outcomes without end.")
