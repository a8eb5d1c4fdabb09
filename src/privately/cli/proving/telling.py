"""Verdicts and analyses for people and for programs."""

from __future__ import annotations

import json
from typing import Any

from privately.proving import Analysis, Proved, Refuted, Unknown, Verdict
from privately.proving.exact.places import Between
from privately.proving.exact.ratios import probability
from privately.proving.exact.sets import in_words
from privately.proving.exact.weights import Quotient
from privately.proving.scopes import scope_of
from privately.proving.verdicts import lowest, shown
from privately.rounding import Interval
from privately.views import table

MOST_ROWS = 40
LONGEST_FORMULA = 60
_CURVE = (0, "1/10", "1/2", 1, 2, 4)


def verdict_text(verdict: Verdict) -> str:
    """A verdict in a few lines."""
    lines: list[str] = []
    match verdict:
        case Proved():
            lines = [f"proved: epsilon <= {verdict.claim}", f"  for {verdict.scope}", f"  by {verdict.method}"]
            if verdict.epsilon is not None:
                lines.append(f"  tight epsilon: {verdict.epsilon.in_words(10)}")
            lines.append("  certificate: " + ("yes" if verdict.certificate else f"none: {verdict.uncertified}"))
        case Refuted(witness=witness):
            lines = [f"refuted: epsilon <= {verdict.claim} does not hold", f"  {witness.event}"]
            for inputs, mass in (
                (witness.inputs, witness.probability),
                (witness.neighbor, witness.neighbor_probability),
            ):
                words = ", ".join(f"{name} = {shown(value)}" for name, value in inputs.items())
                lines.append(f"  has probability {mass.in_words(10)} for {words}")
            sight = ", as their logarithms show" if witness.is_out_of_sight else ""
            lines.append(f"  so epsilon is at least {lowest(witness.epsilon, verdict.claim)}{sight}")
        case Unknown():
            lines = ["unknown: neither proved nor refuted", f"  {verdict.why}"]
            if verdict.lower is not None:
                lines.append(f"  epsilon is at least {lowest(verdict.lower)}")
    return "\n".join([*lines, f"  model: {verdict.model}"])


def verdict_json(verdict: Verdict) -> str:
    """A verdict for programs; numbers as exact texts, low end first."""
    data: dict[str, Any] = {"verdict": verdict.word, "claim": verdict.claim, "model": verdict.model}
    match verdict:
        case Proved():
            data |= {"scope": verdict.scope, "method": verdict.method, "epsilon": _plain(verdict.epsilon)}
            data["certificate"] = None if verdict.certificate is None else verdict.certificate.hash
            data["uncertified"] = verdict.uncertified
        case Refuted(witness=witness):
            data["witness"] = witness.as_data()
        case Unknown():
            data |= {"why": verdict.why, "lower": _plain(verdict.lower), "upper": _plain(verdict.upper)}
    return json.dumps(data)


def _plain(interval: Interval | None) -> list[str] | None:
    return None if interval is None else [str(end) for end in interval]


def analysis_text(found: Analysis) -> str:
    """An analysis for people: the tight epsilon, where it is lost, the curve, the laws."""
    parts = [f"for {scope_of(found.asked)}"]
    if isinstance(found.place, Between) or found.asked.open_parameter is not None:
        name = found.asked.open_parameter or ""
        rows = [
            (
                str(one.lower),
                str(one.upper),
                "infinity" if one.largest.value is None else f"ln({formula(one.largest.value, name)})",
            )
            for one in found.pieces
        ]
        return "\n\n".join([*parts, table(("from", "to", "tight epsilon"), rows)])
    worst = found.worst
    one, other = (", ".join(map(shown, inputs)) for inputs in worst.inputs)
    parts.append(f"tight epsilon: {found.epsilon.in_words(10)}")
    parts[-1] += f"\n  output {in_words(worst.output)}, input {one} against {other}"
    curve = [(str(epsilon), found.delta(epsilon).in_words(10)) for epsilon in _CURVE]
    parts.append(table(("epsilon", "tight delta"), curve))
    parts.append(_laws(found))
    return "\n\n".join(parts)


def _laws(found: Analysis) -> str:
    inputs = list(dict.fromkeys(one for pair in found.pairs for one in pair))
    rows = [
        (", ".join(map(shown, one)), in_words(output), mass_text(mass, found))
        for one in inputs[:MOST_ROWS]
        for output, mass in sorted(found.law_of(one).items(), key=lambda item: repr(item[0]))
    ]
    more = f"\n... {len(rows) - MOST_ROWS} more rows" if len(rows) > MOST_ROWS else ""
    return table(("input", "output", "probability"), rows[:MOST_ROWS]) + more


def mass_text(mass: Any, found: Analysis) -> str:
    """A probability: exact where it is rational, else in digits and as a formula in e."""
    if not isinstance(mass, Quotient):
        return str(mass)
    digits = probability(mass, found.place).in_words(10)
    power = "e^-1" if found.unit == 1 else f"e^(-1/{found.unit})"
    text = formula(mass, "t")
    return f"{digits}, which is {text} for t = {power}" if len(text) <= LONGEST_FORMULA else digits


def formula(value: Any, name: str) -> str:
    """A quotient of polynomials with the parameter's own name."""
    return value.written(name) if isinstance(value, Quotient) else str(value)


def analysis_json(found: Analysis) -> str:
    """An analysis for programs."""
    data: dict[str, Any] = {"scope": scope_of(found.asked)}
    name = found.asked.open_parameter
    if name is not None:
        data["pieces"] = [
            {
                "from": str(one.lower),
                "to": str(one.upper),
                "ratio": None if one.largest.value is None else formula(one.largest.value, name),
            }
            for one in found.pieces
        ]
        return json.dumps(data)
    data["epsilon"] = _plain(found.epsilon)
    data["worst"] = {
        "inputs": [[_value(one) for one in inputs] for inputs in found.worst.inputs],
        "output": _value(found.worst.output),
    }
    return json.dumps(data)


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_value(one) for one in value]
    return int(value) if isinstance(value, int) else str(value)
