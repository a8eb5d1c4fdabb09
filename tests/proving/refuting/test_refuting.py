"""The refuter: wrong programs are refuted with what they truly lose, right ones never."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from privately.proving.language.declarations import each, monotone
from privately.proving.paths.events import Condition, Event, event_probability
from privately.proving.paths.exploring import explore
from privately.proving.reading import read_program
from privately.proving.refuting import refuting
from privately.proving.refuting.climbing import Find
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.refuting import refute
from privately.proving.refuting.witnesses import Counterexample, LowerBound
from privately.rounding import Interval
from tests.endless import ends
from tests.proving.textbook import (
    ADAPTIVE,
    CLAMPED,
    COUNT,
    HISTOGRAM,
    MEAN,
    NOISY_MAX,
    PARTIAL_SUM,
    PREFIX_SUM,
    RUNNING_SUM,
    SMART_SUM,
    sparse,
)

SPARSE = {"threshold": 0, "most": 1, "epsilon": 1}
EPSILON = {"epsilon": 1}
TENTH = {"epsilon": Fraction(1, 10)}
BLOCK = {"block": 2, "epsilon": 1}

# What is lost at six entries: a cap that a coupling proves, each draw moved as needed, and that is nearly reached.
WRONG: dict[str, tuple[str, dict[str, Any], float]] = {
    "no query noise": (sparse(noise="0", guard="i < len(q)"), SPARSE, math.inf),
    "no query noise, stops": (sparse(noise="0"), SPARSE, math.inf),
    "never stops": (sparse(noise="laplace(2/epsilon)", guard="i < len(q)"), SPARSE, 3.0),
    "never stops, whole": (
        sparse(noise="laplace(2/epsilon)", guard="i < len(q)").replace("laplace", "discrete_laplace"),
        SPARSE,
        3.0,
    ),
    "too little query noise": (sparse(bar="4/epsilon", noise="laplace(4/(3*epsilon))"), SPARSE, 1.75),
    "shows the noisy value": (sparse(noise="laplace(2*most/epsilon)", yes="value"), SPARSE, 3.0),
    "shows it with more noise": (sparse(yes="value"), SPARSE, 1.5),
    "largest value": (NOISY_MAX.replace("return best", "return top"), EPSILON, 3.0),
    "largest value, one-sided": (
        NOISY_MAX.replace("return best", "return top").replace("laplace", "exponential"),
        EPSILON,
        math.inf,
    ),
    "half the noise": (PARTIAL_SUM.replace("1/epsilon", "1/(2*epsilon)"), EPSILON, 2.0),
    "running sums": (RUNNING_SUM, EPSILON, 6.0),
    "prefix sums, all differ": (PREFIX_SUM.replace("one(1)", "each(1)"), EPSILON, 6.0),
    "smart sum for one epsilon": (SMART_SUM, BLOCK, 2.0),
    "smart sum without block noise": (
        SMART_SUM.replace("inside + q[i] + laplace(1/epsilon)", "inside + q[i]"),
        BLOCK,
        math.inf,
    ),
    "scale and epsilon confused": (HISTOGRAM.replace("1/epsilon", "epsilon"), TENTH, 10.0),
    "mean without noise": (MEAN.replace(" + laplace(1/(len(d)*epsilon))", ""), EPSILON, math.inf),
    "mean with half the noise": (MEAN.replace("1/(len", "1/(2*len"), EPSILON, 2.0),
    "a number that is added": (
        "def f(q: added(0, 1), epsilon):\n    return sum(q) + discrete_laplace(1/(2*epsilon))\n",
        EPSILON,
        2.0,
    ),
    "a mean that is worst for few": (
        "def f(q: added(between(0, 1)), epsilon):\n    return sum(q) / len(q) + laplace(1/(4*epsilon))\n",
        EPSILON,
        2.0,
    ),
    "private scale": ("def f(x: anything(1, 2), epsilon):\n    return laplace(x / epsilon)\n", EPSILON, math.inf),
}

RIGHT: dict[str, tuple[str, dict[str, Any], int]] = {
    "sparse": (sparse(), SPARSE, 1),
    "sparse, whole": (sparse().replace("laplace", "discrete_laplace"), SPARSE, 1),
    "gap": (sparse(yes="value - bar"), SPARSE, 1),
    "numbers": (
        sparse(bar="3/epsilon", noise="laplace(6*most/epsilon)", yes="q[i] + laplace(3*most/epsilon)"),
        SPARSE,
        1,
    ),
    "maximum": (NOISY_MAX, EPSILON, 1),
    "maximum, one-sided": (NOISY_MAX.replace("laplace", "exponential"), EPSILON, 1),
    "sum": (PARTIAL_SUM, EPSILON, 1),
    "prefix sums": (PREFIX_SUM, EPSILON, 1),
    "running sums": (RUNNING_SUM, EPSILON, 6),
    "smart sum": (SMART_SUM, BLOCK, 2),
    "histogram": (HISTOGRAM, EPSILON, 1),
    "mean": (MEAN, EPSILON, 1),
    "count": (COUNT, EPSILON, 1),
    "clamped": (CLAMPED, EPSILON, 5),
    "constant": ("def f(x: each(1)):\n    return 3\n", {}, 0),
}


def refuted(name: str, **options: Any) -> Counterexample | LowerBound:
    text, public, _ = WRONG[name]
    return refute(read_program(text), Fraction(public["epsilon"]), public=public, **options)


LONG = {"never stops", "never stops, whole", "too little query noise", "largest value"}


def marked(names: Iterable[str], long: set[str]) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] if name in long else []) for name in names]


@pytest.mark.parametrize("name", marked([name for name in WRONG if name != "private scale"], LONG))
def test_wrong_programs_lose_what_they_truly_lose(name: str) -> None:
    truth = WRONG[name][2]
    found = refuted(name)
    assert isinstance(found, Counterexample)
    if truth == math.inf:
        assert found.infinite
        assert found.neighbor_probability == Interval(0, 0)
        assert found.probability.lower > 0
    else:
        assert 0.95 * truth < found.epsilon.lower <= truth


@pytest.mark.parametrize(
    ("name", "truth"),
    [("never stops", 1.5), ("never stops, whole", 1.5), ("too little query noise", 1.75), ("largest value", 1.5)],
)
def test_short_lists_are_enough_to_see_it(name: str, truth: float) -> None:
    found = refuted(name, sizes=(3,), budget=3.2)
    assert isinstance(found, Counterexample)
    assert 0.95 * truth < found.epsilon.lower <= truth


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_never_refuted(name: str) -> None:
    text, public, claim = RIGHT[name]
    found = refute(read_program(text), Fraction(claim), public=public, budget=1.6, sizes=(1, 3))
    assert isinstance(found, LowerBound)
    assert 0 <= found.epsilon.lower <= claim


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_never_refuted_however_long_one_looks(name: str) -> None:
    text, public, claim = RIGHT[name]
    found = refute(read_program(text), Fraction(claim), public=public, budget=32, sizes=(2, 4, 6))
    assert isinstance(found, LowerBound)
    assert 0 <= found.epsilon.lower <= claim


def test_a_scale_that_is_private_is_taken_one_input_at_a_time() -> None:
    found = refuted("private scale")
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > 3


def test_no_event_is_pushed_out_of_sight_once_the_claim_is_broken() -> None:
    found = refute(read_program("def f(x: each(1)):\n    return x + gaussian(1)\n"), Fraction(1), public={})
    assert isinstance(found, Counterexample)
    assert found.neighbor_probability.lower > 1e-300


@pytest.mark.parametrize("factor", [12, 320])
def test_inputs_may_be_far_apart_even_for_floats(factor: int) -> None:
    program = read_program(f"def f(x: each(1)):\n    return x * 10**{factor} + laplace(1)\n")
    assert isinstance(refute(program, Fraction(1), public={}), Counterexample)


def test_noise_that_no_float_holds_ends_the_search() -> None:
    program = read_program("def f(x: each(1)):\n    return x + laplace(1) * 10**400\n")
    found = refute(program, Fraction(1), public={})
    assert isinstance(found, LowerBound)
    assert "there are numbers that no float holds." in found.notes


def test_normal_noise_has_no_epsilon_of_its_own() -> None:
    found = refute(read_program("def f(x: each(1)):\n    return x + gaussian(1)\n"), Fraction(100), public={})
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > 100


def test_inputs_that_are_shown_through_coins_are_compared_one_by_one() -> None:
    text = "def f(x: replaced(0, 1)):\n    return sum([v if flip(3/4) else 1 - v for v in x])\n"
    found = refute(read_program(text), Fraction(1), public={}, sizes=(2,))
    assert isinstance(found, Counterexample)
    assert math.log(3) - 1e-9 < found.epsilon.lower <= math.log(3)


def test_whole_noise_does_not_hide_halves() -> None:
    found = refute(read_program("def f(x: each(1)):\n    return x / 2 + discrete_laplace(2)\n"), Fraction(1), public={})
    assert isinstance(found, Counterexample)
    assert found.infinite
    assert str(found.event) == "output == 0"


@pytest.mark.slow
def test_three_ways_to_go_on_are_followed_too() -> None:
    public = {"threshold": 0, "epsilon": 1}
    found = refute(read_program(ADAPTIVE), Fraction(1), public=public, sizes=(6,), budget=8)
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > 1.7


def test_three_ways_to_go_on_are_followed_for_short_lists() -> None:
    public = {"threshold": 0, "epsilon": 1}
    found = refute(read_program(ADAPTIVE), Fraction(3, 4), public=public, sizes=(3,), budget=1.6)
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > 0.8


def test_too_many_ways_to_clip_are_looked_at_one_input_at_a_time() -> None:
    text = "def f(q: each(4), epsilon):\n    return [min(3, max(0, x)) + laplace(2/epsilon) for x in q]\n"
    found = refute(read_program(text), Fraction(3), public=EPSILON, sizes=(6,), budget=4.8)
    assert isinstance(found, Counterexample)
    assert 8.9 < found.epsilon.lower <= 9


WIDE = "def f(q: each(1)):\n    s = 0\n    for x in q:\n        s = s + x + discrete_laplace(1000)\n    return s\n"
ENDLESS = "def f(x: each(1)):\n    z = laplace(1)\n    while z < 0:\n        z = laplace(1)\n    return x + z\n"
LONG_LOOP = "def f(x: each(1)):\n    s = 0\n    for i in range(3000):\n        s = s + laplace(1)\n    return s + x\n"


@pytest.mark.parametrize(("text", "kind"), [(WIDE, LowerBound), (ENDLESS, Counterexample), (LONG_LOOP, LowerBound)])
def test_whatever_the_program_the_search_ends_in_time(text: str, kind: type) -> None:
    with ends():
        found = refute(read_program(text), Fraction(1), public={}, budget=0.8)
        assert isinstance(found, kind)


def test_neighbourhoods_public_values_by_length_and_claims_as_intervals() -> None:
    text = "def f(q: private, size):\n    assume(size == len(q))\n    return sum(q) + laplace(size)\n"
    public = {"size": lambda length: length}
    tight = refute(
        read_program(text),
        Interval(Fraction(1, 2), Fraction(9, 10)),
        public=public,
        neighborhoods={"q": each(1)},
        sizes=(3,),
    )
    assert isinstance(tight, Counterexample)
    assert 0.99 < tight.epsilon.lower <= 1
    assert tight.public == {"size": 3}
    held = refute(
        read_program(text),
        Interval(Fraction(1, 2), Fraction(1)),
        public=public,
        neighborhoods={"q": monotone(1)},
        sizes=(3,),
    )
    assert isinstance(held, LowerBound)


def test_inputs_that_an_assumption_forbids_are_no_witness() -> None:
    text = "def f(x: each(1)):\n    assume(x > 0)\n    return 1 if x > 0 else 0\n"
    found = refute(read_program(text), Fraction(0), public={})
    assert isinstance(found, LowerBound)
    assert found.epsilon.lower == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [((0, 0), (1, 1)), ((0, 0), (0, 3)), ((0, 0), (0,)), ((0, 0), (0, 1))],
    ids=["two entries", "too far", "too short", "neighbours"],
)
def test_a_search_that_lies_refutes_nothing(
    left: tuple[int, ...], right: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    event = Event(None, (Condition(((0, Fraction(1)),), "<=", Fraction(0)),))
    find = Find(99.0, tuple(map(Fraction, left)), tuple(map(Fraction, right)), event)
    monkeypatch.setattr(refuting, "search", lambda *_: [find])
    monkeypatch.setattr(refuting, "mismatches", lambda *_: iter([(find.left, find.right, event)]))
    monkeypatch.setattr(refuting, "enclosed_comparisons", lambda *_: iter(()))
    found = refute(read_program(PARTIAL_SUM), Fraction(1), public=EPSILON, sizes=(2,))
    assert isinstance(found, LowerBound)
    assert (found.best is not None) == (right == (0, 1))


def test_what_cannot_be_looked_at_is_noted() -> None:
    text = "def f(x: each(1)):\n    y = x + laplace(1)\n    return y * y\n"
    found = refute(read_program(text), Fraction(1), public={}, budget=1.6)
    assert isinstance(found, LowerBound)
    assert 0.8 < found.epsilon.lower <= 1
    assert any("product" in note for note in found.notes)


def test_a_product_of_noise_alone_has_no_epsilon() -> None:
    """Its density has no upper end at zero (it is a Bessel function, K_0): every claim is broken."""
    text = "def f(x: each(1)):\n    return laplace(1) * laplace(1) + x\n"
    found = refute(read_program(text), Fraction(1, 2), public={}, budget=1.6)
    assert isinstance(found, Counterexample)
    assert found.probability.lower > found.neighbor_probability.upper


UNREAD = "    coin{0} = flip(1/3)\n"


def test_draws_that_nobody_reads_are_not_followed() -> None:
    """Fourteen coins would make sixteen thousand ways; the witness speaks of the program that was asked about."""
    plain = "def f(x: each(1)):\n    return x + laplace(1/2)\n"
    program = read_program(plain.replace(":\n", ":\n" + "".join(map(UNREAD.format, range(14))), 1))
    found = refute(program, Fraction(1), public={}, budget=1.6)
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > 1.99
    assert found.program is program


LEVELS = """def f(q: each(1)):
    bar = laplace(2)
    out = []
    for v in q:
        z = v + laplace(4)
        out.append((z > bar) + (z > bar + 2))
    return out
"""


def test_of_too_many_ways_some_are_looked_at_and_all_that_count_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many ways as may be followed, here and in measuring: the witness is the same as with all of them at hand."""
    monkeypatch.setattr(refuting, "MOST_OPEN_PATHS", 20)
    monkeypatch.setattr(refuting, "SAMPLED_PATHS", 12)
    found = refute(read_program(LEVELS), Fraction(1, 2), public={}, sizes=(3,), budget=1.6)
    assert isinstance(found, Counterexample)
    assert 0.65 < found.epsilon.lower <= 0.75
    hunt = refuting._Hunt(read_program(LEVELS), {}, {}, Deadline(5))
    for given in (found.inputs, found.neighbor):
        pruned, whole = hunt.paths(given, found.event), explore(read_program(LEVELS), given).paths
        assert len(pruned) < len(whole)
        assert event_probability(pruned, found.event).overlaps(event_probability(whole, found.event))


def test_coins_counted_in_a_loop_are_no_secret_kept() -> None:
    text = "def f(x: replaced(0, 1)):\n    n = 0\n    while flip(1/2) == 0:\n        n += 1\n    return n + x\n"
    found = refute(read_program(text), Fraction(3), public={}, budget=1.6)
    assert isinstance(found, Counterexample)
    assert found.infinite


def test_pairs_of_inputs_are_climbed_for_one_by_one() -> None:
    text = "def f(a: each(1, whole(0, 4)), b: each(1, whole(0, 4))):\n    return a*b + laplace(1)\n"
    found = refute(read_program(text), Fraction(1), public={}, budget=1.6)
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > 6.9


def test_many_answers_are_looked_at_at_once() -> None:
    """Each event is far too rare for a search in floats."""
    text = "def f(q: each(1)):\n    return [q + laplace(1) for i in range(60)]\n"
    found = refute(read_program(text), Fraction(1), public={}, budget=0.5)
    assert isinstance(found, Counterexample)
    assert 59.99 < found.epsilon.lower <= 60


def test_a_gap_tells_which_query_it_was_if_the_others_are_far_away() -> None:
    text = """def gap(q: each(1)):
    t = laplace(2)
    for v in q:
        y = v + laplace(4)
        if y > t:
            return y - t
    return -1
"""
    found = refute(read_program(text), Fraction(1, 2), public={}, sizes=(4,), budget=1.6)
    assert isinstance(found, Counterexample)
    assert found.epsilon.lower > Fraction(3, 4)


def test_very_long_lists_are_not_searched() -> None:
    text = "def f(q: each(1)):\n    return sum(q) + laplace(1)\n"
    found = refute(read_program(text), Fraction(1), public={}, sizes=(5_000,))
    assert isinstance(found, LowerBound)
    assert "not searched" in found.notes[0]


def test_differences_of_one_sided_noises_in_a_comparison() -> None:
    text = "def f(q: each(1)):\n    bar = exponential(2) - exponential(2)\n    return q + laplace(2) >= bar\n"
    found = refute(read_program(text), Fraction(1, 10), public={}, budget=0.8)
    assert isinstance(found, Counterexample)
    assert 0.45 < found.epsilon.lower <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("text", "length", "truth"),
    [
        ("def f(x: one(1), y: one(1)):\n    return sum(x) - sum(y) + laplace(1)\n", 2, 2),
        ("def f(x: each(1, whole(0, 3)), y: each(1, whole(0, 3))):\n    return x - y + laplace(1)\n", 1, 2),
    ],
)
def test_what_two_inputs_do_at_once_may_cancel(text: str, length: int, truth: float) -> None:
    found = refute(read_program(text), Fraction(1), public={}, sizes=(length,), budget=0.8)
    assert isinstance(found, Counterexample)
    assert 0.999 * truth < found.epsilon.lower <= truth


def test_a_median_moves_where_the_others_are_halves() -> None:
    median = "max(min(x[0], x[1]), min(max(x[0], x[1]), x[2]))"
    text = f"def f(x: replaced(between(0, 10))):\n    return {median} + laplace(1)\n"
    found = refute(read_program(text), Fraction(1), public={}, sizes=(3,), budget=0.8)
    assert isinstance(found, Counterexample)
    assert 9.99 < found.epsilon.lower <= 10


def test_a_peak_is_seen_through_a_narrow_window() -> None:
    text = "def f(x: each(1)):\n    scale = 1/2 if flip(1/4) else 2\n    return x + laplace(scale)\n"
    found = refute(read_program(text), Fraction(1), public={}, budget=0.8)
    truth = math.log((1 / 4 + 3 / 16) / (math.exp(-2) / 4 + 3 / 16 * math.exp(-1 / 2)))
    assert isinstance(found, Counterexample)
    assert 0.99 * truth < found.epsilon.lower <= truth


def test_small_numbers_at_which_bounded_entries_are_cut_off_are_tried() -> None:
    text = "def f(x: replaced(between(0, 10))):\n    return sum(x) / max(max(x), 1) + laplace(1)\n"
    found = refute(read_program(text), Fraction(1), public={}, sizes=(3,), budget=3.2)
    assert isinstance(found, Counterexample)
    assert 1.79 < found.epsilon.lower <= Fraction(9, 5)


def test_at_the_ends_of_a_domain_some_go_up_and_others_down() -> None:
    text = "def f(q: each(1, one_of(0, 1))):\n    return [v + discrete_laplace(2) for v in q]\n"
    up = tuple(map(Fraction, (0, 1, 0, 1)))
    assert (up, tuple(1 - one for one in up)) in set(layout(read_program(text), {}, 4).starts())


def test_hardly_any_noise_is_measured_in_little_memory() -> None:
    text = "def f(x: each(1)):\n    return x + laplace(1)/10**8\n"
    found = refute(read_program(text), Fraction(1), public={}, budget=0.8)
    assert isinstance(found, Counterexample)
    assert 277_000 < found.epsilon.lower <= 10**8
