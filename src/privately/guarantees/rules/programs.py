"""What a small program loses: the number is found by `privately.proving`, and sealed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privately.errors import InvalidParameter
from privately.guarantees.derivations import Derivation
from privately.guarantees.kinds import ApproxDP, PureDP
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude
from privately.rounding import whole

MEMBERS = {"variables", "expressions", "blocks"}


def finite_program(
    conclusion: PureDP | ApproxDP,
    *,
    program: Mapping[str, Any],
    private: Sequence[Mapping[str, Any]],
    public: Sequence[Sequence[Any]] = (),
    unit: int = 1,
) -> Derivation:
    """The loss of a program over all neighbouring inputs that can be listed. Use `privately.prove`, which finds it.

    This rule runs no program: it writes down what it is given. `certify` has the independent checker follow the program
    in all ways, for all inputs, and refuses a number that is too small. Exponents of e are multiples of 1/unit.

    Theorem: a program is (epsilon, delta)-DP for the neighbours listed exactly when, for each of them, the sum over
        outputs of max(0, P - e^epsilon Q) is at most delta, where P and Q are the laws of its output; sets of outputs
        on which P and Q are proportional may be taken together.
    Reference: Kozen 1981 (programs as linear maps on measures); Dwork-Roth 2014, Definition 2.4
    Proof: docs/theory/programs.md#certificates
    Checked-by: tests/guarantees/rules/test_programs.py::test_finite_program_dominates_enumeration
    """
    if not isinstance(conclusion, (PureDP, ApproxDP)):
        raise InvalidParameter("conclusion", f"{conclusion!r} is neither a PureDP nor an ApproxDP.")
    if not isinstance(program, Mapping) or set(program) != MEMBERS:
        raise InvalidParameter("program", "must be an encoded program, with its variables, expressions and blocks.")
    if not isinstance(private, (list, tuple)) or not all(isinstance(one, Mapping) for one in private) or not private:
        raise InvalidParameter("private", "must be a list of declarations, at least one.")
    if not isinstance(public, (list, tuple)):
        raise InvalidParameter("public", "must be a list of variables and their values.")
    moderate(conclusion.parameters["epsilon"])
    return conclude(
        "finite_program",
        [],
        conclusion,
        parameters={"program": program, "private": list(private), "public": list(public)},
        witness={"unit": whole(unit, "unit")},
    )
