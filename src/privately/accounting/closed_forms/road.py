"""Which closed form there is for a composition."""

from __future__ import annotations

from fractions import Fraction

from privately.accounting.closed_forms import finite, gaussian, single
from privately.accounting.compositions import Composition
from privately.accounting.events import Event, Gaussian, Sequence
from privately.accounting.losses import FiniteLoss, GaussianLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval

NORMAL = "closed form: normal losses add up to one"
ONE = "closed form: one step"
FINITE = "closed form: all sums of finitely many losses"
_BITS = 200
_MANY = 8
_SEVERAL = "several steps have no closed form"
_BEYOND = "numbers beyond the range of the arithmetic"


def delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    """delta at epsilon; as narrow as the arithmetic allows, whatever the `width`."""
    del width
    try:
        found, method = _profile(composition, epsilon)
    except OverflowError:
        raise NotApplicable(_BEYOND) from None
    least, most = composition.infinite_lower, composition.infinite
    ends = found.clip(0, 1).interval()
    return Interval(least + (1 - least) * ends.lower, most + (1 - most) * ends.upper, method=method)


def epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Interval:
    """epsilon at delta, above the mass at infinite loss and below 1; as narrow as the arithmetic allows."""
    del width
    least, most = composition.infinite_lower, composition.infinite
    if not _has_a_form(composition):
        raise NotApplicable(_SEVERAL)
    if not most < delta < 1:
        raise NotApplicable("delta is not above the mass at infinite loss for certain, or 1")
    easier, harder = ((delta - mass) / (1 - mass) if mass else delta for mass in (least, most))
    try:
        (lower, upper), method = _inverse(composition, harder)
        if easier != harder:
            lower = _inverse(composition, easier)[0][0]
    except OverflowError:
        raise NotApplicable(_BEYOND) from None
    return Interval(max(lower, Fraction(0)), max(upper, Fraction(0)), method=method)


def noises(event: Event, delta: Fraction) -> Interval | None:
    """epsilon at 0 < delta < 1 of many normal noises, with the sum of mu^2 rounded both ways: exact, it would be a long
    fraction, and to reduce that takes longer than the answer. None for all else.
    """
    if not isinstance(event, Sequence) or len(event.events) < _MANY:
        return None
    ratios = []
    for one in event.events:
        if type(one) is not Gaussian:
            return None
        below, above = one.noise_multiplier.as_integer_ratio()
        if not below:
            return None
        ratios.append((above * above, below * below))
    try:
        lower, upper = gaussian.inverse_between(*_rounded(ratios), delta)
    except OverflowError:
        return None
    return Interval(max(lower, Fraction(0)), max(upper, Fraction(0)), method=NORMAL)


def _has_a_form(composition: Composition) -> bool:
    """A quick look."""
    parts = composition.parts
    alike = isinstance(parts[0][0], (GaussianLoss, FiniteLoss)) if parts else True
    return alike or (len(parts) == 1 and parts[0][1] == 1)


def _profile(composition: Composition, epsilon: Fraction) -> tuple[Enclosure, str]:
    parts = composition.parts
    if not parts:
        raise NotApplicable("nothing to add up")
    normal = _normal(composition)
    if normal is not None:
        low, high = normal
        upper = gaussian.profile(high, epsilon)
        return (upper if low == high else Enclosure(gaussian.profile(low, epsilon).lower, upper.upper)), NORMAL
    if all(isinstance(law, FiniteLoss) for law, _ in parts):
        return finite.profile(composition, epsilon), FINITE
    if len(parts) == 1 and parts[0][1] == 1:
        return single.profile(parts[0][0], epsilon), ONE
    raise NotApplicable(_SEVERAL)


def _inverse(composition: Composition, delta: Fraction) -> tuple[tuple[Fraction, Fraction], str]:
    parts = composition.parts
    if not parts:
        raise NotApplicable("nothing to add up")
    normal = _normal(composition)
    if normal is not None:
        return gaussian.inverse_between(*normal, delta), NORMAL
    if all(isinstance(law, FiniteLoss) for law, _ in parts):
        return finite.inverse(composition, delta), FINITE
    if len(parts) == 1 and parts[0][1] == 1:
        return single.inverse(parts[0][0], delta), ONE
    raise NotApplicable(_SEVERAL)


def _normal(composition: Composition) -> tuple[Fraction, Fraction] | None:
    """The sum of mu^2 if all losses are normal: exact for one law, otherwise two ends of some 200 bits."""
    squares = [times * law.mu_squared for law, times in composition.parts if isinstance(law, GaussianLoss)]
    if len(squares) < max(len(composition.parts), 1):
        return None
    if len(squares) == 1:
        return squares[0], squares[0]
    return _rounded([square.as_integer_ratio() for square in squares])


def _rounded(ratios: list[tuple[int, int]]) -> tuple[Fraction, Fraction]:
    """Their sum, from below and from above."""
    bits = _BITS + max(0, min(below.bit_length() - above.bit_length() for above, below in ratios))
    total = sum([(above << bits) // below for above, below in ratios])
    return Fraction(total, 1 << bits), Fraction(total + len(ratios), 1 << bits)
