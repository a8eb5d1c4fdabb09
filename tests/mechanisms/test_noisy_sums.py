"""What all partial sums with one kind of noise share: calibration, texts, and what is said of their errors."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, GaussianDP, Neighbors, PureDP, Sensitivity, rules
from privately.mechanisms import BinaryTree, DummySum1, DummySum2, RefinedTree
from privately.mechanisms.sums_of_noise import NOISES, Noise
from tests.mechanisms.stream_checks import law, same, text_law
from tests.mechanisms.tables import certified

KINDS: list[Any] = [DummySum1, DummySum2, BinaryTree, RefinedTree]
COPIES = {DummySum1: 100, DummySum2: 1, BinaryTree: 7, RefinedTree: 7}
every = pytest.mark.parametrize("kind", KINDS)


@every
def test_scaled_to_a_total_it_keeps_to_it(kind: Any) -> None:
    replaced = Sensitivity(value=2, neighbors=Neighbors.REPLACE)
    sums = kind.for_epsilon(1, replaced, length=100)
    assert sums.copies == COPIES[kind]
    assert sums.scale == 2 * sums.copies
    assert certified(sums.derive(replaced)) == PureDP(epsilon=1, neighbors=Neighbors.REPLACE)
    normal = kind.for_mu("1/4", replaced, length=100)
    assert normal.scale == pytest.approx(8 * sums.copies**0.5)
    assert certified(normal.derive(replaced)) == GaussianDP(mu="1/4", neighbors=Neighbors.REPLACE)
    found = certified(rules.convert(kind.for_rho("1/8", replaced, length=100).derive(replaced), ZCDP))
    assert Fraction(1, 8) * (1 - Fraction(1, 10**12)) <= found.parameters["rho"] <= Fraction(1, 8)


@pytest.mark.parametrize("kind", [DummySum1, DummySum2])
@pytest.mark.parametrize("noise", NOISES)
def test_text_and_mechanism_agree(kind: Any, noise: Noise) -> None:
    sums = kind(scale="1/2", length=3, noise=noise)
    for stream in ((1, 0, 2), (0, 0, 0)):
        assert same(law(sums, stream, 2), text_law(sums, stream, 2))


@every
@pytest.mark.parametrize("noise", NOISES)
def test_the_most_noise_for_an_error(kind: Any, noise: Noise) -> None:
    sums = kind.for_accuracy(error=200, confidence="0.95", length=20, noise=noise)
    assert sums.interval("0.95") <= 200
    assert kind(scale=sums.scale * Fraction(101, 100), length=20, noise=noise).interval("0.95") > 200
    stated = sums.accuracy(confidence="0.95")
    assert (stated.error, stated.measure) == (sums.interval("0.95"), "the largest error")


@every
@pytest.mark.parametrize(
    "parameters",
    [{"scale": 0}, {"length": 0}, {"noise": "normal"}, {"noise": ["normal"]}, {"scale": "x"}, {"scale": 1e-9}],
)
def test_bad_parameters(kind: Any, parameters: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        kind(**{"scale": 1, "length": 2, **parameters})
    assert caught.value.field in parameters


@every
def test_shapes_that_do_not_fit(kind: Any) -> None:
    for words, more in (("length", {}), ("foo", {"length": 3, "foo": 1})):
        with pytest.raises(TypeError, match=words):
            kind.for_epsilon(1, Sensitivity(value=1), **more)
    if kind in {DummySum1, DummySum2}:
        with pytest.raises(TypeError, match="levels"):
            kind.for_epsilon(1, Sensitivity(value=1), length=3, levels=2)
    else:
        assert kind.for_epsilon(1, Sensitivity(value=1), length=3, levels=1).scale == 1
