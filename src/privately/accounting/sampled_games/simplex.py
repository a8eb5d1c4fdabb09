"""Linear programs by the simplex method in floats: a search, whose results prove nothing and are checked elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from privately.accounting.elementary import Floats

_MOST_PIVOTS, _FIRST_PIVOTS, _ANEW = 200, 4000, 40
LEAST_PIVOT, TIED = 1e-11, 1e-9


@dataclass
class Simplex:
    """The largest costs @ u with u >= 0 and columns @ u = sides, from the basis on; it is kept for the next costs."""

    columns: Floats
    sides: Floats
    basis: list[int]
    inverse: Floats = field(init=False)
    amounts: Floats = field(init=False)
    age: int = field(init=False, default=0)
    is_new: bool = field(init=False, default=True)
    first: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.first = tuple(self.basis)
        self._factor()

    def prices(self, costs: Floats, scores: Floats | float, enough: float) -> Floats:
        """Of the rows, when no column gains more than `enough` for one unit of its score; or those reached by then."""
        barred: list[int] = []
        most, self.is_new = (_FIRST_PIVOTS if self.is_new else _MOST_PIVOTS), False
        for _ in range(most):
            prices: Floats = costs[self.basis] @ self.inverse
            gains = (costs - prices @ self.columns) * scores
            gains[barred] = -np.inf
            entering = int(np.argmax(gains))
            if gains[entering] <= enough:
                break
            if not self._enter(entering):
                barred.append(entering)  # only rounding may have it unbounded
        return costs[self.basis] @ self.inverse

    def _enter(self, entering: int) -> bool:
        change = self.inverse @ self.columns[:, entering]
        falls = change > LEAST_PIVOT * float(np.abs(change).max())
        if not falls.any():
            return False
        limits = np.where(falls, np.maximum(self.amounts, 0.0) / np.where(falls, change, 1.0), np.inf)
        least = float(limits.min())
        leaving = int(np.argmax(np.where(limits <= least * (1 + TIED), change, -np.inf)))
        row = self.inverse[leaving] / change[leaving]
        self.amounts = self.amounts - least * change
        self.amounts[leaving] = least
        self.inverse -= np.outer(change, row)
        self.inverse[leaving] = row
        self.basis[leaving] = entering
        self.age += 1
        if self.age >= _ANEW:
            self._factor()
        return True

    def _factor(self) -> None:
        try:
            inverse = np.linalg.inv(self.columns[:, self.basis])
        except np.linalg.LinAlgError:
            self.basis = list(self.first)
            inverse = np.linalg.inv(self.columns[:, self.basis])
        self.inverse = inverse.astype(np.float64)
        self.amounts = self.inverse @ self.sides
        self.age = 0
