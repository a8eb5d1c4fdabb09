"""A release binds its value, its error bars and its certificate to one another."""

import copy
import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privately import Interval, Release
from privately.certificates import Certificate, certify
from privately.errors import CertificateInvalid, InvalidParameter, Unproved
from privately.guarantees import PureDP, rules
from tests.certificates.examples import from_tables

VALUE = {"ward": ["a", "b"], "count": [3, None]}
BARS = {"count": Interval(1, 5)}


@pytest.fixture
def release() -> Release:
    return Release.of(VALUE, from_tables()["zcdp"], intervals=BARS)


def test_it_carries_guarantee_and_proof(release: Release) -> None:
    assert release.guarantee == from_tables()["zcdp"].conclusion
    assert release.value["count"] == (3, None)
    assert release.intervals["count"] == Interval(1, 5)


def test_canonical_bytes_round_trip(release: Release) -> None:
    document = release.to_bytes()
    assert Release.from_bytes(document) == release
    assert Release.from_bytes(document).to_bytes() == document
    assert Release.of(VALUE, from_tables()["zcdp"], intervals=BARS).to_bytes() == document


def test_save_and_load(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json") == release


def test_nothing_assumed_is_released() -> None:
    with pytest.raises(Unproved, match="the vendor says so"):
        Release.of(1, rules.assumption(PureDP(epsilon=1), statement="the vendor says so"))
    with pytest.raises(CertificateInvalid, match="assumption"):
        Release(value=1, certificate=certify(rules.suppose(PureDP(epsilon=1))))


def test_a_certificate_of_another_value_is_refused(release: Release) -> None:
    with pytest.raises(CertificateInvalid, match="another value"):
        Release(value=7, intervals=release.intervals, certificate=release.certificate)
    with pytest.raises(CertificateInvalid, match="another value"):
        Release(value=release.value, intervals={}, certificate=release.certificate)


def replace_value(data: dict[str, Any]) -> None:
    data["value"] = 4


def widen_interval(data: dict[str, Any]) -> None:
    data["intervals"]["count"] = ["0", "9"]


def unknown_member(data: dict[str, Any]) -> None:
    data["note"] = "hello"


def other_schema(data: dict[str, Any]) -> None:
    data["schema"] = "privately.release/2"


def broken_interval(data: dict[str, Any]) -> None:
    data["intervals"]["count"] = ["5", "x"]


def no_certificate(data: dict[str, Any]) -> None:
    data["certificate"] = {}


@pytest.mark.parametrize(
    "edit", [replace_value, widen_interval, unknown_member, other_schema, broken_interval, no_certificate]
)
def test_edited_releases_are_refused(release: Release, edit: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(release.to_bytes())
    edit(data)
    with pytest.raises(CertificateInvalid):
        Release.from_bytes(json.dumps(data).encode())


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b"\xff", b"[" * 10**5, b"7"])
def test_what_is_no_release_is_refused(document: bytes) -> None:
    with pytest.raises(CertificateInvalid):
        Release.from_bytes(document)


def test_one_release_has_one_spelling(release: Release) -> None:
    document = release.to_bytes()
    for other in (
        b'{"value":999,' + document[1:],
        b"\xef\xbb\xbf" + document,
        document + b"\n",
        json.dumps(json.loads(document), indent=1).encode(),
        document.decode().encode("utf-16"),
    ):
        with pytest.raises(CertificateInvalid):
            Release.from_bytes(other)


def test_numbers_that_would_take_for_ever_are_refused() -> None:
    document = Release.of(Fraction(1, 3), from_tables()["zcdp"]).to_bytes()
    with pytest.raises(CertificateInvalid):
        Release.from_bytes(document.replace(b'"1/3"', b'"1e99999999"'))
    for long in (10**5000, Fraction(1, 10**5000)):
        with pytest.raises(InvalidParameter, match="value"):
            Release.of(long, from_tables()["zcdp"])


def test_wrong_types_are_named() -> None:
    proof: Any = from_tables()["zcdp"]
    for field, attempt in (
        ("derivation", lambda: Release.of(1, "x")),  # type: ignore[arg-type]
        ("intervals", lambda: Release.of(1, proof, intervals=[1])),  # type: ignore[arg-type]
        ("certificate", lambda: Release(value=1, certificate="x")),  # type: ignore[arg-type]
        ("derivation", lambda: certify(PureDP(epsilon=1))),  # type: ignore[arg-type]
        ("subject", lambda: certify(proof, subject=7)),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidParameter) as caught:
            attempt()
        assert caught.value.field == field


def test_a_certificate_cannot_lie_by_inheritance() -> None:
    with pytest.raises(TypeError):
        type("Lie", (Certificate,), {})


def test_equal_releases_hash_alike(release: Release) -> None:
    assert len({release, Release.from_bytes(release.to_bytes())}) == 1


def test_it_travels_and_is_checked_on_arrival(release: Release) -> None:
    assert pickle.loads(pickle.dumps(release)) == release
    assert copy.deepcopy(release) == release


def test_it_cannot_be_changed(release: Release) -> None:
    with pytest.raises(AttributeError):
        release.value = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        release.value["count"] = 3


def test_intervals_must_be_intervals() -> None:
    with pytest.raises(InvalidParameter, match="intervals"):
        Release.of(1, from_tables()["zcdp"], intervals={"a": (1, 2)})  # type: ignore[dict-item]
