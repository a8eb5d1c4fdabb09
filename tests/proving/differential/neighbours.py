"""Private inputs and their neighbours, from what docs/proving.md says of each annotation and from nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

CHANGES = ("each", "one", "monotone", "replaced", "added", "anything")


@dataclass(frozen=True)
class Private:
    """A private input: how neighbours differ in it, and by how much; a fixed length is that of bits(n)."""

    name: str
    change: str
    values: tuple[Fraction, ...]
    domain: str
    is_list: bool
    distance: Fraction | None = None
    length: int | None = None

    @property
    def annotation(self) -> str:
        """As a program writes it."""
        inside = self.domain if self.distance is None else f"{self.distance}, {self.domain}"
        return f"{self.change}({inside})"

    def sides(self, sizes: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        """All that can stand here for two neighbours, the same value too: another input may be what changes."""
        if not self.is_list:
            yield from ((one[0], other[0]) for one, other in self._lists(1))
            return
        for size in sizes if self.length is None else (self.length,):
            yield from self._lists(size)

    def _lists(self, size: int) -> Iterator[tuple[Any, Any]]:
        lists = list(product(self.values, repeat=size))
        yield from ((one, other) for one in lists for other in lists if self._near(one, other))
        if self.change == "added":
            for longer in product(self.values, repeat=size + 1):
                yield longer, longer
                for place in range(size + 1):
                    shorter = longer[:place] + longer[place + 1 :]
                    yield shorter, longer
                    yield longer, shorter

    def _near(self, one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> bool:
        moves = [second - first for first, second in zip(one, other, strict=True) if first != second]
        short = self.distance is None or all(abs(move) <= self.distance for move in moves)
        match self.change:
            case "added":
                return not moves
            case "one" | "replaced":
                return short and len(moves) <= 1
            case "monotone":
                return short and (all(move > 0 for move in moves) or all(move < 0 for move in moves))
            case _:
                return short


def neighbours(private: Sequence[Private], sizes: Sequence[int]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """All ordered pairs of different neighbours, each input by its own relation."""
    found: dict[Any, None] = {}
    for chosen in product(*(dict.fromkeys(one.sides(sizes)) for one in private)):
        sides = tuple(one for one, _ in chosen), tuple(other for _, other in chosen)
        if sides[0] != sides[1]:
            found[sides] = None
    names = [one.name for one in private]
    return [(dict(zip(names, one, strict=True)), dict(zip(names, other, strict=True))) for one, other in found]
