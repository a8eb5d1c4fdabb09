"""A first look at many sampled Gaussians: about what each of them says alone."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.contour import rough_bundles, segments
from privately.accounting.contour.rough_bundles import RoughBundle, Unlaid, sketches
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from tests.accounting.contour.test_bundles import Parts, parts_of


@pytest.mark.parametrize("removes", [True, False])
def test_the_rough_cumulants(removes: bool) -> None:
    parts = parts_of(removes)
    ((both, once),) = sketches(parts, 64.0)
    assert isinstance(both, RoughBundle)
    assert once == 1
    each = [(law.rough(64.0), times) for law, times in parts]
    for c in (0.5, 5.0, 60.0):
        apart = [sum(n * sketch.cumulants(c)[order] for sketch, n in each) for order in range(3)]
        assert both.cumulants(c) == pytest.approx(apart, rel=1e-8)  # not the same points
    heights = np.array([1.0, 3.0])
    assert both.levels(heights) == pytest.approx(sum(n * sketch.levels(heights) for sketch, n in each), rel=1e-9)


def test_first_looks_at_many_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    """In several rows, and wide ones among them where there are many."""
    parts: Parts = [*parts_of(removes=True), (SampledGaussian(mu=5.0, rate=0.01, removes=True), 2)]
    apart = sum(n * law.rough(64.0).levels(np.array([3.0])) for law, n in parts)
    assert sum(isinstance(one, RoughBundle) for one, _ in sketches(parts, 64.0)) == 1
    monkeypatch.setattr(rough_bundles, "_MANY", 2)
    monkeypatch.setattr(segments, "MOST_TOGETHER", 600)
    rows = sketches(parts, 64.0)
    assert len(rows) > 1
    assert all(isinstance(one, RoughBundle) for one, _ in rows)
    assert sum(n * one.levels(np.array([3.0])) for one, n in rows) == pytest.approx(apart, rel=1e-9)


def test_points_that_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ((kept, _),) = sketches(parts_of(removes=False), 64.0)
    monkeypatch.setattr(rough_bundles, "MOST_KEPT", 1)
    ((again, once),) = sketches(parts_of(removes=False), 64.0)
    assert isinstance(again, Unlaid)
    assert once == 1
    assert again.cumulants(3.0) == kept.cumulants(3.0)
    assert again.levels(np.array([2.0])) == kept.levels(np.array([2.0]))
