"""Verdicts on programs that are not finite: a witness against the claim is looked for, and what was found is told."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from privately.errors import NotSupported
from privately.proving.analysis import Question
from privately.proving.exact.claims import Claim
from privately.proving.exact.places import at
from privately.proving.exact.weights import Quotient, weight
from privately.proving.refuting.refuting import SIZES as MANY_SIZES
from privately.proving.refuting.refuting import refute
from privately.proving.refuting.witnesses import Comparison, LowerBound
from privately.proving.verdicts import Refuted, Unknown, Verdict, Witness

OPEN_VALUE = Fraction(1)
"""A parameter that was left open, such as epsilon, is looked at here."""


def searched(asked: Question, claim: Claim, why: str, *, default_sizes: bool) -> Verdict:
    """Refuted with a certified witness, or Unknown with the largest certified lower bound."""
    if asked.open_parameter is not None:
        asked = replace(asked, public={**asked.public, asked.open_parameter: OPEN_VALUE}, open_domain=None)
        factor = weight(at(claim.factor, OPEN_VALUE)) if isinstance(claim.factor, Quotient) else claim.factor
        claim = replace(claim, factor=factor)
    model = asked.program.model
    sizes = MANY_SIZES if default_sizes else asked.sizes
    try:
        found = refute(asked.program, claim.epsilon, public=asked.public, sizes=sizes)
    except NotSupported as reason:
        return Unknown(claim=claim.text, lower=None, upper=None, why=f"{why} {reason.message}", model=model)
    if isinstance(found, LowerBound):
        return Unknown(claim=claim.text, lower=found.epsilon, upper=None, why=why, model=model)
    witness = Witness(
        inputs=found.inputs,
        neighbor=found.neighbor,
        event=str(found.event),
        probability=found.probability,
        neighbor_probability=found.neighbor_probability,
        epsilon=found.epsilon,
        replayed=partial(_replayed, found),
    )
    return Refuted(claim=claim.text, witness=witness, model=model)


def _replayed(found: Comparison, samples: int) -> tuple[int, int]:
    seen = found.replay(samples)
    return seen.count, seen.neighbor_count
