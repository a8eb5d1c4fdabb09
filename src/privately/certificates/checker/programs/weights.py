"""Probabilities as two things at once: an interval around the number, and its fingerprint in a large prime field.

All probabilities of a program are quotients of polynomials in t = e^(-1/unit) with rational coefficients. Intervals
say which of two is larger. Where they cannot, the two may be equal: then their fingerprints are, which are their values
for another t, a random element of a random prime field. Prime and element come from a hash of all that is claimed, so
nobody can choose them; two different quotients agree there with a chance below 2^-150. Even if they did, what is
accepted would be wrong by less than the width of the intervals.
"""

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ..elementary import exponential
from ..intervals import Interval, Undecided, enclose, whole
from ..rationals import Rational
from .exact import Beyond, Number, fraction, terms

_SMALL = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


class Weight(NamedTuple):
    """A probability above 0; or a share of one, which may be below 0."""

    interval: Interval
    mark: int


class Decay(NamedTuple):
    """top/bottom * t^power, a number between 0 and 1: by how much a geometric law falls from one value to the next."""

    top: int
    bottom: int
    power: int


class Field:
    """Arithmetic of weights."""

    def __init__(self, unit: int, seed: bytes, bits: int) -> None:
        self.unit = unit
        self.bits = bits
        self.prime, self.point = _drawn(seed)
        self.one = Weight(whole(1, bits), 1)
        self._shares: dict[Decay, tuple[Weight, Weight]] = {}
        self._two_sided: dict[Decay, tuple[Weight, Weight]] = {}
        self._rationals: dict[Number, Weight] = {}

    def plus(self, one: Weight, other: Weight) -> Weight:
        return Weight(one.interval + other.interval, (one.mark + other.mark) % self.prime)

    def times(self, one: Weight, other: Weight) -> Weight:
        return Weight(one.interval * other.interval, one.mark * other.mark % self.prime)

    def over(self, one: Weight, other: Weight) -> Weight:
        if not other.mark:
            raise Beyond("a probability of 0 is divided by")
        return Weight(one.interval / other.interval, one.mark * pow(other.mark, -1, self.prime) % self.prime)

    def negative(self, one: Weight) -> Weight:
        return Weight(-one.interval, -one.mark % self.prime)

    def minus(self, one: Weight, other: Weight) -> Weight:
        return self.plus(one, self.negative(other))

    def is_less(self, one: Weight, other: Weight) -> bool:
        """Whether one number is certainly below another; it must be certainly above it otherwise."""
        gap = other.interval - one.interval
        if gap.low <= 0 <= gap.high:
            raise Undecided("two numbers are too close to one another")
        return gap.low > 0

    def rational(self, value: Number) -> Weight:
        if value not in self._rationals:
            top, bottom = terms(value)
            if not bottom % self.prime:
                raise Beyond("a number has no fingerprint")
            mark = top * pow(bottom, -1, self.prime) % self.prime
            self._rationals[value] = Weight(enclose(Rational(top, bottom), self.bits), mark)
        return self._rationals[value]

    def power(self, exponent: int) -> Weight:
        """t^exponent."""
        interval = exponential(enclose(Rational(-exponent, self.unit), self.bits))
        return Weight(interval, pow(self.point, exponent, self.prime))

    def exponent(self, value: Number) -> int:
        """The k with e^-value = t^k."""
        top, bottom = terms(value)
        if top * self.unit % bottom:
            raise Beyond("an exponent is no multiple of 1/unit")
        return top * self.unit // bottom

    def shares(self, decay: Decay) -> tuple[Weight, Weight]:
        """The decay as a weight, and what it lacks of 1."""
        if decay not in self._shares:
            found = self.power(decay.power) if decay.power else self.one
            if (decay.top, decay.bottom) != (1, 1):
                found = self.times(found, self.rational(fraction(decay.top, decay.bottom)))
            rest = Weight(self.one.interval - found.interval, (1 - found.mark) % self.prime)
            self._shares[decay] = found, rest
        return self._shares[decay]

    def two_sided(self, decay: Decay) -> tuple[Weight, Weight]:
        """Of a law that falls so on both sides of 0: the weight of 0, and that of either side."""
        if decay not in self._two_sided:
            more, rest = self.shares(decay)
            both = self.plus(self.one, more)
            self._two_sided[decay] = self.over(rest, both), self.over(more, both)
        return self._two_sided[decay]


@lru_cache(maxsize=16)
def _drawn(seed: bytes) -> tuple[int, int]:
    """A prime of 256 bits and an element of its field, by a hash."""
    candidate = int.from_bytes(sha256(b"prime" + seed).digest(), "big") | 1 << 255 | 1
    while not _is_prime(candidate):
        candidate += 2
    return candidate, 2 + int.from_bytes(sha256(b"point" + seed).digest(), "big") % (candidate - 3)


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test, for bases that the number itself determines; wrong once in 4^64."""
    if any(not number % small for small in _SMALL):
        return False
    odd, twos = number - 1, 0
    while not odd % 2:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, odd, twos, base) for base in range(64))


def _passes(number: int, odd: int, twos: int, which: int) -> bool:
    digest = sha256(number.to_bytes(40, "big") + which.to_bytes(1, "big")).digest()
    power = pow(2 + int.from_bytes(digest, "big") % (number - 3), odd, number)
    if power in {1, number - 1}:
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
