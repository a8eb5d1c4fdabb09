"""A bound on the work that one certificate can ask for, and the decisions that cost most of it."""

from collections.abc import Callable, Iterable

from .elementary import OutOfReach
from .intervals import Interval, Undecided
from .rationals import ONE, ZERO, Rational
from .schema import Invalid

# About a microsecond each. Honest certificates of a thousand nodes need well below a million.
UNITS = 30_000_000
FEWEST_BITS = 128
MOST_BITS = 8_192


class Work:
    """What is left of the work that a certificate may ask for."""

    __slots__ = ("left",)

    def __init__(self, units: int = UNITS) -> None:
        self.left = units

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise Invalid("rule", "the certificate asks for more work than a checker does; split it")

    def total(self, terms: Iterable[tuple[Rational, int]]) -> Rational:
        """The exact sum of number * count."""
        by_denominator: dict[int, int] = {}
        for number, count in terms:
            bottom = number.denominator
            by_denominator[bottom] = by_denominator.get(bottom, 0) + number.numerator * count
        result = ZERO
        for bottom, top in by_denominator.items():
            self.spend(1 + (result.bit_size() * bottom.bit_length() >> 18))
            result += Rational(top, bottom)
        return result

    def require_bound(self, field: str, claimed: Rational, bound: Callable[[int], Interval]) -> None:
        """Check that a claimed number is at least a bound that can be enclosed as narrowly as one likes."""
        self._compare(field, claimed.text(), claimed, bound)

    def require_ratio(self, field: str, claimed: Rational, ratio: Callable[[int], Interval]) -> None:
        """Check a claimed number by a ratio that must not exceed 1, such as needed over claimed."""
        self._compare(field, claimed.text(), ONE, ratio)

    def _compare(self, field: str, said: str, limit: Rational, bound: Callable[[int], Interval]) -> None:
        """Double the bits until it is certain on which side of the limit the bound is.

        Where the enclosure is narrow (1e-72) and still holds the limit, the claim is refused.
        """
        bits = FEWEST_BITS
        while bits <= MOST_BITS:
            self.spend(bits * bits >> 8)
            try:
                enclosure = bound(bits)
            except OutOfReach as error:
                raise Invalid(field, f"cannot be checked: {error}") from None
            except Undecided:
                bits *= 2
                continue
            if enclosure.at_most(limit):
                return
            if enclosure.above(limit):
                needed = "" if limit is ONE else f": the rule gives {enclosure.lower_end().text()}"
                raise Invalid(field, f"claims {said}, which is too small{needed}")
            if enclosure.is_narrow():
                break
            bits *= 2
        raise Invalid(field, f"claims {said}, which is too close to the bound to be certain")
