"""Running totals in a currency, each within its limit: what filters and odometers have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.accounting.filters.currencies import Amounts, Currency, Priced
from privately.accounting.filters.sums import shortened
from privately.errors import InvalidParameter
from privately.guarantees import Guarantee
from privately.rounding import MAX_BITS, rational, whole

_MOST_ENTRIES = 10**18


@dataclass(frozen=True, slots=True)
class Tally:
    """What has been spent of each amount, never above its limit, and in how many entries."""

    currency: Currency
    limits: Amounts
    amounts: Amounts
    entries: int = 0

    @classmethod
    def empty(cls, currency: Currency, limits: Amounts) -> Tally:
        """Nothing spent yet."""
        if any(max(limit.numerator.bit_length(), limit.denominator.bit_length()) > MAX_BITS for limit in limits):
            raise InvalidParameter("cap", "its numbers are too long to be added to; round them down.")
        return cls(currency, limits, (Fraction(0),) * len(limits))

    def plus(self, cost: Guarantee | Priced) -> Tally | None:
        """With one more entry, or None where a total would pass its limit. What fits exactly is never refused."""
        return self.plus_amounts(self.currency.price(cost))

    def plus_amounts(self, amounts: Amounts) -> Tally | None:
        """The same, for a cost that was priced in this currency before."""
        totals = []
        for total, amount, limit in zip(self.amounts, amounts, self.limits, strict=True):
            exact = total + amount
            if exact > limit:
                return None
            totals.append(min(shortened(exact), limit))
        return Tally(self.currency, self.limits, tuple(totals), self.entries + 1)

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
        count = whole(entries, "entries", minimum=0, maximum=_MOST_ENTRIES)
        return Tally(self.currency, self.limits, amounts, count)
