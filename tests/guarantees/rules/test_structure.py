"""Post-processing, weakening and sequential composition against enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    rules,
)
from privately.guarantees.rules.structure import repetitions
from tests.guarantees.enumeration import adaptive, normalised, postprocessed, response, stochastic_maps
from tests.guarantees.rules.knowns import (
    ADD_REMOVE,
    FAST,
    KINDS,
    REPLACE,
    THOROUGH,
    Known,
    Rule,
    claim,
    fault,
    know,
    knowns,
    renyi,
    stated,
)

SMALL: dict[str, Any] = {"records": ["0", "1"], "sizes": [0, 1]}
WIDER: dict[type[Guarantee], type[Guarantee]] = {PureDP: ApproxDP, ZCDP: ApproxZCDP}
FRACTIONS = st.fractions(min_value=0, max_value=4, max_denominator=20)


# Post-processing


def postprocessing_fault(rule: Rule, known: Known, stochastic: dict[Any, Any]) -> str:
    return fault(rule(known.derivation, description="a map"), postprocessed(known.table, stochastic))


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(data=st.data())
def test_postprocessing_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    known = data.draw(knowns(kind, ["0", "1"], [0, 1, 2], outcomes=3))
    outcomes = sorted({o for law in known.table.values() for o in law}, key=str)
    assert not postprocessing_fault(rules.postprocessing, known, data.draw(stochastic_maps(outcomes)))


@pytest.mark.parametrize("kind", KINDS)
def test_postprocessing_twin_that_sees_the_data_is_refuted(kind: type[Guarantee]) -> None:
    known = know(kind, [response(2)], REPLACE, share=Fraction(1, 10))
    derivation = rules.postprocessing(known.derivation, description="looks again")
    peeking = {data: {(data, o): mass for o, mass in law.items()} for data, law in known.table.items()}
    assert fault(derivation, peeking)


def test_postprocessing_twin_that_gains_is_refuted() -> None:
    def halved(premise: Derivation, *, description: str) -> Derivation:
        return claim(PureDP, REPLACE, epsilon=premise.conclusion.parameters["epsilon"] / 2)

    identity = {o: {o: Fraction(1)} for o in ("0", "1")}
    known = know(PureDP, [response(3)], REPLACE)
    assert postprocessing_fault(halved, known, identity)
    assert not postprocessing_fault(rules.postprocessing, known, identity)


# Weakening


@st.composite
def statements(draw: st.DrawFn, kind: type[Guarantee]) -> Guarantee:
    first, second = draw(FRACTIONS), draw(FRACTIONS)
    made: dict[type[Guarantee], Any] = {
        PureDP: {"epsilon": first},
        ApproxDP: {"epsilon": first, "delta": second / 4},
        ZCDP: {"rho": first},
        ApproxZCDP: {"rho": first, "delta": second / 4},
        RenyiDP: {"bounds": {order: draw(FRACTIONS) for order in draw(st.sets(st.integers(2, 5), min_size=1))}},
        GaussianDP: {"mu": first},
    }
    neighbors = Neighbors(
        change=draw(st.sampled_from(["add_remove", "replace"])),
        size=draw(st.integers(1, 2)),
        unit="person",
        max_rows=draw(st.sampled_from([None, 1, 2])),
    )
    return stated(kind, neighbors, **made[kind])


def numbers_of(statement: Guarantee) -> dict[Any, Fraction]:
    return dict(statement.parameters.get("bounds", statement.parameters.items()))


@given(data=st.data())
def test_weaken_only_downwards(data: st.DataObject) -> None:
    """What is accepted has no smaller number and no wider neighbours; everything else is refused."""
    kind, other = data.draw(st.sampled_from(KINDS)), data.draw(st.sampled_from(KINDS))
    have, want = data.draw(statements(kind)), data.draw(statements(data.draw(st.sampled_from([kind, other]))))
    before, after = have.neighbors, want.neighbors
    least = {"delta": Fraction(0)} | numbers_of(have)
    embeds = type(want) is kind or WIDER.get(kind) is type(want)
    larger = all(name in least and value >= least[name] for name, value in numbers_of(want).items())
    rows = before.max_rows is None or (after.max_rows is not None and after.max_rows <= before.max_rows)
    fewer = before.change == after.change and after.size <= before.size and rows
    if embeds and larger and fewer:
        assert rules.weaken(rules.suppose(have), to=want).conclusion == want
    else:
        with pytest.raises(NoSuchRule) as caught:
            rules.weaken(rules.suppose(have), to=want)
        assert (caught.value.premise, caught.value.wanted) == (have, want)


@given(kind=st.sampled_from(KINDS), data=st.data())
def test_weaken_refuses_the_least_gain(kind: type[Guarantee], data: st.DataObject) -> None:
    have = data.draw(statements(kind))
    numbers = numbers_of(have)
    name = data.draw(st.sampled_from(sorted(numbers, key=str)))
    smaller = numbers | {name: numbers[name] * (1 - Fraction(1, 10**30))}
    want = stated(kind, have.neighbors, **({"bounds": smaller} if kind is RenyiDP else smaller))
    if want == have:
        assert rules.weaken(rules.suppose(have), to=want).conclusion == have
    else:
        with pytest.raises(NoSuchRule):
            rules.weaken(rules.suppose(have), to=want)


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(data=st.data())
def test_weaken_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    known = data.draw(knowns(kind, **SMALL))
    wider = WIDER.get(kind, kind)
    extra = {"delta": Fraction(0)} if wider is not kind else {}
    to = stated(wider, ADD_REMOVE, **(dict(known.statement.parameters) | extra))
    assert not fault(rules.weaken(known.derivation, to=to), known.table)


@pytest.mark.parametrize(
    ("kind", "name"), [(PureDP, "epsilon"), (ZCDP, "rho"), (GaussianDP, "mu"), (ApproxDP, "epsilon")]
)
def test_weaken_twin_that_strengthens_is_refuted(kind: type[Guarantee], name: str) -> None:
    known = know(kind, [response(3)], REPLACE, share=Fraction(1, 3))
    weaker = known.statement.parameters
    stronger = stated(kind, REPLACE, **(dict(weaker) | {name: weaker[name] * Fraction(9, 10)}))
    assert fault(rules.suppose(stronger), known.table)
    with pytest.raises(NoSuchRule):
        rules.weaken(known.derivation, to=stronger)


# Sequential composition


def sequential_fault(rule: Rule, first: Known, second: Known) -> str:
    """The second mechanism is chosen among its family by the first outcome."""
    outcomes = sorted({o for law in first.table.values() for o in law}, key=str)
    chosen = dict(zip(outcomes, itertools.cycle(second.tables), strict=False))
    return fault(rule(first.derivation, second.derivation), adaptive(first.table, chosen.__getitem__))


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(data=st.data())
def test_sequential_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    first = data.draw(knowns(kind, outcomes=3, **SMALL))
    second = data.draw(knowns(kind, members=2, **SMALL))
    assert not sequential_fault(rules.sequential, first, second)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@THOROUGH
@given(data=st.data())
def test_sequential_dominates_enumeration_of_larger_mechanisms(kind: type[Guarantee], data: st.DataObject) -> None:
    first = data.draw(knowns(kind, ["0", "1", "2"], [0, 1, 2], outcomes=3))
    second = data.draw(knowns(kind, ["0", "1", "2"], [0, 1, 2], outcomes=3, members=3))
    assert not sequential_fault(rules.sequential, first, second)


@pytest.mark.parametrize(("narrow", "wide"), [(PureDP, ApproxDP), (ZCDP, ApproxZCDP)])
@FAST
@given(data=st.data())
def test_sequential_of_mixed_kinds(narrow: type[Guarantee], wide: type[Guarantee], data: st.DataObject) -> None:
    first, second = data.draw(knowns(narrow, **SMALL)), data.draw(knowns(wide, **SMALL))
    assert isinstance(rules.sequential(first.derivation, second.derivation).conclusion, wide)
    assert not sequential_fault(rules.sequential, first, second)
    assert not sequential_fault(rules.sequential, second, first)


def largest_number(*premises: Derivation) -> Derivation:
    kind = type(premises[0].conclusion)
    numbers = [premise.conclusion.parameters for premise in premises]
    if kind is RenyiDP:
        most = {order: max(dict(one["bounds"])[order] for one in numbers) for order, _ in numbers[0]["bounds"]}
        return claim(kind, REPLACE, bounds=most)
    return claim(kind, REPLACE, **{name: max(one[name] for one in numbers) for name in numbers[0]})


def without_the_root(*premises: Derivation) -> Derivation:
    return claim(GaussianDP, REPLACE, mu=sum(premise.conclusion.parameters["mu"] ** 2 for premise in premises))


def without_the_squares(*premises: Derivation) -> Derivation:
    total = sum(premise.conclusion.parameters["mu"] for premise in premises)
    return claim(GaussianDP, REPLACE, mu=Fraction(float(total) ** 0.5))


@pytest.mark.parametrize("kind", KINDS)
def test_sequential_twin_with_the_largest_is_refuted(kind: type[Guarantee]) -> None:
    known = know(kind, [response(3)], REPLACE, share=Fraction(1, 3))
    assert sequential_fault(largest_number, known, known)
    assert not sequential_fault(rules.sequential, known, known)


@pytest.mark.parametrize(("twin", "ratio"), [(without_the_root, Fraction(6, 5)), (without_the_squares, 1000)])
def test_sequential_twins_of_gaussian_dp_are_refuted(twin: Rule, ratio: Fraction) -> None:
    known = know(GaussianDP, [response(ratio)], REPLACE)
    assert sequential_fault(twin, known, known)
    assert not sequential_fault(rules.sequential, known, known)


@given(st.sampled_from(KINDS), st.data())
def test_sequential_is_order_free_and_monotone(kind: type[Guarantee], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(FRACTIONS, min_size=1, max_size=4))
    premises = [rules.suppose(of_size(kind, number)) for number in numbers]
    forwards = rules.sequential(*premises).conclusion
    shuffled = data.draw(st.permutations(premises))
    assert rules.sequential(*shuffled).conclusion == forwards
    enlarged = rules.sequential(*premises, rules.suppose(of_size(kind, data.draw(FRACTIONS))))
    assert rules.weaken(rules.sequential(*premises), to=enlarged.conclusion).conclusion == enlarged.conclusion


@given(st.sampled_from(KINDS), FRACTIONS, st.integers(1, 6))
def test_counts_repeat(kind: type[Guarantee], number: Fraction, times: int) -> None:
    premise = rules.suppose(of_size(kind, number))
    repeated = rules.sequential(*[premise] * times).conclusion
    assert rules.sequential(premise, counts=[times]).conclusion == repeated
    assert premise.conclusion.repeat(times) == repeated


def of_size(kind: type[Guarantee], number: Fraction) -> Guarantee:
    made: dict[type[Guarantee], Any] = {
        PureDP: {"epsilon": number},
        ApproxDP: {"epsilon": number, "delta": number / 20},
        ZCDP: {"rho": number},
        ApproxZCDP: {"rho": number, "delta": number / 20},
        RenyiDP: {"bounds": {2: number, 7: 2 * number}},
        GaussianDP: {"mu": number},
    }
    return stated(kind, ADD_REMOVE, **made[kind])


def test_ten_tenths_are_one() -> None:
    assert rules.sequential(rules.suppose(PureDP(epsilon="0.1")), counts=[10]).conclusion == PureDP(epsilon=1)


def test_renyi_keeps_the_orders_that_all_list() -> None:
    first = rules.suppose(renyi({2: 1, 3: 2}))
    second = rules.suppose(renyi({3: 4, 5: 1}))
    assert rules.sequential(first, second).conclusion == renyi({3: 6})
    with pytest.raises(NoSuchRule, match="common order"):
        rules.sequential(first, rules.suppose(renyi({5: 1})))


def test_what_cannot_be_composed() -> None:
    pure, concentrated = rules.suppose(PureDP(epsilon=1)), rules.suppose(ZCDP(rho=1))
    with pytest.raises(NoSuchRule) as caught:
        rules.sequential(pure, concentrated)
    assert caught.value.premise == "PureDP with ZCDP"
    assert caught.value.wanted == "one guarantee"
    with pytest.raises(MixedNeighbors) as mixed:
        rules.sequential(pure, rules.suppose(PureDP(epsilon=1, neighbors=REPLACE)))
    assert mixed.value.found == (ADD_REMOVE, REPLACE)


@pytest.mark.parametrize("counts", [[], [1], [1, 1, 1], [0, 1], [-1, 1], [True, 1], [1.0, 1], ["1", 1], "11", b"11"])
def test_bad_counts(counts: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        repetitions(counts, 2)
    assert caught.value.field == "counts"


@pytest.mark.parametrize("description", [None, 3, b"text", "x" * 20_001])
def test_bad_description(description: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.postprocessing(rules.suppose(PureDP(epsilon=1)), description=description)
    assert caught.value.field == "description"


def test_normalised_weights_are_a_law() -> None:
    assert normalised([1, 0, 3]) == {"o0": Fraction(1, 4), "o2": Fraction(3, 4)}
