"""The library and the checker list the same laws for an event."""

from collections.abc import Iterable
from fractions import Fraction

import pytest

from privately.accounting.certifying.cases import cases
from privately.accounting.certifying.laws import Law
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
from privately.certificates.checker.accounting import terms
from privately.certificates.checker.accounting.events import read_event
from privately.certificates.checker.accounting.terms import alternatives, is_directed, ordered
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
    Renyi(bounds={2: 1, 8: 0}),
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
EXTRA: list[Event] = [
    PoissonSample(event=ZCDP(rho="1/8"), rate="1/5"),
    Repeat(event=PoissonSample(event=Parallel(events=[NORMAL, PURE]), rate="1/5"), times=3),
    PoissonSample(event=Parallel(events=[NORMAL, PURE]), rate="1/5"),
    Group(event=Repeat(event=PoissonSample(event=PURE, rate="1/5"), times=2), size=3),
    Group(event=Renyi(bounds={2: 1}), size=2),
    Group(event=Repeat(event=Group(event=RandomizedResponse(epsilon=1), size=2), times=3), size=5),
    Group(event=PoissonSample(event=RandomizedResponse(epsilon=1, categories=3), rate=1), size=2),
    Group(event=Approx(epsilon="1e-30", delta="1/9"), size=3),
    Parallel(events=[Gaussian(noise_multiplier=2), NORMAL, PURE, Pure(epsilon=1), Laplace(scale=3)]),
    Parallel(events=[PoissonSample(event=NORMAL, rate=rate) for rate in ("1/5", "1/4", "1/6")]),
    Parallel(events=[DiscreteGaussian(variance=variance) for variance in (4, 3, 5)]),
    FixedSizeSample(event=Repeat(event=Laplace(scale=3, neighbors=REPLACE), times=2), size=3, population=10),
    DiscreteLaplace(scale=9, sensitivity=2000),
]


def of_checker(event: Event) -> list[list[tuple[object, int]]]:
    listed = alternatives(read_event(encode(event)["event"], "event"), Work())
    return [_shown(ordered(one)) for one in listed for _ in ((0, 1) if is_directed(one.items()) else (0,))]


def _shown(laws: Iterable[tuple[Law | terms.Law, int]]) -> list[tuple[object, int]]:
    """Names and numbers, and those of laws inside; numbers to 12 digits, as some are rounded up."""
    found: list[tuple[object, int]] = []
    for law, times in laws:
        numbers = [Fraction(*one) if isinstance(one, tuple) else one for one in law.numbers]
        digits = [f"{float(number):.12g}" for number in numbers]
        found.append(((law.name, tuple(digits), tuple(tuple(_shown(one)) for one in law.inner)), times))
    return found


@pytest.mark.parametrize("event", [*LEAVES, *COMBINED, *EXTRA], ids=lambda event: str(event)[:80])
def test_library_and_checker_list_the_same_laws_in_the_same_order(event: Event) -> None:
    """Witnesses speak of the first law, the second one, and so on."""
    assert [_shown(case.terms) for case in cases(event)] == of_checker(event)


def test_without_samples() -> None:
    (case, _) = cases(PoissonSample(event=Sequence(events=[NORMAL, PURE]), rate="1/5"))
    inside, unsampled = case.inside(), case.unsampled()
    assert inside is not None
    assert unsampled is not None
    assert [law.name for law, _ in inside.terms] == [law.name for law, _ in unsampled.terms] == ["normal", "response"]
    (twice, _) = cases(Repeat(event=PoissonSample(event=PURE, rate="1/5"), times=2))
    assert twice.inside() is None
    (nested, _) = cases(PoissonSample(event=Repeat(event=PoissonSample(event=PURE, rate="1/5"), times=2), rate="1/2"))
    assert nested.unsampled() is None


def test_too_many_parts() -> None:
    with pytest.raises(NoSuchRule, match="more than 100"):
        cases(Parallel(events=[Repeat(event=Pure(epsilon=i), times=102 - i) for i in range(1, 102)]))
