"""What a question would do, before it does it: the plan, the noise, the errors, the cost. No data is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from privately import mechanisms as m
from privately.guarantees import Guarantee
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.plans import (
    BinCounts,
    Filter,
    Identity,
    Project,
    Relation,
    RowCount,
    Scan,
    StepSum,
    Tally,
    UnitCount,
    scan_of,
)
from privately.plans.expressions import Field
from privately.query.allocation import Drawn
from privately.query.describing import described
from privately.query.pricing import Priced
from privately.query.uses import Chosen, Listed, Noisy, TwoSided
from privately.query.weighing import weighted_width
from privately.query.widths import half_bin, to_within
from privately.rounding import decimal_text
from privately.views.tables import table

_CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One use of noise: what of, how far a unit moves it, the mechanism, how far off it will be."""

    what: str
    sensitivity: str
    mechanism: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What would be done. Printing it shows all. `groups` is None where nobody knows them beforehand.

    `charged` is the cost in the terms of the account, where it counts in others.
    """

    plan: tuple[str, ...]
    groups: int | None
    steps: tuple[Step, ...]
    cost: Guarantee
    remaining: Guarantee | None = None
    notes: tuple[str, ...] = ()
    charged: Guarantee | None = None

    def apart(self) -> Explanation:
        """The same without what it says of an account."""
        return replace(self, remaining=None, charged=None)

    def __str__(self) -> str:
        rows = [[one.what, one.sensitivity, one.mechanism, one.error] for one in self.steps]
        noise = table(["what", "one unit moves it by", "mechanism", "error (95 %)"], rows)
        groups = "those groups that enough units are in"
        if self.groups is not None:
            groups = "one group" if self.groups == 1 else f"{self.groups:,} groups"
        lines = [
            *self.plan,
            f"{groups}",
            "",
            noise,
            "",
            f"cost: {self.cost}",
            *self._charged(),
            *([] if self.remaining is None else [f"remaining: {self.remaining}"]),
            *self.notes,
        ]
        return "\n".join(lines)

    def _charged(self) -> list[str]:
        """In the terms of the account, if there is one and they are others."""
        if self.remaining is None or self.charged == self.cost:
            return []
        if self.charged is None:
            return [f"charged: this account counts in {type(self.remaining).__name__} and cannot pay for it."]
        return [f"charged: {self.charged}"]


def explained(
    priced: Priced,
    remaining: Guarantee | None = None,
    *,
    charged: Guarantee | None = None,
    notes: Sequence[str] = (),
) -> Explanation:
    """The explanation of a question that was priced; `notes` come before those that follow from it."""
    aggregation = priced.question.aggregation
    tallies = dict(aggregation.tallies)
    unit = scan_of(aggregation.source).table.unit
    groups = None if priced.groups is None else len(priced.groups)
    told = [*notes, *([] if unit.column is None else [unit.note(groups)])]
    found = [each for one in priced.plan for each in one.mechanisms if isinstance(each, m.ThresholdedHistogram)]
    told += [shown_note(each, unit.column) for each in found]
    return Explanation(
        plan=tuple(_relation(aggregation.source, groups)),
        groups=groups,
        steps=tuple(_step(one, tallies) for one in priced.plan),
        cost=priced.cost,
        remaining=remaining,
        charged=charged,
        notes=tuple(told),
    )


def shown_note(mechanism: m.ThresholdedHistogram, unit: str | None) -> str:
    """From how many units on groups are shown."""
    least, sure = mechanism.threshold, mechanism.shown_from(_CONFIDENCE)
    what = "rows" if unit is None else f"units ({unit})"
    return f"Groups of fewer than about {least:,} {what} are not shown; of {sure:,} or more, 95 in 100 are."


def _relation(relation: Relation, groups: int | None) -> Iterator[str]:
    match relation:
        case Scan():
            unit = relation.table.unit
            whose = f" of each {unit.column}"
            limit = "" if unit.column is None else f", {unit.in_words(groups, (whose, whose))}"
            yield f"scan {relation.table.name}{limit}"
        case Filter():
            yield from _relation(relation.source, groups)
            yield f"keep rows where {described(relation.condition)}"
        case Project():
            yield from _relation(relation.source, groups)
            made = [
                f"{identity.name} = {described(one)}"
                for identity, one in relation.outputs
                if not isinstance(one, Field)
            ]
            if made:
                yield f"compute {', '.join(made)}"


def _step(drawn: Drawn, tallies: Mapping[Identity, Tally]) -> Step:
    use, mechanism = drawn.use, drawn.mechanisms[0]
    normal = isinstance(mechanism, m.Gaussian) or getattr(mechanism, "noise", "") == "rounded_gaussian"
    moves = use.moves[1 if normal else 0]
    what, unit, error = _noise(drawn, tallies)
    moved = f"{_number(moves.value * unit)} ({moves.norm})"
    return Step(what=what, sensitivity=moved, mechanism=_mechanism(mechanism, unit), error=error)


def _noise(drawn: Drawn, tallies: Mapping[Identity, Tally]) -> tuple[str, Fraction, str]:
    """What the noise is on, in which unit it is counted, and how far off the answer will be."""
    use, mechanism = drawn.use, drawn.mechanisms[0]
    match use:
        case Noisy(tally=tally):
            unit = _unit(tallies[tally])
            return _tally(tallies[tally]), unit, f"± {_number(half_width(_law(mechanism), _CONFIDENCE, 1) * unit)}"
        case TwoSided(total=total):
            unit = _unit(tallies[total])
            width = weighted_width(_law(mechanism), _CONFIDENCE, Fraction(0))
            error = f"at most about ± {_number(width * unit)} / n, for n rows"
            return f"average of {_argument(tallies[total])} (two-sided sums)", unit, error
        case Chosen(probabilities=probabilities, tally=tally):
            listed = ", ".join(_number(one) for one in probabilities)
            return f"quantiles {listed} of {_argument(tally)}", Fraction(1), _ranks(use, drawn.mechanisms)
        case Listed():
            return "which groups there are (count of units)", Fraction(1), f"± {_number(_width(mechanism))}"


def _ranks(use: Chosen, mechanisms: Sequence[object]) -> str:
    """How far off each quantile is, in the order in which they are listed; once where all are off as far."""
    choices = [one for one in mechanisms if isinstance(one, (m.Quantile, m.PermutedQuantile))]
    off = [one.interval(_CONFIDENCE) for share in use.probabilities for one in choices if one.probability == share]
    listed = ", ".join(_number(one) for one in (off[:1] if len(set(off)) == 1 else off))
    return f"± {listed} ranks{to_within(half_bin(use.tally))}"


def _width(mechanism: object) -> Fraction:
    assert isinstance(mechanism, m.ThresholdedHistogram)  # noqa: S101 - for the type checker
    return mechanism.interval(_CONFIDENCE)


def _law(mechanism: object) -> NoiseLaw:
    assert isinstance(mechanism, (m.Laplace, m.Gaussian))  # noqa: S101 - for the type checker
    return mechanism.law


def _tally(tally: Tally) -> str:
    match tally:
        case RowCount(argument=argument):
            return "count of rows" if argument is None else f"count of {described(argument)}"
        case UnitCount():
            return "count of units"
        case StepSum():
            return f"sum of {described(tally.argument)}"
        case BinCounts():
            return f"counts in bins of {described(tally.argument)}"


def _argument(tally: Tally) -> str:
    return described(tally.argument) if isinstance(tally, (StepSum, BinCounts)) else ""


def _unit(tally: Tally) -> Fraction:
    return tally.step if isinstance(tally, StepSum) else Fraction(1)


def _mechanism(mechanism: object, unit: Fraction) -> str:
    match mechanism:
        case m.Laplace(scale=scale):
            return f"Laplace, scale {_number(scale * unit)}"
        case m.Gaussian(standard_deviation=deviation):
            return f"rounded normal, standard deviation {_number(deviation * unit)}"
        case m.ThresholdedHistogram(noise="discrete_laplace", scale=scale, threshold=threshold):
            return f"Laplace, scale {_number(scale)}, shown from {threshold:,} on"
        case m.ThresholdedHistogram(scale=scale, threshold=threshold):
            return f"rounded normal, standard deviation {_number(scale)}, shown from {threshold:,} on"
        case m.PermutedQuantile():
            return "permute-and-flip"
    return "exponential mechanism"


def _number(value: Fraction) -> str:
    """Four digits, rounded up, in groups of three."""
    whole, point, rest = decimal_text(value, 4, "ROUND_CEILING").partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.lstrip("-").isdigit() else f"{whole}{point}{rest}"
