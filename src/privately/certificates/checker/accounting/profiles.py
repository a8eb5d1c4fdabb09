"""The privacy profile of one law, D(alpha) = the integral of (P - alpha Q)_+, enclosed for every alpha.

docs/theory/certificates.md#cells says why sampling needs the profile of the base alone.
"""

from ..elementary import exponential, exponential_minus_one
from ..intervals import Interval, enclose, whole
from ..normal import normal_tail
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from .discrete import discrete_profile
from .numbers import exp_above, log
from .pairs import Profile, either
from .terms import Law

FAR = Rational(141)  # 141^2/2 < 10,000
HALF = Rational(1, 2)


def profile(law: Law, alpha: Interval, *, removes: bool) -> Interval:
    """D(alpha), alpha > 0, to about as many bits as alpha: of the base, or of what a sample of it is."""
    if law.is_sampled:
        return _removed(law, alpha) if removes else _added(law, alpha)
    if not law.name.startswith("glued"):
        return _base(law, alpha)
    beyond = alpha - whole(1, alpha.bits)
    if beyond.low >= 0:
        return _removed(law, alpha)
    return _added(law, alpha) if beyond.high <= 0 else either(_removed(law, alpha), _added(law, alpha))


def _removed(law: Law, alpha: Interval) -> Interval:
    taken, stays = enclose(law.rate, alpha.bits), enclose(ONE - law.rate, alpha.bits)
    return taken * _base(law, (alpha - stays) / taken)


def _added(law: Law, alpha: Interval) -> Interval:
    taken, stays = enclose(law.rate, alpha.bits), enclose(ONE - law.rate, alpha.bits)
    weight = whole(1, alpha.bits) - alpha * stays
    if weight.low <= 0:  # no more than this is left, sampled or not
        return _positive(weight)
    return weight * _base(law, alpha * taken / weight)


def _base(law: Law, beta: Interval) -> Interval:
    """Of the law without its sample, beta of any sign."""
    name = law.name.removeprefix("sampled ").removeprefix("glued ")
    if name == "response":
        return _response(law, beta)
    if name not in {"normal", "laplace", "range", "discrete normal", "discrete laplace", "table"}:
        raise Invalid("witness.method", f"does not know the profile of a {law.name} law")
    one = whole(1, beta.bits)
    if beta.low <= 0:  # 1 - beta up to 0, from there on between that and 1
        return one - beta
    if name == "normal":
        return _normal(enclose(law.number(0), beta.bits).square_root(), beta)
    if name == "range":
        return _range(enclose(law.number(0), beta.bits), beta)
    if name == "table":
        found: Profile = law.inner[1]
        return found.at(beta)
    if name != "laplace":
        return discrete_profile(Law(name, law.numbers[:2]), beta.bits).at(beta)
    # Between e^-a and e^a the first of these is largest, and outside one of the others.
    middle = one - (beta * exponential(enclose(-law.number(0), beta.bits))).square_root()
    return _positive(_larger(middle, one - beta))


def _range(epsilon: Interval, beta: Interval) -> Interval:
    """(e^(epsilon/2) - sqrt(beta))^2/(e^epsilon - 1) from 1 to e^epsilon, and 1 - beta + beta D(1/beta) below."""
    one, grown, root = whole(1, beta.bits), exponential(epsilon), beta.square_root()
    half = grown.square_root()
    above = _square(_positive(half - root))
    below = _square(_positive(half * root - one))
    gap = exponential_minus_one(epsilon)
    if (beta - one).low >= 0:
        return above / gap
    small = one - beta + below / gap
    return small if (beta - one).high <= 0 else either(small, above / gap)


def _response(law: Law, beta: Interval) -> Interval:
    """(P - beta Q)_+ over its outcomes: t u against u, equal ones, u against t u, and those that reveal everything."""
    categories, delta = law.number(1), law.number(2)
    one, rest = whole(1, beta.bits), categories.numerator - 1
    grown = exponential(enclose(law.number(0), beta.bits))
    unit = enclose(ONE - delta, beta.bits) / (grown + whole(rest, beta.bits))
    shown = enclose(delta, beta.bits) * (one + _positive(-beta))
    even = _positive(one - beta).times(rest - 1)
    return shown + unit * (_positive(grown - beta) + even + _positive(one - grown * beta))


def _normal(mu: Interval, beta: Interval) -> Interval:
    """Phi(-x + mu/2) - beta Phi(-x - mu/2), x = ln(beta)/mu."""
    place, half = log(beta) / mu, mu.scaled(-1)
    return _positive(_tail(place - half) - beta * _tail(place + half))


def _tail(x: Interval) -> Interval:
    """Phi(-x): at the low end, and from there its logarithm falls by at most |x| + 1 times the width of x."""
    start, one = x.lower_end(), whole(1, x.bits)
    far = exp_above(enclose(-FAR * FAR * HALF, x.bits))
    if start > FAR:
        return Interval(0, far.high, far.exponent, x.bits)
    if start < -FAR:
        return one - Interval(0, far.high, far.exponent, x.bits)
    spread = Interval(0, x.high - x.low, x.exponent, x.bits) * enclose(_size(start) + ONE, x.bits)
    return normal_tail(start, x.bits) * (one - spread)


def _size(x: Rational) -> Rational:
    return -x if x < ZERO else x


def _positive(x: Interval) -> Interval:
    return Interval(max(x.low, 0), max(x.high, 0), x.exponent, x.bits)


def _square(x: Interval) -> Interval:
    return x * x


def _larger(x: Interval, y: Interval) -> Interval:
    return y + _positive(x - y)
