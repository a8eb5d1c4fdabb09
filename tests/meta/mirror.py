"""Which test file belongs to a module.

- `a/b.py` has `tests/a/test_b.py`; leading underscores drop, so `a/_b.py` has the same, and private code is
  no less tested for being private;
- `a/__main__.py` has `tests/a/test_main.py`;
- `a/__init__.py` has `tests/a/test_init.py`, unless all it does is re-export: there is nothing to test then.
"""

import ast
from pathlib import Path

LAZY_EXPORT = {"__getattr__", "__dir__"}


def mirrored(module: Path) -> Path:
    """The test file of a module, both relative: to the package and to the folder of tests."""
    return module.with_name(f"test_{module.stem.strip('_')}.py")


def only_re_exports(tree: ast.Module) -> bool:
    """Whether a module holds nothing but imports, constants and the two hooks of a lazy package."""
    return all(_is_declaration(node) for node in tree.body)


def _is_declaration(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assign() | ast.AnnAssign():
            return True
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant)
        case ast.If(body=body, orelse=alternative):
            return all(_is_declaration(inner) for inner in [*body, *alternative])
        case ast.FunctionDef(name=name):
            return name in LAZY_EXPORT
    return False


def missing_tests(source: Path, tests: Path) -> list[str]:
    """Test files that should be there and are not, by name."""
    missing = []
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source)
        if path.name == "__init__.py" and only_re_exports(ast.parse(path.read_text(encoding="utf-8"))):
            continue
        if not (tests / mirrored(module)).is_file():
            missing.append(mirrored(module).as_posix())
    return missing
