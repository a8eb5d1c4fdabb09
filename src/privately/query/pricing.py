"""What a question will cost, with the proof: all that is known of an answer before any data is touched."""

from __future__ import annotations

from dataclasses import dataclass

from privately import mechanisms as m
from privately.engines.protocol import Group
from privately.guarantees import Derivation, Guarantee
from privately.plans import Question
from privately.query.allocation import Budget, Drawn
from privately.query.uses import Chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A question with its mechanisms and the proof of what they cost: all that is known before data is touched.

    `groups` is None where nobody has listed them: which there are is part of the answer.
    """

    question: Question
    groups: tuple[Group, ...] | None
    budget: Budget
    plan: tuple[Drawn, ...]
    proof: Derivation

    @property
    def cost(self) -> Guarantee:
        return self.proof.conclusion

    @property
    def asked(self) -> tuple[object, ...]:
        """All that decides on the answer; of how quantiles are chosen what is not the exponential mechanism."""
        chosen = (each for one in self.plan if isinstance(one.use, Chosen) for each in one.mechanisms)
        permuted = any(isinstance(each, m.PermutedQuantile) for each in chosen)
        return (self.question, self.budget, "permute and flip") if permuted else (self.question, self.budget)
