"""No edit makes a certificate claim more than is true, however carefully its hash is repaired."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from privately.certificates import certify, check
from privately.certificates.checker import Invalid, read_certificate
from privately.certificates.checker.rules import RULES, Rule
from privately.certificates.checker.statements import GUARANTEES
from privately.certificates.checking import check_bytes
from privately.errors import CertificateInvalid, NoSuchRule
from privately.guarantees import Derivation, Neighbors, rules
from tests.certificates.examples import from_assumptions, from_mechanisms, from_plans, from_programs, from_tables
from tests.certificates.replaying import deserved, replays
from tests.certificates.tampering import Data, edited, sealed

SEED = 20260


def originals() -> list[Data]:
    """All examples; and their leaves alone, where an edit of a leaf is one of the claim."""
    whole = [*from_tables().values(), *from_assumptions().values()]
    given = [*from_mechanisms().values(), *from_programs().values()]
    nodes = [node for one in given for node in one.nodes() if not node.premises]
    parts = [node for node in nodes if isinstance(node, Derivation)]
    return [json.loads(certify(one).document) for one in [*whole, *parts]]


@pytest.mark.parametrize("name", from_tables())
def test_complete_proofs_check(name: str) -> None:
    certificate = certify(from_tables()[name])
    report = check(certificate)
    assert not report.assumptions
    assert replays(json.loads(certificate.document))


@pytest.mark.parametrize("derivation", from_assumptions().values(), ids=list(from_assumptions()))
def test_conditional_proofs_need_permission(derivation: Derivation) -> None:
    certificate = certify(derivation)
    with pytest.raises(CertificateInvalid, match="assumption"):
        check(certificate)
    assert check(certificate, allow_assumptions=True).assumptions


def test_every_rule_of_the_checker_is_exercised() -> None:
    used = {node["rule"] for data in originals() for node in data["nodes"]}
    assert used == set(RULES)


def tamper(rounds: int, seed: int, pool: Sequence[Data] = ()) -> tuple[int, int]:
    """How many of the edited certificates were still well-formed, and how many were accepted."""
    chance = random.Random(seed)
    pool = pool or originals()
    well_formed = accepted = 0
    for _ in range(rounds):
        original = chance.choice(pool)
        data = edited(original, chance)
        if data == original:
            continue
        document = sealed(data)
        try:
            read_certificate(document)
        except Invalid:
            continue
        well_formed += 1
        try:
            check_bytes(document, allow_assumptions=True)
        except CertificateInvalid:
            continue
        accepted += 1
        assert deserved(original, data), f"seed {seed}: {document.decode()}"
    return well_formed, accepted


def test_a_thousand_edits_strengthen_nothing() -> None:
    well_formed, accepted = tamper(1500, SEED)
    assert well_formed >= 500
    assert 0 < accepted < well_formed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_many_edits_strengthen_nothing(seed: int) -> None:
    well_formed, _ = tamper(10_000, SEED + 1 + seed)
    assert well_formed >= 3000


@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if rule.premises == 0 and name != "assumption"])
def test_a_leaf_that_accepts_everything_is_caught(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = [data for data in originals() if any(node["rule"] == rule for node in data["nodes"])]
    monkeypatch.setitem(cast(dict[str, Rule], RULES), rule, RULES[rule]._replace(check=lambda _: None))
    with pytest.raises(AssertionError, match=f"seed {SEED}"):
        tamper(1500, SEED, pool)


STEPS = [name for name, rule in RULES.items() if rule.gives != GUARANTEES]
DERIVED = [name for name, rule in RULES.items() if rule.derived is not None]


@pytest.mark.parametrize("rule", STEPS)
def test_a_step_that_accepts_everything_is_caught(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = plans(rule)
    monkeypatch.setitem(cast(dict[str, Rule], RULES), rule, RULES[rule]._replace(check=lambda _: None))
    with pytest.raises(AssertionError, match=f"seed {SEED}"):
        tamper(4000, SEED, pool)


@pytest.mark.parametrize("rule", DERIVED)
def test_noise_that_forgets_its_premise_is_caught(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    free = (RULES[rule].derived or RULES[rule])._replace(check=lambda _: None)
    pool = plans(rule)
    monkeypatch.setitem(cast(dict[str, Rule], RULES), rule, RULES[rule]._replace(derived=free))
    with pytest.raises(AssertionError, match=f"seed {SEED}"):
        tamper(4000, SEED, pool)


def plans(rule: str) -> list[Data]:
    """Each mechanism of the plans that use a rule, alone."""
    mechanisms = [
        node
        for one in from_plans().values()
        for node in one.nodes()
        if isinstance(node, Derivation) and any(premise.rule in STEPS for premise in node.premises)
    ]
    return [json.loads(certify(one).document) for one in mechanisms if any(node.rule == rule for node in one.nodes())]


def test_many_edits_of_plans_strengthen_nothing() -> None:
    pool = [json.loads(certify(one).document) for one in from_plans().values()]
    well_formed, accepted = tamper(1200, SEED, pool)
    assert well_formed >= 500
    assert 0 < accepted < well_formed


# --- one edit at a time ---------------------------------------------------------------------------------------------

SINGLE: dict[str, tuple[str, Callable[[Data], object]]] = {
    "fewer rows in the scan": ("nodes[1].conclusion.rows", lambda d: _set(d, 0, rows=5)),
    "fewer rows from the filter on": ("nodes[1].conclusion.rows", lambda d: _set(d, 1, 2, 3, rows=5)),
    "fewer groups of a unit": ("nodes[3].conclusion.groups", lambda d: _set(d, 3, groups=3)),
    "fewer rows in a group": ("nodes[3].conclusion.rows_per_group", lambda d: _set(d, 3, rows_per_group=1)),
    "fewer groups listed": ("nodes[3].conclusion.listed", lambda d: _set(d, 3, listed=2)),
    "groups that were listed are not": ("nodes[3].conclusion.listed", lambda d: _set(d, 3, listed=None)),
    "fewer values of a key": (
        "nodes[3].conclusion.groups",
        lambda d: d["nodes"][3]["parameters"]["keys"][0].update(values=1),
    ),
    "a smaller sensitivity": ("nodes[4].conclusion.value", lambda d: _set(d, 4, value="599999/100000")),
    "a smaller norm": ("nodes[5].premises[0]", lambda d: _set(d, 4, norm="L2", value="4")),
    "a replaced unit, in one step": (
        "nodes[4].conclusion.neighbors",
        lambda d: d["nodes"][4]["conclusion"]["neighbors"].update(change="replace"),
    ),
    "a replaced unit, everywhere": (
        "nodes[4].conclusion.value",
        lambda d: [node["conclusion"]["neighbors"].update(change="replace") for node in d["nodes"]],
    ),
    "the unit of another table": (
        "nodes[1].conclusion.neighbors",
        lambda d: d["nodes"][0]["conclusion"]["neighbors"].update(unit="doctor"),
    ),
    "a row for a unit": (
        "nodes[0].conclusion.rows",
        lambda d: [node["conclusion"]["neighbors"].update(unit=None) for node in d["nodes"]],
    ),
    "groups before the filter": ("nodes[2].premises[0]", lambda d: _swap(d, 1, 3)),
    "a count without groups": ("nodes[3].premises[0]", lambda d: _drop(d, 3)),
    "a filter that is gone": ("nodes[1]", lambda d: d["nodes"][2].update(premises=[0])),
    "noise with a smaller claim": ("nodes[5].conclusion.epsilon", lambda d: _set(d, 5, epsilon="49/100")),
    "the same twice": ("nodes[5].parameters", lambda d: d["nodes"][5]["parameters"].update(sensitivity="1")),
}


def _set(data: Data, *places: int, **members: Any) -> None:
    for place in places:
        data["nodes"][place]["conclusion"].update(members)


def _drop(data: Data, place: int) -> None:
    """As if a step had never been there."""
    del data["nodes"][place]
    for node in data["nodes"][place:]:
        node["premises"] = [premise - 1 for premise in node["premises"]]


def _swap(data: Data, one: int, other: int) -> None:
    """Two steps change places; the premises stay those before them."""
    nodes = data["nodes"]
    nodes[one], nodes[other] = nodes[other], nodes[one]
    for place in (one, other):
        nodes[place]["premises"] = [place - 1]


@pytest.mark.parametrize("name", SINGLE)
def test_an_edit_of_a_step_is_refused_where_it_is(name: str) -> None:
    rows = from_plans()["counts"].premises[0]
    assert isinstance(rows, Derivation)
    data = json.loads(certify(rows).document)
    assert [node["rule"] for node in data["nodes"]] == CHAIN
    field, edit = SINGLE[name]
    edit(data)
    with pytest.raises(CertificateInvalid) as refused:
        check_bytes(sealed(data), allow_assumptions=False)
    assert refused.value.field.startswith(field)


CHAIN = ["scan_rows", "filter_rows", "project_rows", "group_rows", "count_rows", "discrete_laplace"]


def test_a_filter_that_was_left_out_carefully_changes_no_number() -> None:
    """The claim is that of the same question about all rows; whose certificate it is, the subject says."""
    rows = from_plans()["counts"].premises[0]
    assert isinstance(rows, Derivation)
    data = json.loads(certify(rows).document)
    _drop(data, 1)
    assert check_bytes(sealed(data), allow_assumptions=False).claim.plain() == data["nodes"][-1]["conclusion"]


def _of_parts(data: Data) -> None:
    data["nodes"][-1].update(rule="parallel_by_value", parameters={})


def _of_a_sample(data: Data) -> None:
    _add(data, "poisson_sampling", {"rate": "1/2"})


def _of_a_drawn_sample(data: Data) -> None:
    _add(data, "sampling_without_replacement", {"sample": 1, "population": 2})
    for node in data["nodes"]:
        node["conclusion"]["neighbors"].update(change="replace")


def _of_another_unit(data: Data) -> None:
    _add(data, "bounded_unit", {})
    data["nodes"][-1]["conclusion"]["neighbors"].update(unit="doctor", max_rows=1)


def _add(data: Data, rule: str, parameters: Data) -> None:
    nodes = data["nodes"]
    conclusion = json.loads(json.dumps(nodes[-1]["conclusion"]))
    node = {"rule": rule, "parameters": parameters, "witness": {}, "conclusion": conclusion}
    nodes.append({**node, "premises": [len(nodes) - 1]})


@pytest.mark.parametrize("edit", [_of_parts, _of_a_sample, _of_a_drawn_sample, _of_another_unit])
def test_what_is_of_a_table_is_of_all_its_rows(edit: Callable[[Data], None]) -> None:
    """Even where the claim becomes no smaller by it."""
    groups = rules.group_rows(rules.scan_rows(table="visits", neighbors=Neighbors.ADD_REMOVE))
    noisy = rules.discrete_laplace(scale=2, sensitivity=rules.count_rows(groups, norm="L1"))
    total = rules.discrete_laplace(scale=3, sensitivity=rules.count_rows(groups, norm="L1", argument="cost"))
    data = json.loads(certify(rules.sequential(noisy, total)).document)
    edit(data)
    with pytest.raises(CertificateInvalid) as refused:
        check_bytes(sealed(data), allow_assumptions=False)
    assert "about all of its rows" in str(refused.value)


@pytest.mark.parametrize(
    "rule",
    [
        lambda one: rules.parallel_by_value(one, one),
        lambda one: rules.poisson_sampling(one, rate="1/2"),
        lambda one: rules.sampling_without_replacement(one, sample=1, population=2),
        lambda one: rules.bounded_unit(one, unit="doctor"),
    ],
)
def test_no_rule_takes_a_table_for_a_part_of_it(rule: Callable[[Derivation], Derivation]) -> None:
    with pytest.raises(NoSuchRule, match="all of its rows"):
        rule(from_plans()["counts"])


def test_the_oracle_would_notice_a_checker_that_accepts_too_much() -> None:
    chance = random.Random(SEED)
    missed = 0
    pool = originals()[:4]
    for _ in range(300):
        original = chance.choice(pool)
        data = edited(original, chance)
        try:
            read_certificate(sealed(data))
        except Invalid:
            continue
        missed += not deserved(original, data)
    assert missed > 50
