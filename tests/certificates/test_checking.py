"""`check` turns the checker's refusals into our errors, and names the field."""

import json
from pathlib import Path

import pytest

from privately.certificates import certify, check
from privately.certificates.checking import check_bytes
from privately.errors import CertificateInvalid
from tests.certificates.examples import from_assumptions, from_tables

DEEP = b"[" * 100_000 + b"]" * 100_000


def test_a_report_says_what_is_claimed_and_what_is_trusted() -> None:
    report = check(certify(from_tables()["survey"]))
    assert report.node_count == 3
    assert report.claim_text.endswith("replacing one row")
    assert any("released value" in sentence for sentence in report.trusted)


def test_assumptions_are_listed_when_allowed() -> None:
    certificate = certify(from_assumptions()["listed"])
    with pytest.raises(CertificateInvalid) as caught:
        check(certificate)
    assert caught.value.field == "nodes[0].rule"
    assert len(check(certificate, allow_assumptions=True).assumptions) == 1


@pytest.mark.parametrize(
    "document",
    [b"", b"{", b"\xff\xfe", b"null", b"[]", b"{}", DEEP, b'{"a":1,"a":2}', b'{"nodes":NaN}', b"1" * 10_000],
    ids=["empty", "cut", "binary", "null", "list", "no members", "deep", "duplicate", "nan", "long number"],
)
def test_what_is_no_certificate_is_refused(document: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(document)
    with pytest.raises(CertificateInvalid):
        check_bytes(document, allow_assumptions=True)
    with pytest.raises(CertificateInvalid):
        check(path)


def test_the_field_is_named() -> None:
    data = json.loads(certify(from_tables()["survey"]).document)
    data["nodes"][1]["parameters"]["surprise"] = 1
    with pytest.raises(CertificateInvalid) as caught:
        check_bytes(json.dumps(data).encode(), allow_assumptions=False)
    assert caught.value.field.startswith("nodes[1].parameters")
    assert "surprise" in str(caught.value)


def test_cycles_cannot_be_written() -> None:
    data = json.loads(certify(from_tables()["survey"]).document)
    data["nodes"][1]["premises"] = [1]
    with pytest.raises(CertificateInvalid, match="earlier"):
        check_bytes(json.dumps(data).encode(), allow_assumptions=False)
