"""Questions about the small tables of the plans, their exact numbers, and noise that is none."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.engines.protocol import Bins, Counts
from privately.laws import Law
from privately.plans import (
    Aggregation,
    BinCounts,
    Estimate,
    Field,
    Identity,
    Key,
    Known,
    Mean,
    Number,
    Output,
    Quantile,
    Question,
    RowCount,
    Spread,
    StepSum,
    Type,
    Unit,
    UnitCount,
    call,
)
from tests.plans.small import AMOUNT, GROUP, Row, exact, field, scan

ROWS, COUNT, UNITS, SUM, SQUARES, BINS = (Identity(number=at, name=f"tally{at}") for at in range(20, 26))
NAMES = {"rows": 30, "count": 31, "units": 32, "sum": 33, "mean": 34, "variance": 35, "deviation": 36, "median": 37}
NAMED = {name: Identity(number=number, name=name) for name, number in NAMES.items()} | {
    "quarter": Identity(number=38, name="quarter"),
    "loose mean": Identity(number=39, name="loose mean"),
}
HALF = Fraction(1, 2)


def estimates(step: Fraction = Fraction(1)) -> dict[str, Estimate]:
    """Everything that can be asked of the amounts."""
    spread: dict[str, Any] = {"total": SUM, "squares": SQUARES, "count": COUNT}
    return {
        "rows": Number(identity=NAMED["rows"], tally=ROWS),
        "count": Number(identity=NAMED["count"], tally=COUNT),
        "units": Number(identity=NAMED["units"], tally=UNITS),
        "sum": Number(identity=NAMED["sum"], tally=SUM, step=step),
        "mean": Mean(identity=NAMED["mean"], total=SUM, count=COUNT),
        "loose mean": Mean(identity=NAMED["loose mean"], total=SUM, count=ROWS),
        "variance": Spread(identity=NAMED["variance"], root=False, **spread),
        "deviation": Spread(identity=NAMED["deviation"], root=True, **spread),
        "median": Quantile(identity=NAMED["median"], bins=BINS, probability=HALF),
        "quarter": Quantile(identity=NAMED["quarter"], bins=BINS, probability=Fraction(1, 4)),
    }


def aggregation(
    unit: Unit,
    values: tuple[str, ...] | None = ("a", "b"),
    low: int = -10,
    high: int = 10,
    step: Fraction = Fraction(1),
) -> Aggregation:
    """Of the amounts, between two bounds in steps."""
    whole = scan(unit)
    x = field(whole, AMOUNT)
    most = max(low**2, high**2)
    return Aggregation(
        source=whole,
        keys=() if values is None else (Key(identity=GROUP, expression=field(whole, GROUP), values=values),),
        tallies=(
            (ROWS, RowCount()),
            (COUNT, RowCount(argument=x)),
            (UNITS, UnitCount()),
            (SUM, StepSum(argument=x, step=step, low=low, high=high)),
            (SQUARES, StepSum(argument=call("multiply", x, x), step=step**2, low=0, high=most)),
            (
                BINS,
                BinCounts(argument=x, lower=low * step - HALF, width=Fraction(1), bins=int((high - low) * step) + 1),
            ),
        ),
    )


def question(*names: str, unit: Unit | None = None, more: dict[str, Any] | None = None, **counted: Any) -> Question:
    """The group and these estimates, for each group."""
    asked = aggregation(Unit() if unit is None else unit, **counted)
    keys = tuple(Output(name="part", expression=key.expression) for key in asked.keys)
    return Question(
        aggregation=asked,
        estimates=tuple(estimates(counted.get("step", Fraction(1)))[name] for name in names),
        outputs=(*keys, *(Output(name=name, expression=shown(name)) for name in names)),
        **(more or {}),
    )


def shown(name: str) -> Field:
    """An estimate in the answer."""
    whole = name in {"rows", "count", "units"}
    return Field(NAMED[name], Known(type=Type.INTEGER if whole else Type.REAL))


def counted(asked: Question, table: list[Row]) -> Counts:
    """What an engine would count."""
    found = exact(asked.aggregation, table)
    groups = {group for numbers in found for group in numbers}
    return {group: tuple(_plain(numbers[group]) for numbers in found) for group in groups}


def _plain(number: Any) -> int | Bins:
    if not isinstance(number, dict):
        return int(number)
    return Bins(np.array(list(number), np.int64), np.array(list(number.values()), np.int64))


class NoNoise:
    """Randomness that adds nothing, and chooses what is best."""

    def __init__(self, *added: int) -> None:
        self._added = added

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        return np.resize(np.array(self._added or (0,), np.int64), size)

    def uniform(self, *, upper: int, size: int) -> NDArray[np.int64]:
        return np.zeros(size, np.int64)

    def bernoulli(self, *, probability: object, size: int) -> NDArray[np.bool_]:
        return np.ones(size, np.bool_)

    def bernoulli_exp(self, *, exponent: object, size: int) -> NDArray[np.bool_]:
        return np.ones(size, np.bool_)

    def weighted(self, *, counts: Sequence[int], exponents: Sequence[Any], size: int) -> NDArray[np.int64]:
        possible = [at for at, count in enumerate(counts) if count]
        return np.full(size, min(possible, key=lambda at: exponents[at]), np.int64)

    def accepted(self, *, counts: Sequence[int], exponents: Sequence[Any]) -> Iterator[int]:
        return iter(self.weighted(counts=counts, exponents=exponents, size=1).tolist())
