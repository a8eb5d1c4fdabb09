"""One law as the bounds need it: ln M(c), M along the line, and how little is left of it far out."""

from typing import Protocol

from ..intervals import Interval
from ..rationals import Rational
from ..schema import Invalid
from ..work import Work
from . import finite
from .laplace import Laplace
from .numbers import ONE_INTERVAL, log, upper
from .points import Points, Turns, total_weight, turns
from .sampled_normal import Grid, SampledNormal
from .terms import Terms, ordered

FINITE = ("response", "range", "table", "discrete normal", "discrete laplace", "sampled laplace")
"""Laws, and samples of them, that are points."""


class Piece(Protocol):
    """A law with a pair, on the line Re z = c."""

    def log_mass(self) -> Interval: ...
    def turns(self, step: Rational, count: int, work: Work) -> Turns: ...
    def remains(self, frequency: Rational) -> Interval: ...


class FinitePiece:
    """Finitely many losses: it may not fall at all."""

    def __init__(self, points: Points) -> None:
        self.points = points

    def log_mass(self) -> Interval:
        return upper(log(total_weight(self.points)))

    def turns(self, step: Rational, count: int, work: Work) -> Turns:
        return turns(self.points, step, count, work)

    def remains(self, frequency: Rational) -> Interval:  # noqa: ARG002 - the same everywhere
        return ONE_INTERVAL


class SampledPiece:
    """Normal noise on a sample."""

    def __init__(self, law: SampledNormal) -> None:
        self.law = law

    def log_mass(self) -> Interval:
        return self.law.log_mass()

    def turns(self, step: Rational, count: int, work: Work) -> Turns:
        return turns(self.law.points(), step, count, work)

    def remains(self, frequency: Rational) -> Interval:
        return self.law.remains(frequency)


def pieces(
    terms: Terms, c: Rational, reach: Rational, grids: list[Grid], *, removes: bool, work: Work
) -> list[tuple[Piece, int]]:
    """All laws but normal ones; a grid for each sampled normal one, in order."""
    found: list[tuple[Piece, int]] = []
    rest = list(grids)
    for law, times in ordered(terms):
        work.spend(1000)
        if law.name == "sampled normal":
            if not rest:
                raise Invalid("witness.grids", "must be one for each sampled normal law")
            found.append((SampledPiece(SampledNormal(law, c, rest.pop(0), reach, removes=removes, work=work)), times))
        elif law.name == "laplace":
            found.append((Laplace(law.number(0), c), times))
        elif law.name.endswith(FINITE):
            work.spend(20_000 if law.name == "sampled laplace" else 200_000 if "discrete" in law.name else 0)
            found.append((FinitePiece(finite.points(law, c, removes=removes)), times))
        elif law.name != "normal":
            raise Invalid("witness.method", f"there is no pair for a {law.name} law; use Renyi divergences")
    if rest:
        raise Invalid("witness.grids", "must be one for each sampled normal law")
    return found
