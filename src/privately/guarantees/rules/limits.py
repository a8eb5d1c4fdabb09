"""How large an exponent a checker agrees to evaluate."""

from __future__ import annotations

from fractions import Fraction

from privately.errors import InvalidParameter

LARGEST_EXPONENT = 2000


def moderate(exponent: Fraction, field: str = "epsilon") -> Fraction:
    """The exponent itself, if it is one that certificates allow."""
    if abs(exponent) > LARGEST_EXPONENT:
        raise InvalidParameter(field, f"leads to an exponent above {LARGEST_EXPONENT}, where no privacy is left.")
    return exponent
