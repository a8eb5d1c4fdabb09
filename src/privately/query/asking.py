"""What an analyst may spend on a question: so much privacy, or as much as an accuracy takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately import mechanisms as m
from privately.errors import BudgetExhausted, InvalidParameter, NotSupported
from privately.guarantees import Guarantee, PureDP
from privately.ledger import Budget as AccountBudget
from privately.plans import Estimate, Expression, Field, Identity, Known, Mean, Number, Question, StepSum, Tally, Type
from privately.plans.expressions import fields_of
from privately.query.allocation import Budget, Drawn, allocated
from privately.query.listing import listing_of
from privately.query.propagating import propagated
from privately.query.showing import chosen_by_noise
from privately.query.uses import Listed, Noisy, TwoSided, Use
from privately.query.weighing import error_of_sum, weighted_width
from privately.query.widths import error_of_count, width_of, width_of_sum
from privately.rounding import Number as Numeral
from privately.rounding import decimal_text, rational, whole

_TEXT = re.compile(r"\s*([0-9.eE+-]+)\s*(%?)\s+at\s+([0-9.]+)\s*%\s*")
_SMALLEST, _LARGEST = Fraction(1, 10**9), Fraction(10**9)
_MOST = {"epsilon": 1000, "rho": 125_000, "mu": 500}
"""Up to here the least noise that is drawn costs no less than what was asked, whatever the question."""


_GUESS = "Write assuming=1000."
_LEAST_PART = 1e-12
"""A use that adds less than such a part of an error has the part of one that adds it."""

_ADDITIVE = (m.Laplace, m.Gaussian)

_Wanted: TypeAlias = tuple[Expression, Fraction]
"""What is to be accurate, and the confidence that each estimate in it needs for that: as `showing` shares it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """An error that every number of the answer stays within, with a confidence for each.

    It is that of the columns as they are shown, whatever arithmetic they are; of rows that HAVING or LIMIT choose by
    their noise all of them together stay within it. A relative error is a part of the most that a number could be, for
    a public guess of how many rows there are: of that many for a count, of that many times the larger bound for a sum,
    of the width of the bounds for an average.

    >>> Accuracy.parse("50 at 95%")
    Accuracy(error=Fraction(50, 1), confidence=Fraction(19, 20), relative=False)
    """

    error: Fraction
    confidence: Fraction
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Accuracy:
        """Such as "50 at 95%", or relative: "5% at 95%"."""
        found = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise InvalidParameter("accuracy", "is not of the form '50 at 95%' or '5% at 95%'.")
        relative = bool(found[2])
        error = rational(found[1], "accuracy", above=0) / (100 if relative else 1)
        confidence = rational(found[3], "accuracy", above=0) / 100
        if confidence >= 1:
            raise InvalidParameter("accuracy", "no noise is certain to stay within an error: say 99%, not 100%.")
        return cls(error=error, confidence=confidence, relative=relative)

    def notes(self, rows: int | None) -> tuple[str, ...]:
        """What an error is relative to, for the public guess of the number of rows in a group."""
        if not self.relative or rows is None:
            return ()
        percent = decimal_text(self.error * 100, 6, "ROUND_HALF_EVEN")
        most = (
            f"{rows:,} for a count, {rows:,} times the larger bound for a sum, the width of the bounds for an average"
        )
        return (f"The error is {percent} % of the most that a number could be, not of the answer: of {most}.",)


def budget_of(
    *, epsilon: Numeral | None, rho: Numeral | None, mu: Numeral | None, delta: Numeral | None = None
) -> Budget | None:
    """The one that was named; None if none was."""
    given = {"epsilon": epsilon, "rho": rho, "mu": mu}
    named = {name: rational(value, name, above=0) for name, value in given.items() if value is not None}
    if len(named) > 1:
        raise InvalidParameter("epsilon", f"give one of them, not {' and '.join(named)}.")
    if not named:
        return None
    ((name, amount),) = named.items()
    if amount > _MOST[name]:
        told = f"can be {_MOST[name]:,} at most: the noise is no less for more, and long before it hides nobody."
        raise InvalidParameter(name, told, hint=f"Ask with less, such as {name}=1.")
    if name == "epsilon":
        return Budget(currency="epsilon", amount=amount, delta=delta_of(delta))
    return Budget(currency="mu squared", amount=amount**2 if name == "mu" else 2 * amount, delta=delta_of(delta))


def delta_of(delta: Numeral | None) -> Fraction | None:
    """What groups that nobody listed may take: a probability, and not 1."""
    exact = None if delta is None else rational(delta, "delta", above=0)
    if exact is not None and exact >= 1:
        raise InvalidParameter("delta", "must be small, such as 1e-6: so often may a group of one person be shown.")
    return exact


def unpayable(cost: Guarantee, cap: Guarantee, asked: str) -> InvalidParameter:
    """That an account cannot count in terms of a cost, and what to ask instead."""
    if "delta" in cost.parameters and "delta" not in cap.parameters:
        message = f"a budget of the kind {type(cap).__name__} has no delta for groups that nobody listed."
        hint = "List them with keys=... or let the owner open the budget as ApproxDP(epsilon=..., delta=...)."
        return InvalidParameter("delta", message, hint=hint)
    if isinstance(cap, PureDP):
        return InvalidParameter(
            asked, "a budget of epsilon alone cannot pay for Gaussian noise.", hint="Ask with epsilon=... instead."
        )
    message = f"a budget of the kind {type(cap).__name__} cannot pay for {cost}."
    return InvalidParameter(asked, message, hint="Ask with epsilon=... instead.")


def exhausted(fault: BudgetExhausted, account: AccountBudget) -> BudgetExhausted:
    """The refusal, and what else to ask where an account counts in other terms than its promise is in."""
    if type(account.promise) is type(account.cap):
        return fault
    more = (
        f"It keeps its promise, {account.promise}, by counting in terms of {type(account.cap).__name__}, in which one "
        "large epsilon costs more than many small ones. Ask with less, or with rho=..., or let the owner open it "
        "with by=ApproxDP, which adds up epsilons."
    )
    return BudgetExhausted(asked=fault.asked, left=fault.left, hint=f"{fault.hint} {more}".strip())


def least_budget(
    question: Question,
    uses: Sequence[Use],
    groups: int,
    accuracy: Accuracy,
    assuming: int | None,
    *,
    delta: Numeral | None = None,
) -> Budget:
    """The least epsilon, to a thousandth of it, with which every column that is shown is as accurate as asked.

    Each use of noise has the part that it needs: what several columns need of one is the most of that. Averages are as
    accurate if they are of at least `assuming` rows, in each group. What is not shown, but compared or ordered by, is
    as accurate too.
    """
    for estimate in question.estimates:
        if not isinstance(estimate, (Number, Mean)):
            hint = "Give epsilon= for them, or ask for them in a question apart."
            raise NotSupported("an accuracy for quantiles, variances and deviations.", hint=hint)
    if listing_of(question) is not None and chosen_by_noise(question, None):
        hint = "Leave out HAVING and LIMIT, list the groups with keys=..., or give epsilon= instead."
        raise NotSupported("an accuracy for rows that are chosen by their noise from unknown groups.", hint=hint)
    rows, exact_delta = None if assuming is None else whole(assuming, "assuming"), delta_of(delta)
    if accuracy.relative and rows is None:
        raise InvalidParameter("assuming", "say how many rows a group has, as a public guess.", hint=_GUESS)
    aim = _Aim(question=question, uses=uses, groups=groups, accuracy=accuracy, rows=rows, delta=exact_delta)
    found = dict[int, Fraction]()
    for one in _wanted(question, groups, accuracy):
        for place, part in aim.needs(one).items():
            found[place] = max(part, found.get(place, part))
    average = _short(
        sum(found.values(), Fraction(0)) / len(found)
    )  # for what shows groups, of which nothing else is read
    split = tuple(found.get(place, average) for place in range(len(uses)))
    total = sum(split, Fraction(0))
    if total > _MOST["epsilon"]:
        told = f"takes an epsilon of {decimal_text(total, 4, 'ROUND_CEILING')}, and {_MOST['epsilon']:,} is the most"
        raise InvalidParameter("accuracy", f"{told} that can be asked.", hint="Ask for less.")
    return Budget(currency="epsilon", amount=total, delta=exact_delta, split=split if len(split) > 1 else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Aim:
    """An accuracy for a question, and what it takes."""

    question: Question
    uses: Sequence[Use]
    groups: int
    accuracy: Accuracy
    rows: int | None
    delta: Fraction | None

    def needs(self, wanted: _Wanted) -> dict[int, Fraction]:
        """The least epsilons, by the places of their uses, with which a column is as accurate as asked."""
        parts = self._parts(wanted[0])

        def of(factor: Fraction) -> dict[int, Fraction]:
            return {place: _short(factor * part) for place, part in parts.items()}

        def enough(factor: Fraction) -> bool:
            return _is_accurate(self.question, wanted, self._drawn(of(factor)), self.accuracy, self.rows)

        low, high = _SMALLEST, _LARGEST
        if not enough(high):
            raise InvalidParameter("accuracy", "no noise that can be drawn is that accurate.", hint="Ask for less.")
        while high / low > Fraction(1001, 1000):
            middle = _between(low, high)
            low, high = (low, middle) if _or_drowned(enough, middle) else (middle, high)
        return of(high)

    def _parts(self, column: Expression) -> dict[int, Fraction]:
        """In which proportion the uses of a column share what it takes: as the roots of how far a unit moves it.

        Theorem: of all epsilons with sum(a_i/epsilon_i) = T, those in proportion to the roots of a_i add up to least.
        Reference: Cauchy-Schwarz
        Proof: docs/theory/stability.md#allocation
        Checked-by: tests/query/test_asking.py::test_no_other_split_is_as_accurate_for_less
        """
        tallies, estimates = dict(self.question.aggregation.tallies), _identities(self.question)
        serving = {
            one.identity: next(place for place, use in enumerate(self.uses) if _serves(use, one))
            for one in self.question.estimates
            if one.identity in fields_of(column)
        }

        def moved(found: Field, place: int) -> Fraction:
            estimate = next(one for one in self.question.estimates if one.identity == found.identity)
            tally = tallies[_tally_of(estimate)]
            moves = self.uses[place].moves[0].value * (tally.step if isinstance(tally, StepSum) else 1)
            return moves / (self.rows or 1) if isinstance(estimate, Mean) else moves

        def amount(place: int) -> Fraction:
            def of(found: Field) -> Fraction:
                return moved(found, place) if serving[found.identity] == place else Fraction(0)

            return propagated(column, estimates, of, rounding=0)

        amounts = {place: amount(place) for place in sorted(set(serving.values()))}
        most = max(amounts.values()) or 1
        return {place: _short(Fraction(max(float(one / most), _LEAST_PART) ** 0.5)) for place, one in amounts.items()}

    def _drawn(self, parts: Mapping[int, Fraction]) -> tuple[Drawn, ...]:
        split = tuple(parts.values())
        budget = Budget(currency="epsilon", amount=sum(split, Fraction(0)), delta=self.delta, split=split)
        return allocated([self.uses[place] for place in parts], self.groups, budget)


def _serves(use: Use, estimate: Estimate) -> bool:
    """Whether the noise of an estimate is that of a use."""
    tally = _tally_of(estimate)
    if isinstance(use, TwoSided):
        return tally == use.total or (tally == use.count and isinstance(estimate, Number))
    return isinstance(use, (Noisy, Listed)) and use.tally == tally and isinstance(estimate, Number)


def _tally_of(estimate: Estimate) -> Identity:
    assert isinstance(estimate, (Number, Mean))  # noqa: S101 - the others were refused
    return estimate.tally if isinstance(estimate, Number) else estimate.total


def _or_drowned(enough: Callable[[Fraction], bool], epsilon: Fraction) -> bool:
    """Whether an epsilon is enough; one that is too small to be drawn for is not."""
    try:
        return enough(epsilon)
    except InvalidParameter as fault:
        if fault.field != "budget":
            raise
        return False


def _between(low: Fraction, high: Fraction) -> Fraction:
    """About the geometric mean, short."""
    return _short(Fraction((float(low) * float(high)) ** 0.5))


def _short(value: Fraction) -> Fraction:
    """In seven digits."""
    return Fraction(f"{float(value):.6e}")


def _wanted(question: Question, groups: int, accuracy: Accuracy) -> list[_Wanted]:
    shown = [one.expression for one in question.outputs]
    seen = frozenset[Identity]().union(*map(fields_of, shown))
    hidden = [Field(one.identity, Known(type=Type.REAL)) for one in question.estimates if one.identity not in seen]
    estimates, doubt = _identities(question), 1 - accuracy.confidence
    if chosen_by_noise(question, groups):
        doubt /= groups
    wanted = [(one, len(fields_of(one) & estimates)) for one in (*shown, *hidden)]
    return [(one, 1 - doubt / count) for one, count in wanted if count]


def _identities(question: Question) -> frozenset[Identity]:
    return frozenset(one.identity for one in question.estimates)


def _is_accurate(
    question: Question, wanted: _Wanted, drawn: Sequence[Drawn], accuracy: Accuracy, rows: int | None
) -> bool:
    column, confidence = wanted
    tallies, estimates = dict(question.aggregation.tallies), {one.identity: one for one in question.estimates}

    def parts(found: Field) -> tuple[Number | Mean, Tally]:
        estimate = estimates[found.identity]
        assert isinstance(estimate, (Number, Mean))  # noqa: S101 - the others were refused
        return estimate, tallies[_tally_of(estimate)]

    def error(found: Field) -> Fraction:
        estimate, tally = parts(found)
        step = tally.step if isinstance(tally, StepSum) else 1
        return _error(estimate, drawn, confidence, rows) * step + _rounding(found, estimate, drawn)

    def size(found: Field) -> Fraction:
        return _size(*parts(found), rows or 1)

    for name in fields_of(column) & estimates.keys():
        if _may_be_missing(estimates[name], drawn, confidence, rows):
            return False
    off = propagated(column, _identities(question), error)
    most = propagated(column, _identities(question), size, rounding=0) if accuracy.relative else 1
    return off <= accuracy.error * most


def _rounding(found: Field, estimate: Number | Mean, drawn: Sequence[Drawn]) -> Fraction:
    """A count or sum that comes of a pair is no whole number, and shown as one."""
    pairs = {name for one in drawn if isinstance(one.use, TwoSided) for name in (one.use.total, one.use.count)}
    rounded = isinstance(estimate, Number) and estimate.tally in pairs and found.known.type is Type.INTEGER
    return Fraction(1, 2) if rounded else Fraction(0)


def _size(estimate: Number | Mean, tally: Tally, rows: int) -> Fraction:
    """The most that a number could be."""
    if isinstance(estimate, Mean) and isinstance(tally, StepSum):
        return (tally.high - tally.low) * tally.step
    return Fraction(rows * tally.reach) * (tally.step if isinstance(tally, StepSum) else 1)


def _error(estimate: Number | Mean, drawn: Sequence[Drawn], confidence: Fraction, rows: int | None) -> Fraction:
    """How far off the estimate can be with this confidence, in steps."""
    tally = _tally_of(estimate)
    for one in drawn:
        mechanism = one.mechanisms[0]
        if isinstance(mechanism, (m.Quantile, m.PermutedQuantile)):
            continue
        if isinstance(one.use, (Noisy, Listed)) and one.use.tally == tally:
            return Fraction(width_of(mechanism.law, confidence))
        if isinstance(one.use, TwoSided) and tally == one.use.count:
            return error_of_count(one.use, mechanism.law, confidence)
        if isinstance(one.use, TwoSided) and tally == one.use.total and isinstance(estimate, Number):
            return error_of_sum(one.use, mechanism.law, confidence)
        if isinstance(one.use, TwoSided) and tally == one.use.total:
            return _error_of_mean(one.use, weighted_width(mechanism.law, confidence, Fraction(0)), rows)
    raise NotSupported("an accuracy for this question.", hint="Give epsilon= instead.")


def _error_of_mean(use: TwoSided, width: int, rows: int | None) -> Fraction:
    """As much as that of weighted noise, over the number of rows.

    Theorem: if noise whose weights add up to 1 is off by at most w, with some confidence, whatever the weights are,
        the average of n values is off by at most w/n with that confidence.
    Reference: elementary
    Proof: docs/theory/stability.md#weighted-noise
    Checked-by: tests/query/test_weighing.py::test_averages_are_off_by_no_more
    """
    if rows is None:
        raise InvalidParameter("assuming", "say how many rows are averaged in a group, as a public guess.", hint=_GUESS)
    reach = use.high - use.low
    return Fraction(reach) if 2 * width >= rows * reach else Fraction(width, rows)


def _may_be_missing(estimate: Estimate, drawn: Sequence[Drawn], confidence: Fraction, rows: int | None) -> bool:
    """Whether noise so large that an average may be anywhere in its range leaves none at all, too often.

    Theorem: there is no average if neither noisy sum is positive; then both noises together are at most -w n, for n
        values in a range of w steps, and that is never more likely than 1/4.
    Reference: elementary
    Proof: docs/theory/stability.md#weighted-noise
    Checked-by: tests/query/test_asking.py::test_averages_are_seldom_missing
    """
    doubt = 1 - confidence
    if not isinstance(estimate, Mean) or rows is None or doubt >= Fraction(1, 4):
        return False
    for one in drawn:
        mechanism = one.mechanisms[0]
        if isinstance(one.use, TwoSided) and one.use.total == estimate.total and isinstance(mechanism, _ADDITIVE):
            total = rows * (one.use.high - one.use.low)
            is_anywhere = 2 * weighted_width(mechanism.law, confidence, Fraction(0)) >= total
            return is_anywhere and total <= width_of_sum(mechanism.law, 1 - 2 * doubt)
    return False
