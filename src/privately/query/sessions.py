"""A session: one table, one budget, and questions in SQL. The straight line from a text to a certified answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, Unpack

from privately import mechanisms as m
from privately.engines.protocol import Limits, TableReport
from privately.errors import BudgetExhausted, InvalidParameter, NoSuchRule
from privately.guarantees import ApproxDP, Derivation, GaussianDP, Guarantee, PureDP
from privately.ledger import Answer, Charge, Ledger
from privately.ledger import Budget as AccountBudget
from privately.ledger.charges import LONGEST_LABEL, LONGEST_QUERY
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.plans import Table
from privately.plans.encoding import canonical_text
from privately.plans.types import Value
from privately.query.allocation import allocated
from privately.query.answering import Engine, answered
from privately.query.answers import from_bytes, result_of, to_bytes
from privately.query.asking import Accuracy, budget_of, delta_of, exhausted, least_budget, unpayable
from privately.query.binding import bind
from privately.query.listing import groups_of, listing_of, public_groups
from privately.query.pricing import Priced
from privately.query.proving import derivation
from privately.query.public_tables import read_keys
from privately.query.results import Result
from privately.query.uses import uses
from privately.rounding import Number

if TYPE_CHECKING:
    from privately.query.allocation import Choice
    from privately.query.batching import Asked, BatchExplanation, Options, PricedBatch
    from privately.query.explaining import Explanation

Keys = Mapping[str, Sequence[Value]] | Any
"""Values of keys by name, or a public table of any library whose rows are the groups."""

_TURNS = 64
"""Of so many sorts of questions one of each is answered at a time; the same questions are always of one sort."""


class Session:
    """Answers questions about one table within the budget of its lineage, and of those that are charged `also`."""

    def __init__(
        self,
        table: Table,
        engine: Engine,
        ledger: Ledger,
        *,
        lineage: str,
        snapshot: str,
        also: Sequence[str] = (),
        analyst: str = "owner",
        limits: Limits | None = None,
        randomness: Randomness = SYSTEM,
    ) -> None:
        self.table, self.lineage, self.analyst = table, lineage, analyst
        self._lineages = [lineage, *also]
        self._limits = limits
        self._engine, self._ledger, self._snapshot, self._randomness = engine, ledger, snapshot, randomness
        self._turns = [RLock() for _ in range(_TURNS)]

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
        delta: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
        key: str | None = None,
        again: bool = False,
    ) -> Result:
        """The private answer to a question, after its cost was charged durably.

        With `delta`, groups may be what nobody listed: those are shown that enough units are in.
        """
        cap = self.budget.cap
        priced = self._priced_by(
            self._choice(cap),
            text,
            epsilon=epsilon,
            rho=rho,
            mu=mu,
            delta=delta,
            accuracy=accuracy,
            assuming=assuming,
            keys=keys,
        )
        charge = self._charge(_recorded(*priced.asked), self._charged(priced, cap), key=key, label=text)

        made: dict[bytes, Result] = {}

        def run() -> bytes:
            groups, noise = answered(priced, self._engine, self._limits, self._randomness)
            result = result_of(priced.question, groups, noise, priced.proof, self._notes(priced))
            made[body := to_bytes(result)] = result
            return body

        answer = self._answer(charge, run, asked="rho" if mu is None else "mu", again=again)
        if answer.body in made:  # it is new, and need not be read again
            return made[answer.body]
        return from_bytes(answer.body, priced.question, priced.plan, notes=self._notes(priced), free=answer.free)

    def price(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        delta: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
    ) -> Priced:
        """What a question would cost and which noise it would get. Free, and touches no data."""
        return self._priced_by(
            self._choice(self.budget.cap),
            text,
            epsilon=epsilon,
            rho=rho,
            mu=mu,
            delta=delta,
            accuracy=accuracy,
            assuming=assuming,
            keys=keys,
        )

    @staticmethod
    def _choice(cap: Guarantee, *, slack: Number | None = None) -> type[Choice] | None:
        """How quantiles are chosen that an epsilon pays for: by permute-and-flip (None), the more accurate one.

        Not so where rho is counted, of which the exponential mechanism takes less for the same epsilon.
        """
        counts_rho = slack is not None or not isinstance(cap, (PureDP, ApproxDP, GaussianDP))
        return m.Quantile if counts_rho else None

    def _priced_by(
        self,
        choose: type[Choice] | None,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        delta: Number | None = None,
        delta_if_needed: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
    ) -> Priced:
        may_be_unknown = delta is not None or delta_if_needed is not None
        question = bind(text, {self.table.name: self.table}, keys=read_keys(keys), unknown=may_be_unknown)
        unknown = listing_of(question) is not None
        if unknown and delta is None:
            delta = delta_if_needed
        delta_of(delta_if_needed)
        if delta is not None and not unknown:
            delta_of(delta)
            raise InvalidParameter("delta", "all groups of this question are public already; leave it out.")
        listed, needed = public_groups(question), uses(question)
        budget = budget_of(epsilon=epsilon, rho=rho, mu=mu, delta=delta)
        if assuming is not None and accuracy is None:
            raise InvalidParameter("assuming", "is for an accuracy: give one, or leave it out.")
        if (budget is None) == (accuracy is None):
            both = "say what the answer may cost, or how accurate it should be"
            raise InvalidParameter("epsilon", f"{both}." if budget is None else f"{both}, not both.")
        if budget is None:
            budget = least_budget(question, needed, listed, Accuracy.parse(accuracy or ""), assuming, delta=delta)
        plan = allocated(needed, listed, budget, choose=choose)
        return Priced(
            question=question,
            groups=None if unknown else groups_of(question),
            budget=budget,
            plan=plan,
            proof=derivation(plan, question.aggregation),
        )

    def explain(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        delta: Number | None = None,
        accuracy: str | None = None,
        assuming: int | None = None,
        keys: Keys | None = None,
    ) -> Explanation:
        """The plan, the noise, the errors and the cost of a question, in words. Free, and touches no data."""
        priced = self.price(
            text, epsilon=epsilon, rho=rho, mu=mu, delta=delta, accuracy=accuracy, assuming=assuming, keys=keys
        )
        from privately.query.explaining import explained

        notes = () if accuracy is None else Accuracy.parse(accuracy).notes(assuming)
        return explained(priced, self.budget.remaining, charged=self._priced(priced), notes=notes)

    # --- several questions at once ------------------------------------------------------------------------------------

    def batch(
        self,
        questions: Sequence[Asked],
        *,
        slack: Number | None = None,
        key: str | None = None,
        again: bool = False,
        **options: Unpack[Options],
    ) -> tuple[Result, ...]:
        """The answers to several questions, charged once for all of them: all are answered, or none.

        Each is a text, or a text with options of its own: `("SELECT COUNT(*) AS n FROM visits", {"epsilon": "0.1"})`;
        `options` hold for each of the others. Together they cost what the tightest composition gives that the account
        can count; where it counts epsilon and delta, `slack` is a delta that this may take to save epsilon, which it
        does where that is a hundredth of it or more. The certificate of each result is that of all of them together.
        """
        from privately.query.batching import batch_from_bytes, batch_to_bytes

        priced = self.price_batch(questions, slack=slack, **options)
        charge = self._charge(_recorded(*priced.asked), priced.cost, key=key, label=priced.label)

        def run() -> bytes:
            found = [answered(one, self._engine, self._limits, self._randomness) for one in priced.parts]
            return batch_to_bytes(priced, found)

        answer = self._answer(charge, run, asked="rho", again=again)
        notes = [self._notes(one) for one in priced.parts]
        return batch_from_bytes(answer.body, priced, notes=notes, free=answer.free)

    def price_batch(
        self, questions: Sequence[Asked], *, slack: Number | None = None, **options: Unpack[Options]
    ) -> PricedBatch:
        """What several questions would cost together. Free, and touches no data."""
        from privately.query.batching import PricedBatch, is_worth_it, read_questions

        asked = read_questions(questions, options)
        cap = self.budget.cap
        if slack is not None and "delta" not in cap.parameters:
            raise InvalidParameter("slack", f"the account counts in terms of {type(cap).__name__}; leave it out.")
        parts, proof = self._composed(asked, slack=None)
        if options.get("delta") is not None and all(one.budget.delta is None for one in parts):
            raise InvalidParameter("delta", "all groups of these questions are public already; leave it out.")
        if slack is not None:
            others, cheaper = self._composed(asked, slack=slack)
            if cheaper is not None and is_worth_it(cheaper, proof, self._price):
                parts, proof = others, cheaper
        if proof is None:
            costs = [one.cost for one in parts]
            raise unpayable(next((one for one in costs if "delta" in one.parameters), costs[0]), cap, "rho")
        return PricedBatch(parts=parts, texts=tuple(text for text, _ in asked), proof=proof)

    def _composed(
        self, asked: Sequence[tuple[str, dict[str, Any]]], *, slack: Number | None
    ) -> tuple[tuple[Priced, ...], Derivation | None]:
        """Questions with their mechanisms, and the tightest proof; None if the account can count none."""
        choose = self._choice(self.budget.cap, slack=slack)
        parts = tuple(self._priced_by(choose, text, **own) for text, own in asked)
        return parts, self._tightest(parts, slack=slack)

    def explain_batch(
        self, questions: Sequence[Asked], *, slack: Number | None = None, **options: Unpack[Options]
    ) -> BatchExplanation:
        """The same in words. Free, and touches no data."""
        priced = self.price_batch(questions, slack=slack, **options)
        from privately.query.batching import BatchExplanation
        from privately.query.explaining import explained

        parts = tuple(explained(one) for one in priced.parts)
        return BatchExplanation(parts=parts, cost=priced.cost, remaining=self.budget.remaining)

    def check(self) -> TableReport:
        """Exactly how many rows, units, NULLs and values beyond their bounds there are: for the owner alone.

        Its `notes()` say in words what is worth a second look, such as an empty table. It is no private answer.
        """
        return self._engine.check(self.table.name)

    # --- the end ------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the data and of the ledger."""
        self._engine.close()
        self._ledger.close()

    def _charge(self, query: str, cost: Guarantee, *, key: str | None = None, label: str = "") -> Charge:
        return Charge(
            lineages=self._lineages,
            query=query,
            cost=cost,
            snapshot=self._snapshot,
            analyst=self.analyst,
            key=key,
            label=label[:LONGEST_LABEL],
        )

    def _charged(self, priced: Priced, cap: Guarantee) -> Guarantee:
        """What the account is charged for one question: where it does not count epsilons, the parts one by one."""
        if isinstance(cap, PureDP):
            return priced.cost
        proof = self._tightest([priced])
        return priced.cost if proof is None else proof.conclusion

    def _priced(self, priced: Priced) -> Guarantee | None:
        """The charge in the terms of the account; None if it cannot count it."""
        try:
            return self._price(self._charged(priced, self.budget.cap))
        except NoSuchRule:
            return None

    def _price(self, cost: Guarantee) -> Guarantee:
        return self._ledger.price(self._charge("price", cost))[self.lineage]

    def _tightest(self, parts: Sequence[Priced], *, slack: Number | None = None) -> Derivation | None:
        """The proof of what all cost together that costs the account least; None if it can count none."""
        from privately.query.batching import proofs_of, tightest

        return tightest(proofs_of(parts, slack=slack), self._price)

    def _answer(self, charge: Charge, run: Callable[[], bytes], *, asked: str, again: bool) -> Answer:
        """Charges, counts, stores, in this order. Data that is gone is refused before, and what cannot be counted.

        Of threads that ask the same at once, the first pays, and the others wait for its answer.
        """
        with self._turns[hash(charge.query) % _TURNS]:
            return self._answer_in_turn(charge, run, asked=asked, again=again)

    def _answer_in_turn(self, charge: Charge, run: Callable[[], bytes], *, asked: str, again: bool) -> Answer:
        self._engine.ready()
        try:
            receipt = self._ledger.charge(charge, again=again)
        except NoSuchRule:
            assert isinstance(charge.cost, Guarantee)  # noqa: S101 - nothing else is charged here
            raise unpayable(charge.cost, self.budget.cap, asked) from None
        except BudgetExhausted as fault:
            raise exhausted(fault, self.budget) from None
        if receipt.answer is not None:
            return Answer(body=receipt.answer, receipt=receipt, free=True)
        return self._ledger.store(receipt, run())

    def _notes(self, priced: Priced) -> tuple[str, ...]:
        unit, notes = self.table.unit, []
        if unit.column is not None:
            notes.append(unit.note(None if priced.groups is None else len(priced.groups)))
        if listing_of(priced.question) is not None:
            from privately.query.explaining import shown_note

            found = [each for one in priced.plan for each in one.mechanisms]
            notes += [shown_note(each, unit.column) for each in found if isinstance(each, m.ThresholdedHistogram)]
        return tuple(notes)


def _recorded(*asked: object) -> str:
    """Questions and their budgets as one text; a hash of it where many groups make it long."""
    text = canonical_text(asked)
    return text if len(text) <= LONGEST_QUERY else f"sha256:{sha256(text.encode()).hexdigest()}"
