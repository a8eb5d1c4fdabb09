import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker import schema
from privately.certificates.checker.schema import Invalid, read_json
from tests.endless import ends


def reason(data: bytes | str) -> str:
    with pytest.raises(Invalid) as caught:
        read_json(data)
    assert caught.value.field == "file"
    return caught.value.reason


plain = st.recursive(
    st.none() | st.booleans() | st.integers(0, 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(plain)
def test_what_json_writes_is_read(value: object) -> None:
    text = json.dumps(value)
    if _depth(value) <= schema.NESTING:
        assert read_json(text) == read_json(text.encode()) == value
    else:
        assert "nested" in reason(text)


def _depth(value: object) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"\x00\x01", "not JSON"),
        (b"\xff\xfe{}", "ASCII"),
        ('{"é": 1}', "ASCII"),
        ("\ufeff{}", "ASCII"),
        (b"{", "brackets"),
        (b"[[}]", "not JSON"),
        (b"[}", "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b'"abc', "not JSON"),
        (b'{"a": 1} x', "not JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'[{"b": {"a": 1, "c": 3, "a": 1}}]', "twice"),
        (b"[" * 17 + b"]" * 17, "nested"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested"),
        (b"[" * 8_000_000, "nested"),
        (b'"\\"' + b"[" * 1000, "not JSON"),
        (b'\\"' + b"[" * 1000, "nested"),
        (b" " * (schema.FILE_BYTES + 1), "16 MiB"),
    ],
)
def test_hostile_text(data: bytes | str, words: str) -> None:
    with ends():
        assert words in reason(data)


@pytest.mark.parametrize("text", ["1.5", "1e5", "1E-400", "NaN", "Infinity", "-Infinity", "-0", "9" * 5000])
def test_numbers_that_no_field_allows(text: str) -> None:
    value = read_json(f"[{text}]")
    assert isinstance(value, list)
    for reader in (schema.rational, schema.text, schema.array, lambda found, field: schema.integer(found, field, 0)):
        with pytest.raises(Invalid, match="here: ") as caught:
            reader(value[0], "here")
        assert len(caught.value.reason) < 100


def test_brackets_and_quotes_in_strings_do_not_nest() -> None:
    value = ["[" * 50, '\\"[', "\\", '"', '\\\\"[{', {"{": "}"}]
    assert read_json(json.dumps(value)) == value


def test_sixteen_levels_are_fine() -> None:
    assert read_json(b"[" * 16 + b"]" * 16)


@pytest.mark.parametrize("text", ["0", "7", "-7", "1/2", "-3/7", "10/9", str(2**4096 - 1), f"1/{2**4095}"])
def test_rationals(text: str) -> None:
    assert schema.rational(text, "x").exact() == text


@pytest.mark.parametrize(
    "value",
    [
        "", "-", "+1", "01", "-0", "00", "1/1", "2/4", "0/3", "1/0", "1/-2", "1/02", "1/", "/2", "1/2/3", " 1", "1 ",
        "1.5", "1e5", "1_000", "٣", "²", "0x10", "inf", "NaN", "--1", str(2**4096), f"1/{2**4096}", "9" * 100_000,
        1, 1.5, True, None, ["1"],
    ],
)  # fmt: skip
def test_what_is_no_rational(value: object) -> None:
    with pytest.raises(Invalid) as caught:
        schema.rational(value, "here")
    assert caught.value.field == "here"
    assert len(caught.value.reason) < 200


@pytest.mark.parametrize("value", [True, False, "1", 1.0, None, 0, 10**9 + 1, -1])
def test_what_is_no_integer_from_one(value: object) -> None:
    with pytest.raises(Invalid):
        schema.integer(value, "here", least=1)


def test_members_are_exactly_those_named() -> None:
    names = frozenset({"a", "b"})
    assert schema.members({"a": 1, "b": 2}, names, "x") == {"a": 1, "b": 2}
    for value, words in (({"a": 1}, "lacks the member 'b'"), ({"a": 1, "b": 2, "\x1b": 3}, "'\\x1b'"), ([], "object")):
        with pytest.raises(Invalid, match="x: ") as caught:
            schema.members(value, names, "x")
        assert words in caught.value.reason


def test_texts_and_lists() -> None:
    assert schema.text("a" * 20_000, "x")
    wrong: list[tuple[Any, Any]] = [
        (schema.text, "a" * 20_001),
        (schema.text, 1),
        (schema.array, {}),
        (schema.array, "a"),
    ]
    for reader, value in wrong:
        with pytest.raises(Invalid):
            reader(value, "x")
    with pytest.raises(Invalid, match=r"x\[1\]"):
        schema.integers([1, True], "x", least=0)


def test_booleans_and_choices() -> None:
    assert schema.boolean(True, "x") is True
    assert schema.boolean(False, "x") is False
    wrong: list[object] = [0, 1, None, "c", "", "ab", "A", ["a"], {"a": 1}]
    for value in wrong:
        with pytest.raises(Invalid, match="x: must be true or false"):
            schema.boolean(value, "x")
    assert schema.choice("a", "x", ("a", "b")) == "a"
    for value in [*wrong, True]:
        with pytest.raises(Invalid, match="x: must be a or b, not "):
            schema.choice(value, "x", ("a", "b"))


def test_what_is_shown_is_safe_and_short() -> None:
    assert schema.show("\x1b[31m\u202e\x7f") == "'\\x1b[31m\\u202e\\x7f'"
    assert len(schema.show("a" * 10**6)) == 80


def test_invalid_can_be_seen_from_outside() -> None:
    error = Invalid("conclusion.rho", "is negative").within("nodes[3]")
    assert (error.field, error.reason, str(error)) == (
        "nodes[3].conclusion.rho",
        "is negative",
        "nodes[3].conclusion.rho: is negative",
    )
