"""How far a value can move between neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from math import isqrt
from typing import Any, Literal, get_args

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.neighbors import Neighbors
from privately.rounding import Enclosure, Number, decimal_text, rational, tidy, whole

Norm = Literal["L1", "L2", "Linf"]

LARGEST_SENSITIVITY = 10**30

_NORMS: tuple[Norm, ...] = get_args(Norm)  # from the largest to the smallest


@dataclass(frozen=True, init=False)
class Sensitivity:
    """Between neighbours the value changes by at most `value` in this norm. For a single number all norms agree.

    >>> print(Sensitivity(value=3))
    3 in L1, adding or removing one row
    >>> Sensitivity(value=3, norm="Linf").to("L1", dimension=4).value
    Fraction(12, 1)
    """

    value: Fraction
    norm: Norm
    neighbors: Neighbors

    def __init__(self, *, value: Number, norm: Norm = "L1", neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        exact = rational(value, "value", minimum=0, maximum=LARGEST_SENSITIVITY)
        object.__setattr__(self, "value", exact)
        object.__setattr__(self, "norm", _NORMS[_rank(norm)])
        if not isinstance(neighbors, Neighbors):
            raise InvalidParameter("neighbors", f"{neighbors!r} is not a Neighbors, such as Neighbors.REPLACE.")
        object.__setattr__(self, "neighbors", neighbors)

    def to(self, norm: Norm, *, dimension: int | None = None) -> Sensitivity:
        """The same in another norm. Towards a larger one it grows with the number of entries, the `dimension`.

        Theorem: Linf <= L2 <= L1; for d entries L1 <= d Linf, L1 <= sqrt(d) L2 and L2 <= sqrt(d) Linf.
        Reference: Cauchy-Schwarz
        Proof: docs/theory/mechanisms.md#norms
        Checked-by: tests/guarantees/test_sensitivity.py::test_norms_of_all_small_vectors
        """
        entries = None if dimension is None else whole(dimension, "dimension")
        steps = _rank(self.norm) - _rank(norm)
        if steps <= 0:
            return Sensitivity(value=self.value, norm=norm, neighbors=self.neighbors)
        if entries is None:
            raise InvalidParameter("dimension", f"say how many entries there are, to go from {self.norm} to {norm}.")
        growth = Fraction(entries) if steps == 2 else _root_up(entries)
        return Sensitivity(value=tidy(growth * self.value), norm=norm, neighbors=self.neighbors)

    def scaled(self, factor: Number) -> Sensitivity:
        """Of the value multiplied by `factor`."""
        exact = rational(factor, "factor", minimum=0)
        return Sensitivity(value=tidy(exact * self.value), norm=self.norm, neighbors=self.neighbors)

    def __str__(self) -> str:
        return f"{decimal_text(self.value, 10, ROUND_CEILING)} in {self.norm}, {self.neighbors}"


def bound_in(sensitivity: Sensitivity, norm: Norm, *, wanted: str) -> Fraction:
    """The bound that a rule needs, in its own norm or a smaller one; NoSuchRule where too little is known."""
    if not isinstance(sensitivity, Sensitivity):
        raise InvalidParameter("sensitivity", "give a Sensitivity, such as Sensitivity(value=1).")
    if _rank(sensitivity.norm) > _rank(norm):
        raise NoSuchRule(
            premise=f"a sensitivity of {sensitivity}",
            wanted=wanted,
            hint=f'Use .to("{norm}", dimension=...) with the number of entries, which is 1 for a single number.',
        )
    return sensitivity.value


def _rank(norm: Any) -> int:
    if not isinstance(norm, str) or norm not in _NORMS:
        raise InvalidParameter("norm", f"{norm!r} is not one of {', '.join(_NORMS)}.")
    return _NORMS.index(norm)


def _root_up(number: int) -> Fraction:
    root = isqrt(number)
    return Fraction(root) if root**2 == number else Enclosure.of(number).sqrt().claim()
