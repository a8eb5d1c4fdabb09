from hashlib import sha256

import pytest

from privately.certificates.checker.canonical import canonical_bytes, content_hash, is_hash


def test_canonical_form() -> None:
    value = {"b": [1, None, "é\n\u2028"], "a": {"d": 1, "c": "x"}}
    assert canonical_bytes(value) == b'{"a":{"c":"x","d":1},"b":[1,null,"\\u00e9\\n\\u2028"]}'


def test_canonical_form_has_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_bytes({"a": float("nan")})


def test_the_hash_leaves_itself_out() -> None:
    expected = "sha256:" + sha256(b'{"a":1,"b":2}').hexdigest()
    assert content_hash({"b": 2, "a": 1}) == expected
    assert content_hash({"b": 2, "a": 1, "hash": "anything"}) == expected
    assert is_hash(expected)


@pytest.mark.parametrize(
    "value", [None, 1, "", "sha256:", "sha256:" + "A" * 64, "sha256:" + "a" * 63, "sha255:" + "a" * 64, ["sha256"]]
)
def test_what_is_no_hash(value: object) -> None:
    assert not is_hash(value)
