"""Tighter composition of (epsilon, delta): by the exact law of randomized responses, and by a tail bound."""

from ..elementary import exponential_minus_one, logarithm, tanh_of_half
from ..intervals import Interval, enclose, whole
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from .lattice import excess, lattice_work
from .step import Rule, Step, read_counts, read_multiples, read_rational

LOSS_RANGE = 200_000
LATTICE_WORK = 5 * 10**6
LARGEST_LOSS = Rational(10_000)
EXACT_BITS = 20_000

Repeated = list[tuple[Rational, int]]


def _merge(step: Step, name: str) -> Repeated:
    """The premises' numbers that are not 0, each with how often it occurs."""
    found: dict[tuple[int, int], tuple[Rational, int]] = {}
    for i, (premise, count) in enumerate(zip(step.premises, step.counts(), strict=True)):
        if premise.kind not in {"PureDP", "ApproxDP"}:
            raise Invalid(f"premises[{i}]", f"is {premise.kind}, but the rule needs PureDP or ApproxDP")
        number = premise.number(name)
        if not number.is_zero():
            found[number.key()] = (number, found.get(number.key(), (ZERO, 0))[1] + count)
    return list(found.values())


def _failure(deltas: Repeated, bits: int) -> Interval:
    """Enclose 1 - product of (1 - delta)^count = -(e^(sum of count ln(1 - delta)) - 1)."""
    total = whole(0, bits)
    for delta, count in deltas:
        total += logarithm(ONE - delta, bits).times(count)
    return -exponential_minus_one(total)


def _exact_failure(deltas: Repeated) -> Rational | None:
    """The same as a rational, if it is small enough to be written down."""
    if sum(delta.bit_size() * count for delta, count in deltas) > EXACT_BITS:
        return None
    safe = ONE
    for delta, count in deltas:
        rest = ONE - delta
        safe *= Rational(rest.numerator**count, rest.denominator**count)
    return ONE - safe


def _check_failure(step: Step, deltas: Repeated) -> None:
    """delta >= 1 - product of (1 - delta_i)^c_i."""
    if not step.claim.number("delta") < ONE:
        return
    if any(delta == ONE for delta, _ in deltas):
        raise Invalid("conclusion.delta", "must be 1: that of a premise is")
    step.work.spend(20 * len(deltas))
    step.require_delta_bound(_exact_failure(deltas), lambda bits: _failure(deltas, bits + 32))


def _optimal_composition(step: Step) -> None:
    step.claim_must_be("ApproxDP")
    counts = _lattice_counts(step)
    deltas = _merge(step, "delta")
    unit: Rational = step.witness["unit"]
    epsilon, delta = step.claim.number("epsilon"), step.claim.number("delta")
    largest = sum(multiple * count for multiple, count in counts.items())
    if unit * Rational(largest) <= epsilon or delta >= ONE:
        _check_failure(step, deltas)
        return
    if delta.is_zero() or any(given == ONE for given, _ in deltas):
        raise Invalid("conclusion.delta", "is too small")
    lost = max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
    step.work.spend(20 * len(deltas))

    def bound(bits: int) -> Interval:
        inner = bits + 32
        beyond = excess(counts, unit, epsilon, bits + lost + 64, step.work)
        beyond = Interval(beyond.low, beyond.high, beyond.exponent, inner)
        if not deltas:
            return beyond
        failure = _failure(deltas, inner)
        return failure + beyond * (whole(1, inner) - failure)

    step.require_bound("delta", bound)


def _lattice_counts(step: Step) -> dict[int, int]:
    """How many randomized responses there are of each multiple above 0."""
    unit: Rational = step.witness["unit"]
    multiples: list[int] = step.witness["multiples"]
    if unit.numerator <= 0:
        raise Invalid("witness.unit", "must be above 0")
    if len(multiples) != len(step.premises):
        raise Invalid("witness.multiples", "must have one multiple for each premise")
    counts: dict[int, int] = {}
    for i, (premise, multiple) in enumerate(zip(step.premises, multiples, strict=True)):
        if unit * Rational(multiple) < premise.number("epsilon"):
            raise Invalid(f"witness.multiples[{i}]", "is too small: multiple * unit is below epsilon")
        if multiple:
            counts[multiple] = counts.get(multiple, 0) + step.counts()[i]
    if sum(multiple * count for multiple, count in counts.items()) > LOSS_RANGE:
        raise Invalid("witness.multiples", f"the sum of counts * multiples is above {LOSS_RANGE}")
    if lattice_work(counts) > LATTICE_WORK:
        raise Invalid("witness.multiples", "the lattice needs too much work")
    if counts and unit * Rational(max(counts)) > LARGEST_LOSS:
        raise Invalid("witness.unit", "exponents beyond 10,000 are not evaluated")
    return counts


def _advanced_composition(step: Step) -> None:
    step.claim_must_be("ApproxDP")
    slack: Rational = step.parameters["slack"]
    if slack.numerator <= 0 or not slack < ONE:
        raise Invalid("parameters.slack", "must be above 0 and below 1")
    epsilons = _merge(step, "epsilon")
    squares = step.work.total((epsilon * epsilon, count) for epsilon, count in epsilons)

    def bound(bits: int) -> Interval:
        inner = bits + 32
        mean = whole(0, inner)
        for epsilon, count in epsilons:
            x = enclose(epsilon, inner)
            mean += (x * tanh_of_half(x)).times(count)
        # ln(1/slack) is written so, with nothing to cancel, also for a slack near 1
        spread = logarithm(ONE / slack, inner).scaled(1) * enclose(squares, inner)
        return mean + spread.square_root()

    if epsilons:
        step.work.spend(20 * len(epsilons))
        step.require_bound("epsilon", bound)
    _check_failure(step, [*_merge(step, "delta"), (slack, 1)])


RULES = {
    "optimal_composition": Rule(
        _optimal_composition,
        premises=None,
        parameters={"counts": read_counts},
        witness={"unit": read_rational, "multiples": read_multiples},
    ),
    "advanced_composition": Rule(
        _advanced_composition,
        premises=None,
        parameters={"counts": read_counts, "slack": read_rational},
    ),
}
