"""What the package offers, and what it does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from privately import accounting as acc
from privately.guarantees import ApproxDP, RenyiDP


def test_every_public_name_is_there() -> None:
    assert all(hasattr(acc, name) for name in acc.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'eps'"):
        getattr(acc, "eps")  # noqa: B009 - a type checker would not let it pass


def test_describing_loads_no_numpy() -> None:
    code = (
        "import sys, privately as pv; from privately import accounting as acc; acc.Filter(cap=pv.PureDP(epsilon=1));"
        "acc.to_text(acc.Laplace(scale=1)); assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_batches_are_composed_by_the_accountant() -> None:
    events = [acc.Repeat(event=acc.Laplace(scale=10), times=100)]
    batch = acc.Batch(events=events, delta="1e-5")
    left = acc.Filter(cap=ApproxDP(epsilon=5, delta="1e-4")).spend(batch)
    spent = left.spent.parameters["epsilon"]
    assert acc.epsilon(acc.Sequence(events=events), "1e-5").upper <= spent < 5
    orders = RenyiDP(bounds={2: 1, 8: 4})
    assert acc.Filter(cap=orders).fits(acc.Batch(events=[acc.Gaussian(noise_multiplier=10)]))
