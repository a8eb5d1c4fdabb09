"""Every test here compares with mpmath at high precision."""

from collections.abc import Iterator

import mpmath
import pytest


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with mpmath.workprec(3000):
        yield
