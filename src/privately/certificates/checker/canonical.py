"""The one way to write a certificate, and its hash."""

import json
from collections.abc import Mapping
from hashlib import sha256


def canonical_bytes(value: object) -> bytes:
    """Keys sorted, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


def content_hash(content: Mapping[str, object]) -> str:
    """The hash of a certificate's content: of its canonical form without the member `hash`, if it is there."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    return "sha256:" + sha256(canonical_bytes(rest)).hexdigest()


def is_hash(value: object) -> bool:
    """Whether a value has the form of a hash."""
    return (
        isinstance(value, str)
        and len(value) == 71
        and value.startswith("sha256:")
        and set(value[7:]) <= set("0123456789abcdef")
    )
