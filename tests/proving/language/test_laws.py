"""The laws that programs may name."""

from privately.proving.language.laws import LAWS
from privately.proving.primitives import SAMPLERS


def test_every_law_can_be_drawn_from() -> None:
    assert set(LAWS) == set(SAMPLERS)


def test_what_exists_on_paper_only() -> None:
    assert {name for name, law in LAWS.items() if law.continuous} == {"laplace", "gaussian", "exponential"}
