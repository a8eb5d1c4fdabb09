"""Tables of candidates, of which most agree in most columns: what depends on few columns is computed once for each of
the rows that differ there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from privately.proving.refuting.float_laws import Floats

MOST_KEPT = 20_000_000
"""Numbers that one evaluation keeps."""


class Evaluation:
    """A table of candidates, and what has been computed for it: things with one key have one value."""

    def __init__(self, candidates: Floats, within: tuple[Evaluation, NDArray[np.intp]] | None = None) -> None:
        self.candidates = candidates
        self.whole, self.picked = within or (self, np.arange(len(candidates)))
        self.kept: dict[object, Floats] = {}
        self.room = MOST_KEPT
        self.alike: dict[int, NDArray[np.intp]] = {}
        self.parts: dict[frozenset[int], tuple[Evaluation, NDArray[np.intp]]] = {}

    def __len__(self) -> int:
        return len(self.candidates)

    def once(self, key: object, compute: Callable[[], Floats]) -> Floats:
        """What was computed under this key, or what is computed now."""
        found = self.kept.get(key)
        if found is None:
            found = compute()
            self.whole.room -= found.size
            if self.whole.room > 0:
                self.kept[key] = found
        return found

    def of_columns(self, key: object, columns: frozenset[int], compute: Callable[[Evaluation], Floats]) -> Floats:
        """The same, of what depends on these columns alone: it is computed for the rows that differ in them."""
        part, which = self.whole.part(columns)
        found = part.once(key, lambda: compute(part))
        if part is self:
            return found
        if len(part) == 1:
            return np.broadcast_to(found, (len(self), *found.shape[1:]))
        return np.asarray(found[which[self.picked]])

    def part(self, columns: frozenset[int]) -> tuple[Evaluation, NDArray[np.intp]]:
        """A table of the rows that differ in these columns, and for each row which of them it is like."""
        if columns not in self.parts:
            alike = np.zeros(len(self), dtype=np.intp)
            for column in sorted(columns):
                alike = np.unique(alike * len(self) + self.column(column), return_inverse=True)[1]
            _, first = np.unique(alike, return_index=True)
            part = self if len(first) == len(self) else Evaluation(self.candidates[first], (self, first))
            self.parts[columns] = part, self.picked if part is self else alike
        return self.parts[columns]

    def column(self, column: int) -> NDArray[np.intp]:
        """A number for each row, the same where this column is."""
        if column not in self.alike:
            self.alike[column] = np.unique(self.candidates[:, column], return_inverse=True)[1]
        return self.alike[column]
