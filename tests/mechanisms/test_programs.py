"""The language of programs: what it refuses, with the line; what its primitives draw; that it runs as it stands."""

import ast
from fractions import Fraction
from typing import Any

import pytest

from privately import mechanisms, noise
from privately.errors import InvalidParameter
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Law, RoundedNormal
from privately.mechanisms.mechanism import Mechanism
from privately.mechanisms.programs import FUNCTIONS, PRIMITIVES, Program
from tests.mechanisms.enumeration import outcomes, probability

TINY = 1e-40

EXPRESSIONS = {
    "lambda": "(lambda y: y)(x)",
    "an f-string": "f'{x}'",
    "a walrus": "(y := x)",
    "a starred argument": "max(*x)",
    "a starred list": "[*x]",
    "a keyword": "max(x, key=len)",
    "a dictionary": "{1: x}",
    "a set": "{x}",
    "a set comprehension": "{y for y in x}",
    "a generator": "sum(y for y in x)",
    "yield": "(yield x)",
    "an attribute": "x.real",
    "the class of a tuple": "().__class__",
    "the subclasses of everything": "().__class__.__bases__[0].__subclasses__()",
    "a method of a literal": "[1].append(x)",
    "a method of an entry": "x[0].append(1)",
    "an unknown method": "x.sort()",
    "a method as a value": "x.append",
    "the class of a function": "max.__self__",
    "an imported name": "__import__('os')",
    "exec": "exec('1')",
    "open": "open(x)",
    "getattr": "getattr(x, 'real')",
    "itself": "f(x)",
    "a parameter called": "x(1)",
    "an entry called": "x[0](1)",
    "a call of a call": "max(x)(1)",
    "a primitive as a value": "[flip, 1]",
    "a function as a value": "[max, 1]",
    "the mark as a value": "private",
    "the mark called": "private(x)",
    "an unknown variable": "y",
    "a hidden variable": "__builtins__",
    "its own name": "f",
    "a float": "x * 0.5",
    "a complex number": "x * 1j",
    "a text": "'%s' % x",
    "bytes": "b'x'",
    "None": "None",
    "dots": "...",
    "a matrix product": "x @ x",
    "bits": "x & 1",
    "a shift": "x << 1000000000",
    "an inversion": "~x",
    "identity": "x is 1",
    "an asynchronous comprehension": "[y async for y in x]",
    "noise without a scale": "discrete_laplace()",
    "noise with two scales": "discrete_laplace(x, x)",
    "a name of the language in a comprehension": "[1 for flip in x]",
    "a hidden name in a comprehension": "[1 for _ in x]",
}
STATEMENTS = {
    "import": "import os",
    "import from": "from os import path",
    "global": "global g",
    "nonlocal": "nonlocal x",
    "try": "try: x = 1\n    except: pass",
    "with": "with x: pass",
    "raise": "raise x",
    "assert": "assert x",
    "del": "del x",
    "a class": "class C: pass",
    "a function": "def g(y): return y",
    "a function with the name of noise": "def discrete_laplace(scale): return 0",
    "an annotation": "y: x = 1",
    "match": "match x:\n        case 1: pass",
    "async for": "async for y in x: pass",
    "noise with another meaning": "discrete_laplace = abs",
    "noise with another meaning in a loop": "for uniform in x: pass",
    "noise with another meaning in a tuple": "y, flip = x, 1",
    "a function with another meaning": "max = 1",
    "the mark with another meaning": "private = 1",
    "its name with another meaning": "f = 1",
    "a hidden name": "_y = 1",
    "an attribute changed": "x.append = 1",
    "a loop with else": "for y in x: pass\n    else: y = 1",
    "a while with else": "while x: pass\n    else: y = 1",
    "break without a loop": "break",
    "a text that is no docstring": "'words'",
}
SIGNATURES = {
    "positional only": "def f(x: private, /):",
    "keyword only": "def f(*, x: private):",
    "any number": "def f(*x: private):",
    "any keywords": "def f(**x: private):",
    "a default": "def f(x: private = 1):",
    "a default with noise": "def f(x=uniform(3)):",
    "another mark": "def f(x: secret):",
    "a mark with noise": "def f(x: private[flip(1)]):",
    "a mark on what it returns": "def f(x) -> private:",
    "a decorator": "@private\ndef f(x):",
    "a hidden name": "def _f(x):",
    "a hidden parameter": "def f(x, __builtins__):",
    "the name of noise": "def discrete_laplace(x):",
    "the name of a function": "def max(x):",
    "a parameter with the name of noise": "def f(x, flip):",
    "a parameter with the name of a function": "def f(x, len):",
    "a parameter with its own name": "def f(x, f):",
}
TEXTS = {
    "nothing": "",
    "a statement": "x = 1",
    "two functions": "def f(x):\n    return x\ndef g(x):\n    return x",
    "an asynchronous function": "async def f(x):\n    return x",
    "a class": "class C:\n    pass",
    "no Python": "def f(:",
    "a wrong indent": "def f(x):\nreturn x",
    "a null character": "def f(x):\n    return x\0",
    "too deep": "def f(x):\n    return " + "(" * 300 + "x" + ")" * 300,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="line 3: ") as caught:
        Program(f"def f(x: private):\n    z = 1\n    z = {EXPRESSIONS[name]}\n    return z\n")
    assert caught.value.field == "source"


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"line [34]: "):
        Program(f"def f(x: private):\n    z = 1\n    {STATEMENTS[name]}\n    return z\n")


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"line [12]: "):
        Program(f"{SIGNATURES[name]}\n    return x\n")


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_are_no_program(name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Program(TEXTS[name])
    assert caught.value.field == "source"


@pytest.mark.parametrize("source", [None, 3, b"def f(x):\n    return x", ["def f(x): return x"]])
def test_what_is_no_text(source: Any) -> None:
    with pytest.raises(InvalidParameter, match="text"):
        Program(source)


def test_the_refused_parts_are_what_is_refused() -> None:
    """The same frames are accepted with something harmless in their place."""
    Program("def f(x: private):\n    z = 1\n    z = max(x)\n    return z\n")
    Program("def f(x: private):\n    z = 1\n    y = 1\n    return z\n")
    Program("def f(x: private, y):\n    return x\n")


WHOLE = '''
def everything(values: private, table: private, scale, rounds):
    """Words."""
    kept, dropped = [], []
    for i in range(len(values)):
        if values[i] > 0 and not values[i] == 5 or i in [7]:
            kept.append(values[i])
        elif i != 3:
            dropped.append(-values[i] // 2 % 3)
        else:
            pass
    n = 0
    while True:
        n += 1
        if n >= rounds:
            break
        continue
    table[0] = kept.pop() if len(kept) else 0
    return [sum(kept), dropped[1:], [x ** 2 for x in values if x < 3], table, n, Fraction(1) / scale, abs(-n), True]
'''


def test_what_the_language_has() -> None:
    program = Program(WHOLE)
    assert (program.name, program.private) == ("everything", ("values", "table"))
    values, table = [1, 2, 5, -1, -4], [9, 9]
    answer = program.run({"values": values, "table": table, "scale": 3, "rounds": 4}, noise)
    assert answer == [1, [2], [1, 4, 1, 16], [2, 9], 4, Fraction(1, 3), 4, True]
    assert (values, table) == ([1, 2, 5, -1, -4], [9, 9]), "the inputs stay as they are"


LAWS: dict[str, Law] = {
    "discrete_laplace": DiscreteLaplace(scale="2/3"),
    "discrete_exponential": DiscreteExponential(scale="2/3"),
    "rounded_gaussian": RoundedNormal(standard_deviation="2/3"),
    "discrete_gaussian": DiscreteGaussian(variance="2/3"),
}


@pytest.mark.parametrize("name", LAWS)
def test_noise_follows_the_law_of_its_name(name: str) -> None:
    program = Program(f"def f(width):\n    return {name}(width)\n")
    found = outcomes(lambda random: program.run({"width": Fraction(2, 3)}, random), window=5)
    assert len(found.chances) == (6 if name == "discrete_exponential" else 11)
    assert all(abs(found.chances[k] - probability(LAWS[name], int(str(k)))) < TINY for k in found.chances)
    drawn = program.run({"width": Fraction(2, 3)}, noise)
    assert type(drawn) is int


def test_coins_and_choices() -> None:
    flips = Program("def f(p, x, n):\n    return [flip(p), flip_exp(x), uniform(n)]\n")
    inputs = {"p": Fraction(1, 3), "x": Fraction(1, 2), "n": 3}
    found = outcomes(lambda random: flips.run(inputs, random), window=1).chances
    assert len(found) == 12
    assert abs(found[True, False, 2] - (1 - 0.6065306597126334) / 9) < 1e-15
    assert abs(sum(found[True, True, k] for k in range(3)) - 0.6065306597126334 / 3) < 1e-15
    answer = flips.run(inputs, noise)
    assert [type(one) for one in answer] == [bool, bool, int]


def test_every_primitive_is_tested() -> None:
    assert {*LAWS, "flip", "flip_exp", "uniform"} == set(PRIMITIVES)
    assert not set(FUNCTIONS) & set(PRIMITIVES)


@pytest.mark.parametrize("name", [name for name in PRIMITIVES if name != "uniform"])
def test_no_float_gets_into_noise(name: str) -> None:
    program = Program(f"def f(a, b):\n    return {name}(a / b)\n")
    with pytest.raises(InvalidParameter, match="Fraction"):
        program.run({"a": 1, "b": 3}, noise)
    program.run({"a": Fraction(1), "b": 3}, noise)


def test_exponents_of_any_size() -> None:
    program = Program("def f(x):\n    return flip_exp(x)\n")
    assert program.run({"x": 2**80}, noise) is False


def test_programs_are_values() -> None:
    text = "def f(x: private):\n    return x\n"
    assert Program(f"\n{text}\n") == Program(text)
    assert hash(Program(text)) == hash(Program(text))
    assert Program(text).source == text
    assert isinstance(Program(text).tree, ast.FunctionDef)


@pytest.mark.parametrize("name", ["open", "print", "__import__", "getattr", "Program"])
def test_nothing_else_can_be_reached(name: str) -> None:
    """Even of a text that nobody checked: the names of a run are those of the language."""
    program = Program("def f(x):\n    return x\n")
    program.__dict__["code"] = compile(f"def f(x):\n    return {name}\n", "unchecked", "exec")
    with pytest.raises(NameError):
        program.run({"x": 1}, noise)


def test_the_mechanisms_have_programs_with_private_inputs() -> None:
    named = [getattr(mechanisms, name) for name in mechanisms.__all__]
    found = [one for one in named if isinstance(one, type) and issubclass(one, Mechanism)]
    texts: list[Any] = [one.program for one in found if isinstance(one.program, Program)]
    texts += [text for one in found for text in getattr(one, "programs", {}).values()]
    assert len(texts) >= 20
    assert all(text.private for text in texts)
