"""Noise added to a vector of integers, independently on each entry.

How far the vector moves is claimed, as a Sensitivity, or derived from a table, as a Stability: the certificate shows
which.
"""

from __future__ import annotations

from fractions import Fraction

from privately.guarantees.derivations import Derivation, Stability
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ZCDP, GaussianDP, PureDP
from privately.guarantees.rules.sealing import conclude, stated
from privately.guarantees.sensitivity import Sensitivity, bound_in
from privately.rounding import Number, rational, tidy


def discrete_laplace(*, scale: Number, sensitivity: Sensitivity | Stability) -> Derivation:
    """Integers plus discrete Laplace noise. Needs a bound in L1.

    Theorem: if a vector of integers, of a fixed length, changes by at most s in L1 between neighbours, then adding
        independent noise with P(k) in proportion to exp(-|k|/scale) to each entry is (s/scale)-DP.
    Reference: Dwork-McSherry-Nissim-Smith 2006; Ghosh-Roughgarden-Sundararajan 2012
    Proof: docs/theory/mechanisms.md#discrete-laplace-noise
    Checked-by: tests/guarantees/rules/test_noise.py::test_discrete_laplace_dominates_enumeration
    """
    width = rational(scale, "scale", above=0)
    moved = _claim_of(sensitivity, wanted="discrete Laplace noise")
    change = bound_in(moved, "L1", wanted="discrete Laplace noise")
    found = PureDP(epsilon=tidy(change / width), neighbors=moved.neighbors)
    return _conclude("discrete_laplace", sensitivity, found, change, scale=width)


def rounded_gaussian(*, standard_deviation: Number, sensitivity: Sensitivity | Stability) -> Derivation:
    """Integers plus normal noise rounded to integers. Needs a bound in L2, or in L1.

    Theorem: if a vector of integers, of a fixed length, changes by at most s in L2 between neighbours, then adding
        independent noise round(N), N normal with this standard deviation, to each entry is mu-GDP with
        mu = s/standard_deviation.
    Reference: Dong-Roth-Su 2022; x + round(N) = round(x + N)
    Proof: docs/theory/mechanisms.md#rounded-gaussian-noise
    Checked-by: tests/guarantees/rules/test_noise.py::test_rounded_gaussian_dominates_enumeration
    """
    deviation = rational(standard_deviation, "standard_deviation", above=0)
    moved = _claim_of(sensitivity, wanted="rounded Gaussian noise")
    change = bound_in(moved, "L2", wanted="rounded Gaussian noise")
    found = GaussianDP(mu=tidy(change / deviation), neighbors=moved.neighbors)
    return _conclude("rounded_gaussian", sensitivity, found, change, standard_deviation=deviation)


def discrete_gaussian(*, variance: Number, sensitivity: Sensitivity | Stability) -> Derivation:
    """Integers plus discrete Gaussian noise: zCDP, and not GaussianDP. Needs a bound in L2, or in L1.

    Theorem: if a vector of integers, of a fixed length, changes by at most s in L2 between neighbours, then adding
        independent noise with P(k) in proportion to exp(-k^2/(2 variance)) to each entry is rho-zCDP with
        rho = s^2/(2 variance).
    Reference: Canonne-Kamath-Steinke 2020, Theorem 4
    Proof: docs/theory/mechanisms.md#discrete-gaussian-noise
    Checked-by: tests/guarantees/rules/test_noise.py::test_discrete_gaussian_dominates_every_order
    """
    width = rational(variance, "variance", above=0)
    moved = _claim_of(sensitivity, wanted="discrete Gaussian noise")
    change = bound_in(moved, "L2", wanted="discrete Gaussian noise")
    found = ZCDP(rho=tidy(change**2 / (2 * width)), neighbors=moved.neighbors)
    return _conclude("discrete_gaussian", sensitivity, found, change, variance=width)


def _claim_of(sensitivity: Sensitivity | Stability, *, wanted: str) -> Sensitivity:
    return stated(sensitivity, Sensitivity, wanted=wanted) if isinstance(sensitivity, Stability) else sensitivity


def _conclude(
    rule: str, given: Sensitivity | Stability, found: Guarantee, change: Fraction, **width: Fraction
) -> Derivation:
    """What was derived is a premise, what was claimed a parameter."""
    written = {name: str(value) for name, value in width.items()}
    if isinstance(given, Stability):
        return conclude(rule, [given], found, parameters=written)
    return conclude(rule, [], found, parameters={**written, "sensitivity": str(change)})
