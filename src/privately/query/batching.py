"""Several questions at once: their costs are composed as tightly as the account can count, and charged once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypedDict

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, Derivation, GaussianDP, Guarantee, rules
from privately.plans.types import Value
from privately.query.answering import Answered
from privately.query.answers import intact, noise_data, noise_from, table_of
from privately.query.explaining import Explanation
from privately.query.pricing import Priced
from privately.query.proving import derivation_of, together
from privately.query.results import Result
from privately.releases import Release
from privately.rounding import Interval, Number, rational

MOST_QUESTIONS = 1_000
_PRICES = {"epsilon", "rho", "mu", "accuracy"}


class Options(TypedDict, total=False):
    """What can be said of a question beside its text."""

    epsilon: Number | None
    rho: Number | None
    mu: Number | None
    delta: Number | None
    accuracy: str | None
    assuming: int | None
    keys: Mapping[str, Sequence[Value]] | Any | None


Asked: TypeAlias = str | tuple[str, Mapping[str, Any]]
"""A question: its text, or its text with options of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedBatch:
    """Questions with their mechanisms, and the proof of what all of them cost together."""

    parts: tuple[Priced, ...]
    texts: tuple[str, ...]
    proof: Derivation

    @property
    def cost(self) -> Guarantee:
        return self.proof.conclusion

    @property
    def asked(self) -> tuple[object, ...]:
        """All that decides on the answers."""
        return ("batch", *(one.asked for one in self.parts))

    @property
    def label(self) -> str:
        """For people who read the history."""
        return "; ".join(self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchExplanation:
    """What each question would do, and what they cost together."""

    parts: tuple[Explanation, ...]
    cost: Guarantee
    remaining: Guarantee | None

    def apart(self) -> BatchExplanation:
        """The same without what it says of an account."""
        return replace(self, remaining=None)

    def __str__(self) -> str:
        listed = [f"({number}) {part}" for number, part in enumerate(self.parts, 1)]
        left = "" if self.remaining is None else f"\nremaining: {self.remaining}"
        return "\n\n".join([*listed, f"cost of all together: {self.cost}{left}"])


def read_questions(questions: Sequence[Asked], common: Options) -> list[tuple[str, dict[str, Any]]]:
    """Texts with their options: their own, and of the common ones what they do not decide themselves.

    A common delta is for those that need one.
    """
    if isinstance(questions, str) or not isinstance(questions, Sequence) or not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InvalidParameter("questions", f"give a list of 1 to {MOST_QUESTIONS:,}.")
    unknown = sorted(common.keys() - Options.__annotations__.keys())
    if unknown:
        listed = ", ".join(Options.__annotations__)
        raise InvalidParameter(unknown[0], f"there is no such option; there are {listed}.")
    found = []
    for one in questions:
        text, own = (one, {}) if isinstance(one, str) else _pair(one)
        decided = _PRICES if own.keys() & _PRICES else set()
        if decided and "accuracy" not in own:
            decided = decided | {"assuming"}
        shared = {name: value for name, value in common.items() if name not in decided}
        spared = {"delta_if_needed": shared.pop("delta")} if "delta" in shared and "delta" not in own else {}
        found.append((text, shared | spared | own))
    return found


def _pair(question: Any) -> tuple[str, dict[str, Any]]:
    example = '("SELECT COUNT(*) AS n FROM visits", {"epsilon": 1})'
    try:
        text, options = question
        own = dict(options)
    except (TypeError, ValueError):
        raise InvalidParameter("questions", f"each is a text, or a text with its options: {example}.") from None
    unknown = sorted(map(str, own.keys() - Options.__annotations__.keys()))
    if not isinstance(text, str) or unknown:
        wrong = f"there is no option {unknown[0]!r}" if unknown else "the first of a pair is the text"
        raise InvalidParameter("questions", f"{wrong}: {example}.")
    return text, own


# --- composition ----------------------------------------------------------------------------------------------------


def proofs_of(parts: Sequence[Priced], *, slack: Number | None = None) -> Iterator[Derivation]:
    """Proofs of what all answers cost together, each in other terms; none is the tightest for every account.

    What is composed are the mechanisms of all questions, whose parameters are all fixed beforehand. Costs add up in
    terms of rho and of mu squared, where the sum of squares is less than the square of the sum; with `slack`, a delta,
    pure costs are composed in the optimal way.

    Theorem: mechanisms whose parameters are fixed before the first is run compose by every rule of composition, though
        the later ones may be asked of groups that earlier ones have shown.
    Reference: those of the rules
    Proof: docs/theory/stability.md#several-questions
    Checked-by: tests/query/test_batching.py::test_every_proof_is_at_least_the_sum_of_what_the_mechanisms_lose
    """
    plain = [derivation_of(one, part.question.aggregation) for part in parts for one in part.plan]
    by_rho = [
        derivation_of(replace(one, currency="mu squared"), part.question.aggregation)
        for part in parts
        for one in part.plan
    ]
    ways: list[Callable[[], Derivation]] = [
        lambda: together(plain),
        lambda: together([_in_rho(one) for one in by_rho]),
        lambda: together([rules.convert(one, GaussianDP) for one in plain]),
    ]
    if slack is not None:
        added = rational(slack, "slack", above=0, maximum=1)
        ways += [
            lambda: rules.optimal_composition(*plain, delta=min(added + sum(map(_delta, plain)), 1)),
            *(lambda way=way: rules.convert(way(), ApproxDP, delta=added) for way in ways[1:]),
        ]
    for way in ways:
        try:
            yield way()
        except NoSuchRule:
            continue


def _in_rho(proof: Derivation) -> Derivation:
    kind = ApproxZCDP if isinstance(proof.conclusion, (ApproxDP, ApproxZCDP)) else ZCDP
    return rules.convert(proof, kind)


def _delta(proof: Derivation) -> Any:
    return proof.conclusion.parameters.get("delta", 0)


def tightest(proofs: Iterator[Derivation], price: Callable[[Guarantee], Guarantee]) -> Derivation | None:
    """The proof that costs an account least; None if it can count in terms of none."""
    found: list[tuple[Any, int, Derivation]] = []
    for proof in proofs:
        try:
            found.append((_amount(price(proof.conclusion)), len(found), proof))
        except NoSuchRule:
            continue
    return min(found, key=lambda one: one[:2])[2] if found else None


def is_worth_it(other: Derivation, plain: Derivation | None, price: Callable[[Guarantee], Guarantee]) -> bool:
    """Whether a proof that takes slack saves an account a hundredth or more; for less no delta is given away."""
    if plain is None:
        return True
    with_slack, without = (_amount(price(one.conclusion)) for one in (other, plain))
    return bool(with_slack * 100 <= without * 99)


def _amount(cost: Guarantee) -> Any:
    """The amount by which costs of one kind are compared: all but the delta that was allowed."""
    numbers = cost.parameters
    if "bounds" in numbers:
        return sum(bound for _, bound in numbers["bounds"])
    return next(value for name, value in numbers.items() if name != "delta")


# --- as bytes -------------------------------------------------------------------------------------------------------


def batch_to_bytes(batch: PricedBatch, found: Sequence[Answered]) -> bytes:
    """What a ledger keeps: the noisy numbers of all answers, and one release of them."""
    tables, bars = [], dict[str, Interval]()
    for number, (part, (groups, noise)) in enumerate(zip(batch.parts, found, strict=True), 1):
        table, intervals = table_of(part.question, groups, noise)
        tables.append(table)
        bars |= {f"{number}.{name}": one for name, one in intervals.items()}
    release = Release.of({"answers": tables}, batch.proof, intervals=bars)
    data = {"noise": [noise_data(noise) for _, noise in found], "release": release.to_bytes().decode("ascii")}
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode("ascii")


def batch_from_bytes(
    body: bytes, batch: PricedBatch, *, notes: Sequence[tuple[str, ...]], free: bool
) -> tuple[Result, ...]:
    """The results that were kept, for the same questions; LedgerCorrupt if they are not."""
    with intact():
        data = json.loads(body)
        kept = zip(batch.parts, data["noise"], strict=True)
        found = [noise_from(noise, part.question, part.plan) for part, noise in kept]
        release = Release.from_bytes(data["release"].encode("ascii"))
    return tuple(
        Result(question=part.question, groups=groups, noise=noise, release=release, notes=told, free=free)
        for part, (groups, noise), told in zip(batch.parts, found, notes, strict=True)
    )
