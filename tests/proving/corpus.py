"""The public corpus: programs with a claim each, in the folder that states the verdict."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from privately.cli.proving.asking import public_values

FOLDER = Path(__file__).parents[1] / "corpus"


@dataclass(frozen=True)
class Case:
    """One program of the corpus."""

    name: str
    text: str
    private: bool
    head: dict[str, str]

    @property
    def known(self) -> dict[str, Any]:
        """What `prove` is told."""
        public = [part.strip() for part in re.split(r",(?![^(]*\))", self.head.get("public", "")) if part.strip()]
        found: dict[str, Any] = {"public": public_values(public)}
        if "sizes" in self.head:
            found["sizes"] = [int(one) for one in self.head["sizes"].split(",")]
        return found

    @property
    def numbers(self) -> dict[str, Any]:
        """Public values, as numbers."""
        return {name: Fraction(value) for name, value in self.known["public"].items() if isinstance(value, str)}

    @property
    def finite(self) -> bool:
        """Whether all of it can be listed."""
        noise = re.search(r"\b(laplace|exponential|gaussian|discrete_\w+|geometric|rounded_\w+)\(", _body(self.text))
        return noise is None


def _body(text: str) -> str:
    return text.split("):\n", 1)[1]


def cases() -> list[Case]:
    """All of it."""
    found = []
    for path in sorted(FOLDER.glob("*private/*.py")):
        text = path.read_text()
        head = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("# "))
        found.append(Case(path.stem, text, path.parent.name == "private", head))
    return found
