"""Random edits to certificates."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from privately.certificates.checker import canonical_bytes, content_hash
from privately.errors import PrivatelyError
from privately.guarantees import rules
from tests.certificates.replaying import honest_from

Data = dict[str, Any]
STABILITIES = ("Rows", "Groups", "Sensitivity", "ScoreSpread", "UnitKeys")


def sealed(data: Data) -> bytes:
    """The edited certificate with its hash made right again."""
    content = {name: value for name, value in data.items() if name != "hash"}
    return canonical_bytes({**content, "hash": content_hash(content)})


def edited(data: Data, chance: random.Random) -> Data:
    """One to three random edits."""
    result = copy.deepcopy(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        with suppress(PrivatelyError, AttributeError, LookupError, TypeError, ValueError, ZeroDivisionError):
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
    conclusion["kind"] = chance.choice(["PureDP", "ZCDP", "GaussianDP", "ApproxDP", "RenyiDP", *STABILITIES])


def change_neighbors(data: Data, chance: random.Random) -> None:
    node = chance.choice(data["nodes"])
    nodes = data["nodes"] if chance.random() < 0.5 else [node]
    change = chance.choice([{"change": "replace"}, {"change": "add_remove"}, {"size": 2}, *OTHERS])
    for one in nodes:
        one["conclusion"]["neighbors"].update(change)


def change_norm(data: Data, chance: random.Random) -> None:
    """Of a sensitivity, or of all of them."""
    found = [node["conclusion"] for node in data["nodes"] if "norm" in node["conclusion"]]
    norm = chance.choice(["L1", "L2", "Linf", "L0"])
    for one in found if chance.random() < 0.5 else [chance.choice(found)]:
        one["norm"] = norm


def change_listed(data: Data, chance: random.Random) -> None:
    """Say that groups are listed, or that they are not; or more or fewer of them, in one place or in all."""
    found = [(holder, key) for holder, key, _ in _walk(data["nodes"]) if key in {"listed", "values"}]
    number = chance.choice([None, 1, 2, 10**9])
    for holder, key in found if chance.random() < 0.5 else [chance.choice(found)]:
        if not isinstance(holder[key], list):
            holder[key] = number


def change_limit(data: Data, chance: random.Random) -> None:
    """Say in all steps of a plan that a unit is less of the table."""
    name = chance.choice(["rows", "groups", "rows_per_group", "keys"])
    number = chance.choice([1, 1, 2, 3])
    for node in data["nodes"]:
        if type(node["conclusion"].get(name)) is int:
            node["conclusion"][name] = number


def drop_step(data: Data, chance: random.Random) -> None:
    """Leave out a node of one premise as if it had never been there, such as a filter."""
    places = [place for place, node in enumerate(data["nodes"][:-1]) if len(node["premises"]) == 1]
    place = chance.choice(places)
    (instead,) = data["nodes"].pop(place)["premises"]
    for node in data["nodes"]:
        node["premises"] = [instead if at == place else at - (at > place) for at in node["premises"]]


def add_table(data: Data, chance: random.Random) -> None:
    """Let steps begin at another table, of which a unit is less."""
    first = chance.choice([node for node in data["nodes"] if node["rule"] == "scan_rows"])
    other = copy.deepcopy(first)
    other["parameters"]["table"] = "other"
    other["conclusion"].update({"rows": 1, "groups": 1, "rows_per_group": 1})
    other["conclusion"]["neighbors"]["unit"] = chance.choice([None, "doctor", first["conclusion"]["neighbors"]["unit"]])
    for node in data["nodes"]:
        node["premises"] = [at + 1 for at in node["premises"]]
    data["nodes"].insert(0, other)
    node = chance.choice([node for node in data["nodes"] if len(node["premises"]) == 1])
    node["premises"] = [0]


OTHERS = [{"unit": "x", "max_rows": 1}, {"unit": "x"}, {"unit": None}, {"max_rows": 2}]


LIMITS = ("rows", "groups", "rows_per_group", "listed", "value", "keys")


def lie_once(data: Data, chance: random.Random) -> None:
    """Say less in one step of a plan, and let all later ones follow from that."""
    places = [place for place, node in enumerate(data["nodes"]) if node["conclusion"]["kind"] in STABILITIES]
    place = chance.choice(places)
    found = data["nodes"][place]["conclusion"]
    name = chance.choice(
        [name for name in found if name in {"rows", "groups", "rows_per_group", "listed", "value", "keys"}]
    )
    if name == "value":
        found[name] = str(Fraction(found[name]) * chance.choice([Fraction(1, 2), Fraction(999, 1000)]))
    else:
        found[name] = chance.choice([1, 2, (found[name] or 9) - 1])
    honest_from(data, place)


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
    change_norm,
    change_listed,
    change_limit,
    drop_step,
    add_table,
    *[lie_once] * 3,
]


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
