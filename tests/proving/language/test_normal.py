"""One form for programs that do the same."""

import pytest

from privately.proving.exact.states import output_law
from privately.proving.language.normal import normal_form, normal_text, simplified
from privately.proving.language.program import Parameter, Program
from privately.proving.language.pythonic import read_python
from privately.proving.language.rendering import rendered
from privately.proving.language.syntax import Apply, Constant, Return, Variable
from tests.proving.drawn import small_program
from tests.proving.programs import FORMS

SPARSE = """
def svt(q: each(1), T, N, e):
    out = []
    bar = T + laplace(2 / e)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + laplace(4 * N / e) >= bar:
            out.append(True)
            count += 1
        else:
            out.append(False)
        i += 1
    return out
"""
REWRITES = {
    "names": SPARSE.replace("bar", "noisy").replace("count", "found").replace("out", "answers").replace("q", "queries"),
    "a temporary": SPARSE.replace(
        "        if q[i] + laplace(4 * N / e) >= bar:",
        "        noise = laplace(4 * N / e)\n        value = q[i]\n        if value + noise >= bar:",
    ),
    "the guard denied": SPARSE.replace(
        """>= bar:
            out.append(True)
            count += 1
        else:
            out.append(False)""",
        """< bar:
            out.append(False)
        else:
            count += 1
            out.append(True)""",
    ),
    "a guard with not": SPARSE.replace(
        "if q[i] + laplace(4 * N / e) >= bar:", "if not (bar > q[i] + laplace(4 * N / e)):"
    ),
    "other order": SPARSE.replace("    out = []\n", "").replace("    i = 0\n", "    i = 0\n    out = []\n"),
    "concatenation": SPARSE.replace("out.append(True)", "out = out + [True]").replace(
        "out.append(False)", "out += [False]"
    ),
    "a useless variable": SPARSE.replace("    i = 0\n", "    i = 0\n    unused = 3 * T\n"),
    "turned sums": SPARSE.replace("T + laplace(2 / e)", "laplace(2 / e) + T").replace("i += 1", "i = 1 + i"),
    "the same twice": SPARSE,
}


@pytest.mark.parametrize("name", REWRITES)
def test_what_does_not_matter_does_not_matter(name: str) -> None:
    assert normal_text(read_python(REWRITES[name])) == normal_text(read_python(SPARSE))


def test_for_and_while_are_one_loop() -> None:
    counted = "def f(q, e):\n    s = 0\n    for i in range(len(q)):\n        s += q[i] + laplace(1 / e)\n    return s\n"
    run_over = "def f(q, e):\n    s = 0\n    for v in q:\n        s = v + laplace(1 / e) + s\n    return s\n"
    by_hand = """
def f(q, e):
    i = 0
    s = 0
    while i < len(q):
        z = laplace(1 / e)
        s = s + (q[i] + z)
        i = i + 1
    return s
"""
    texts = {normal_text(read_python(text)) for text in (counted, run_over, by_hand)}
    assert len(texts) == 1


@pytest.mark.parametrize(
    "change",
    [
        ("4 * N", "2 * N"),
        (">= bar", "> bar"),
        ("count < N", "count <= N"),
        ("T + laplace", "T - laplace"),
        ("[]", "[1]"),
    ],
)
def test_what_matters_matters(change: tuple[str, str]) -> None:
    assert normal_text(read_python(SPARSE.replace(*change))) != normal_text(read_python(SPARSE))


@pytest.mark.parametrize("name", FORMS)
def test_the_normal_form_has_the_same_law(name: str) -> None:
    text, inputs = FORMS[name]
    _compare(text, inputs)


@pytest.mark.parametrize("seed", range(40))
def test_normal_forms_of_random_programs_have_the_same_law(seed: int) -> None:
    given = {"x": (1, 2), "y": seed % 3}
    _compare(small_program(seed, given)[0], [given])


def _compare(text: str, inputs: list[dict[str, object]]) -> None:
    program = read_python(text)
    names = tuple(Parameter(f"input{place}") for place in range(1, len(program.parameters) + 1))
    normal = Program("normal", names, normal_form(program), "")
    for given in inputs:
        renamed = {name.name: given[one.name] for name, one in zip(names, program.parameters, strict=True)}
        assert output_law(normal, renamed) == output_law(program, given)


def test_values_that_read_one_another_are_swapped() -> None:
    text = """
def f(x):
    a, b, i = 1, 2, 0
    while i < x:
        a, b = b, a
        i += 1
    return [a, b]
"""
    _compare(text, [{"x": 3}, {"x": 2}])


def test_simplified_expressions() -> None:
    x, y = Variable("x"), Variable("y")
    assert rendered(simplified(Apply("-", (Apply("+", (x, y)), x)))) == "y"
    assert rendered(simplified(Apply("not", (Apply("<", (x, y)),)))) == "y <= x"
    assert rendered(simplified(Apply("/", (x, Constant(2))))) == "(1/2) * x"
    assert rendered(simplified(Apply(">", (x, y)))) == "y < x"
    assert simplified(Apply("negative", (Constant(3),))) == Constant(-3)
    assert Return(x) == Return(x, line=9)
