"""The refined tree: the same price as the tree, smaller errors, all from the noisy blocks alone."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import PureDP, Sensitivity
from privately.mechanisms.binary_tree import BinaryTree
from privately.mechanisms.refined_tree import RefinedTree
from privately.mechanisms.sums_of_noise import NOISES, Noise
from tests.mechanisms.stream_checks import Scripted, chance_of_error, law, neighbours, same, text_law
from tests.mechanisms.tables import certified, real

ONE = Sensitivity(value=1)
SHAPES = [(1, 1), (2, 2), (3, 2), (4, 2), (4, 3)]


def draws(tree: RefinedTree) -> int:
    return sum(tree.length >> level for level in range(tree.levels))


def worst(tree: RefinedTree, window: int) -> Any:
    """Over all small streams. Different noise may give the same answer, so unlikely ones suffer from the window."""
    pairs = list(neighbours([0, 1], tree.length, change=1))[: 2 if tree.length > 2 else None]
    laws = {stream: law(tree, stream, window) for pair in pairs for stream in pair}
    return max(laws[one].loss(laws[other], above=1e-4) for one, other in pairs)


@pytest.mark.parametrize(("length", "levels"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_exact_privacy_of_small_streams(length: int, levels: int) -> None:
    """The answers hold less than the blocks, so the claim need not be reached."""
    tree = RefinedTree(scale="1/4", length=length, levels=levels)
    assert certified(tree.derive(ONE)) == PureDP(epsilon=4 * levels)
    found = worst(tree, window=3)
    assert found < 4 * levels + 1e-4
    assert found > 3.99


def test_half_the_noise_is_refuted() -> None:
    assert worst(RefinedTree(scale="1/8", length=2, levels=1), window=2) > 4 + 1e-4


@pytest.mark.parametrize(("length", "levels", "noise"), [(*shape, NOISES[shape[0] % 2]) for shape in SHAPES])
def test_text_and_mechanism_agree(length: int, levels: int, noise: Noise) -> None:
    tree = RefinedTree(scale="1/2", length=length, levels=levels, noise=noise)
    stream = [3, -1, 0, 7][:length]
    assert same(law(tree, stream, 1), text_law(tree, stream, 1))


@given(st.integers(1, 40), st.data())
def test_a_session_gives_the_same_answers_item_by_item(length: int, data: st.DataObject) -> None:
    levels = data.draw(st.integers(1, length.bit_length()))
    tree = RefinedTree(scale=1, length=length, levels=levels)
    stream = data.draw(st.lists(st.integers(-(2**40), 2**40), min_size=length, max_size=length))
    noise = data.draw(st.lists(st.integers(-(2**40), 2**40), min_size=draws(tree), max_size=draws(tree)))
    script = Scripted(noise)
    session = tree.session(script)  # type: ignore[arg-type]  # nothing else is drawn
    answers = [session.add(item) for item in stream]
    assert script.used_up
    assert answers == tree.run(stream, Scripted(noise)).tolist()  # type: ignore[arg-type]


def test_without_noise_the_sums_are_true() -> None:
    stream = np.random.default_rng(1).integers(-9, 9, 1000)
    tree = RefinedTree(scale=1, length=1000)
    answers = tree.run(stream, Scripted([0] * draws(tree)))  # type: ignore[arg-type]
    assert answers == pytest.approx(np.cumsum(stream), abs=1e-9)


@pytest.mark.parametrize(("length", "levels"), SHAPES)
def test_standard_errors_are_those_of_the_weights(length: int, levels: int) -> None:
    """The answers are linear in the noise; one draw at a time shows its weights."""
    tree = RefinedTree(scale=5, length=length, levels=levels)
    unit = BinaryTree(scale=5, length=1).standard_errors()[0]
    rows = []
    for place in range(draws(tree)):
        noise = [0] * draws(tree)
        noise[place] = 1
        rows.append(tree.run([0] * length, Scripted(noise)))  # type: ignore[arg-type]
    squares = (np.array(rows) ** 2).sum(axis=0)
    assert tree.standard_errors() == pytest.approx(unit * np.sqrt(squares), rel=1e-7)


def test_errors_are_smaller_than_those_of_the_tree() -> None:
    plain, better = BinaryTree(scale=10, length=1000), RefinedTree(scale=10, length=1000)
    assert (better.standard_errors() <= plain.standard_errors() * (1 + 1e-7)).all()
    assert np.sqrt(np.mean(better.standard_errors() ** 2)) < 0.8 * np.sqrt(np.mean(plain.standard_errors() ** 2))
    assert better.interval("0.95") < plain.interval("0.95")


@pytest.mark.parametrize("noise", NOISES)
def test_intervals_cover(noise: Noise) -> None:
    tree = RefinedTree(scale="2/3", length=2, levels=2, noise=noise)
    found, truth = law(tree, (1, 1), 8), [1.0, 2.0]
    for confidence in ("0.5", "0.9", "0.99"):
        miss = real(1 - Fraction(confidence)) + found.missing
        assert chance_of_error(found, truth, float(tree.interval(confidence)) + 1e-9) <= miss
        for prefix in (1, 2):
            alone = float(tree.interval_at(prefix, confidence)) + 1e-9
            assert chance_of_error(found, truth, alone, only=prefix - 1) <= miss
    assert tree.interval("0.99") < 12


def test_a_long_stream_is_added_up_within_its_error_bars() -> None:
    length = 2**14
    stream = np.random.default_rng(2).integers(0, 2, length)
    for tree in (RefinedTree.for_epsilon(1, ONE, length=length), RefinedTree.for_mu("1/4", ONE, length=length)):
        error = np.abs(tree.release(stream) - np.cumsum(stream)).max()
        assert error <= tree.interval(1 - Fraction(1, 10**8))


@pytest.mark.parametrize(
    "parameters", [{"scale": 0}, {"length": 0}, {"levels": 0}, {"levels": 4}, {"noise": "normal"}, {"scale": -1}]
)
def test_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        RefinedTree(**{"scale": 1, "length": 4, **parameters})
    with pytest.raises(InvalidParameter, match="prefix"):
        RefinedTree(scale=1, length=4).interval_at(0, "0.5")
