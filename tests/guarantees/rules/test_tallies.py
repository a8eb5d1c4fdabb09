"""Tallies of everything that a small unit can have move no further than the rules say; what says less is refuted."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Groups, Neighbors, ScoreSpread, Sensitivity, Stability, UnitKeys, rules
from privately.guarantees.sensitivity import Norm
from tests.guarantees.rules.small_units import (
    Numbers,
    Unit,
    all_groups,
    bins_counted,
    contributions,
    farthest,
    pairs_summed,
    rows_counted,
    stated,
    steps_summed,
    units_counted,
    values_counted,
)

NORMS: tuple[Norm, ...] = ("L1", "L2", "Linf")
ENDS = [(-2, 3), (-3, 2), (0, 2), (-2, 0), (1, 3), (-3, -1), (0, 0)]
FEW = [(1, 1, 1), (2, 2, 1), (2, 1, 2), (2, 2, 2), (3, 2, 2)]
STEPS: dict[str, Any] = {"argument": "x", "step": 1}
BINS: dict[str, Any] = {"argument": "x", "lower": 0, "width": 1, "bins": 3}


def allowed(found: Stability, norm: Norm, moved: tuple[int, int, int]) -> bool:
    assert isinstance(found.conclusion, Sensitivity)
    assert found.conclusion.norm == norm
    value = found.conclusion.value
    return {"L1": moved[0] <= value, "L2": moved[1] <= value**2, "Linf": moved[2] <= value}[norm]


def holds(rule: Callable[..., Stability], groups: Stability, moved: tuple[int, int, int], **given: Any) -> None:
    for norm in NORMS:
        assert allowed(rule(groups, norm=norm, **given), norm, moved), (rule, groups.conclusion, norm, given)


def test_moves_of_all_small_units() -> None:
    for groups in all_groups():
        limits = stated(groups)
        holds(rules.count_rows, groups, farthest(limits, [0], rows_counted))
        holds(rules.count_rows, groups, farthest(limits, [0, None], values_counted), argument="x")
        holds(rules.count_units, groups, farthest(limits, [0], units_counted))
    for groups in all_groups(FEW):
        for low, high in ENDS:
            moved = farthest(stated(groups), {low, high, None}, steps_summed)
            holds(rules.sum_steps, groups, moved, low=low, high=high, **STEPS)


def test_a_replaced_unit_leaves_all_its_groups_for_others() -> None:
    """Counts are then as far apart as is said: two units have twice as many groups as one."""
    for groups in all_groups():
        limits = stated(groups)
        if limits.listed is None:
            rows, units = (farthest(limits, [0], tally, 2 * limits.groups) for tally in (rows_counted, units_counted))
            for rule, moved in ((rules.count_rows, rows), (rules.count_units, units)):
                holds(rule, groups, moved)
                assert _value(rule(groups, norm="L1")) == moved[0]
                assert _value(rule(groups, norm="Linf")) == moved[2]
                assert _value(rule(groups, norm="L2")) ** 2 < moved[1] + Fraction(1, 10**6)


def test_few_groups_bound_what_a_replaced_unit_moves() -> None:
    for groups in all_groups():
        limits = stated(groups)
        if limits.listed == 1:
            for rule, tally in ((rules.count_rows, rows_counted), (rules.count_units, units_counted)):
                moved = farthest(limits, [0], tally)
                assert [_value(rule(groups, norm=norm)) for norm in ("L1", "L2", "Linf")] == [moved[2]] * 3


def test_bins_of_all_small_units() -> None:
    for groups in all_groups():
        holds(rules.count_bins, groups, farthest(stated(groups), [0, 1], bins_counted), **BINS)


def test_pairs_of_all_small_units() -> None:
    for groups in all_groups(FEW):
        for low, high in ENDS:
            for counted in ("values", "rows") if low <= 0 <= high else ("values",):
                moved = farthest(stated(groups), {low, high, None}, pairs_summed(low, high, counted))
                holds(rules.sum_pairs, groups, moved, low=low, high=high, counted=counted, **STEPS)


def test_keys_of_all_small_units() -> None:
    for groups in all_groups():
        found = rules.count_units_by_key(groups).conclusion
        assert isinstance(found, UnitKeys)
        units = [units_counted(unit) for unit in contributions(stated(groups), [0])]
        assert found.keys == max(len(unit) for unit in units)
        assert all(number == 1 for unit in units for number in unit.values())
        assert found.neighbors == stated(groups).neighbors


def test_what_is_claimed_of_counts_is_reached() -> None:
    for groups in all_groups():
        limits = stated(groups)
        if limits.listed is None and limits.neighbors.change == "add_remove":
            one, two, largest = farthest(limits, [0], rows_counted)
            values = [_value(rules.count_rows(groups, norm=norm)) for norm in NORMS]
            assert values[0] == one
            assert abs(float(values[1]) - two**0.5) < 1e-9
            assert values[2] == largest


def _value(found: Stability) -> Fraction:
    assert isinstance(found.conclusion, (Sensitivity, ScoreSpread))
    return found.conclusion.value


# --- scores ---------------------------------------------------------------------------------------------------------


def misses(unit: Unit, others: Unit, top: int, bottom: int) -> list[list[int]]:
    """How badly each of three bins misses a quantile, in each of three groups."""
    found = []
    for group in range(3):
        values = [value or 0 for part, value in (*unit, *others) if part == group]
        target = top * len(values)
        found.append(
            [
                max(bottom * sum(v < x for v in values) - target, target - bottom * sum(v <= x for v in values), 0)
                for x in range(3)
            ]
        )
    return found


def apart(one: list[list[int]], other: list[list[int]]) -> int:
    """Spreads of all groups together: the largest change of a sum of scores, one of each group, less the smallest."""
    changes = [[b - a for a, b in zip(*pair, strict=True)] for pair in zip(one, other, strict=True)]
    return sum(max(group) - min(group) for group in changes)


OTHERS: tuple[Unit, ...] = ((), ((0, 0), (1, 2), (2, 1)), ((0, 0), (0, 1), (0, 2), (0, 2), (1, 0), (1, 0), (1, 2)))
CHANCES = [(0, 1), (1, 1), (1, 2), (1, 4), (2, 3)]


def farthest_scores(groups: Groups, top: int, bottom: int) -> int:
    units = contributions(groups, range(3))
    before = units if groups.neighbors.change == "replace" else [()]
    return max(
        apart(misses(one, others, top, bottom), misses(other, others, top, bottom))
        for others in OTHERS
        for one in before
        for other in units
    )


def test_scores_of_all_small_units() -> None:
    """Every quantile that is nearly reached shows that the bound is no wild one."""
    reached = 0.0
    for groups in all_groups([(1, 1, 1), (2, 2, 1), (2, 1, 2)]):
        for top, bottom in CHANCES:
            found = rules.score_quantile(groups, probability=Fraction(top, bottom), **BINS)
            assert isinstance(found.conclusion, ScoreSpread)
            moved = farthest_scores(stated(groups), top, bottom)
            assert moved <= found.conclusion.value
            reached = max(reached, float(moved / found.conclusion.value))
    assert reached == 1


# --- false twins ----------------------------------------------------------------------------------------------------


def refuted(
    false: Callable[[Groups], float], norm: Norm, values: list[int | None], tally: Callable[[Unit], Numbers]
) -> bool:
    """Whether some unit moves further than that."""
    place = NORMS.index(norm)
    for groups in all_groups(FEW):
        moved = farthest(stated(groups), values, tally)[place]
        if moved > false(stated(groups)) + 1e-9:
            return True
    return False


def times(groups: Groups) -> int:
    return 1 if groups.neighbors.change == "add_remove" else 2


@pytest.mark.parametrize(
    ("norm", "false"),
    [
        ("L1", lambda c: times(c) * c.groups),
        ("L1", lambda c: times(c) * c.rows_per_group),
        ("L1", lambda c: c.most_rows),
        ("L1", lambda c: min(times(c) * c.most_rows, c.listed or 99)),
        ("L2", lambda c: times(c) * c.most_rows),
        ("L2", lambda c: c.squares),
        ("L2", lambda c: times(c) * c.most_rows**2 / c.groups),
        ("Linf", lambda c: 1),
    ],
)
def test_count_rows_twins_are_refuted(norm: Norm, false: Callable[[Groups], float]) -> None:
    assert refuted(false, norm, [0], rows_counted)


@pytest.mark.parametrize("false", [times, lambda c: c.groups, lambda c: min(c.groups, c.listed or 99)])
def test_count_units_twins_are_refuted(false: Callable[[Groups], float]) -> None:
    assert refuted(false, "L1", [0], units_counted)


def test_count_units_by_key_twin_with_one_key_is_refuted() -> None:
    assert any(len(units_counted(one)) > 1 for groups in all_groups() for one in contributions(stated(groups), [0]))


@pytest.mark.parametrize(
    ("norm", "false"),
    [
        ("L1", lambda c: times(c) * c.most_rows * 2),
        ("L1", lambda c: c.most_rows * 3),
        ("L2", lambda c: times(c) * c.squares * 9),
        ("L2", lambda c: times(c) * c.squares * 3),
        ("Linf", lambda c: c.rows_per_group * 3),
    ],
)
def test_sum_steps_twins_are_refuted(norm: Norm, false: Callable[[Groups], float]) -> None:
    """Values from -2 to 3: the lower end alone, one unit for two, signs forgotten, the wrong power."""
    assert refuted(false, norm, [-2, 3, None], steps_summed)


@pytest.mark.parametrize(
    ("norm", "false"),
    [
        ("L1", lambda c: times(c) * c.most_rows * 3),
        ("L1", lambda c: min(times(c) * c.most_rows, (c.listed or 99) * c.rows_per_group) * 5),
        ("L2", lambda c: times(c) * c.squares * 25 / 2),
    ],
)
def test_sum_pairs_twins_are_refuted(norm: Norm, false: Callable[[Groups], float]) -> None:
    """Values from -2 to 3: as a sum, as if there were one number in each group, as if shared evenly."""
    assert refuted(false, norm, [-2, 3, None], pairs_summed(-2, 3, "values"))


def test_sum_pairs_twin_that_counts_rows_without_values_is_refuted() -> None:
    """Bounds far from 0: a row without a value would move the pair by 2001 and not by 1."""
    assert refuted(lambda c: times(c) * c.most_rows, "L1", [1000, None], pairs_summed(1000, 1001, "rows"))


@pytest.mark.parametrize(
    ("norm", "false"),
    [
        ("L1", lambda c: min(times(c) * c.most_rows, (c.listed or 99) * c.rows_per_group)),
        ("L2", lambda c: c.squares),
    ],
)
def test_count_bins_twins_are_refuted(norm: Norm, false: Callable[[Groups], float]) -> None:
    assert refuted(false, norm, [0, 1], bins_counted)


@pytest.mark.parametrize(
    "false",
    [
        lambda c, b: times(c) * c.most_rows * b,
        lambda c, b: c.most_rows * 2 * b,
        lambda c, b: times(c) * c.rows_per_group * 2 * b,
    ],
)
def test_score_quantile_twins_are_refuted(false: Callable[[Groups, int], int]) -> None:
    """The median's b is 1: half the spread, one unit for two, one group for all."""
    cases = [stated(groups) for groups in all_groups([(1, 1, 1), (2, 2, 1), (2, 1, 2)])]
    assert any(farthest_scores(limits, 1, 2) > false(limits, 1) for limits in cases)


# --- what is refused ------------------------------------------------------------------------------------------------

GROUPS = rules.group_rows(rules.scan_rows(table="t", neighbors=Neighbors.ADD_REMOVE))


@pytest.mark.parametrize(
    ("rule", "given", "field"),
    [
        ("count_rows", {"norm": "L0"}, "norm"),
        ("count_rows", {"norm": "L1", "argument": 7}, "argument"),
        ("count_units", {"norm": None}, "norm"),
        ("sum_steps", {"norm": "L1", **STEPS, "low": 2, "high": 1}, "high"),
        ("sum_steps", {"norm": "L1", **STEPS, "low": 0.5, "high": 1}, "low"),
        ("sum_steps", {"norm": "L1", **STEPS, "low": 0, "high": 2**62 + 1}, "high"),
        ("sum_steps", {"norm": "L1", **STEPS, "step": 0, "low": 0, "high": 1}, "step"),
        ("sum_pairs", {"norm": "L1", **STEPS, "low": 0, "high": 1, "counted": "all"}, "counted"),
        ("sum_pairs", {"norm": "L1", **STEPS, "low": 1, "high": 2, "counted": "rows"}, "low"),
        ("count_bins", {"norm": "L1", **BINS, "bins": 0}, "bins"),
        ("count_bins", {"norm": "L1", **BINS, "width": -1}, "width"),
        ("score_quantile", {**BINS, "probability": 2}, "probability"),
        ("score_quantile", {**BINS, "probability": "-1/2"}, "probability"),
    ],
)
def test_bad_tallies(rule: str, given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        rules.RULES[rule](GROUPS, **given)
    assert refused.value.field == field


def test_tallies_are_of_groups() -> None:
    counted, scanned = rules.count_rows(GROUPS, norm="L1"), GROUPS.premises[0]
    for wrong in (counted, scanned):
        with pytest.raises(NoSuchRule, match="Groups"):
            rules.count_rows(wrong, norm="L1")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="not a Stability"):
        rules.count_units(stated(GROUPS), norm="L1")  # type: ignore[arg-type]


# --- mechanisms take them -------------------------------------------------------------------------------------------


def test_noise_rests_on_what_was_derived() -> None:
    person = Neighbors.ADD_REMOVE.of_unit("person")
    scanned = rules.scan_rows(table="t", neighbors=person, rows=4, rows_per_group=2)
    groups = rules.group_rows(scanned)
    one, two, largest = (rules.count_rows(groups, norm=norm) for norm in NORMS)
    for proof in (
        rules.discrete_laplace(scale=2, sensitivity=one),
        rules.rounded_gaussian(standard_deviation=2, sensitivity=two),
        rules.rounded_gaussian(standard_deviation=2, sensitivity=one),
    ):
        assert set(proof.conclusion.parameters.values()) == {1}
        assert "sensitivity" not in proof.parameters
        assert proof.conclusion.neighbors == person
    rho = rules.discrete_gaussian(variance=2, sensitivity=two).conclusion.parameters["rho"]
    assert rho == 1
    for rule, wrong in ((rules.discrete_laplace, two), (rules.discrete_laplace, largest)):
        with pytest.raises(NoSuchRule, match="L1"):
            rule(scale=1, sensitivity=wrong)
    with pytest.raises(NoSuchRule, match="Sensitivity"):
        rules.discrete_laplace(scale=1, sensitivity=groups)


def test_choices_and_histograms_rest_on_what_was_derived() -> None:
    replaced = rules.group_rows(rules.scan_rows(table="t", neighbors=Neighbors.REPLACE))
    spread = rules.score_quantile(replaced, probability="1/4", **BINS)
    chosen = rules.exponential_mechanism(scale=24, spread=spread)
    assert chosen.conclusion.parameters["epsilon"] == Fraction(1, 2)
    assert chosen.conclusion.neighbors == Neighbors.REPLACE
    assert chosen.parameters == {"scale": "24"}
    with pytest.raises(InvalidParameter, match="replacing one row"):
        rules.exponential_mechanism(scale=24, spread=spread, neighbors=Neighbors.REPLACE.of_unit("p"))
    with pytest.raises(NoSuchRule, match="ScoreSpread"):
        rules.exponential_mechanism(scale=24, spread=rules.count_units(replaced, norm="L1"))
    flipped = rules.permute_and_flip(scale=24, spread=spread)
    assert (flipped.conclusion, flipped.parameters, flipped.premises) == (chosen.conclusion, {"scale": "24"}, (spread,))
    with pytest.raises(InvalidParameter, match="replacing one row"):
        rules.permute_and_flip(scale=24, spread=spread, neighbors=Neighbors.REPLACE.of_unit("p"))
    with pytest.raises(NoSuchRule, match="ScoreSpread"):
        rules.permute_and_flip(scale=24, spread=rules.count_units(replaced, norm="L1"))
    shown: dict[str, Any] = {"noise": "discrete_laplace", "scale": 2, "threshold": 40}
    keys = rules.count_units_by_key(GROUPS)
    assert rules.thresholded_histogram(**shown, keys=keys).conclusion == (
        rules.thresholded_histogram(**shown, keys=1).conclusion
    )
    with pytest.raises(NoSuchRule):
        rules.thresholded_histogram(**shown, keys=rules.count_units_by_key(replaced))
    with pytest.raises(NoSuchRule, match="UnitKeys"):
        rules.thresholded_histogram(**shown, keys=spread)
    with pytest.raises(InvalidParameter, match="neighbors"):
        rules.thresholded_histogram(**shown, keys=keys, neighbors=Neighbors.ADD_REMOVE.of_unit("p"))
