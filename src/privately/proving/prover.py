"""`pv.prove` and `pv.analyze`: which method answers for a program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

from privately.errors import InvalidParameter
from privately.proving.analysis import SIZES, Analysis, Question, between_inputs, question
from privately.proving.certifying import certificate_of
from privately.proving.exact.claims import Claim, read_claim
from privately.proving.exact.inputs import named
from privately.proving.exact.places import Between, at
from privately.proving.exact.ratios import Ratio, probability
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.sets import includes
from privately.proving.exact.weights import UNKNOWN, quotient, weight
from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.reading import Source, read_program
from privately.proving.running import run
from privately.proving.scopes import declared_sizes, has_any_length, scope_of
from privately.proving.seeking import searched
from privately.proving.verdicts import Proved, Refuted, Unknown, Verdict, Witness, shown
from privately.rounding import Number, rational


def analyze(
    program: Source,
    *,
    neighbors: Mapping[str, Neighborhood] | None = None,
    public: Mapping[str, Number | Domain] | None = None,
    sizes: Iterable[int] | None = None,
    between: tuple[Mapping[str, object], Mapping[str, object]] | None = None,
) -> Analysis:
    """The exact analysis of a finite program: of all neighbours, or of two inputs that are given.

    >>> response = "b := flip()\\nif b = 1 then\\n  o := F(x)\\nelse\\n  o := flip()\\n"
    >>> from privately.proving import replaced
    >>> found = analyze(response, neighbors={"F(x)": replaced(0, 1)})
    >>> found.worst.value, found.epsilon
    (Fraction(3, 1), Interval(1.09861228866, 1.09861228867))
    """
    read = read_program(program)
    lengths = declared_sizes(read) if sizes is None else tuple(sizes)
    asked = question(read, neighbors=neighbors, public=public, sizes=lengths or SIZES)
    return Analysis(asked if between is None else between_inputs(asked, *between))


def prove(
    program: Source,
    claim: str | Number = "epsilon",
    *,
    neighbors: Mapping[str, Neighborhood] | None = None,
    public: Mapping[str, Number | Domain] | None = None,
    sizes: Iterable[int] | None = None,
) -> Verdict:
    """Proved, Refuted or Unknown: whether no neighbours differ by more than epsilon = claim.

    >>> response = "b := flip()\\nif b = 1 then\\n  o := F(x)\\nelse\\n  o := flip()\\n"
    >>> from privately.proving import replaced
    >>> prove(response, "ln(3)", neighbors={"F(x)": replaced(0, 1)}).word
    'proved'
    >>> prove(response, "1", neighbors={"F(x)": replaced(0, 1)}).witness.event
    'output 0'
    """
    read = read_program(program)
    fixed = declared_sizes(read) if sizes is None else tuple(sizes)
    asked = question(read, neighbors=neighbors, public=public, sizes=fixed or SIZES)
    sizes_are_all = bool(fixed) or not any(map(has_any_length, asked.program.private))
    text = claim if isinstance(claim, str) else str(rational(claim, "claim", minimum=0))
    if not mentions_size(text, asked):
        return _decided(asked, text, sizes_are_all=sizes_are_all)
    verdicts = [_decided(replace(asked, sizes=(size,)), text, sizes_are_all=sizes_are_all) for size in asked.sizes]
    return next(
        (one for word in ("refuted", "unknown") for one in verdicts if one.word == word), _joined(verdicts, asked)
    )


def mentions_size(claim: str, asked: Question) -> bool:
    """Whether a claim speaks of the length of the private lists, and of no public parameter of that name."""
    return "size" in re.findall(r"\w+", claim) and "size" not in {one.name for one in asked.program.public}


def _joined(verdicts: list[Verdict], asked: Question) -> Verdict:
    """Proved for every size: proved for all of them. There is no one tight epsilon, and no one certificate."""
    last = verdicts[-1]
    if len(verdicts) == 1 or not isinstance(last, Proved):
        return last
    return replace(last, epsilon=None, scope=scope_of(asked), certificate=None)


def _decided(asked: Question, text: str, *, sizes_are_all: bool) -> Verdict:
    known: dict[str, object] = dict(asked.public)
    if asked.open_parameter is not None:
        known[asked.open_parameter] = UNKNOWN
    if mentions_size(text, asked):
        known["size"] = asked.sizes[0]
    claim = read_claim(text, known)
    try:
        return _finite(asked, claim, sizes_are_all=sizes_are_all)
    except NotFinite as reason:
        return searched(asked, claim, reason.message, default_sizes=not sizes_are_all)


def _finite(asked: Question, claim: Claim, *, sizes_are_all: bool) -> Verdict:
    found = Analysis(asked)
    broken = found.holds(claim)
    if broken is not None and isinstance(found.place, Between):
        return _refuted_at_a_point(asked, claim, broken, found.place)
    for edge in found.edges:
        at_edge = replace(asked, public={**asked.public, asked.open_parameter or "": edge}, open_domain=None)
        verdict = _finite(at_edge, _at(claim, edge), sizes_are_all=sizes_are_all)
        if not isinstance(verdict, Proved):
            return verdict
    if broken is not None:
        return Refuted(claim=claim.text, witness=_witness(found), model=asked.program.model)
    tight = None if isinstance(found.place, Between) else found.epsilon
    if not sizes_are_all:
        why = f"it holds for {scope_of(asked)}, and the program takes lists of any length; say sizes=[...]."
        return Unknown(claim=claim.text, lower=tight, upper=None, why=why, model=asked.program.model)
    return Proved(
        claim=claim.text,
        epsilon=tight,
        scope=scope_of(asked),
        method="exact analysis of all neighbours",
        model=asked.program.model,
        certificate=certificate_of(found, claim),
    )


def _at(claim: Claim, point: Fraction) -> Claim:
    """The claim with a value for the parameter that was open in it."""
    try:
        factor = weight(at(claim.factor, point))
    except ZeroDivisionError:
        raise InvalidParameter(
            "claim", f"{claim.text} has no value at {point}.", hint="Leave the end out: inside(a, b)."
        ) from None
    return replace(claim, factor=factor, text=f"{claim.text} at {point}")


def _refuted_at_a_point(asked: Question, claim: Claim, broken: Ratio, place: Between) -> Verdict:
    """A claim with an open parameter fails for some value of it; the witness is for that value."""
    gap = None if broken.value is None else quotient(claim.factor) - broken.value
    points = place.samples([] if gap is None else [gap])
    point = next(one for one in points if gap is None or at(gap, one) < 0)
    public = {**asked.public, asked.open_parameter or "": point}
    found = Analysis(replace(asked, public=public, open_domain=None))
    return Refuted(claim=f"{claim.text} at {asked.open_parameter} = {point}", witness=_witness(found), model="exact")


def _witness(found: Analysis) -> Witness:
    private = found.asked.program.private
    worst = found.largest
    one, other = worst.inputs
    return Witness(
        inputs=dict(named(private, one)),
        neighbor=dict(named(private, other)),
        event=f"output {shown(worst.output)}",
        probability=probability(worst.masses[0], found.place),
        neighbor_probability=probability(worst.masses[1], found.place),
        epsilon=found.epsilon,
        replayed=partial(_replayed, found.asked, worst),
    )


def _replayed(asked: Question, worst: Ratio, samples: int) -> tuple[int, int]:
    """Runs of both inputs that end in the output."""
    first, second = (
        sum(
            includes(worst.output, run(asked.program, {**asked.public, **named(asked.program.private, inputs)}))
            for _ in range(samples)
        )
        for inputs in worst.inputs
    )
    return first, second
