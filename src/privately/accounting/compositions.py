"""From events to loss laws: what has to be added up, for each direction in which neighbours can differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from privately.accounting.events import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Laplace,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Repeat,
)
from privately.accounting.events import Sequence as Steps
from privately.accounting.failing import failing
from privately.accounting.finite_pairs import FinitePair, response_pair
from privately.accounting.losses import (
    DIRECTIONS,
    Direction,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NotApplicable
from privately.accounting.terms import Terms, alternatives, count, flatten
from privately.errors import InvalidParameter

Additive = GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss
Pair = Additive | FinitePair
Part = tuple[Loss | None, Fraction]

LONGEST_SUM = 4 * 4096
"""A sum of squares longer than this, in bits, is cut into several laws."""


_NOISES = (Gaussian, Laplace)
_NONE, _THE_SAME = Fraction(0), Fraction(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Independent losses to be added up, for one direction: each law so many times.

    With the mass `infinite` (at infinite loss) the profile is infinite + (1 - infinite) E[(1 - e^(epsilon - L))+],
    L the sum of all `parts`; without parts L = 0. Where 1 - (1 - d)^times is too long to be written down, the truth
    lies between `infinite_lower` and `infinite`; otherwise both are exact.
    """

    parts: tuple[tuple[Loss, int], ...] = ()
    infinite: Fraction = _NONE
    infinite_lower: Fraction = _THE_SAME

    def __post_init__(self) -> None:
        if self.infinite_lower is _THE_SAME or self.infinite_lower < 0:
            object.__setattr__(self, "infinite_lower", self.infinite)
        if not self.infinite_lower is self.infinite is _NONE and not 0 <= self.infinite_lower <= self.infinite <= 1:
            raise InvalidParameter("infinite", "must be a probability.")
        for _, times in self.parts:
            if times < 1:
                raise InvalidParameter("parts", "every law counts at least once.")

    @property
    def is_nothing(self) -> bool:
        """Whether nothing at all is revealed."""
        return not self.parts and self.infinite == 0


def compositions(event: Event) -> tuple[Composition, ...]:
    """What to add up for an event; the answer is the largest over everything returned, taken last.

    There is one for each direction (one in all when both are equal), and for each part of a Parallel that is not
    covered by another one. Raises NotApplicable when no single pair of laws is the worst case.

    Theorem: each is a dominating pair of the event for its direction, and together they are reached: some mechanisms
        that the event describes have exactly these profiles. Only samples of fixed size need not be, in a composition.
    Reference: Zhu-Dong-Wang 2022, Theorem 10 and Theorem 11; Dong-Roth-Su 2022, Theorem 4
    Proof: docs/theory/accounting/events.md#composition
    Checked-by: tests/accounting/test_compositions.py::test_compositions_dominate_enumeration,
        tests/accounting/test_compositions.py::test_adaptive_compositions_are_dominated
    """
    noise = _repeated_noise(event) or _normal_noises(event)
    if noise is not None:
        return noise
    found: list[Composition] = []
    for one in one_by_one(event):
        if one not in found:
            found.append(one)
    return tuple(found)


def one_by_one(event: Event) -> Iterator[Composition]:
    """The same, each made when it is asked for and kept by nobody else: they may be large. Equal ones are repeated."""
    listed = alternatives(event)[::-1]
    while listed:
        yield from _composed(listed.pop())


def _repeated_noise(event: Event) -> tuple[Composition, ...] | None:
    """The same for one noise, sampled or not, so many times: what is asked most often, without a detour."""
    times, rate = 1, None
    if isinstance(event, Repeat):
        times, event = event.times, event.event
    if isinstance(event, PoissonSample):
        rate, event = event.rate, event.event
    if type(event) not in _NOISES or times < 1 or (rate is not None and not 0 < rate.numerator < rate.denominator):
        return None
    pair = _pair(event)
    if isinstance(pair, FinitePair):
        return None
    if rate is not None:
        parts = [_sampled(pair, rate, direction)[0] for direction in DIRECTIONS]
        return tuple(Composition(parts=((law, times),)) for law in parts if law is not None)
    if isinstance(pair, GaussianLoss):
        return (Composition(parts=((GaussianLoss(mu_squared=times * pair.mu_squared), 1),)),)
    return (Composition(parts=((pair, times),)),)


def _normal_noises(event: Event) -> tuple[Composition, ...] | None:
    """The same for a Sequence of normal noises."""
    if not isinstance(event, Steps) or not event.events:
        return None
    squares = []
    for one in event.events:
        if type(one) is not Gaussian or not one.noise_multiplier.numerator:
            return None
        multiplier = one.noise_multiplier
        squares.append((multiplier.denominator**2, multiplier.numerator**2))
    return (_Collected(squares=squares).composition(),)


def relaid(composition: Composition, change: Callable[[Loss], Loss]) -> Composition:
    """With every law as `change` makes it, laid out as usual; infinite losses stay."""
    collected = _Collected()
    for law, times in composition.parts:
        collected.add((change(law), _NONE), times)
    return replace(composition, parts=collected.composition().parts)


def _composed(terms: Terms) -> Iterable[Composition]:
    """One for each direction, or one in all where nothing is sampled."""
    both, sampled, often = _Collected(), list[Event](), list[int]()
    for event, times in terms.items():
        match event:
            case Gaussian(noise_multiplier=multiplier) if multiplier:
                both.squares.append((times * multiplier.denominator**2, multiplier.numerator**2))
            case PoissonSample():
                sampled.append(event)  # pairs of both would take more memory
                often.append(times)
            case _:
                both.add(_part(event), times)
    if not sampled:
        return [both.composition()]

    def one(direction: Direction) -> Composition:
        laws = (law_of(event, direction) for event in sampled)
        return both.beside(zip(laws, often, strict=True)).composition()

    return map(one, DIRECTIONS)


@dataclass(frozen=True, slots=True)
class _Collected:
    """Laws and failures with their numbers; mu^2 of what is normal, as numerators and denominators."""

    laws: dict[Loss, int] = field(default_factory=dict)
    squares: list[tuple[int, int]] = field(default_factory=list)
    failures: dict[Fraction, int] = field(default_factory=dict)

    def beside(self, others: Iterable[tuple[Part, int]]) -> _Collected:
        """All of it and these."""
        found = _Collected(dict(self.laws), list(self.squares), dict(self.failures))
        for part, times in others:
            found.add(part, times)
        return found

    def add(self, part: Part, times: int) -> None:
        law, infinite = part
        if isinstance(law, GaussianLoss):
            self.squares.append((times * law.mu_squared.numerator, law.mu_squared.denominator))
        elif law is not None:
            count(self.laws, law, times)
        if infinite:
            count(self.failures, infinite, times)

    def composition(self) -> Composition:
        """In an order that does not depend on the event's, with all normal laws as one."""
        lower, upper = failing(self.failures) if self.failures else (_NONE, _NONE)
        if lower == 1:
            return Composition(infinite=Fraction(1))
        normal = [(GaussianLoss(mu_squared=total), 1) for total in _sums(self.squares)]
        laws = sorted(self.laws.items(), key=_key) if len(self.laws) > 1 else self.laws.items()
        return Composition(parts=(*normal, *laws), infinite=upper, infinite_lower=lower)


def _sums(squares: Sequence[tuple[int, int]]) -> list[Fraction]:
    """The sum of these ratios, or several sums when it would be too long."""
    if not squares:
        return []
    level = list(squares)
    is_short = sum(denominator.bit_length() for _, denominator in level) <= LONGEST_SUM
    while len(level) > 1 and (is_short or _are_short(level)):  # in pairs, so that few numbers are long
        add = _crossed if is_short else _added
        paired = [add(one, other) for one, other in zip(level[::2], level[1::2], strict=False)]
        level = [*paired, level[-1]] if len(level) % 2 else paired
    if len(level) == 1 and (is_short or _are_short(level)):
        return [Fraction(*level[0])]
    sums: list[Fraction] = []
    for square in sorted(Fraction(*ratio) for ratio in squares):
        if sums and sums[-1].denominator.bit_length() <= LONGEST_SUM:
            sums[-1] += square
        else:
            sums.append(square)
    return sums


def _are_short(ratios: Sequence[tuple[int, int]]) -> bool:
    return all(denominator.bit_length() <= LONGEST_SUM for _, denominator in ratios)


def _crossed(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The sum of two ratios, over the product of the denominators: sooner, if not the shortest."""
    if one[1] == other[1]:
        return one[0] + other[0], one[1]
    return one[0] * other[1] + other[0] * one[1], one[1] * other[1]


def _added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The sum of two ratios, over the least common denominator."""
    shared = math.gcd(one[1], other[1])
    mine, theirs = one[1] // shared, other[1] // shared
    return one[0] * theirs + other[0] * mine, mine * other[1]


def _key(part: tuple[Loss, int]) -> tuple[object, ...]:
    law, times = part
    if isinstance(law, GluedLoss):
        return "GluedLoss", _key((law.base, times)), law.rate
    values = [getattr(law, name) for name in law.__slots__]
    return type(law).__name__, *[_nearly(value) for value in values], *values, times


def _nearly(value: object) -> float:
    """Floats, which are soon compared, stand before exact numbers: in the same order, or equal. No number of an event
    is beyond their range.
    """
    return value.numerator / value.denominator if type(value) is Fraction else 0.0


def _part(event: Event) -> Part:
    """The finite losses of a term that is the same in both directions, None when they are 0, and its infinite mass."""
    if isinstance(event, FixedSizeSample):
        return _glued(_shared(event.event), event.rate)
    pair = _pair(event)
    return pair.loss() if isinstance(pair, FinitePair) else (pair, Fraction(0))


def law_of(term: Event, direction: Direction) -> Part:
    """One term in one direction: the law of its finite losses, None when they are 0, and its infinite mass."""
    if isinstance(term, PoissonSample):
        return _sampled(_shared(term.event), term.rate, direction)
    return _part(term)


def _shared(event: Event) -> Pair:
    """The pair of all that is run on one and the same sample."""
    if isinstance(event, (Gaussian, Laplace)):
        return _pair(event)
    terms = flatten(event)
    if all(isinstance(one, (Gaussian, GaussianDP)) for one in terms):
        return _normal(terms)
    if len(terms) == 1 and set(terms.values()) == {1}:
        return _pair(next(iter(terms)))
    raise NotApplicable("several mechanisms on one sample, not all of them Gaussian, have no pair in closed form")


def _normal(terms: Terms) -> Pair:
    """Normal noise several times on the same data is normal noise once."""
    pairs = [(_pair(event), times) for event, times in terms.items()]
    if any(isinstance(pair, FinitePair) for pair, _ in pairs):
        return response_pair(Fraction(0), delta=1)
    squares = [(pair.mu_squared, times) for pair, times in pairs if isinstance(pair, GaussianLoss)]
    total, *rest = _sums([(times * square.numerator, square.denominator) for square, times in squares])
    if rest:
        raise NotApplicable("too many different amounts of noise on one sample")
    return GaussianLoss(mu_squared=total)


def _sampled(pair: Pair, rate: Fraction, direction: Direction) -> Part:
    match pair:
        case FinitePair():
            return pair.sampled(rate, direction).loss()
        case GaussianLoss(mu_squared=mu_squared):
            return SampledGaussianLoss(mu_squared=mu_squared, rate=rate, direction=direction), _NONE
        case LaplaceLoss(epsilon=epsilon):
            return SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=direction), _NONE
        case DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            law: Loss = SampledDiscreteGaussianLoss(
                variance=variance, sensitivity=sensitivity, rate=rate, direction=direction
            )
            return law, _NONE
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            law = SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity, rate=rate, direction=direction)
            return law, _NONE


def _glued(pair: Pair, rate: Fraction) -> Part:
    if isinstance(pair, FinitePair):
        return pair.glued(rate).loss()
    return GluedLoss(base=pair, rate=rate), Fraction(0)


def _pair(event: Event) -> Pair:
    """The dominating pair of a leaf; the same in both directions, as every leaf's is symmetric.

    Theorem: normal noise on a vector of L2 sensitivity 1, and Laplace noise on one of L1 sensitivity 1, is dominated by
        the same noise on one number that changes by 1; so is discrete Laplace noise, for whole sensitivities.
    Reference: Balle-Wang 2018; Dong-Roth-Su 2022; Awan-Vadhan 2023
    Proof: docs/theory/accounting/events.md#noise
    Checked-by: tests/accounting/test_compositions.py::test_laplace_noise_on_vectors_is_dominated
    """
    match event:
        case Gaussian(noise_multiplier=multiplier):
            square = multiplier.denominator**2, multiplier.numerator**2
            return GaussianLoss(mu_squared=Fraction(*square)) if multiplier else _REVEALED
        case GaussianDP(mu=mu):
            return GaussianLoss(mu_squared=mu**2)
        case Laplace(scale=scale):
            return LaplaceLoss(epsilon=1 / scale) if scale else _REVEALED
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity):
            return DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity) if variance else _REVEALED
        case DiscreteLaplace(scale=scale, sensitivity=1):
            return response_pair(1 / scale) if scale else _REVEALED
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity) if scale else _REVEALED
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            return response_pair(epsilon, categories=categories)
        case Pure(epsilon=epsilon):
            return response_pair(epsilon)
        case Approx(epsilon=epsilon, delta=delta):
            return response_pair(epsilon, delta=delta)
    raise NotApplicable(f"no single pair of laws is known to be the worst case of {type(event).__name__}")


_REVEALED = response_pair(Fraction(0), delta=1)
"""No noise: whatever differs is seen."""
