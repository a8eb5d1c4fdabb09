"""The loss of independent randomized responses on a lattice, and how much of it exceeds epsilon.

A randomized response of multiple m has loss +m h with probability p = 1/(1+r), r = e^(-m h), and -m h otherwise.
Of c of them let j be positive; over all, t = sum of j m, and the loss is S = h (2 t - M), M = sum of c m.

All weights here are lower bounds, as integers over 2^places. As the true ones sum to 1, whatever was rounded away or
left out is exactly what the weights lack of 1; and as 0 <= max(0, 1 - e^(epsilon - S)) <= 1, the expectation is at
least the weighted sum, and at most that plus what is lacking.
"""

# ruff: noqa: TID252 - relative imports, so that the package works under any name

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


def losses(counts: dict[int, int], unit: Rational, places: int, work: Work) -> Weights:
    """The weights of t, for `counts` of each multiple."""
    weights = {0: 1 << places}
    for multiple, count in sorted(counts.items()):
        ratio = decay(unit * Rational(multiple), places)
        work.spend(count * (1 + places // 256))
        responses = binomial_weights(count, ratio, places)
        work.spend(len(weights) * len(responses) * (2 + places // 256) // 6)
        weights = convolve(weights, responses, multiple, places)
    return weights


def excess(counts: dict[int, int], unit: Rational, epsilon: Rational, places: int, work: Work) -> Interval:
    """Enclose E[max(0, 1 - e^(epsilon - S))]."""
    weights = losses(counts, unit, places, work)
    one = 1 << places
    largest = sum(multiple * count for multiple, count in counts.items())
    least, most = 0, (one - sum(weights.values())) << places
    below = above = one
    previous = None
    factors: dict[int, tuple[int, int]] = {}
    for t in sorted(weights):
        loss = unit * Rational(2 * t - largest)
        if previous is None:
            if loss <= epsilon:
                continue
            below, above = decay(loss - epsilon, places)
        else:
            gap = t - previous
            if gap not in factors:
                factors[gap] = decay(unit * Rational(2 * gap), places)
            low, high = factors[gap]
            below, above = below * low >> places, -(-above * high >> places)
        previous = t
        least += weights[t] * (one - above)
        most += weights[t] * (one - below)
    return Interval(least, most, -2 * places, places)


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
