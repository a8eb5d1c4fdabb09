"""A session: one table, one budget, and questions in SQL. The straight line from a text to a certified answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import product
from math import prod
from typing import Protocol, Self

from privately.engines.protocol import Counts, Group, Limits
from privately.errors import DataDependentKeys, InvalidParameter
from privately.ledger import Budget as AccountBudget
from privately.ledger import Charge, Ledger
from privately.ledger.charges import LONGEST_LABEL, LONGEST_QUERY
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.plans import Aggregation, Question, Table
from privately.plans.encoding import canonical_text
from privately.plans.types import Value
from privately.query.allocation import allocated
from privately.query.answers import from_bytes, result_of, to_bytes
from privately.query.asking import Accuracy, budget_of, least_budget
from privately.query.binding import bind
from privately.query.drawing import drawn
from privately.query.explaining import Explanation, explained
from privately.query.pricing import Priced
from privately.query.proving import derivation
from privately.query.results import Result
from privately.query.uses import uses
from privately.rounding import Number

MOST_GROUPS = 100_000

Keys = Mapping[str, Sequence[Value]]


class Engine(Protocol):
    """Where the data sits: it counts, exactly, and knows nothing of privacy."""

    def run(self, aggregation: Aggregation, limits: Limits) -> Counts: ...

    def close(self) -> None: ...


class Session:
    """Answers questions about one table within the budget of its lineage."""

    def __init__(
        self,
        table: Table,
        engine: Engine,
        ledger: Ledger,
        *,
        lineage: str,
        snapshot: str,
        analyst: str = "owner",
        limits: Limits | None = None,
        randomness: Randomness = SYSTEM,
    ) -> None:
        self.table, self.lineage, self.analyst = table, lineage, analyst
        self._limits = Limits() if limits is None else limits
        self._engine, self._ledger, self._snapshot, self._randomness = engine, ledger, snapshot, randomness

    @property
    def budget(self) -> AccountBudget:
        """What is spent and what is left."""
        return self._ledger.budget(self.lineage)

    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
        key: str | None = None,
        again: bool = False,
    ) -> Result:
        """The private answer to a question, after its cost was charged durably."""
        priced = self.price(text, epsilon=epsilon, rho=rho, mu=mu, accuracy=accuracy, assuming=assuming, keys=keys)
        charge = Charge(
            lineages=[self.lineage],
            query=_canonical(priced),
            cost=priced.cost,
            snapshot=self._snapshot,
            analyst=self.analyst,
            key=key,
            label=text[:LONGEST_LABEL],
        )

        def run(_receipt: object) -> bytes:
            aggregation = priced.question.aggregation
            counts = self._engine.run(aggregation, self._limits)
            noise = drawn(priced.plan, aggregation, counts, priced.groups, self._randomness)
            return to_bytes(result_of(priced.question, priced.groups, noise, priced.proof))

        answer = self._ledger.answer(charge, run, again=again)
        return from_bytes(
            answer.body, priced.question, priced.groups, priced.plan, notes=self._notes(), free=answer.free
        )

    def price(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
    ) -> Priced:
        """What a question would cost and which noise it would get. Free, and touches no data."""
        question = bind(text, {self.table.name: self.table}, keys=keys)
        groups = _groups(question)
        needed = uses(question)
        budget = budget_of(epsilon=epsilon, rho=rho, mu=mu)
        if (budget is None) == (accuracy is None):
            raise InvalidParameter("epsilon", "say what the answer may cost, or how accurate it should be.")
        if budget is None:
            budget = least_budget(question, needed, len(groups), Accuracy.parse(accuracy or ""), assuming)
        plan = allocated(needed, len(groups), budget)
        proof = derivation(plan, question.aggregation)
        return Priced(question=question, groups=groups, budget=budget, plan=plan, proof=proof)

    def explain(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
    ) -> Explanation:
        """The plan, the noise, the errors and the cost of a question, in words. Free, and touches no data."""
        priced = self.price(text, epsilon=epsilon, rho=rho, mu=mu, accuracy=accuracy, assuming=assuming, keys=keys)
        return explained(priced, self.budget.remaining)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the data and of the ledger."""
        self._engine.close()
        self._ledger.close()

    def _notes(self) -> tuple[str, ...]:
        unit = self.table.unit
        return () if unit.column is None else (f"Of one {unit.column} at most {unit.rows} rows count.",)


def _groups(question: Question) -> tuple[Group, ...]:
    """All groups, whether anybody is in them or not, in the order of their keys."""
    listed = []
    for key in question.aggregation.keys:
        if key.values is None:
            hint = f'List them: keys={{"{key.identity.name}": [...]}}, or declare the categories of the column.'
            raise DataDependentKeys(f"nobody has said which values {key.identity.name} can have.", hint=hint)
        listed.append(key.values)
    size = prod(len(values) for values in listed)
    if size > MOST_GROUPS:
        raise InvalidParameter("keys", f"these would be {size:,} groups; {MOST_GROUPS:,} is the most.")
    return tuple(product(*listed))


def _canonical(priced: Priced) -> str:
    """The question and its budget as one text; a hash of it where many groups make it long."""
    text = canonical_text((priced.question, priced.budget))
    return text if len(text) <= LONGEST_QUERY else f"sha256:{sha256(text.encode()).hexdigest()}"
