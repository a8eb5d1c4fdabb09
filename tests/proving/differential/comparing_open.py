"""Formulas for the largest ratio, and verdicts for all values of a parameter, beside the truth at some values."""

import math
import re
from fractions import Fraction

from privately.errors import PrivatelyError
from privately.proving import Proved, Refuted, analyze, prove
from privately.proving.exact.budgets import NotFinite
from privately.proving.exact.ratios import Piece
from tests.proving.differential.choices import TooMany
from tests.proving.differential.comparing import Disagreement, check_witness
from tests.proving.differential.open_programs import OpenDrawn
from tests.proving.differential.running_python import law_of_python
from tests.proving.differential.signatures import Drawn
from tests.proving.differential.truths import Truth, truth_of


def compared_open(given: OpenDrawn, claim: str = "ln(3)") -> str:
    """As `compared` says."""
    drawn = given.drawn
    try:
        truths = {point: _truth(drawn, point) for point in given.points()}
    except TooMany:
        return "many"
    try:
        pieces = analyze(drawn.text, sizes=drawn.sizes).pieces
    except NotFinite:
        return "endless"
    except PrivatelyError:
        return "refused"
    for point, truth in truths.items():
        _check_pieces(drawn, pieces, point, truth)
    return _check_claim(drawn, truths, claim)


def _truth(drawn: Drawn, point: Fraction) -> Truth:
    return truth_of(Drawn(drawn.text, drawn.private, drawn.sizes, public={"p": point}), law_of_python)


def _check_pieces(drawn: Drawn, pieces: list[Piece], point: Fraction, truth: Truth) -> None:
    there = [piece for piece in pieces if piece.lower.upper < point < piece.upper.lower]
    if truth.fails or not truth.pairs or (not there and not any(_at_edge(piece, point) for piece in pieces)):
        raise Disagreement(f"no formula can be right at {point}, where runs fail: {truth.fails}", drawn)
    for piece in there:
        said, largest = value_at(piece, point), truth.largest()
        if said is None or largest is None:
            right = said is None and (largest is None or largest > 1000)
        else:
            right = said == largest if truth.exact else math.log(largest) <= math.log(said) + 1e-9
        if not right:
            raise Disagreement(f"at p = {point} the largest ratio is {largest}, not {said}", drawn)


def _at_edge(piece: Piece, point: Fraction) -> bool:
    return any(edge.lower <= point <= edge.upper for edge in (piece.lower, piece.upper))


def value_at(piece: Piece, point: Fraction) -> Fraction | None:
    """The formula as it is written, at a value of p; None for infinity."""
    value = piece.largest.value
    if value is None:
        return None
    words = value.written("p") if hasattr(value, "written") else str(value)
    exact = re.sub(r"(?<![\w^*])(\d+)", r"Fraction(\1)", words.replace("^", "**"))
    return Fraction(eval(exact, {"Fraction": Fraction, "p": point}))


def _check_claim(drawn: Drawn, truths: dict[Fraction, Truth], claim: str) -> str:
    verdict = prove(drawn.text, claim, sizes=drawn.sizes)
    if isinstance(verdict, Proved):
        for point, truth in truths.items():
            largest = truth.largest()
            if largest is None or largest > 3:
                raise Disagreement(f"{claim} is proved, and fails at {point}: {largest}", drawn)
    if isinstance(verdict, Refuted):
        point = Fraction(verdict.claim.rsplit(" ", 1)[1])
        try:
            there = _truth(drawn, point)
        except TooMany:
            return "many"
        check_witness(drawn, there, verdict.witness)
    return verdict.word
