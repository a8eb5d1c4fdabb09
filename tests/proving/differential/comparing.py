"""Verdicts beside the truth. What a prover may not take is counted; what it gets wrong raises."""

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

from privately.errors import PrivatelyError
from privately.proving import Proved, Refuted, Verdict, analyze, prove
from privately.proving.analysis import Analysis
from privately.proving.exact.budgets import NotFinite
from privately.proving.verdicts import Witness
from tests.proving.differential.choices import Law, TooMany
from tests.proving.differential.events import event_mass
from tests.proving.differential.neighbours import neighbours
from tests.proving.differential.running_python import law_of_python
from tests.proving.differential.signatures import Drawn
from tests.proving.differential.truths import Running, Truth, truth_of

NEAR = 1e-9
LITTLE = Fraction(999, 1000)


class Disagreement(AssertionError):
    """A verdict that is not true."""

    def __init__(self, what: str, drawn: Drawn) -> None:
        super().__init__(f"{what}, sizes {drawn.sizes}, public {drawn.public}:\n{drawn.text}")


def compared(drawn: Drawn, running: Running = law_of_python, *, verdicts: bool = True) -> str:
    """What came of it, in a word: `finite` for a program that leaks a finite amount, `nothing` where nothing leaks,
    `everything` where an output tells neighbours apart; `failing` for one that was rightly refused, `refused` for one
    that need not have been, `endless` where only a search could answer, `many` where the truth is not known.
    Without `verdicts` the analysis behind them is compared alone, which takes a third of the time."""
    try:
        truth = truth_of(drawn, running)
    except TooMany:
        return "many"
    if truth.fails or not truth.pairs:
        _check_refused(drawn)
        return "failing"
    try:
        found = _analysis(drawn)
        found.epsilon  # noqa: B018 - here it is computed
    except NotFinite:
        return "endless"
    except PrivatelyError:
        return "refused"
    _check_analysis(drawn, truth, found)
    if verdicts:
        _check_verdicts(drawn, truth, found)
    return "everything" if found.epsilon.upper == math.inf else "finite" if found.epsilon.upper > 0 else "nothing"


def _analysis(drawn: Drawn) -> Analysis:
    return analyze(drawn.text, sizes=drawn.sizes, public=drawn.public, neighbors=drawn.neighbors)


def _verdict(drawn: Drawn, claim: str) -> Verdict:
    return prove(drawn.text, claim, sizes=drawn.sizes, public=drawn.public, neighbors=drawn.neighbors)


def _check_refused(drawn: Drawn) -> None:
    """No verdict speaks of a program that some neighbour makes fail; a witness would have to be one of outputs."""
    with suppress(PrivatelyError):
        found = _analysis(drawn).epsilon
        raise Disagreement(f"a run can fail, or there are no neighbours, and epsilon is said to be {found}", drawn)


def _check_analysis(drawn: Drawn, truth: Truth, found: Analysis) -> None:
    largest = truth.largest()
    if truth.exact and found.worst.value != largest:
        raise Disagreement(f"the largest ratio is {largest}, not {found.worst.value}", drawn)
    least = math.inf if largest is None else math.log(largest)
    if least > found.epsilon.upper + NEAR:
        raise Disagreement(f"the largest ratio is at least {largest}, not e^{found.epsilon.upper}", drawn)
    for ratio in (Fraction(1), Fraction(3, 2)):
        low, high = truth.delta(ratio)
        said = found.delta(math.log(ratio)) if ratio > 1 else found.delta(0)
        if float(said.upper) < low - NEAR or float(said.lower) > high + NEAR:
            raise Disagreement(f"delta for {ratio} lies in [{low}, {high}], not in {said}", drawn)


def _check_verdicts(drawn: Drawn, truth: Truth, found: Analysis) -> None:
    """A claim that just holds, and one that just does not."""
    largest = truth.largest()
    if found.epsilon.lower == math.inf:
        _check_refuted(drawn, truth, "ln(1000000)")
    elif largest is None or largest <= 1:
        _check_proved(drawn, truth, "0" if truth.exact else "1/1000")
    elif truth.exact:
        _check_proved(drawn, truth, f"ln({largest})")
        _check_refuted(drawn, truth, f"ln({1 + (largest - 1) * LITTLE})")
    else:
        _check_proved(drawn, truth, str(Fraction(found.epsilon.upper) + Fraction(1, 1000)))
        _check_refuted(drawn, truth, f"ln({Fraction(str(round(float(largest), 9))) * LITTLE})")


def _check_proved(drawn: Drawn, truth: Truth, claim: str) -> None:
    verdict = _verdict(drawn, claim)
    if isinstance(verdict, Refuted):
        raise Disagreement(f"{claim} holds, and is said to be refuted: {verdict}", drawn)
    if isinstance(verdict, Proved):
        least = math.log(truth.largest() or 1)
        certified = [] if verdict.certificate is None else [verdict.certificate.guarantee.parameters["epsilon"]]
        for said in [verdict.epsilon.upper if verdict.epsilon is not None else math.inf, *certified]:
            if said < least - NEAR:
                raise Disagreement(f"{said} is proved, and the truth is at least {least}", drawn)


def _check_refuted(drawn: Drawn, truth: Truth, claim: str) -> None:
    verdict = _verdict(drawn, claim)
    if isinstance(verdict, Proved):
        raise Disagreement(f"{claim} does not hold, and is said to be proved", drawn)
    if isinstance(verdict, Refuted):
        check_witness(drawn, truth, verdict.witness)


def check_witness(drawn: Drawn, truth: Truth, witness: Witness) -> None:
    """The two inputs are neighbours, the event is as likely as is said, and epsilon is that of these numbers."""
    sides = sides_of(witness)
    if sides not in neighbours(drawn.private, drawn.sizes):
        raise Disagreement(f"{witness.inputs} and {witness.neighbor} are no neighbours", drawn)
    check_masses(drawn, (truth.law(sides[0]), truth.law(sides[1])), witness)


def sides_of(witness: Witness) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two inputs in exact numbers."""
    one, other = witness.inputs, witness.neighbor
    return {name: _fractions(one[name]) for name in one}, {name: _fractions(other[name]) for name in other}


def check_masses(drawn: Drawn, laws: tuple[Law, Law], witness: Witness) -> None:
    """The event is as likely as is said, and epsilon is that of these numbers."""
    for law, said in zip(laws, (witness.probability, witness.neighbor_probability), strict=True):
        low, high = event_mass(law, witness.event)
        if float(said.upper) < low - NEAR or float(said.lower) > high + NEAR:
            raise Disagreement(f"{witness.event} has mass in [{low}, {high}], not {said}: {witness}", drawn)
    above, below = witness.probability.upper, witness.neighbor_probability.lower
    most = math.inf if not below else _logarithm(above) - _logarithm(below)
    if witness.epsilon.lower > most + NEAR:
        raise Disagreement(f"{witness} proves no more than {most}", drawn)


def _logarithm(value: Any) -> float:
    """Of a number that may be too small for a float."""
    exact = Fraction(value)
    return math.log(exact.numerator) - math.log(exact.denominator)


def _fractions(value: Any) -> Any:
    return tuple(map(_fractions, value)) if isinstance(value, tuple) else Fraction(value)
