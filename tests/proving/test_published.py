"""What black-box testers found with many samples, we find with certainty, and more of it."""

import math

import pytest

from privately.proving import Refuted, prove
from privately.proving.exact.claims import read_claim
from tests.proving.published import PUBLISHED, Published

LONG = {"SVT6", "SVT34Parallel", "LaplaceParallel", "NumericalSVT", "ReportNoisyMax3"}


@pytest.mark.parametrize(
    "one", [pytest.param(one, marks=[pytest.mark.slow] if one.name in LONG else [], id=one.name) for one in PUBLISHED]
)
def test_certified_bounds_are_at_or_above_the_statistical_ones(one: Published) -> None:
    verdict = prove(one.text, str(one.bound), **one.known)
    found = verdict.witness.epsilon if isinstance(verdict, Refuted) else getattr(verdict, "lower", None)
    assert found is not None
    assert round(float(found.lower), 4) >= one.bound
    if one.tight == "infinity":
        assert found.lower == math.inf
    elif one.tight is not None:
        assert found.lower <= read_claim(one.tight, {}).epsilon.upper
        assert found.lower >= read_claim(one.tight, {}).epsilon.lower * 0.9
