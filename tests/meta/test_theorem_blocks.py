"""Every rule states its theorem, and the proof and the tests that it names exist."""

import inspect
from pathlib import Path

import pytest

from privately.guarantees.rules import RULES
from tests.meta.theorems import anchors, entries, faults
from tests.meta.tree import ROOT, SOURCE, docstrings, parse, python_files

GOOD = """Adding costs adds up.

Theorem: if M is epsilon-private
    and N is delta-private, then (M, N) is both.
Reference: Dwork and Roth 2014, Theorem 3.16.
Proof: docs/theory/composition.md#basic-composition
Checked-by: tests/test_rules.py::test_dominates,
    tests/test_rules.py::TestTwins::test_refuted
"""
TESTS = "def test_dominates(): ...\nclass TestTwins:\n    def test_refuted(self): ...\ndef helper(): ...\n"
PAGE = "# Composition\n\n## Basic composition\n\n```\n# Not a heading\n```\n"


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_has_a_sound_block(name: str) -> None:
    docstring = inspect.getdoc(inspect.unwrap(RULES[name])) or ""
    assert faults(docstring, ROOT) == []


def test_there_are_rules() -> None:
    assert RULES


def test_every_other_theorem_block_is_sound() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}": faults(text, ROOT)
        for path in python_files(SOURCE)
        for name, text in docstrings(parse(path))
        if any(label == "Theorem" for label, _ in entries(text))
    }
    assert {place: faulty for place, faulty in found.items() if faulty} == {}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "theory").mkdir(parents=True)
    (tmp_path / "docs" / "theory" / "composition.md").write_text(PAGE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_rules.py").write_text(TESTS)
    return tmp_path


def test_a_good_block_has_no_fault(tree: Path) -> None:
    assert faults(GOOD, tree) == []
    assert dict(entries(GOOD))["Theorem"] == "if M is epsilon-private and N is delta-private, then (M, N) is both."


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("Reference: Dwork and Roth 2014, Theorem 3.16.\n", "", "once each"),
        ("Theorem:", "Claim:", "once each"),
        ("Reference:", "Proof: docs/theory/composition.md#composition\nReference:", "once each"),
        ("Reference: Dwork and Roth 2014, Theorem 3.16.", "Reference:", "Reference is empty"),
        ("composition.md#", "decomposition.md#", "which does not exist"),
        ("#basic-composition", "#advanced-composition", "which does not exist"),
        ("#basic-composition", "#not-a-heading", "which does not exist"),
        ("#basic-composition", "", "names no docs/theory"),
        ("Proof: docs/theory/", "Proof: elsewhere/", "names no docs/theory"),
        ("::test_dominates", "::test_dominated", "which does not exist"),
        ("::test_dominates", "::helper", "which does not exist"),
        ("::TestTwins::test_refuted", "::test_refuted", "which does not exist"),
        ("test_rules.py::test_dominates", "test_ruler.py::test_dominates", "which does not exist"),
        ("tests/test_rules.py::", "by us: ", "names no tests"),
    ],
)
def test_a_bad_block_is_reported(tree: Path, old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    assert complaint in " ".join(faults(GOOD.replace(old, new), tree))


def test_anchors_are_made_as_github_makes_them() -> None:
    page = "# A, B & C\n## zCDP → Rényi (tight)\n## Twice\n## Twice\n### `code_name` here ###\n"
    assert anchors(page) == {"a-b--c", "zcdp--rényi-tight", "twice", "twice-1", "code_name-here"}
