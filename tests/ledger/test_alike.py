"""Terms that differ in their numbers come to what reading each of them does, or are read one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import LedgerCorrupt
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP
from privately.ledger.alike import _USUAL, Alike, alike, taken_apart
from privately.ledger.arguments import filter_for
from privately.ledger.charges import described
from privately.ledger.entries import terms
from privately.ledger.state import Account, bill_of

CAPS: dict[str, Guarantee] = {
    "pure": PureDP(epsilon=10),
    "other": PureDP(epsilon=10),
    "both": ApproxDP(epsilon=1, delta="1e-6"),
    "renamed": PureDP(epsilon=10, neighbors=Neighbors(change="replace")),
}
ACCOUNTS = {name: Account(name, filter_for(cap, None), "everyone") for name, cap in CAPS.items()}


def of(first: bytes) -> Alike | None:
    return alike(taken_apart(first)[0], ACCOUNTS)


def pure(number: Fraction, **paid: str) -> bytes:
    owed = {name: [paid.get(name, str(number))] for name in ("pure", "other")}
    return terms(owed, described(PureDP(epsilon=number)))


@given(st.lists(st.fractions(min_value=Fraction(1, 10**9), max_value=5), min_size=1, max_size=20))
def test_sums(numbers: list[Fraction]) -> None:
    found: Alike | None = None
    for at, number in enumerate(numbers):
        first = pure(number)
        found = found or of(first)
        assert found is not None
        assert found.add(taken_apart(first)[1], (b"ann", None, b"false"), first, 10 + at)
    assert found is not None
    (column,) = found.columns()
    assert sum(Fraction(above, below) for below, above in column.items()) == sum(numbers)
    assert found.names == ("other", "pure")
    assert found.groups == {(b"ann", None, b"false"): [len(numbers), 10, 9 + len(numbers)]}
    assert bill_of(found.terms).accounts == {"pure": [str(numbers[-1])], "other": [str(numbers[-1])]}


def test_a_number_that_does_not_change() -> None:
    cost = ApproxZCDP(rho="0.01", delta=0)
    first = terms({"both": ["1/100", "0"]}, described(cost))
    found = of(first)
    assert found is not None
    assert found.add(taken_apart(first)[1], (b"ann", None, b"false"), first, 10)
    assert found.columns() == [{100: 1}, {1: 0}]


@pytest.mark.parametrize("paid", ["1/2", "2", "10/30"])
def test_whoever_pays_something_else_is_read(paid: str) -> None:
    first = pure(Fraction(1, 3), pure=paid)
    found = of(first)
    assert found is not None
    assert not found.add(taken_apart(first)[1], (b"ann", None, b"false"), first, 10)
    assert found.count == 0


@pytest.mark.parametrize(
    "first",
    [
        pure(Fraction(1, 3), pure="0"),
        pure(Fraction(1, 3), pure="-1/3"),
        pure(Fraction(1, 3), pure="1/0"),
        pure(Fraction(1, 3), pure='1/3"'),
        pure(Fraction(1, 3), pure="1" * 200),
        terms({"pure": ["1/3", "1/3"]}, described(PureDP(epsilon=Fraction(1, 3)))),
        terms({"pure": []}, described(PureDP(epsilon=Fraction(1, 3)))),
        terms({}, described(PureDP(epsilon=Fraction(1, 3)))),
        terms({"nobody": ["1/3"]}, described(PureDP(epsilon=Fraction(1, 3)))),
        terms({"both": ["1/3", "0"]}, described(PureDP(epsilon=Fraction(1, 3)))),
        terms({"pure": ["1/3"]}, described(ZCDP(rho=Fraction(1, 3)))),
        terms({"renamed": ["1/3"]}, described(PureDP(epsilon=Fraction(1, 3)))),
        terms({"pure": ["1/3"]}, {"guarantee": {"kind": "PureDP", "epsilon": {"#": 0}, "neighbors": {}}}),
        terms({"pure": ["1/3"]}, {"event": {"epsilon": "1/3"}, "delta": None}),
        pure(Fraction(1, 3)).replace(b'"charged"', b'"released"'),
        pure(Fraction(1, 3)).replace(b'"what"', b'"more":"1/3","what"'),
        b'{"accounts":{"pure":["1/3"]},"cost":["\\"1/3"],"what":"charged"}',
        b"1/3",
        b'"1/3",',
        b"",
    ],
)
def test_what_must_be_read(first: bytes) -> None:
    assert of(first) is None


def test_a_number_that_is_none_is_read_one_by_one() -> None:
    """What stays the same is read at once, and may be anything in a file that somebody edited."""
    first = terms({"both": ["1/3", "1/7"]}, described(ApproxZCDP(rho="1/3", delta="1/7")))
    assert of(first) is not None
    assert of(first.replace(b"1/7", b"1/0")) is None


def usual(*kept: bytes) -> Alike:
    """Such terms have come so often that they are recognised as a whole."""
    found = of(kept[0])
    assert found is not None
    for at in range(_USUAL):
        first = kept[at % len(kept)]
        assert found.add(taken_apart(first)[1], (b"ann", None, b"false"), first, at)
    return found


AMOUNTS = st.fractions(min_value=0, max_value=50).map(str) | st.sampled_from(
    ["5/1", "05", "1/0", "-1", '1"', "\\u0031"]
)


@given(AMOUNTS, AMOUNTS, AMOUNTS, st.integers(0, 200), st.binary(max_size=3))
def test_terms_are_recognised_as_a_whole_just_where_they_are_alike(
    one: str, other: str, cost: str, at: int, put: bytes
) -> None:
    """However they differ: in their numbers, in who pays them, or anywhere in their text."""
    like = usual(pure(Fraction(1, 3)), pure(Fraction(7)))
    first = terms({"pure": [one], "other": [other]}, described(PureDP(epsilon=1)))
    first = first.replace(b'"epsilon":"1"', b'"epsilon":"%b"' % cost.encode())
    for text in (first, first[:at] + put + first[at:], first[:at] + put + first[at + 1 :], first[:at]):
        between, numbers = taken_apart(text)
        expected = between == taken_apart(pure(Fraction(1, 3)))[0] and len(set(numbers)) == 1
        before = like.columns()[0]
        assert like.add_if_alike(text, (b"ann", None, b"false"), 100) == expected
        after = like.columns()[0]
        gained = sum(Fraction(n, d) for d, n in after.items()) - sum(Fraction(n, d) for d, n in before.items())
        assert gained == (Fraction(numbers[0].decode()) if expected else 0)


def test_several_numbers_are_recognised_each_with_its_own() -> None:
    def both(rho: str, delta: str, paid: tuple[str, str]) -> bytes:
        return terms({"both": list(paid)}, described(ApproxZCDP(rho=rho, delta=delta)))

    like = usual(both("1/3", "1/7", ("1/3", "1/7")))
    assert like.add_if_alike(both("2/3", "1/9", ("2/3", "1/9")), (b"ann", None, b"false"), 100)
    assert not like.add_if_alike(both("2/3", "1/9", ("1/9", "2/3")), (b"ann", None, b"false"), 100)
    assert like.columns() == [{3: _USUAL + 2}, {7: _USUAL, 9: 1}]


def test_sums_that_were_made_elsewhere() -> None:
    one, other = usual(pure(Fraction(1, 3))), usual(pure(Fraction(5)), pure(Fraction(2, 3)))
    one.take(other.summed())
    assert one.columns() == [{3: 2 * _USUAL, 1: 5 * _USUAL // 2}]
    assert one.count == 2 * _USUAL
    assert one.groups == {(b"ann", None, b"false"): [2 * _USUAL, 0, _USUAL - 1]}
    with pytest.raises(LedgerCorrupt, match="not alike"):
        one.take(other.summed()._replace(sums=[]))


@pytest.mark.parametrize("cost", [PureDP(epsilon="1/3"), ZCDP(rho="1/3"), ApproxDP(epsilon="1/3", delta="1/7")])
def test_without_the_accounts_each_is_taken_to_count_in_the_kind_of_the_cost(cost: Guarantee) -> None:
    amounts = [str(amount) for amount in cost.parameters.values()]
    first = terms({"some": amounts}, described(cost))
    assert alike(taken_apart(first)[0], None) is not None
    assert alike(taken_apart(terms({"some": [*amounts, "1"]}, described(cost)))[0], None) is None
    assert alike(taken_apart(terms({"some": amounts}, described(GaussianDP(mu="1/3"))))[0], None) is None
