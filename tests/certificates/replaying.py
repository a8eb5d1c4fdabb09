"""An oracle that says whether a certificate that was accepted deserved it: the library's rules, applied anew."""

from fractions import Fraction
from typing import Any

from privately.accounting.certifying import derive
from privately.accounting.encoding import decode as decode_event
from privately.certificates import decode, encode
from privately.errors import PrivatelyError
from privately.guarantees import (
    ApproxDP,
    Derivation,
    FiniteMechanism,
    GaussianDP,
    Groups,
    Guarantee,
    Neighbors,
    Proof,
    Rows,
    ScoreSpread,
    Sensitivity,
    Stability,
    UnitKeys,
    rules,
)
from privately.guarantees.costs import costs, implies
from privately.guarantees.rules.sealing import state
from privately.proving.certifying import derivation_of, neighbors_of
from tests.certificates.programs import analysis, claim_of

Data = dict[str, Any]
ROUNDING = Fraction(1, 10**13)
SEARCHED = {
    "zcdp_to_approx": Fraction(1, 10**6),
    "renyi_to_approx": Fraction(1, 10**6),
    "optimal_composition": Fraction(1, 10**6),
    "accounted": Fraction(1, 10**5),
}
"""Rules whose witness an edit may make better than our own search found, and by how much."""


def deserved(original: Data, accepted: Data) -> bool:
    """Whether an accepted certificate claims no more than the original, or no more than its own leaves give."""
    before, after = (decode(data["nodes"][-1]["conclusion"]) for data in (original, accepted))
    return implies(before, after) or replays(accepted)


def replays(data: Data) -> bool:
    """Whether the library's own rules, from the leaves written there, reach at least what every node claims."""
    done: list[Proof] = []
    for node in data["nodes"]:
        try:
            claim, found = _claimed(node), _found(node, [done[place] for place in node["premises"]])
        except (PrivatelyError, TypeError):
            return False
        if isinstance(claim, Guarantee):
            slack = SEARCHED.get(node["rule"], ROUNDING)
            right = isinstance(found, Derivation) and _reaches(found.conclusion, claim, slack)
        else:
            right = _allows(found.conclusion, claim) or _sums_nothing(node)
        if not right:
            return False
        done.append(_as_claimed(claim))
    return True


def honest_from(data: Data, place: int) -> None:
    """Leaves the node at this place as it is, and lets all later ones claim what follows."""
    done: list[Proof] = []
    for at, node in enumerate(data["nodes"]):
        if at > place:
            found = _found(node, [done[premise] for premise in node["premises"]])
            node["conclusion"] = encode(found.conclusion)
        done.append(_as_claimed(_claimed(node)))


STABILITIES: dict[str, Any] = {kind.__name__: kind for kind in (Rows, Groups, Sensitivity, ScoreSpread, UnitKeys)}


def _claimed(node: Data) -> Any:
    """What a node says, read as a statement of the library."""
    written = dict(node["conclusion"])
    if written["kind"] not in STABILITIES:
        return decode(written)
    kind, neighbors = STABILITIES[written.pop("kind")], Neighbors(**written.pop("neighbors"))
    numbers = {name: Fraction(value) if name == "value" else value for name, value in written.items()}
    return kind(**numbers, neighbors=neighbors)


def _as_claimed(claim: Any) -> Proof:
    return rules.suppose(claim) if isinstance(claim, Guarantee) else state("claimed", [], claim)


def _found(node: Data, premises: list[Any]) -> Proof:
    """What the library derives for a node, from what its premises claim."""
    claim = _claimed(node)
    if not isinstance(claim, Guarantee):
        return _step(node, premises, claim)
    if premises and isinstance(premises[0], Stability):
        return _rest_on(premises, node, claim)
    return _apply(node, premises, claim)


def _step(node: Data, premises: list[Any], claim: Any) -> Proof:
    """A step of a plan."""
    given = {name: value for name, value in node["parameters"].items() if name != "keys"}
    if "keys" in node["parameters"]:
        given["keys"] = [(key["key"], key["values"]) for key in node["parameters"]["keys"]]
    given |= {name: int(given[name]) for name in ("low", "high") if name in given}
    if isinstance(claim, Sensitivity):
        given["norm"] = claim.norm
    if node["rule"] == "scan_rows":
        limits = {name: getattr(claim, name) for name in ("rows", "groups", "rows_per_group", "neighbors")}
        return rules.scan_rows(**given, **limits)
    return rules.RULES[node["rule"]](*premises, **given)


def _sums_nothing(node: Data) -> bool:
    """Sums of nothing but 0 do not move; the library says 1, so that there is noise to be made."""
    return node["rule"] == "sum_steps" and {node["parameters"][name] for name in ("low", "high")} == {"0"}


def _allows(found: Any, claim: Any) -> bool:
    """Numbers that may be larger than need be are `value` and `keys`; all others are what they are."""
    if type(found) is not type(claim) or found.neighbors != claim.neighbors:
        return False
    if isinstance(claim, (Sensitivity, ScoreSpread)):
        return bool(found.value <= claim.value * (1 + ROUNDING))
    return bool(found.keys <= claim.keys) if isinstance(claim, UnitKeys) else bool(found == claim)


def _apply(node: Data, premises: list[Any], claim: Guarantee) -> Derivation:  # noqa: C901 - a case a rule
    parameters = node["parameters"]
    match node["rule"]:
        case "assumption":
            return rules.suppose(claim)
        case "accounted":
            return derive(decode_event(parameters), delta=claim.parameters["delta"])
        case "finite_table":
            table = {tuple(row["input"]): dict(row["law"]) for row in parameters["table"]}
            mechanism = FiniteMechanism(records=parameters["records"], sizes=parameters["sizes"], table=table)
            return rules.finite_table(mechanism, neighbors=claim.neighbors, delta=claim.parameters.get("delta", 0))
        case "finite_program":
            return _program(parameters, claim)
        case "weaken":
            return _derivation(premises[0])
        case "zcdp_to_renyi":
            return rules.zcdp_to_renyi(premises[0], orders=[order for order, _ in claim.parameters["bounds"]])
        case "zcdp_to_approx" | "renyi_to_approx" | "gaussian_to_approx" | "optimal_composition" as name:
            return _derivation(rules.RULES[name](*premises, **parameters, delta=claim.parameters["delta"]))
        case "parallel_by_value_replace":
            half = len(premises) // 2
            return rules.parallel_by_value_replace(moved=premises[:half], stayed=premises[half:])
        case "bounded_unit":
            return rules.bounded_unit(premises[0], unit=claim.neighbors.unit or "")
        case name if premises:
            return _derivation(rules.RULES[name](*premises, **parameters))
        case name:
            return _state(name, parameters, claim)


def _program(parameters: Data, claim: Guarantee) -> Derivation:
    """The program, analysed again by the library."""
    found = analysis(parameters)
    epsilon = claim.parameters["epsilon"]
    if isinstance(claim, ApproxDP):
        delta = Fraction(found.delta(epsilon).upper)
        return rules.suppose(ApproxDP(epsilon=epsilon, delta=delta, neighbors=neighbors_of(found)))
    return derivation_of(found, claim_of(epsilon))


def _rest_on(premises: list[Any], node: Data, claim: Guarantee) -> Derivation:
    """A mechanism whose sensitivity is derived."""
    rule: str = node["rule"]
    name = {"exponential_mechanism": "spread", "permute_and_flip": "spread", "thresholded_histogram": "keys"}.get(
        rule, "sensitivity"
    )
    kind = {"kind": type(claim)} if rule == "exponential_mechanism" else {}
    return _derivation(rules.RULES[rule](**node["parameters"], **kind, **{name: premises[0]}))


def _derivation(found: Proof) -> Derivation:
    assert isinstance(found, Derivation)
    return found


def _state(rule: str, parameters: Data, claim: Guarantee) -> Derivation:
    """A mechanism with these parameters, for the neighbours of the claim."""
    if rule == "randomized_response":
        return rules.randomized_response(**parameters)
    if "sensitivity" in parameters:
        sensitivity = Sensitivity(value=parameters["sensitivity"], neighbors=claim.neighbors)
        return _derivation(rules.RULES[rule](**{**parameters, "sensitivity": sensitivity}))
    kind = {"kind": type(claim)} if rule == "exponential_mechanism" else {}
    return _derivation(rules.RULES[rule](**parameters, neighbors=claim.neighbors, **kind))


def _reaches(found: Guarantee, claim: Guarantee, slack: Fraction) -> bool:
    """Implication with room for rounding."""
    if implies(found, claim):
        return True
    if not found.neighbors.covers(claim.neighbors):
        return False
    kind = ApproxDP if isinstance(claim, ApproxDP) else type(claim)
    have, want = costs(found, kind), costs(claim, kind)
    room = 1 + (2 * slack if kind is GaussianDP else slack)
    return all(name in have and have[name] <= value * room for name, value in want.items())
