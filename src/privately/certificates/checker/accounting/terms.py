"""What has to be added up for an event: laws of the privacy loss, each so many times.

Some events are replaced by one that every mechanism of theirs belongs to and that costs more; the specification says
which. In a Parallel at the top every part is looked at; elsewhere the worst of its parts is a law of its own.
"""

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Any, NamedTuple

from ..elementary import exponential_minus_one
from ..intervals import enclose
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from ..work import Work
from .events import Event

HALF = Rational(1, 2)
TWO = Rational(2)
MOST_ALTERNATIVES = 100
MOST_LOSSES = Rational(1000)
MOST_GROWN = Rational(1000)
GROWN_BITS = 64
_GROWING = ("normal", "laplace", "range", "concentrated", "response")


class Law(NamedTuple):
    """One law by its exact parameters.

    normal           mu^2                        two normal laws of variance 1 at distance mu
    laplace          epsilon                     two Laplace laws of scale 1 at distance epsilon
    discrete normal  variance, sensitivity       discrete Gaussian noise on one whole number
    discrete laplace scale, sensitivity          discrete Laplace noise on whole numbers
    response         epsilon, categories, delta  randomized response that reveals everything with probability delta
    range            epsilon                     every mechanism of bounded range
    concentrated     rho                         every rho-zCDP mechanism
    renyi            order, bound, order, ...    every mechanism with these Renyi divergences
    sampled ..., glued ...      the same, rate   any of the first six in a Poisson sample, or in one of fixed size
    sampled mix, glued mix      rate             all of the laws `inner` on one sample
    worst                                        any one of several lists of laws
    group            size                        so many changes, each of which is within the laws `inner`
    """

    name: str
    numbers: tuple[tuple[int, int], ...]
    inner: tuple[Any, ...] = ()
    """Lists of laws with their numbers of times, in order."""

    def number(self, place: int) -> Rational:
        return Rational(*self.numbers[place])

    @property
    def rate(self) -> Rational:
        """Of a sample."""
        return Rational(*self.numbers[-1])

    @property
    def is_sampled(self) -> bool:
        """Whether it is a Poisson sample."""
        return self.name.startswith("sampled")

    @property
    def is_directed(self) -> bool:
        """Whether the two directions differ."""
        return self.is_sampled or (self.name == "worst" and any(map(is_directed, self.inner)))

    def base(self) -> "Terms":
        """What it is a sample or a group of."""
        if self.inner:
            return dict(self.inner[0])
        return {Law(self.name.split(" ", 1)[1], self.numbers[:-1]): 1}


Terms = dict[Law, int]


def is_directed(terms: Iterable[tuple[Law, int]]) -> bool:
    return any(law.is_directed for law, _ in terms)


def ordered(terms: Terms) -> list[tuple[Law, int]]:
    """In the order in which a witness speaks of them: by name, then by their numbers, then by what is inside.

    Tables of equal rates stay as they are.
    """
    return sorted(terms.items(), key=lambda term: _key(term[0]))


def _key(law: Law) -> tuple[Any, ...]:
    lists = () if law.name.endswith("table") else law.inner
    inside = [[(_key(one), times) for one, times in terms] for terms in lists]
    return law.name, [Rational(*pair) for pair in law.numbers], inside


def _enclosing(name: str, inside: list[Terms], *numbers: Rational) -> Law:
    return make_law(name, *numbers)._replace(inner=tuple(tuple(ordered(terms)) for terms in inside))


def make_law(name: str, *numbers: Rational) -> Law:
    reduced = []
    for number in numbers:
        common = gcd(number.numerator, number.denominator)
        reduced.append((number.numerator // common, number.denominator // common))
    return Law(name, tuple(reduced))


REVEALED = make_law("response", ZERO, TWO, ONE)


def alternatives(event: Event, work: Work) -> list[Terms]:
    """The laws of an event, once for each part of a Parallel at the top, or of one of which a Poisson sample is."""
    if event.kind == "PoissonSample":
        rate = event.numbers["rate"]
        inside = alternatives(event.parts[0], work)
        return _different([_sampled(terms, rate, work=work, poisson=True) for terms in inside], work)
    if event.kind == "Parallel":
        return _different([terms for part in event.parts for terms in alternatives(part, work)], work)
    return [flatten(event, work)]


def _different(listed: list[Terms], work: Work) -> list[Terms]:
    """In order, without those that another one covers."""
    found: list[Terms] = []
    for terms in listed:
        work.spend(20 * len(found))
        if not any(_covers(other, terms) for other in found):
            found = [*(other for other in found if not _covers(terms, other)), terms]
    if len(found) > MOST_ALTERNATIVES:
        raise Invalid("parameters.event", f"more than {MOST_ALTERNATIVES} different parts of a Parallel")
    return found


def _covers(one: Terms, other: Terms) -> bool:
    """Whether law by law, in order, none is less."""
    return len(one) == len(other) and all(
        few <= times and _is_at_least(law, less)
        for (law, times), (less, few) in zip(ordered(one), ordered(other), strict=True)
    )


def _is_at_least(law: Law, less: Law) -> bool:
    """Of one kind: its Poisson rate, and the first number of a law that grows with it; all else is equal."""
    if law.name != less.name or law.inner != less.inner:
        return False
    numbers, others = law.numbers, less.numbers
    if law.is_sampled:
        if law.rate < less.rate:
            return False
        numbers, others = numbers[:-1], others[:-1]
    if numbers == others:
        return True
    return (
        law.name.removeprefix("sampled ") in _GROWING
        and numbers[1:] == others[1:]
        and not law.number(0) < less.number(0)
    )


def flatten(event: Event, work: Work, size: Rational = ONE) -> Terms:
    """The laws of what `size` changes at once see of an event."""
    work.spend(20 + sum(number.bit_size() for number in event.numbers.values()) // 8)
    if event.kind in _LEAVES:
        law = _LEAVES[event.kind](event)
        if law is None:
            return {}
        return {law: size.numerator} if event.kind == "RandomizedResponse" else {_grouped(law, size): 1}
    if event.kind == "Sequence":
        return _together([(flatten(part, work, size), 1) for part in event.parts])
    if event.kind == "Repeat":
        return _together([(flatten(event.parts[0], work, size), event.whole("times"))])
    if event.kind == "Group":
        return flatten(event.parts[0], work, size * event.numbers["size"])
    if size != ONE:
        return _together([_grouped_often(law, times, size) for law, times in flatten(event, work).items()])
    if event.kind == "Parallel" or (event.kind == "PoissonSample" and event.parts[0].kind == "Parallel"):
        different = alternatives(event, work)
        return different[0] if len(different) == 1 else {_enclosing("worst", different): 1}
    rate = (
        event.numbers["rate"] if event.kind == "PoissonSample" else event.numbers["size"] / event.numbers["population"]
    )
    return _sampled(flatten(event.parts[0], work), rate, work=work, poisson=event.kind == "PoissonSample")


def _together(listed: list[tuple[Terms, int]]) -> Terms:
    total: Terms = {}
    for terms, runs in listed:
        for law, times in terms.items():
            if runs:
                total[law] = total.get(law, 0) + times * runs
    return total


def _normal(event: Event) -> Law | None:
    multiplier = event.numbers["noise_multiplier"]
    return REVEALED if multiplier.is_zero() else make_law("normal", ONE / (multiplier * multiplier))


def _gaussian(event: Event) -> Law | None:
    mu = event.numbers["mu"]
    return None if mu.is_zero() else make_law("normal", mu * mu)


def _laplace(event: Event) -> Law | None:
    scale = event.numbers["scale"]
    return REVEALED if scale.is_zero() else make_law("laplace", ONE / scale)


def _discrete_laplace(event: Event) -> Law | None:
    scale = event.numbers["scale"]
    return REVEALED if scale.is_zero() else _few_losses(scale, event.numbers["sensitivity"])


def _few_losses(scale: Rational, sensitivity: Rational) -> Law:
    """Discrete Laplace noise; where it has two losses, or more than are listed, as a response."""
    if sensitivity == ONE or sensitivity > MOST_LOSSES:
        return make_law("response", sensitivity / scale, TWO, ZERO)
    return make_law("discrete laplace", scale, sensitivity)


def _discrete_gaussian(event: Event) -> Law | None:
    variance, sensitivity = event.numbers["variance"], event.numbers["sensitivity"]
    return REVEALED if variance.is_zero() else make_law("discrete normal", variance, sensitivity)


def _response(epsilon: Rational, categories: Rational = TWO, delta: Rational = ZERO) -> Law | None:
    return None if epsilon.is_zero() and delta.is_zero() else make_law("response", epsilon, categories, delta)


def _positive(name: str, field: str) -> Callable[[Event], Law | None]:
    return lambda event: None if event.numbers[field].is_zero() else make_law(name, event.numbers[field])


def _renyi(event: Event) -> Law | None:
    if any(bound.is_zero() for _, bound in event.bounds):
        return None
    return make_law("renyi", *(number for pair in event.bounds for number in pair))


_LEAVES: Mapping[str, Callable[[Event], Law | None]] = {
    "Gaussian": _normal,
    "GaussianDP": _gaussian,
    "Laplace": _laplace,
    "DiscreteLaplace": _discrete_laplace,
    "DiscreteGaussian": _discrete_gaussian,
    "RandomizedResponse": lambda event: _response(event.numbers["epsilon"], event.numbers["categories"]),
    "Pure": lambda event: _response(event.numbers["epsilon"]),
    "Approx": lambda event: _response(event.numbers["epsilon"], delta=event.numbers["delta"]),
    "Exponential": _positive("range", "epsilon"),
    "ZCDP": _positive("concentrated", "rho"),
    "Renyi": _renyi,
}


def _grouped_often(law: Law, times: int, size: Rational) -> tuple[Terms, int]:
    """Of responses with more than two categories, so many more; they are nothing else than such."""
    if law.name == "response" and law.number(1) > TWO:
        return {law: times}, size.numerator
    return {_grouped(law, size): times}, 1


def _grouped(law: Law, size: Rational) -> Law:
    """What `size` changes at once see; of a response of two categories only that it is epsilon-DP."""
    if law == REVEALED or size == ONE:
        return law
    if law.name in {"normal", "concentrated"}:
        return make_law(law.name, law.number(0) * size * size)
    if law.name in {"laplace", "range"}:
        return make_law(law.name, law.number(0) * size)
    if law.name in {"discrete normal", "discrete laplace"}:
        wider = law.number(1) * size
        return (
            make_law(law.name, law.number(0), wider)
            if law.name == "discrete normal"
            else _few_losses(law.number(0), wider)
        )
    if law.name == "response" and law.number(2).is_zero():
        return _few_losses(ONE / law.number(0), size)
    if law.name == "response" and law.number(0) * size < MOST_GROWN:
        return make_law("response", law.number(0) * size, TWO, min(_growing(law, size), ONE))
    return _enclosing("group", [{law: 1}], size)


def _growing(law: Law, size: Rational) -> Rational:
    """delta (1 + e^epsilon + ... + e^((size-1) epsilon)), rounded up."""
    epsilon, delta = law.number(0), law.number(2)
    if epsilon.is_zero():
        return delta * size
    all_steps, one = (exponential_minus_one(enclose(epsilon * many, GROWN_BITS)) for many in (size, ONE))
    return (all_steps / one * enclose(delta, GROWN_BITS)).upper_end()


def _sampled(terms: Terms, rate: Rational, *, work: Work, poisson: bool) -> Terms:
    if rate == ONE:
        return terms
    if rate.is_zero() or not terms:
        return {}
    if REVEALED in terms:
        return {_on_sample(REVEALED, rate, poisson=poisson): 1}
    if all(law.name == "normal" for law in terms):
        total = work.total((law.number(0), times) for law, times in terms.items())
        return {_on_sample(make_law("normal", total), rate, poisson=poisson): 1}
    law, times = next(iter(terms.items()))
    if len(terms) == times == 1:
        if poisson and law.is_sampled:  # a Poisson sample of a Poisson sample is one at the product of the rates
            *numbers, before = map(law.number, range(len(law.numbers)))
            return {make_law(law.name, *numbers, before * rate)._replace(inner=law.inner): 1}
        if law.name in _SIMPLE:
            return {_on_sample(law, rate, poisson=poisson): 1}
    return {_enclosing("sampled mix" if poisson else "glued mix", [terms], rate): 1}


_SIMPLE = ("laplace", "discrete normal", "discrete laplace", "range", "response")


def _on_sample(law: Law, rate: Rational, *, poisson: bool) -> Law:
    numbers = (law.number(place) for place in range(len(law.numbers)))
    return make_law(f"{'sampled' if poisson else 'glued'} {law.name}", *numbers, rate)
