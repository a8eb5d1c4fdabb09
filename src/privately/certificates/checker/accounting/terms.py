"""What has to be added up for an event: laws of the privacy loss, each so many times.

Some events are replaced by one that every mechanism of theirs belongs to and that costs more; the specification says
which. In a Parallel at the top every part is looked at; elsewhere all its parts must be the same.
"""

from collections.abc import Callable, Mapping
from math import gcd
from typing import NamedTuple

from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from ..work import Work
from .events import Event

HALF = Rational(1, 2)
TWO = Rational(2)
MOST_ALTERNATIVES = 100


class Law(NamedTuple):
    """One law by its exact parameters.

    normal          mu^2                        two normal laws of variance 1 at distance mu
    laplace         epsilon                     two Laplace laws of scale 1 at distance epsilon
    response        epsilon, categories, delta  randomized response that reveals everything with probability delta
    sampled normal, sampled laplace, sampled response
                                                the same with the rate, last, under Poisson sampling
    glued response                              the same with the rate, last, in a sample of fixed size
    range           epsilon                     every mechanism of bounded range
    concentrated    rho                         every rho-zCDP mechanism
    renyi           order, bound, order, ...    every mechanism with these Renyi divergences
    """

    name: str
    numbers: tuple[tuple[int, int], ...]

    def number(self, place: int) -> Rational:
        return Rational(*self.numbers[place])

    @property
    def is_sampled(self) -> bool:
        """Whether the two directions differ."""
        return self.name.startswith("sampled")

    def unsampled(self) -> "Law":
        """What it is a Poisson sample of."""
        return Law(self.name.removeprefix("sampled "), self.numbers[:-1]) if self.is_sampled else self

    def as_response(self) -> "Law":
        """A sampled Laplace law as the sampled response that costs more; any other one as it is."""
        if self.name != "sampled laplace":
            return self
        epsilon, rate = self.numbers
        return Law("sampled response", (epsilon, (2, 1), (0, 1), rate))


Terms = dict[Law, int]


def make_law(name: str, *numbers: Rational) -> Law:
    reduced = []
    for number in numbers:
        common = gcd(number.numerator, number.denominator)
        reduced.append((number.numerator // common, number.denominator // common))
    return Law(name, tuple(reduced))


REVEALED = make_law("response", ZERO, TWO, ONE)


def alternatives(event: Event, work: Work) -> list[Terms]:
    """The laws of an event, once for each part of a Parallel at the top."""
    if event.kind == "Parallel":
        found: list[Terms] = []
        for part in event.parts:
            for terms in alternatives(part, work):
                work.spend(len(found))
                if terms not in found:
                    found.append(terms)
        if len(found) > MOST_ALTERNATIVES:
            raise Invalid("parameters.event", f"more than {MOST_ALTERNATIVES} different parts of a Parallel")
        return found
    return [flatten(event, work)]


def flatten(event: Event, work: Work) -> Terms:
    work.spend(20 + sum(number.bit_size() for number in event.numbers.values()) // 8)
    if event.kind in _LEAVES:
        law = _LEAVES[event.kind](event)
        return {} if law is None else {law: 1}
    inner = [flatten(part, work) for part in event.parts]
    if event.kind == "Sequence":
        return _together([(terms, 1) for terms in inner])
    if event.kind == "Repeat":
        return _together([(inner[0], event.whole("times"))])
    if event.kind == "Parallel":
        if any(terms != inner[0] for terms in inner):
            raise Invalid("parameters.event", "different parts of a Parallel inside another event have no worst part")
        return inner[0]
    if event.kind == "Group":
        size = event.numbers["size"]
        return (
            inner[0]
            if size == ONE
            else _together([({_grouped(law, size): times}, 1) for law, times in inner[0].items()])
        )
    rate = (
        event.numbers["rate"] if event.kind == "PoissonSample" else event.numbers["size"] / event.numbers["population"]
    )
    return _sampled(inner[0], rate, work=work, poisson=event.kind == "PoissonSample")


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
    return REVEALED if scale.is_zero() else _response(event.numbers["sensitivity"] / scale)


def _discrete_gaussian(event: Event) -> Law | None:
    variance, sensitivity = event.numbers["variance"], event.numbers["sensitivity"]
    return REVEALED if variance.is_zero() else make_law("concentrated", sensitivity * sensitivity * HALF / variance)


def _response(epsilon: Rational, categories: Rational = TWO, delta: Rational = ZERO) -> Law | None:
    return None if epsilon.is_zero() and delta.is_zero() else make_law("response", epsilon, categories, delta)


def _positive(name: str, field: str) -> Callable[[Event], Law | None]:
    return lambda event: None if event.numbers[field].is_zero() else make_law(name, event.numbers[field])


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
    "Renyi": lambda event: make_law("renyi", *(number for pair in event.bounds for number in pair)),
}


def _grouped(law: Law, size: Rational) -> Law:
    """What `size` changes at once see; of a response, whatever it is, only that it is epsilon-DP."""
    if law.name in {"normal", "concentrated"}:
        return make_law(law.name, law.number(0) * size * size)
    if law.name in {"laplace", "range"}:
        return make_law(law.name, law.number(0) * size)
    if law == REVEALED:
        return law
    if law.name == "response" and law.number(2).is_zero():
        return make_law("response", law.number(0) * size, TWO, ZERO)
    raise Invalid("parameters.event", f"no rule is known for a group of a {law.name} law")


def _sampled(terms: Terms, rate: Rational, *, work: Work, poisson: bool) -> Terms:
    if rate == ONE:
        return terms
    if rate.is_zero() or not terms:
        return {}
    if REVEALED in terms:
        base = REVEALED
    elif all(law.name == "normal" for law in terms):
        if not poisson:
            raise Invalid("parameters.event", "normal noise on a sample of fixed size cannot be checked")
        total = work.total((law.number(0), times) for law, times in terms.items())
        return {make_law("sampled normal", total, rate): 1}
    elif (again := _sampled_again(terms, rate, poisson=poisson)) is not None:
        return again
    elif poisson and len(terms) == 1 and (law := next(iter(terms))).name == "laplace" and terms[law] == 1:
        return {make_law("sampled laplace", law.number(0), rate): 1}
    else:
        base = _base(terms, work)
    numbers = (base.number(place) for place in range(3))
    return {make_law("sampled response" if poisson else "glued response", *numbers, rate): 1}


def _sampled_again(terms: Terms, rate: Rational, *, poisson: bool) -> Terms | None:
    """A Poisson sample of a Poisson sample is one at the product of the rates."""
    if len(terms) > 1 or not poisson:
        return None
    ((law, times),) = terms.items()
    if times > 1 or not law.is_sampled:
        return None
    *numbers, before = (law.number(place) for place in range(len(law.numbers)))
    return {make_law(law.name, *numbers, before * rate): 1}


def _base(terms: Terms, work: Work) -> Law:
    """What is run on one sample, as one response: alone as it is, several by their sums."""
    responses = []
    for law, times in terms.items():
        if law.name in {"laplace", "range"}:
            responses.append((law.number(0), TWO, ZERO, times))
        elif law.name == "response":
            responses.append((law.number(0), law.number(1), law.number(2), times))
        else:
            raise Invalid("parameters.event", f"no rule is known for a {law.name} law in this sample")
    epsilon, categories, delta, times = responses[0]
    if len(responses) == 1 and times == 1:
        return make_law("response", epsilon, categories, delta)
    epsilon = work.total((one[0], one[3]) for one in responses)
    delta = work.total((one[2], one[3]) for one in responses)
    return make_law("response", epsilon, TWO, min(delta, ONE))
