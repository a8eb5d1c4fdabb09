"""Small questions about Python's syntax."""

import ast

from privately.proving.language.python_names import is_method, list_names, word


def test_lists_are_known_by_their_use() -> None:
    text = """
def f(a, b, c, d, e):
    s = len(a) + b[0]
    for v in c:
        s += v
    r = []
    return max(d) + e
"""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert list_names(function) == {"a", "b", "c", "d", "r"}


def test_methods_and_words() -> None:
    assert is_method(ast.parse("x.append(1)", mode="eval").body)
    assert not is_method(ast.parse("len(x)", mode="eval").body)
    assert word(ast.parse("lambda: 1", mode="eval").body) == "Lambda"
