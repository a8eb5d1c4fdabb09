"""Laws with finitely many outcomes, or taken for such: responses, discrete noise, and what sampling makes of them.

The probabilities of those outcomes that have an infinite loss are left out and told apart.
"""

from ..elementary import exponential, exponential_minus_one
from ..intervals import Interval, whole
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from .discrete import discrete_pair
from .numbers import BITS, ONE_INTERVAL, exp_above, log, near, upper
from .pairs import Pair, possible
from .points import Points
from .profiles import profile
from .terms import TWO, Law, Terms

CELLS = 64
FAR = Rational(4_000)
_BOUNDED = ("laplace", "range", "response")


def infinite_mass(law: Law, *, removes: bool) -> Rational:
    """The probability of an infinite loss, from above: under sampling only where the row is in the data of P."""
    if law.name == "response":
        return law.number(2)
    if law.name in {"sampled response", "glued response"}:
        return ZERO if law.is_sampled and not removes else law.number(2) * law.rate
    if law.name.endswith("table"):
        return table_pair(law, removes=removes).infinite.upper_end()
    if law.name == "worst":
        return max(_any_infinite(dict(terms), removes=removes) for terms in law.inner)
    if law.name in {"sampled mix", "glued mix"}:
        rate = law.rate if removes or law.name == "glued mix" else ONE
        return rate * base_infinite(law, removes=removes)
    if law.name == "group" and not base_infinite(law, removes=removes).is_zero():
        raise Invalid("witness.method", "does not know groups of what may reveal everything")
    return ZERO


def base_infinite(law: Law, *, removes: bool) -> Rational:
    """Of what is sampled or grouped; where its directions are not told apart, the larger one."""
    ways = (removes,) if law.is_sampled else (True, False)
    return max(_any_infinite(law.base(), removes=way) for way in ways)


def _any_infinite(terms: Terms, *, removes: bool) -> Rational:
    total = ZERO
    for law, times in terms.items():
        total += infinite_mass(law, removes=removes) * Rational(times)
    return min(total, ONE)


def largest_loss(law: Law, *, removes: bool) -> Interval:
    """No finite loss is above this.

    Where a row is removed, ln(1 - q + q e^epsilon); added, -ln(1 - q + q e^-epsilon), and -ln(1 - q) where it would
    have been revealed, or for normal noise.
    """
    if law.name in _BOUNDED:
        return near(law.number(0))
    if law.name == "discrete laplace":
        return near(law.number(1) / law.number(0))
    if law.name == "worst":
        return _larger([_largest_sum(dict(terms), removes=removes) for terms in law.inner])
    if law.name == "group":
        return _largest_both_ways(law, removes=removes).times(law.number(0).numerator)
    if not law.is_sampled and not law.name.startswith("glued"):
        raise Invalid("witness", "its losses have no bound that this method knows")
    rate = near(law.rate)
    if law.is_sampled and not removes and not _is_bounded(law):
        return -log(ONE_INTERVAL - rate)
    epsilon = _largest_both_ways(law, removes=removes)
    if epsilon.above(FAR):
        if removes or not law.is_sampled:
            return epsilon + log(rate + exp_above(-epsilon))
        return -log(ONE_INTERVAL - rate)
    if removes or not law.is_sampled:
        return log(ONE_INTERVAL + rate * exponential_minus_one(epsilon))
    return -log(ONE_INTERVAL + rate * exponential_minus_one(-epsilon))


def _is_bounded(law: Law) -> bool:
    """Whether all losses of what is sampled have a bound, and none is infinite."""
    try:
        _largest_sum(law.base(), removes=False)
    except Invalid:
        return False
    return law.name == "sampled mix" or _any_infinite(law.base(), removes=False).is_zero()


def _largest_sum(terms: Terms, *, removes: bool) -> Interval:
    total = whole(0, BITS)
    for law, times in terms.items():
        total += largest_loss(law, removes=removes).times(times)
    return upper(total)


def _largest_both_ways(law: Law, *, removes: bool) -> Interval:
    if law.is_sampled:
        return _largest_sum(law.base(), removes=removes)
    return _larger([_largest_sum(law.base(), removes=way) for way in (True, False)])


def _larger(listed: list[Interval]) -> Interval:
    return max((upper(one) for one in listed), key=lambda one: one.upper_end())


def unlisted(law: Law, *, removes: bool) -> Interval:
    """The probability of those outcomes that `points` leaves out and that are not infinite, from above.

    Discrete normal noise has some far out, which count as if all were lost.
    """
    if not law.name.endswith("discrete normal"):
        return whole(0, BITS)
    return upper(_pair(law, removes=removes).infinite)


def points(law: Law, c: Rational, *, removes: bool) -> Points:
    """The finite losses, tilted by e^(c loss)."""
    if law.name == "sampled laplace":
        return _chords(law, c, removes=removes)
    weights, losses = [], []
    for first, ratio in _pair(law, removes=removes).ratios():
        loss = log(ratio)
        weights.append(first * exponential(loss * near(c)))
        losses.append(loss)
    return Points(weights, losses, 0)


def _chords(law: Law, c: Rational, *, removes: bool) -> Points:
    """Laplace noise on a sample, above: the profile at 2 CELLS + 1 losses, of which the last is the largest of either
    direction, and lines between them. From one to the next it falls by the Q of all later ones.
    """
    top = largest_loss(law, removes=True).fixed(BITS)[1]
    step = Rational(top, CELLS << BITS)
    weights, losses = [], []
    alpha = exponential(near(-step * Rational(CELLS)))
    here, above = ONE_INTERVAL - alpha, ONE_INTERVAL
    for place in range(-CELLS, CELLS + 1):
        loss = near(step * Rational(place))
        following = exponential(near(step * Rational(place + 1)))
        there = profile(law, following, removes=removes) if place < CELLS else whole(0, BITS)
        beyond = (here - there) / (following - alpha)
        mass = above - beyond
        weights.append(
            Interval(max(mass.low, 0), max(mass.high, 0), mass.exponent, BITS) * exponential(loss * near(c + ONE))
        )
        losses.append(loss)
        alpha, here, above = following, there, beyond
    return Points(weights, losses, 0)


def table_pair(law: Law, *, removes: bool) -> Pair:
    """Of a law whose base was laid out as a pair."""
    base: Pair = law.inner[0]
    return _on_sample(law, base, removes=removes)


def _on_sample(law: Law, base: Pair, *, removes: bool) -> Pair:
    if law.is_sampled:
        return base.sampled(law.rate, removes=removes)
    return base.glued(law.rate) if law.name.startswith("glued") else base


def _pair(law: Law, *, removes: bool) -> Pair:
    if law.name.endswith("table"):
        return table_pair(law, removes=removes)
    name = law.name.removeprefix("sampled ").removeprefix("glued ")
    if name.startswith("discrete"):
        numbers = law.numbers if name == law.name else law.numbers[:-1]
        return _on_sample(law, discrete_pair(Law(name, numbers), BITS), removes=removes)
    return _on_sample(law, _response(law, is_response=name == "response"), removes=removes)


def _response(law: Law, *, is_response: bool) -> Pair:
    """A range law, as well, as the response that it is at most."""
    delta, categories = (law.number(2), law.number(1)) if is_response else (ZERO, TWO)
    grown, rest = exponential(near(law.number(0))), categories.numerator - 1
    unit, shown = near(ONE - delta) / (grown + whole(rest, BITS)), near(delta)
    truth, lie, even = unit * grown, unit, unit.times(rest - 1)
    return Pair(possible([(truth, lie), (even, even), (lie, truth)]), shown, shown)
