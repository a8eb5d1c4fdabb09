"""How far below the best the chosen score may be, from the exact laws of the choice.

m  how many have the best score      n  how many others there are, all more than w behind      p  exp(-w/scale)
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil

from privately.laws import DiscreteLaplace
from privately.laws.deciding import least
from privately.laws.series import NEGLIGIBLE
from privately.mechanisms.error_bars import largest, read_confidence
from privately.mechanisms.laplace_sums import tails
from privately.mechanisms.threshold_accuracy import Comparisons
from privately.rounding import Enclosure, Number

MOST_EXPECTED = 250
"""Of up to so many acceptances the law is added up; of more, their mean tells nearly as much."""

_NEARLY = 1 - Fraction(1, 10**12)


def chance_of_another(accept: Fraction, *, best: int, others: int) -> Enclosure:
    """How likely permute and flip chooses one of the others, if each of them accepts with this probability, below 1.

    Theorem: it is E[B/(m + B)] for a binomial B of n trials of probability p, that is n p E[1/(m + 1 + B')] with one
        trial less. Scores further behind, or of candidates that are not counted as others, make it less likely.
    Reference: the first success in a random order is uniform among all successes
    Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
    Checked-by: tests/mechanisms/test_choice_errors.py::test_the_hardest_scores_are_chosen_as_likely_as_computed
    """
    odds = Enclosure.of(accept / (1 - accept))
    part, total = ((others - 1) * Enclosure.of(1 - accept).log()).exp(), Enclosure.of(0)
    for successes in range(others):
        total = total + part / (best + 1 + successes)
        ratio = odds * (others - 1 - successes) / (successes + 1)
        part = part * ratio
        if 2 * ratio.upper <= 1 and part.upper <= NEGLIGIBLE:  # what follows adds up to at most twice the next
            total = total + Enclosure(Enclosure.of(0).lower, (2 * part).upper)
            break
    return others * accept * total


@lru_cache(maxsize=256)
def scales_behind(*, best: int, others: int, miss: Fraction) -> Fraction:
    """The least w, in scales and to twelve digits, from which permute and flip chooses with probability `miss` at most.

    Where more than 250 others are expected to accept it is the w of the exponential mechanism, which is at most
    ln((m + 1)/m) more.

    Theorem: n p (1 - miss) <= m miss suffices, and p (n - (n - 1) miss) <= (m + 1) miss is needed.
    Reference: Jensen's inequality, for b/(m + b), which is concave in b, and for 1/(m + 1 + b), which is convex
    Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
    Checked-by: tests/mechanisms/test_choice_errors.py::test_the_distance_is_the_least
    """
    if others * (1 - miss) <= best * miss:
        return Fraction(0)
    lowest = best * miss / ((1 - miss) * others)
    if lowest * others > MOST_EXPECTED:
        return Enclosure.of(1 / lowest).log().claim()
    highest = (best + 1) * miss / (others - (others - 1) * miss)
    accept = largest(
        lambda accept: chance_of_another(accept, best=best, others=others).upper <= miss,
        lowest=lowest * _NEARLY,
        highest=highest,
        field="confidence",
    )
    return Enclosure.of(1 / accept).log().claim()


def steps_behind(*, scale: Fraction, others: int, miss: Fraction) -> int:
    """The least w, in steps, such that noisy max with one-sided noise of this scale chooses nobody further behind.

    Theorem: whole scores with discrete exponential noise, and ties broken uniformly, choose as permute and flip does.
    Reference: Ding-et-al 2021, for continuous noise
    Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
    Checked-by: tests/mechanisms/test_choice_errors.py::test_one_sided_noise_chooses_as_permute_and_flip_does
    """
    return max(ceil(scale * scales_behind(best=1, others=others, miss=miss)) - 1, 0)


def two_sided(scale: Fraction) -> Comparisons:
    """The noise of the others beside that of the best, which is their threshold; both of this scale."""
    return Comparisons(threshold_scale=scale, tests=((scale, 0),))


def steps_behind_two_sided(*, scale: Fraction, others: int, confidence: Number) -> int:
    """The same for discrete Laplace noise; ties count as lost, so it may be one step more than the least.

    For scales above 64 it is a multiple of the block, at most a 32nd part of the scale more.

    Theorem: some candidate more than w behind wins only if its noise exceeds that of the best by more than w; with n
        others w behind, that happens for one of them with probability 1 - E[F(w + r)^n], r the noise of the best.
    Reference: independence, given the noise of the best
    Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
    Checked-by: tests/mechanisms/test_choice_errors.py::test_two_sided_noise_is_followed_to_the_step
    """
    return two_sided(scale).error(confidence, queries=others, answers=0) if others else 0


def lead_half_width(*, scale: Fraction, others: int, confidence: Number) -> int:
    """A w such that the lead of the winner is within w of the truth; in steps, and the least for two candidates.

    Theorem: the lead errs by more than w only if somebody's noise exceeds that of the best by more than w, or that of
        the best the noise of the second by w + 1; noises have uniform fractions.
    Reference: union bound
    Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
    Checked-by: tests/mechanisms/test_choice_errors.py::test_leads_are_within_their_width_and_no_less_will_do
    """
    certain, law, race = read_confidence(confidence), DiscreteLaplace(scale=scale), two_sided(scale)

    def reaches(n: int) -> Enclosure:
        """P(X - Y >= n) for n >= 0."""
        return tails(law, [2], n)[0] if n else 1 - tails(law, [2], 1)[0]

    def inside(w: int) -> Fraction:
        second = (reaches(w + 1) + reaches(w + 2)) / 2
        if others == 1:
            return 1 - Fraction((second + (reaches(w) + reaches(w + 1)) / 2).upper)
        return race.all_right(w - 1, certain, others, 0) - Fraction(second.upper)

    if others == 1:
        return least(lambda w: w >= 0 and inside(w) >= certain, ceil(2 * scale))
    return race.least_steps(inside, certain, others)
