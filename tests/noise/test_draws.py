"""The public functions: what they take, what they refuse and what they give back."""

import inspect
import math
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privately import noise
from privately.errors import InvalidParameter, NotSupported
from privately.laws import (
    DiscreteExponential,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    Law,
    RoundedNormal,
)
from privately.noise import draws, samplers
from privately.noise.repeatable import RepeatableStream
from privately.noise.source import Source
from tests.meta.tree import ROOT

PARAMETER = {
    "bernoulli": "probability",
    "bernoulli_exp": "exponent",
    "discrete_exponential": "scale",
    "discrete_gaussian": "variance",
    "discrete_laplace": "scale",
    "geometric": "success",
    "rounded_gaussian": "standard_deviation",
    "uniform": "upper",
}
LONG = 10**10_000
NEVER_GOOD: list[Any] = [
    *(-1, math.nan, math.inf, -math.inf, True, False, None, "abc", "", "1/0", "nan", "0x10", b"1", 1j, [1], (1,), {}),
    *(LONG, -LONG, Fraction(1, LONG), Fraction(LONG, 3), "1" * 10_000, "1/" + "3" * 10_000, "0." + "1" * 10_000),
    *(Decimal("NaN"), Decimal("Infinity"), Decimal(LONG), np.float64("nan"), np.bool_(True), np.array([1, 2])),
]
OUT_OF_RANGE: dict[str, list[Any]] = {
    "bernoulli": [-1e-9, 1 + 1e-9, "1.0000000001", 2],
    "bernoulli_exp": [-1e-9, "-1/2", 10**9 + 1],
    "discrete_exponential": [0, -0.0, "1/1001", 2**60 + 1, Fraction(2**61 + 1, 2)],
    "discrete_gaussian": [0, -0.0, "0.9e-6", 2**80 + 1],
    "discrete_laplace": [0, -0.0, "1/1001", 2**60 + 1, Fraction(2**61 + 1, 2)],
    "geometric": [0, -0.0, 1 + 1e-9, 2, Fraction(1, 2**60 + 1)],
    "rounded_gaussian": [0, -0.0, "1/1001", 2**40 + 1],
    "uniform": [0, -0.0, 2.0, 2.5, "6", Fraction(6), Decimal(6), np.float64(6), 2**4096 + 1],
}
FARTHEST: dict[str, list[Any]] = {
    "bernoulli": [0, -0.0, 1, "1", Fraction(1, 2**4095)],
    "bernoulli_exp": [0, -0.0, "1e-1000", 10**9],
    "discrete_exponential": ["1/1000", 2**60],
    "discrete_gaussian": ["1e-6", 2**80],
    "discrete_laplace": ["1/1000", 2**60],
    "geometric": [1, Fraction(1, 2**60)],
    "rounded_gaussian": ["1/1000", 2**40],
    "uniform": [1, np.uint8(3), 2**4096],
}
BAD_SIZES: list[Any] = [0, -1, 1e12, 10**12, 2**30 + 1, 2.5, "3", None, True, [3], Fraction(3), np.array([3]), LONG]
WIDE = 2**60


def call(name: str, value: Any, size: Any = 3) -> Any:
    return getattr(noise, name)(**{PARAMETER[name]: value}, size=size)


def refusal(name: str, value: Any, size: Any = 3) -> InvalidParameter:
    with pytest.raises(InvalidParameter) as caught:
        call(name, value, size)
    return caught.value


# What comes back


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("bernoulli", "1/3", bool),
        ("bernoulli_exp", "1/3", bool),
        ("discrete_laplace", 1, np.int64),
        ("discrete_laplace", 2**53, np.int64),
        ("discrete_laplace", 2**53 + 1, object),
        ("discrete_exponential", 2**53, np.int64),
        ("discrete_exponential", 2**60, object),
        ("geometric", Fraction(1, 2**53), np.int64),
        ("geometric", Fraction(1, 2**54), object),
        ("discrete_gaussian", 2**80, np.int64),
        ("rounded_gaussian", 2**40, np.int64),
        ("uniform", 2**63, np.int64),
        ("uniform", 2**63 + 1, object),
    ],
)
def test_draws_are_64_bits_wide_or_python_integers(name: str, value: Any, kind: type) -> None:
    found = call(name, value, 500)
    assert found.shape == (500,)
    assert found.dtype == kind
    if kind is object:
        assert {type(one) for one in found} == {int}


@pytest.mark.parametrize("name", PARAMETER)
def test_the_ends_of_every_range_are_good(name: str) -> None:
    for value in FARTHEST[name]:
        assert call(name, value).size == 3


def test_no_two_calls_draw_the_same() -> None:
    found = [one for _ in range(20) for one in noise.uniform(upper=2**128, size=5)]
    assert len(set(found)) == 100


LAWS: dict[str, Callable[..., Law]] = {
    "discrete_exponential": DiscreteExponential,
    "discrete_gaussian": DiscreteGaussian,
    "discrete_laplace": DiscreteLaplace,
    "geometric": Geometric,
    "rounded_gaussian": RoundedNormal,
}


@pytest.mark.parametrize("value", ["1/3", "0.99"])
def test_every_function_draws_from_the_law_it_names(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another law with the same parameter draws something else from the same bytes."""
    found = {}
    for name, law in LAWS.items():
        monkeypatch.setattr(draws, "SYSTEM", RepeatableStream(seed="wiring"))
        sampler = samplers.build(law(**{PARAMETER[name]: value}))
        found[name] = tuple(call(name, value, 200))
        assert found[name] == tuple(sampler.draw(Source(RepeatableStream(seed="wiring")), 200))
    assert len(set(found.values())) == len(LAWS)


@pytest.mark.parametrize("name", [*PARAMETER, "draw"])
def test_sizes_and_parameters_have_names(name: str) -> None:
    function = getattr(noise, name)
    parameters = inspect.signature(function).parameters
    assert set(parameters) == {"size", PARAMETER.get(name, "law")}
    positional = {one.name for one in parameters.values() if one.kind is not inspect.Parameter.KEYWORD_ONLY}
    assert positional == ({"law"} if name == "draw" else set())
    with pytest.raises(TypeError):
        function(1, 1)


def test_every_public_function_is_looked_at() -> None:
    """Here, or in the tests of `accepting`, `adding` and `weighted`."""
    assert {*PARAMETER, "draw", "accelerate", "accepted", "add", "weighted"} == set(noise.__all__)


# What goes in


def tables() -> int:
    caches = (samplers.sampler, samplers.uniform_below)
    return sum(cache.cache_info().misses for cache in caches)


@pytest.mark.parametrize("name", sorted(PARAMETER.keys() - {"uniform"}))
@pytest.mark.parametrize(
    "spellings",
    [
        [Fraction(3, 8), "3/8", "0.375", 0.375, Decimal("0.375"), np.float64(0.375), np.float32(0.375), "6/16"],
        [1, Fraction(1), "1", "1.0", 1.0, Decimal(1), np.float64(1), np.int64(1), np.uint8(1), " 1 ", "+1e0"],
        [Fraction(7, 30), "7/30", "+14/60"],
        [Fraction(1, 10), "0.1", Decimal("0.1"), ".1", "1e-1"],
    ],
    ids=str,
)
def test_equal_parameters_share_a_table(name: str, spellings: list[Any]) -> None:
    call(name, spellings[0])
    before = tables()
    for value in spellings:
        call(name, value)
    assert tables() == before


def test_other_parameters_and_other_laws_do_not_share_one() -> None:
    """A float is taken exactly, so 0.1 is not a tenth."""
    call("discrete_laplace", "0.1")
    before = tables()
    call("discrete_laplace", 0.1)
    assert tables() == before + 1
    call("discrete_laplace", "12.345")
    call("discrete_exponential", "12.345")
    assert tables() == before + 3
    assert call("discrete_exponential", "12.345", 1000).min() == 0 > call("discrete_laplace", "12.345", 1000).min()


@pytest.mark.parametrize("name", PARAMETER)
@pytest.mark.parametrize("bad", NEVER_GOOD, ids=lambda value: type(value).__name__)
def test_what_is_no_number_is_refused_by_name(name: str, bad: Any) -> None:
    assert refusal(name, bad).field == PARAMETER[name]


@pytest.mark.parametrize("name", PARAMETER)
def test_what_is_out_of_range_is_refused_by_name(name: str) -> None:
    for bad in OUT_OF_RANGE[name]:
        assert refusal(name, bad).field == PARAMETER[name]


@pytest.mark.parametrize("name", PARAMETER)
def test_a_refusal_is_short_enough_to_read(name: str) -> None:
    for bad in [*NEVER_GOOD, *OUT_OF_RANGE[name]]:
        assert len(str(refusal(name, bad))) < 300


@pytest.mark.parametrize("bad", [None, 1, "x", DiscreteLaplace, [1], {}], ids=repr)
def test_only_laws_with_a_sampler_are_drawn_from(bad: Any) -> None:
    with pytest.raises(NotSupported):
        noise.draw(bad, size=3)


def test_finite_laws_are_drawn_from_by_their_table() -> None:
    law = FiniteLaw(table={-5: "1/3", 2**70: "1/3", 0: "1/3"})
    assert set(noise.draw(law, size=300).tolist()) == {-5, 0, 2**70}
    assert noise.draw(FiniteLaw(table={7: 1}), size=2).tolist() == [7, 7]


# Sizes


@pytest.mark.parametrize("name", PARAMETER)
@pytest.mark.parametrize("size", [np.int8(7), np.int64(7), np.uint64(7)])
def test_sizes_may_come_from_numpy(name: str, size: Any) -> None:
    assert call(name, 1, size).shape == (7,)


def peak(action: Callable[[], object]) -> int:
    """The most bytes that an action has at a time."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", PARAMETER)
def test_bad_sizes_are_refused_by_name_before_anything_is_allocated(name: str) -> None:
    call(name, 1)
    for bad in BAD_SIZES:
        assert refusal(name, 1, bad).field == "size"
        assert peak(lambda bad=bad: refusal(name, 1, bad)) < 100_000  # type: ignore[misc]
    assert peak(lambda: call(name, 1, 100_000)) > 800_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("discrete_laplace", WIDE),
        ("discrete_exponential", WIDE),
        ("geometric", Fraction(1, WIDE)),
        ("uniform", 2**64),
    ],
)
def test_python_integers_are_allowed_fewer_at_a_time(name: str, value: Any) -> None:
    call(name, value)
    for size in (10**12, 2**28):
        assert "size" in str(refusal(name, value, size))
        assert peak(lambda size=size: refusal(name, value, size)) < 100_000  # type: ignore[misc]


SHORT_OF_MEMORY = """
import resource
from pathlib import Path
from privately import noise
noise.{call}, size=100)
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + {spare}, resource.RLIM_INFINITY))
try:
    noise.{call}, size={size})
except ValueError as error:
    print(type(error).__name__, error)
print(noise.{call}, size=1000).size)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures itself through /proc")
@pytest.mark.parametrize(
    ("call", "size", "spare"),
    [
        ("discrete_laplace(scale=1", 2**30, 2**28),
        # There is room for the array, but not for all the integers in it.
        ("discrete_laplace(scale=2**60", 2**22, 2**26),
        ("uniform(upper=2**4096", 2**22, 2**26),
        # There is room for the coins as integers, but not for the truth values made of them.
        ("bernoulli(probability='1/3'", 2**24, 2**27 + 2**23),
        ("bernoulli_exp(exponent='1/3'", 2**24, 2**27 + 2**23),
    ],
)
def test_too_little_memory_is_refused_by_the_name_of_the_size(call: str, size: int, spare: int) -> None:
    program = SHORT_OF_MEMORY.format(call=call, size=size, spare=spare)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    refused, drawn = f"InvalidParameter size: {size} draws do not fit in memory. Draw in parts.", "1000"
    assert done.stdout.splitlines() == [refused, drawn], done.stderr


# Costs


@pytest.mark.parametrize(
    ("law", "least", "most"),
    [
        (DiscreteLaplace(scale=1), 2, 4),
        (DiscreteLaplace(scale=10), 2, 4),
        (RoundedNormal(standard_deviation=10), 2, 4),
        (DiscreteGaussian(variance=100), 2, 4),
        (DiscreteLaplace(scale=2**40), 14, 32),
        (DiscreteExponential(scale=2**40), 14, 32),
        (Geometric(success=Fraction(1, 2**40)), 14, 32),
        (RoundedNormal(standard_deviation=2**40), 14, 32),
        (DiscreteGaussian(variance=2**80), 14, 32),
    ],
    ids=repr,
)
def test_few_random_bytes_are_used(law: Any, least: int, most: int) -> None:
    stream = RepeatableStream(seed="thrift")
    samplers.sampler(law).draw(Source(stream), 100_000)
    assert least <= stream.taken / 100_000 <= most
