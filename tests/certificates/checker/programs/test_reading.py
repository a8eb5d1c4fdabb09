"""Programs in certificates: everything that the format does not name is refused, with its place."""

import copy
from typing import Any

import pytest

from privately.certificates.checker.programs.exact import Fractional
from privately.certificates.checker.programs.reading import read_private, read_program, read_public
from privately.certificates.checker.schema import Invalid

PROGRAM: dict[str, Any] = {
    "variables": ["x", "a"],
    "expressions": [["variable", 0], ["number", "1/2"], ["+", 0, 1], ["<", 2, 1], ["each", 0, 1, 0, 3]],
    "blocks": [[["return", 2]], [["assume", 3], ["draw", 1, "flip", 1], ["if", 3, 0, 0], ["forget", 1], ["return", 0]]],
}
PRIVATE = {"variable": 0, "change": "each", "distance": "1", "values": ["0", "1"], "lengths": None}


def test_a_program_is_read() -> None:
    before = copy.deepcopy(PROGRAM)
    program = read_program(PROGRAM, "program")
    assert program.expressions[1] == ["number", Fractional(1, 2)]
    assert before == PROGRAM  # the hash is taken over what was read
    assert program.document == read_program(copy.deepcopy(PROGRAM), "program").document


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (("variables", 1), "x", "distinct"),
        (("variables", 1), 3, "text"),
        (("expressions", 0), [], "begin"),
        (("expressions", 0), ["variable", 2], "not there"),
        (("expressions", 0), ["variable", True], "integer"),
        (("expressions", 1), ["number", "2/4"], "lowest"),
        (("expressions", 1), ["number", 2], "rational"),
        (("expressions", 2), ["+", 0, 2], "not yet"),
        (("expressions", 2), ["+", 0], "2 operands"),
        (("expressions", 2), ["function", 0], "operator"),
        (("expressions", 4), ["each", 0, 5, 0, 3], "not there"),
        (("blocks", 0), [["if", 3, 0, 0]], "not yet"),
        (("blocks", 0), [["return", 9]], "not there"),
        (("blocks", 0), [["jump", 0]], "statement"),
        (("blocks", 0), [["return"]], "1 operands"),
        (("blocks", 0), [["assume", 3]], "begun"),
        (("blocks", 1), [["return", 0], ["assume", 3]], "begun"),
        (("blocks", 1), [["draw", 1, "laplace", 1]], "must be"),
        (("blocks", 1), [["draw", 1, "gaussian", 1]], "must be"),
        (("blocks",), [], "at least one block"),
    ],
)
def test_a_wrong_program_is_refused(place: tuple[Any, ...], value: Any, why: str) -> None:
    data = copy.deepcopy(PROGRAM)
    holder: Any = data
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    with pytest.raises(Invalid, match=why):
        read_program(data, "program")


def test_depth_and_size_have_limits() -> None:
    deep: dict[str, Any] = {"variables": ["x"], "expressions": [["variable", 0]], "blocks": [[["return", 0]]]}
    deep["expressions"] += [["negative", k] for k in range(120)]
    with pytest.raises(Invalid, match="deep"):
        read_program(deep, "program")
    nested: dict[str, Any] = {"variables": ["x"], "expressions": [["variable", 0]], "blocks": [[["return", 0]]]}
    nested["blocks"] += [[["while", 0, k]] for k in range(120)]
    with pytest.raises(Invalid, match="deep"):
        read_program(nested, "program")
    with pytest.raises(Invalid, match="parts"):
        read_program({**PROGRAM, "variables": [str(k) for k in range(10_001)]}, "program")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"change": "near"}, "must be"),
        ({"distance": None}, "needed"),
        ({"change": "replaced"}, "not known"),
        ({"values": []}, "distinct"),
        ({"values": ["1", "1"]}, "distinct"),
        ({"lengths": []}, "increasing"),
        ({"lengths": [2, 1]}, "increasing"),
        ({"lengths": [-1]}, "from 0"),
        ({"change": "added", "distance": None}, "come and go"),
        ({"more": 1}, "unknown"),
    ],
)
def test_a_wrong_declaration_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        read_private([{**PRIVATE, **change}], "private")


def test_declarations_and_public_values_are_read() -> None:
    (one,) = read_private([PRIVATE], "private")
    assert (one.distance, one.values, one.lengths) == (1, [0, 1], None)
    with pytest.raises(Invalid, match="at least one"):
        read_private([], "private")
    assert read_public([[1, ["1/2", "3"]], [0, "2"]], "public") == {1: (Fractional(1, 2), 3), 0: 2}
    for wrong in ([[1, "1"], [1, "2"]], [[1]], [["1", "1"]], [[1, 1]]):
        with pytest.raises(Invalid):
            read_public(wrong, "public")
