"""A charge says all that decides on it, once, in one spelling."""

import math
import os
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

import pytest

from privately import accounting as acc
from privately.accounting.filters import Currency
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule, PrivatelyError
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, Neighbors, PureDP
from privately.ledger import Charge, charges
from privately.ledger.charges import LONGEST_LABEL, LONGEST_QUERY, MOST_LINEAGES, Cost, amounts, described, new_key
from privately.ledger.entries import canonical
from tests.ledger.examples import COST, charge, founded
from tests.ledger.stores.test_forks import in_a_child

PURE = Currency(kind=PureDP)


def test_names_are_sorted_and_listed_once() -> None:
    made = charge(lineages=("b", "a", "b"))
    assert made.lineages == ("a", "b")
    assert made.accounts == (("a", "a/owner"), ("b", "b/owner"))
    assert charge(analyst="ann", token="t1").accounts == (("visits", "visits/ann", "visits/ann/t1"),)


def test_keys_are_new_unless_given() -> None:
    assert charge().key != charge().key
    assert charge(key="k").key == "k"


@pytest.mark.parametrize(
    ("changed", "value", "field"),
    [
        ("lineages", "visits", "lineages"),
        ("lineages", [], "lineages"),
        ("lineages", 7, "lineages"),
        ("lineages", ["a/b"], "lineages"),
        ("lineages", ["a\n"], "lineages"),
        ("lineages", ["\ud800"], "lineages"),
        ("lineages", ["e\u0301"], "lineages"),
        ("lineages", [f"l{at}" for at in range(MOST_LINEAGES + 1)], "lineages"),
        ("query", 7, "query"),
        ("query", "q" * (LONGEST_QUERY + 1), "query"),
        ("query", "\ud800", "query"),
        ("cost", 0.1, "cost"),
        ("cost", "0.1", "cost"),
        ("cost", None, "cost"),
        ("cost", PureDP, "cost"),
        ("snapshot", "s" * (LONGEST_LABEL + 1), "snapshot"),
        ("analyst", "", "analyst"),
        ("analyst", "a/b", "analyst"),
        ("token", "t\x00", "token"),
        ("key", "k" * 201, "key"),
        ("key", "a\nb", "key"),
        ("label", "l" * (LONGEST_LABEL + 1), "label"),
        ("label", b"bytes", "label"),
    ],
)
def test_wrong_parts(changed: str, value: object, field: str) -> None:
    parts: dict[str, object] = {"lineages": ["visits"], "query": "count", "cost": COST, changed: value}
    with pytest.raises(InvalidParameter) as caught:
        Charge(**parts)  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -math.inf, -1, "-0.1", Decimal("NaN")])
def test_no_cost_is_negative_or_no_number(epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        PureDP(epsilon=epsilon)  # type: ignore[arg-type]


def test_amounts_are_exact() -> None:
    assert amounts(PureDP(epsilon="0.1"), PURE) == ("1/10",)
    assert amounts(PureDP(epsilon=0.1), PURE) == (str(Fraction(0.1)),)
    assert amounts(GaussianDP(mu="0.5"), Currency(kind=GaussianDP)) == ("1/4",)
    assert amounts(acc.Laplace(scale=4), PURE) == ("1/4",)
    assert amounts(acc.Batch(events=[acc.Laplace(scale=4), acc.Laplace(scale=4)]), PURE) == ("1/2",)


@pytest.mark.parametrize("cost", [PureDP(epsilon=0), acc.Repeat(event=acc.Laplace(scale=1), times=1), ZCDP(rho=0)])
def test_nothing_is_free(cost: Cost) -> None:
    currency = Currency(kind=ZCDP)
    if isinstance(cost, Guarantee):
        with pytest.raises(InvalidParameter, match="cost: is zero"):
            amounts(cost, currency)
    else:
        assert Fraction(amounts(cost, currency)[0]) > 0


@pytest.mark.parametrize(
    ("cost", "fault"),
    [
        (GaussianDP(mu=1), NoSuchRule),
        (ZCDP(rho=1), NoSuchRule),
        (ApproxDP(epsilon=1, delta="1e-6"), NoSuchRule),
        (acc.Gaussian(noise_multiplier=1), PrivatelyError),
        (PureDP(epsilon=1, neighbors=Neighbors.REPLACE.of_unit("user")), MixedNeighbors),
    ],
)
def test_costs_without_a_rule(cost: Cost, fault: type[PrivatelyError]) -> None:
    with pytest.raises(fault):
        amounts(cost, PURE)


def test_the_event_is_kept_with_the_charge() -> None:
    event = acc.Gaussian(noise_multiplier=10)
    assert acc.decode(described(event)["event"]) == event
    assert "guarantee" in described(COST)
    batch = described(acc.Batch(events=[event], delta="1e-9"))
    assert Fraction(batch["delta"]) == Fraction(1, 10**9)
    for one in (described(event), described(COST), batch):
        canonical(one)


def test_requests() -> None:
    """All that is requested changes its hash; what is said about it, and by whom, does not."""
    first = charge(key="k")
    same = [charge(key="l"), charge(label="x"), charge(snapshot="s"), charge(analyst="ann")]
    other = [
        charge("sum"),
        charge(cost=PureDP(epsilon="0.2")),
        charge(lineages=("visits", "claims")),
        charge(token="t"),
    ]
    assert {one.request for one in same} == {first.request}
    assert len({first.request, *(one.request for one in other)}) == 5
    assert charge(cost=acc.Laplace(scale=10)).request != first.request
    assert len({first.body, *(one.body for one in other)}) == 3  # the query and the lineages alone


def test_requests_and_questions_are_hashes_of_what_was_asked() -> None:
    """In one spelling, whatever characters it holds."""
    for made in (charge(), charge('"\\\n\u00fc\U0001f600', lineages=("\u00fc", "b"), token="t\u00fc", snapshot='"s"')):
        assert made.body == made.body == sha256(canonical([made.lineages, made.query])).hexdigest()
        listed: list[object] = [made.body, described(made.cost), made.token]
        assert made.request == sha256(canonical(listed)).hexdigest()
        for own in (True, False):
            asked = sha256(canonical([made.body, made.snapshot, made.analyst if own else None])).hexdigest()
            assert made.question(own=own) == (asked if own or made.snapshot else made.body)
        assert made.question(own=None) is None


def test_new_keys_of_one_time_begin_alike() -> None:
    keys = [new_key() for _ in range(100)]
    assert len(set(keys)) == 100
    assert len({key[:6] for key in keys}) == 1
    assert keys == sorted(keys)


def test_new_keys_are_all_different() -> None:
    keys = [new_key() for _ in range(5_000)]
    assert len(set(keys)) == 5_000
    assert len({key[16:32] for key in keys}) > 5  # random bits, drawn again and again


def test_questions() -> None:
    """Only the canonical query, of which snapshot, and whose answer may serve."""
    first = charge()
    same = [charge(key="k"), charge(label="x"), charge(cost=PureDP(epsilon=1)), charge(token="t")]
    assert {one.question(own=True) for one in same} == {first.question(own=True)}
    for other in (charge("sum"), charge(snapshot="s"), charge(lineages=("claims",))):
        assert other.question(own=False) != first.question(own=False)
    ann = charge(analyst="ann")
    assert ann.question(own=False) == first.question(own=False)
    assert ann.question(own=True) != first.question(own=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_keys_of_its_own() -> None:
    """Random parts are drawn in advance; those of the parent are not the child's, at whatever time it asks."""
    charges._keys.clear()
    new_key()
    waiting = {key[16:] for key in charges._keys}
    assert len(waiting) > 100
    reading, writing = os.pipe()

    def draw() -> bool:
        os.write(writing, "\n".join(new_key() for _ in range(100)).encode())
        return True

    assert in_a_child(draw) == 0
    theirs = {key[16:] for key in os.read(reading, 1 << 16).decode().split("\n")}
    assert not {key[:16] for key in theirs} & {key[:16] for key in waiting}  # the random parts
    for end in (reading, writing):
        os.close(end)
    assert len(theirs) == 100
    assert not theirs & waiting


def test_a_cost_that_takes_too_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charges, "LONGEST_COST", 1_000)
    long = acc.Sequence(events=[acc.Laplace(scale=10**9 + at) for at in range(30)])
    with founded() as ledger:
        before = ledger.head
        with pytest.raises(InvalidParameter, match="1,000 is the most"):
            ledger.answer(charge(cost=long), lambda _: pytest.fail("was run"))
        assert ledger.head == before
