"""Answers as bytes, so that a ledger can keep them and give them again, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from privately import mechanisms as m
from privately.engines.protocol import Group
from privately.errors import CertificateInvalid, LedgerCorrupt
from privately.guarantees import Derivation
from privately.plans import Question
from privately.plans.types import Type, Value
from privately.query.allocation import Drawn
from privately.query.drawing import ChosenPoints, Noise, NoisyNumber, NoisyPair, ShownKeys
from privately.query.listing import MOST_GROUPS, fits, groups_of, in_order
from privately.query.results import Result
from privately.query.showing import Shown
from privately.query.uses import Chosen, Listed, Noisy, TwoSided
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
    value, bars = _released(shown)
    release = Release.of(value, proof, intervals=bars)
    result = Result(question=question, groups=tuple(groups), noise=noise, release=release, notes=notes)
    result.__dict__["shown"] = shown  # a cached property, which need not be worked out again
    return result


def table_of(
    question: Question, groups: Sequence[Group], noise: tuple[Noise, ...]
) -> tuple[dict[str, Any], dict[str, Interval]]:
    """The table that is shown, as JSON data, and its intervals at 95 %."""
    return _released(Result.table_of(question, tuple(groups), noise))


def _released(shown: Shown) -> tuple[dict[str, Any], dict[str, Interval]]:
    value = {"columns": list(shown.columns), "rows": [[_plain(cell) for cell in row] for row in shown.rows]}
    bars: dict[str, Interval] = {}
    for at, row in enumerate(shown.intervals):
        bars |= {f"{name}[{at}]": found for name, found in zip(shown.columns, row, strict=True) if found is not None}
    return value, bars


def to_bytes(result: Result) -> bytes:
    """What a ledger keeps: the noisy numbers and the release that was made of them."""
    data = {"noise": noise_data(result.noise), "release": result.release.to_bytes().decode("ascii")}
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode("ascii")


def noise_data(noise: Sequence[Noise]) -> list[Any]:
    """Noisy numbers as JSON data."""
    return [_written(one) for one in noise]


def from_bytes(
    body: bytes,
    question: Question,
    plan: Sequence[Drawn],
    notes: tuple[str, ...] = (),
    *,
    free: bool = True,
) -> Result:
    """The result that was kept, for the same question; LedgerCorrupt if it is not one."""
    with intact():
        data = json.loads(body)
        groups, noise = noise_from(data["noise"], question, plan)
        release = Release.from_bytes(data["release"].encode("ascii"))
    return Result(question=question, groups=groups, noise=noise, release=release, notes=notes, free=free)


@contextmanager
def intact() -> Iterator[None]:
    """Whatever is wrong with what was kept is LedgerCorrupt."""
    try:
        yield
    except (ValueError, ArithmeticError, KeyError, TypeError, AttributeError, RecursionError, CertificateInvalid):
        raise LedgerCorrupt("the stored answer is not one to this question.") from None


def noise_from(kept: object, question: Question, plan: Sequence[Drawn]) -> tuple[tuple[Group, ...], tuple[Noise, ...]]:
    """The groups and the noisy numbers that were kept; ValueError, or the like, if they are not of this plan."""
    listed = [(one, mechanism) for one in plan for mechanism in one.mechanisms]
    if not isinstance(kept, list) or len(kept) != len(listed):
        raise ValueError("not so many uses")
    shown = [_shown_from(each, one, mechanism, question) for each, (one, mechanism) in zip(kept, listed, strict=True)]
    groups = groups_of(question, next((one.keys for one in shown if one is not None), ()))
    if len(groups) > MOST_GROUPS:
        raise ValueError("too many groups")
    noise = [
        known or _read(one, mechanism, each, len(groups))
        for known, each, (one, mechanism) in zip(shown, kept, listed, strict=True)
    ]
    return groups, tuple(noise)


def _shown_from(kept: Any, drawn: Drawn, mechanism: object, question: Question) -> ShownKeys | None:
    """The values that were shown of unknown keys; None if this use showed none."""
    if not isinstance(drawn.use, Listed):
        return None
    assert isinstance(mechanism, m.ThresholdedHistogram)  # noqa: S101 - for the type checker
    types = [key.expression.known.type for key in question.aggregation.keys if key.values is None]
    listed, numbers = kept["keys"], tuple(kept["numbers"])
    if not isinstance(listed, list) or not all(isinstance(one, list) and len(one) == len(types) for one in listed):
        raise ValueError("not these groups")
    keys = tuple(tuple(map(_value, group, types)) for group in listed)
    if len(numbers) != len(keys) or not all(type(one) is int and one >= mechanism.threshold for one in numbers):
        raise ValueError("not these numbers")
    if not all(fits(group, types) for group in keys) or len(set(keys)) != len(keys) or in_order(keys) != keys:
        raise ValueError("not these groups")
    return ShownKeys(tally=drawn.use.tally, mechanism=mechanism, keys=keys, numbers=numbers)


def _value(kept: Any, kind: Type) -> Any:
    """A value of a key, from how it was written."""
    if kept is not None and kind in _DATES:
        return _DATES[kind](kept)
    return kept


_DATES: Mapping[Type, Callable[[str], date]] = {Type.DATE: date.fromisoformat, Type.TIMESTAMP: datetime.fromisoformat}


def _plain(value: Value) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _written(noise: Noise) -> list[Any] | dict[str, Any]:
    match noise:
        case ShownKeys():
            return {"keys": [list(map(_plain, group)) for group in noise.keys], "numbers": list(noise.numbers)}
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
        case Chosen(bins=bins) if isinstance(mechanism, (m.Quantile, m.PermutedQuantile)):
            return ChosenPoints(bins=bins, mechanism=mechanism, points=tuple(Fraction(one) for one in kept))
    raise ValueError("not this mechanism")
