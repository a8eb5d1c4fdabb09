"""Certificates are canonical, checked when made and when read, and survive the disk."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates import Certificate, certify, check
from privately.certificates.certificate import SCHEMA
from privately.errors import CertificateInvalid, InvalidParameter
from privately.guarantees import ApproxDP, Derivation, GaussianDP, PureDP, rules
from tests.certificates.examples import from_tables


@pytest.fixture
def certificate() -> Certificate:
    return certify(from_tables()["optimal"])


def test_it_is_canonical_json_with_its_own_hash(certificate: Certificate) -> None:
    data = json.loads(certificate.document)
    again = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    assert again == certificate.document
    assert data["schema"] == SCHEMA
    assert certificate.hash == data["hash"]
    assert certificate.subject is None


def test_it_claims_the_conclusion() -> None:
    for derivation in from_tables().values():
        assert certify(derivation).guarantee == derivation.conclusion


def test_shared_premises_are_written_once() -> None:
    leaf = rules.suppose(PureDP(epsilon=1))
    nodes = certify(rules.sequential(leaf, leaf, leaf)).data["nodes"]
    assert len(nodes) == 2
    assert nodes[1]["premises"] == [0, 0, 0]


@given(st.lists(st.fractions(min_value=0, max_value=5, max_denominator=10**6), min_size=1, max_size=12))
def test_what_the_rules_derive_the_checker_accepts(epsilons: list[Fraction]) -> None:
    leaves = [rules.suppose(PureDP(epsilon=epsilon)) for epsilon in epsilons]
    certified = certify(rules.sequential(*leaves))
    assert certified.guarantee == PureDP(epsilon=sum(epsilons))


@given(
    st.fractions(min_value=0, max_value=4, max_denominator=10**9),
    st.fractions(min_value=0, max_value=1, max_denominator=10**9),
    st.integers(1, 6),
)
def test_rounded_conclusions_leave_room_for_the_checker(epsilon: Fraction, delta: Fraction, size: int) -> None:
    leaf = rules.suppose(ApproxDP(epsilon=epsilon, delta=delta))
    for derivation in (
        rules.group(leaf, size=size),
        rules.add_remove_to_replace(leaf),
        rules.poisson_sampling(leaf, rate=delta),
        rules.advanced_composition(leaf, counts=[size], slack="0.01"),
        rules.pure_to_zcdp(rules.suppose(PureDP(epsilon=epsilon))),
        rules.pure_to_gaussian(rules.suppose(PureDP(epsilon=epsilon))),
    ):
        certify(derivation)


def test_save_and_load(certificate: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    certificate.save(path)
    assert Certificate.load(path) == certificate
    assert check(path).hash == certificate.hash
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps(json.loads(certificate.document), indent=2))
    assert Certificate.load(pretty) == certificate


def test_load_refuses_what_does_not_check(certificate: Certificate, tmp_path: Path) -> None:
    data = json.loads(certificate.document)
    data["nodes"][-1]["conclusion"]["epsilon"] = "1/100"
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(data))
    with pytest.raises(CertificateInvalid, match="hash"):
        Certificate.load(path)


def test_a_forged_derivation_is_not_certified() -> None:
    forged = object.__new__(Derivation)
    honest = from_tables()["optimal"]
    for name in ("rule", "premises", "parameters", "witness"):
        object.__setattr__(forged, name, getattr(honest, name))
    object.__setattr__(
        forged, "conclusion", ApproxDP(epsilon="0.01", delta="1e-6", neighbors=honest.conclusion.neighbors)
    )
    with pytest.raises(CertificateInvalid, match=r"nodes\[1\]\.conclusion"):
        certify(forged)


def test_a_certificate_larger_than_the_checker_reads_is_refused() -> None:
    long_texts = [rules.assumption(PureDP(epsilon=1), statement=f"{place}" + "x" * 19_000) for place in range(1000)]
    with pytest.raises(CertificateInvalid, match="16 MiB"):
        certify(rules.sequential(*long_texts))


def test_unwritable_places_are_a_typed_error(certificate: Certificate, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="path"):
        certificate.save(tmp_path / "missing" / "certificate.json")
    with pytest.raises(InvalidParameter, match="path"):
        certificate.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_very_long_numbers_come_back() -> None:
    exact = ApproxDP(epsilon=0, delta="1e-1000")
    assert certify(rules.suppose(exact)).guarantee == exact


@pytest.mark.parametrize(
    ("delta", "count"), [("1e-50", 1000), ("0.75", 300), ("0.999999", 50), (Fraction(1, 3), 5000), ("1e-9", 10**6)]
)
def test_many_deltas_leave_room_for_the_checker(delta: str, count: int) -> None:
    leaf = rules.suppose(ApproxDP(epsilon="0.0001", delta=delta))
    certify(rules.advanced_composition(leaf, counts=[count], slack="1e-6"))


@pytest.mark.parametrize("mu", ["2e-60", "1e-132", "1e-40", "1e-39", "1e-20"])
@pytest.mark.parametrize("delta", ["5e-861", "1e-140", "1e-45", "1e-10"])
def test_tiny_gaussians_are_certified(mu: str, delta: str) -> None:
    certify(rules.gaussian_to_approx(rules.suppose(GaussianDP(mu=mu)), delta=delta))


@pytest.mark.parametrize("what", [5, None, b"{}"])
def test_check_wants_a_path(what: object) -> None:
    with pytest.raises(InvalidParameter, match="path"):
        check(what)  # type: ignore[arg-type]
