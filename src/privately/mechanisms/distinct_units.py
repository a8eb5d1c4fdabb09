"""How many different units have each key, with no unit in more keys than allowed.

Which keys of a unit count is decided by a keyed hash of the unit and the key. So it depends neither on the order of
the rows nor on anybody else: if it did, one unit more could change the keys of all the others.
"""

from __future__ import annotations

import hmac
from collections.abc import Hashable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from privately.errors import InvalidParameter
from privately.mechanisms.randomness import Randomness
from privately.rounding import MAX_BITS

SECRET_BYTES = 32
LARGEST_COUNT = 2**62
_RANKS: dict[type, int] = {int: 1, str: 2, bytes: 3}
_TUPLE = 4
_PAIRS = "must be pairs of a unit and a key."
_WRONG = "may hold texts, whole numbers, bytes, None and tuples of these."

Token = tuple[Any, ...]
"""A value with the rank of its type before it, so that all can be sorted.

There are neither truth values nor floats: True == 1 == 1.0 would be one key or another by who else is in the data.
"""


def token(value: Any, field: str) -> Token:
    """The canonical form of a unit or a key."""
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None:
        return (0,)
    if type(plain) is tuple:
        return (_TUPLE, *(token(part, field) for part in plain))
    if type(plain) not in _RANKS or (type(plain) is int and plain.bit_length() > MAX_BITS):
        raise InvalidParameter(field, _WRONG)
    return _RANKS[type(plain)], plain


def original(of: Token) -> Hashable:
    """The value of a token."""
    rank, *rest = of
    if rank == _TUPLE:
        return tuple(original(part) for part in rest)
    return rest[0] if rest else None


def read_pairs(pairs: Any) -> list[tuple[Token, Token]]:
    """All (unit, key) pairs, or an error before anything else happens."""
    if not isinstance(pairs, Iterable) or (isinstance(pairs, np.ndarray) and pairs.ndim == 0):
        raise InvalidParameter("value", _PAIRS)
    return [_read_pair(pair) for pair in pairs]


def count_units(pairs: Iterable[tuple[Token, Token]], *, keys: int, secret: bytes) -> dict[Token, int]:
    """From (unit, key) pairs to the number of different units of each key, with at most `keys` keys for a unit.

    Theorem: which pairs of a unit are counted is a function of the set of its own pairs and of the secret; so adding or
        removing a unit changes at most `keys` counts, each by one, for every secret.
    Reference: Wilson-et-al 2020
    Proof: docs/theory/mechanisms.md#the-keys-of-a-unit
    Checked-by: tests/mechanisms/test_distinct_units.py::test_a_unit_changes_few_counts_by_one_and_no_others
    """
    kept: dict[Token, set[Token]] = {}
    for unit, key in pairs:
        kept.setdefault(unit, set()).add(key)
    counts: dict[Token, int] = {}
    for unit, own in kept.items():
        for key in own if len(own) <= keys else _lowest(unit, own, keys, secret):
            counts[key] = counts.get(key, 0) + 1
    return counts


def read_counts(counts: Mapping[Any, Any]) -> dict[Token, int]:
    """The same from numbers of units that were bounded elsewhere; keys without a unit are left out."""
    found = {token(key, "value"): read_count(count, minimum=0) for key, count in counts.items()}
    return {key: count for key, count in found.items() if count}


def read_count(count: Any, *, minimum: int) -> int:
    """A whole number of at most 2^62; the error does not say what it was, as that is private."""
    if isinstance(count, bool) or not isinstance(count, Integral) or not minimum <= int(count) <= LARGEST_COUNT:
        negative = "" if minimum < 0 else " and not negative"
        raise InvalidParameter("value", f"has a count that is not whole{negative}, or beyond 2^62.")
    return int(count)


def draw_secret(randomness: Randomness) -> bytes:
    """A key for the hash."""
    return bytes(int(byte) for byte in randomness.uniform(upper=256, size=SECRET_BYTES))


def _lowest(unit: Token, own: set[Token], keys: int, secret: bytes) -> list[Token]:
    return sorted(own, key=lambda key: (hmac.digest(secret, ascii((unit, key)).encode(), "sha256"), key))[:keys]


def _read_pair(pair: Any) -> tuple[Token, Token]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidParameter("value", _PAIRS)
    unit, key = pair
    if unit is None:
        raise InvalidParameter("value", "has a pair without a unit; nobody can say how many people that is.")
    return token(unit, "value"), token(key, "value")
