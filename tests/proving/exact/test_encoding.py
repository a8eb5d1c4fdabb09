"""Programs as certificates hold them: nothing is lost, and nothing is read after it was forgotten."""

import json
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.proving.exact.encoding import Encoder
from privately.proving.language.pythonic import read_python

TEXT = """
def f(x: each(1, whole(0, 2)), p):
    assume(p > 0)
    total = 0
    unused = flip(p)
    for v in x:
        if flip(p):
            total = total + v
    return [total, [v for v in x if v > 0], [v + p for v in x]]
"""


def encoded(text: str) -> tuple[Encoder, dict[str, Any]]:
    encoder = Encoder(read_python(text))
    return encoder, encoder.data()


def test_parts_refer_to_earlier_ones_and_are_plain_data() -> None:
    _, data = encoded(TEXT)
    assert json.loads(json.dumps(data)) == data
    for place, (kind, *operands) in enumerate(data["expressions"]):
        if kind not in {"number", "variable", "each"}:
            assert all(one < place for one in operands)
    assert data["blocks"][-1][0][0] == "assume"
    assert len(data["variables"]) == len(set(data["variables"]))


def test_equal_expressions_are_written_once() -> None:
    _, data = encoded("def f(x):\n    a = flip(x + 1)\n    return [x + 1, x + 1, a]\n")
    written = [tuple(one) for one in data["expressions"]]
    assert len(written) == len(set(written))
    assert sum(one[0] == "+" for one in written) == 1


def test_names_inside_brackets_are_others_than_outside() -> None:
    encoder, data = encoded("def f(v):\n    return [[v + 1 for v in v if v > 0], v]\n")
    (each,) = [one for one in data["expressions"] if one[0] == "each"]
    assert each[2] != encoder.variables["v"]


def test_what_nobody_needs_is_forgotten() -> None:
    encoder, data = encoded(TEXT)
    assert any(["forget", place] in block for block in data["blocks"] for place in encoder.variables.values())


def test_inputs_are_declared() -> None:
    program = read_python(TEXT)
    encoder = Encoder(program)
    assert encoder.private(program.private[0], (3, 1)) == {
        "variable": 0,
        "change": "each",
        "distance": "1",
        "values": ["0", "1", "2"],
        "lengths": [1, 3],
    }
    assert encoder.public({"p": (1, 2), "other": 3}) == [[1, ["1", "2"]]]


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(NotSupported, match="no end"):
        Encoder(read_python("def f(x: each(1)):\n    return x\n")).private(
            read_python("def f(x: each(1)):\n    return x\n").private[0], (1,)
        )
