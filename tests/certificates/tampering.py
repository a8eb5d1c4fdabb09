"""Random edits to certificates, and an oracle that says whether an accepted one deserved it."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from privately.accounting.certified import derive
from privately.accounting.encoding import decode as decode_event
from privately.certificates import decode
from privately.certificates.checker import canonical_bytes, content_hash
from privately.errors import PrivatelyError
from privately.guarantees import ApproxDP, Derivation, FiniteMechanism, GaussianDP, Guarantee, Sensitivity, rules
from privately.guarantees.costs import costs, implies

Data = dict[str, Any]
ROUNDING = Fraction(1, 10**13)
SEARCHED = {
    "zcdp_to_approx": Fraction(1, 10**6),
    "renyi_to_approx": Fraction(1, 10**6),
    "optimal_composition": Fraction(1, 10**6),
    "accounted": Fraction(1, 10**5),
}
"""Rules whose witness an edit may make better than our own search found, and by how much."""


def sealed(data: Data) -> bytes:
    """The edited certificate with its hash made right again."""
    content = {name: value for name, value in data.items() if name != "hash"}
    return canonical_bytes({**content, "hash": content_hash(content)})


def edited(data: Data, chance: random.Random) -> Data:
    """One to three random edits."""
    result = copy.deepcopy(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
            chance.choice(EDITS)(result, chance)  # an earlier edit may have taken away what this one changes
    edits: Data = json.loads(json.dumps(result))  # the keys of JSON are strings
    return edits


def change_number(data: Data, chance: random.Random) -> None:
    holder, key = chance.choice(list(_numbers(data["nodes"])))
    value = Fraction(holder[key])
    factor = chance.choice([Fraction(1, 2), Fraction(99, 100), Fraction(999999, 10**6), Fraction(2), Fraction(0)])
    holder[key] = str(chance.choice([value * factor, value - 1, -value, 1 / (value + 1), value + Fraction(1, 1000)]))


def lower_claim(data: Data, chance: random.Random) -> None:
    conclusion = data["nodes"][-1]["conclusion"]
    name = chance.choice([name for name in conclusion if name in {"epsilon", "delta", "rho", "mu"}] or ["kind"])
    if name != "kind":
        conclusion[name] = str(Fraction(conclusion[name]) * (1 - Fraction(1, 10 ** chance.randint(0, 12))))


def change_count(data: Data, chance: random.Random) -> None:
    places = list(_integers(data["nodes"]))
    if places:
        holder, key = chance.choice(places)
        holder[key] = chance.choice([0, 1, 2, holder[key] - 1, holder[key] + 1, holder[key] // 2, -1])


def change_choice(data: Data, chance: random.Random) -> None:
    """Turn a boolean around, name another noise, or add to a list of numbers and take from it."""
    node = chance.choice([node for node in data["nodes"] if CHOICES & node["parameters"].keys()])
    parameters = node["parameters"]
    name = chance.choice(sorted(CHOICES & parameters.keys()))
    if name == "noise":
        parameters[name] = chance.choice(["discrete_laplace", "discrete_exponential", "rounded_gaussian", "none"])
    elif isinstance(parameters[name], bool):
        parameters[name] = chance.choice([not parameters[name], not parameters[name], int(parameters[name])])
    else:
        parameters[name].insert(chance.randrange(4), chance.choice(["1", "1/1000", "1000", "25"]))
        del parameters[name][chance.randrange(4) :]


CHOICES = {"gap", "monotone", "noise", "query_scales"}


def change_rule(data: Data, chance: random.Random) -> None:
    node = chance.choice(data["nodes"])
    node["rule"] = chance.choice([*rules.RULES, "trust_me"])


def change_premise(data: Data, chance: random.Random) -> None:
    node = chance.choice(data["nodes"])
    if node["premises"]:
        node["premises"][chance.randrange(len(node["premises"]))] = chance.randrange(len(data["nodes"]))


def drop_premise(data: Data, chance: random.Random) -> None:
    node = chance.choice(data["nodes"])
    if node["premises"]:
        node["premises"].pop(place := chance.randrange(len(node["premises"])))
        for extra in (node["parameters"].get("counts"), node["witness"].get("multiples")):
            if extra:
                extra.pop(min(place, len(extra) - 1))


def reorder(data: Data, chance: random.Random) -> None:
    first, second = chance.randrange(len(data["nodes"])), chance.randrange(len(data["nodes"]))
    data["nodes"][first], data["nodes"][second] = data["nodes"][second], data["nodes"][first]


def drop_node(data: Data, chance: random.Random) -> None:
    data["nodes"].pop(chance.randrange(len(data["nodes"])))


def change_kind(data: Data, chance: random.Random) -> None:
    conclusion = chance.choice(data["nodes"])["conclusion"]
    conclusion["kind"] = chance.choice(["PureDP", "ZCDP", "GaussianDP", "ApproxDP", "RenyiDP"])


def change_neighbors(data: Data, chance: random.Random) -> None:
    node = chance.choice(data["nodes"])
    nodes = data["nodes"] if chance.random() < 0.5 else [node]
    change = chance.choice([{"change": "replace"}, {"change": "add_remove"}, {"size": 2}, {"unit": "x", "max_rows": 1}])
    for one in nodes:
        one["conclusion"]["neighbors"].update(change)


def change_structure(data: Data, chance: random.Random) -> None:
    node = chance.choice(data["nodes"])
    name = chance.choice(list(node))
    node[name] = chance.choice([None, [], {}, "", 0, True, 1.5, [[[]]], {"x": 1}])


EDITS: list[Callable[[Data, random.Random], None]] = [
    *[change_number] * 6,
    *[lower_claim] * 6,
    *[change_count] * 2,
    *[change_choice] * 2,
    change_rule,
    change_premise,
    drop_premise,
    reorder,
    drop_node,
    change_kind,
    change_neighbors,
    change_structure,
]


def deserved(original: Data, accepted: Data) -> bool:
    """Whether an accepted certificate claims no more than the original, or no more than its own leaves give."""
    before, after = (decode(data["nodes"][-1]["conclusion"]) for data in (original, accepted))
    return implies(before, after) or replays(accepted)


def replays(data: Data) -> bool:
    """Whether the library's own rules, from the leaves written there, reach at least what every node claims."""
    done: list[Derivation] = []
    for node in data["nodes"]:
        claim = decode(node["conclusion"])
        try:
            found = _apply(node, [done[place] for place in node["premises"]], claim)
        except PrivatelyError:
            return False
        if not _reaches(found.conclusion, claim, SEARCHED.get(node["rule"], ROUNDING)):
            return False
        done.append(rules.suppose(claim))
    return True


def _apply(node: Data, premises: list[Derivation], claim: Guarantee) -> Derivation:
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
        case "weaken":
            return premises[0]
        case "zcdp_to_renyi":
            return rules.zcdp_to_renyi(premises[0], orders=[order for order, _ in claim.parameters["bounds"]])
        case "zcdp_to_approx" | "renyi_to_approx" | "gaussian_to_approx" | "optimal_composition" as name:
            return rules.RULES[name](*premises, **parameters, delta=claim.parameters["delta"])
        case "parallel_by_value_replace":
            half = len(premises) // 2
            return rules.parallel_by_value_replace(moved=premises[:half], stayed=premises[half:])
        case "bounded_unit":
            return rules.bounded_unit(premises[0], unit=claim.neighbors.unit or "")
        case name if premises:
            return rules.RULES[name](*premises, **parameters)
        case name:
            return _state(name, parameters, claim)


def _state(rule: str, parameters: Data, claim: Guarantee) -> Derivation:
    """A mechanism with these parameters, for the neighbours of the claim."""
    if rule == "randomized_response":
        return rules.randomized_response(**parameters)
    if "sensitivity" in parameters:
        sensitivity = Sensitivity(value=parameters["sensitivity"], neighbors=claim.neighbors)
        return rules.RULES[rule](**{**parameters, "sensitivity": sensitivity})
    kind = {"kind": type(claim)} if rule == "exponential_mechanism" else {}
    return rules.RULES[rule](**parameters, neighbors=claim.neighbors, **kind)


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


def _numbers(value: Any) -> Iterator[tuple[Any, Any]]:
    for holder, key, item in _walk(value):
        if isinstance(item, str) and item.lstrip("-").replace("/", "", 1).isdigit():
            yield holder, key


def _integers(value: Any) -> Iterator[tuple[Any, Any]]:
    for holder, key, item in _walk(value):
        if type(item) is int:
            yield holder, key


def _walk(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(pairs):
        yield value, key, item
        yield from _walk(item)
