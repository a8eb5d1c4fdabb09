"""Rounded terms: on the right side, few, and quick however many there were."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting import answers, coarsening, which_road
from privately.accounting.coarsening import MOST_DIFFERENT, all_rounded, coarser, concentrated, on_grid, rounded_term
from privately.accounting.coverage import uncovered
from privately.accounting.terms import flatten
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import Interval

Make = Callable[[Fraction], acc.Event]

FAMILIES: dict[str, Make] = {
    "laplace": lambda x: acc.Laplace(scale=3 + x),
    "pure": lambda x: acc.Pure(epsilon=x / 4),
    "approx": lambda x: acc.Approx(epsilon=x / 4, delta=x / 10**8),
    "response": lambda x: acc.RandomizedResponse(epsilon=x / 4, categories=3),
    "discrete laplace": lambda x: acc.DiscreteLaplace(scale=2 + x, sensitivity=2),
    "sampled gaussian": lambda x: acc.PoissonSample(event=acc.Gaussian(noise_multiplier=x), rate=x / 50),
    "sampled laplace": lambda x: acc.PoissonSample(event=acc.Laplace(scale=x), rate=x / 50),
    "sampled pure": lambda x: acc.PoissonSample(event=acc.Pure(epsilon=x), rate=x / 50),
    "fixed size": lambda x: acc.FixedSizeSample(
        event=acc.Laplace(scale=x, neighbors=Neighbors.REPLACE), size=3, population=100
    ),
    "exponential": lambda x: acc.Exponential(epsilon=x / 4),
    "zcdp": lambda x: acc.ZCDP(rho=x / 100),
    "gaussian": lambda x: acc.Gaussian(noise_multiplier=5 + x),
}
SLOW = "exponential", "zcdp", "fixed size"
RIGID: dict[str, Make] = {
    "discrete gaussian": lambda x: acc.DiscreteGaussian(variance=30 * x),
    "renyi": lambda x: acc.Renyi(bounds={2: x / 100, 8: x / 10}),
}


def many(make: Make, number: int) -> acc.Sequence:
    return acc.Sequence(events=[make(1 + Fraction(k, number)) for k in range(number)])


@given(
    value=st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**12),
    bits=st.integers(-6, 12),
    fewer=st.integers(0, 6),
)
def test_grids_are_nested(value: Fraction, bits: int, fewer: int) -> None:
    for towards in (floor, ceil):
        once = on_grid(value, bits, towards)
        assert once >= value if towards is ceil else 0 < once <= value
        assert on_grid(once, bits, towards) == once
        coarse = max(bits - fewer, -7)
        assert on_grid(once, coarse, towards) == on_grid(value, coarse, towards)
        if bits >= 0:
            assert abs(once / value - 1) <= Fraction(1, 2**bits)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("exponential", "zcdp")])
@pytest.mark.parametrize("bits", [7, 3, 0, -2])
def test_every_rounded_term_is_on_its_side(name: str, bits: int) -> None:
    """By the comparison of strengths, which has its own proof and tests."""
    for x in (Fraction(1), Fraction(10, 9), Fraction(7, 4), Fraction(31, 16)):
        term = FAMILIES[name](x)
        above, below = (rounded_term(term, bits, upward=upward) for upward in (True, False))
        assert uncovered([flatten(term), flatten(above)]) in ([flatten(above)], [flatten(term)][: above == term])
        assert uncovered([flatten(below), flatten(term)]) in ([flatten(term)], [flatten(below)][: below == term])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in FAMILIES])
def test_rounded_events_enclose_the_event(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    event = many(FAMILIES[name], 24)
    questions: list[Callable[[], Interval]] = [
        lambda: acc.epsilon(event, delta="1e-6"),
        lambda: acc.delta(event, epsilon="0.5"),
        lambda: acc.epsilon(event, delta="1e-6", method="renyi"),
    ]
    exact = [ask() for ask in questions]
    monkeypatch.setattr(coarsening, "MOST_DIFFERENT", 6)
    monkeypatch.setattr(which_road, "MOST_DIRECT", 0)
    for known, ask in zip(exact, questions, strict=True):
        rounded = ask()
        assert rounded.upper >= known.lower
        assert rounded.lower <= known.upper
        assert rounded.lower <= rounded.upper
        is_whole = name in {"gaussian", "zcdp", "exponential"}  # however many there are, or so few of them
        assert ("rounded" in rounded.method) == (not is_whole and "Renyi" not in known.method[:5])


@pytest.mark.parametrize("name", ["laplace", "sampled gaussian", "pure"])
def test_little_is_lost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(which_road, "MOST_DIRECT", 0)
    found = acc.epsilon(many(FAMILIES[name], 600), delta="1e-6")
    assert "rounded" in found.method
    assert found.upper <= found.lower * (1 + Fraction(4, 100))


@pytest.mark.parametrize("name", ["laplace", "sampled gaussian", "pure"])
def test_nothing_is_lost_of_hundreds(name: str) -> None:
    found = acc.epsilon(many(FAMILIES[name], 400), delta="1e-6")
    assert "rounded" not in found.method
    assert found.upper <= found.lower * (1 + Fraction(1, 10**6))


@pytest.mark.slow
def test_hundreds_of_samples_of_fixed_size_have_both_ends() -> None:
    few, many_of_them = (acc.epsilon(many(FAMILIES["fixed size"], number), delta="1e-6") for number in (200, 400))
    assert "rounded" in many_of_them.method
    assert few.lower < many_of_them.lower < many_of_them.upper < 2 * few.upper


def test_less_is_lost_where_the_contour_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded to more different terms than the other roads could take."""
    event = many(FAMILIES["laplace"], 700)
    exact = acc.epsilon(event, delta="1e-6")
    monkeypatch.setattr(which_road, "MOST_DIRECT", 699)
    monkeypatch.setattr(answers, "_MANY", (600,))
    found = acc.epsilon(event, delta="1e-6")
    assert "rounded" in found.method
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper <= found.lower * (1 + Fraction(1, 200))


def test_thousands_of_simple_noises_are_not_rounded() -> None:
    found = acc.epsilon(many(FAMILIES["laplace"], 2500), delta="1e-6")
    assert "rounded" not in found.method
    assert found.upper <= found.lower * (1 + Fraction(1, 10**6))


def test_terms_that_cannot_be_rounded_are_composed_as_they_are() -> None:
    noises = [acc.DiscreteGaussian(variance=100 + Fraction(k, 300)) for k in range(300)]
    found = acc.epsilon(acc.Sequence(events=noises), delta="1e-6")
    assert "rounded" not in found.method
    assert found.upper <= found.lower * (1 + Fraction(1, 1000))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "gaussian"])
@pytest.mark.parametrize("number", [MOST_DIFFERENT + 1, 2000])
def test_few_are_left(name: str, number: int) -> None:
    event = many(FAMILIES[name], number)
    for upward in (True, False):
        found = flatten(coarser(event, upward=upward))
        assert len(found) <= MOST_DIFFERENT
        assert sum(found.values()) == {"approx": 2 * number, "zcdp": 1}.get(name, number)


def test_few_are_left_of_all_sizes() -> None:
    """Strengths from one end of the range to the other."""
    scales = [Fraction(10) ** (k // 40 - 9) * (1 + Fraction(k % 40, 100)) for k in range(1500)]
    event = acc.Sequence(events=[acc.Laplace(scale=scale) for scale in scales])
    for upward in (True, False):
        assert len(flatten(coarser(event, upward=upward))) <= MOST_DIFFERENT


def test_few_terms_and_normal_ones_stay() -> None:
    for event in (many(FAMILIES["laplace"], MOST_DIFFERENT), many(FAMILIES["gaussian"], 1000)):
        assert coarser(event, upward=True) is coarser(event, upward=False) is event


def test_normal_terms_become_one() -> None:
    parts = [make(1 + Fraction(k, 500)) for k in range(300) for make in (FAMILIES["gaussian"], *RIGID.values())]
    found = flatten(concentrated(acc.Sequence(events=[*parts, acc.GaussianDP(mu=1), acc.ZCDP(rho=2)])))
    (rho,) = [term.rho for term in found if isinstance(term, acc.ZCDP)]
    shares = [Fraction(500, 500 + k) for k in range(300)]
    gaussians = sum((1 / (2 * (5 + 1 / share) ** 2) for share in shares), Fraction(0))
    least = gaussians + sum((share / 60 for share in shares), Fraction(0)) + Fraction(5, 2)
    assert least <= rho <= least * (1 + Fraction(1, 10**30))
    assert sum(isinstance(term, acc.Renyi) for term in found) == 300


def test_parts_of_a_parallel_are_rounded_each() -> None:
    parts = [many(FAMILIES["laplace"], 300), many(FAMILIES["pure"], 300)]
    found = coarser(acc.Parallel(events=parts), upward=True)
    assert isinstance(found, acc.Parallel)
    assert all(len(flatten(part)) <= MOST_DIFFERENT // 2 for part in found.events)


def test_what_cannot_be_rounded_does_not_make_the_rest_coarser() -> None:
    """A few rigid terms beside many others, and rigid terms that only Renyi divergences can add up."""
    rest = [FAMILIES["laplace"](1 + Fraction(k, 300)) for k in range(300)]
    for number in (50, 400):
        rigid = [RIGID["discrete gaussian"](100 + Fraction(k, number)) for k in range(number)]
        event = acc.Sequence(events=[*rest, *rigid])
        found = acc.epsilon(event, delta="1e-6")
        alone = acc.epsilon(acc.Sequence(events=rest), delta="1e-6")
        assert alone.lower <= found.upper <= alone.upper * Fraction(3, 2)


def test_rounded_terms_leave_room_for_the_others() -> None:
    rigid = [RIGID["renyi"](1 + Fraction(k, 200)) for k in range(200)]
    event = acc.Sequence(events=[*rigid, *many(FAMILIES["pure"], 500).events])
    assert len(flatten(coarser(event, upward=True))) <= MOST_DIFFERENT


def test_too_many_that_cannot_be_rounded_are_refused() -> None:
    with pytest.raises(NoSuchRule, match="too many different terms"):
        acc.epsilon(many(RIGID["renyi"], 3000), delta="1e-6")


@pytest.mark.slow
def test_too_many_side_by_side_or_in_groups_are_refused() -> None:
    parts = [
        acc.PoissonSample(event=FAMILIES["gaussian"](1 + Fraction(k, 2500)), rate=Fraction(k + 1, 9000))
        for k in range(2500)
    ]
    with pytest.raises(NoSuchRule):
        acc.epsilon(acc.Parallel(events=parts), delta="1e-6")
    grouped = acc.Group(event=many(FAMILIES["approx"], 2000), size=3)
    with pytest.raises(NoSuchRule):
        acc.epsilon(grouped, delta="1e-6")


WIDTHS = {
    "exponential": "0.04",
    "zcdp": "0.03",
    "fixed size": "0.2",
}
"""Of forty thousand terms, relative to the upper end; of all others 1e-6."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAMILIES, *RIGID])
def test_forty_thousand_different_terms_have_an_answer(name: str) -> None:
    event = many((FAMILIES | RIGID)[name], 40_000)
    if name == "renyi":
        with pytest.raises(NoSuchRule):
            acc.epsilon(event, delta="1e-3")
        return
    found = acc.epsilon(event, delta="1e-3")
    assert found.lower > 0
    assert found.width <= found.upper * Fraction(WIDTHS.get(name, "1e-6"))


def sampled(event: acc.Event, k: int) -> acc.Event:
    return acc.PoissonSample(event=event, rate=Fraction(k % 97 + 11, 10_000))


SAMPLES: dict[str, Callable[[Fraction, int], acc.Event]] = {
    "discrete gaussian": lambda x, k: sampled(acc.DiscreteGaussian(variance=3 + 10 * x), k),
    "discrete laplace": lambda x, k: sampled(acc.DiscreteLaplace(scale=2 + x, sensitivity=3), k),
    "approx": lambda x, k: sampled(acc.Approx(epsilon=x, delta=x / 10**10), k),
    "responses": lambda x, k: sampled(acc.RandomizedResponse(epsilon=x, categories=2 + k % 4), k),
    "all": lambda x, k: list(SAMPLES.values())[k % 4](x, k),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_thousands_of_different_samples_are_narrow(name: str) -> None:
    """Refused, or up to 10 % wide, as long as their terms were rounded."""
    event = acc.Sequence(events=[SAMPLES[name](1 + Fraction(k, 5000), k) for k in range(5000)])
    found = acc.epsilon(event, delta="1e-5")
    assert found.method == "contour integral, softened"
    assert found.width <= found.lower / 10**6


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize("bits", [4, 2, 0, -2])
def test_terms_at_one_place_are_rounded_to_one(bits: int, upward: bool) -> None:
    """Each as if it were alone, also where numbers are so large or small that they are not rounded."""
    numbers = [Fraction(10) ** power * (1 + Fraction(place, 70)) for power in range(-6, 9, 2) for place in range(9)]
    terms: dict[acc.Event, int] = {}
    for place, number in enumerate(numbers):
        rate = min(Fraction(1), Fraction(place % 5 + 1, 4) / (1 + place % 3))
        for noise in (
            acc.Gaussian(noise_multiplier=number),
            acc.Laplace(scale=number),
            acc.DiscreteLaplace(scale=number, sensitivity=1 + place % 2),
            acc.Pure(epsilon=number),
            acc.Exponential(epsilon=number),
            acc.RandomizedResponse(epsilon=number, categories=2 + place % 2),
            acc.GaussianDP(mu=number),
            acc.Approx(epsilon=0, delta=min(number, Fraction(1))),
        ):
            terms[noise] = terms[acc.PoissonSample(event=noise, rate=rate)] = 1 + place % 3
    alone: dict[acc.Event, int] = {}
    for term, times in terms.items():
        rounded = rounded_term(term, bits, upward=upward)
        alone[rounded] = alone.get(rounded, 0) + times
    assert all_rounded(terms, bits, upward=upward) == alone
    assert len(alone) < len(terms)


TWENTY_THOUSAND = """
from fractions import Fraction
from privately import accounting as acc

terms = [
    acc.PoissonSample(
        event=acc.Gaussian(noise_multiplier=Fraction(20_000 + k, 10_000)), rate=Fraction(k % 97 + 11, 10_000)
    )
    for k in range(20_000)
]
found = acc.epsilon(acc.Sequence(events=terms), "1e-6")
assert found.method == "contour integral", found.method
assert found.width <= found.lower / 10**6, found
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]  # its own alone
assert int(peak) < 90 * 1024
"""


@pytest.mark.slow
def test_thousands_of_different_terms_are_composed_as_they_are() -> None:
    """Narrowly, and in little memory: rounded to 4,000 different ones the ends were 10 % apart."""
    done = subprocess.run([sys.executable, "-c", TWENTY_THOUSAND], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_thousands_of_sampled_gaussians_are_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as an event can hold: 50,000, of which 300 stand for all here."""
    monkeypatch.setattr(which_road, "MOST_DIRECT", which_road.MOST_DIRECT * 300 // 50_000)
    event = many(FAMILIES["sampled gaussian"], 300)
    assert "rounded" not in acc.epsilon(event, delta="1e-6").method
    monkeypatch.setattr(which_road, "MOST_DIRECT", which_road.MOST_DIRECT - 1)
    assert "rounded" in acc.epsilon(event, delta="1e-6").method
