"""How a claim (epsilon, delta) is checked for one list of laws and one direction, each from its witness."""

from collections.abc import Callable, Mapping
from typing import Any

from ..elementary import exponential, exponential_minus_one, logarithm
from ..intervals import Interval, enclose, whole
from ..normal import normal_tail
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid, array, integer, members, rational, show
from ..statements import require
from ..work import Work
from . import finite
from .cells import Lattice, delta_by_cells
from .contour import Line, profile
from .moments import Moments
from .numbers import BITS, ONE_INTERVAL, exp_above, log, lower, near, upper
from .pieces import pieces
from .profiles import profile as law_profile
from .sampled_normal import Grid
from .tables import Layout, laid_out
from .terms import Law, Terms, ordered

MOST_STEPS = 100_000
MOST_POINTS = 100_000
MOST_CELLS = 20_000
FARTHEST_CELL = 10**9
WITNESS_BITS = 128
EXACT_BITS = 20_000
FAR = Rational(141)  # 141^2/2 < 10,000
HALF = Rational(1, 2)

Witness = Mapping[str, Any]
_DIRECT = ("normal", "sampled normal", "sampled laplace", "sampled response", "glued response")
"""Laws whose moments are sums over points of their own."""


class Question:
    """One list of laws in one direction, and what is claimed of it."""

    def __init__(self, terms: Terms, epsilon: Rational, delta: Rational, *, removes: bool, work: Work) -> None:
        self.terms, self.epsilon, self.delta, self.removes, self.work = terms, epsilon, delta, removes, work

    @property
    def normal(self) -> Rational:
        """mu^2 of all normal laws together."""
        return self.work.total((law.number(0), times) for law, times in self.terms.items() if law.name == "normal")

    def only(self, *names: str) -> list[tuple[Law, int]]:
        """All laws, which must be of these names."""
        for law in self.terms:
            if law.name not in names:
                raise Invalid("witness.method", f"does not know what to do with a {law.name} law")
        return list(self.terms.items())

    def infinite(self) -> Interval:
        """The probability that some loss is infinite, 1 - product of (1 - d)^times, from above."""
        total = whole(0, BITS)
        for law, times in self.terms.items():
            mass = finite.infinite_mass(law, removes=self.removes)
            if mass == ONE:
                raise Invalid("conclusion.delta", "must be 1: some mechanism reveals everything")
            if not mass.is_zero():
                self.work.spend(100)
                total += logarithm(ONE - mass, BITS).times(times)
        return upper(-exponential_minus_one(total))

    def exact_infinite(self) -> Rational | None:
        """The same as a rational, if it is small enough to be written down."""
        masses = [(finite.infinite_mass(law, removes=self.removes), times) for law, times in self.terms.items()]
        if sum(mass.bit_size() * times for mass, times in masses if not mass.is_zero()) > EXACT_BITS:
            return None
        safe = ONE
        for mass, times in masses:
            if not mass.is_zero():
                rest = ONE - mass
                safe *= Rational(rest.numerator**times, rest.denominator**times)
        return ONE - safe

    def require_only_infinite(self) -> None:
        """Check delta where there is nothing else that it has to cover."""
        exact = self.exact_infinite()
        if exact is None:
            self.require(whole(0, BITS))
        else:
            require("conclusion.delta", self.delta, exact)

    def require(self, found: Interval) -> None:
        """Check that delta is at least what was found for finite losses, and the probability of infinite ones."""
        self.require_all(upper(found + self.infinite()))

    def require_all(self, needed: Interval) -> None:
        """Check that delta is at least what was found for all losses."""
        if not needed.at_most(self.delta):
            said = self.delta.text()
            raise Invalid("conclusion.delta", f"claims {said}, but the witness shows {needed.lower_end().text()} only")


def _closed_gaussian(question: Question, witness: Witness) -> None:
    """Normal laws alone: Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2), mu^2 at least their sum."""
    question.only("normal")
    mu: Rational = witness["mu"]
    require("witness.mu", mu * mu, question.normal)
    if mu.is_zero():
        return
    distance, half = question.epsilon / mu, mu * HALF
    if distance - half > FAR and not question.delta.is_zero():
        return  # the first term is below e^-9,900, and a delta above 0 of 4,096 bits is not
    question.work.spend(5_000)

    def bound(bits: int) -> Interval:
        inner = bits + 16
        mass = normal_tail(distance - half, inner)
        return mass - exponential(enclose(question.epsilon, inner)) * normal_tail(distance + half, inner)

    question.work.require_bound("conclusion.delta", question.delta, bound)


def _pure(question: Question, _: Witness) -> None:
    """No loss is above epsilon."""
    total = whole(0, BITS)
    exact = ZERO
    for law, times in question.terms.items():
        question.work.spend(100)
        if law.name in {"laplace", "range", "response"}:
            exact = question.work.total([(exact, 1), (law.number(0), times)])
        else:
            total += finite.largest_loss(law, removes=question.removes).times(times)
    if question.epsilon < exact or not total.at_most(question.epsilon - exact):
        raise Invalid("conclusion.epsilon", "is below the sum of the largest losses")
    question.require_only_infinite()


def _laplace(question: Question, _: Witness) -> None:
    """Laplace noise once: 1 - e^((epsilon - a)/2) for epsilon below a = 1/scale."""
    found = question.only("laplace")
    if len(found) != 1 or found[0][1] != 1:
        raise Invalid("witness.method", "is for Laplace noise once")
    gap = question.epsilon - found[0][0].number(0)
    question.require(-exponential_minus_one(near(gap * HALF)) if gap < ZERO else whole(0, BITS))


def _steps(question: Question, _: Witness) -> None:
    """One sampled normal law, T times: delta >= T D(epsilon/T), D the profile of one step."""
    found = question.only("sampled normal")
    if len(found) != 1:
        raise Invalid("witness.method", "is for one sampled normal law")
    law, times = found[0]
    question.work.spend(5_000)
    grown = exponential(near(question.epsilon / Rational(times)))
    question.require(upper(law_profile(law, grown, removes=question.removes)).times(times))


def _cells(question: Question, witness: Witness) -> None:
    """Losses on a lattice, above the true ones; infinite ones are among them."""
    steps = sum(question.terms.values())
    lattice = Lattice(
        witness["step"],
        witness["cells"],
        epsilon=question.epsilon,
        delta=question.delta,
        steps=steps,
        work=question.work,
    )
    question.require_all(delta_by_cells(question.terms, lattice, witness["firsts"], removes=question.removes))


def _unsampled(question: Question, witness: Witness) -> None:
    """A sample costs at most what it is a sample of: the inner witness is for the laws without their samples."""
    terms: Terms = {}
    for law, times in question.terms.items():
        for inside, runs in (law.base() if law.is_sampled else {law: 1}).items():
            terms[inside] = terms.get(inside, 0) + runs * times
    if any(law.is_directed for law in terms):
        raise Invalid("witness.method", "does not know samples of samples")
    _inside(Question(terms, question.epsilon, question.delta, removes=True, work=question.work), witness["bound"])


def _base(question: Question, witness: Witness) -> None:
    """One sample, once: D(alpha) = q D0((alpha - 1 + q)/q), or w D0(alpha q/w), w = 1 - alpha (1 - q), added.

    The inner witness is for what is sampled; D0 at a smaller epsilon is larger.
    """
    law, times = next(iter(question.terms.items()), (None, 0))
    if law is None or len(question.terms) != 1 or times != 1 or not law.name.startswith(("sampled", "glued")):
        raise Invalid("witness.method", "is for one sample, once")
    if not law.is_sampled and any(inside.is_directed for inside in law.base()):
        raise Invalid("witness.method", "does not know a sample of fixed size of a Poisson sample")
    grown, rate = exponential(near(question.epsilon)), near(law.rate)
    weight, ratio = law.rate, (grown - near(ONE - law.rate)) / rate
    if law.is_sampled and not question.removes:
        rest = ONE_INTERVAL - grown * near(ONE - law.rate)
        if rest.high <= 0:
            return
        weight, ratio = rest.upper_end(), grown * rate / upper(rest)
    if weight <= question.delta:
        return
    epsilon = max(log(lower(ratio)).lower_end(), ZERO)
    inner = Question(law.base(), epsilon, question.delta / weight, removes=question.removes, work=question.work)
    _inside(inner, witness["bound"])


def _mixed(question: Question, witness: Witness) -> None:
    """Samples of several laws as samples of a pair; the inner witness is for those."""
    layouts = iter(witness["bases"])
    terms = laid_out(question.terms, layouts, removes=question.removes, work=question.work)
    if next(layouts, None) is not None:
        raise Invalid("witness.bases", "must be one for each sample of several laws")
    inner = Question(terms, question.epsilon, question.delta, removes=question.removes, work=question.work)
    _inside(inner, witness["bound"])


def _smaller(question: Question, witness: Witness) -> None:
    """What holds at a smaller epsilon holds at this one."""
    epsilon: Rational = witness["epsilon"]
    require("conclusion.epsilon", question.epsilon, epsilon)
    inner = Question(question.terms, epsilon, question.delta, removes=question.removes, work=question.work)
    _inside(inner, witness["bound"])


def _inside(question: Question, witness: Witness) -> None:
    METHODS[witness["method"]][0](question, witness)


def _line(question: Question, witness: Witness) -> None:
    line = Line(witness["c"], witness["step"], witness["count"])
    grids: list[Grid] = witness["grids"]
    found = pieces(question.terms, line.c, line.reach, grids, removes=question.removes, work=question.work)
    normal = question.normal + witness["blur"]
    total = profile(line, found, normal, question.epsilon, question.work)
    for law, times in question.terms.items():
        total += finite.unlisted(law, removes=question.removes).times(times)
    question.require(total)


def _renyi(question: Question, witness: Witness) -> None:
    """delta >= e^(K - c epsilon) c^c/(c+1)^(c+1), K the sum of ln M(c), c = order - 1."""
    c = witness["order"] - ONE
    direct = {law: times for law, times in question.terms.items() if law.name in _DIRECT}
    others = [(law, times) for law, times in ordered(question.terms) if law.name not in _DIRECT]
    moments = Moments(question.work)
    total = near(question.normal * (c * c + c) * HALF)
    for law, times in others:
        total += moments.of(law, c, removes=question.removes).times(times)
    for piece, times in pieces(direct, c, ZERO, witness["grids"], removes=question.removes, work=question.work):
        total += upper(piece.log_mass()).times(times)
    order = c + ONE
    total += log(near(c)) * near(c) - log(near(order)) * near(order) - near(c * question.epsilon)
    question.require(exp_above(total))


def _number(value: object, field: str) -> Rational:
    number = rational(value, field)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > WITNESS_BITS:
        raise Invalid(field, f"has more than {WITNESS_BITS} bits")
    return number


def _above_zero(value: object, field: str) -> Rational:
    number = _number(value, field)
    if number <= ZERO:
        raise Invalid(field, "must be above 0")
    return number


def _not_negative(value: object, field: str) -> Rational:
    number = _number(value, field)
    if number < ZERO:
        raise Invalid(field, "is negative")
    return number


def _distance(value: object, field: str) -> Rational:
    """As long as the rationals of events may be."""
    number = rational(value, field)
    if number < ZERO:
        raise Invalid(field, "is negative")
    return number


def _order(value: object, field: str) -> Rational:
    number = _number(value, field)
    if number <= ONE:
        raise Invalid(field, "must be above 1")
    return number


def _count(value: object, field: str) -> int:
    if integer(value, field, least=1) > MOST_STEPS:
        raise Invalid(field, f"is above {MOST_STEPS}")
    return integer(value, field, least=1)


def _number_of_cells(value: object, field: str) -> int:
    if integer(value, field, least=2) > MOST_CELLS:
        raise Invalid(field, f"is above {MOST_CELLS}")
    return integer(value, field, least=2)


def _firsts(value: object, field: str) -> list[int]:
    listed = [integer(item, f"{field}[{i}]", least=-FARTHEST_CELL) for i, item in enumerate(array(value, field))]
    if any(first > FARTHEST_CELL for first in listed):
        raise Invalid(field, f"is above {FARTHEST_CELL}")
    return listed


def _inner(value: object, field: str) -> Witness:
    """Of a method that is about the laws themselves."""
    return read_witness(value, field, {name: METHODS[name] for name in METHODS if name not in _OUTER})


def _mixed_or_direct(value: object, field: str) -> Witness:
    """Also of one that lays samples out."""
    return read_witness(value, field, {name: METHODS[name] for name in METHODS if name not in _OUTER[:-1]})


def _any_other(value: object, field: str) -> Witness:
    return read_witness(value, field, {name: METHODS[name] for name in METHODS if name != "smaller"})


def _layouts(value: object, field: str) -> list[Layout]:
    return [_layout(item, f"{field}[{i}]") for i, item in enumerate(array(value, field))]


def _layout(value: object, field: str) -> Layout:
    raw = members(value, frozenset(Layout._fields), field)
    return Layout(
        step=_above_zero(raw["step"], f"{field}.step"),
        cells=_number_of_cells(raw["cells"], f"{field}.cells"),
        firsts=_firsts(raw["firsts"], f"{field}.firsts"),
        top=_above_zero(raw["top"], f"{field}.top"),
        small=_above_zero(raw["small"], f"{field}.small"),
    )


def _grids(value: object, field: str) -> list[Grid]:
    return [_grid(item, f"{field}[{i}]") for i, item in enumerate(array(value, field))]


def _grid(value: object, field: str) -> Grid:
    raw = members(value, frozenset(Grid._fields), field)
    first = integer(raw["first"], f"{field}.first", least=-MOST_POINTS)
    last = integer(raw["last"], f"{field}.last", least=-MOST_POINTS)
    if not 0 <= last - first <= MOST_POINTS:
        raise Invalid(f"{field}.last", "is out of range")
    return Grid(
        spacing=_above_zero(raw["spacing"], f"{field}.spacing"),
        first=first,
        last=last,
        strip=_above_zero(raw["strip"], f"{field}.strip"),
        height=_not_negative(raw["height"], f"{field}.height"),
    )


Method = tuple[Callable[[Question, Witness], None], Mapping[str, Callable[[object, str], Any]]]
METHODS: Mapping[str, Method] = {
    "gaussian": (_closed_gaussian, {"mu": _distance}),
    "pure": (_pure, {}),
    "laplace": (_laplace, {}),
    "steps": (_steps, {}),
    "contour": (
        _line,
        {"c": _above_zero, "step": _above_zero, "count": _count, "blur": _not_negative, "grids": _grids},
    ),
    "renyi": (_renyi, {"order": _order, "grids": _grids}),
    "cells": (_cells, {"step": _above_zero, "cells": _number_of_cells, "firsts": _firsts}),
    "unsampled": (_unsampled, {"bound": _inner}),
    "base": (_base, {"bound": _mixed_or_direct}),
    "smaller": (_smaller, {"epsilon": _distance, "bound": _any_other}),
    "mixed": (_mixed, {"bases": _layouts, "bound": _inner}),
}
_OUTER = ("smaller", "unsampled", "base", "mixed")


def read_witness(value: object, field: str, methods: Mapping[str, Method] = METHODS) -> Witness:
    """The witness of one list of laws in one direction."""
    method = value.get("method") if isinstance(value, dict) else None
    if not isinstance(method, str) or method not in methods:
        raise Invalid(f"{field}.method", f"is not a method: {show(method)}")
    readers = methods[method][1]
    raw = members(value, frozenset({"method", *readers}), field)
    return {"method": method, **{name: read(raw[name], f"{field}.{name}") for name, read in readers.items()}}


def answer(question: Question, witness: Witness, methods: Mapping[str, Method] = METHODS) -> None:
    """Check the claim by the method that the witness names."""
    methods[witness["method"]][0](question, witness)
