"""Tails that fall in different ways, beside long windows of them."""

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx

from privately.proving.exact import rays
from privately.proving.exact.places import Exponential
from privately.proving.exact.rays import BITS, Beside, Peak, cut, mass_at, peak, settled, terms_of, values
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.spreads import Falls, first_and_rest, law_of_sum, scaled
from privately.proving.exact.weights import ONE, UNKNOWN, fraction, weight

RATIOS = [weight(Fraction(a, b)) for a, b in ((1, 2), (1, 3), (2, 3), (1, 4), (3, 5))]
WINDOW = 120
Finding = Callable[[Falls, Falls], Peak]


def some_law(rng: random.Random) -> Falls:
    """A mixture of sums, some with their first values taken away."""
    found: Falls = {}
    shares = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
    for share in shares:
        falls = law_of_sum(rng.choices(RATIOS[: rng.choice([1, 2, 5])], k=rng.randint(1, 3)))
        for _ in range(rng.randrange(3)):
            falls = first_and_rest(falls)[1]
        for key, part in scaled(falls, weight(Fraction(share, sum(shares)))).items():
            found[key] = found.get(key, ONE * 0) + part
    return {key: part for key, part in found.items() if part}


def masses(falls: Falls) -> list[Fraction]:
    return [fraction(mass_at(falls, k)) for k in range(WINDOW)]


def pairs(count: int) -> list[tuple[Falls, Falls]]:
    rng = random.Random(3)
    return [(some_law(rng), some_law(rng)) for _ in range(count)]


PAIRS = pairs(40)
WINDOWS = [(masses(left), masses(right)) for left, right in PAIRS]


def disagreements(finding: Finding) -> int:
    """Where a window has a larger ratio; and where it has none that is as large, or comes near to it."""
    found = 0
    for (left, right), window in zip(PAIRS, WINDOWS, strict=True):
        ratios = [one / other for one, other in zip(*window, strict=True)]
        said = finding(left, right)
        if said.ratio is None:
            found += max(ratios) > 2 * max(ratios[: WINDOW // 2]) and ratios[-1] < max(ratios)
            found += max(ratios) <= max(ratios[:20])
        else:
            value = fraction(said.ratio)
            found += max(ratios) > value or (said.at is not None and ratios[said.at] != value)
            found += said.at is None and abs(ratios[-1] / value - 1) > Fraction(1, 20)
            found += said.at is not None and value != max(ratios)
    return found


def test_peaks_agree_with_long_windows() -> None:
    assert disagreements(lambda left, right: peak(left, right, None)) == 0


def _always_the_limit(left: Falls, right: Falls) -> Peak:
    found = peak(left, right, None)
    far = 10**4
    return found if found.at is None else Peak(mass_at(left, far) / mass_at(right, far), None)


def _always_the_first(left: Falls, right: Falls) -> Peak:
    return Peak(mass_at(left, 0) / mass_at(right, 0), 0)


def _never_far_out(left: Falls, right: Falls) -> Peak:
    ratios = [mass_at(left, k) / mass_at(right, k) for k in range(40)]
    return Peak(max(ratios), ratios.index(max(ratios)))


@pytest.mark.parametrize("planted", [_always_the_limit, _always_the_first, _never_far_out])
def test_wrong_peaks_are_found(planted: Finding) -> None:
    assert disagreements(planted) > 5


def test_a_limit_that_no_value_has() -> None:
    """Two equal noises added up: (a + bk) r^k. One step further it is smaller by r in the limit only."""
    ratio = UNKNOWN
    falls = law_of_sum([ratio, ratio])
    _, later = first_and_rest(falls)
    assert peak(falls, later, Exponential(1)) == Peak(1 / ratio, None)
    nearer = peak(later, falls, Exponential(1))
    assert nearer.at == 0
    assert nearer.ratio == 2 * ratio
    assert peak(falls, falls, Exponential(1)) == Peak(ONE, 0)


def signs_hold(settling: Callable[[list[rays.Term]], int]) -> int:
    """How often a sum has another sign than its first term after it was said to be settled."""
    found = 0
    for (left, right), window in zip(PAIRS, WINDOWS, strict=True):
        for factor in (Fraction(1, 2), Fraction(1), Fraction(3)):
            with ctx.workprec(BITS):
                terms = Beside(left, right, None).combined(arb(1), -arb(weight(factor)))
                if terms[0][2].contains(0):
                    continue
                start = settling(terms)
            gaps = [one - factor * other for one, other in zip(*window, strict=True)][start:]
            found += any((gap > 0) != (terms[0][2] > 0) for gap in gaps)
    return found


def test_signs_are_settled_where_it_is_said() -> None:
    assert signs_hold(settled) == 0


@pytest.mark.parametrize("planted", [lambda _: 0, lambda terms: settled(terms) // 4])
def test_signs_that_are_settled_too_early_are_found(planted: Callable[[list[rays.Term]], int]) -> None:
    assert signs_hold(planted) > 0


def off(cutting: Callable[[Falls, Falls], tuple[list[tuple[arb, arb]], rays.Rest]]) -> int:
    """How often the sum of max(0, P - e^epsilon Q) is not that of a window."""
    found = 0
    for (left, right), window in list(zip(PAIRS, WINDOWS, strict=True))[:25]:
        with ctx.workprec(BITS):
            _, rest = cutting(left, right)
            for factor in (Fraction(1), Fraction(3, 2)):
                low, high = rest.excess(arb(weight(factor)))
                gaps = [one - factor * other for one, other in zip(*window, strict=True)][rest.start :]
                inside = float(sum(max(gap, Fraction(0)) for gap in gaps))
                found += not (float(low.lower()) - 1e-12 <= inside <= float(high.upper()) + 1e-12)
                found += float((high - low).upper()) > 1e-12 and high.overlaps(arb(0))
    return found


def early(left: Falls, right: Falls) -> tuple[list[tuple[arb, arb]], rays.Rest]:
    """A cut after a few values, so that there is much left."""
    beside = Beside(left, right, None)
    return list(beside.first(12)), rays.Rest(beside, 12)


def test_sums_agree_with_long_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert off(early) == 0
    assert off(lambda left, right: cut(left, right, None)) == 0
    monkeypatch.setattr(rays, "_sum_from", lambda start, ratio, degree: ratio ** (start + 1) / (1 - ratio) + 0 * degree)
    assert off(early) > 5


def test_a_rest_whose_signs_are_open_is_all_its_mass_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rays, "is_settled", lambda *_: False)
    with ctx.workprec(BITS):
        low, high = early(*PAIRS[0])[1].excess(arb(1))
    assert low == 0
    mass = float(sum(WINDOWS[0][0][12:], Fraction(0)))
    assert float(high.upper()) >= mass * (1 - 1e-15)
    assert abs(float(high) - mass) < 1e-12


def test_an_epsilon_that_is_the_limit_leaves_next_to_nothing() -> None:
    falls = law_of_sum([UNKNOWN, UNKNOWN])
    with ctx.workprec(BITS):
        place = Exponential(1)
        beside = Beside(falls, first_and_rest(falls)[1], place)
        low, high = rays.Rest(beside, 5).excess(arb(1).exp())
    assert float(high.upper()) < 1e-50
    assert float(low.lower()) > -1e-50


def test_terms_are_those_of_the_law() -> None:
    for falls, _ in PAIRS[:10]:
        terms = [(arb(ratio), degree, arb(one)) for (ratio, degree), one in terms_of(falls).items()]
        for k, ball in enumerate(values(terms, 10)):
            assert abs(float(ball.mid()) - float(fraction(mass_at(falls, k)))) < 1e-9


def test_what_takes_too_long_is_refused() -> None:
    near = UNKNOWN**1000, UNKNOWN**1001
    with pytest.raises(NotFinite, match="open for more than"):
        peak(law_of_sum(near), law_of_sum([near[0], near[0]]), Exponential(10**6))
