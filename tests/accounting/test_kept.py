"""Attributes that are computed once."""

from __future__ import annotations

from dataclasses import dataclass, field

from privately.accounting.kept import Kept


@dataclass(frozen=True)
class Counted:
    calls: list[int] = field(default_factory=list)

    @Kept
    def total(self) -> int:
        """How often it was asked."""
        self.calls.append(1)
        return len(self.calls)


def test_it_is_computed_once_for_each() -> None:
    one, other = Counted(), Counted()
    assert [one.total, one.total, other.total] == [1, 1, 1]
    assert (one.calls, other.calls) == ([1], [1])


def test_the_class_shows_what_computes_it() -> None:
    kept = Counted.__dict__["total"]
    assert vars(Counted)["total"] is Counted.total
    assert kept.func(Counted()) == 1
    assert kept.__doc__ == "How often it was asked."
