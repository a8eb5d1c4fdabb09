"""Five questions about the hospital, one too many, and the check of a certificate by other code."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privately.certificates import check
from privately.cli.demonstrating.hospital import DECLARATION, ROWS, write_visits
from privately.errors import BudgetExhausted, InvalidParameter
from privately.guarantees import Guarantee, PureDP

if TYPE_CHECKING:
    from privately.query.results import Result

BUDGET = PureDP(epsilon=1)
_BUILDER = Path(__file__).parents[4] / "tools" / "build_checker.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, in words and in SQL, and what it may cost."""

    title: str
    about: str
    sql: str
    spend: dict[str, Any] = field(default_factory=dict)

    @property
    def terms(self) -> str:
        """Its price or its accuracy, as it is typed."""
        return ", ".join(f"{name} = {value}" for name, value in self.spend.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A question with its answer."""

    question: Question
    result: Result
    remaining: Guarantee
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that happened."""

    declaration: str
    answers: tuple[Told, ...]
    explained: str
    refused: str
    free: bool
    checked: str
    checker: str


WARDS = Question(
    title="How many visits did each ward have?",
    about="A count for every declared ward, whether anybody was there or not. One patient moves it by six at most.",
    sql="SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward ORDER BY visits DESC",
    spend={"epsilon": "0.1"},
)
COSTS = Question(
    title="What does a visit cost on average?",
    about="Costs count up to the bound that the owner declared. Small wards have wider error bars.",
    sql="SELECT ward, AVG(cost) AS average_cost FROM visits GROUP BY ward ORDER BY average_cost DESC",
    spend={"epsilon": "0.3"},
)
AGES = Question(
    title="How old is the patient in the middle?",
    about="The median is chosen, not computed and disturbed: it is one of the possible ages. Its error is in ranks.",
    sql="SELECT ward, MEDIAN(age) AS median_age FROM visits GROUP BY ward",
    spend={"epsilon": "0.1"},
)
MONTHS = Question(
    title="When is the emergency ward full?",
    about="A filter, and groups that everybody knows without looking: there are twelve months.",
    sql="SELECT EXTRACT(MONTH FROM day) AS month, COUNT(*) AS visits FROM visits "
    "WHERE ward = 'Emergency' GROUP BY EXTRACT(MONTH FROM day)",
    spend={"epsilon": "0.2"},
)
LONG_STAYS = Question(
    title="How many stays were long? Within 150 is good enough.",
    about="An accuracy instead of a price: the least epsilon that gives it is found, and only that is paid.",
    sql="SELECT COUNT(*) AS long_stays FROM visits WHERE nights >= 14 AND age >= 65",
    spend={"accuracy": "150 at 95%"},
)
QUESTIONS = (WARDS, COSTS, AGES, MONTHS, LONG_STAYS)
ONE_TOO_MANY = Question(
    title="The budget runs out",
    about="One more question, which costs more than is left.",
    sql="SELECT ward, STDDEV(cost) AS spread FROM visits GROUP BY ward",
    spend={"epsilon": "0.25"},
)


def happened(folder: Path, certificate: Path, say: Callable[[str, str], None], rows: int = ROWS) -> Story:
    """Plays it in a folder, saying each title with its text, and keeps the first certificate in a file."""
    from privately.query.opening import open as open_table

    data = folder / "visits.csv"
    write_visits(data, rows)
    say("A made-up hospital", f"{rows:,} visits in {data.name}, and what the owner declares in visits.toml.")
    with open_table(data, budget=BUDGET, ledger=folder / "visits.ledger") as session:

        def asked(question: Question) -> Told:
            start = time.perf_counter()
            result = session.sql(question.sql, **question.spend)
            seconds = time.perf_counter() - start
            told = Told(question=question, result=result, remaining=session.budget.remaining, seconds=seconds)
            paid = "nothing" if result.free else str(result.guarantee)
            shown = "\n".join([_table(result), "", *off(result), f"paid: {paid}"])
            say(question.title, f"{question.sql}\n{question.terms}\n\n{shown}")
            return told

        first = asked(WARDS)
        explained = str(session.explain(COSTS.sql, **COSTS.spend))
        say("What would the next question do? Explaining is free.", explained)
        answers = (first, *(asked(one) for one in QUESTIONS[1:]))
        refused = refusal(lambda: session.sql(ONE_TOO_MANY.sql, **ONE_TOO_MANY.spend))
        say(ONE_TOO_MANY.title, f"{ONE_TOO_MANY.sql}\n{ONE_TOO_MANY.terms}\n\nrefused: {refused}")
        free = session.sql(WARDS.sql, **WARDS.spend)
        say("The first question again", f"free: {free.free}, the same numbers: {free.rows == answers[0].result.rows}")
    answers[0].result.certificate.save(certificate)
    checked, checker = independently(certificate, folder)
    say(f"The first certificate, checked by {checker}", checked)
    return Story(
        declaration=DECLARATION,
        answers=answers,
        explained=explained,
        refused=refused,
        free=free.free,
        checked=checked,
        checker=checker,
    )


def refusal(ask: Callable[[], object]) -> str:
    """Why a question is not answered."""
    try:
        ask()
    except BudgetExhausted as fault:
        return str(fault)
    raise InvalidParameter("budget", "is larger than this story needs.")


def independently(certificate: Path, folder: Path, builder: Path = _BUILDER) -> tuple[str, str]:
    """What a checker that shares no code with the rest says, and its name: check.pyz where it can be built."""
    if not builder.is_file():
        return f"valid: {check(certificate).claim_text}", "privately.check"
    archive = folder / "check.pyz"
    subprocess.run([sys.executable, str(builder), str(archive)], check=True, capture_output=True)  # noqa: S603 - ours
    command = [sys.executable, "-I", str(archive), str(certificate)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - built just now
    return done.stdout.strip(), "check.pyz"


def off(result: Result) -> list[str]:
    """How far off the quantiles of a result are."""
    return [line.removesuffix(".") for line in result.ranks_in_words]


def _table(result: Result) -> str:
    return str(result).partition("\n\n")[0]
