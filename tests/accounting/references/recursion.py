"""A few sampled mechanisms in a row: the profile after n steps from the profile after n - 1, in real space.

    f_n(epsilon) = E_P[f_(n-1)(epsilon - L)]
No transform is involved. Each f_n is kept as polynomials on panels between the points where it is not analytic, and
the expectation is taken by Gauss-Legendre panels, in about thirty digits; two resolutions give the error bound.
"""

import bisect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat, arb_poly
from mpmath import mp, mpf

from tests.accounting.references.exact import Answer, number, root, written
from tests.accounting.references.inversion import Panels, SampledLoss, guess, largest, logarithm, panels, sampled


class Interpolation:
    """Polynomials through the Chebyshev points of [-1, 1]."""

    def __init__(self, degree: int) -> None:
        count = degree + 1
        self.points = [((2 * arb(k) + 1) * arb.pi() / (2 * count)).cos().mid() for k in range(count)]
        table = arb_mat(count, count, [point**power for point in self.points for power in range(count)])
        self.inverse = table.inv().mid()

    def through(self, values: list[arb]) -> arb_poly:
        product = self.inverse * arb_mat(len(values), 1, values)
        return arb_poly([product[k, 0].mid() for k in range(len(values))])


@dataclass
class Profile:
    """f on the real line: `below` to the left of the panels, 0 to the right; polynomials in a coordinate between."""

    edges: list[float]
    places: list[arb]
    polynomials: list[arb_poly]
    coordinate: Callable[[arb], arb]

    def __call__(self, epsilon: arb) -> arb:
        here = self.coordinate(epsilon)
        k = bisect.bisect_right(self.edges, float(here)) - 1
        if k < 0:
            return 1 - epsilon.exp()
        if k >= len(self.polynomials):
            return arb(0)
        half = (self.places[k + 1] - self.places[k]) / 2
        return self.polynomials[k]((here - self.places[k]) / half - 1)


def interpolated(
    places: list[arb], rule: Interpolation, coordinate: Callable[[arb], arb], value: Callable[[arb], arb]
) -> Profile:
    """A profile from its values, given as a function of the coordinate."""
    polynomials = []
    for low, high in itertools.pairwise(places):
        half = (high - low) / 2
        polynomials.append(rule.through([value((low + half * (1 + t)).mid()).mid() for t in rule.points]))
    return Profile([float(place) for place in places], places, polynomials, coordinate)


def graded(nearest: float, ratio: float) -> list[float]:
    """Edges in [0, 1], ever closer towards 0, where something is not analytic `nearest` below 0."""
    edges = [1.0]
    while edges[-1] > 2 * nearest:
        edges.append(edges[-1] / ratio)
    return [0.0, *reversed(edges)]


def laplace_steps(loss: SampledLoss, times: int, degree: int, ratio: float) -> Profile:
    """Sampled Laplace noise: f_n is analytic between the n + 1 places that n atoms can add up to.

    The singularity of the loss at ln(1-q) is e^(-2 size) of the way between two of them beyond each place.
    """
    rule, size = Interpolation(degree), loss.strength
    near = graded(math.exp(-2 * float(size)), ratio)
    far = [1 - edge for edge in reversed(near)]
    inside = [edge / 2 for edge in near[:-1]] + [(1 + edge) / 2 for edge in far]
    ends = sorted(((loss.loss(sign * size), sign) for sign in (-1, 1)), key=lambda end: float(end[0]))
    (low, low_sign), (high, _) = ends
    atom = {-1: loss.mass(-size, arb(1) / 2), 1: loss.mass(size, (-size).exp() / 2)}
    below, above = atom[low_sign], atom[-low_sign]
    gap = high - low

    def turn(level: arb) -> arb:
        """The x at which the loss is `level`."""
        ratio = (1 + (level if loss.direction == "remove" else -level).expm1() / loss.rate).log()
        return (ratio + size) / 2

    def rows(start: arb, end: arb, fractions: list[float]) -> list[tuple[arb, arb]]:
        if not end - start > 0:
            return []
        edges = [start + (end - start) * fraction for fraction in fractions]
        pairs = itertools.pairwise(edges)
        nodes: Panels = [node for a, b in pairs for node in panels(a, b, 1, degree)]
        ratios = [(2 * x - size, weight * (-x).exp() / 2) for x, weight in nodes]
        return [(loss.loss(ratio).mid(), loss.mass(ratio, q).mid()) for ratio, q in ratios]

    profile = Profile([0.0], [arb(0)], [], lambda epsilon: epsilon)  # of nothing: (1 - e^epsilon)_+
    for n in range(1, times + 1):
        before, bottom = profile, n * low

        def value(epsilon: arb, before: Profile = before, bottom: arb = bottom) -> arb:
            steps = math.floor(float((epsilon - bottom) / gap))
            cut = turn(epsilon - (bottom - low + steps * gap))
            pieces = rows(arb(0), cut, far) + rows(cut, size, near)
            inner = sum((mass * before(epsilon - level) for level, mass in pieces), arb(0))
            return above * before(epsilon - high) + below * before(epsilon - low) + inner

        fractions = [k + edge for k in range(n) for edge in inside[:-1]]
        places = [(bottom + gap * fraction).mid() for fraction in [*fractions, n]]
        profile = interpolated(places, rule, lambda epsilon: epsilon, value)
    return profile


def _chernoff(loss: SampledLoss, n: int, smallest: float) -> float:
    """Where P(L > epsilon) after n steps is certainly below `smallest`."""
    points = [(c, logarithm([(loss, n)], c)) for c in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)]
    return min((log_m - math.log(smallest)) / c for c, log_m in points)


def _quantile(probability: float) -> float:
    """A point x with P(N < x) <= probability, by bisection."""
    low, high = -40.0, 10.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(-middle / math.sqrt(2)) / 2 <= probability else (low, middle)
    return low


@dataclass
class GaussianSteps:
    """Sampled Gaussian noise, "remove": f_n is 1 - e^epsilon up to n ln(1-q), analytic in u = ln(epsilon - n ln(1-q)).

    f_n differs from 1 - e^epsilon below its first panel, and from 0 above its last one, by less than `smallest`.
    """

    loss: SampledLoss
    degree: int
    fineness: float
    smallest: float

    def __post_init__(self) -> None:
        self.rule, self.mu, self.rate = Interpolation(self.degree), self.loss.strength, self.loss.rate
        self.least = (1 - self.rate).log()
        self.leftmost = arb(_quantile(self.smallest) - 1)

    def turn(self, level: arb) -> arb:
        """The x at which the loss is `level`."""
        return ((1 + level.expm1() / self.rate).log() + self.mu**2 / 2) / self.mu

    def density(self, x: arb) -> tuple[arb, arb]:
        ratio = self.mu * x - self.mu**2 / 2
        return self.loss.loss(ratio).mid(), self.loss.mass(ratio, (-(x**2) / 2).exp()) / (2 * arb.pi()).sqrt()

    def closed(self, epsilon: arb, x: arb) -> arb:
        """The part of 1 - e^(epsilon - L) from x upwards."""
        above, shifted = ((place / arb(2).sqrt()).erfc() / 2 for place in (x, x - self.mu))
        return (1 - self.rate - epsilon.exp()) * above + self.rate * shifted

    def places(self, n: int) -> list[arb]:
        """f_n falls like a normal tail in epsilon, so panels shrink where u is large."""
        size, bottom = float(self.mu), n * self.least
        first = self.mu * _quantile(self.smallest ** (1 / n)) - self.mu**2 / 2
        found = [(self.rate / (1 - self.rate) * first.exp()).log1p().log().mid()]
        end = (arb(_chernoff(self.loss, n, self.smallest)) - bottom).log()
        while found[-1] < end:
            width = min(0.5, 0.4 * size, 0.6 * size / math.exp(float(found[-1])))
            found.append((found[-1] + width / self.fineness).mid())
        return found

    def expected(self, before: Profile, bottom: arb, epsilon: arb) -> arb:
        """E[f(epsilon - L)] for a profile f that is 1 - e^epsilon up to `bottom`: in closed form where it is that."""
        singular = self.turn(epsilon - bottom)
        limit = epsilon - bottom - before.places[0].exp()
        edge = self.turn(limit) if limit - self.least > 0 else self.leftmost
        upper = max(edge, self.leftmost, key=float)
        total = self.closed(epsilon, upper)
        ratio = min(0.6, 0.7 * float(self.mu)) / self.fineness
        while upper - self.leftmost > 0:
            step = min((singular - upper) * ratio, arb(0.6 / self.fineness), key=float)
            lower = max((upper - step).mid(), self.leftmost, key=float)
            for x, weight in panels(lower, upper, 1, 16):
                level, mass = self.density(x)
                total += weight * mass * before(epsilon - level)
            upper = lower
        return total.mid()

    def after(self, times: int) -> Profile:
        profile: Profile | None = None
        for n in range(1, times + 1):
            before, bottom = profile, (n * self.least).mid()

            def value(u: arb, before: Profile | None = before, bottom: arb = bottom) -> arb:
                epsilon = bottom + u.exp()
                if before is None:
                    return self.closed(epsilon, self.turn(epsilon))
                return self.expected(before, bottom - self.least, epsilon)

            def coordinate(epsilon: arb, bottom: arb = bottom) -> arb:
                return (epsilon - bottom).log() if epsilon > bottom else arb(-1000)

            profile = interpolated(self.places(n), self.rule, coordinate, value)
        assert profile is not None
        return profile


def solved(coarse: Profile, fine: Profile, delta: Fraction) -> tuple[mpf, float]:
    """Epsilon by the finer profile; the bound is ten times the difference to the other's."""
    with mp.workdps(40):
        wanted = mp.log(number(delta))
        found = []
        for profile in (coarse, fine):

            def logarithm_of(x: mpf, profile: Profile = profile) -> mpf:
                value = mpf(profile(arb(mp.nstr(x, 38))).mid().str(38, radius=False))
                return mp.log(max(value, mpf(10) ** -60)) - wanted

            if logarithm_of(mpf(0)) <= 0:
                found.append(mpf(0))
                continue
            low, high = mpf(0), mpf(1)
            while logarithm_of(high) > 0:
                low, high = high, 2 * high
            while high - low > high / 256:
                middle = (low + high) / 2
                low, high = (middle, high) if logarithm_of(middle) > 0 else (low, middle)
            found.append(root(logarithm_of, low, high, digits=30))
        return found[1], float(10 * abs(found[1] - found[0]) + mpf(10) ** -22)


def laplace(size: Fraction, rate: Fraction, times: int, deltas: list[Fraction]) -> list[Answer]:
    """The larger of both directions."""
    losses = sampled("laplace", size, rate)
    ways = [(laplace_steps(loss, times, 26, 2.3), laplace_steps(loss, times, 30, 2.1)) for loss in losses]
    return [written(*max(solved(*way, delta) for way in ways)) for delta in deltas]


def gaussian(mu: Fraction, rate: Fraction, times: int, deltas: list[Fraction]) -> list[Answer]:
    """In the direction "remove"; a first estimate of the other one is well below."""
    remove, add = sampled("gaussian", mu, rate)
    smallest = float(min(deltas)) * 1e-20
    resolutions = ((18, 1.0), (20, 1.25))
    coarse, fine = (GaussianSteps(remove, *resolution, smallest).after(times) for resolution in resolutions)
    answers = [solved(coarse, fine, delta) for delta in deltas]
    for delta, (epsilon, _) in zip(deltas, answers, strict=True):
        if largest([(add, times)]) < float(epsilon):
            continue
        estimate = guess([(add, times)], math.log(float(delta)))[1]
        if estimate > 0.97 * float(epsilon):
            raise ArithmeticError(f"the other direction may be larger: {estimate}")
    return [written(*answer) for answer in answers]
