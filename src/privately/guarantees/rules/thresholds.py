"""Comparing noisy numbers with a threshold: sparse vector, and histograms that show only what is frequent."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.derivations import Derivation, Stability
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ApproxDP, ApproxZCDP, PureDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.sealing import conclude, stated
from privately.guarantees.sensitivity import Sensitivity, bound_in
from privately.guarantees.stability import UnitKeys
from privately.rounding import Enclosure, Number, normal_cdf, rational, tidy, whole

Noise = Literal["discrete_laplace", "rounded_gaussian"]
_NOISES = ("discrete_laplace", "rounded_gaussian")
MAX_TESTS = 1000


def sparse_vector(
    *, threshold_scale: Number, query_scale: Number, count: int, monotone: bool, sensitivity: Sensitivity
) -> Derivation:
    """Which queries reach a threshold, until `count` have; each yes may come with its gap.

    The threshold gets noise once, each query its own. `monotone` says that between two neighbours all queries move in
    the same direction; it is refused unless one row or unit is added or removed, as two changes may be opposite.
    Queries may be chosen in the light of the answers before, and thresholds of their own are fine.

    Theorem: for integer queries that each change by at most s, with discrete Laplace noise, answering "query + noise
        >= threshold + noise" up to the `count`-th yes is epsilon-DP with
        epsilon = s/threshold_scale + count k s/query_scale, k = 2, or 1 if monotone. A yes may be released with the
        difference of the two sides.
    Reference: Dwork-Roth 2014, section 3.6; Lyu-Su-Li 2017; Ding-Wang-Zhang-Kifer 2019 (the gap)
    Proof: docs/theory/mechanisms.md#sparse-vector
    Checked-by: tests/guarantees/rules/test_thresholds.py::test_sparse_vector_dominates_enumeration
    """
    threshold_width = rational(threshold_scale, "threshold_scale", above=0)
    query_width = rational(query_scale, "query_scale", above=0)
    most, moves = whole(count, "count"), _directions(monotone, sensitivity)
    change = bound_in(sensitivity, "Linf", wanted="sparse vector")
    epsilon = change / threshold_width + most * moves * change / query_width
    found = PureDP(epsilon=tidy(epsilon), neighbors=sensitivity.neighbors)
    parameters = {
        "threshold_scale": str(threshold_width),
        "query_scale": str(query_width),
        "count": most,
        "sensitivity": str(change),
        "monotone": monotone,
    }
    return conclude("sparse_vector", [], found, parameters=parameters)


def adaptive_sparse_vector(
    *,
    threshold_scale: Number,
    query_scales: Sequence[Number],
    query_epsilon: Number,
    monotone: bool,
    sensitivity: Sensitivity,
) -> Derivation:
    """Sparse vector that tries each query with much noise first, and pays less for a yes that shows even so.

    A query is a yes by the first of its tests that it passes, each with noise of its own, coarse ones first. A test is
    run only while a yes by it would keep the sum of costs within `query_epsilon`.

    Theorem: as in sparse_vector, with a yes by test t at the cost of k s/query_scales[t] and the sum of these costs at
        most query_epsilon, it is epsilon-DP with epsilon = s/threshold_scale + query_epsilon.
    Reference: Ding-Wang-Zhang-Kifer 2019
    Proof: docs/theory/mechanisms.md#adaptive-sparse-vector
    Checked-by: tests/guarantees/rules/test_thresholds.py::test_adaptive_sparse_vector_dominates_enumeration
    """
    threshold_width = rational(threshold_scale, "threshold_scale", above=0)
    if not isinstance(query_scales, (list, tuple)) or not 1 <= len(query_scales) <= MAX_TESTS:
        raise InvalidParameter("query_scales", f"give a list of 1 to {MAX_TESTS} scales, such as [8, 2].")
    widths = [rational(scale, "query_scales", above=0) for scale in query_scales]
    if any(later >= earlier for earlier, later in pairwise(widths)):
        raise InvalidParameter("query_scales", "must decrease: the coarsest test comes first.")
    spent = rational(query_epsilon, "query_epsilon", minimum=0)
    _directions(monotone, sensitivity)
    change = bound_in(sensitivity, "Linf", wanted="adaptive sparse vector")
    found = PureDP(epsilon=tidy(change / threshold_width + spent), neighbors=sensitivity.neighbors)
    parameters = {
        "threshold_scale": str(threshold_width),
        "query_scales": [str(width) for width in widths],
        "query_epsilon": str(spent),
        "sensitivity": str(change),
        "monotone": monotone,
    }
    return conclude("adaptive_sparse_vector", [], found, parameters=parameters)


def thresholded_histogram(
    *, noise: Noise, scale: Number, threshold: int, keys: int | Stability, neighbors: Neighbors = Neighbors.ADD_REMOVE
) -> Derivation:
    """For each key in the data its noisy number of units, if that reaches the threshold. Keys need not be listed.

    `scale` is the scale of the discrete Laplace noise, or the standard deviation of the rounded Gaussian one. How many
    `keys` a unit has is claimed, or derived by `count_units_by_key`, which brings its neighbours along.

    Theorem: if each key counts distinct units (rows, where neighbours differ by one row), a unit has at most K keys,
        counts get independent noise X, and only those of at least the threshold T >= 2 are released, then with
        d = P(X >= T - 1) and delta = 1 - (1 - d)^K it is (K/scale, delta)-DP for discrete Laplace noise, and
        delta-approximate rho-zCDP with rho = K/(2 scale^2) for rounded Gaussian noise.
    Reference: Korolova-Kenthapadi-Mishra-Ntoulas 2009; Wilson-et-al 2020
    Proof: docs/theory/mechanisms.md#thresholded-histogram
    Checked-by: tests/guarantees/rules/test_thresholds.py::test_thresholded_histogram_dominates_enumeration,
        tests/guarantees/rules/test_thresholds.py::test_thresholded_histogram_with_gaussian_noise_dominates_enumeration
    """
    if not isinstance(noise, str) or noise not in _NOISES:
        raise InvalidParameter("noise", f"{noise!r} is not one of {', '.join(_NOISES)}.")
    width, least = rational(scale, "scale", above=0), whole(threshold, "threshold", minimum=2)
    most, who = _keys(keys, neighbors)
    if who.change != "add_remove" or who.size != 1:
        raise NoSuchRule(
            premise=f"a thresholded histogram, {who}",
            wanted="a guarantee",
            hint="This theorem needs one row or unit to be added or removed; start there, then form groups.",
        )
    delta = _delta(_chance_alone(noise, width, least), most)
    found: Guarantee
    if noise == "discrete_laplace":
        found = ApproxDP(epsilon=tidy(most / width), delta=delta, neighbors=who)
    else:
        found = ApproxZCDP(rho=tidy(most / (2 * width**2)), delta=delta, neighbors=who)
    parameters = {"noise": noise, "scale": str(width), "threshold": least}
    if isinstance(keys, Stability):
        return conclude("thresholded_histogram", [keys], found, parameters=parameters)
    return conclude("thresholded_histogram", [], found, parameters={**parameters, "keys": most})


def _keys(keys: int | Stability, neighbors: Neighbors) -> tuple[int, Neighbors]:
    """How many keys a unit has, and who that is about."""
    if isinstance(keys, Stability):
        derived = stated(keys, UnitKeys, wanted="a thresholded histogram")
        if neighbors not in {Neighbors.ADD_REMOVE, derived.neighbors}:
            raise InvalidParameter("neighbors", f"the keys are about {derived.neighbors}.")
        return derived.keys, derived.neighbors
    if not isinstance(neighbors, Neighbors):
        raise InvalidParameter("neighbors", f"{neighbors!r} is not a Neighbors, such as Neighbors.ADD_REMOVE.")
    return whole(keys, "keys"), neighbors


def _directions(monotone: bool, sensitivity: Sensitivity) -> int:  # noqa: FBT001 - a value of data
    if not isinstance(monotone, bool):
        raise InvalidParameter("monotone", f"{monotone!r} is neither True nor False.")
    if monotone and isinstance(sensitivity, Sensitivity):
        neighbors = sensitivity.neighbors
        if neighbors.change != "add_remove" or neighbors.size != 1:
            raise NoSuchRule(
                premise=f"queries that all move the same way, {neighbors}",
                wanted="a guarantee",
                hint="One row may leave where another enters; say monotone=False, or start from one change and form "
                "groups.",
            )
    return 1 if monotone else 2


def _chance_alone(noise: Noise, width: Fraction, threshold: int) -> Enclosure:
    """P(1 + X >= threshold): that the key of a single unit is released."""
    if noise == "discrete_laplace":
        return Enclosure.of((1 - threshold) / width).exp() / (1 + Enclosure.of(-1 / width).exp())
    return normal_cdf((Fraction(3, 2) - threshold) / width)


def _delta(alone: Enclosure, keys: int) -> Fraction:
    """1 - (1 - alone)^keys, at most keys alone; the second form keeps its digits where both are tiny."""
    return min((keys * alone).claim(), (1 - (1 - alone) ** keys).claim(), Fraction(1))
