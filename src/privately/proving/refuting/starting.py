"""Where climbing starts: neighbours that suit an event, beside those that suit every program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from privately.proving.paths.affine import Affine, Constraint, Symbol, terms_of
from privately.proving.paths.exploring import Path
from privately.proving.paths.linear import point
from privately.proving.refuting.changes import Pair, Vector, moved
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.templates import Template

FAR_APART = 16


def natural(layout: Layout, template: Template, paths: Sequence[Path], pairs: Sequence[Pair]) -> list[Pair]:
    """Inputs for which the first of these paths is taken without noise, and neighbours that make it least likely."""
    quiet: list[Constraint] = list(layout.known(0))
    slopes: dict[Symbol, Fraction] = dict.fromkeys(layout.names(0), Fraction(0))
    for one in paths[0].constraints:
        still: dict[Symbol, Fraction] = {
            symbol: factor for symbol, factor in one.form.terms.items() if isinstance(symbol, str)
        }
        if still:
            quiet.append(Constraint(Affine(one.form.constant, still), one.relation))
            for symbol, factor in still.items():
                slopes[symbol] += factor
    bases = [(Fraction(0),) * len(layout.names(0))]
    start = point(quiet)
    found: list[Pair] = []
    if start is not None and any(start.values()):
        base = tuple(start.get(name, Fraction(0)) for name in layout.names(0))
        base = tuple(Fraction(round(value)) for value in base) if layout.whole else base
        # Where only unlikely noise leads onto a path, neighbours differ most.
        bases += [
            tuple(-factor * value for value in base) for width in layout.widths[-1:] for factor in (width, 2 * width)
        ]
        bases.append(base)
        if all(one.neighborhood.distance is not None for one in layout.slices):
            found += [(bases[-1], moved(bases[-1], moved(gap, zero, -1))) for zero, gap in pairs]
    if all(one.neighborhood.distance is not None for one in layout.slices):
        found += [
            (base, moved(base, moved(gap, zero, -1))) for base in _apart(layout, template, paths) for zero, gap in pairs
        ]
    down = _downhill(layout, [slopes[name] for name in layout.names(0)])
    if down is not None:
        found += [(base, moved(base, down, sign)) for base in bases for sign in (1, -1)]
    return found


def _apart(layout: Layout, template: Template, paths: Sequence[Path]) -> Iterator[Vector]:
    """Where several paths can end in the event: the one entry around which its window lies, far from all others."""
    if len(paths) < 2:
        return
    for direction in template.directions:
        names = [name for name in layout.names(0) if name in terms_of(direction.centre)]
        if len(names) == 1 and len(layout.names(0)) > 1:
            for sign in (1, -1):
                far = sign * FAR_APART * max(layout.widths, default=Fraction(1))
                yield tuple(far if name == names[0] else Fraction(0) for name in layout.names(0))


def _downhill(layout: Layout, slopes: Sequence[Fraction]) -> Vector | None:
    """The gap that lowers all constraints most, if every entry may move on its own."""
    gaps: list[Fraction] = []
    for one in layout.slices:
        if one.neighborhood.change != "each" or one.neighborhood.distance is None:
            return None
        for place in range(one.length[0]):
            slope = slopes[one.start[0] + place]
            gaps.append(one.neighborhood.distance * ((slope < 0) - (slope > 0)))
    return tuple(gaps)
