"""How far from the threshold a wrong answer can be, from the exact laws of the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from privately.laws.deciding import least
from privately.mechanisms.error_bars import largest, read_confidence
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy
from privately.mechanisms.threshold_sums import Blocks
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Number, rational, whole


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """A query is compared with the noisy threshold by one test after the other, until one says yes; all in steps.

    Each test is the scale of its noise, and by how much more than the threshold it asks for.
    """

    threshold_scale: Fraction
    tests: tuple[tuple[Fraction, int], ...]

    def error(self, confidence: Number, *, queries: int, answers: int) -> int:
        """The least error up to which `all_right` is as likely as asked; for wide noise, a multiple of the block."""
        certain = read_confidence(confidence)
        return self.least_steps(lambda error: self.all_right(error, certain, queries, answers), certain, queries)

    def width(self, confidence: Number, *, queries: int) -> int:
        """The least width with which `all_within` is as likely as asked; for wide noise, a multiple of the block."""
        certain = read_confidence(confidence)
        return self.least_steps(lambda width: self.all_within(width, certain, queries), certain, queries)

    def all_right(self, error: int, confidence: Fraction, queries: int, answers: int) -> Fraction:
        """How likely it is, at least, that so many queries are answered right up to `error`, at most `answers` by yes.

        Right means: no yes to a query more than `error` below the threshold, no no to one more than `error` above it.
        The bound is close where it is about `confidence`.

        Theorem: let F be the distribution function of a query's noise, r the noise of the threshold. A query more than
            a below is answered by no with probability at least b(r) = F(a + r), one more than a above by yes with at
            least u(r) = F(a + 1 - r). However queries are chosen, even if r is known, all of n are answered right with
            probability at least the mean of min(b(r)^n, b(r)^(n-m) u(r)^m), where m = min(n, answers).
        Reference: independence, given the noise of the threshold
        Proof: docs/theory/mechanisms.md#accuracy-of-threshold-answers
        Checked-by: tests/mechanisms/test_threshold_accuracy.py::test_the_strongest_adversary_attains_the_bound
        """
        count = whole(queries, "queries")
        above = min(count, answers)
        blocks = self._blocks(confidence)
        below = [blocks.up_to(scale, error + margin, rising=True) for scale, margin in self.tests]
        reach = [blocks.up_to(scale, error + 1 - margin, rising=False) for scale, margin in self.tests]

        def worst(no: int, yes: int) -> int:
            mixed = blocks.times([blocks.power(no, count - above), blocks.power(yes, above)])
            return min(blocks.power(no, count), mixed)

        pairs = zip(
            map(blocks.times, zip(*below, strict=True)), map(blocks.some, zip(*reach, strict=True)), strict=True
        )
        return blocks.mean(self.threshold_scale, (worst(no, yes) for no, yes in pairs))

    def all_within(self, width: int, confidence: Fraction, queries: int) -> Fraction:
        """How likely it is, at least, that the noises of so many queries all lie within `width` of the threshold's.

        Theorem: given r, the noise lies in [r - w, r + w] with probability F(w + r) + F(w - r) - 1.
        Reference: symmetry of the discrete Laplace law
        Proof: docs/theory/mechanisms.md#accuracy-of-threshold-answers
        Checked-by: tests/mechanisms/test_threshold_accuracy.py::test_gaps_lie_within_their_width
        """
        count = whole(queries, "queries")
        blocks = self._blocks(confidence)
        ((scale, _),) = self.tests
        ends = zip(blocks.up_to(scale, width, rising=True), blocks.up_to(scale, width, rising=False), strict=True)
        inside = (max(low + high - blocks.one, 0) for low, high in ends)
        return blocks.mean(self.threshold_scale, (blocks.power(chance, count) for chance in inside))

    def block(self, confidence: Fraction) -> int:
        """How many steps of noise are looked at together: one, while scales are below 64."""
        return self._blocks(confidence).size

    def _blocks(self, confidence: Fraction) -> Blocks:
        return Blocks.cover(self.threshold_scale, [scale for scale, _ in self.tests], doubt=1 - confidence)

    def least_steps(self, chance: Callable[[int], Fraction], confidence: Fraction, queries: int) -> int:
        """The least multiple of the block with so large a chance; first looked for where such noise is expected."""
        block = self.block(confidence)
        doubt = ceil(whole(queries, "queries") / (1 - confidence)).bit_length()
        guess = int(max(self.threshold_scale, *(scale for scale, _ in self.tests)) * doubt * Fraction(7, 10))
        return least(lambda steps: steps >= 0 and chance(steps * block) >= confidence, guess // block) * block


def statement(comparisons: Comparisons, confidence: Number, *, queries: int, answers: int, grid: Grid) -> Accuracy:
    """The error as a statement about queries as they were before they were put on the grid."""
    steps = comparisons.error(confidence, queries=queries, answers=answers)
    return Accuracy(
        error=steps * grid.unit + grid.rounding,
        confidence=rational(confidence, "confidence"),
        measure=f"the distance from the threshold of any of {queries} queries with a wrong answer",
    )


def most_noise(
    shape: Callable[[Fraction], Comparisons],
    *,
    error: Number,
    confidence: Number,
    queries: int,
    answers: int,
    grid: Grid,
) -> Fraction:
    """The largest scale for the threshold, in steps, with which no wrong answer is further off than `error`.

    `shape` says how the tests go with that scale; their scales are in proportion to it.
    """
    certain = read_confidence(confidence)
    allowed = floor((rational(error, "error", minimum=0) - grid.rounding) / grid.unit)

    def fits(scale: Fraction) -> bool:
        tests = shape(scale)
        steps = allowed - allowed % tests.block(certain)  # what `error` would find
        return allowed >= 0 and tests.all_right(steps, certain, queries, answers) >= certain

    ratios = [Fraction(1), *(scale for scale, _ in shape(Fraction(1)).tests)]
    return largest(fits, lowest=NARROWEST / min(ratios), highest=WIDEST / max(ratios), field="error")
