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
