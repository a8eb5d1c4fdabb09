"""Moments of samples, groups and of what has no pair: never below those of pairs that belong to them."""

import itertools
from fractions import Fraction

import mpmath
import pytest

from privately.certificates.checker.accounting.moments import Moments
from privately.certificates.checker.accounting.terms import Law, Terms
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import enclosing, high, law, sampled_normal
from tests.certificates.checker.building import Number, mpf, rational

Pair = list[tuple[mpmath.mpf, mpmath.mpf]]
ORDERS = ("1/2", "1", "7/4", "4")
both = pytest.mark.parametrize("removes", [True, False])


def found(one: Law, c: Number, *, removes: bool = True) -> mpmath.mpf:
    return high(Moments(Work()).of(one, rational(c), removes=removes))


def response(epsilon: Number, delta: Number = 0) -> Pair:
    t, d = mpmath.exp(mpf(epsilon)), mpf(delta)
    unit = (1 - d) / (1 + t)
    return [(d, mpmath.mpf(0)), (unit * t, unit), (unit, unit * t), (mpmath.mpf(0), d)]


def product(pairs: list[Pair]) -> Pair:
    return [
        (mpmath.fprod(p for p, _ in chosen), mpmath.fprod(q for _, q in chosen)) for chosen in itertools.product(*pairs)
    ]


def sampled(pair: Pair, rate: Number, *, removes: bool) -> Pair:
    r = mpf(rate)
    return [((1 - r) * q + r * p, q) if removes else (p, (1 - r) * p + r * q) for p, q in pair]


def both_ways(pair: Pair, rate: Number) -> Pair:
    """Losses above 0 as if the row were removed, below as if it were added, and the rest of P in between."""
    above, below = (sampled(pair, rate, removes=way) for way in (True, False))
    outer = [one for one in above if one[0] > one[1]] + [one for one in below if one[0] < one[1]]
    rest = 1 - mpmath.fsum(p for p, _ in outer)
    return [*outer, (rest, rest)]


def moment(pair: Pair, c: Number) -> mpmath.mpf:
    return mpmath.log(mpmath.fsum(p * (p / q) ** mpf(c) for p, q in pair if p > 0 and q > 0))


BASES: list[tuple[Terms, tuple[Number, Number]]] = [
    ({law("response", 1, 2, 0): 2}, (1, 1)),
    ({law("response", "1/2", 2, 0): 1, law("response", 2, 2, 0): 1}, ("1/2", 2)),
]


@both
@pytest.mark.parametrize("rate", ["1/100", "1/3"])
@pytest.mark.parametrize(("terms", "epsilons"), BASES)
def test_samples_of_several(terms: Terms, epsilons: tuple[Number, Number], rate: str, *, removes: bool) -> None:
    pair = product([response(epsilon) for epsilon in epsilons])
    one = enclosing("sampled mix", [terms], rate)
    for c in ORDERS:
        true = moment(sampled(pair, rate, removes=removes), c)
        shown = found(one, c, removes=removes)
        assert true <= shown + mpmath.mpf(10) ** -60
        if removes and mpf(c) == int(mpf(c)):
            assert shown <= true * (1 + mpmath.mpf(10) ** -50)  # exact at whole orders
    glued = enclosing("glued mix", [terms], rate)
    for c in ORDERS:
        parts = [moment(sampled(pair, rate, removes=way), c) for way in (True, False)]
        assert max(parts) <= moment(both_ways(pair, rate), c) <= found(glued, c) + mpmath.mpf(10) ** -60


def test_samples_of_fixed_size_of_what_has_no_worst_pair() -> None:
    """Three laws that Renyi allows between any two: of their sample the moment is above e^K' + e^K'' - 1.

    One law without the row, and one for each of both rows; some of the divergence moves the bulk, the rest is rare.
    """
    rate, rare = mpf("1/10000"), mpf("8e-5")
    shift, hardly = mpmath.sqrt(mpf("0.02")) / 2, rare / 1000
    other = hardly * mpf("4.2")
    half, bulk = (1 - 2 * hardly) / 2, (1 - rare - other) / 2
    without = [half, half, hardly, hardly]
    one, two = [bulk + shift, bulk - shift, rare, other], [bulk - shift, bulk + shift, other, rare]
    pairs = itertools.permutations([without, one, two], 2)
    apart = max(sum(a * a / b for a, b in zip(*pair, strict=True)) for pair in pairs)
    bound = Fraction(mpmath.nstr(mpmath.log(apart) * (1 + mpf("1e-12")), 20))
    inside = law("renyi", 2, bound)
    mixed = [[(1 - rate) * c + rate * p for c, p in zip(without, row, strict=True)] for row in (one, two)]
    true = mpmath.log(sum(p * p / q for p, q in zip(*mixed, strict=True)))
    assert true <= found(enclosing("glued mix", [{inside: 1}], "1/10000"), 1)
    ways = [found(enclosing("sampled mix", [{inside: 1}], "1/10000"), 1, removes=way) for way in (True, False)]
    assert true > mpmath.log1p(sum(map(mpmath.expm1, ways))) * mpf("1.1")


@both
def test_samples_of_samples(*, removes: bool) -> None:
    """What is inside is sampled in the same direction; of an added row both directions of it are needed."""
    for epsilon, inner, rate in ((1, "1/2", "1/3"), ("1/2", "1/10", "1/10")):
        one = enclosing("sampled mix", [{law("sampled response", epsilon, 2, 0, inner): 2}], rate)
        inside = product([sampled(response(epsilon), inner, removes=removes)] * 2)
        for c in ORDERS:
            true = moment(sampled(inside, rate, removes=removes), c)
            assert true * (1 - mpf("1e-9")) <= found(one, c, removes=removes) <= 2 * true


def test_the_larger_direction_of_what_is_inside_counts() -> None:
    """Of a removed row, and of one that may have been revealed if it is added."""
    often, lost = law("sampled response", 2, 2, 0, "1/2"), law("sampled response", 0, 2, "1/2", "1/2")
    for inside, larger in ((often, True), (lost, False)):
        most = found(inside, 3, removes=larger)
        assert most > found(inside, 3, removes=not larger)
        glued = enclosing("glued mix", [{inside: 1}], "1/3")
        assert abs(found(glued, 3) - mpmath.log1p(mpmath.expm1(most) / 3)) < 1e-14


def test_directions_are_told_apart_where_they_are_kept() -> None:
    one, kept = law("sampled response", 2, 2, 0, "1/2"), Moments(Work())
    for removes in (True, False, True):
        assert high(kept.of(one, rational(3), removes=removes)) == found(one, 3, removes=removes)


@both
def test_samples_of_what_may_reveal_everything(*, removes: bool) -> None:
    """Finite losses; an added row keeps the infinite ones apart, as many as there were."""
    one = enclosing("sampled mix", [{law("response", 1, 2, "1/50"): 1, law("response", "1/2", 2, 0): 1}], "1/5")
    pair = product([response(1, "1/50"), response("1/2")])
    kept = [(p, q) for p, q in pair if removes or q > 0]
    for c in ORDERS:
        assert moment(sampled(kept, "1/5", removes=removes), c) <= found(one, c, removes=removes)


@both
def test_samples_of_concentrated_mechanisms(*, removes: bool) -> None:
    """Normal noise is one of them, and at whole orders the worst if the row is removed."""
    for name, size in (("concentrated", "1/2"), ("discrete normal", 1)):
        inner = law(name, size, 1) if name == "discrete normal" else law(name, size)
        one = enclosing("sampled mix", [{inner: 1}], "1/10")
        for c in (1, 2, 5):
            true = mpmath.log(mpmath.re(sampled_normal(Fraction(1), Fraction(1, 10), mpmath.mpc(c), removes=removes)))
            shown = found(one, c, removes=removes)
            assert true <= shown + mpmath.mpf(10) ** -20
            assert not removes or shown <= true + mpmath.mpf(10) ** -20


def test_groups() -> None:
    """Normal noise alone: as much as is known of so many times the distance."""
    one = enclosing("group", [{law("normal", "1/10"): 1}], 3)
    for c in ORDERS:
        square = mpf(c) * (mpf(c) + 1)
        assert square * 9 * mpf("1/20") <= found(one, c) * (1 + mpmath.mpf(10) ** -60)
        assert found(one, c) <= square * 9 * mpf("1/20") * (1 + mpmath.mpf(10) ** -60)
    directed = enclosing("group", [{law("sampled normal", 1, "1/10"): 1}], 2)
    assert found(directed, 2) > 2 * found(law("sampled normal", 1, "1/10"), 2)
    with pytest.raises(Invalid, match="groups of more"):
        found(enclosing("group", [{law("normal", 1): 1}], 301), 1)


@both
def test_the_worst_of_several(*, removes: bool) -> None:
    parts: list[Terms] = [{law("normal", "1/10"): 2}, {law("sampled response", 2, 2, 0, "1/5"): 1}]
    for c in ("1/2", 6):
        alone = [sum(found(one, c, removes=removes) * n for one, n in terms.items()) for terms in parts]
        assert found(enclosing("worst", parts), c, removes=removes) == max(alone)


def test_statements() -> None:
    listed = law("renyi", 2, 1, 4, 3)
    for c, expected in ((1, 1), ("1/2", "1/2"), (2, 5), (3, 9)):
        assert abs(found(listed, c) - mpf(expected)) < 1e-60
    with pytest.raises(Invalid, match="last order"):
        found(listed, "301/100")
    assert found(law("concentrated", "1/2"), 3) == 6


@pytest.mark.parametrize("width", ["1/10", "1", "5"])
def test_bounded_range(width: str) -> None:
    """No pair of two outcomes has more, and some has hardly less."""
    top = mpmath.exp(mpf(width))
    for c in ("1/2", 4):
        shown, largest = found(law("range", width), c), mpmath.mpf(0)
        for step in range(1, 60):
            s = mpmath.exp(-mpmath.mpf(step) / 4)
            r = 1 - s + s * top
            largest = max(largest, moment([(s * top / r, s), ((1 - s) / r, 1 - s)], c))
        assert largest <= shown + mpmath.mpf(10) ** -60
        assert shown <= largest * mpf("101/100")


def test_orders_have_an_end() -> None:
    with pytest.raises(Invalid, match="above 300"):
        found(enclosing("sampled mix", [{law("normal", "1/1000"): 1}], "1/2"), 302)
    with pytest.raises(Invalid, match="does not know"):
        found(law("table", 1), 2)


@pytest.mark.parametrize(
    ("name", "scale", "c", "most"), [("sampled mix", "1/8", 3, "0.0302"), ("glued mix", "1/22", "1/20", 550)]
)
def test_powers_that_are_too_large_leave_the_other_bound(name: str, scale: str, c: Number, most: Number) -> None:
    """Of a removed row e^K at whole orders is not evaluated."""
    large = enclosing(name, [{law("discrete laplace", scale, 5): 100}], "1/100")
    assert 0 < found(large, c, removes=False) <= mpf(most)
