"""Partial sums from a binary tree: exact laws of small streams, sessions, error bars."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import GaussianDP, Neighbors, PureDP, Sensitivity
from privately.mechanisms.binary_tree import BinaryTree
from privately.mechanisms.dummy_sum_2 import DummySum2
from privately.mechanisms.sums_of_noise import NOISES, Noise
from tests.mechanisms.enumeration import Distribution, outcomes
from tests.mechanisms.stream_checks import (
    Scripted,
    Stream,
    chance_of_error,
    excess_over,
    law,
    neighbours,
    same,
    text_law,
    worst_loss,
)
from tests.mechanisms.tables import certified, real

ONE = Sensitivity(value=1)
SHAPES = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (4, 3)]
SMALL = BinaryTree(scale="1/3", length=3)


def one_item(length: int) -> tuple[Stream, Stream]:
    return (0,) * length, (1,) + (0,) * (length - 1)


@pytest.mark.parametrize(("length", "levels"), SHAPES)
def test_it_costs_one_epsilon_for_each_level_and_no_less(length: int, levels: int) -> None:
    """Here 1/scale is 3."""
    tree = BinaryTree(scale="1/3", length=length, levels=levels)
    assert certified(tree.derive(ONE)) == PureDP(epsilon=3 * levels)
    pairs = neighbours([0, 1], length, change=1) if length < 4 else iter([one_item(length)])
    found = worst_loss(tree, pairs, window=4)
    assert abs(found - 3 * levels) < 1e-9


def test_normal_noise_keeps_to_its_claim() -> None:
    tree = BinaryTree(scale="5/4", length=2, levels=2, noise="rounded_gaussian")
    claim = certified(tree.derive(ONE))
    assert isinstance(claim, GaussianDP)
    found: dict[Stream, Distribution] = {stream: law(tree, stream, 9) for stream in product((0, 1), repeat=2)}
    excesses = {pair: excess_over(claim, found[pair[0]], found[pair[1]]) for pair in neighbours([0, 1], 2, change=1)}
    assert max(excesses.values()) < 1e-9
    careless = GaussianDP(mu=Fraction(claim.parameters["mu"]) * Fraction(5, 7))  # as if each item were in one block
    assert max(excess_over(careless, found[one], found[other]) for one, other in excesses) > 0.01


def test_replacing_an_item_by_any_other_costs_its_change() -> None:
    replaced = Sensitivity(value=2, neighbors=Neighbors.REPLACE)
    claim = certified(SMALL.derive(replaced))
    assert claim == PureDP(epsilon=12, neighbors=Neighbors.REPLACE)
    assert abs(worst_loss(SMALL, iter([((0, 1, 1), (2, 1, 1))]), window=5) - 12) < 1e-9
    assert worst_loss(SMALL, iter([((0, 0, 0), (0, 0, 2))]), window=5) < 12


def test_a_level_forgotten_is_refuted() -> None:
    """Scaled as if each item were in one block less."""
    honest = BinaryTree.for_epsilon(6, ONE, length=3)
    careless = BinaryTree(scale=honest.scale / 2, length=3)
    pairs = [one_item(3)]
    assert worst_loss(honest, iter(pairs), window=5) < 6 + 1e-9
    assert worst_loss(careless, iter(pairs), window=3) > 6 + 1e-9


def test_noise_used_twice_is_refuted() -> None:
    """A session that remembers one draw and uses it for two blocks: no longer what the claim is about."""

    def reused(stream: Stream, randomness: Any) -> list[int]:
        (noise,) = randomness.draw(SMALL.law, size=1)
        session = SMALL.session(Scripted([int(noise)] * 3))  # type: ignore[arg-type]
        return [session.add(item) for item in stream]

    one, other = (outcomes(lambda r, s=s: reused(s, r), window=9) for s in ((0, 0, 0), (1, 0, 0)))  # type: ignore[misc]
    assert one.loss(other, above=1e-3) == float("inf")


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("length", "levels"), SHAPES)
def test_text_and_mechanism_agree(noise: Noise, length: int, levels: int) -> None:
    tree = BinaryTree(scale="1/2", length=length, levels=levels, noise=noise)
    stream = [3, -1, 0, 7][:length]
    assert same(law(tree, stream, 1), text_law(tree, stream, 1))


@given(st.integers(1, 40), st.data())
def test_a_session_gives_the_same_answers_item_by_item(length: int, data: st.DataObject) -> None:
    levels = data.draw(st.integers(1, length.bit_length()))
    stream = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=length, max_size=length))
    noise = data.draw(st.lists(st.integers(-(2**61), 2**61), min_size=length, max_size=length))
    tree = BinaryTree(scale=2**50, length=length, levels=levels)
    session = tree.session(Scripted(noise))  # type: ignore[arg-type]  # nothing else is drawn
    answers = [session.add(item) for item in stream]
    assert answers == tree.run(stream, Scripted(noise)).tolist()  # type: ignore[arg-type]
    assert session.left == 0


def test_without_noise_the_sums_are_true() -> None:
    stream = np.random.default_rng(1).integers(-9, 9, 1000)
    answers = BinaryTree(scale=1, length=1000).run(stream, Scripted([0] * 1000))  # type: ignore[arg-type]
    assert answers.tolist() == np.cumsum(stream).tolist()


def test_with_one_level_it_is_noise_on_every_item() -> None:
    noise = list(range(9))
    tree, items = BinaryTree(scale=1, length=9, levels=1), DummySum2(scale=1, length=9)
    runs = [one.run([1] * 9, Scripted(noise)).tolist() for one in (tree, items)]  # type: ignore[arg-type]
    assert runs[0] == runs[1]


def test_intervals_cover() -> None:
    """All sums together by a union bound; each alone exactly, and with the least width."""
    tree = BinaryTree(scale="1/2", length=3)
    found, truth = law(tree, (1, 1, 0), 8), [1, 2, 2]
    for confidence in ("0.5", "0.9", "0.99"):
        miss = real(1 - Fraction(confidence))
        w = tree.interval(confidence)
        assert chance_of_error(found, truth, float(w)) <= miss
        union = [sum(chance_of_error(found, truth, float(v), only=i) for i in range(3)) for v in (w, w - 1)]
        assert union[0] <= miss < union[1]
        for prefix in (1, 2, 3):
            alone = tree.interval_at(prefix, confidence)
            assert chance_of_error(found, truth, float(alone), only=prefix - 1) <= miss
            assert alone == 0 or chance_of_error(found, truth, float(alone - 1), only=prefix - 1) > miss


def test_many_blocks_are_covered_by_chernoff() -> None:
    """As wide as noise on every item, without Levy's help, and quickly."""
    flat = BinaryTree(scale=3, length=2**14, levels=1)
    alone, together = flat.interval_at(2**14, "0.95"), flat.interval("0.95")
    assert alone < together < 2 * alone


def test_standard_errors_are_those_of_the_law() -> None:
    found = law(SMALL, (0, 0, 0), 8)
    for place, error in enumerate(SMALL.standard_errors()):
        variance = sum(chance * answer[place] ** 2 for answer, chance in found.chances.items())  # type: ignore[index]
        assert error == pytest.approx(float(variance) ** 0.5, rel=1e-6)


def test_a_long_stream_is_added_up_within_its_error_bars() -> None:
    length = 2**14
    stream = np.random.default_rng(2).integers(0, 2, length)
    tree = BinaryTree.for_epsilon(1, ONE, length=length)
    for _ in range(3):
        error = np.abs(tree.release(stream) - np.cumsum(stream)).max()
        assert error <= tree.interval(1 - Fraction(1, 10**8))


@pytest.mark.parametrize(
    "parameters",
    [
        {"scale": 0},
        {"length": 0},
        {"levels": 0},
        {"levels": 4},
        {"noise": "normal"},
        {"scale": float("nan")},
        {"scale": -1},
    ],
)
def test_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        BinaryTree(**{"scale": 1, "length": 4, **parameters})


def test_bad_questions() -> None:
    with pytest.raises(InvalidParameter, match="prefix"):
        SMALL.interval_at(4, "0.5")
    with pytest.raises(InvalidParameter, match="confidence"):
        SMALL.interval(1)
    with pytest.raises(InvalidParameter):
        BinaryTree.for_accuracy(error=-1, confidence="0.5", length=4)
