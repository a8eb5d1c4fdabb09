"""Closed forms and finite sums: profiles that need no numerical integral.

delta(epsilon) = E_P[(1 - e^(epsilon - L))_+] with L = ln(dP/dQ) under P; every solver returns, for each delta,
the epsilon at which the profile takes that value, and a bound on its error. Closed forms are evaluated by mpmath
with 60 digits, sums by Arb's balls, whose radii bound the rounding.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, arb_poly, ctx, fmpq, fmpz_poly
from mpmath import mp, mpf

Answer = tuple[str, str]
DIGITS = 60
BITS = 200


def number(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def written(epsilon: arb | mpf, error: arb | mpf | float) -> Answer:
    """Thirty digits and the bound, to which the rounding to thirty digits is added."""
    with mp.workdps(DIGITS):
        if isinstance(epsilon, arb):
            error = float(error.upper()) if isinstance(error, arb) else error
            epsilon = mpf(epsilon.mid().str(45, radius=False))
        bound = float(error) + 1e-29 * float(abs(epsilon))
        return mp.nstr(epsilon, 30), f"{bound * 1.01:.1e}"


def root(function: Callable[[mpf], mpf], low: mpf, high: mpf, digits: int = 45) -> mpf:
    """Where a decreasing function passes 0 inside a bracket: secants, and halving when they are slow (Illinois)."""
    left, right, side = function(low), function(high), 0
    tolerance = mpf(10) ** -digits
    for _ in range(300):
        point = (low * right - high * left) / (right - left)
        value = function(point)
        if value == 0 or abs(value) < tolerance:
            return point
        if value > 0:
            low, left = point, value
            right = right / 2 if side == 1 else right
            side = 1
        else:
            high, right = point, value
            left = left / 2 if side == -1 else left
            side = -1
        if high - low < tolerance * (1 + abs(high)):
            return point
    raise ArithmeticError("no root")


def solved(profile: Callable[[mpf], mpf], delta: Fraction) -> Answer:
    """The root of a decreasing convex profile, and what is left of the difference, over the slope."""
    wanted, least = mp.log(number(delta)), mpf(10) ** -3000
    if profile(mpf(0)) <= number(delta):
        return "0", "0"
    low, high = mpf(0), mpf(1)
    while profile(high) > number(delta):
        low, high = high, 2 * high
    while high - low > high / 64:
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > number(delta) else (low, middle)
    found = root(lambda x: mp.log(max(profile(x), least)) - wanted, low, high)
    step = mpf(10) ** -15 * max(found, mpf(10) ** -3)
    slope = (profile(found + step) - profile(found - step)) / (2 * step)
    return written(found, abs((profile(found) - number(delta)) / slope) + abs(found) * mpf(10) ** -40)


def _solved_balls(profile: Callable[[arb], arb], delta: Fraction, bits: int) -> Answer:
    """The same for a profile in balls, of which the radius at the root joins the error."""
    ctx.prec = bits

    def middle(x: mpf) -> mpf:
        value = profile(arb(mp.nstr(x, 60)))
        if value.rel_accuracy_bits() < 150 and value.mid() > arb(10) ** -60:
            raise ArithmeticError("more bits are needed")
        return mpf(value.mid().str(50, radius=False))

    with mp.workdps(DIGITS):
        return solved(middle, delta)


def normal_tail(x: mpf) -> mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian_profile(mu: mpf, epsilon: mpf) -> mpf:
    return normal_tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * normal_tail(epsilon / mu + mu / 2)


def gaussian(precision: Fraction, delta: Fraction) -> Answer:
    """A composition of Gaussians is one with mu^2 = the sum of 1/sigma^2."""
    with mp.workdps(DIGITS + 40):
        mu = mp.sqrt(number(precision))
        return solved(lambda epsilon: gaussian_profile(mu, epsilon), delta)


def responses_and_gaussian(groups: Sequence[tuple[Fraction, int]], precision: Fraction, delta: Fraction) -> Answer:
    """Binary responses, each group k times the same, beside Gaussians: a mixture of shifted Gaussian profiles."""
    with mp.workdps(DIGITS + 10):
        mu = mp.sqrt(number(precision))
        atoms = {mpf(0): mpf(1)}
        for epsilon, times in groups:
            shift = number(epsilon)
            truth = 1 / (1 + mp.exp(-shift))
            law = [mp.binomial(times, k) * truth**k * (1 - truth) ** (times - k) for k in range(times + 1)]
            atoms = {
                place + (2 * k - times) * shift: mass * part
                for place, mass in atoms.items()
                for k, part in enumerate(law)
            }
        return solved(lambda x: mp.fsum(m * gaussian_profile(mu, x - a) for a, m in atoms.items()), delta)


def sampled_gaussian_once(mu: mpf, rate: mpf, direction: str, epsilon: mpf) -> mpf:
    """The profile of one Poisson-sampled Gaussian, for any sign of epsilon."""
    threshold = mp.exp(epsilon if direction == "remove" else -epsilon) - 1 + rate
    if threshold <= 0:
        return 1 - mp.exp(epsilon) if direction == "remove" else mpf(0)
    x = (mp.log(threshold / rate) + mu**2 / 2) / mu
    if direction == "remove":
        return (1 - rate - mp.exp(epsilon)) * normal_tail(x) + rate * normal_tail(x - mu)
    return (1 - mp.exp(epsilon) * (1 - rate)) * normal_tail(-x) - mp.exp(epsilon) * rate * normal_tail(mu - x)


def sampled_laplace_once(size: mpf, rate: mpf, direction: str, epsilon: mpf) -> mpf:
    """The same with Laplace noise: Q has its peak at 0, P at `size`, scale 1."""

    def tail(x: mpf) -> mpf:
        return mp.exp(-x) / 2 if x > 0 else 1 - mp.exp(x) / 2

    threshold = mp.exp(epsilon if direction == "remove" else -epsilon) - 1 + rate
    ratio = mp.log(threshold / rate) if threshold > 0 else -mp.inf
    if ratio < -size:
        return 1 - mp.exp(epsilon) if direction == "remove" else mpf(0)
    if ratio > size:
        return mpf(0) if direction == "remove" else 1 - mp.exp(epsilon)
    x = (ratio + size) / 2
    if direction == "remove":
        return (1 - rate - mp.exp(epsilon)) * tail(x) + rate * tail(x - size)
    return (1 - mp.exp(epsilon) * (1 - rate)) * (1 - tail(x)) - mp.exp(epsilon) * rate * (1 - tail(x - size))


Once = Callable[[mpf, mpf, str, mpf], mpf]


def sampled_once(once: Once, strength: Fraction, rate: Fraction, delta: Fraction) -> Answer:
    """The larger of the two directions."""
    with mp.workdps(DIGITS + 20):
        mu, q = number(strength), number(rate)
        return solved(lambda x: max(once(mu, q, "remove", x), once(mu, q, "add", x)), delta)


def _tails(masses: Callable[[int], arb], loss: arb, top: arb, deltas: Sequence[Fraction]) -> list[Answer]:
    """Losses on a lattice, `top` - n `loss`, with masses given from above; P - e^epsilon Q is linear between them.

    Walks down, n = 0, 1, ..., adding up both tails, and solves where the profile passes a delta.
    """
    answers: dict[Fraction, Answer] = {}
    waiting = sorted(deltas)
    above, reference, ratio, step = arb(0), arb(0), (-top).exp(), loss.exp()
    n = 0
    while waiting:
        if n and above - reference / ratio > ball(waiting[0]):
            delta = waiting.pop(0)
            epsilon = ((above - ball(delta)) / reference).log()
            answers[delta] = ("0", "0") if epsilon < 0 else written(epsilon, epsilon.rad())
            continue
        mass = masses(n)
        above, reference, ratio = above + mass, reference + mass * ratio, ratio * step
        n += 1
        if top - n * loss < -loss:  # the profile at zero is below this delta
            answers |= dict.fromkeys(waiting, ("0", "0"))
            break
    return [answers[delta] for delta in deltas]


def two_points(up: tuple[arb, arb], down: tuple[arb, arb], times: int, deltas: Sequence[Fraction]) -> list[Answer]:
    """Two outcomes (mass under P, loss), the first with the larger loss: a binomial sum."""
    (p, a), (q, b) = up, down
    current = p**times

    def masses(n: int) -> arb:
        nonlocal current
        if n:
            current = current * q * (times - n + 1) / (p * n)
        return current

    return _tails(masses, a - b, a * times, deltas)


def responses(epsilon: Fraction, categories: int, times: int, deltas: Sequence[Fraction]) -> list[Answer]:
    """K-ary randomized response: losses epsilon, 0, -epsilon, a trinomial sum by the recurrence of its coefficients."""
    ctx.prec = BITS
    size = ball(epsilon)
    low = 1 / (categories - 1 + size.exp())
    high = size.exp() * low
    if categories == 2:
        return two_points((high, size), (low, -size), times, deltas)
    middle = (categories - 2) * low
    last, current = arb(0), high**times

    def masses(n: int) -> arb:
        nonlocal last, current
        if n:
            following = (current * (middle * (times - n + 1)) + last * (low * (2 * times - n + 2))) / (high * n)
            last, current = current, following
        return current

    return _tails(masses, size, size * times, deltas)


def sampled_responses(epsilon: Fraction, rate: Fraction, times: int, deltas: Sequence[Fraction]) -> list[Answer]:
    """Poisson-sampled binary responses, the larger of both directions."""
    ctx.prec = BITS
    size, q = ball(epsilon), ball(rate)
    truth = 1 / (1 + (-size).exp())
    high, low = (1 - q + q * size.exp()).log(), (1 - q + q * (-size).exp()).log()
    mixed = (1 - q) * (1 - truth) + q * truth
    remove = two_points((mixed, high), (1 - mixed, low), times, deltas)
    add = two_points((truth, -low), (1 - truth, -high), times, deltas)
    return [max(pair, key=lambda answer: mpf(answer[0])) for pair in zip(remove, add, strict=True)]


def laplace(epsilon: Fraction, times: int, deltas: Sequence[Fraction]) -> list[Answer]:
    """The same Laplace mechanism `times` times: an exact sum of polynomials.

    Under sqrt(dP dQ) one loss is e^(-e/2) times half an atom at each of +-e and the uniform law between, so with
    X = (T e - epsilon) / 2 the profile is 2^(1-T) e^(-X) G(X), and G has the Laplace transform
        sum over j of C(T, j) e^(-j s e) (s + 1)^(T-j-1) (s - 1)^(j-1) / s^T.
    The terms cancel, so the precision is doubled until the ball is small.
    """
    bits = 300 + 2 * times
    ctx.prec = bits
    one = ball(epsilon)
    rows = _laplace_rows(times, float(epsilon) * times / 2, bits)

    def value(x: arb) -> arb:
        half = (times * one - x) / 2
        places = [(half - j * one, row) for j, row in enumerate(rows)]
        total = sum((place * row(place) for place, row in places if place > 0), arb(0))
        return total * arb(2) ** (1 - times) * (-half).exp()

    return [_solved_balls(value, delta, bits) for delta in deltas]


def _laplace_rows(times: int, furthest: float, bits: int) -> list[arb_poly]:
    """For each j the polynomial in X - j e, without the factor X - j e; terms too small to matter at `furthest` go."""
    up, down = fmpz_poly([1, 1]), fmpz_poly([1, -1])
    length = 2
    while length * math.log2(furthest + 1) - math.lgamma(length + 1) / math.log(2) + 3 * times > -bits:
        length += 1
    factorials = [arb.fac_ui(m + 1) for m in range(length)]
    rows = []
    for j in range(max(times // 2 + 1, 1)):
        exact = up ** (times - 1) if j == 0 else up ** (times - j - 1) * down ** (j - 1)
        whole = [int(exact[m]) for m in range(length)]
        if j == 0:
            whole = list(itertools.accumulate(whole))  # divided by 1 - 1/s
        rows.append(arb_poly([arb.bin_uiui(times, j) * c / f for c, f in zip(whole, factorials, strict=True)]))
    return rows
