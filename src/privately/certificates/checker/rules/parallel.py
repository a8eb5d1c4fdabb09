"""Sequential composition, and parallel composition of parts: sums of all, of the largest, of the largest two."""

from collections.abc import Callable

from ..rationals import Rational
from ..schema import Invalid
from ..statements import NUMBERS, Statement, require, require_delta
from .step import Rule, Step, read_counts

Amounts = list[Rational]

# A kind can be taken for itself or, with delta 0, for the one that follows.
_FAMILY = {
    "PureDP": ("PureDP", "ApproxDP"),
    "ApproxDP": ("PureDP", "ApproxDP"),
    "ZCDP": ("ZCDP", "ApproxZCDP"),
    "ApproxZCDP": ("ZCDP", "ApproxZCDP"),
    "RenyiDP": ("RenyiDP",),
    "GaussianDP": ("GaussianDP",),
}


def _combine(step: Step, combined: Callable[[Amounts], Rational]) -> None:
    """Check every number of the claim against what the premises' numbers combine to."""
    kind = step.claim.kind
    exact = kind in {"PureDP", "ZCDP"}
    for i, premise in enumerate(step.premises):
        if premise.kind not in _FAMILY[kind] or (exact and premise.kind != kind):
            raise Invalid(f"premises[{i}]", f"is {premise.kind}, which does not combine to {kind}")
    for name in NUMBERS[kind]:
        needed = combined([_amount(premise, name) for premise in step.premises])
        claimed = _amount(step.claim, name)
        if name == "delta":
            require_delta(claimed, needed)
        elif name == "mu" and claimed < needed:
            raise Invalid("conclusion.mu", f"its square must be at least {needed.text()}")
        else:
            require(f"conclusion.{name}", claimed, needed)
    if kind == "RenyiDP":
        _combine_bounds(step, combined)


def _amount(statement: Statement, name: str) -> Rational:
    """The number that adds up: mu does by its square."""
    number = statement.number(name)
    return number * number if name == "mu" else number


def _combine_bounds(step: Step, combined: Callable[[Amounts], Rational]) -> None:
    step.work.spend(len(step.premises) * (len(step.claim.bounds) + 1))
    listed = [premise.bound_by_order() for premise in step.premises]
    for i, (order, claimed) in enumerate(step.claim.bounds):
        amounts = [bounds[order.key()] for bounds in listed if order.key() in bounds]
        if len(amounts) < len(listed):
            raise Invalid(f"conclusion.bounds[{i}][0]", f"order {order.text()} is not listed in every premise")
        require(f"conclusion.bounds[{i}][1]", claimed, combined(amounts))


def _largest(step: Step, amounts: Amounts, count: int) -> Rational:
    """The sum of the `count` largest."""
    if count < len(amounts):
        step.work.spend(len(amounts) * len(amounts).bit_length() // 2)
        amounts = sorted(amounts, reverse=True)[:count]
    return step.work.total((amount, 1) for amount in amounts)


def _sequential(step: Step) -> None:
    counts = step.counts()
    _combine(step, lambda amounts: step.work.total(zip(amounts, counts, strict=True)))


def _parallel_by_position(step: Step) -> None:
    neighbors = step.claim.neighbors
    if neighbors.change != "replace" or neighbors.unit is not None:
        raise Invalid("conclusion.neighbors", "parts by position need replacement of rows")
    _combine(step, lambda amounts: _largest(step, amounts, neighbors.size))


def _parallel_by_value(step: Step) -> None:
    neighbors = step.claim.neighbors
    if neighbors.change != "add_remove":
        raise Invalid("conclusion.neighbors.change", "must be add_remove; see parallel_by_value_replace")
    if neighbors.unit is not None and neighbors.max_rows is None:
        raise Invalid("conclusion.neighbors.max_rows", "must be bounded: a unit can be in every part")
    touched = neighbors.size * (neighbors.max_rows or 1)
    _combine(step, lambda amounts: _largest(step, amounts, touched))


def _parallel_by_value_replace(step: Step) -> None:
    """A replaced row stays in its part, or leaves one part and enters another, or comes from or goes to no part."""
    parts, odd = divmod(len(step.premises), 2)
    if odd:
        raise Invalid("premises", "must be two for each part")
    if step.claim.neighbors != ("replace", 1, None, None):
        raise Invalid("conclusion.neighbors", "must be: replacing one row")
    for i, premise in enumerate(step.premises):
        change = "add_remove" if i < parts else "replace"
        if premise.neighbors != (change, 1, None, None):
            raise Invalid(f"premises[{i}]", f"must be about one row, {change}")

    def combined(amounts: Amounts) -> Rational:
        return max(_largest(step, amounts[parts:], 1), _largest(step, amounts[:parts], 2))

    _combine(step, combined)


RULES = {
    "sequential": Rule(_sequential, premises=None, parameters={"counts": read_counts}),
    "parallel_by_position": Rule(_parallel_by_position, premises=None, any_rows=True),
    "parallel_by_value": Rule(_parallel_by_value, premises=None, any_rows=True),
    "parallel_by_value_replace": Rule(_parallel_by_value_replace, premises=None, same_neighbors=False, any_rows=True),
}
