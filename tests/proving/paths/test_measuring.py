"""How likely paths are."""

from fractions import Fraction
from math import inf, log
from typing import Any

import pytest
from flint import arb

from privately.errors import NotSupported
from privately.proving.paths import measuring
from privately.proving.paths.affine import Affine, Constraint, symbol_form
from privately.proving.paths.events import event_probability, exactly
from privately.proving.paths.exploring import explore
from privately.proving.paths.measuring import coins_probability, interval, log_ratio, no_whole_draws, probability
from privately.proving.paths.noise import Noise
from privately.proving.reading import read_program
from privately.proving.running import run
from privately.rounding import Interval
from tests.proving.textbook import CLAMPED, NOISY_MAX, sparse

Z = [symbol_form(number) for number in range(3)]
LAPLACE, WHOLE = Noise("laplace", Fraction(1)), Noise("discrete_laplace", Fraction(1))

CASES: list[tuple[str, dict[str, Any]]] = [
    (sparse(), {"q": (1, 0, 2), "threshold": 1, "most": 2, "epsilon": 1}),
    (sparse().replace("laplace", "discrete_laplace"), {"q": (1, 0, 2), "threshold": 1, "most": 1, "epsilon": 1}),
    (sparse().replace("laplace", "rounded_gaussian"), {"q": (1, 0), "threshold": 1, "most": 1, "epsilon": 1}),
    (sparse().replace("laplace", "gaussian"), {"q": (1, 0), "threshold": 1, "most": 1, "epsilon": 1}),
    (NOISY_MAX, {"q": (1, 0, 2, 1), "epsilon": 1}),
    (NOISY_MAX.replace("laplace", "discrete_exponential"), {"q": (1, 0, 2), "epsilon": 1}),
    (CLAMPED, {"x": 2, "epsilon": 1}),
]


@pytest.mark.parametrize(("text", "inputs"), CASES)
def test_measures_agree_with_sampling_and_sum_to_one(text: str, inputs: dict[str, Any]) -> None:
    program = read_program(text)
    total = arb(0)
    likely: dict[object, float] = {}
    for path in explore(program, inputs).paths:
        chance = probability(path.noises, path.constraints)
        total += chance
        likely[path.output] = likely.get(path.output, 0.0) + float(chance.mid())
    assert total.contains(1)
    assert total.rad() < 1e-12
    top = max((output for output in likely if not isinstance(output, Affine)), key=lambda one: likely[one])
    samples = 400
    seen = sum(run(program, inputs) == top for _ in range(samples))
    # Hoeffding: off by more than this with probability below 1e-9.
    assert abs(seen / samples - likely[top]) < 0.165


def test_zero_is_decided_and_tiny_is_not_zero() -> None:
    assert probability([LAPLACE] * 2, [Constraint(Z[0] - Z[1], ">"), Constraint(Z[1] - Z[0], ">")]).is_zero()
    between = [Constraint(Z[0] - Fraction(1, 3), ">"), Constraint(Fraction(2, 3) - Z[0], ">")]
    assert probability([WHOLE], between).is_zero()
    assert not probability([LAPLACE], between).is_zero()
    tiny = probability([LAPLACE], [Constraint(Z[0] - 500, ">")])
    assert tiny > 0
    assert tiny.rel_accuracy_bits() >= measuring.BITS
    assert log(0.5) - 500 == pytest.approx(float(tiny.log().mid()))


def test_precision_grows_until_the_answer_is_good() -> None:
    far = [Constraint(Z[0] - Z[1] - 200, ">"), Constraint(Z[2] - Z[1], ">")]
    assert probability([LAPLACE] * 3, far, bits=120).rel_accuracy_bits() >= 120


def test_whole_draws_that_parity_forbids() -> None:
    assert no_whole_draws([Constraint(2 * Z[0] - 2 * Z[1] - 1, "==")], [WHOLE] * 2)
    assert not no_whole_draws([Constraint(2 * Z[0] - 3 * Z[1] - 1, "==")], [WHOLE] * 2)
    assert not no_whole_draws([Constraint(Z[0] - 1, ">")], [LAPLACE])


def test_a_zero_that_the_sum_contradicts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "no_whole_draws", lambda constraints, noises: True)
    with pytest.raises(NotSupported, match="disagree"):
        probability([WHOLE], [Constraint(Z[0] - 1, ">")])


def test_mixtures_in_one_guard_are_measured() -> None:
    assert probability([LAPLACE, WHOLE], [Constraint(Z[0] - Z[1], ">")]).contains(arb(0.5))


def test_what_cannot_be_told_from_zero_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_PRECISION", 80)
    with pytest.raises(NotSupported, match="too small"):
        probability([Noise("geometric", Fraction(1, 2))], [Constraint(Z[0] - 10_000, ">")])


def test_coins_and_intervals() -> None:
    assert coins_probability(Fraction(1, 2), [(Fraction(1), True), (Fraction(2), False)]).overlaps(
        arb(0.5) * arb(-1).exp() * (1 - arb(-2).exp())
    )
    assert interval(arb(0.5, 0.75)) == Interval(0, 1)
    found = log_ratio(Interval(Fraction(1, 2), Fraction(1, 2)), Interval(Fraction(1, 4), Fraction(1, 4)))
    assert found.lower < log(2) + 1e-12
    assert float(found.width) < 1e-20
    assert log_ratio(Interval(Fraction(1, 2), 1), Interval(0, Fraction(1, 4))).upper == inf
    assert interval(arb(1, 1e-20) + arb(1e-10)) == Interval(1, 1)


def test_a_difference_of_exponentials_is_laplace() -> None:
    """Compared with other noise, with the signs of both said on the path: they follow from their laws."""
    one = "def f(x: each(1)):\n    return x + laplace(3) > exponential(2) - exponential(2)\n"
    other = "def f(x: each(1)):\n    return x + laplace(3) > laplace(2)\n"
    for place in (-3, 0, 1):
        chances = [
            event_probability(explore(read_program(text), {"x": place}).paths, exactly(1)) for text in (one, other)
        ]
        assert chances[0].overlaps(chances[1])
        assert chances[0].rel_accuracy_bits() >= 40


def test_what_is_far_too_small_for_a_fraction_lies_above_zero() -> None:
    found = interval(arb(-(10**12)).exp())
    assert (found.lower, found.upper) == (0, Fraction(1, 2**measuring.TINY))
    assert log_ratio(Interval(1, 1), found).lower > 277_000
