"""Restricted Python means what Python means, and the rest is refused with its line."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import fraction
from privately.proving.language.pythonic import read_python
from tests.proving.drawn import small_program
from tests.proving.programs import FORMS
from tests.proving.ways import law_by_running


@pytest.mark.parametrize("name", FORMS)
def test_every_form_means_what_python_means(name: str) -> None:
    text, inputs = FORMS[name]
    for given in inputs:
        law, _ = output_law(read_python(text), given)
        assert {output: fraction(mass) for output, mass in law.items()} == law_by_running(text, given)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_mean_what_python_means(seed: int) -> None:
    given = {"x": (1, 2), "y": seed % 3}
    text, expected = small_program(seed, given)
    law, _ = output_law(read_python(text), given)
    assert {output: fraction(mass) for output, mass in law.items()} == expected, text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("    y = f(x)", "does not call itself"),
        ("    y = x & 1", "BitAnd is not part"),
        ("    y = ~x", "Invert is not part"),
        ("    y = int(x)", "'int' is unknown.*rounds down"),
        ("    y = x == range(2)", "a range is no list"),
        ("    y = range(2)", "a range is no list"),
        ("    y = x + range(2)", "a range is no list"),
        ("    y = [z for z in range(*x)]", "Starred is not part"),
        ("    y = max((z for z in x), 1)", "GeneratorExp is not part"),
        ("    for y in zip(x):\n        z = y", "lists of one entry"),
        ("    y = " + " and ".join(["True"] * 200), "levels inside"),
        ("    y = " + " < ".join(["1"] * 200), "levels inside"),
        ("    y = [1 for z in x" + " if z" * 200 + "]", "levels inside"),
        ("    while True:" + "\n        if flip(): break" * 200, "levels inside"),
        ("    y = 0x" + "f" * 20_000, "80000 bits"),
        ("    import os", "Import is not part"),
        ("    x.append(2)", "stays as it is"),
        ("    y = []\n    z = y\n    z.append(1)", "another name for a list"),
        ("    y = list(x)\n    y.sort()", "no 'sort'"),
        ("    y = list(x)\n    z = len(y) + y.pop()", "changed inside an expression"),
        ("    y = open('a')", "'open' is unknown"),
        ("    y = lambda: 1", "Lambda is not part"),
        ("    y = 'text'", "constant 'text' is not part"),
        ("    y = z", "'z' has no value"),
        ("    flip = 3", "has a meaning already"),
        ("    y = flip(1, 2)", "takes 1 argument"),
        ("    while True:\n        pass\n    else:\n        pass", "no else"),
        ("    with x:\n        pass", "With is not part"),
        ("    global y", "Global is not part"),
        ("    y = 1e99999", "too long"),
        ("    del x", "Delete is not part"),
        ("    y = x is x", "Is is not part"),
        ("    y = [a for a in x for b in x]", "over one name"),
        ("    y = (yield x)", "Yield is not part"),
        ("    y = f'{x}'", "JoinedStr is not part"),
        ("    y = flip(probability=1)", "by position"),
        ("    break", "no loop to leave"),
        ("    x[0] = 1", "stays as it is"),
    ],
)
def test_the_rest_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(NotSupported, match=message) as caught:
        read_python(f"def f(x):\n{line}\n    return x\n")
    assert "line " in str(caught.value)


def test_assumptions_come_first_and_speak_of_inputs() -> None:
    late = "def f(x):\n    b = flip()\n    assume(b == 1)\n    return b\n"
    with pytest.raises(NotSupported, match=r"line 3.*not about inputs"):
        read_python(late)


def test_a_long_or_deep_text_is_refused() -> None:
    with pytest.raises(NotSupported, match="characters"):
        read_python("#" * 200_000)
    with pytest.raises(NotSupported, match=r"inside one another|cannot read"):
        read_python(f"def f(x):\n    return {'(' * 90}{'-' * 120}1{')' * 90}\n")


@pytest.mark.parametrize("text", ["x = 1\n", "def f(x):\n    return 1\ndef g(x):\n    return 2\n", "def f(:\n", ""])
def test_a_text_is_one_function(text: str) -> None:
    with pytest.raises(NotSupported):
        read_python(text)


@pytest.mark.parametrize(
    ("left", "going"), [("not x > 0", "x > 0"), ("x > 0", "not x > 0"), ("flip(1/3)", "not flip(1/3)")]
)
def test_a_loop_that_is_left_first_is_one_with_a_test(left: str, going: str) -> None:
    endless = f"def f(x):\n    while True:\n        if {left}:\n            break\n        x = x - 1\n    return x\n"
    tested = f"def f(x):\n    while {going}:\n        x = x - 1\n    return x\n"
    assert read_python(endless).body == read_python(tested).body


@pytest.mark.parametrize("name", ["flip", "len", "range", "assume", "Fraction"])
def test_a_function_is_not_called_like_a_word_that_it_uses(name: str) -> None:
    """In Python the word would be the function itself there."""
    with pytest.raises(NotSupported, match=f"line 1: '{name}' has a meaning already"):
        read_python(f"def {name}(x: replaced(0, 1)):\n    {name}(2)\n    return 0\n")
    assert read_python(f"def {name}(x: replaced(0, 1)):\n    return 0\n").name == name


def test_a_range_has_whole_ends_whoever_gives_them() -> None:
    text = "def f(n):\n    for i in range(n):\n        pass\n    return 0\n"
    assert list(output_law(read_python(text), {"n": 2})[0]) == [0]
    with pytest.raises(NotSupported, match="line 2: 1/2 is not whole"):
        output_law(read_python(text), {"n": Fraction(1, 2)})


def test_a_second_function_is_told_with_its_line() -> None:
    with pytest.raises(NotSupported, match="line 3: a program is one function"):
        read_python("def f(x):\n    return 0\ndef g(x):\n    return x\n")
