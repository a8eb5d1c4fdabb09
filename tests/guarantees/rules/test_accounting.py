"""What accounting concludes, against mechanisms enumerated in full; and conclusions that look alike and are false."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.accounting.certifying import derive
from privately.accounting.events import Event, PoissonSample, RandomizedResponse, Repeat
from privately.certificates import certify
from privately.errors import CertificateInvalid, InvalidParameter
from privately.guarantees import ApproxDP, PureDP, rules
from privately.rounding import Enclosure
from tests.guarantees.enumeration import Law, Pair
from tests.guarantees.rules.refutation import refutation

DELTA = Fraction(1, 100)
TRUTHS = [Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)]
RATES = [Fraction(1), Fraction(1, 2), Fraction(1, 10)]
TIMES = [1, 3, 6]


def answers(truth: Fraction, rate: Fraction, times: int) -> Pair:
    """A yes-no question to a sample in which one person may be, so many times: with that person's row, and without.

    Whoever is not there is answered for as if the true answer were no.
    """
    without: Law = {"yes": 1 - truth, "no": truth}
    there: Law = {"yes": truth, "no": 1 - truth}
    within = {answer: (1 - rate) * without[answer] + rate * there[answer] for answer in without}
    return joint(within, times), joint(without, times)


def joint(law: Law, times: int) -> Law:
    found: dict[str, Fraction] = {}
    for path in product(law, repeat=times):
        mass = Fraction(1)
        for answer in path:
            mass *= law[answer]
        key = str(path.count("yes"))  # a sufficient statistic
        found[key] = found.get(key, Fraction(0)) + mass
    return found


def event(truth: Fraction, rate: Fraction, times: int) -> Event:
    epsilon = Enclosure.of(truth / (1 - truth)).log().claim()
    one: Event = RandomizedResponse(epsilon=epsilon)
    return Repeat(event=PoissonSample(event=one, rate=rate) if rate < 1 else one, times=times)


def fault(derive_: Callable[..., Any], truth: Fraction, rate: Fraction, times: int) -> str:
    conclusion = derive_(event(truth, rate, times), delta=DELTA).conclusion
    return refutation(conclusion, [answers(truth, rate, times)])


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("times", TIMES)
def test_accounted_dominates_enumeration(truth: Fraction, rate: Fraction, times: int) -> None:
    assert fault(derive, truth, rate, times) == ""


def less(part: Fraction) -> Callable[..., Any]:
    """A twin that claims only this part of epsilon."""

    def twin(described: Event, *, delta: Fraction) -> Any:
        found = derive(described, delta=delta)
        numbers = found.conclusion.parameters
        smaller = ApproxDP(epsilon=numbers["epsilon"] * part, delta=delta)
        event_, bounds = found.parameters, list(found.witness["bounds"])
        return rules.accounted(smaller, event=event_, bounds=bounds)

    return twin


def one_run_less(described: Event, *, delta: Fraction) -> Any:
    assert isinstance(described, Repeat)
    return derive(Repeat(event=described.event, times=described.times - 1), delta=delta)


def smaller_rate(described: Event, *, delta: Fraction) -> Any:
    assert isinstance(described, Repeat)
    inner = described.event
    if isinstance(inner, PoissonSample):
        inner = PoissonSample(event=inner.event, rate=inner.rate**2)
    return derive(Repeat(event=inner, times=described.times), delta=delta)


@pytest.mark.parametrize("twin", [less(Fraction(97, 100)), one_run_less, smaller_rate])
def test_accounted_twins_are_refuted(twin: Callable[..., Any]) -> None:
    assert any(fault(twin, truth, rate, times) for truth in TRUTHS for rate in RATES for times in TIMES)


def test_the_rule_does_not_evaluate_but_no_false_number_is_certified() -> None:
    made = less(Fraction(99, 100))(event(TRUTHS[1], RATES[1], 6), delta=DELTA)
    with pytest.raises(CertificateInvalid, match=r"conclusion\.(delta|epsilon)"):
        certify(made)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"conclusion": PureDP(epsilon=1)}, "conclusion"),
        ({"conclusion": None}, "conclusion"),
        ({"event": None}, "event"),
        ({"event": {"kind": "Pure"}}, "event"),
        ({"bounds": None}, "bounds"),
        ({"bounds": ["pure"]}, "bounds"),
    ],
)
def test_bad_input(change: dict[str, Any], field: str) -> None:
    given: dict[str, Any] = {
        "conclusion": ApproxDP(epsilon=1, delta=0),
        "event": {"version": 1, "event": {}},
        "bounds": [],
    }
    given |= change
    with pytest.raises(InvalidParameter) as caught:
        rules.accounted(given.pop("conclusion"), **given)
    assert caught.value.field == field
