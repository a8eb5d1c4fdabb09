"""Which statements a mechanism certainly refutes, and the strongest ones that hold for it.

`refutation` compares exact laws with interval ends, so that what it reports is certain. The strongest statements are
found in floating point and rounded up: one that is slightly too strong would make a test fail, never pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any

from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.guarantees.distances import privacy_curve_of, renyi_divergence
from privately.rounding import Enclosure, round_up
from tests.guarantees.enumeration import Law, Pair

ORDERS: list[Any] = ["1.001", "1.1", "1.5", 2, 3, 5, 8, 16, 64, 1000]
"""What the strongest RenyiDP lists."""

TESTED_ORDERS = [1.0, 1.001, 1.01, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0, 256.0, 4096.0]
_GRID = [1.04**i for i in range(260)]
_CONFIRMED = 2
_NORMAL = NormalDist()


def refutation(statement: Guarantee, pairs: Iterable[Pair]) -> str:
    """Why the laws of some pair of neighbours contradict the statement for certain; empty when none does."""
    listed = [pair for law, other in pairs for pair in ((law, other), (other, law))]
    numbers = statement.parameters
    match statement:
        case PureDP():
            return _beyond(listed, numbers["epsilon"], Fraction(0))
        case ApproxDP():
            return _beyond(listed, numbers["epsilon"], numbers["delta"])
        case ZCDP():
            return _beyond_concentrated(listed, numbers["rho"])
        case ApproxZCDP():
            return _beyond_approximate(statement, listed)
        case RenyiDP():
            return _beyond_renyi(listed, numbers["bounds"])
        case GaussianDP():
            return _beyond_gaussian(statement, listed)
    raise AssertionError(f"nothing is known of {statement}")


def hockey_stick(p: Law, q: Law, ratio: Fraction) -> Fraction:
    """The sum of max(0, p - ratio q)."""
    return sum((max(mass - ratio * q.get(o, Fraction(0)), Fraction(0)) for o, mass in p.items()), Fraction(0))


@lru_cache(maxsize=1024)
def ratio_above(epsilon: Fraction) -> Fraction:
    """A short rational that is at least e^epsilon, and barely more."""
    return round_up(Fraction(Enclosure.of(epsilon).exp().upper), 25)


def _beyond(pairs: Sequence[Pair], epsilon: Fraction, delta: Fraction) -> str:
    ratio = ratio_above(epsilon)
    for p, q in pairs:
        excess = hockey_stick(p, q, ratio)
        if excess > delta:
            return f"at epsilon {float(epsilon):.6g} delta is {float(excess):.6g}, not {float(delta):.6g}"
    return ""


def _beyond_renyi(pairs: Sequence[Pair], bounds: Sequence[tuple[Fraction, Fraction]]) -> str:
    logs = [_logarithms(p, q) for p, q in pairs]
    for order, bound in bounds:
        sizes = [_float_divergence(pair, float(order)) for pair in logs]
        for place in _largest(sizes):
            found = renyi_divergence(*pairs[place], order=order).lower
            if found > bound:
                return f"the divergence of order {float(order):g} is {float(found):.6g}, not {float(bound):.6g}"
    return ""


def _beyond_concentrated(pairs: Sequence[Pair], rho: Fraction) -> str:
    logs = [_logarithms(p, q) for p, q in pairs]
    tried = [(place, order) for place in range(len(pairs)) for order in TESTED_ORDERS]
    sizes = [_float_divergence(logs[place], order) / order for place, order in tried]
    for at in _largest(sizes):
        place, order = tried[at]
        found = renyi_divergence(*pairs[place], order=order).lower
        if found > Fraction(order) * rho:
            return (
                f"the divergence of order {order:g} is {float(found):.6g}, more than {order:g} times {float(rho):.6g}"
            )
    return ""


def _beyond_approximate(statement: ApproxZCDP, pairs: Sequence[Pair]) -> str:
    """Outcomes that q never gives must be among those left out; if they use delta up, nothing else can be left out."""
    rho, delta = statement.parameters["rho"], statement.parameters["delta"]
    kept: list[Pair] = []
    for p, q in pairs:
        exposed, exposing = _outside(p, q), _outside(q, p)
        if exposed > delta:
            return f"outcomes of probability {float(exposed):.6g} reveal everything, not {float(delta):.6g}"
        if exposed == exposing == delta < 1:
            kept.append((_kept(p, q, 1 - delta), _kept(q, p, 1 - delta)))
    found = _beyond_concentrated(kept, rho)
    if found or len(kept) == len(pairs):
        return found
    for epsilon in (Fraction(0), rho, 2 * rho, Fraction(1), Fraction(4)):
        found = _beyond(pairs, epsilon, Fraction(statement.delta(epsilon=epsilon).upper))
        if found:
            return found
    return ""


def _beyond_gaussian(statement: GaussianDP, pairs: Sequence[Pair]) -> str:
    """Two laws are mu apart exactly when every likelihood-ratio event is; each such event has its worst epsilon."""
    mu = float(statement.parameters["mu"])
    corners = [(pair, below, above) for pair in pairs for below, above in _corners(*pair)]
    sizes = [_quantile(above) - _quantile(below) for _, below, above in corners]
    for at in _largest(sizes):
        (p, q), below, above = corners[at]
        worst = -mu * _quantile(below) - mu * mu / 2 if below else 50 * mu + mu * mu / 2  # infinite loss: any epsilon
        epsilon = Fraction(max(worst, 0.0)).limit_denominator(10**6)
        excess = hockey_stick(p, q, ratio_above(epsilon)) if below else above
        if excess > statement.delta(epsilon=epsilon).upper:
            return f"at epsilon {float(epsilon):.6g} delta is {float(excess):.6g}, more than of mu = {mu:.6g}"
    return ""


def _largest(sizes: Sequence[float]) -> list[int]:
    return sorted(range(len(sizes)), key=lambda at: sizes[at], reverse=True)[:_CONFIRMED]


def _kept(p: Law, q: Law, share: Fraction) -> Law:
    """p, given that the outcome is one of both."""
    return {o: mass / share for o, mass in p.items() if o in q}


def _outside(p: Law, q: Law) -> Fraction:
    return sum((mass for o, mass in p.items() if o not in q), Fraction(0))


def _logarithms(p: Law, q: Law) -> list[tuple[float, float]] | None:
    """ln p and ln q at the outcomes of p, or None when the divergence is infinite."""
    if any(o not in q for o in p):
        return None
    return [(math.log(mass), math.log(q[o])) for o, mass in p.items()]


def _float_divergence(logs: list[tuple[float, float]] | None, order: float) -> float:
    if logs is None:
        return math.inf
    if order == 1:
        return math.fsum(math.exp(above) * (above - below) for above, below in logs)
    if order == math.inf:
        return max(above - below for above, below in logs)
    terms = [order * (above - below) + below for above, below in logs]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1)


def _quantile(probability: Fraction) -> float:
    if probability > Fraction(1, 2):
        return -_quantile(1 - probability)
    return _NORMAL.inv_cdf(float(probability)) if probability > 0 else -math.inf


def _corners(p: Law, q: Law) -> Iterator[tuple[Fraction, Fraction]]:
    """(q(E), p(E)) of the events E that gather the outcomes from the largest p/q down, but for nothing and all."""
    sure = _outside(p, q)
    if sure:
        yield Fraction(0), sure
    below, above = Fraction(0), sure
    shared = sorted((o for o in p if o in q), key=lambda o: p[o] / q[o], reverse=True)
    for outcome in shared:
        below, above = below + q[outcome], above + p[outcome]
        if below < 1 and above > below:
            yield below, above


# The strongest statements


def strongest(kind: type[Guarantee], pairs: Sequence[Pair], neighbors: Neighbors, **choice: Any) -> Guarantee:
    """Nearly the strongest statement of a kind that is true of all these pairs. ApproxDP takes `delta`."""
    listed = [pair for law, other in pairs for pair in ((law, other), (other, law))]
    if kind is PureDP:
        return PureDP(epsilon=_log_claim(privacy_ratio(pairs, Fraction(0))), neighbors=neighbors)
    if kind is ApproxDP:
        delta = choice["delta"]
        return ApproxDP(epsilon=_log_claim(privacy_ratio(pairs, delta)), delta=delta, neighbors=neighbors)
    if kind is ZCDP:
        return ZCDP(rho=_up(strongest_rho(listed)), neighbors=neighbors)
    if kind is RenyiDP:
        logs = [_logarithms(p, q) for p, q in listed]
        sizes = [(order, max((_float_divergence(one, float(order)) for one in logs), default=0.0)) for order in ORDERS]
        return RenyiDP(bounds=[(order, _up(size)) for order, size in sizes], neighbors=neighbors)
    if kind is GaussianDP:
        corners = [corner for pair in listed for corner in _corners(*pair)]
        mu = max((_quantile(above) - _quantile(below) for below, above in corners), default=0.0)
        return GaussianDP(mu=_up(mu), neighbors=neighbors)
    raise AssertionError(f"no strongest {kind.__name__}")


def strongest_rho(pairs: Sequence[Pair]) -> float:
    """The largest divergence over order, within 4 %: divergences grow with the order, so grid points bound it."""
    best = 0.0
    for p, q in pairs:
        logs = _logarithms(p, q)
        best = max(best, _float_divergence(logs, math.inf) / _GRID[-1])
        low = _float_divergence(logs, _GRID[1])
        best = max(best, low)
        for left, right in pairwise(_GRID[1:]):
            best = max(best, _float_divergence(logs, right) / left)
    return best


def spread(pairs: Sequence[Pair]) -> tuple[Fraction, Fraction]:
    """The least delta that any epsilon can have, and the delta of epsilon 0."""
    curve = privacy_curve_of(pairs)
    return curve.delta_at_ratio(math.inf), curve.delta_at_ratio(1)


def privacy_ratio(pairs: Sequence[Pair], delta: Fraction) -> Fraction:
    """The least e^epsilon at delta."""
    ratio = privacy_curve_of(pairs).ratio(delta) if pairs else Fraction(1)
    assert isinstance(ratio, Fraction), "no epsilon is enough"
    return ratio


def _log_claim(ratio: Fraction) -> Fraction:
    return Enclosure.of(ratio).log().claim() if ratio > 1 else Fraction(0)


def _up(value: float) -> Fraction:
    return round_up(Fraction(value) * (1 + Fraction(1, 10**8)) + Fraction(1, 10**13), 12)
