"""What is run on one sample as a pair: never below its profile, and near it."""

import mpmath
import pytest

from privately.certificates.checker.accounting.numbers import near
from privately.certificates.checker.accounting.pairs import Profile
from privately.certificates.checker.accounting.tables import Layout, laid_out
from privately.certificates.checker.accounting.terms import Terms
from privately.certificates.checker.intervals import Interval, enclose
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import binomial_profile, enclosing, high, law, normal_profile
from tests.certificates.checker.building import mpf, rational

LAYOUT = Layout(rational("1/40"), 1000, [-240], rational(7), rational("1/1000000000000"))
TWO_RESPONSES = enclosing("sampled mix", [{law("response", 1, 2, 0): 4}], "1/10")


def table(terms: Terms, *layouts: Layout) -> Terms:
    return laid_out(terms, iter(layouts), removes=True, work=Work())


@pytest.mark.parametrize("level", ["-1", "0", "1/3", "1", "3/2", "39/10"])
def test_bases_are_below_their_tables(level: str) -> None:
    ((found, times),) = table({TWO_RESPONSES: 7}, LAYOUT._replace(firsts=[-40])).items()
    assert (found.name, times, found.rate) == ("sampled table", 7, rational("1/10"))
    shown = high(found.inner[1].at(near_exp(level)))
    true = binomial_profile(1, 4, level) if mpf(level) >= 0 else None
    if true is not None:
        assert true - mpmath.mpf(10) ** -25 <= shown <= true + mpmath.mpf(10) ** -9
    ((normal, _),) = table({law("glued normal", 1, "1/5"): 1}, LAYOUT).items()
    shown = high(normal.inner[1].at(near_exp(level)))
    assert normal_profile(1, level) - mpmath.mpf(10) ** -25 <= shown <= normal_profile(1, level) + mpmath.mpf(10) ** -4


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("depth", [1, 2])
def test_samples_inside_are_in_the_same_direction(depth: int, *, removes: bool) -> None:
    """Two sampled responses on a sample; and the same as a sample of one kind inside of another."""
    inner, rate = law("sampled response", 1, 2, 0, "1/2"), mpf("1/2")
    if depth == 2:  # at rate 1/4
        inner, rate = enclosing("sampled mix", [{inner: 1}], "1/2"), mpf("1/4")
    mix = enclosing("sampled mix", [{inner: 2}], "1/10")
    layouts = [LAYOUT._replace(firsts=[-200], step=rational("1/200"))] * depth
    ((found, _),) = laid_out({mix: 1}, iter(layouts), removes=removes, work=Work()).items()
    t = mpmath.e
    ends = [(t / (1 + t), 1 / (1 + t)), (1 / (1 + t), t / (1 + t))]
    pair = [((1 - rate) * q + rate * p, q) if removes else (p, (1 - rate) * p + rate * q) for p, q in ends]
    for alpha in ("1/2", "1", "6/5"):
        true = mpmath.fsum(max(p * r - mpf(alpha) * q * s, 0) for p, q in pair for r, s in pair)
        shown = high(found.inner[1].at(near(rational(alpha))))
        assert true <= shown <= true + mpf("1/1000")


def test_tables_of_large_losses_are_as_narrow() -> None:
    """Beside losses of 230, whose Q is below 2^-330."""
    layout = Layout(rational("23/10"), 300, [-100], rational(230), rational("1/1000000000000"))
    ((found, _),) = table({enclosing("sampled mix", [{law("response", "23/10", 2, 0): 100}], "3/4"): 1}, layout).items()
    at = found.inner[1].at(enclose(rational("1/1000"), 600))
    assert mpmath.ldexp(at.high - at.low, at.exponent) <= mpmath.mpf(2) ** -400


def near_exp(level: str) -> Interval:
    return near(rational(mpmath.nstr(mpmath.exp(mpf(level)), 30)))


def test_tables_are_pairs_of_laws() -> None:
    ((found, _),) = table({TWO_RESPONSES: 1}, LAYOUT._replace(firsts=[-40])).items()
    pair = found.inner[0]
    p, q = (mpmath.fsum(high(outcome[place]) for outcome in pair.outcomes) for place in (0, 1))
    assert abs(p + high(pair.infinite) - 1) < mpmath.mpf(10) ** -60
    assert abs(q + high(pair.hidden) - 1) < mpmath.mpf(10) ** -60
    assert isinstance(found.inner[1], Profile)


def test_one_layout_for_each_base() -> None:
    with pytest.raises(Invalid, match="one for each"):
        table({TWO_RESPONSES: 1})
    nested = enclosing("sampled mix", [{TWO_RESPONSES: 2}], "1/2")
    with pytest.raises(Invalid, match="one for each"):
        table({nested: 1}, LAYOUT)
    found = table({nested: 1, law("normal", 1): 3}, LAYOUT._replace(firsts=[-40]), LAYOUT._replace(firsts=[-40]))
    assert {one.name for one in found} == {"sampled table", "normal"}


def test_no_table_of_directions_that_differ() -> None:
    with pytest.raises(Invalid, match="of fixed size of a Poisson sample"):
        table({enclosing("glued mix", [{law("sampled normal", 1, "1/2"): 2}], "1/2"): 1}, LAYOUT, LAYOUT)
