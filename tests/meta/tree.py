"""Where things are in the repository, for the tests that look at it as a whole."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "privately"
TESTS = ROOT / "tests"


def kept_files() -> list[Path]:
    """Every file that git tracks, or would track if it were added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted({ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()})


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each documented module, class and function as (name, docstring)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "module"), text
