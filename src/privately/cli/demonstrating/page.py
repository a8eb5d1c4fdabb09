"""The story as one HTML file that needs nothing else."""

from __future__ import annotations

import html
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from privately.cli.demonstrating.story import BUDGET, ONE_TOO_MANY, Story, Told, off

if TYPE_CHECKING:
    from privately.guarantees import Guarantee

_STYLE = """
:root { --ink: #1d2733; --soft: #5b6b7b; --line: #dfe5ea; --blue: #0072b2; --paper: #ffffff; --back: #f4f6f8; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 40px 20px 64px; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 8px; }
h2 { font-size: 1.2rem; margin: 0 0 4px; }
p { margin: 6px 0 12px; }
.lead, .about, footer { color: var(--soft); }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 22px 26px;
  margin: 22px 0; }
pre { background: var(--back); border-radius: 6px; padding: 12px 14px; white-space: pre-wrap; font-size: 0.84rem;
  line-height: 1.45; }
details pre { white-space: pre; overflow-x: auto; font-size: 0.62rem; }
table { border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 22px 5px 0; border-bottom: 1px solid var(--line); text-align: left; }
th { color: var(--soft); font-weight: 600; font-size: 0.86rem; }
svg { width: 100%; height: auto; display: block; }
.meter { display: flex; height: 26px; border-radius: 6px; overflow: hidden; background: var(--line);
  margin: 14px 0 6px; }
.meter span { display: block; background: var(--blue); border-right: 2px solid var(--paper); color: #fff;
  font-size: 0.75rem; line-height: 26px; text-align: center; overflow: hidden; }
.paid { font-size: 0.9rem; color: var(--soft); margin-bottom: 0; }
.refused { border-left: 5px solid #d55e00; }
.valid { border-left: 5px solid #009e73; }
"""


def page(story: Story) -> str:
    """The whole document."""
    return "\n".join(
        ["<!DOCTYPE html>", '<html lang="en">', *_head(), "<body><main>", *_body(story), "</main></body></html>", ""]
    )


def _head() -> Iterator[str]:
    yield '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Private answers about a hospital</title><style>{_STYLE}</style></head>"


def _body(story: Story) -> Iterator[str]:
    yield "<h1>Private answers about a hospital</h1>"
    yield (
        '<p class="lead">200,000 visits of made-up patients, asked in SQL. Every answer carries noise that hides each'
        " patient, error bars that say how much, and a proof that anybody can check.</p>"
    )
    yield from _budget(story)
    yield "<section><h2>What the owner declares</h2>"
    yield '<p class="about">Types, bounds and categories come from the owner, never from the data.</p>'
    yield f"<pre>{html.escape(story.declaration)}</pre></section>"
    for number, told in enumerate(story.answers, 1):
        yield from _answer(number, told, story.explained if number == 2 else "")
    yield f'<section class="refused"><h2>{html.escape(ONE_TOO_MANY.title)}</h2>'
    yield f'<p class="about">{html.escape(ONE_TOO_MANY.about)}</p>'
    yield f"<pre>{html.escape(ONE_TOO_MANY.sql)}\n{html.escape(ONE_TOO_MANY.terms)}</pre>"
    yield f"<p><strong>Refused:</strong> {html.escape(story.refused)}</p>"
    yield "<p>Asked again, the first question is answered from the ledger: the same numbers, free.</p></section>"
    yield f'<section class="valid"><h2>The proof, checked by {html.escape(story.checker)}</h2>'
    yield '<p class="about">A checker that shares no code with the rest derives the first guarantee again.</p>'
    yield f"<pre>{html.escape(story.checked)}</pre></section>"
    yield "<footer><p>Made by <code>privately demo</code>. Error bars are those of the noise at 95 %; of one patient at"
    yield " most six visits count.</p></footer>"


def _budget(story: Story) -> Iterator[str]:
    whole = _epsilon(BUDGET)
    costs = [_epsilon(told.result.guarantee) for told in story.answers]
    yield f"<section><h2>The budget: epsilon {float(whole):g}</h2>"
    yield '<p class="about">It bounds what all answers together reveal about one patient.</p>'
    parts = "".join(
        f'<span style="width: {float(100 * cost / whole):.2f}%" title="question {number}: epsilon {float(cost):.3g}">'
        f"{number}</span>"
        for number, cost in enumerate(costs, 1)
    )
    yield f'<div class="meter">{parts}</div>'
    spent = sum(costs)
    told = f"{float(spent):.3g} spent by five questions, {float(whole - spent):.3g} left."
    yield f'<p class="paid">{told}</p></section>'


def _answer(number: int, told: Told, explained: str) -> Iterator[str]:
    question, result = told.question, told.result
    yield f"<section><h2>{number}. {html.escape(question.title)}</h2>"
    yield f'<p class="about">{html.escape(question.about)}</p>'
    yield f"<pre>{html.escape(question.sql)}\n{html.escape(question.terms)}</pre>"
    if explained:
        yield "<details open><summary>What it would do, explained before it is paid</summary>"
        yield f"<pre>{html.escape(explained)}</pre></details>"
    table = result._repr_html_().partition("</table>")[0]
    yield f"{table}</table>" if len(result.rows) == 1 else result.plot()
    yield from (f'<p class="paid">{html.escape(line)}</p>' for line in off(result))
    yield f'<p class="paid">{html.escape(str(result.guarantee))}; answered in {told.seconds:.1f} s</p></section>'


def _epsilon(guarantee: Guarantee) -> Fraction:
    return Fraction(guarantee.parameters["epsilon"])
