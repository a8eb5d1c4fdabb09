"""Answers as bytes, so that a ledger can keep them and give them again, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from privately import mechanisms as m
from privately.engines.protocol import Group
from privately.errors import CertificateInvalid, LedgerCorrupt
from privately.guarantees import Derivation
from privately.plans import Question
from privately.plans.types import Value
from privately.query.allocation import Drawn
from privately.query.drawing import ChosenPoints, Noise, NoisyNumber, NoisyPair
from privately.query.results import Result
from privately.query.uses import Chosen, Noisy, TwoSided
from privately.releases import Release
from privately.rounding import Interval


def result_of(
    question: Question,
    groups: Sequence[Group],
    noise: tuple[Noise, ...],
    proof: Derivation,
    notes: tuple[str, ...] = (),
) -> Result:
    """A result with its release: the table that it shows, its intervals at 95 %, and the certificate."""
    shown = Result.table_of(question, tuple(groups), noise)
    value = {"columns": list(shown.columns), "rows": [[_plain(cell) for cell in row] for row in shown.rows]}
    bars: dict[str, Interval] = {}
    for at, row in enumerate(shown.intervals):
        bars |= {f"{name}[{at}]": found for name, found in zip(shown.columns, row, strict=True) if found is not None}
    release = Release.of(value, proof, intervals=bars)
    return Result(question=question, groups=tuple(groups), noise=noise, release=release, notes=notes)


def to_bytes(result: Result) -> bytes:
    """What a ledger keeps: the noisy numbers and the release that was made of them."""
    data = {"noise": [_written(one) for one in result.noise], "release": result.release.to_bytes().decode("ascii")}
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode("ascii")


def from_bytes(
    body: bytes,
    question: Question,
    groups: Sequence[Group],
    plan: Sequence[Drawn],
    notes: tuple[str, ...] = (),
    *,
    free: bool = True,
) -> Result:
    """The result that was kept, for the same question; LedgerCorrupt if it is not one."""
    listed = [(one, mechanism) for one in plan for mechanism in one.mechanisms]
    try:
        data = json.loads(body)
        kept = zip(listed, data["noise"], strict=True)
        noise = tuple(_read(one, mechanism, numbers, len(groups)) for (one, mechanism), numbers in kept)
        release = Release.from_bytes(data["release"].encode("ascii"))
    except (ValueError, ArithmeticError, KeyError, TypeError, AttributeError, RecursionError, CertificateInvalid):
        raise LedgerCorrupt("the stored answer is not one to this question.") from None
    return Result(question=question, groups=tuple(groups), noise=noise, release=release, notes=notes, free=free)


def _plain(value: Value) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _written(noise: Noise) -> list[Any]:
    match noise:
        case NoisyNumber():
            return list(noise.numbers)
        case NoisyPair():
            return [*noise.above, *noise.below]
        case ChosenPoints():
            return [str(point) for point in noise.points]


def _read(drawn: Drawn, mechanism: object, kept: object, groups: int) -> Noise:
    """ValueError if these are not so many numbers for this use."""
    entries = 2 * groups if isinstance(drawn.use, TwoSided) else groups
    kind: type[int | str] = str if isinstance(drawn.use, Chosen) else int
    if not isinstance(kept, list) or len(kept) != entries or not all(type(one) is kind for one in kept):
        raise ValueError("not these numbers")
    match drawn.use:
        case Noisy(tally=tally) if isinstance(mechanism, (m.Laplace, m.Gaussian)):
            return NoisyNumber(tally=tally, mechanism=mechanism, numbers=tuple(kept))
        case TwoSided() if isinstance(mechanism, (m.Laplace, m.Gaussian)):
            above, below = tuple(kept[:groups]), tuple(kept[groups:])
            return NoisyPair(use=drawn.use, mechanism=mechanism, above=above, below=below)
        case Chosen(bins=bins) if isinstance(mechanism, m.Quantile):
            return ChosenPoints(bins=bins, mechanism=mechanism, points=tuple(Fraction(one) for one in kept))
    raise ValueError("not this mechanism")
