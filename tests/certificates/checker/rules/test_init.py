from pathlib import Path

from privately.certificates.checker.rules import RULES

SPECIFICATION = Path(__file__).parents[4] / "docs" / "theory" / "certificates.md"


def test_the_rules_are_those_of_the_specification() -> None:
    text = SPECIFICATION.read_text(encoding="utf-8").split("## Rules")[1]
    named = {line.split("`")[1] for line in text.splitlines() if line.startswith(("**`", "| `"))}
    assert named == set(RULES)
