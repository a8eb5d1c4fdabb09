"""Many rarely sampled Gaussians that are split: alike ones at the same place, on the same points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from privately.accounting.contour.split import JumpGrid, Known, Law, NearGrid, Spaced
from privately.accounting.contour.splitting import split_where
from privately.accounting.losses import SampledGaussianLoss

MOST_KEPT = 16
"""The points of more laws are laid when they are needed, and not kept."""
_PER_OCTAVE = 32

Parts = Sequence[tuple[Law, int]]


def split_alike(parts: Iterable[tuple[SampledGaussianLoss, int]], wanted: float) -> list[tuple[Law, int]]:
    """Split where jumps have about this probability in a step, laws of the same noise and nearly the same rate
    together.
    """
    alike: dict[tuple[object, int], list[tuple[SampledGaussianLoss, int]]] = {}
    for law, times in parts:
        alike.setdefault((law.mu_squared, math.frexp(law.rate)[1]), []).append((law, times))
    found: list[tuple[Law, int]] = []
    for some in alike.values():
        rarest, often = (end(some, key=lambda part: part[0].rate)[0] for end in (min, max))
        split = split_where(replace(often, rate=(rarest.rate + often.rate) / 2), wanted).split
        found += [(Law.of(law, split), times) for law, times in some]
    return found


def sketched(parts: Parts) -> list[tuple[Law, int]]:
    """For a first look: laws of nearly the same rate as one."""
    if len(parts) <= MOST_KEPT:
        return list(parts)
    alike: dict[tuple[object, ...], tuple[float, int]] = {}
    for law, times in parts:
        key = law.mu, law.split, round(math.log2(law.rate) * _PER_OCTAVE)
        total, many = alike.get(key, (0.0, 0))
        alike[key] = total + times * law.rate, many + times
    return [(Law(mu, total / many, split), many) for (mu, split, _), (total, many) in alike.items()]  # type: ignore[arg-type]  # as they are in the key


def near_grids(parts: Parts, c: float, highest: float, quiets: Sequence[float]) -> list[NearGrid]:
    """Points of near losses, as `Law.grid`; of many laws those of each are those of the most often sampled one."""
    if len(parts) <= MOST_KEPT:
        return [law.grid(c, highest, 0.0, quiet) for (law, _), quiet in zip(parts, quiets, strict=True)]
    spaced = _shared(parts, lambda law: law.near_points(c, highest, max(quiets)))
    return [NearGrid(law, *spaced[law.mu, law.split]) for law, _ in parts]


def jump_grids(parts: Parts, c: float, highest: float, quiet: float) -> list[JumpGrid]:
    """Points of jumps, as `Law.jumps`, likewise."""
    if len(parts) <= MOST_KEPT:
        return [law.jumps(c, highest, quiet) for law, _ in parts]
    spaced = _shared(parts, lambda law: law.jump_points(c, highest, quiet))
    return [JumpGrid(law, *spaced[law.mu, law.split]) for law, _ in parts]


def _shared(parts: Parts, points: Callable[[Law], Spaced]) -> dict[tuple[object, object], tuple[Spaced, Known]]:
    """By noise and split: points, and what will be known of all laws there."""
    first: dict[tuple[object, object], Law] = {}
    for law, _ in parts:
        key = law.mu, law.split
        if key not in first or law.rate > first[key].rate:
            first[key] = law
    return {key: (points(law), {}) for key, law in first.items()}
