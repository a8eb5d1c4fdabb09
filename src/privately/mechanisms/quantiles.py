"""Several quantiles in one charge: the middle one first, then both halves of the data side by side.

Halves are cut at a point, and equal values would all go to one side, however many they are. So each value first gets a
random fraction of a step, which puts equal values in a random order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Sensitivity, rules
from privately.mechanisms.error_bars import largest, read_confidence
from privately.mechanisms.exponential import Exponential
from privately.mechanisms.fixed_point import FixedPoint
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.neighborhoods import extended
from privately.mechanisms.programs import Program
from privately.mechanisms.quantile import Quantile
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.ranked_points import ROW
from privately.mechanisms.selection import needed
from privately.rounding import Enclosure, Number, rational, whole

MOST = 1000
MOST_TIE_BREAKS = 512


@dataclass(frozen=True, init=False)
class Quantiles(Mechanism):
    """Points below which about these parts of the values lie. Each level of the tree of halves costs an equal share.

    Of many equal values one part in `tie_breaks` may still end up on the wrong side.

    >>> quartiles = Quantiles(probabilities=["1/4", "1/2", "3/4"], epsilon=1, lower=0, upper=1000, step=1)
    >>> quartiles.guarantee(ROW), quartiles.levels
    (PureDP(epsilon=1), 2)
    """

    justification = Theorem(reference="Kaplan-Schnapp-Stemmer 2022; docs/theory/mechanisms.md#several-quantiles")
    program = Program("""
def quantiles(values: private, tree, order, steps, tie_breaks):
    spread = [value * tie_breaks + uniform(tie_breaks) for value in values]
    found = []
    for node in tree:
        first = 0 if node[0] < 0 else found[node[0]]
        last = (steps + 1) * tie_breaks - 1 if node[1] < 0 else found[node[1]]
        part = [v for v in spread if (node[0] < 0 or v >= first) and (node[1] < 0 or v < last)]
        target = node[2] * len(part)
        scores = []
        for x in range(first, last + 1):
            below = len([v for v in part if v < x])
            upto = len([v for v in part if v <= x])
            scores.append(0 - max(node[3] * below - target, target - node[3] * upto, 0))
        best = max(scores)
        chosen = 0 - 1
        while chosen < 0:
            i = uniform(len(scores))
            if flip_exp(Fraction(best - scores[i]) / node[4]):
                chosen = first + i
        found.append(chosen)
    return [found[i] // tie_breaks for i in order]
""")

    probabilities: tuple[Fraction, ...]
    epsilon: Fraction
    points: FixedPoint
    tie_breaks: int

    def __init__(
        self,
        *,
        probabilities: Sequence[Number],
        epsilon: Number,
        lower: Number,
        upper: Number,
        step: Number,
        tie_breaks: int = 256,
    ) -> None:
        object.__setattr__(self, "probabilities", _rising(probabilities))
        object.__setattr__(self, "epsilon", rational(epsilon, "epsilon", above=0))
        object.__setattr__(self, "points", FixedPoint(lower=lower, upper=upper, step=step))
        object.__setattr__(self, "tie_breaks", whole(tie_breaks, "tie_breaks", maximum=MOST_TIE_BREAKS))
        self.nodes[0].quantile.choice(self._candidates)

    @property
    def levels(self) -> int:
        """How often the data is halved."""
        return len(self.probabilities).bit_length()

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The quantiles in the order in which they are chosen, each within its own part of the data."""
        waiting: list[tuple[int, int, int | None, int | None]] = [(0, len(self.probabilities), None, None)]
        nodes: list[Node] = []
        for first, last, low, high in waiting:  # which grows on the way
            middle = (first + last) // 2
            nodes.append(Node(quantile=self._within(low, middle, high), index=middle, low=low, high=high))
            halves = [(first, middle, low, middle), (middle + 1, last, middle, high)]
            waiting += [half for half in halves if half[0] < half[1]]
        return tuple(nodes)

    @classmethod
    def for_rho(cls, rho: Number, **settings: Any) -> Quantiles:
        """The sharpest choices with this rho, up to rounding; with the settings of the constructor but for epsilon."""
        levels = cls(epsilon=1, **settings).levels
        epsilon = Enclosure.of(8 * levels * rational(rho, "rho", above=0)).sqrt().lower
        return cls(epsilon=Fraction(epsilon), **settings)

    @classmethod
    def for_accuracy(cls, *, error: Number, confidence: Number, ties: int = 1, **settings: Any) -> Quantiles:
        """The most privacy with which all ranks are off by at most `error`, if at most `ties` values are equal.

        It is `interval` that is met, to twelve digits; the closed form of `accuracy` may state a little more.
        """
        unit = cls(epsilon=1, **settings)
        for_ties = (unit.levels - 1) * whole(ties, "ties")
        allowed = rational(error, "error") - for_ties
        if allowed <= 0:
            raise InvalidParameter("error", f"must be above {for_ties}, which equal values may cost.")
        behind = needed(unit.scales_behind(confidence))
        in_proportion = behind * sum(max(map(_rank_per_scale, level)) for level in unit._by_level())

        def fits(noise: Fraction) -> bool:
            return sum(unit.misses(noise * behind)) <= allowed

        # Each level errs in proportion to the noise, or less by up to one rank.
        lowest, highest = allowed / in_proportion, (allowed + unit.levels + 1) / in_proportion
        return cls(epsilon=1 / largest(fits, lowest=lowest, highest=highest, field="error"), **settings)

    def derive(self, sensitivity: Sensitivity = ROW) -> Derivation:
        """PureDP: parts of a level side by side, levels one after another.

        Theorem: the parts of a level are cut at points that earlier levels released, so a row lies in one of them;
            levels follow one another adaptively. Fractions that rows get independently do not tell them apart.
        Reference: Kaplan-Schnapp-Stemmer 2022; parallel and sequential composition
        Proof: docs/theory/mechanisms.md#several-quantiles
        Checked-by: tests/mechanisms/test_quantiles.py::test_exact_privacy_of_every_small_table
        """
        return self._together(Quantile.derive, sensitivity)

    def derive_zcdp(self, sensitivity: Sensitivity = ROW) -> Derivation:
        """ZCDP in the same way, from the bounded range of each choice: epsilon^2/(8 levels) for one row."""
        return self._together(Quantile.derive_zcdp, sensitivity)

    def run(self, value: Any, randomness: Randomness) -> list[Fraction]:
        """The chosen points, in order."""
        ordered = np.sort(self._spread(self.points.read(value), randomness))
        found: dict[int, int] = {}
        for node in self.nodes:
            low, high = (None if parent is None else found[parent] for parent in (node.low, node.high))
            last = self._candidates - 1 if high is None else high
            found[node.index] = node.quantile.choose(_between(ordered, low, high), low or 0, last, randomness)
        return [self.points.back(found[i] // self.tie_breaks) for i in range(len(self.probabilities))]

    def accuracy(self, *, confidence: Number, ties: int = 1) -> Accuracy:
        """By how many ranks any of the points may be off, if at most `ties` values are equal, which is not looked up.

        Theorem: errors add up from level to level, and at each cut come the values that are equal to it.
        Reference: Kaplan-Schnapp-Stemmer 2022, for distinct values
        Proof: docs/theory/mechanisms.md#several-quantiles
        Checked-by: tests/mechanisms/test_quantiles.py::test_no_rank_is_further_off_than_the_choices_allow
        """
        certain = read_confidence(confidence)
        each = 1 - (1 - certain) / len(self.probabilities)
        errors = [max(self._miss(node, each) for node in level) for level in self._by_level()]
        error = sum(errors, Fraction(self.levels - 1) * whole(ties, "ties"))
        return Accuracy(error=error, confidence=certain, measure="the error of any rank")

    def interval(self, confidence: Number, *, ties: int = 1) -> Fraction:
        """The same from the exact law of each choice, whose misses are whole in units of its score; no more than that.

        Errors of the levels are still added up as if they always went the same way, and so are the chances of all
        choices, so for many quantiles it is wider than needed.
        """
        misses = self.misses(self.scales_behind(confidence))
        return sum(misses, Fraction(self.levels - 1) * whole(ties, "ties"))

    def scales_behind(self, confidence: Number) -> Fraction:
        """So many scales behind, or further, all choices together choose nothing with this confidence."""
        each = 1 - (1 - read_confidence(confidence)) / len(self.probabilities)
        return Exponential(scale=1, candidates=self._candidates).interval(each)

    def misses(self, behind: Fraction) -> list[Fraction]:
        """The most that the ranks of each level miss, if nothing is chosen that is so many scales behind."""
        return [
            max(node.quantile.interval_of(behind * node.quantile.scale) for node in level) for level in self._by_level()
        ]

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The tree as rows: parents to the left and right, the quantile as a fraction, and its scale."""
        place: dict[int | None, int] = {None: -1, **{node.index: i for i, node in enumerate(self.nodes)}}
        tree = [
            [
                place[node.low],
                place[node.high],
                node.quantile.probability.numerator,
                node.quantile.probability.denominator,
                node.quantile.scale,
            ]
            for node in self.nodes
        ]
        return {
            "values": self.points.read(value).tolist(),
            "tree": tree,
            "order": [place[i] for i in range(len(tree))],
            "steps": self.points.steps,
            "tie_breaks": self.tie_breaks,
        }

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[float], list[float]]:
        """What is worst for the first choice; in the later ones the same row makes less of a difference."""
        return self.nodes[0].quantile.worst_case(sensitivity)

    @property
    def _candidates(self) -> int:
        return (self.points.steps + 1) * self.tie_breaks

    def _spread(self, steps: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Each value with its random fraction of a step; the draws say nothing about the values."""
        if not steps.size:
            return steps
        return steps * self.tie_breaks + randomness.uniform(upper=self.tie_breaks, size=steps.size).astype(np.int64)

    def _miss(self, node: Node, confidence: Fraction) -> Fraction:
        scored = node.quantile.choice(self._candidates).accuracy(confidence=confidence)
        return scored.error / node.quantile.probability.denominator

    def _together(self, derive: Callable[[Quantile], Derivation], sensitivity: Sensitivity) -> Derivation:
        levels = [rules.parallel_by_value(*(derive(node.quantile) for node in level)) for level in self._by_level()]
        return extended(rules.sequential(*levels), sensitivity)

    def _within(self, low: int | None, middle: int, high: int | None) -> Quantile:
        """The quantile seen from within its part: between its parents' probabilities."""
        start = Fraction(0) if low is None else self.probabilities[low]
        end = Fraction(1) if high is None else self.probabilities[high]
        inner = (self.probabilities[middle] - start) / (end - start)
        return Quantile(
            probability=inner,
            epsilon=self.epsilon / self.levels,
            lower=self.points.lower,
            upper=self.points.upper,
            step=self.points.step,
        )

    def _by_level(self) -> list[list[Node]]:
        depth: dict[int | None, int] = {None: 0}
        levels: list[list[Node]] = [[] for _ in range(self.levels)]
        for node in self.nodes:
            depth[node.index] = max(depth[node.low], depth[node.high]) + 1
            levels[depth[node.index] - 1].append(node)
        return levels


@dataclass(frozen=True, kw_only=True)
class Node:
    """One quantile, the `index`-th, within the part of the data between two others."""

    quantile: Quantile
    index: int
    low: int | None
    high: int | None


def _rank_per_scale(node: Node) -> Fraction:
    """How many ranks one scale of the score is worth."""
    return node.quantile.scale / node.quantile.probability.denominator


def _between(ordered: NDArray[np.int64], first: int | None, last: int | None) -> NDArray[np.int64]:
    """The values from `first` on and below `last`."""
    start = 0 if first is None else int(np.searchsorted(ordered, first, "left"))
    end = ordered.size if last is None else int(np.searchsorted(ordered, last, "left"))
    return ordered[start : max(start, end)]


def _rising(probabilities: Any) -> tuple[Fraction, ...]:
    if not isinstance(probabilities, (list, tuple, np.ndarray)):
        raise InvalidParameter("probabilities", "must be a list.")
    exact = tuple(rational(one, "probabilities", minimum=0, maximum=1) for one in probabilities)
    if not 0 < len(exact) <= MOST or any(a >= b for a, b in pairwise(exact)):
        raise InvalidParameter("probabilities", f"must rise from one to the next, at least one and at most {MOST}.")
    return exact
