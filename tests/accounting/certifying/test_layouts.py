"""Layouts of samples: the checker makes the same pair of them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.certifying.layouts import laid_out
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable
from privately.certificates.checker.accounting import tables
from privately.certificates.checker.elementary import exponential
from privately.certificates.checker.intervals import enclose
from privately.certificates.checker.work import Work
from tests.accounting.certifying.twins import checked, enclosing, high, law, rational


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_checker_lays_out_the_same(direction: Direction) -> None:
    inner = enclosing("sampled mix", [(law("laplace", 1), 2)], "1/3")
    mix = enclosing("sampled mix", [(law("normal", "1/4"), 1), (inner, 2)], "1/10")
    (((found, times),), layouts) = laid_out([(mix, 7)], direction, 1e-6)
    assert (found.name, times, len(layouts)) == ("sampled table", 7, 2)
    listed = [
        tables.Layout(
            rational(Fraction(one["step"])),
            one["cells"],
            one["firsts"],
            rational(Fraction(one["top"])),
            rational(Fraction(one["small"])),
        )
        for one in layouts
    ]
    removes = direction == "remove"
    ((table, _),) = tables.laid_out({checked(mix): 7}, iter(listed), removes=removes, work=Work()).items()
    assert found.laid is not None
    losses = np.array([-0.5, 0.0, 0.25, 1.0, 3.0])
    for loss, here in zip(losses.tolist(), found.laid.profile(losses).tolist(), strict=True):
        there = high(table.inner[1].at(exponential(enclose(rational(Fraction(loss)), 256))))
        assert math.isclose(here, there, rel_tol=1e-6, abs_tol=1e-12)


def test_what_is_too_large() -> None:
    with pytest.raises(NotApplicable):
        laid_out([(enclosing("sampled mix", [(law("response", 300, 2, 0), 2)], "1/3"), 1)], "remove", 1e-6)
