"""The loss of independent randomized responses on a lattice, and how much of it exceeds epsilon.

A randomized response of multiple m has loss +m h with probability p = 1/(1+r), r = e^(-m h), and -m h otherwise.
Of c of them let j be positive; over all, t = sum of j m, and the loss is S = h (2 t - M), M = sum of c m.

All weights here are lower bounds, as integers over 2^places. As the true ones sum to 1, whatever was rounded away or
left out is exactly what the weights lack of 1; and as 0 <= max(0, 1 - e^(epsilon - S)) <= 1, the expectation is at
least the weighted sum, and at most that plus what is lacking.
"""

from ..elementary import exponential
from ..intervals import Interval, Undecided, enclose
from ..rationals import Rational
from ..work import Work

Weights = dict[int, int]


def decay(x: Rational, places: int) -> tuple[int, int]:
    """Bounds of e^-x over 2^places for x >= 0; where x > places, e^-x < 2^-x < 2^-places."""
    if Rational(places) < x:
        return 0, 1
    low, high = exponential(-enclose(x, places + 16)).fixed(places)
    return low, min(high, 1 << places)


def binomial_weights(count: int, ratio: tuple[int, int], places: int) -> Weights:
    """Lower bounds of the probabilities that j of `count` losses are positive, for 1 / p - 1 in `ratio`.

    From the most likely j, whose weight is set to 1, outward; upper bounds run along. Going outward the quotient of
    one weight to the one before falls; so once a weight is below 1, all further out are smaller still. In the end all
    are divided by the upper bound of their sum.
    """
    low, high = ratio
    one = 1 << places
    start = min(count, (count + 1) * one // (one + high))
    found = {start: one}
    total = one
    below = above = one
    for j in range(start, count):
        below = (below * (count - j) << places) // ((j + 1) * high)
        above = -((-above * (count - j) << places) // ((j + 1) * low))
        total += _record(found, j + 1, below, above, rest=count - j, one=one)
        if not below:
            break
    below = above = one
    for j in range(start, 0, -1):
        below = (below * j * low >> places) // (count - j + 1)
        above = -((-above * j * high >> places) // (count - j + 1))
        total += _record(found, j - 1, below, above, rest=j, one=one)
        if not below:
            break
    return {j: weight * one // total for j, weight in found.items()}


def _record(found: Weights, j: int, below: int, above: int, *, rest: int, one: int) -> int:
    """Keep a weight and return what it adds to the upper total; a last one stands for the `rest` further out too."""
    if below:
        found[j] = below
        return above
    if above >= one:
        raise Undecided("the weights do not fall")
    return rest * above


def convolve(weights: Weights, other: Weights, multiple: int, places: int) -> Weights:
    """The weights of t + j * multiple."""
    total: Weights = {}
    find = total.get
    for j, factor in other.items():
        shift = j * multiple
        for t, weight in weights.items():
            total[t + shift] = find(t + shift, 0) + weight * factor
    return {t: kept for t, weight in total.items() if (kept := weight >> places)}


def responses(multiple: int, count: int, unit: Rational, places: int, work: Work) -> Weights:
    """The weights of j, for `count` randomized responses of one multiple."""
    work.spend(count * (1 + places // 256))
    return binomial_weights(count, decay(unit * Rational(multiple), places), places)


def weights_from(least: int, weights: Weights, other: Weights, multiple: int) -> Weights:
    """The weights of those t + j * multiple that are at least `least`, unrounded: over 4^places."""
    total: Weights = {}
    find = total.get
    falling = sorted(weights.items(), reverse=True)
    for j, factor in other.items():
        shift = j * multiple
        for t, weight in falling:
            place = t + shift
            if place < least:
                break
            total[place] = find(place, 0) + weight * factor
    return total


def excess(counts: dict[int, int], unit: Rational, epsilon: Rational, places: int, work: Work) -> Interval:
    """Enclose E[max(0, 1 - e^(epsilon - S))].

    The multiple with the largest count comes last: of it, only the sums that exceed epsilon are worked out.
    """
    *others, (multiple, count) = sorted(counts.items(), key=lambda item: item[1])
    weights = {0: 1 << places}
    for another, number in others:
        more = responses(another, number, unit, places, work)
        work.spend(len(weights) * len(more) * (2 + places // 256) // 6)
        weights = convolve(weights, more, another, places)
    last = responses(multiple, count, unit, places, work)
    work.spend(len(weights) * len(last) * (2 + places // 256) // 6)
    largest = sum(m * c for m, c in counts.items())
    ratio = epsilon / unit
    # S > epsilon says 2 t - M > epsilon / unit, and so 2 t - M >= floor(epsilon / unit) + 1
    least = (ratio.numerator // ratio.denominator + largest + 2) // 2
    lacking = (1 << 2 * places) - sum(weights.values()) * sum(last.values())
    beyond = weights_from(least, weights, last, multiple)
    return _weighted_sum(beyond, lacking, unit, epsilon + unit * Rational(largest), places)


def _weighted_sum(weights: Weights, lacking: int, unit: Rational, start: Rational, places: int) -> Interval:
    """Enclose the sum of weights * (1 - e^(start - 2 t unit)), and what is lacking above."""
    one = 1 << places
    low, high = 0, lacking << places
    below = above = one
    previous = -1
    factors: dict[int, tuple[int, int]] = {}
    for t in sorted(weights):
        if previous < 0:
            below, above = decay(unit * Rational(2 * t) - start, places)
        else:
            gap = t - previous
            if gap not in factors:
                factors[gap] = decay(unit * Rational(2 * gap), places)
            factor = factors[gap]
            below, above = below * factor[0] >> places, -(-above * factor[1] >> places)
        previous = t
        low += weights[t] * (one - above)
        high += weights[t] * (one - below)
    return Interval(low, high, -3 * places, places)


def lattice_work(counts: dict[int, int]) -> int:
    """The sum of (count + 1) * (number of values so far), multiples rising; the values are the bits of `reached`."""
    reached, work = 1, 0
    for multiple, count in sorted(counts.items()):
        work += (count + 1) * reached.bit_count()
        copies = 0
        while copies < count:
            more = min(copies + 1, count - copies)
            reached |= reached << (more * multiple)
            copies += more
    return work
