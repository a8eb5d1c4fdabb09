"""Release: the form in which every answer leaves the system."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import Any

from privately.certificates import Certificate, certify, check
from privately.certificates.checker import canonical_bytes, content_hash
from privately.certificates.files import read_limited, write_whole
from privately.errors import CertificateInvalid, InvalidParameter, Unproved
from privately.guarantees import Derivation, Guarantee
from privately.releases.values import decode_interval, decode_value, encode_interval, encode_value, freeze
from privately.rounding import Interval

SCHEMA = "privately.release/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A value, its error bars, its guarantee and the certificate of that guarantee.

    The certificate names the hash of the value and its intervals, so neither can be exchanged unnoticed, and it is
    checked whenever a Release is made or loaded. What that does *not* show: that the value came from the mechanism.
    """

    value: Any
    certificate: Certificate
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    _content: Mapping[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.certificate, Certificate):
            raise InvalidParameter("certificate", f"{self.certificate!r} is not a Certificate.")
        object.__setattr__(self, "value", freeze(self.value))
        object.__setattr__(self, "intervals", _frozen_intervals(self.intervals))
        object.__setattr__(self, "_content", _content(self.value, self.intervals))
        check(self.certificate)
        if self.certificate.subject != content_hash(self._content):
            raise CertificateInvalid("subject", "the certificate belongs to another value or other intervals.")

    @classmethod
    def of(cls, value: Any, derivation: Derivation, *, intervals: Mapping[str, Interval] | None = None) -> Release:
        """Certifies the derivation for this value. Unproved when it rests on assumptions."""
        if not isinstance(derivation, Derivation):
            raise InvalidParameter("derivation", f"{derivation!r} is not a Derivation.")
        if derivation.assumptions:
            raise Unproved(
                f"the guarantee rests on an assumption: {derivation.assumptions[0]}.",
                hint="Derive it from a mechanism instead.",
            )
        parts: dict[str, Any] = {"value": freeze(value), "intervals": _frozen_intervals(intervals or {})}
        parts["_content"] = _content(parts["value"], parts["intervals"])
        subject = content_hash(parts["_content"])
        parts["certificate"] = certify(derivation, subject=subject, allow_assumptions=False)
        release = object.__new__(cls)  # all that __post_init__ does is done
        for name, part in parts.items():
            object.__setattr__(release, name, part)
        return release

    @property
    def guarantee(self) -> Guarantee:
        """What the certificate claims."""
        return self.certificate.guarantee

    def __reduce__(self) -> tuple[Any, ...]:
        return Release.from_bytes, (self.to_bytes(),)

    def __hash__(self) -> int:
        return hash(self.certificate)

    def to_bytes(self) -> bytes:
        """Canonical: equal releases give equal bytes."""
        return canonical_bytes({"schema": SCHEMA, **self._content, "certificate": dict(self.certificate.data)})

    @classmethod
    def from_bytes(cls, document: bytes) -> Release:
        """Reads and checks what `to_bytes` wrote."""
        try:
            data = json.loads(document)
            if data.keys() != {"schema", "value", "intervals", "certificate"} or data["schema"] != SCHEMA:
                raise CertificateInvalid("schema", f"not a release of the form {SCHEMA}.")
            certificate = Certificate.parse(json.dumps(data["certificate"]).encode())
            intervals = {str(name): decode_interval(ends) for name, ends in data["intervals"].items()}
            release = cls(value=decode_value(data["value"]), intervals=intervals, certificate=certificate)
        except InvalidParameter as fault:
            raise CertificateInvalid(fault.field, fault.message) from None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError, ZeroDivisionError) as fault:
            raise CertificateInvalid("release", f"not a readable release ({type(fault).__name__}).") from None
        if release.to_bytes() != document:
            raise CertificateInvalid("release", "not in canonical form: one release has one spelling.")
        return release

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the file whole or not at all."""
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Release:
        """Reads and checks a file."""
        return cls.from_bytes(read_limited(path))


def _frozen_intervals(intervals: Mapping[str, Interval]) -> Mapping[str, Interval]:
    if not isinstance(intervals, Mapping):
        raise InvalidParameter("intervals", "give a mapping from names to Intervals.")
    for name, interval in intervals.items():
        if not isinstance(name, str) or not isinstance(interval, Interval):
            raise InvalidParameter("intervals", "give a mapping from names to Intervals.")
    return MappingProxyType(dict(intervals))


def _content(value: Any, intervals: Mapping[str, Interval]) -> dict[str, Any]:
    encoded = {name: encode_interval(interval) for name, interval in intervals.items()}
    return {"value": encode_value(value), "intervals": encoded}
