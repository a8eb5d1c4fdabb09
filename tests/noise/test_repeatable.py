"""The stream for tests repeats itself, and there is no way to it from the public functions."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privately.noise
from privately.noise import draws, repeatable, streams
from privately.noise.repeatable import RepeatableStream
from privately.noise.streams import REKEY_AFTER, SystemStream

LENGTH = 5000
FORBIDDEN = {"stream", "seed", "rng", "random_state", "generator", "source", "key", "kernels", "state"}


def taken(seed: str, sizes: list[int]) -> bytes:
    stream = RepeatableStream(seed=seed)
    return b"".join(stream.take(size).tobytes() for size in sizes)


@given(st.lists(st.integers(0, 700), max_size=30))
def test_the_bytes_do_not_depend_on_how_they_are_asked_for(sizes: list[int]) -> None:
    whole = taken("one", [30 * 700])
    assert whole.startswith(taken("one", sizes))


@pytest.mark.parametrize(
    "sizes",
    [
        [3 * REKEY_AFTER + 5],
        [REKEY_AFTER - 1, 2, 2 * REKEY_AFTER + 4],
        [1, REKEY_AFTER, 15, 17, 2 * REKEY_AFTER - 28],
    ],
)
def test_long_requests_are_no_exception(sizes: list[int]) -> None:
    assert sum(sizes) == 3 * REKEY_AFTER + 5
    assert taken("long", sizes) == taken("long", [(3 * REKEY_AFTER + 5) // 7] * 7 + [(3 * REKEY_AFTER + 5) % 7])


def test_the_seed_decides_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = taken("one", [LENGTH])
    monkeypatch.setattr("os.urandom", None)
    assert taken("one", [LENGTH]) == whole
    assert len({taken(seed, [32]) for seed in ("", "one", "One", "one ", "two", "é", "0" * 1000)}) == 7


def test_the_first_bytes_of_a_seed_stay_what_they_are() -> None:
    """Stored draws rest on them."""
    assert taken("golden", [16]).hex() == "56f324a2a247e18f0a28d5c1337d2030"


def test_it_counts_what_was_taken() -> None:
    stream = RepeatableStream(seed="one")
    for size in (3, 0, REKEY_AFTER + 1):
        stream.take(size)
    assert stream.taken == REKEY_AFTER + 4


def test_what_is_drawn_belongs_to_the_caller() -> None:
    stream = RepeatableStream(seed="one")
    first, second = stream.take(64), stream.take(64)
    assert not np.shares_memory(first, second)
    first[:] = 0
    assert second.tobytes() == taken("one", [128])[64:]


def test_it_is_another_type_than_the_stream_of_the_library() -> None:
    assert not issubclass(RepeatableStream, SystemStream)
    assert not issubclass(SystemStream, RepeatableStream)
    assert RepeatableStream.__mro__[1:] == SystemStream.__mro__[1:] == (object,)
    assert vars(draws)["SYSTEM"] is streams.SYSTEM
    assert type(streams.SYSTEM) is SystemStream


def public_functions() -> dict[str, Callable[..., Any]]:
    return {name: getattr(privately.noise, name) for name in privately.noise.__all__}


def forbidden_parameters(function: Callable[..., Any]) -> set[str]:
    """Parameters that could carry randomness in, by name, and those that take anything."""
    parameters = inspect.signature(function).parameters.values()
    return {
        one.name
        for one in parameters
        if one.name in FORBIDDEN or one.kind in {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    }


@pytest.mark.parametrize("name", privately.noise.__all__)
def test_no_public_function_takes_a_stream(name: str) -> None:
    assert forbidden_parameters(public_functions()[name]) == set()


def test_a_function_that_takes_a_seed_would_be_noticed() -> None:
    def seeded(*, scale: int, seed: int) -> None: ...
    def anything(*, scale: int, **others: int) -> None: ...

    assert forbidden_parameters(seeded) == {"seed"}
    assert forbidden_parameters(anything) == {"others"}


def named_in(module: ModuleType) -> set[str]:
    """Names of a module that lead to the repeatable stream."""
    ways = {RepeatableStream, repeatable}
    return {name for name, value in vars(module).items() if isinstance(value, type | ModuleType) and value in ways}


def test_no_module_of_the_library_names_it() -> None:
    """`repeatable` itself is an attribute of its package only since this file imported it."""
    modules = [value for value in vars(privately.noise).values() if isinstance(value, ModuleType)]
    assert len(modules) > 8
    assert {module.__name__: named_in(module) for module in modules if named_in(module)} == {
        repeatable.__name__: {"RepeatableStream"}
    }
    assert named_in(privately.noise) <= {"repeatable"}
    assert not {"repeatable", "RepeatableStream"} & set(privately.noise.__all__)
