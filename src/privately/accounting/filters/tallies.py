"""Running totals in a currency, each within its limit: what filters and odometers have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

from privately.accounting.filters.currencies import Amounts, Currency, Priced
from privately.accounting.filters.sums import EXACT_BITS, shortened
from privately.errors import InvalidParameter
from privately.guarantees import Guarantee
from privately.rounding import MAX_BITS, rational, whole

_MOST_ENTRIES = 10**18


class Tally(NamedTuple):
    """What has been spent of each amount, never above its limit, and in how many entries.

    Totals are whole numbers of units, of which `scale` make one. Adding a cost that is a whole number of units too is
    adding integers, and as exact as adding fractions.
    """

    currency: Currency
    limits: Amounts
    units: tuple[int, ...]
    scales: tuple[int, ...]
    most: tuple[int, ...]
    entries: int = 0

    @classmethod
    def empty(cls, currency: Currency, limits: Amounts) -> Tally:
        """Nothing spent yet."""
        if any(max(limit.numerator.bit_length(), limit.denominator.bit_length()) > MAX_BITS for limit in limits):
            raise InvalidParameter("cap", "its numbers are too long to be added to; round them down.")
        return cls.of(currency, limits, (Fraction(0),) * len(limits))

    @classmethod
    def of(cls, currency: Currency, limits: Amounts, amounts: Amounts, entries: int = 0) -> Tally:
        """With these totals, which are within their limits."""
        units, scales = zip(*(amount.as_integer_ratio() for amount in amounts), strict=True)
        return cls._scaled(currency, limits, units, scales, entries)

    @classmethod
    def _scaled(
        cls, currency: Currency, limits: Amounts, units: Iterable[int], scales: Iterable[int], entries: int
    ) -> Tally:
        """At most so many units are within a limit: the whole ones, for a total is never anything else.

        A total in units that are too fine, as a limit's own may be, is never added to in them: it would be rounded
        or not according to the units, and so depend on more than the total.
        """
        kept = tuple(scales)
        most = tuple(
            limit.numerator * scale // limit.denominator if scale.bit_length() <= EXACT_BITS else -1
            for limit, scale in zip(limits, kept, strict=True)
        )
        return cls(currency, limits, tuple(units), kept, most, entries)

    @property
    def amounts(self) -> Amounts:
        """The totals."""
        return tuple(Fraction(units, scale) for units, scale in zip(self.units, self.scales, strict=True))

    def __eq__(self, other: object) -> bool:
        """Equal totals are equal, whatever the units they are counted in."""
        if not isinstance(other, Tally):
            return NotImplemented
        return self._compared() == other._compared()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[Currency, Amounts, Amounts, int]:
        return self.currency, self.limits, self.amounts, self.entries

    def plus(self, cost: Guarantee | Priced) -> Tally | None:
        """With one more entry, or None where a total would pass its limit. What fits exactly is never refused."""
        return self.plus_amounts(self.currency.price(cost))

    def plus_amounts(self, amounts: Amounts) -> Tally | None:
        """The same, for a cost that was priced in this currency before."""
        currency, limits, units, scales, most, entries = self
        if len(amounts) != len(units):
            raise InvalidParameter("amounts", "are not what price gives: one for each that is counted.")
        totals = []
        for at, amount in enumerate(amounts):  # once for every account of every charge
            above, below = amount.as_integer_ratio()
            total = units[at] + scales[at] // below * above
            if scales[at] % below or not units[at] <= total <= most[at]:
                return self._plus_slowly(amounts)
            totals.append(total)
        return Tally._make((currency, limits, tuple(totals), scales, most, entries + 1))

    def plus_times(self, amounts: Amounts, times: int) -> Tally | None:
        """After `times` entries of these amounts; None where a total would pass its limit, or needs finer units."""
        currency, limits, units, scales, most, entries = self
        totals = []
        for before, scale, limit, amount in zip(units, scales, most, amounts, strict=True):
            above, below = amount.as_integer_ratio()
            total = before + times * (scale // below * above)
            if scale % below or not before <= total <= limit:
                return None
            totals.append(total)
        return Tally._make((currency, limits, tuple(totals), scales, most, entries + times))

    def _plus_slowly(self, amounts: Amounts) -> Tally | None:
        """In finer units where they are not too fine, otherwise as fractions that are rounded up."""
        units, scales = [], []
        for before, scale, limit, amount in zip(self.units, self.scales, self.limits, amounts, strict=True):
            if amount < 0:
                raise InvalidParameter("amounts", "are never negative.")
            exact = Fraction(before, scale) + amount
            if exact > limit:
                return None
            finer = lcm(scale, amount.denominator)
            if finer.bit_length() <= EXACT_BITS:
                units.append(exact.numerator * (finer // exact.denominator))
                scales.append(finer)
            else:
                kept = min(shortened(exact), limit)
                units.append(kept.numerator)
                scales.append(kept.denominator)
        return Tally._scaled(self.currency, self.limits, units, scales, self.entries + 1)

    @property
    def rest(self) -> Amounts:
        """What is left of each amount."""
        return tuple(limit - total for limit, total in zip(self.limits, self.amounts, strict=True))

    def to_state(self) -> dict[str, Any]:
        """The totals as texts, and the number of entries."""
        return {"spent": [str(total) for total in self.amounts], "entries": self.entries}

    def restored(self, spent: object, entries: object) -> Tally:
        """The tally of the same currency and limits that had this state, or InvalidParameter."""
        if not isinstance(spent, Sequence) or not all(isinstance(total, str) for total in spent):
            raise InvalidParameter("spent", "is not a list of numbers as texts.")
        if len(spent) != len(self.limits):
            raise InvalidParameter("spent", f"holds {len(spent)} numbers, not {len(self.limits)}.")
        limited = zip(spent, self.limits, strict=True)
        amounts = tuple(rational(total, "spent", minimum=0, maximum=limit) for total, limit in limited)
        count = whole(entries, "entries", minimum=1 if any(amounts) else 0, maximum=_MOST_ENTRIES)
        return Tally.of(self.currency, self.limits, amounts, count)
