"""What a described use of mechanisms costs: the number is found by `privately.accounting`, and sealed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privately.errors import InvalidParameter
from privately.guarantees.derivations import Derivation
from privately.guarantees.kinds import ApproxDP
from privately.guarantees.rules.sealing import conclude


def accounted(conclusion: ApproxDP, *, event: Mapping[str, Any], bounds: Sequence[Mapping[str, Any]]) -> Derivation:
    """The cost of an event, with a witness for each direction. Use `privately.accounting.derive`, which finds both.

    This rule cannot evaluate a witness: it writes down what it is given. `certify` has the independent checker evaluate
    it, and refuses a number that the witness does not show.

    Theorem: for losses with a pair, the trapezoid sum of M(z) e^(-z epsilon)/(z (z+1)) along Re z = c > 0 is at least
        the delta at epsilon, M the product of the transforms; and delta <= e^(K(c) - c epsilon) c^c/(c+1)^(c+1) for all
        losses with ln E[e^(c loss)] <= K(c).
    Reference: Abate-Whitt 1992; Zhu-Dong-Wang 2022; Canonne-Kamath-Steinke 2020, Proposition 12
    Proof: docs/theory/certificates.md#why-the-bounds-hold
    Checked-by: tests/guarantees/rules/test_accounting.py::test_accounted_dominates_enumeration
    """
    if not isinstance(conclusion, ApproxDP):
        raise InvalidParameter("conclusion", f"{conclusion!r} is not an ApproxDP.")
    if not isinstance(event, Mapping) or set(event) != {"version", "event"}:
        raise InvalidParameter("event", "must be an encoded event, with its version.")
    if not isinstance(bounds, (list, tuple)) or not all(isinstance(bound, Mapping) for bound in bounds):
        raise InvalidParameter("bounds", "must be a list of witnesses.")
    return conclude("accounted", [], conclusion, parameters=event, witness={"bounds": list(bounds)})
