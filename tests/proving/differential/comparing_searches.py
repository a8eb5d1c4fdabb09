"""Witnesses that a search finds where inputs have no end, beside the truth for these two inputs."""

from dataclasses import replace

from privately.errors import PrivatelyError
from privately.proving import Proved, Refuted, prove
from tests.proving.differential.choices import TooMany
from tests.proving.differential.comparing import Disagreement, check_masses, sides_of
from tests.proving.differential.running_python import law_of_python
from tests.proving.differential.signatures import Drawn


def compared_search(drawn: Drawn, claim: str = "1/20") -> str:
    """As `compared` says, for one private number that may be anything, and moves by at most 1."""
    (private,) = drawn.private
    drawn = replace(drawn, text=drawn.text.replace(private.annotation, "each(1)", 1))
    try:
        verdict = prove(drawn.text, claim)
    except PrivatelyError:
        return "refused"
    if isinstance(verdict, Proved):
        raise Disagreement("proved for inputs without end", drawn)
    if isinstance(verdict, Refuted):
        one, other = sides_of(verdict.witness)
        if abs(one["x"] - other["x"]) > 1:
            raise Disagreement(f"{one} and {other} are no neighbours", drawn)
        try:
            laws = law_of_python(drawn.text, one), law_of_python(drawn.text, other)
        except TooMany:
            return "many"
        check_masses(drawn, laws, verdict.witness)
    return verdict.word
