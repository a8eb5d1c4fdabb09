"""The exact samplers of the literature, from integers and fractions alone: slow, and nothing like ours inside.

No table, no logarithm, no exponential function, no floating point: only coins with rational probabilities and, for
the normal law, numbers of which as many digits are tossed as the question at hand needs.

Reference: Canonne-Kamath-Steinke 2020, algorithms 1 to 3; Karney 2016, algorithm N; von Neumann 1951
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

from privately.noise.streams import Stream

_HALF = Fraction(1, 2)
_DIGIT = 32
_BLOCK = 512


class Bits:
    """The bits of a stream, each handed out once."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._pool = self._left = 0

    def take(self, count: int) -> int:
        """The next bits, as a number."""
        while self._left < count:
            self._pool |= int.from_bytes(self._stream.take(_BLOCK).tobytes(), "little") << self._left
            self._left += 8 * _BLOCK
        taken = self._pool & (1 << count) - 1
        self._pool >>= count
        self._left -= count
        return taken


class Unit:
    """A uniform number between 0 and 1 of which more and more is known: known <= 2^bits x <= known + 1."""

    def __init__(self, bits: Bits) -> None:
        self._source = bits
        self.known = self.bits = 0
        self.refine()

    def refine(self) -> None:
        """Toss more digits."""
        self.known = self.known << _DIGIT | self._source.take(_DIGIT)
        self.bits += _DIGIT

    @property
    def lower(self) -> Fraction:
        return Fraction(self.known, 1 << self.bits)

    @property
    def upper(self) -> Fraction:
        return Fraction(self.known + 1, 1 << self.bits)


def divide(x: Fraction, n: int) -> Fraction:
    """x/n."""
    return x / n


@dataclass(frozen=True)
class Oracle:
    """Draws one number at a time. Tests plant a wrong division."""

    bits: Bits
    divide: Callable[[Fraction, int], Fraction] = divide

    def uniform(self, upper: int) -> int:
        """0, 1, ..., upper - 1, by rejection."""
        while True:
            proposed = self.bits.take((upper - 1).bit_length())
            if proposed < upper:
                return proposed

    def bernoulli(self, probability: Fraction) -> bool:
        """True with a rational probability; one above 1 counts as 1."""
        return self.uniform(probability.denominator) < probability.numerator

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        """True with probability exp(-x): the first failure among coins of x, x/2, x/3, ... has an odd number.

        P(the first n coins all succeed) = x^n/n!, so the alternating sum of these is the probability of an odd number.
        """
        while exponent > 1:
            if not self.bernoulli_exp(Fraction(1)):
                return False
            exponent -= 1
        n = 1
        while self.bernoulli(self.divide(exponent, n)):
            n += 1
        return n % 2 == 1

    def geometric(self, success: Fraction) -> int:
        """Failures before the first success."""
        failures = 0
        while not self.bernoulli(success):
            failures += 1
        return failures

    def discrete_exponential(self, scale: Fraction) -> int:
        """P(k) in proportion to exp(-k/scale): a whole number with scale t for t/s, and its quotient by s."""
        s, t = scale.denominator, scale.numerator
        while True:
            u = self.uniform(t)
            if self.bernoulli_exp(Fraction(u, t)):
                break
        v = 0
        while self.bernoulli_exp(Fraction(1)):
            v += 1
        return (u + t * v) // s

    def discrete_laplace(self, scale: Fraction) -> int:
        """A sign of its own; the second zero is rejected."""
        while True:
            size, minus = self.discrete_exponential(scale), self.bits.take(1)
            if size or not minus:
                return -size if minus else size

    def discrete_gaussian(self, variance: Fraction) -> int:
        """A discrete Laplace number of scale t, kept with probability exp(-(|y| - variance/t)^2/(2 variance)).

        Up to a constant, that is exp(-y^2/(2 variance)) divided by exp(-|y|/t).
        """
        t = isqrt(floor(variance)) + 1
        while True:
            y = self.discrete_laplace(Fraction(t))
            if self.bernoulli_exp((abs(y) - variance / t) ** 2 / (2 * variance)):
                return y

    def rounded_normal(self, standard_deviation: Fraction) -> int:
        """A normal number, scaled, rounded as soon as it is certain how, and given a sign."""
        k, x = self._half_normal()
        minus = self.bits.take(1)
        while True:
            least = floor(standard_deviation * (k + x.lower) + _HALF)
            if least == floor(standard_deviation * (k + x.upper) + _HALF):
                return -least if minus else least
            x.refine()

    def _half_normal(self) -> tuple[int, Unit]:
        """Karney: k in proportion to exp(-k^2/2), x uniform, k + x kept with probability exp(-x (2k + x)/2).

        exp(-k^2/2 - k x - x^2/2) = exp(-(k + x)^2/2). One coin of exp(-x (2k + x)/2) is k + 1 coins of its root,
        whose exponent is below 1.
        """
        while True:
            k = 0
            while self.bernoulli_exp(_HALF):
                k += 1
            if self.bernoulli_exp(Fraction(k * (k - 1), 2)):
                x = Unit(self.bits)
                if all(self._bernoulli_exp_of(x, k) for _ in range(k + 1)):
                    return k, x

    def _bernoulli_exp_of(self, x: Unit, k: int) -> bool:
        """True with probability exp(-z) for z = x (2k + x)/(2k + 2): as `bernoulli_exp`, with lazy comparisons."""
        n = 1
        while self._below(x, k, n):
            n += 1
        return n % 2 == 1

    def _below(self, x: Unit, k: int, n: int) -> bool:
        """Whether a new uniform number is below z/n. More digits are tossed until it is certain."""
        u = Unit(self.bits)
        while True:
            if u.upper <= x.lower * (2 * k + x.lower) / (n * (2 * k + 2)):
                return True
            if u.lower >= x.upper * (2 * k + x.upper) / (n * (2 * k + 2)):
                return False
            u.refine()
            x.refine()
