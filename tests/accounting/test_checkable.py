"""The library and the checker list the same losses for an event."""

from fractions import Fraction

import mpmath
import pytest

from privately.accounting.checkable import Concentrated, Response, cases, losses
from privately.accounting.encoding import encode
from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.accounting.losses import (
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.certificates.checker.accounting import finite
from privately.certificates.checker.accounting.events import read_event
from privately.certificates.checker.accounting.pieces import ordered
from privately.certificates.checker.accounting.terms import Law, alternatives
from privately.certificates.checker.rationals import Rational
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors

REPLACE = Neighbors.REPLACE
NORMAL = Gaussian(noise_multiplier="3/2")
PURE = Pure(epsilon="1/3")
LEAVES: list[Event] = [
    NORMAL,
    Gaussian(noise_multiplier=0),
    GaussianDP(mu="1/2"),
    GaussianDP(mu=0),
    Laplace(scale=3),
    Laplace(scale=0),
    DiscreteGaussian(variance=9, sensitivity=2),
    DiscreteGaussian(variance=0),
    DiscreteLaplace(scale=9, sensitivity=2),
    DiscreteLaplace(scale=0),
    RandomizedResponse(epsilon=1, categories=4),
    Exponential(epsilon=1),
    Exponential(epsilon=0),
    PURE,
    Pure(epsilon=0),
    Approx(epsilon=1, delta="1/9"),
    Approx(epsilon=0, delta=0),
    ZCDP(rho="1/8"),
    ZCDP(rho=0),
    Renyi(bounds={2: 1, 8: 3}),
]
COMBINED: list[Event] = [
    *[Repeat(event=leaf, times=7) for leaf in LEAVES],
    *[PoissonSample(event=leaf, rate="1/5") for leaf in LEAVES],
    *[PoissonSample(event=Repeat(event=leaf, times=3), rate="1/5") for leaf in LEAVES],
    *[Group(event=leaf, size=3) for leaf in LEAVES],
    Sequence(events=[*LEAVES, NORMAL]),
    Repeat(event=Sequence(events=[NORMAL, PURE]), times=0),
    PoissonSample(event=PoissonSample(event=NORMAL, rate="1/5"), rate="1/2"),
    PoissonSample(event=PoissonSample(event=PURE, rate="1/5"), rate="1/2"),
    PoissonSample(event=Repeat(event=PoissonSample(event=PURE, rate="1/5"), times=2), rate="1/2"),
    PoissonSample(event=Sequence(events=[PURE, Laplace(scale=2)]), rate="1/2"),
    PoissonSample(event=Sequence(events=[PURE, NORMAL]), rate="1/2"),
    PoissonSample(event=NORMAL, rate=1),
    PoissonSample(event=NORMAL, rate=0),
    FixedSizeSample(event=Pure(epsilon=1, neighbors=REPLACE), size=3, population=10),
    FixedSizeSample(event=Approx(epsilon=1, delta="1/9", neighbors=REPLACE), size=3, population=10),
    FixedSizeSample(event=Gaussian(noise_multiplier=1, neighbors=REPLACE), size=3, population=10),
    Parallel(events=[NORMAL, PURE, NORMAL, PoissonSample(event=NORMAL, rate="1/5")]),
    Repeat(event=Parallel(events=[NORMAL, NORMAL]), times=3),
    Repeat(event=Parallel(events=[NORMAL, PURE]), times=3),
    Group(event=PoissonSample(event=NORMAL, rate="1/5"), size=2),
]
Profile = dict[str, object]


def of_checker(event: Event) -> list[Profile] | None:
    try:
        listed = alternatives(read_event(encode(event)["event"], "event"), Work())
    except Invalid:
        return None
    directions = [
        (terms, removes)
        for terms in listed
        for removes in ((True, False) if any(law.is_sampled for law in terms) else (True,))
    ]
    return [_summary([_seen(law, removes) * times for law, times in terms.items()]) for terms, removes in directions]


def of_library(event: Event) -> list[Profile] | None:
    try:
        listed = cases(event)
    except NoSuchRule:
        return None
    found = []
    for case in listed:
        known = losses(case)
        seen = [_known(law) * times for law, times in known.laws]
        for mass, times in known.failures.items():
            left = mpmath.mpf((1 - mass).numerator) / mass.denominator
            seen.append(_Vector(safe=mpmath.log(left)) * times if left else _Vector(revealed=mpmath.mpf(times)))
        for term, times in known.rest:
            bound = _moment(term)
            seen.append(_Vector(moment=mpmath.mpf(bound.numerator) / bound.denominator) * times)
        found.append(_summary(seen))
    return found


def _moment(term: Concentrated | Renyi | Response) -> Fraction:
    """Twice the Renyi divergence of order 3, or for listed orders that of the first."""
    match term:
        case Concentrated(rho):
            return 6 * rho
        case Renyi(bounds=bounds):
            return 2 * bounds[0][1]
        case Response(epsilon=epsilon):
            return min(2 * epsilon, 6 * epsilon**2 / 8)


class _Vector(dict[str, mpmath.mpf]):
    """A few numbers that add up over independent losses."""

    def __init__(self, **numbers: mpmath.mpf) -> None:
        super().__init__(numbers)

    def __mul__(self, times: int) -> "_Vector":
        return _Vector(**{name: value * times for name, value in self.items()})


def _summary(listed: list[_Vector]) -> Profile:
    total: dict[str, mpmath.mpf] = {}
    for one in listed:
        for name, value in one.items():
            total[name] = total.get(name, mpmath.mpf(0)) + value
    return {name: mpmath.nstr(value, 12) for name, value in total.items() if abs(value) > 1e-30}


def _fraction(value: Rational) -> Fraction:
    return Fraction(value.numerator, value.denominator)


def _seen(law: Law, removes: bool) -> _Vector:
    """ln M(2) of the finite losses, given that they are; and ln of the probability that they are."""
    numbers = [Fraction(*pair) for pair in law.numbers]
    match law.name:
        case "normal":
            return _Vector(normal=mpmath.mpf(numbers[0].numerator) / numbers[0].denominator)
        case "laplace":
            return _Vector(laplace=mpmath.mpf(numbers[0].numerator) / numbers[0].denominator)
        case "sampled normal":
            return _Vector(**{f"sampled {numbers} {removes}": mpmath.mpf(1)})
        case "sampled laplace":
            return _Vector(**{f"sampled laplace {numbers} {removes}": mpmath.mpf(1)})
        case "concentrated":
            return _Vector(moment=6 * mpmath.mpf(numbers[0].numerator) / numbers[0].denominator)
        case "range":
            bound = min(2 * numbers[0], 6 * numbers[0] ** 2 / 8)
            return _Vector(moment=mpmath.mpf(bound.numerator) / bound.denominator)
        case "renyi":
            return _Vector(moment=2 * mpmath.mpf(numbers[1].numerator) / numbers[1].denominator)
    mass = _fraction(finite.infinite_mass(law, removes=removes))
    if mass == 1:
        return _Vector(revealed=mpmath.mpf(1))
    weights = finite.points(law, Rational(2), removes=removes).weights
    total = mpmath.fsum(mpmath.ldexp(weight.high, weight.exponent) for weight in weights)
    safe = mpmath.log(1 - mpmath.mpf(mass.numerator) / mass.denominator)
    return _Vector(finite=mpmath.log(total) - safe, safe=safe)


def _known(law: Loss) -> _Vector:
    match law:
        case GaussianLoss(mu_squared=square):
            return _Vector(normal=mpmath.mpf(square.numerator) / square.denominator)
        case LaplaceLoss(epsilon=epsilon):
            return _Vector(laplace=mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        case SampledGaussianLoss(mu_squared=square, rate=rate, direction=direction):
            return _Vector(**{f"sampled {[square, rate]} {direction == 'remove'}": mpmath.mpf(1)})
        case SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=direction):
            return _Vector(**{f"sampled laplace {[epsilon, rate]} {direction == 'remove'}": mpmath.mpf(1)})
        case FiniteLoss():
            atoms = [(mpmath.mpf(str(p.upper)), mpmath.mpf(str(loss.upper))) for p, loss in law.atoms()]
            return _Vector(finite=mpmath.log(mpmath.fsum(p * mpmath.exp(2 * loss) for p, loss in atoms)))
    raise AssertionError(law)


@pytest.mark.parametrize("event", [*LEAVES, *COMBINED], ids=lambda event: str(event)[:80])
def test_library_and_checker_list_the_same_losses(event: Event) -> None:
    with mpmath.workprec(150):
        assert of_library(event) == of_checker(event)


@pytest.mark.parametrize("event", [*LEAVES, *COMBINED], ids=lambda event: str(event)[:80])
def test_names_and_order_are_those_of_the_checker(event: Event) -> None:
    """Cells begin where the witness says for the first law, the second one, and so on."""
    if of_checker(event) is None:
        return
    listed = alternatives(read_event(encode(event)["event"], "event"), Work())
    named = [case.laws() for case in cases(event) if case.direction == "remove"]
    for terms, laws in zip(listed, named, strict=True):
        expected = [(law.name, [Fraction(*pair) for pair in law.numbers], times) for law, times in ordered(terms)]
        if laws is None:
            assert any(name in {"concentrated", "renyi", "glued response"} for name, _, _ in expected)
        else:
            assert [(law.name, list(law.numbers), times) for law, times in laws] == expected


def test_what_is_known_and_what_is_not() -> None:
    known = [of_library(event) is not None for event in [*LEAVES, *COMBINED]]
    assert 60 < sum(known) < len(known) - 10
