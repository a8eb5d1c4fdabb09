"""Wrong verdicts that once were given, and what they are now."""
# ruff: noqa: E501 - programs on one line

import functools
from contextlib import suppress
from typing import Any

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import Proved, analyze, between, inside, one, prove, read_program, replaced, run, whole
from privately.proving.exact.folding import folded
from privately.proving.language.declarations import Neighborhood
from tests.proving.failing import failing_program, some_way_fails

LEAKS: list[tuple[str, dict[str, Any]]] = [
    ("def f(n: replaced(1, 2)):\n    k = 0\n    for n in range(n):\n        k += 1\n    return k\n", {}),
    ("def f(x: replaced(0, 1)):\n    s = 0\n    for x in [x, 1 - x, x]:\n        s = s + x\n    return s\n", {}),
    ("def f(a: replaced(0, 1), b: replaced(0, 1)):\n    if len(a) == 0:\n        return b\n    return 0\n", {"sizes": [0, 1]}),
    ("def f(x: replaced(0, 1), p):\n    if p in [1/2]:\n        return x\n    return 0\n", {}),
    ("def f(x: replaced(0, 1), p):\n    if [p] == [1/2]:\n        return x\n    return 0\n", {}),
    (
        "def f(a: replaced(0, 1), b: replaced(0, 1)):\n    assume(len(a) == 2)\n    if len(b) == 2:\n        return 0\n    return sum(b)\n",
        {},
    ),
    ("P (x : private data) : public real\n  if 3 > x > 1 then\n    o := 1\n  else\n    o := 0\n  return o\n", {"neighbors": {"x": replaced(0, 1, 2)}}),
    ("def f(x: replaced(0, 0.1)):\n    if x == 0.1:\n        return 1\n    return 0\n", {}),
    ("def f(x: replaced(0, 1), p):\n    if p == 0.1:\n        return x\n    return 0\n", {"public": {"p": 0.1}}),
    ("def f(x: each(0.1, one_of(0.7, 0.8, 0.2, 0.3))):\n    if x > 0.75:\n        return 0\n    return 1\n", {}),
    ("def f(xs: replaced(0, 1)):\n    return xs == [0]\n", {"sizes": [1]}),
    ("def f(x: replaced(0, 1), p):\n    y = 1 / (p - 1/2)\n    return flip(p)\n", {}),
    ("def f(x: replaced(0, 1)):\n    l = [0, x]\n    r = 0\n    for v in list(l):\n        l[1] = 0\n        r = v\n    return r\n", {}),
    ("def f(x: replaced(1, 2)):\n    l = [x]\n    r = 0\n    for v in range(l[0]):\n        l[0] = 0\n        r += 1\n    return r\n", {}),
    ("def f(x: replaced(0, 1)):\n    l = [0, 1]\n    n = 0\n    for i, v in enumerate(l):\n        if n < 3:\n            l.append(1)\n        n += 1\n    if n == 2:\n        return 0\n    return x\n", {}),
    ("def f(x: replaced(0, 1)):\n    l = [0, 1]\n    n = 0\n    for u, v in zip(l, [1, 2, 3]):\n        l.append(1)\n        n += 1\n    if n == 2:\n        return 0\n    return x\n", {}),
    ("def f(x: replaced(0, 1)):\n    a = [0]\n    rows = [a]\n    rows[0] += [x]\n    return a\n", {}),
    ("def f(x: replaced(0, 1)):\n    rows = [[0]] * 2\n    rows[0] += [x]\n    return rows[1]\n", {}),
    ("def f(x: replaced(0, 1)):\n    if Fraction(0.1) == Fraction(1, 10):\n        return 0\n    return x\n", {}),
    ("def f(x: replaced(0, 1)):\n    n = 0\n    for i in range(1 if x == 0 else 1/2):\n        n += 1\n    return n\n", {}),
    ("def f(x: replaced(0, 0.5)):\n    for i in range(x):\n        pass\n    return 0\n", {}),
    ("def f(x: replaced(0, 1)):\n    a = [2]\n    n = 0\n    for i, a[0] in enumerate(range(a[0])):\n        n += 1\n    return x if n == 2 else 0\n", {}),
    ("def f(x: replaced(0, 1)):\n    y = list(5) if x == 1 else 0\n    return 0\n", {}),
    ("def f(x: replaced(0, 1)):\n    y = Fraction([1]) if x == 1 else 0\n    return 0\n", {}),
    ("def f(x: replaced(0, 1)):\n    y = +[1] if x == 1 else 0\n    return 0\n", {}),
    ("def f(x: added(0, 1), y: replaced(0, 1)):\n    assume(len(y) == 0)\n    if x == [0, 0, 0]:\n        return 1\n    return 0\n", {}),
    ("y := F(x)\no := flip(x)\n", {"neighbors": {"F(x)": replaced(0, 1)}}),
    ("i := 0\nx := f(i)\ni := 1\ny := f(i)\no := x - y\n", {"neighbors": {"f(i)": replaced(0, 1)}}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "known"), LEAKS)
def test_leaks_are_not_proved(text: str, known: dict[str, Any]) -> None:
    try:
        verdict = prove(text, 0, **known)
    except (NotSupported, InvalidParameter):
        return
    assert not isinstance(verdict, Proved)


def test_several_private_inputs_may_change_one_at_a_time() -> None:
    text = """
def f(a: added(0), b: replaced(0, 1)):
    if len(a) % 2 == 1:
        return flip(1/2)
    if b == 1:
        return flip(6/10)
    return flip(4/10)
"""
    assert prove(text, "ln(5/4)", sizes=[0, 1, 2]).word == "refuted"
    assert prove(text, "ln(3/2)", sizes=[0, 1, 2]).word == "proved"


def test_an_assumption_on_one_list_bounds_no_other() -> None:
    text = "def f(x: added(0, 1), y):\n    assume(len(x) <= 1)\n    return y[0] if len(y) >= 2 else 0\n"
    assert prove(text, 0, neighbors={"y": replaced(0, 1)}).word == "refuted"


def test_a_claim_about_size_needs_one_list() -> None:
    text = (
        "def f(a: replaced(0, 1), b: replaced(0, 1)):\n    if len(a) == len(b):\n        return 0\n    return sum(b)\n"
    )
    with pytest.raises(InvalidParameter, match="size of what"):
        prove(text, "size-size", sizes=[1, 2])


BITS = "def f(a: {}):\n    s = sum(a)\n    return flip(1/5) if s == 0 else flip(2/5) if s == 1 else flip(4/5)\n"


@pytest.mark.parametrize("change", ["one(1, bits(2))", "replaced(bits(2))"])
def test_entries_of_bits_are_bits(change: str) -> None:
    verdict = prove(BITS.format(change), "ln(3)")
    assert isinstance(verdict, Proved)
    if verdict.certificate is not None and verdict.epsilon is not None:
        assert verdict.certificate.guarantee.parameters["epsilon"] >= verdict.epsilon.lower
    assert prove(BITS.format("anything(bits(2))"), "ln(3)").word == "refuted"


def test_lists_of_several_lengths_are_no_rows() -> None:
    verdict = prove("def f(a: anything(0, 1)):\n    return len(a)\n", 0, sizes=[1, 2])
    assert isinstance(verdict, Proved)
    assert verdict.certificate is not None
    assert verdict.certificate.guarantee.neighbors.unit == "private input (a: anything)"


def test_the_domain_of_an_open_parameter_is_what_was_declared() -> None:
    text = "def f(x: replaced(0, 1), p: {}):\n    if flip(p):\n        return x\n    return flip(1/2)\n"
    verdict = prove(text.format("between(0, 1/2)"), "ln(3)")
    assert isinstance(verdict, Proved)
    assert "p in between(0, 1/2)" in verdict.scope
    with pytest.raises(InvalidParameter, match="no value at 1"):
        prove(text.format("between(0, 1)"), "ln((1+p)/(1-p))")
    assert prove(text.format("between(0, 1)"), "ln(1000)").word == "refuted"
    assert prove(text.format("inside(0, 1)"), "ln((1+p)/(1-p))").word == "proved"


def test_outputs_do_not_depend_on_open_parameters() -> None:
    with pytest.raises(NotSupported, match="left open"):
        prove("def f(x: replaced(0, 1), p):\n    if x == 1:\n        return p - p\n    return 0\n", 0)


def test_outputs_have_one_kind() -> None:
    program = read_program("def f(x: replaced(0, 1)):\n    return x if flip(1/2) else x == 1\n")
    assert {type(run(program, {"x": 1})) for _ in range(30)} == {int}
    assert {type(output) for output in analyze(program).law(x=1)} == {int}


SUMS = [
    "def f(x: replaced(0, 1), p):\n    s = x\n    for i in range(3):\n        s += flip(p)\n    return s\n",
    "def f(x: replaced(0, 1)):\n    s = x\n    for i in range(3):\n        s += flip_exp(1)\n    return s\n",
    "def f(x: replaced(0, 1)):\n    s = x\n    for i in range(3):\n        v = uniform(4)\n        while v == 3:\n            v = uniform(4)\n        s += v\n    return s\n",
]  # fmt: skip


@pytest.mark.parametrize("text", SUMS)
def test_sums_with_any_weights(text: str) -> None:
    assert prove(text, "ln(1000)").word == "refuted"


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: replaced(whole(0, 100000))):\n    return flip(1/2)\n",
        "def f(x: replaced(whole(0, 10000000000))):\n    return flip(1/2)\n",
        "def f(x: replaced(0, 1)):\n    n = 0\n    while flip(1/2):\n        n += 1\n    return n\n",
        pytest.param(
            "def f(x: replaced(0, 1)):\n    a = uniform(10000)\n    b = uniform(10000)\n    return a + b + x\n",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "def f(x: replaced(0, 1)):\n    out = []\n    while len(out) < 99999:\n        out.append(x)\n    return out[7] - x\n",
            marks=pytest.mark.slow,
        ),
        "def f(x: replaced(0, 1)):\n    a = [x]\n    i = 0\n    while i < 40:\n        a = [a, a]\n        i += 1\n    return i\n",
    ],
)
def test_bombs_end(text: str) -> None:
    with suppress(NotSupported):
        assert prove(text, 1).word == "unknown"


@pytest.mark.parametrize(
    ("field", "known"),
    [
        ("neighbors", {"neighbors": {"x": whole(0, 1)}}),
        ("neighbors", {"neighbors": {"x": "replaced(0,1)"}}),
        ("sizes", {"sizes": 3}),
        ("sizes", {"sizes": [1.5]}),
        ("public", {"public": {"p": between(0, 1)}}),
    ],
)
def test_bad_questions_have_typed_answers(field: str, known: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        prove("def f(x: replaced(0, 1)):\n    return x\n", 1, **known)
    assert caught.value.field == field


def test_more_typed_answers() -> None:
    with pytest.raises(InvalidParameter, match="formula"):
        _ = analyze("def f(x: replaced(0, 1), p):\n    return x if flip(p) else flip(p)\n").epsilon
    with pytest.raises(InvalidParameter, match="too long"):
        prove("def f(x: replaced(0, 1)):\n    return x\n", "(((9**1000)**1000)**1000)")
    with pytest.raises(InvalidParameter, match="one domain"):
        replaced(whole(0, 1), 2, 3)
    with pytest.raises(InvalidParameter, match="no number"):
        prove("def f(x: replaced(0, 1), p):\n    return x + p[0]\n", "p", public={"p": [1, 2]})
    assert isinstance(one(1), Neighborhood)
    assert inside(0, 1).open


@pytest.mark.parametrize(
    "text",
    [
        f"x := {'(' * 1900}1{')' * 1900}\nreturn x\n",
        f"x := {'-' * 1900}1\nreturn x\n",
        f"x := {'+'.join('1' * 1900)}\nreturn x\n",
        f"x := {'1' * 9000}\nreturn x\n",
        "P (d : private list(int)) (a : real)\n  return d + a\n",
        "z := 1 - flip(x)\nreturn z\n",
    ],
)
def test_long_and_odd_texts_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(NotSupported, match="line 1"):
        read_program(text)


def test_powers_of_while_are_those_of_python() -> None:
    from privately.proving.exact.states import output_law

    law, _ = output_law(read_program("x := -2^2\ny := 2^3^2\nreturn x + y\n"), {})
    assert list(law) == [508]


def test_long_substitutions_have_no_normal_form() -> None:
    from privately.proving.language.normal import normal_text

    lines = "".join("    x = max(x, x * x)\n" for _ in range(30))
    with pytest.raises(NotSupported, match="normal form"):
        normal_text(read_program(f"def f(x):\n{lines}    return x\n"))


def test_poles_of_claims_are_refused() -> None:
    text = "def f(x: replaced(0, 1), p):\n    return flip((2 * p - 1) ** 2 / 2) if x == 1 else flip(1/2)\n"
    with pytest.raises(InvalidParameter, match="no value"):
        prove(text, "ln(1/(2*p-1)^2)")


def test_open_parameters_are_not_rounded() -> None:
    for term in ("p // 1", "p % 2", "flip((p - p) ** -1)"):
        with pytest.raises(NotSupported):
            prove(f"def f(x: replaced(0, 1), p):\n    y = {term}\n    return flip(p)\n", 1)


def flip(p: object) -> bool:
    """Not that of the language."""
    return bool(p)


def own_coin(x: replaced(0, 1)):  # type: ignore[no-untyped-def, valid-type]  # a program
    return x if flip(1 / 2) else flip(1 / 2)


def test_words_must_mean_what_they_mean() -> None:
    with pytest.raises(NotSupported, match="not that of privately"):
        prove(own_coin, 1)
    wrapped = functools.wraps(own_coin)(lambda x: x)
    with pytest.raises(NotSupported):
        prove(wrapped, 1)
    with pytest.raises(NotSupported, match=r"privately\.proving alone"):
        prove("from numpy.random import uniform\ndef f(x: replaced(0, 1)):\n    return uniform(2)\n", 1)
    with pytest.raises(NotSupported, match="decorator"):
        prove("@cached\ndef f(x: replaced(0, 1)):\n    return uniform(2)\n", 1)


def test_circles_are_broken_where_there_is_a_value() -> None:
    from privately.proving.exact.states import output_law
    from privately.proving.language.normal import normal_form
    from privately.proving.language.program import Parameter, Program

    text = "def f(x, y):\n    a = y\n    y, x = x + 1, y\n    for i in range(2):\n        y = y + x + a\n    return y\n"
    program = read_program(text)
    normal = Program("normal", (Parameter("input1"), Parameter("input2")), normal_form(program), "")
    assert output_law(normal, {"input1": 3, "input2": 5}) == output_law(program, {"x": 3, "y": 5})


def test_without_a_header_the_caller_says_what_is_private() -> None:
    assert prove("o := a + x\n", 1, neighbors={"x": replaced(0, 1)}, public={"a": 0}).word == "refuted"


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_a_program_that_fails_for_some_input_has_no_law_there(first: int) -> None:
    """Folded or not: nothing that can fail is left out."""
    failed = shortened = 0
    for seed in range(first, first + 40):
        program = read_program(failing_program(seed))
        shortened += folded(program) is not program
        for x in (0, 1, 2):
            fails = some_way_fails(program, {"x": x})
            failed += fails
            with suppress(NotSupported):
                assert not (analyze(program).law(x=x) and fails), program.source
    assert failed >= 20
    assert shortened >= 10


FAILING_RUNS = [
    "    a = []\n    a.append(flip(1/2))\n    n = len([1/x])\n    return sum(a) + n\n",
    "    a = []\n    a.append(flip(1/2))\n    if len([1/x]) > 5:\n        return 1\n    return sum(a)\n",
    "    a = []\n    a.append(flip(1/2))\n    n = len(a + [[1, 2][2*x]])\n    return sum(a) + n\n",
    "    a = [0]*60000\n    if x == 1:\n        a = a + [0]*60000\n    return sum(a)\n",
    "    a = [0]*60000\n    b = a + []\n    n = 0\n    if x == 1:\n        n = sum(a + b)\n    return n\n",
]


@pytest.mark.parametrize("body", FAILING_RUNS)
def test_runs_that_stop_for_one_neighbour_are_not_proved(body: str) -> None:
    with pytest.raises(NotSupported):
        prove(f"def f(x: replaced(0, 1)):\n{body}", 0)


@pytest.mark.parametrize(
    "made",
    [
        "[[[0]*300]*300]*1000",
        "[[0]*400 for v in range(400)]",
        "[[0]*60000] + [[0]*60000]",
        "[[[[[[[0]]]]]]]",
    ],
)
def test_lists_inside_lists_have_a_longest_length_in_all(made: str) -> None:
    with pytest.raises(NotSupported, match=r"entries in all|deep"):
        prove(f"def f(x: replaced(0, 1)):\n    a = {made}\n    return len(a)\n", 0)


@pytest.mark.slow
@pytest.mark.parametrize("count", ["geometric(1/2)", "n"])
def test_as_many_rounds_as_are_drawn_need_no_check(count: str) -> None:
    """Draws of whole numbers are whole: what follows them is not refused for it."""
    text = f"""
def answers(x: replaced(0, 1)):
    n = geometric(1/2)
    out = []
    for i in range({count}):
        out.append(x if flip(2/3) else 1 - x)
    return out
"""
    assert prove(text, 5).word == "refuted"
