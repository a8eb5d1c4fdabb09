"""The rule for programs: honest certificates are accepted, edited ones refused where the edit is."""

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately.certificates import certify
from privately.certificates.checker import Invalid, check, verify
from privately.certificates.checker.programs import following, inputs, tails, weights
from privately.certificates.checker.programs.operators import OPERATORS
from privately.certificates.checker.programs.reading import LAWS, STATEMENTS
from privately.certificates.checker.rules import programs
from privately.certificates.checker.work import Work
from privately.certificates.encoding import encode
from privately.proving import analyze
from privately.proving.certifying import certificate_at
from tests.certificates.programs import proved
from tests.certificates.tampering import sealed

Data = dict[str, Any]

LAPLACE = "def f(x: each(1, whole(0, 2))):\n    return x + discrete_laplace(2)\n"
RESPONSE = "def f(x: replaced(0, 1)):\n    return x if flip() else flip()\n"
LARGEST = """
def f(x: each(1, whole(0, 1)), scale):
    best = 0
    top = 0
    for i in range(len(x)):
        noisy = x[i] + discrete_laplace(scale)
        if i == 0 or noisy > top:
            top = noisy
            best = i
    return best
"""
PAD = "def f(x: anything(0, 1)):\n    return x ^ flip_exp(1/2) ^ uniform(2)\n"
COUNT = "def f(x: added(0, 1)):\n    return sum(x) + discrete_laplace(3)\n"
TWO = "def f(x: one(1, whole(0, 1)), y: replaced(0, 1)):\n    return [x + discrete_laplace(1), y ^ flip(1/4)]\n"
HONEST: dict[str, tuple[str, dict[str, Any], Fraction | None]] = {
    "laplace": (LAPLACE, {}, Fraction(1, 2)),
    "response": (RESPONSE, {}, None),
    "largest": (LARGEST, {"public": {"scale": 4}, "sizes": [2]}, None),
    "pad": (PAD, {}, Fraction(0)),
    "count": (COUNT, {"sizes": [0, 1, 2]}, Fraction(1, 3)),
    "two": (TWO, {}, None),
}


def document(name: str) -> Data:
    text, known, _ = HONEST[name]
    found: Data = json.loads(certify(proved(text, **known)).document)
    return found


def refused(data: Data) -> Invalid:
    with pytest.raises(Invalid) as refusal:
        check(sealed(data))
    return refusal.value


@pytest.mark.parametrize("name", HONEST)
def test_honest_ones_are_accepted_and_hardly_less(name: str) -> None:
    data, exact = document(name), HONEST[name][2]
    conclusion = data["nodes"][0]["conclusion"]
    if exact is not None:
        assert Fraction(conclusion["epsilon"]) == exact
    if exact == 0:
        return
    for part in (Fraction(1, 10**11), Fraction(1, 10**50)) if exact else (Fraction(1, 10**11),):
        less = copy.deepcopy(data)
        less["nodes"][0]["conclusion"]["epsilon"] = str(Fraction(conclusion["epsilon"]) * (1 - part))
        assert refused(less).field == "nodes[0].conclusion.epsilon"


SUMMED = "def f(x: each(1, whole(0, 1))):\n    return x + discrete_laplace(2) + {}\n"
PARTS = (
    "def f(x: each(1, whole(0, 1))):\n    a = x + discrete_laplace(2)\n    return [a // 3, (a + geometric(1/2)) % 2]\n"
)


@pytest.mark.parametrize(
    "text",
    [
        SUMMED.format("discrete_laplace(2)"),
        SUMMED.format("discrete_laplace(1)"),
        SUMMED.format("geometric(1/2)"),
        PARTS,
    ],
)
def test_sums_of_noise_are_followed(text: str) -> None:
    data: Data = json.loads(certify(proved(text)).document)
    assert Fraction(data["nodes"][0]["conclusion"]["epsilon"]) == Fraction(1, 2)
    data["nodes"][0]["conclusion"]["epsilon"] = "12/25"
    assert refused(data).field == "nodes[0].conclusion.epsilon"
    data["nodes"][0]["conclusion"]["epsilon"] = str(Fraction(1, 2) - Fraction(1, 10**50))
    refused(data)


def test_the_delta_of_a_sum() -> None:
    found = analyze(SUMMED.format("discrete_laplace(2)"))
    certificate = certificate_at(found, delta=Fraction(1, 100))
    data: Data = json.loads(certificate.document)
    conclusion = data["nodes"][0]["conclusion"]
    assert 0.3161 < Fraction(conclusion["epsilon"]) < 0.3162
    conclusion["delta"] = str(Fraction(1, 100) * (1 - Fraction(1, 10**9)))
    assert refused(data).field == "nodes[0].conclusion.delta"


def test_a_delta_is_summed() -> None:
    data = document("laplace")
    conclusion = {**data["nodes"][0]["conclusion"], "kind": "ApproxDP", "epsilon": "0", "delta": "1/4"}
    data["nodes"][0]["conclusion"] = conclusion
    report = check(sealed(data))
    assert report.claim_text.startswith("(0, 0.25)-DP")
    conclusion["delta"] = "1/5"  # the distance is (1 - e^-1/2)/(1 + e^-1/2) = 0.2449...
    assert refused(data).field == "nodes[0].conclusion.delta"


def _set(path: tuple[Any, ...], value: Any) -> Callable[[Data], None]:
    def edit(node: Data) -> None:
        holder: Any = node
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return edit


def _number(old: str, new: str) -> Callable[[Data], None]:
    def edit(node: Data) -> None:
        for one in node["parameters"]["program"]["expressions"]:
            if one == ["number", old]:
                one[1] = new

    return edit


def _drop(kind: str) -> Callable[[Data], None]:
    def edit(node: Data) -> None:
        for block in node["parameters"]["program"]["blocks"]:
            block[:] = [one for one in block if one[0] != kind]

    return edit


ROW = {"change": "replace", "size": 1, "unit": None, "max_rows": None}
EDITS: dict[str, tuple[str, str, Callable[[Data], None]]] = {
    "less noise": ("laplace", "conclusion.epsilon", _number("2", "1")),
    "less noise in a public parameter": ("largest", "conclusion.epsilon", _set(("parameters", "public", 0, 1), "2")),
    "another law": ("laplace", "conclusion.epsilon", lambda n: _law(n, "discrete_exponential")),
    "a coin that tells more": ("response", "conclusion.epsilon", _number("2", "4/3")),
    "no draw": ("laplace", "parameters.program", _drop("draw")),
    "neighbours further apart": (
        "laplace",
        "conclusion.neighbors",
        _set(("parameters", "private", 0, "distance"), "2"),
    ),
    "rows for moved values": ("laplace", "conclusion.neighbors", _set(("conclusion", "neighbors"), ROW)),
    "neighbours of another sort": (
        "response",
        "conclusion.neighbors",
        _set(("conclusion", "neighbors", "change"), "add_remove"),
    ),
    "two rows": ("response", "conclusion.neighbors", _set(("conclusion", "neighbors", "size"), 2)),
    "a unit": ("count", "conclusion.neighbors", _set(("conclusion", "neighbors", "unit"), "person")),
    "lengths with gaps": ("count", "conclusion.neighbors", _set(("parameters", "private", 0, "lengths"), [0, 2])),
    "more values": ("count", "conclusion.epsilon", _set(("parameters", "private", 0, "values"), ["0", "2"])),
    "one value": ("response", "parameters.private", _set(("parameters", "private", 0, "values"), ["0"])),
    "a private input that nobody gives": ("two", "parameters.program", lambda n: n["parameters"]["private"].pop()),
    "the same input twice": ("two", "parameters.private", _set(("parameters", "private", 1, "variable"), 0)),
    "an input that is not there": ("two", "parameters.private", _set(("parameters", "private", 1, "variable"), 99)),
    "a parameter without a value": ("largest", "parameters.program", _set(("parameters", "public"), [])),
    "another unit": ("laplace", "parameters.program", _set(("witness", "unit"), 3)),
    "too fine a unit": ("laplace", "witness.unit", _set(("witness", "unit"), 10**7)),
    "continuous noise": ("laplace", "parameters.program.blocks", lambda n: _law(n, "laplace")),
    "another kind": (
        "laplace",
        "conclusion.kind",
        _set(("conclusion",), {"kind": "ZCDP", "rho": "9", "neighbors": ROW}),
    ),
}


def _law(node: Data, law: str) -> None:
    for block in node["parameters"]["program"]["blocks"]:
        for one in block:
            if one[0] == "draw":
                one[2] = law


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_refused_where_it_is(name: str) -> None:
    which, field, edit = EDITS[name]
    data = document(which)
    edit(data["nodes"][0])
    assert refused(data).field.startswith(f"nodes[0].{field}")


def test_an_edited_program_has_another_hash_in_the_report() -> None:
    data = document("laplace")
    before = check(sealed(data)).programs
    _number("2", "3")(data["nodes"][0])  # more noise: the claim still holds, of another program
    data["nodes"][0]["witness"]["unit"] = 6
    after = check(sealed(data)).programs
    assert before[0] != after[0]
    assert "draw discrete_laplace(3)" in "\n".join(after)


def test_inputs_that_are_left_out_are_said_in_the_neighbours() -> None:
    text = "def f(x: replaced(0, 1, 2)):\n    assume(x < 2)\n    return x ^ flip(1/4)\n"
    report = check(certify(proved(text)).document)
    assert "as assumed" in report.claim_text
    nothing = json.loads(certify(proved(text)).document)
    _number("2", "1")(nothing["nodes"][0])
    assert "meet the assumptions" in refused(nothing).reason


def test_hints_to_forget_are_not_trusted() -> None:
    data = document("largest")
    for block in data["nodes"][0]["parameters"]["program"]["blocks"]:
        block.insert(0, ["forget", 0])
    assert "no value" in refused(data).reason
    plain = document("largest")
    _drop("forget")(plain["nodes"][0])
    assert check(sealed(plain)).claim_text == check(sealed(document("largest"))).claim_text


# --- faults planted in the checker: each would accept too small a claim --------------------------------------------


def _smaller(name: str, epsilon: Fraction) -> bytes:
    data = document(name)
    data["nodes"][0]["conclusion"]["epsilon"] = str(epsilon)
    return sealed(data)


def test_a_fingerprint_that_is_not_looked_at_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    near = Fraction(1, 2) - Fraction(1, 10**60)
    with pytest.raises(Invalid):
        check(_smaller("laplace", near))
    monkeypatch.setattr(programs, "_equal", lambda *_: True)
    check(_smaller("laplace", near))


def test_marks_alone_do_not_make_far_numbers_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even in a field where everything is equal, a claim that is visibly too small is refused."""
    monkeypatch.setattr(weights, "_drawn", lambda _: (3, 1))
    with pytest.raises(Invalid, match=r"conclusion\.epsilon"):
        check(_smaller("laplace", Fraction(1, 2) - Fraction(1, 10**25)))


def test_a_checker_that_misses_neighbours_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, smaller = inputs.neighbouring, _smaller("two", Fraction(11, 10))
    with pytest.raises(Invalid):
        check(smaller)
    monkeypatch.setattr(programs, "neighbouring", lambda *given: [one for one in whole(*given) if _one_moves(one)])
    check(smaller)


def _one_moves(pair: tuple[Any, Any]) -> bool:
    (x, y), (moved_x, moved_y) = pair
    return (x != moved_x) is not (y != moved_y)


def test_a_checker_that_splits_wrongly_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = tails.split

    def swapped(state: Any, gap: Any, field: Any) -> Any:
        parts = honest(state, gap, field)
        shares = [share for _, share in parts][::-1]
        return [(part, share) for (part, _), share in zip(parts, shares, strict=True)]

    monkeypatch.setattr(following, "split", swapped)
    with pytest.raises(Invalid):
        check(sealed(document_of_largest()))


def document_of_largest() -> Data:
    """Made while the checker is at fault, so without asking it."""
    text, known, _ = HONEST["largest"]
    proof = proved(text, **known)
    node = {
        "rule": proof.rule,
        "premises": [],
        "parameters": json.loads(json.dumps(_thawed(proof.parameters))),
        "witness": dict(proof.witness),
        "conclusion": encode(proof.conclusion),
    }
    return {"schema": "privately.certificate/1", "subject": None, "nodes": [node]}


def _thawed(value: Any) -> Any:
    if hasattr(value, "items"):
        return {name: _thawed(one) for name, one in value.items()}
    return [_thawed(one) for one in value] if isinstance(value, tuple) else value


# --- programs that mean nothing ------------------------------------------------------------------------------------


def nonsense(chance: random.Random) -> Data:
    """Any operator on anything, in any order."""
    expressions: list[list[Any]] = [["variable", k] for k in range(3)]
    expressions += [["number", str(chance.choice([0, 1, 2, 3, -1, "1/2", "1/3", 10**6]))] for _ in range(4)]
    for _ in range(chance.randint(1, 12)):
        kind, (count, _) = chance.choice([*OPERATORS.items(), *LAZY])
        size = chance.randint(0, 3) if count is None else count
        expressions.append([kind, *(chance.randrange(len(expressions)) for _ in range(size))])
        if chance.random() < 0.15:
            one, source, condition = (chance.randrange(len(expressions)) for _ in range(3))
            expressions.append(["each", one, chance.randrange(3), source, condition])
    blocks: list[list[list[Any]]] = []
    for _ in range(chance.randint(1, 5)):
        blocks.append([_statement(chance, len(expressions), len(blocks)) for _ in range(chance.randint(0, 4))])
    blocks[-1].append(["return", chance.randrange(len(expressions))])
    lengths = chance.choice([None, [1], [0, 1], [2]])
    private = {"variable": 0, "change": "replaced", "distance": None, "values": ["0", "1"], "lengths": lengths}
    program = {"variables": ["x", "y", "z"], "expressions": expressions, "blocks": blocks}
    parameters = {"program": program, "private": [private], "public": [[1, chance.choice(["2", ["1", "1/2"], []])]]}
    conclusion = {"kind": "PureDP", "epsilon": "1", "neighbors": ROW}
    node = {"rule": "finite_program", "premises": [], "parameters": parameters, "witness": {"unit": 6}}
    return {"schema": "privately.certificate/1", "subject": None, "nodes": [{**node, "conclusion": conclusion}]}


LAZY: list[tuple[str, tuple[int | None, Any]]] = [("and", (2, None)), ("or", (2, None)), ("if", (3, None))]


def _statement(chance: random.Random, expressions: int, blocks: int) -> list[Any]:
    form = chance.choice([kind for kind in STATEMENTS if blocks or "block" not in STATEMENTS[kind]])
    ends = {"variable": 3, "expression": expressions, "block": blocks}
    return [
        form,
        *(chance.choice(list(LAWS)) if one == "law" else chance.randrange(ends[one]) for one in STATEMENTS[form]),
    ]


def refusals_of_nonsense(rounds: int, seed: int) -> list[str]:
    """Where they are refused; empty texts for those that are accepted."""
    chance, found = random.Random(seed), list[str]()
    for _ in range(rounds):
        try:
            check(sealed(nonsense(chance)))
        except Invalid as refusal:
            found.append(refusal.field)
        else:
            found.append("")
    return found


def test_nonsense_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "Work", lambda: Work(20_000))
    found = refusals_of_nonsense(150, 11)
    assert all(not field or field.startswith("nodes[0]") for field in found)
    assert found.count("") > 2


@pytest.mark.slow
def test_much_nonsense_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "Work", lambda: Work(100_000))
    found = refusals_of_nonsense(10_000, 12)
    assert all(not field or field.startswith("nodes[0]") for field in found)
    assert found.count("") > 200
