"""What roads share: the exception by which one says that it leads nowhere, and logarithms of any number."""

import math
from fractions import Fraction

from privately.accounting.roads import NotApplicable, nearly_log
from privately.errors import PrivatelyError


def test_it_has_a_reason_and_is_no_error_of_users() -> None:
    assert NotApplicable("no pair").reason == str(NotApplicable("no pair")) == "no pair"
    assert not issubclass(NotApplicable, PrivatelyError)


def test_logarithms_beyond_the_range_of_floats() -> None:
    for exponent in (-5000, -300, 0, 300, 5000):
        assert math.isclose(nearly_log(Fraction(10) ** exponent), exponent * math.log(10), rel_tol=1e-14)
