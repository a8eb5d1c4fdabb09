"""Laws with finitely many outcomes: randomized response, and what sampling makes of it.

The probabilities of those outcomes that have an infinite loss are left out and told apart.
"""

from ..elementary import exponential, exponential_minus_one
from ..intervals import Interval, whole
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from .numbers import BITS, ONE_INTERVAL, log, near
from .points import Points
from .profiles import profile
from .terms import Law

CELLS = 64
Outcome = tuple[Interval, Interval]


def infinite_mass(law: Law, *, removes: bool) -> Rational:
    """The probability of an infinite loss: under sampling only where the row is in the data of P."""
    if not law.name.endswith("response"):
        return ZERO
    delta = law.number(2)
    if law.name == "response":
        return delta
    if law.name == "sampled response" and not removes:
        return ZERO
    return delta * law.number(3)


def largest_loss(law: Law, *, removes: bool) -> Interval:
    """No finite loss is above this.

    Where a row is removed, ln(1 - q + q e^epsilon); added, -ln(1 - q + q e^-epsilon), and -ln(1 - q) where it would
    have been revealed, or for normal noise.
    """
    law = law.as_response()
    if law.name in {"laplace", "range", "response"}:
        return near(law.number(0))
    if law.name in {"sampled response", "glued response"}:
        epsilon, rate = near(law.number(0)), near(law.number(3))
        if removes or law.name == "glued response":
            return log(ONE_INTERVAL + rate * exponential_minus_one(epsilon))
        if law.number(2).is_zero():
            return -log(ONE_INTERVAL + rate * exponential_minus_one(-epsilon))
    if law.is_sampled and not removes:
        return -log(near(ONE - law.number(len(law.numbers) - 1)))
    raise Invalid("witness", "its losses have no bound that this method knows")


def points(law: Law, c: Rational, *, removes: bool) -> Points:
    """The finite losses, tilted by e^(c loss)."""
    if law.name == "sampled laplace":
        return _chords(law, c, removes=removes)
    weights, losses = [], []
    for first, second in _outcomes(law, removes=removes):
        loss = log(first / second)
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


def _outcomes(law: Law, *, removes: bool) -> list[Outcome]:
    """Probabilities under P and Q, both above 0; after sampling, P or Q is mixed with the other."""
    epsilon, delta = law.number(0), law.number(2) if law.name.endswith("response") else ZERO
    grown, rest = exponential(near(epsilon)), law.number(1).numerator - 1 if law.name.endswith("response") else 1
    unit = near(ONE - delta) / (grown + whole(rest, BITS))
    truth, lie, even = unit * grown, unit, unit.times(rest - 1)
    if law.name in {"response", "range"}:
        return _possible([(truth, lie), (even, even), (lie, truth)])
    rate, stays, shown = near(law.number(3)), near(ONE - law.number(3)), near(delta)
    above, below = truth * rate + lie * stays, lie * rate + truth * stays
    if law.name == "glued response":
        # Losses above 0 are as if the row were removed, those below as if it were added, and the rest is in between.
        middle = even + stays * (truth - lie) + stays * shown
        return _possible([(above, lie), (middle, middle), (lie, above)])
    if removes:
        return _possible([(above, lie), (even, even), (below, truth), (shown * stays, shown)])
    return _possible([(truth, below), (even, even), (lie, above), (shown, shown * stays)])


def _possible(outcomes: list[Outcome]) -> list[Outcome]:
    """Without those of probability 0."""
    return [(first, second) for first, second in outcomes if first.high > 0]
