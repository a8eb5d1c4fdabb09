"""A verdict as a page: the program, its tree of draws in two worlds side by side, and its curve."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from fractions import Fraction
from math import log
from typing import Any

from privately.cli.proving.telling import formula, mass_text, verdict_text
from privately.proving import Analysis, Refuted, Verdict
from privately.proving.exact.inputs import Inputs, named
from privately.proving.exact.places import at
from privately.proving.exact.sets import in_words
from privately.proving.exact.weights import quotient
from privately.proving.trees import Leaf, Node, tree
from privately.proving.verdicts import shown
from privately.views import Axis, Chart, Line

STEPS = 60
_STYLE = """
:root { --ink: #1d2733; --soft: #5b6876; --paper: #fff; --line: #dde3ea; --blue: #0072b2; --red: #d55e00;
  --green: #009e73; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f6f9; color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 36px 20px 60px; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 18px 24px;
  margin: 18px 0; overflow-x: auto; }
@media (min-width: 960px) { .beside { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 0 18px;
  align-items: start; } .beside > section { margin: 0; } }
.proved { border-left: 6px solid var(--green); } .refuted { border-left: 6px solid var(--red); }
.unknown { border-left: 6px solid #e69f00; }
h1 { font-size: 1.7rem; margin: 0 0 6px; } h2 { font-size: 1.1rem; margin: 0 0 10px; }
.worlds { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); gap: 18px; }
ul.tree { list-style: none; margin: 0; padding-left: 18px; border-left: 2px solid var(--line); font-size: 0.9rem; }
ul.tree li { margin: 3px 0; }
.mass { color: var(--blue); font-variant-numeric: tabular-nums; } .output { font-weight: 600; }
.told { background: #fde8d7; border-radius: 4px; padding: 0 4px; }
table { border-collapse: collapse; }
td, th { padding: 4px 14px 4px 0; text-align: left; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; } .soft { color: var(--soft); }
.program td { padding: 0 12px 0 0; font: 0.86rem/1.5 ui-monospace, monospace; white-space: pre; }
.program .number { color: var(--soft); text-align: right; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf1; --soft: #9aa7b5; --paper: #171d25; --line: #2c3642; }
  body { background: #0f141a; } .told { background: #5a3416; } section svg { background: #fff; border-radius: 8px; } }
"""


def page(verdict: Verdict, found: Analysis | None, source: str, name: str) -> str:
    """The whole document."""
    title = html.escape(f"{name}: {verdict.word}")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body><main><h1>{title}</h1>",
            *_verdict(verdict),
            *_beside([*_program(source)], [*(_worlds(found) if found else _witnessed(verdict))]),
            *_curve(found),
            *_pieces(found),
            "</main></body></html>",
            "",
        ]
    )


def _beside(left: list[str], right: list[str]) -> list[str]:
    """Next to each other, if there are two and the window is wide enough."""
    return ['<div class="beside">', *left, *right, "</div>"] if right else left


def _verdict(verdict: Verdict) -> Iterator[str]:
    first, *rest = verdict_text(verdict).splitlines()
    yield f'<section class="{verdict.word}"><h2>{html.escape(first)}</h2>'
    yield "".join(f"<div>{html.escape(line.strip())}</div>" for line in rest) + "</section>"


def _program(source: str) -> Iterator[str]:
    """With the line numbers that errors and trees speak of."""
    lines = [(number, line) for number, line in enumerate(re.split(r"\r\n?|\n", source.rstrip()), start=1)]
    while lines and not lines[0][1].strip():
        lines.pop(0)
    rows = "".join(f'<tr><td class="number">{number}</td><td>{html.escape(line)}</td></tr>' for number, line in lines)
    yield f'<section><h2>The program</h2><table class="program">{rows}</table></section>'


def _worlds(found: Analysis) -> Iterator[str]:
    """The two neighbours that are easiest to tell apart, and all that each can lead to."""
    if found.asked.open_parameter is not None:
        return
    worst = found.worst
    yield "<section><h2>Two worlds</h2>"
    told = html.escape(in_words(worst.output))
    yield f'<p class="soft">The output that tells them apart best is <span class="told">{told}</span>.</p>'
    yield '<div class="worlds">'
    for inputs in worst.inputs:
        yield from _world(found, inputs, worst.output)
    yield "</div></section>"


def _world(found: Analysis, inputs: Inputs, told: Any) -> Iterator[str]:
    given = named(found.asked.program.private, inputs)
    yield f"<div><h2>{html.escape(', '.join(f'{name} = {shown(value)}' for name, value in given.items()))}</h2>"
    grown = tree(found.asked.program, {**found.asked.public, **given})
    if grown is None:
        yield '<p class="soft">No tree: the ways are too many, or noise has no end. The law of the output:</p>'
    else:
        yield from _tree(grown, told)
    law = sorted(found.law_of(inputs).items(), key=lambda item: repr(item[0]))
    yield "<table><tr><th>output</th><th>probability</th></tr>"
    for output, mass in law[:40]:
        mark = ' class="told"' if output == told else ""
        chance = html.escape(mass_text(mass, found))
        yield f"<tr><td><span{mark}>{html.escape(in_words(output))}</span></td><td>{chance}</td></tr>"
    yield f"</table>{'<p>...</p>' if len(law) > 40 else ''}</div>"


def _witnessed(verdict: Verdict) -> Iterator[str]:
    """The two inputs of a witness that was searched for, and how likely its event is for each."""
    if not isinstance(verdict, Refuted):
        return
    witness = verdict.witness
    yield "<section><h2>Two worlds</h2>"
    yield f'<p class="soft">One event: <span class="told">{html.escape(witness.event)}</span></p>'
    yield '<div class="worlds">'
    for inputs, mass in ((witness.inputs, witness.probability), (witness.neighbor, witness.neighbor_probability)):
        given = ", ".join(f"{name} = {shown(value)}" for name, value in inputs.items())
        yield f"<div><h2>{html.escape(given)}</h2><p>probability {_mass(mass.in_words(10))}</p></div>"
    yield "</div></section>"


def _tree(grown: Node | Leaf, told: Any) -> Iterator[str]:
    if isinstance(grown, Leaf):
        mark = " told" if grown.output == told else ""
        yield f'<span class="output{mark}">output {html.escape(in_words(grown.output))}</span> {_mass(grown.mass)}'
        return
    yield '<ul class="tree">'
    for value, share, following in grown.branches:
        yield f"<li>line {grown.line}: {html.escape(grown.law)} = {html.escape(shown(value))} {_mass(share)} "
        yield from _tree(following, told)
        yield "</li>"
    yield "</ul>"


def _mass(mass: Any) -> str:
    return f'<span class="mass">{html.escape(str(mass))}</span>'


def _curve(found: Analysis | None) -> Iterator[str]:
    if found is None or found.asked.open_parameter is not None:
        return
    end = found.epsilon.upper if found.epsilon.upper != float("inf") else Fraction(3)
    steps = [Fraction(k, 60) * max(Fraction(end), Fraction(1, 10)) * Fraction(5, 4) for k in range(61)]
    points = tuple((float(one), float(found.delta(one).upper)) for one in steps)
    chart = Chart(
        title="What is lost: delta for every epsilon",
        x=Axis(label="epsilon"),
        y=Axis(label="delta"),
        lines=(Line(name="tight delta", points=points),),
    )
    yield f"<section><h2>The tight curve</h2>{chart.svg()}</section>"


def _pieces(found: Analysis | None) -> Iterator[str]:
    """With a parameter left open: the tight formula, stretch by stretch, and its plot."""
    name = None if found is None else found.asked.open_parameter
    if found is None or name is None:
        return
    yield f"<section><h2>The tight epsilon for every {html.escape(name)}</h2>"
    yield "<table><tr><th>from</th><th>to</th><th>tight epsilon</th></tr>"
    points: list[tuple[float, float]] = []
    for piece in found.pieces:
        value = piece.largest.value
        told = "infinite" if value is None else f"ln({formula(value, name)})"
        yield f"<tr><td>{piece.lower}</td><td>{piece.upper}</td><td>{html.escape(told)}</td></tr>"
        steps = (
            piece.lower.upper + Fraction(k, STEPS) * (piece.upper.lower - piece.lower.upper) for k in range(1, STEPS)
        )
        points += [(float(one), log(at(quotient(value), one))) for one in steps if value is not None]
    yield "</table>"
    if points:
        line = Line(name="tight epsilon", points=tuple(points))
        chart = Chart(title=f"What is lost, by {name}", x=Axis(label=name), y=Axis(label="epsilon"), lines=(line,))
        yield chart.svg()
    yield "</section>"
