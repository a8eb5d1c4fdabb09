"""No edit makes a certificate claim more than is true, however carefully its hash is repaired."""

import json
import random
from collections.abc import Sequence
from typing import cast

import pytest

from privately.certificates import certify, check
from privately.certificates.checker import Invalid, read_certificate
from privately.certificates.checker.rules import RULES, Rule
from privately.certificates.checking import check_bytes
from privately.errors import CertificateInvalid
from privately.guarantees import Derivation
from tests.certificates.examples import from_assumptions, from_mechanisms, from_tables
from tests.certificates.tampering import Data, deserved, edited, replays, sealed

SEED = 20260


def originals() -> list[Data]:
    """All examples; and their leaves alone, where an edit of a leaf is one of the claim."""
    whole = [*from_tables().values(), *from_assumptions().values()]
    parts = [node for one in from_mechanisms().values() for node in one.nodes() if not node.premises]
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
