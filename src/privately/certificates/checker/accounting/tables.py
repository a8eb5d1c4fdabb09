"""What is run on one sample, laid out as a pair of laws: the sum of its losses on a lattice, from above."""

from collections.abc import Iterator
from typing import NamedTuple

from ..elementary import exponential
from ..intervals import Interval, enclose, whole
from ..rationals import Rational
from ..schema import Invalid
from ..work import Work
from .cells import Lattice, cells_of
from .numbers import BITS
from .pairs import Outcome, Pair, Profile
from .terms import Law, Terms, ordered

LAID = ("sampled mix", "sampled normal", "glued mix", "glued normal", "glued laplace")
"""Laws whose base is laid out."""


class Layout(NamedTuple):
    """How a base is laid out: like cells, for losses up to `top`, with room for probabilities as small as `small`."""

    step: Rational
    cells: int
    firsts: list[int]
    top: Rational
    small: Rational


def laid_out(terms: Terms, layouts: Iterator[Layout], *, removes: bool, work: Work) -> Terms:
    """The same laws with tables for bases; those inside of others first."""
    found: Terms = {}
    for law, times in ordered(terms):
        laid = _table(law, layouts, removes=removes, work=work) if law.name in LAID else law
        found[laid] = found.get(laid, 0) + times
    return found


def _table(law: Law, layouts: Iterator[Layout], *, removes: bool, work: Work) -> Law:
    if not law.is_sampled and any(inside.is_directed for inside in law.base()):
        raise Invalid("witness.method", "does not know a sample of fixed size of a Poisson sample")
    inside = laid_out(law.base(), layouts, removes=removes, work=work)
    layout = next(layouts, None)
    if layout is None:
        raise Invalid("witness.bases", "must be one for each sample of several laws")
    steps = sum(inside.values())
    lattice = Lattice(layout.step, layout.cells, epsilon=layout.top, delta=layout.small, steps=steps, work=work)
    pair = _as_pair(lattice, layout, inside, removes=removes)
    work.spend(20 * len(pair.outcomes))
    name = "sampled table" if law.is_sampled else "glued table"
    return Law(name, law.numbers[-1:], (pair, Profile(pair)))


def _as_pair(lattice: Lattice, layout: Layout, terms: Terms, *, removes: bool) -> Pair:
    """D(alpha) <= 1 - alpha F + the sum of (alpha - alpha_j) Q_j over alpha_j < alpha, up to the last loss.

    Taking Q from the smallest losses on until it is F, that holds for all alpha: from there on D does not rise.
    """
    cells = cells_of(terms, lattice, layout.firsts, removes=removes)
    unit, bits = 1 << lattice.places, max(BITS, lattice.bits)
    left = min(cells.finite, unit)
    rest = whole(1, bits)
    ratio, grown = (exponential(enclose(layout.step * Rational(place), bits)) for place in (1, cells.first))
    outcomes: list[Outcome] = []
    for mass in cells.masses:
        q = Interval(min(mass, left), min(mass, left), -lattice.places, bits)
        left -= min(mass, left)
        p = grown * q
        if q.high > 0:
            outcomes.append((p, q))
            rest -= p
        grown *= ratio
    infinite = Interval(max(rest.low, 0), max(rest.high, 0), rest.exponent, bits)
    hidden = unit - min(cells.finite, unit) + left
    return Pair(tuple(reversed(outcomes)), infinite, Interval(hidden, hidden, -lattice.places, bits))
