"""Every module has its test file, found by its name."""

import ast
from pathlib import Path

import pytest

from tests.meta.mirror import mirrored, missing_tests, only_re_exports
from tests.meta.tree import SOURCE, TESTS


def test_every_module_has_its_test_file() -> None:
    assert missing_tests(SOURCE, TESTS) == []


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("errors.py", "test_errors.py"),
        ("rounding/interval.py", "rounding/test_interval.py"),
        ("rounding/_series.py", "rounding/test_series.py"),
        ("certificates/checker/__main__.py", "certificates/checker/test_main.py"),
        ("guarantees/__init__.py", "guarantees/test_init.py"),
    ],
)
def test_names(module: str, test: str) -> None:
    assert mirrored(Path(module)) == Path(test)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Words."""\nfrom a import b\n__all__ = ["b"]\n', True),
        ("TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from a import b\n", True),
        ("if TYPE_CHECKING:\n    from a import b\nelse:\n    def __getattr__(name): ...\n", True),
        ("def add(a, b): return a + b\n", False),
        ("class Kind: ...\n", False),
        ("for i in range(3): print(i)\n", False),
        ("if True:\n    print(1)\n", False),
        ("from a import b\nb()\n", False),
    ],
)
def test_what_counts_as_re_export(text: str, expected: bool) -> None:
    assert only_re_exports(ast.parse(text)) is expected


def test_a_module_without_test_is_reported(tmp_path: Path) -> None:
    source, tests = tmp_path / "src", tmp_path / "tests"
    (source / "laws").mkdir(parents=True)
    (tests / "laws").mkdir(parents=True)
    (source / "laws" / "__init__.py").write_text("from laws.tables import Table\n")
    (source / "laws" / "tables.py").write_text("class Table: ...\n")
    (source / "laws" / "normal.py").write_text("class Normal: ...\n")
    (tests / "laws" / "test_tables.py").touch()
    assert missing_tests(source, tests) == ["laws/test_normal.py"]
