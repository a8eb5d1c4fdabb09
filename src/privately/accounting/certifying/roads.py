"""The roads to a bound that the checker can show: for one list of laws in one direction, each with its witness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privately.accounting import closed_forms, contour
from privately.accounting.certifying.contours import (
    CELLS,
    Line,
    Outline,
    Parts,
    contour_witness,
    laplace_sketch,
    order_witness,
)
from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.moments import Moments
from privately.accounting.certifying.pairs import Pair
from privately.accounting.compositions import Composition
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.finite_pairs import response_pair
from privately.accounting.losses import (
    Direction,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.errors import InvalidParameter
from privately.guarantees import PureDP
from privately.guarantees.rules import optimal_composition, suppose
from privately.rounding import Enclosure

WIDTH = Fraction(1, 10**6)
_LEAST = Fraction(1, 1000)
_WIDE = Fraction(1, 10**4)
_BLURS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
_QUIET = 48.0
_COARSE, _FINE = 1e-4, 1e-5
_IMPROVABLE = {"pure", "steps"}
_MOST_RUNS = 200_000
_TWO = 2
_FINE_CELLS, _MORE = 4096, 1.05
_WIDENINGS = 6
_SLIGHTLY_MORE = 1 + Fraction(1, 10**9)
_HIGHEST, _LARGEST_POWER, _FARTHEST = Fraction(10**4), Fraction(9000), 110.0

Laws = Sequence[tuple[Law, int]]


@dataclass(frozen=True)
class Bound:
    """An epsilon that is enough, and the witness that shows it."""

    epsilon: Fraction
    witness: Mapping[str, Any]
    is_near: bool = True
    """Whether it is known to be near the truth, as far as its method goes."""

    @property
    def is_improvable(self) -> bool:
        return not self.is_near or self.witness["method"] in _IMPROVABLE


def loss_of(law: Law, direction: Direction) -> Loss | None:
    """The law by its name in accounting, if its losses are finite and known there; None for one that is always 0.

    A range law as the response that it is at most.
    """
    numbers = law.numbers
    match law.name:
        case "normal":
            return GaussianLoss(mu_squared=numbers[0])
        case "laplace":
            return LaplaceLoss(epsilon=numbers[0])
        case "sampled normal":
            return SampledGaussianLoss(mu_squared=numbers[0], rate=numbers[1], direction=direction)
        case "sampled laplace":
            return SampledLaplaceLoss(epsilon=numbers[0], rate=numbers[1], direction=direction)
    if law.base_name not in {"response", "range"}:
        raise NotApplicable(f"no transform of a {law.name} law in closed form")
    categories, delta = (int(numbers[1]), numbers[2]) if law.base_name == "response" else (_TWO, Fraction(0))
    pair = response_pair(numbers[0], categories=categories, delta=delta)
    if law.is_sample:
        pair = pair.sampled(numbers[-1], direction) if law.is_sampled else pair.glued(numbers[-1])
    return pair.loss()[0]


def parts_of(laws: Laws, direction: Direction) -> list[tuple[Loss, int]]:
    """All laws as losses of accounting; equal ones together."""
    found: dict[Loss, int] = {}
    for law, times in laws:
        loss = loss_of(law, direction)
        if loss is not None:
            found[loss] = found.get(loss, 0) + times
    return list(found.items())


def by_binomial(law: Law, times: int, delta: Fraction) -> Bound | None:
    """One response of two answers, so many times; a checker does not take anything else for one."""
    if law.name != "response" or law.numbers[1] > _TWO or not law.numbers[0] or delta <= 0 or times > _MOST_RUNS:
        return None
    try:
        summed = optimal_composition(suppose(PureDP(epsilon=law.numbers[0])), counts=[times], delta=delta)
    except InvalidParameter:  # too large an epsilon in all
        return None
    return Bound(slightly_more(summed.conclusion.parameters["epsilon"]), {"method": "binomial"})


def by_steps(laws: Laws, direction: Direction, delta: Fraction) -> list[Bound]:
    """One sampled normal law: by the closed form of one step, to which each contributes alike."""
    if len(laws) != 1 or laws[0][0].name != "sampled normal":
        return []
    law, times = laws[0]
    try:
        ((loss, _),) = parts_of([(law, 1)], direction)
        found = closed_forms.epsilon(Composition(parts=((loss, 1),)), delta / times, WIDTH)
    except DEAD_ENDS:
        return []
    if found.upper == math.inf:
        return []
    return [Bound(slightly_more(times * Fraction(found.upper)), {"method": "steps"})]


def by_contour(parts: Sequence[tuple[Loss, int]], delta: Fraction, ratio: float = 0.0) -> list[Bound]:
    """By the contour integral, with a little normal loss added."""
    try:
        blur = _blur(parts, delta, ratio) if ratio else Fraction(0)
        return [_contour([*parts, (GaussianLoss(mu_squared=blur), 1)] if blur else parts, delta, blur)]
    except NotApplicable:
        return []


def by_blurred_contour(parts: Sequence[tuple[Loss, int]], delta: Fraction) -> list[Bound]:
    """Where losses do not fall along the contour: with as little normal loss as is enough."""
    return next((found for ratio in _BLURS if (found := by_contour(parts, delta, ratio))), [])


def _blur(parts: Parts, delta: Fraction, ratio: float) -> Fraction:
    outline = Outline(parts)
    log_delta = log_of(delta)
    c = outline.best_order(lambda c: (outline.cumulants(c)[0] - log_delta) / c)
    return Fraction(ratio * outline.cumulants(c)[2]).limit_denominator(10**12) or Fraction(1, 10**12)


def _contour(parts: Sequence[tuple[Loss, int]], delta: Fraction, blur: Fraction) -> Bound:
    log_delta = log_of(delta)
    guess = Outline(parts).guess(log_delta)
    contour_witness(parts, guess, log_delta, _COARSE, blur)  # not applicable where the sum is too long to be checked
    found = contour.epsilon(Composition(parts=tuple(parts)), delta, WIDTH)
    if found.upper == math.inf:
        raise NotApplicable("no upper end was found")
    more = _chords(parts, float(found.upper))
    upper = Fraction(found.upper) + more
    room = WIDTH * max(upper, _LEAST)
    for _ in range(_WIDENINGS):
        epsilon = short(upper + room)
        spare = _spare(parts, epsilon - more, delta, float(room) * Outline(parts).saddle(float(epsilon)))
        if spare:
            witness = contour_witness(parts, float(epsilon), log_delta, min(spare / 5, 1e-3), blur)
            return Bound(epsilon, witness, found.width <= _WIDE * max(upper, _LEAST))
        room *= 4
    raise NotApplicable("delta does not fall between these losses")


def _spare(parts: Sequence[tuple[Loss, int]], epsilon: Fraction, delta: Fraction, expected: float) -> float:
    """Which part of delta is not needed at this epsilon: as expected of smooth losses, less between some that stand
    alone, and 0 where it is hardly any.
    """
    found = contour.delta(Composition(parts=tuple(parts)), epsilon, Fraction(max(expected / 100, 1e-12)))
    least, most = (float(1 - Fraction(end) / delta) for end in (found.upper, found.lower))
    if least > expected / 50:
        return min(least, expected)
    return expected if most > expected / 2 else 0.0  # it is not known so well


def _chords(parts: Parts, epsilon: float) -> Fraction:
    """By how much Laplace noise on samples costs more as cells: what ln M has more, over the height of the contour."""
    sampled = [(law, times) for law, times in parts if isinstance(law, SampledLaplaceLoss)]
    if not sampled:
        return Fraction(0)
    c = Outline(parts).saddle(epsilon)
    more = sum(
        times * (laplace_sketch(law, CELLS).cumulants(c)[0] - laplace_sketch(law, _FINE_CELLS).cumulants(c)[0])
        for law, times in sampled
    )
    return Fraction(max(_MORE * more / c, 0.0))


def by_points(laws: Laws, direction: Direction, delta: Fraction) -> list[Bound]:
    """By the contour integral, with laws of finitely many losses as their points; `delta` is that of finite losses."""
    parts: list[tuple[Loss | Pair, int]] = []
    for law, times in laws:
        if law.base_name == "discrete normal":  # what is not listed counts as lost
            delta -= times * Fraction(law.pair(direction).infinite) * _SLIGHTLY_MORE
        if law.name in {"normal", "laplace", "sampled normal"}:
            parts += [(loss, runs) for loss, runs in parts_of([(law, times)], direction)]
        elif law.name == "sampled laplace":
            drawn = laplace_sketch(
                SampledLaplaceLoss(epsilon=law.numbers[0], rate=law.numbers[1], direction=direction), CELLS
            )
            parts.append((Pair(drawn.loss, drawn.base), times))
        else:
            parts.append((law.pair(direction), times))
    if delta <= 0:
        return []
    log_delta = log_of(delta)
    for ratio in (0.0, *_BLURS):
        try:
            blur = _blur(parts, delta, ratio) if ratio else Fraction(0)
            whole: Parts = [*parts, (GaussianLoss(mu_squared=blur), 1)] if blur else parts
            near = Outline(whole).guess(log_delta)
            witness = contour_witness(whole, near, log_delta, _FINE, blur)
            _require_powers(parts, Fraction(witness["c"]))
            found = Line(whole, witness).epsilon(log_delta - _COARSE / 10, near)
        except DEAD_ENDS:
            continue
        return [Bound(slightly_more(Fraction(found)), witness)]
    return []


def _require_powers(parts: Parts, c: Fraction) -> None:
    """Refuse losses of which the checker does not evaluate e^(c loss)."""
    for law, _ in parts:
        if isinstance(law, Pair) and float(c + 1) * float(np.abs(law.losses).max(initial=0.0)) > _LARGEST_POWER:
            raise NotApplicable("the losses are too large")


def by_renyi(laws: Laws, direction: Direction, delta: Fraction) -> list[Bound]:
    """By Renyi divergences, at the best order; `delta` is that of finite losses."""
    try:
        return [_at_best_order(laws, direction, delta)]
    except DEAD_ENDS:
        return []


_EXACT = ("normal", "sampled normal", "laplace", "sampled laplace")


def _at_best_order(laws: Laws, direction: Direction, delta: Fraction) -> Bound:
    log_delta, moments = log_of(delta), Moments()
    exact = parts_of([(law, times) for law, times in laws if law.name in _EXACT], direction)
    others = [(law, times) for law, times in laws if law.name not in _EXACT]
    outline = Outline(exact)

    def epsilon_at(c: float) -> float:
        k = outline.cumulants(c)[0] + moments.total(others, c, direction)
        if k == math.inf:
            return math.inf if c < 1 else 1e300 * c
        return (k - log_delta + c * math.log(c) - (c + 1) * math.log1p(c)) / c

    highest = min([_HIGHEST, *(_highest(law) for law, _ in exact)])
    near = min(Fraction(outline.best_order(epsilon_at)).limit_denominator(10**6), highest)
    tried = [
        near,
        *(whole for whole in (Fraction(math.floor(near)), Fraction(math.ceil(near))) if 0 < whole <= highest),
    ]
    c = min(tried if others else tried[:1], key=lambda one: epsilon_at(float(one)))
    known = moments.total(others, float(c), direction)
    if known == math.inf:
        raise NotApplicable("no order was found")
    total = Enclosure.of(Fraction(known + 1e-12 * abs(known) + 1e-18))
    for law, times in exact:
        total = total + times * _log_mass(law, c)
    ends = c * Enclosure.of(c).log() - (c + 1) * Enclosure.of(c + 1).log() - Enclosure.of(delta).log()
    epsilon = ((total + ends) / Enclosure.of(c)).nonnegative()
    return Bound(
        slightly_more(epsilon.claim()),
        {"method": "renyi", "order": str(c + 1), "grids": order_witness(exact, float(c))},
    )


def _highest(law: Loss) -> Fraction:
    """Up to which c a checker evaluates all powers of e that M(c) needs."""
    match law:
        case SampledGaussianLoss(mu_squared=mu_squared):
            return Fraction(_FARTHEST / math.sqrt(mu_squared)).limit_denominator(10**6)
        case LaplaceLoss(epsilon=epsilon) | SampledLaplaceLoss(epsilon=epsilon):
            return _LARGEST_POWER / epsilon
    return _HIGHEST


def _log_mass(law: Loss, c: Fraction) -> Enclosure:
    match law:
        case GaussianLoss(mu_squared=mu_squared):
            return Enclosure.of(c * (c + 1) * mu_squared / 2)
        case LaplaceLoss(epsilon=epsilon):
            first, second = Enclosure.of(c * epsilon).exp(), Enclosure.of(-(c + 1) * epsilon).exp()
            return (((c + 1) * first + c * second) / (2 * c + 1)).log()
        case SampledGaussianLoss():
            place = math.nextafter(float(c), math.inf)
            return Enclosure.of(Fraction(SampledGaussian.of(law).grid(place, place, 0.0, _QUIET).log_mass(place)[1]))
        case SampledLaplaceLoss():
            found = laplace_sketch(law, CELLS).cumulants(float(c))[0]
            return Enclosure.of(Fraction(found + 1e-12 * abs(found) + 1e-15))
    raise NotApplicable(f"no moments of a {type(law).__name__}")


def slightly_more(epsilon: Fraction) -> Fraction:
    return short(epsilon * (1 + Fraction(1, 10**9)))


def short(value: Fraction) -> Fraction:
    """Rounded up to 12 decimals."""
    return Fraction(math.ceil(value * 10**12), 10**12)


def log_of(value: Fraction) -> float:
    ends = Enclosure.of(value).log()
    return float(ends.lower)
