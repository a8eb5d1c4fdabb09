"""What runs beside what is analysed: the statements of a program and its text, with all draws and with real ones."""

from collections.abc import Mapping
from typing import Any

from privately.errors import InvalidParameter, PrivatelyError
from privately.proving import read_program, run
from privately.proving.language.meaning import simple
from privately.proving.language.program import Program
from privately.proving.primitives import SAMPLERS
from privately.proving.running import Run
from tests.proving.differential.choices import FAILED, Excluded, Law, TooMany, Ways, frozen
from tests.proving.differential.comparing import Disagreement
from tests.proving.differential.neighbours import neighbours
from tests.proving.differential.running_python import function_of, given, law_of_python
from tests.proving.differential.signatures import Drawn

INPUTS, RUNS = 3, 2


def agreed(drawn: Drawn) -> bool:
    """Whether there was something to compare; raises where a run is not what is analysed."""
    try:
        program = read_program(drawn.text)
    except PrivatelyError:
        return False
    for inputs, _ in neighbours(drawn.private, drawn.sizes)[:: max(1, len(drawn.private) * 7)][:INPUTS]:
        try:
            truth = law_of_python(drawn.text, inputs)
            law = law_of_run(program, inputs)
        except TooMany:
            return False
        except Excluded:
            continue
        _check_laws(drawn, truth, law)
        if not law.fails and not truth.lost:
            _check_runs(drawn, program, inputs, truth)
    return True


def law_of_run(program: Program, inputs: Mapping[str, Any]) -> Law:
    """The law of the statements that `run` follows."""
    ways = Ways()
    values = {name: _plain(value) for name, value in inputs.items()}

    def draw(sample: Any, arguments: tuple[Any, ...]) -> Any:
        ways.tick()
        value = ways.drawn(sample.law, *arguments)
        return tuple(value) if isinstance(value, list) else value

    def output() -> Any:
        try:
            return Run(program, values, draw, most_rounds=500).output()
        except InvalidParameter:
            raise Excluded from None

    return ways.all(output)


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, tuple) else simple(value)


def _check_laws(drawn: Drawn, truth: Law, law: Law) -> None:
    """Runs may fail where Python goes on, never the other way round; and then no verdict speaks of them."""
    if law.masses.get(FAILED, 0) < truth.masses.get(FAILED, 0):
        raise Disagreement(f"Python fails with {truth.masses[FAILED]}, the run with {law.masses.get(FAILED, 0)}", drawn)
    if not law.fails and not (law.lost or truth.lost) and law.masses != truth.masses:
        raise Disagreement(f"Python gives {truth.masses}, the run {law.masses}", drawn)


def _check_runs(drawn: Drawn, program: Program, inputs: Mapping[str, Any], truth: Law) -> None:
    """With real draws, the statements and the text give outputs that are possible."""
    stands = function_of(drawn.text, SAMPLERS, lambda: None)
    for _ in range(RUNS):
        statements = run(program, {name: _plain(value) for name, value in inputs.items()})
        text = stands(**{name: given(value) for name, value in inputs.items()})
        for output in (frozen(statements), frozen(text)):
            if output not in truth.masses:
                raise Disagreement(f"a run ends with {output}, which cannot be", drawn)
