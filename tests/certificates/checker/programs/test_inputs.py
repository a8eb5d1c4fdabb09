"""The checker's neighbours are those of the library, found by other code, and of the definition."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.certificates.checker.programs import inputs
from privately.certificates.checker.programs.exact import fraction
from privately.certificates.checker.programs.inputs import neighbouring
from privately.certificates.checker.programs.reading import Private
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from privately.proving.exact.inputs import neighbouring_pairs
from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.language.program import Parameter

NUMBERS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3))
CHANGES = ["each", "one", "monotone", "replaced", "added", "anything"]


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    exact = Fraction(value)
    return fraction(exact.numerator, exact.denominator)


def declared(change: Any, lengths: list[int] | None) -> tuple[Private, Parameter]:
    distance = Fraction(1) if change in {"each", "one", "monotone"} else None
    mine = Private(0, change, None if distance is None else 1, [plain(one) for one in NUMBERS], lengths)
    neighborhood = Neighborhood(change, distance=distance, domain=Domain(values=NUMBERS))
    return mine, Parameter("x", neighborhood, is_list=lengths is not None, private=True)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("lengths", [None, [0], [2], [0, 1, 2]])
def test_neighbours_are_those_of_the_library(change: str, lengths: list[int] | None) -> None:
    if change == "added" and lengths is None:
        return
    mine, theirs = declared(change, lengths)
    wanted = {plain(pair) for pair in neighbouring_pairs([theirs], lengths or [1])}
    found = neighbouring([mine], Work())
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert all((other, one) in wanted for one, other in found)


def test_several_inputs_may_change_at_once() -> None:
    one, other = declared("one", [1]), declared("replaced", None)
    found = set(neighbouring([one[0], other[0]], Work()))
    assert found == {plain(pair) for pair in neighbouring_pairs([one[1], other[1]], [1])}
    assert (((0,), 1), ((0,), 3)) in found
    assert (((0,), 1), ((1,), 3)) in found


def test_neighbours_by_the_definition() -> None:
    mine, _ = declared("monotone", [2])
    lists = list(product(mine.values, repeat=2))
    gaps = {
        (a, b): [Fraction(str(y)) - Fraction(str(x)) for x, y in zip(a, b, strict=True)] for a in lists for b in lists
    }
    near = {pair for pair, gap in gaps.items() if max(map(abs, gap)) <= 1 and (min(gap) >= 0 or max(gap) <= 0)}
    assert {(one[0], other[0]) for one, other in neighbouring([mine], Work())} == {(a, b) for a, b in near if a != b}


def test_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, _ = declared("anything", [3])
    with pytest.raises(Invalid, match="lists"):
        neighbouring([mine._replace(lengths=[10**9])], Work())
    monkeypatch.setattr(inputs, "MOST", 200)
    with pytest.raises(Invalid, match="pairs"):
        neighbouring([mine], Work())
    few, _ = declared("anything", [1])
    with pytest.raises(Invalid, match="pairs"):
        neighbouring([few, few, few], Work())


def test_listing_costs_what_it_takes() -> None:
    """Inputs of which none can change have no neighbours, however many they are."""
    mine, _ = declared("each", None)
    still = mine._replace(distance=0, values=list(range(1000)))
    with pytest.raises(Invalid, match="more work"):
        neighbouring([still, still, still], Work(100_000))
