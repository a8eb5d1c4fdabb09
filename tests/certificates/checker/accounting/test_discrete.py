"""Discrete noise as a pair: all mass is there, and what is left out is negligible."""

from itertools import pairwise

import mpmath
import pytest

from privately.certificates.checker.accounting.discrete import discrete_pair
from privately.certificates.checker.accounting.terms import Law
from privately.certificates.checker.schema import Invalid
from tests.certificates.checker.accounting.knowns import high, law

NOISES = [law("discrete laplace", 2, 3), law("discrete laplace", "1/3", 2), law("discrete normal", 2, 1)]
NOISES += [law("discrete normal", 20, 7), law("discrete normal", "1/5", 1)]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_both_laws_have_all_mass_and_losses_fall(noise: Law) -> None:
    pair = discrete_pair(noise, 256)
    for place in (0, 1):
        total = mpmath.fsum(high(outcome[place]) for outcome in pair.outcomes)
        assert abs(total - 1) < mpmath.mpf(10) ** -60
    losses = [mpmath.log(high(p) / high(q)) for p, q in pair.outcomes]
    assert losses == sorted(losses, reverse=True)
    assert abs(losses[0] + losses[-1]) < 1e-40
    assert high(pair.infinite) < mpmath.mpf(10) ** -100


def test_losses() -> None:
    laplace = discrete_pair(law("discrete laplace", 2, 3), 256)
    assert [round(float(mpmath.log(high(p) / high(q))), 12) for p, q in laplace.outcomes] == [1.5, 0.5, -0.5, -1.5]
    normal = discrete_pair(law("discrete normal", 2, 1), 256)
    gaps = [mpmath.log(high(p) / high(q)) for p, q in normal.outcomes]
    assert all(abs(one - other - mpmath.mpf("0.5")) < 1e-40 for one, other in pairwise(gaps))


def test_wide_noise_is_not_listed() -> None:
    with pytest.raises(Invalid, match="so large a variance"):
        discrete_pair(law("discrete normal", 10**5, 1), 256)
