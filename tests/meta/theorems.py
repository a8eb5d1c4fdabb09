"""The theorem block of a docstring, and what is wrong with it.

Theorem: the statement, with its hypotheses; an entry may go on
    over several lines, each indented deeper than its label.
Reference: authors, year, number of the theorem.
Proof: docs/theory/page.md#heading
Checked-by: tests/folder/test_file.py::test_name, and others if there are any.
"""

import ast
import re
from functools import lru_cache
from pathlib import Path

LABELS = ("Theorem", "Reference", "Proof", "Checked-by")

_LABEL = re.compile(rf"^( *)({'|'.join(LABELS)}):(.*)$")
_PROOF = re.compile(r"docs/theory/[\w/-]+\.md#[\w-]+")
_TEST = re.compile(r"tests/[\w/-]+\.py(?:::\w+)+")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")


def entries(docstring: str) -> list[tuple[str, str]]:
    """The labelled entries of a docstring in order, each with its lines joined."""
    found: list[tuple[str, list[str]]] = []
    indent = None
    for line in docstring.splitlines():
        label = _LABEL.match(line)
        if label:
            indent = len(label[1])
            found.append((label[2], [label[3].strip()]))
        elif indent is not None and line.strip() and len(line) - len(line.lstrip()) > indent:
            found[-1][1].append(line.strip())
        else:
            indent = None
    return [(label, " ".join(lines).strip()) for label, lines in found]


def faults(docstring: str, root: Path) -> list[str]:
    """What is wrong with the theorem block of a docstring; nothing if it is sound."""
    block = entries(docstring)
    labels = tuple(label for label, _ in block)
    if labels != LABELS:
        return [f"wants the entries {', '.join(LABELS)}, once each and in this order, but has {labels}"]
    empty = [f"{label} is empty" for label, text in block if not text]
    if empty:
        return empty
    texts = dict(block)
    return _proof_faults(texts["Proof"], root) + _test_faults(texts["Checked-by"], root)


def _proof_faults(text: str, root: Path) -> list[str]:
    pages = _PROOF.findall(text)
    if not pages:
        return [f"Proof names no docs/theory/page.md#heading: {text}"]
    return [f"Proof names {page}, which does not exist" for page in pages if not has_heading(root, page)]


def _test_faults(text: str, root: Path) -> list[str]:
    tests = _TEST.findall(text)
    if not tests:
        return [f"Checked-by names no tests/file.py::test_name: {text}"]
    return [f"Checked-by names {test}, which does not exist" for test in tests if not has_test(root, test)]


def has_heading(root: Path, target: str) -> bool:
    page, _, anchor = target.partition("#")
    path = root / page
    return path.is_file() and anchor in anchors(path.read_text(encoding="utf-8"))


@lru_cache
def anchors(markdown: str) -> set[str]:
    """The link targets that GitHub makes of the headings of a page."""
    found: dict[str, int] = {}
    targets = set()
    fenced = False
    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        if heading:
            words = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
            repeats = found.get(words, 0)
            found[words] = repeats + 1
            targets.add(f"{words}-{repeats}" if repeats else words)
    return targets


@lru_cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def has_test(root: Path, target: str) -> bool:
    """Whether `file::test` or `file::Class::test` is defined in the file, and is a test."""
    file, *names = target.split("::")
    path = root / file
    if not path.is_file() or not path.name.startswith("test_") or not names[-1].startswith("test_"):
        return False
    body: list[ast.stmt] = _parsed(path.read_text(encoding="utf-8")).body
    for name in names:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                body = node.body
                break
        else:
            return False
    return True
