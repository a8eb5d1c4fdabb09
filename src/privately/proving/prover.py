"""`pv.prove` and `pv.analyze`: which method answers for a program."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice

from privately.errors import InvalidParameter, NotSupported, PrivatelyError
from privately.proving.analysis import SIZES, Analysis, Question, between_inputs, question
from privately.proving.certifying import Contradicted, certificate_of
from privately.proving.exact.budgets import Budget, NotFinite
from privately.proving.exact.claims import Claim, read_claim
from privately.proving.exact.evidence import evidence
from privately.proving.exact.inputs import Inputs, named
from privately.proving.exact.places import Between, at
from privately.proving.exact.ratios import Ratio
from privately.proving.exact.sets import in_words, includes
from privately.proving.exact.weights import UNKNOWN, Quotient, quotient, weight
from privately.proving.language.declarations import Domain, Neighborhood, decimal
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.reading import Source, read_program
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.refuting import BUDGET
from privately.proving.running import run
from privately.proving.scopes import declared_sizes, has_any_length, scope_of
from privately.proving.seeking import longer_than, other_than, searched
from privately.proving.verdicts import Proved, Refuted, Unknown, Verdict, Witness
from privately.rounding import Number

SECONDS = 8.0
"""CPU time of a verdict: an analysis, then a search or a certificate. A certificate is checked once before it is given,
which takes the work that a checker does, some five seconds at most."""

ANALYSING = 4.0
LONGER_WORK, LONGER_SECONDS = 500_000, 0.5
MOST_PAIRS = 16


def analyze(
    program: Source,
    *,
    neighbors: Mapping[str, Neighborhood] | None = None,
    public: Mapping[str, Number | Domain | Sequence[Number]] | None = None,
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
    asked, _ = _asked(read, neighbors, public, sizes)
    if between is not None and (not isinstance(between, tuple) or len(between) != 2):
        raise InvalidParameter("between", "give two inputs: ({'x': ...}, {'x': ...}).")
    return Analysis(asked if between is None else between_inputs(asked, *between))


def prove(
    program: Source,
    claim: str | Number = "epsilon",
    *,
    neighbors: Mapping[str, Neighborhood] | None = None,
    public: Mapping[str, Number | Domain | Sequence[Number]] | None = None,
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
    asked, sizes_are_all = _asked(read, neighbors, public, sizes)
    text = claim if isinstance(claim, str) else str(decimal(claim, "claim", minimum=0))
    limits = Limits()
    if not mentions_size(text, asked):
        return _decided(asked, text, limits, sizes_are_all=sizes_are_all)
    asked = replace(asked, sizes=_with_neighbors(asked))
    longer = () if sizes_are_all else longer_than(asked.sizes)
    verdicts: list[Verdict] = []
    for place, size in enumerate(asked.sizes):
        limits.searches = len(asked.sizes) - place + len(longer)
        verdicts.append(_decided(replace(asked, sizes=(size,)), text, limits, sizes_are_all=sizes_are_all))
    for place, size in enumerate(longer if not any(isinstance(one, Refuted) for one in verdicts) else ()):
        limits.searches = len(longer) - place
        verdicts.append(_looked_for(replace(asked, sizes=(size,)), text, limits))
    return next(
        (one for word in ("refuted", "unknown") for one in verdicts if one.word == word), _joined(verdicts, asked)
    )


def _asked(
    read: Program,
    neighbors: Mapping[str, Neighborhood] | None,
    public: Mapping[str, Number | Domain | Sequence[Number]] | None,
    sizes: Iterable[int] | None,
) -> tuple[Question, bool]:
    """The question, and whether no private list has any other length than those that it is about."""
    asked = question(read, neighbors=neighbors, public=public, sizes=SIZES if sizes is None else sizes)
    fixed = declared_sizes(asked.program) if sizes is None else asked.sizes
    sizes_are_all = bool(fixed) or not any(map(has_any_length, asked.program.private))
    return replace(asked, sizes=fixed or asked.sizes), sizes_are_all


class Limits:
    """What is left for one verdict: work to analyse with, and time to search in, shared by what is still to be done."""

    def __init__(self) -> None:
        self.deadline = Deadline(SECONDS)
        self.analysis = Budget(seconds=ANALYSING)
        self.searches = 1

    @property
    def search(self) -> float:
        """Seconds for the next search."""
        return min(BUDGET, self.deadline.left / self.searches)


def mentions_size(claim: str, asked: Question) -> bool:
    """Whether a claim speaks of the length of the private list, and of no public parameter of that name."""
    if "size" not in re.findall(r"\w+", claim) or "size" in {one.name for one in asked.program.public}:
        return False
    lists = [one.name for one in asked.program.private if has_any_length(one)]
    if len(lists) != 1:
        raise InvalidParameter("claim", f"size of what? There are {len(lists)} private lists of any length.")
    return True


def _with_neighbors(asked: Question) -> tuple[int, ...]:
    """The sizes at which something can change: a list without entries has no neighbour if nothing is added to it."""
    private = asked.program.private
    stays = len(private) == 1 and private[0].neighborhood is not None and private[0].neighborhood.change != "added"
    return tuple(size for size in asked.sizes if size or not stays) or asked.sizes


def _joined(verdicts: list[Verdict], asked: Question) -> Verdict:
    """Proved for every size: proved for all of them. There is no one tight epsilon, and no one certificate."""
    last = verdicts[-1]
    if len(verdicts) == 1 or not isinstance(last, Proved):
        return last
    why = "every size has an epsilon of its own; ask for one size, and there is one."
    return replace(last, epsilon=None, scope=scope_of(asked), certificate=None, uncertified=why)


def _decided(asked: Question, text: str, limits: Limits, *, sizes_are_all: bool) -> Verdict:
    claim, speaks_of_size = _claim(asked, text), mentions_size(text, asked)
    try:
        verdict = _finite(asked, claim, limits.analysis, sizes_are_all=sizes_are_all)
    except NotFinite as reason:
        default_sizes = not sizes_are_all and not speaks_of_size
        return searched(asked, claim, reason.message, default_sizes=default_sizes, budget=limits.search)
    return verdict if sizes_are_all or speaks_of_size else _with_longer(asked, claim, verdict)


def _with_longer(asked: Question, claim: Claim, verdict: Verdict) -> Verdict:
    """A verdict on short lists, or a refutation by the empty one or by some longer ones if they lose more."""
    best = verdict.witness.epsilon.lower if isinstance(verdict, Refuted) else claim.epsilon.upper
    budget = Budget(LONGER_WORK, seconds=LONGER_SECONDS)
    for size in other_than(asked.sizes) if asked.open_parameter is None else ():
        near = layout(asked.program, {}, size, asked.public)
        for pair in islice(filter(near.holds, near.starts()), MOST_PAIRS):
            sides = near.concrete(0, pair[0]), near.concrete(1, pair[1])
            for one, other in (sides, sides[::-1]):
                if best == math.inf or budget.is_spent:
                    return verdict
                try:
                    found = Analysis(between_inputs(asked, one, other), budget)
                    worse = found.epsilon.lower > best
                except PrivatelyError:  # too many states, or an assumption that does not hold
                    continue
                if worse:
                    best = found.epsilon.lower
                    verdict = _refuted(found, claim, claim.text)
    return verdict


def _looked_for(asked: Question, text: str, limits: Limits) -> Verdict:
    """What a search alone says of one length."""
    why = f"lists of {asked.sizes[0]} entries were searched only."
    return searched(asked, _claim(asked, text), why, default_sizes=False, budget=min(BUDGET / 4, limits.search))


def _claim(asked: Question, text: str) -> Claim:
    known: dict[str, object] = dict(asked.public)
    if asked.open_parameter is not None:
        known[asked.open_parameter] = UNKNOWN
    if mentions_size(text, asked):
        known["size"] = asked.sizes[0]
    found = read_claim(text, known)
    if asked.open_parameter is None and found.epsilon.upper < 0:
        raise InvalidParameter("claim", f"{text} is below 0.")
    return found


def _finite(asked: Question, claim: Claim, budget: Budget, *, sizes_are_all: bool) -> Verdict:
    with budget.answering():
        return _analysed(asked, claim, budget, sizes_are_all=sizes_are_all)


def _analysed(asked: Question, claim: Claim, budget: Budget, *, sizes_are_all: bool) -> Verdict:
    found = Analysis(asked, budget)
    broken = found.holds(claim)
    if broken is not None and isinstance(found.place, Between):
        return _refuted_at_a_point(asked, claim, broken, found.place, budget)
    for edge in found.edges:
        at_edge = replace(asked, public={**asked.public, asked.open_parameter or "": edge}, open_domain=None)
        verdict = _analysed(at_edge, _at(claim, edge), budget, sizes_are_all=sizes_are_all)
        if not isinstance(verdict, Proved):
            return verdict
    if broken is not None:
        return _refuted(found, claim, claim.text)
    tight = None if isinstance(found.place, Between) else found.epsilon
    if not sizes_are_all:
        why = f"it holds for {scope_of(asked)}, and the program takes lists of any length; say sizes=[...]."
        return Unknown(claim=claim.text, lower=tight, upper=None, why=why, model=asked.program.model)
    proved = Proved(
        claim=claim.text,
        epsilon=tight,
        scope=scope_of(asked),
        method="exact analysis of all neighbours",
        model=asked.program.model,
    )
    try:
        return replace(proved, certificate=certificate_of(found, claim))
    except Contradicted as reason:
        return Unknown(claim=claim.text, lower=None, upper=None, why=reason.message, model=asked.program.model)
    except (NotSupported, InvalidParameter) as reason:  # such as an epsilon above all that guarantees may have
        return replace(proved, uncertified=reason.message)


def _at(claim: Claim, point: Fraction) -> Claim:
    """The claim with a value for the parameter that was open in it."""
    try:
        factor = weight(at(claim.factor, point))
    except ZeroDivisionError:
        raise InvalidParameter(
            "claim", f"{claim.text} has no value at {point}.", hint="Leave the end out: inside(a, b)."
        ) from None
    return replace(claim, factor=factor, text=f"{claim.text} at {point}")


def _refuted_at_a_point(asked: Question, claim: Claim, broken: Ratio, place: Between, budget: Budget) -> Verdict:
    """A claim with an open parameter fails for some value of it; the witness is for that value."""
    gap = None if broken.value is None else quotient(claim.factor) - broken.value
    masses = [one for one in broken.masses if isinstance(one, Quotient)]
    for point in place.samples(masses if gap is None else [gap, *masses]):
        fixed = replace(asked, public={**asked.public, asked.open_parameter or "": point}, open_domain=None)
        found, there = Analysis(fixed, budget), _at(claim, point)
        if found.holds(there) is not None:
            return _refuted(found, there, f"{claim.text} at {asked.open_parameter} = {point}")
    why = f"the claim fails for some values of {asked.open_parameter}, of which none was found."
    return Unknown(claim=claim.text, lower=None, upper=None, why=why, model=asked.program.model)


def _refuted(found: Analysis, claim: Claim, text: str) -> Verdict:
    """With a witness; where one would be too far out to be named, what is known."""
    worst, model = found.largest, found.asked.program.model
    shown = evidence(worst, claim, found.place)
    if shown is None:
        why = "outputs far out lose more than the claim, but none was found that certainly does."
        return Unknown(claim=text, lower=found.epsilon, upper=None, why=why, model=model)
    one, other = (named(found.asked.program.private, inputs) for inputs in worst.inputs)
    witness = Witness(
        inputs=dict(one),
        neighbor=dict(other),
        event=f"output {in_words(shown.output)}",
        probability=shown.probabilities[0],
        neighbor_probability=shown.probabilities[1],
        epsilon=shown.loss,
        replayed=partial(_replayed, found.asked, worst.inputs, shown.output),
    )
    return Refuted(claim=text, witness=witness, model=model)


def _replayed(asked: Question, both: tuple[Inputs, Inputs], output: Value, samples: int) -> tuple[int, int]:
    """Runs of both inputs that end in the output."""
    first, second = (
        sum(
            includes(output, run(asked.program, {**asked.public, **named(asked.program.private, inputs)}))
            for _ in range(samples)
        )
        for inputs in both
    )
    return first, second
