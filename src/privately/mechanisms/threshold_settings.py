"""The parameters that all sparse vectors have, and how epsilon is divided among their noises."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any, TypedDict, Unpack

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.mechanisms.additive import read_scale
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.neighborhoods import one_direction, some_change
from privately.rounding import Number, rational, whole

FAR = 25
"""So many scales from the threshold the worst case is within 10^-10 of its limit."""


class Settings(TypedDict, total=False):
    """What can be set beside the noise; see `read`."""

    count: int
    threshold: Number
    monotone: bool
    grid: Number | None


def read(**settings: Unpack[Settings]) -> dict[str, Any]:
    """Checked: the yes answers paid for, the threshold, whether all queries move the same way, and the grid.

    The threshold is public, at least 0 and on the grid.
    """
    unknown = sorted(settings.keys() - Settings.__annotations__.keys())
    if unknown:
        known = ", ".join(Settings.__annotations__)
        raise TypeError(f"there is no {unknown[0]!r} to set; beside the noise there are {known}")
    grid, monotone = Grid(settings.get("grid")), settings.get("monotone", False)
    if not isinstance(monotone, bool):
        raise InvalidParameter("monotone", f"{monotone!r} is neither True nor False.")
    return {
        "count": whole(settings.get("count", 1), "count"),
        "threshold": read_length(settings.get("threshold", 0), "threshold", grid),
        "monotone": monotone,
        "grid": grid,
    }


def read_with_scales(scales: dict[str, Number], settings: Settings) -> dict[str, Any]:
    """The same, together with the scales of all noises, by name."""
    fields = read(**settings)
    return fields | {name: read_scale(scale, name, fields["grid"].unit) for name, scale in scales.items()}


def read_length(length: Number, name: str, grid: Grid) -> Fraction:
    """A multiple of the step, at least 0."""
    exact = rational(length, name, minimum=0, maximum=FARTHEST * grid.unit)
    if (exact / grid.unit).denominator != 1:
        raise InvalidParameter(name, f"{exact} is not a multiple of {grid.unit}, the step of the grid.")
    return exact


def change_in_steps(sensitivity: Sensitivity, grid: Grid, *, monotone: bool) -> Sensitivity:
    """How far each query moves between neighbours, in steps: a whole number, as the queries are."""
    if monotone:
        one_direction(sensitivity.neighbors, what="queries")
    steps = floor(grid.steps(sensitivity.to("Linf"), 1).value)
    return Sensitivity(value=steps, norm="Linf", neighbors=sensitivity.neighbors)


def directions(*, monotone: bool) -> int:
    """How often the sensitivity counts in a yes: twice, or once if all queries move the same way."""
    return 1 if monotone else 2


def split(epsilon: Number, sensitivity: Sensitivity, **settings: Unpack[Settings]) -> tuple[Fraction, Fraction]:
    """The scales for threshold and queries that cost exactly epsilon together, and make their difference least noisy.

    Theorem: with parts 1/(1+x) and x/(1+x) of epsilon for the threshold and for the queries, the cost is epsilon for
        every x > 0, and the variance of the difference of the two noises is least, for Laplace noise, at
        x = (k count)^(2/3), k = 2, or 1 if monotone.
    Reference: Lyu-Su-Li 2017, section 4.2
    Proof: docs/theory/mechanisms.md#splitting-epsilon-between-threshold-and-queries
    Checked-by: tests/mechanisms/test_threshold_settings.py::test_the_split_costs_exactly_epsilon_and_is_the_best
    """
    exact, checked = rational(epsilon, "epsilon", above=0), read(**settings)
    steps = some_change(change_in_steps(sensitivity, checked["grid"], monotone=checked["monotone"]).value)
    change = steps * checked["grid"].unit
    share = best_share(answers := checked["count"] * directions(monotone=checked["monotone"]))
    return change * (1 + share) / exact, answers * change * (1 + share) / (share * exact)


def best_share(answers: int) -> Fraction:
    """About answers^(2/3), in few digits; whatever it is, the parts add up."""
    return Fraction(round(answers ** (2 / 3), 6)).limit_denominator(10**6)


def noise_ratio(*, count: int, monotone: bool) -> Fraction:
    """Of the query's scale to the threshold's, if epsilon is divided in the best way."""
    answers = count * directions(monotone=monotone)
    return answers / best_share(answers)


def worst_streams(
    *, scales: tuple[Fraction, Fraction], threshold: Fraction, grid: Grid, change: int, down: int, count: int
) -> tuple[list[int], list[int]]:
    """In steps: queries far above the threshold that go up by `change`, and then `count` far below that go `down`.

    If all the former are answered no and all the latter yes, the noisy threshold was high, and the noise of each yes
    higher still: the loss comes as close to the claim as one likes, with the distance and the number of the former.
    """
    far = ceil(FAR * max(scales) / grid.unit)
    high, low = int(threshold / grid.unit) + far, int(threshold / grid.unit) - far
    many = 2 * (ceil(scales[1] / scales[0]) + count)
    return [high] * many + [low] * count, [high + change] * many + [low - down] * count
