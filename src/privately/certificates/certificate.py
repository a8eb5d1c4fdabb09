"""Certificates: derivations written down so that a stranger can check them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, NoReturn

from privately.certificates import checker
from privately.certificates.checking import check_bytes
from privately.certificates.encoding import decode, encode
from privately.certificates.files import read_limited, write_whole
from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Guarantee

SCHEMA = "privately.certificate/1"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A derivation as canonical JSON. Whoever holds one can check it; making one proves nothing by itself.

    >>> from privately.guarantees import PureDP, rules
    >>> assumed = rules.assumption(PureDP(epsilon=1), statement="the sensor's vendor says so")
    >>> certify(assumed).guarantee
    PureDP(epsilon=1)
    """

    document: bytes

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Certificate cannot be subclassed")

    @property
    def data(self) -> Mapping[str, Any]:
        """The parsed document."""
        parsed: Mapping[str, Any] = json.loads(self.document)
        return parsed

    @property
    def guarantee(self) -> Guarantee:
        """What is claimed: the conclusion of the last node."""
        return decode(self.data["nodes"][-1]["conclusion"])

    @property
    def hash(self) -> str:
        """The content hash, `sha256:...`."""
        return str(self.data["hash"])

    @property
    def subject(self) -> str | None:
        """The hash of the release it belongs to, if any."""
        found: str | None = self.data["subject"]
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the file whole or not at all."""
        write_whole(path, self.document)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Certificate:
        """Reads and *checks* a file; assumptions are allowed here and listed by `check`."""
        return cls.parse(read_limited(path))

    @classmethod
    def parse(cls, document: bytes) -> Certificate:
        """The same from bytes."""
        check_bytes(document, allow_assumptions=True)
        return cls(checker.canonical_bytes(json.loads(document)))


def certify(derivation: Derivation, *, subject: str | None = None, allow_assumptions: bool = True) -> Certificate:
    """The certificate of a derivation, checked by the independent checker before it is handed out."""
    if not isinstance(derivation, Derivation):
        raise InvalidParameter("derivation", f"{derivation!r} is not a Derivation.")
    if not isinstance(subject, str | None):
        raise InvalidParameter("subject", "must be the hash of a release, as text.")
    nodes = derivation.nodes()
    places = {id(node): place for place, node in enumerate(nodes)}
    content = {
        "schema": SCHEMA,
        "subject": subject,
        "nodes": [
            {
                "rule": node.rule,
                "premises": [places[id(premise)] for premise in node.premises],
                "parameters": _plain(node.parameters),
                "witness": _plain(node.witness),
                "conclusion": encode(node.conclusion),
            }
            for node in nodes
        ],
    }
    document = checker.canonical_bytes({**content, "hash": checker.content_hash(content)})
    check_bytes(document, allow_assumptions=allow_assumptions)
    return Certificate(document)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
