"""The public functions: parameters in, exact integers out.

The bytes always come from the operating system's key; there is no seed to pass, so none can be left in by accident.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter, NotSupported
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, Law, RoundedNormal
from privately.noise.accepting import Accepting
from privately.noise.kernels import NUMPY, Draws, Kernels, agree
from privately.noise.samplers import (
    Sampler,
    build,
    coin_of_exponential,
    coin_of_rational,
    sampler,
    uniform_below,
)
from privately.noise.source import Source
from privately.noise.streams import SYSTEM, here
from privately.noise.weighted import Weighted
from privately.rounding import LARGEST, MAX_BITS, Number, rational, whole

MAX_BYTES = 2**33
"""What the draws of one call may take."""

MAX_SIZE = MAX_BYTES // 8
"""Draws in one call, of 64 bits each."""

_kernels: Kernels = NUMPY


def discrete_laplace(*, scale: Number, size: int) -> Draws:
    """P(X = k) in proportion to exp(-|k|/scale), for a scale from 1/1000 to 2^60.

    >>> discrete_laplace(scale="7/3", size=1000).dtype
    dtype('int64')
    """
    return draw(DiscreteLaplace(scale=scale), size=size)


def rounded_gaussian(*, standard_deviation: Number, size: int) -> Draws:
    """A normal variable rounded to the nearest integer, for a standard deviation from 1/1000 to 2^40.

    x + round(N) = round(x + N) for an integer x, so adding it is post-processing of the continuous normal mechanism.
    """
    return draw(RoundedNormal(standard_deviation=standard_deviation), size=size)


def discrete_gaussian(*, variance: Number, size: int) -> Draws:
    """P(X = k) in proportion to exp(-k^2/(2 variance)), for a variance from 10^-6 to 2^80."""
    return draw(DiscreteGaussian(variance=variance), size=size)


def discrete_exponential(*, scale: Number, size: int) -> Draws:
    """P(X = k) in proportion to exp(-k/scale) for k >= 0, for a scale from 1/1000 to 2^60."""
    return draw(DiscreteExponential(scale=scale), size=size)


def geometric(*, success: Number, size: int) -> Draws:
    """Failures before the first success, which has a probability of at least 2^-60."""
    return draw(Geometric(success=success), size=size)


def uniform(*, upper: int, size: int) -> Draws:
    """Any of 0, 1, ..., upper - 1, each as likely as any other."""
    return _draw(uniform_below(whole(upper, "upper", maximum=2**MAX_BITS)), size)


def bernoulli(*, probability: Number, size: int) -> NDArray[np.bool_]:
    """True with a rational probability."""
    return _toss(coin_of_rational(rational(probability, "probability", minimum=0, maximum=1)), size)


def bernoulli_exp(*, exponent: Number, size: int) -> NDArray[np.bool_]:
    """True with probability exp(-exponent), for a rational exponent of at least 0."""
    exact = rational(exponent, "exponent", minimum=0, maximum=LARGEST)
    return _toss(coin_of_exponential(exact), size)


def weighted(*, counts: Sequence[int], exponents: Sequence[Number], size: int) -> Draws:
    """i with a probability in proportion to counts[i] exp(-exponents[i]); the least exponent counts as zero."""
    whole_counts, exact = _groups(counts, exponents)
    chosen = [i for i, count in enumerate(whole_counts) if count]
    least = min(exact[i] for i in chosen)
    law = Weighted([whole_counts[i] for i in chosen], [exact[i] - least if least else exact[i] for i in chosen])
    return np.array(chosen, np.int64)[_draw(law, size).astype(np.int64)]


def accepted(*, counts: Sequence[int], exponents: Sequence[Number]) -> Iterator[int]:
    """counts[i] candidates are accepted with probability exp(-exponents[i]) each: in random order, the i of each.

    It ends with the last of those whose exponent is 0. There must be one: then the first is known without a look at
    most of the others. It may not go on in a child process, whose choice would depend on that of its parent.
    """
    whole_counts, exact = _groups(counts, exponents)
    chosen = [i for i, count in enumerate(whole_counts) if count]
    kept = [exact[i] for i in chosen]
    if all(kept) or not all(0 <= x.numerator <= LARGEST * x.denominator for x in kept):
        raise InvalidParameter("exponents", f"must be from 0 to {LARGEST}, and 0 for some candidate.")
    law = Accepting([whole_counts[i] for i in chosen], kept)
    return _in_this_process(chosen[i] for i in law.draw(Source(SYSTEM, _kernels)))


def _in_this_process(groups: Iterator[int]) -> Iterator[int]:
    process = here()
    for group in groups:
        if here() != process:
            raise NotSupported("a choice that was begun in another process.", hint="Ask again in this one.")
        yield group


def draw(law: Law, *, size: int) -> Draws:
    """Independent draws from one of `privately.laws`: int64, or Python integers where the scale is above 2^53."""
    try:
        known = sampler(law)
    except TypeError:
        known = build(law)  # which refuses what cannot be hashed, as it is no law
    return _draw(known, size)


def accelerate() -> None:
    """Compile the inner loops with numba for the rest of this process. The draws have the same law, bit for bit.

    Loading numba costs a second, which pays after some hundred million draws. It is never done unasked.
    """
    global _kernels  # noqa: PLW0603  (one switch for the process is what is wanted)
    try:
        from privately.noise.compiled import NUMBA
    except ImportError as error:
        message = f"numba cannot be loaded: {error}."
        raise NotSupported(message, hint="Run: pip install 'privately[fast]'.") from error
    if not agree(NUMPY, NUMBA):
        raise NotSupported("the compiled loops differ from NumPy's on this machine.", hint="Go on without them.")
    _kernels = NUMBA


def _draw(law: Sampler, size: int) -> Draws:
    count = whole(size, "size", maximum=MAX_BYTES // law.bytes_per_draw)
    while True:
        process = here()
        try:
            drawn = law.draw(Source(SYSTEM, _kernels), count)
        except MemoryError:
            raise _too_many(count) from None
        if here() == process:  # forked in the middle, by a signal handler, the child draws anew
            return drawn


def _toss(coin: Sampler, size: int) -> NDArray[np.bool_]:
    drawn = _draw(coin, size)
    try:
        return drawn.astype(np.bool_)
    except MemoryError:
        raise _too_many(drawn.size) from None


def _too_many(count: int) -> InvalidParameter:
    return InvalidParameter("size", f"{count} draws do not fit in memory.", hint="Draw in parts.")


def _groups(counts: object, exponents: object) -> tuple[list[int], list[Fraction]]:
    """How many there are of each kind, not all zero, and their exponents."""
    whole_counts = [whole(count, "counts", minimum=0, maximum=2**63) for count in _listed(counts, "counts")]
    exact = [rational(exponent, "exponents") for exponent in _listed(exponents, "exponents")]
    if len(whole_counts) != len(exact):
        raise InvalidParameter("counts", "give one for each exponent.")
    if not any(whole_counts):
        raise InvalidParameter("counts", "are all zero.")
    return whole_counts, exact


def _listed(values: object, field: str) -> list[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    if not isinstance(values, (list, tuple)) or not values:
        raise InvalidParameter(field, "must be a list of numbers, not empty.")
    return list(values)
