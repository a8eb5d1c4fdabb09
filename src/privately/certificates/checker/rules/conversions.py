"""From one kind of guarantee to another."""

from ..elementary import exponential, logarithm, tanh_of_half
from ..intervals import Interval, enclose, whole
from ..normal import central_mass, normal_tail
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from ..statements import Statement, require
from .step import Rule, Step, read_rational

HALF = Rational(1, 2)
FAR = Rational(142)  # 142^2/2 > 10,000


def _pure_to_zcdp(step: Step) -> None:
    """rho >= epsilon^2 / 2, or rho >= epsilon tanh(epsilon/2), which is below epsilon."""
    epsilon = step.only_premise("PureDP").number("epsilon")
    step.claim_must_be("ZCDP")
    _require_rho(step, epsilon)


def _approx_to_zcdp(step: Step) -> None:
    """The same, and delta at least that of the premise."""
    premise = step.only_premise("ApproxDP")
    step.claim_must_be("ApproxZCDP")
    require("conclusion.delta", step.claim.number("delta"), premise.number("delta"))
    _require_rho(step, premise.number("epsilon"))


def _require_rho(step: Step, epsilon: Rational) -> None:
    if step.claim.number("rho") < min(epsilon * epsilon * HALF, epsilon):
        step.require_bound("rho", lambda bits: _times_tanh(epsilon, bits))


def _times_tanh(epsilon: Rational, bits: int) -> Interval:
    x = enclose(epsilon, bits + 16)
    return x * tanh_of_half(x)


def _pure_to_gaussian(step: Step) -> None:
    """Phi(-mu/2) <= 1/(1 + e^epsilon): above 1 by tails; up to 1, where both are near 1/2, by what they lack of it."""
    epsilon = step.only_premise("PureDP").number("epsilon")
    step.claim_must_be("GaussianDP")
    half = step.claim.number("mu") * HALF
    if epsilon.is_zero():
        return
    if half.is_zero():
        raise Invalid("conclusion.mu", "claims 0, but epsilon is above 0")

    def by_tails(bits: int) -> Interval:
        grown = exponential(enclose(epsilon, bits + 16))
        return normal_tail(half, bits + 16) * (whole(1, bits + 16) + grown)

    def by_centre(bits: int) -> Interval:
        lacking = tanh_of_half(enclose(epsilon, bits + 16)).scaled(-1)
        return lacking / central_mass(enclose(half, bits + 32))

    ratio = by_tails if epsilon > ONE or half > ONE else by_centre
    step.work.require_ratio("conclusion.mu", step.claim.number("mu"), ratio)


def _zcdp_to_renyi(step: Step) -> None:
    rho = step.only_premise("ZCDP").number("rho")
    step.claim_must_be("RenyiDP")
    for i, (order, bound) in enumerate(step.claim.bounds):
        require(f"conclusion.bounds[{i}][1]", bound, order * rho)


def _gaussian_to_zcdp(step: Step) -> None:
    mu = step.only_premise("GaussianDP").number("mu")
    step.claim_must_be("ZCDP")
    require("conclusion.rho", step.claim.number("rho"), mu * mu * HALF)


def _gaussian_to_approx(step: Step) -> None:
    """delta >= Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)."""
    mu = step.only_premise("GaussianDP").number("mu")
    step.claim_must_be("ApproxDP")
    if mu.is_zero():
        return
    epsilon = step.claim.number("epsilon")
    distance, half = epsilon / mu, mu * HALF
    if distance - half > FAR and not step.claim.number("delta").is_zero():
        return  # the first term is below e^-10,000, and a delta above 0 of 4,096 bits is not

    def bound(bits: int) -> Interval:
        inner = bits + 16
        mass = normal_tail(distance - half, inner)
        return mass - exponential(enclose(epsilon, inner)) * normal_tail(distance + half, inner)

    step.require_delta_bound(None, bound)


def _order(step: Step) -> Rational:
    order: Rational = step.witness["order"]
    if not order > ONE:
        raise Invalid("witness.order", "must be above 1")
    return order


def _require_renyi_epsilon(step: Step, order: Rational, divergence: Rational, delta: Rational) -> None:
    """epsilon >= t + ln((a-1)/a) - (ln delta + ln a)/(a-1)."""
    less_one = order - ONE

    def bound(bits: int) -> Interval:
        inner = bits + 16
        logarithms = logarithm(delta * order, inner) / enclose(less_one, inner)
        return enclose(divergence, inner) + logarithm(less_one / order, inner) - logarithms

    step.require_bound("epsilon", bound)


def _zcdp_to_approx(step: Step) -> None:
    premise = step.only_premise("ZCDP", "ApproxZCDP")
    step.claim_must_be("ApproxDP")
    order, rho = _order(step), premise.number("rho")
    delta, given = step.claim.number("delta"), premise.number("delta")
    if delta >= ONE or (rho.is_zero() and given <= delta):
        return
    if delta <= given:
        raise Invalid("conclusion.delta", f"must be above that of the premise, {given.text()}")
    _require_renyi_epsilon(step, order, order * rho, (delta - given) / (ONE - given))


def _renyi_to_approx(step: Step) -> None:
    premise = step.only_premise("RenyiDP")
    step.claim_must_be("ApproxDP")
    order, delta = _order(step), step.claim.number("delta")
    if delta >= ONE:
        return
    if delta.is_zero():
        raise Invalid("conclusion.delta", "must be above 0")
    _require_renyi_epsilon(step, order, _renyi_bound(premise, order), delta)


def _renyi_bound(premise: Statement, order: Rational) -> Rational:
    """The bound at an order: (o-1) bound(o) is convex in o and 0 at 1, so chords between listed orders bound it."""
    left, left_value = ONE, ZERO
    for right, bound in premise.bounds:
        right_value = (right - ONE) * bound
        if order == right:
            return bound
        if order < right:
            share = (order - left) / (right - left)
            return (left_value + (right_value - left_value) * share) / (order - ONE)
        left, left_value = right, right_value
    raise Invalid("witness.order", "is above the last order listed in the premise")


RULES = {
    "pure_to_zcdp": Rule(_pure_to_zcdp, premises=1),
    "approx_to_zcdp": Rule(_approx_to_zcdp, premises=1),
    "pure_to_gaussian": Rule(_pure_to_gaussian, premises=1),
    "zcdp_to_renyi": Rule(_zcdp_to_renyi, premises=1),
    "gaussian_to_zcdp": Rule(_gaussian_to_zcdp, premises=1),
    "gaussian_to_approx": Rule(_gaussian_to_approx, premises=1),
    "zcdp_to_approx": Rule(_zcdp_to_approx, premises=1, witness={"order": read_rational}),
    "renyi_to_approx": Rule(_renyi_to_approx, premises=1, witness={"order": read_rational}),
}
