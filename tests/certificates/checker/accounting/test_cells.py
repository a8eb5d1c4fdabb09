"""Sums of losses on a lattice: above the truth always, and equal to sums that are enumerated."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor
from random import Random

import mpmath
import pytest

from privately.certificates.checker.accounting.cells import Cells, Lattice, delta_by_cells
from privately.certificates.checker.accounting.terms import Law, Terms
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import binomial_profile, high, law, normal_profile
from tests.certificates.checker.accounting.test_profiles import true_profile
from tests.certificates.checker.building import Number, mpf, rational


def lattice(epsilon: Number, delta: Number, steps: int, step: Number, most: int = 2000) -> Lattice:
    return Lattice(
        rational(step), most, epsilon=rational(epsilon), delta=rational(delta), steps=steps, work=Work(10**9)
    )


def shown(terms: Terms, laid: Lattice, firsts: list[int], *, removes: bool = True) -> mpmath.mpf:
    return high(delta_by_cells(terms, laid, firsts, removes=removes))


def enumerated(of: Law, times: int, epsilon: Number, step: Number, first: int, *, removes: bool) -> mpmath.mpf:
    """The profile of the law of lines between multiples of the step, composed outcome by outcome."""
    a, count = mpf(step), 160
    places = [0, *(mpmath.exp(a * (first + i)) for i in range(count + 1))]
    values = [mpmath.mpf(1), *(true_profile(of, place, removes=removes) for place in places[1:])]
    slopes = [
        (one[0] - one[1]) / (two[1] - two[0]) for one, two in zip(pairwise(values), pairwise(places), strict=True)
    ]
    masses = {first + i: here - there for i, (here, there) in enumerate(pairwise(slopes))}
    sums: Counter[int] = Counter({0: mpmath.mpf(1)})
    for _ in range(times):
        more: Counter[int] = Counter()
        for place, mass in sums.items():
            for loss, other in masses.items():
                more[place + loss] += mass * other
        sums = more
    level = mpmath.exp(mpf(epsilon))
    return mpmath.fsum(
        mass * (mpmath.exp(a * place) - level) for place, mass in sums.items() if a * place > mpf(epsilon)
    )


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(
    ("of", "times", "epsilon", "step", "first"),
    [
        (law("sampled normal", 1, "1/10"), 2, "1/5", "1/20", -6),
        (law("sampled normal", 4, "1/2"), 2, "1/2", "1/8", -12),
        (law("sampled laplace", 1, "1/4"), 3, "2/5", "1/20", -13),
        (law("response", 1, 3, 0), 3, "3/2", "1/16", -16),
        (law("range", 1), 3, "3/2", "1/16", -16),
    ],
    ids=str,
)
def test_sums_are_those_of_the_lines(
    of: Law, times: int, epsilon: Number, step: Number, first: int, *, removes: bool
) -> None:
    with mpmath.workprec(200):
        exact = enumerated(of, times, epsilon, step, first, removes=removes)
        found = shown({of: times}, lattice(epsilon, "1/1000000", times, step), [first], removes=removes)
        assert exact <= found * (1 + mpmath.mpf(10) ** -12)
        assert found <= exact * (1 + mpmath.mpf(10) ** -4)


def skewed(share: mpmath.mpf) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """P and Q of two outcomes whose losses are 1 apart."""
    grown = 1 - share + share * mpmath.e
    return [(share * mpmath.e / grown, share), ((1 - share) / grown, 1 - share)]


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "3/2", "19/10"])
def test_no_choice_among_mechanisms_of_bounded_range_costs_more(epsilon: str) -> None:
    """The second one is chosen in the light of what the first one gave."""
    shares = [mpmath.mpf(n) / 20 for n in range(1, 20)]
    level = mpmath.exp(mpf(epsilon))
    found = shown({law("range", 1): 2}, lattice(epsilon, "1/1000", 2, "1/50"), [-50])

    def after(p: mpmath.mpf, q: mpmath.mpf) -> mpmath.mpf:
        return max(sum(max(p * r - level * q * s, 0) for r, s in skewed(share)) for share in shares)

    worst = max(mpmath.fsum(after(p, q) for p, q in skewed(share)) for share in shares)
    assert worst <= found <= worst * mpmath.mpf("1.6") + mpmath.mpf("0.01")


Masses = dict[int, Fraction]


def vaguely(true: Masses, unit: int, rng: Random) -> Cells:
    """Cells of which each may be a tenth too large, and of whose sum as much is known."""
    first = min(true)
    over = [true[first + i] * (1 + Fraction(rng.randrange(2), 10)) for i in range(len(true))]
    whole = sum(true.values(), Fraction(0))
    excess = ceil((sum(over) - whole) * unit) + len(over)
    return Cells(first, [ceil(one * unit) for one in over], floor(whole * unit), ceil(whole * unit), excess)


def together(one: Masses, other: Masses) -> Masses:
    total: Masses = {}
    for (i, p), (j, q) in product(one.items(), other.items()):
        total[i + j] = total.get(i + j, Fraction(0)) + p * q
    return total


def level(alpha: Fraction, finite: Fraction, masses: Masses) -> Fraction:
    """1 - alpha Q(finite) + the sum of (alpha - e^loss) Q(loss) over losses below, with losses of j ln 2."""
    return (
        1
        - alpha * finite
        + sum((max(alpha - Fraction(2) ** j, Fraction(0)) * mass for j, mass in masses.items()), Fraction(0))
    )


@pytest.mark.parametrize("most", [3, 5, 8, 40])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_not_known_counts_on_the_safe_side(seed: int, most: int) -> None:
    """Sums of three vague lists, cut off at either end: above the truth at every ratio up to e^epsilon."""
    rng = Random(seed)
    laid = lattice("7/5", "1/5", 3, mpmath.nstr(mpmath.log(2), 15), most)  # losses up to 2 ln 2
    unit = 2**laid.places
    laid.rare = unit * rng.choice((0.0, 0.02, 0.2))
    lists: list[Masses] = []
    for _ in range(3):
        weights = [rng.choice((1, 4, 20)) for _ in range(5)]
        lists.append({i - 2: Fraction(weight, sum(weights) + rng.randrange(3)) for i, weight in enumerate(weights)})
    one, two, three = (vaguely(true, unit, rng) for true in lists)
    true = together(together(lists[0], lists[1]), lists[2])
    found = laid.sum(laid.sum(one, two, three.first), three, 0)
    shown = {found.first + i: Fraction(mass, unit) for i, mass in enumerate(found.masses)}
    for place in range(-6, 3):
        alpha = Fraction(2) ** place
        assert level(alpha, Fraction(found.finite, unit), shown) >= level(alpha, sum(true.values(), Fraction(0)), true)
    assert Fraction(found.total, unit) >= sum(shown.values()) - Fraction(found.excess, unit)


@pytest.mark.parametrize("of", [law("normal", "1/4"), law("sampled laplace", 1, "1/4")], ids=str)
def test_one_law_is_rounded_to_the_safe_side(of: Law) -> None:
    """To the last digit: no mass is too small, and it is known by how much all of them together are too large."""
    laid = lattice(1, "1/1000", 1, "1/8")
    cells = laid.laid(of, -9, 0, removes=True)
    with mpmath.workprec(400):
        places = [mpmath.exp(mpf(cells.first + i) / 8) for i in range(len(cells.masses))]
        values = [true_profile(of, place, removes=True) for place in places]
        slopes = [(1 - values[0]) / places[0]]
        slopes += [
            (here - there) / (after - at)
            for (here, there), (at, after) in zip(pairwise(values), pairwise(places), strict=True)
        ]
        true = [(one - next_one) * 2**laid.places for one, next_one in pairwise([*slopes, mpmath.mpf(0)])]
        off = [mass - exact for mass, exact in zip(cells.masses, true, strict=True)]
        assert all(0 <= one <= 2 for one in off)
        assert mpmath.fsum(off) <= cells.excess <= 3 * len(off)
        assert cells.finite <= slopes[0] * 2**laid.places <= cells.total <= cells.finite + 2


def test_what_cells_show_is_rounded_up() -> None:
    laid = lattice("7/5", "1/1000", 1, "1/8")
    unit = 2**laid.places
    cells = Cells(-9, [unit // 99] * 40, unit // 2, unit, 0)
    with mpmath.workprec(400):
        level, q = mpmath.exp(mpf("7/5")), mpf(unit // 99) / unit
        below = [mpmath.exp(mpf(place) / 8) for place in range(-9, 12)]  # 11/8 <= 7/5 < 12/8
        exact = 1 - level / 2 + mpmath.fsum(q * (level - one) for one in below)
        assert exact < high(laid.delta(cells)) < exact + mpf(1000) / unit


def test_cells_without_room_are_refused() -> None:
    laid = lattice(1, "1/1000", 2, "1/8")
    vague = Cells(0, [2 ** (laid.places + 1)], 0, 2 ** (laid.places + 1), 2 ** (laid.places + 1))
    with pytest.raises(Invalid, match="vague"):
        laid.sum(vague, vague, 0)


@pytest.mark.parametrize("most", [20, 60, 200, 2000])
@pytest.mark.parametrize("first", [-200, -30, -3])
def test_never_below_the_truth(most: int, first: int) -> None:
    """Too few cells, or a late first one, cost something and hide nothing."""
    responses = {law("response", "1/3", 2, 0): 12}
    normal = {law("normal", "1/100"): 9}
    with mpmath.workprec(200):
        for terms, epsilon, exact in (
            (responses, 1, binomial_profile("1/3", 12, 1)),
            (normal, "1/2", normal_profile("9/100", "1/2")),
        ):
            for step in ("1/40", "1/7"):
                steps = sum(terms.values())
                assert shown(terms, lattice(epsilon, "1/1000", steps, step, most), [first]) >= exact


def test_narrow_cells_are_near_the_truth() -> None:
    with mpmath.workprec(200):
        exact = normal_profile("9/100", "1/2")
        assert shown({law("normal", "1/100"): 9}, lattice("1/2", "1/1000", 9, "1/400"), [-200]) <= exact * mpf(
            "1001/1000"
        )
        exact = binomial_profile("1/3", 12, 1)
        aligned = shown({law("response", "1/3", 2, 0): 12}, lattice(1, "1/1000", 12, "1/30"), [-10])
        assert exact <= aligned * (1 + mpmath.mpf(10) ** -9) <= exact * (1 + mpmath.mpf(10) ** -4)


def test_several_laws_in_their_order() -> None:
    terms = {law("response", "1/3", 2, 0): 5, law("laplace", "1/5"): 3, law("normal", "1/50"): 2}
    with mpmath.workprec(200):
        found = shown(terms, lattice(1, "1/1000", 10, "1/60"), [-12, -60, -20])
        alone = shown({law("response", "1/3", 2, 0): 5}, lattice(1, "1/1000", 10, "1/60"), [-20])
        assert alone < found < 1
        assert found > shown(terms, lattice("11/10", "1/1000", 10, "1/60"), [-12, -60, -20])


def test_infinite_losses_are_among_them() -> None:
    with mpmath.workprec(200):
        failing = {law("response", "1/3", 2, "1/1000"): 12}
        exact = 1 - mpf("999/1000") ** 12 * (1 - binomial_profile("1/3", 12, 1))
        found = shown(failing, lattice(1, "1/1000", 12, "1/30"), [-10])
        assert exact <= found * (1 + mpmath.mpf(10) ** -9) <= exact * mpf("1001/1000")
        revealed = shown({law("response", 0, 2, 1): 1}, lattice(1, "1/1000", 1, "1/30"), [-10])
        assert revealed > mpf("999/1000")


def test_the_firsts_are_those_of_all_laws() -> None:
    for firsts in ([], [-10, -10]):
        with pytest.raises(Invalid, match="firsts"):
            shown({law("normal", "1/100"): 9}, lattice(1, "1/1000", 9, "1/40"), firsts)


def test_limits() -> None:
    for epsilon, delta in (("700", "1/2"), ("1", "0"), ("1", f"1/{2**1000}")):
        with pytest.raises(Invalid, match="witness"):
            lattice(epsilon, delta, 1, "1/10")
    with pytest.raises(Invalid, match="work"):
        delta_by_cells(
            {law("normal", "1/100"): 10**12},
            Lattice(
                rational("1/100000"), 20_000, epsilon=rational(5), delta=rational("1/9"), steps=10**12, work=Work(10**6)
            ),
            [-2000],
            removes=True,
        )
