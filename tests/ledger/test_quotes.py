"""What is prepared before the turn is what the turn would have written, until somebody else has to pay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.accounting import Filter
from privately.errors import InvalidParameter
from privately.guarantees import ApproxDP, PureDP
from privately.ledger import Charge, Ledger
from privately.ledger.charges import described
from privately.ledger.entries import Charged, Founded, Opened, written
from privately.ledger.quotes import offer, quote
from privately.ledger.state import State
from privately.ledger.stores import Head
from tests.ledger.examples import charge

TIME = "2030-01-01T00:00:00.000000Z"
PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="/")
NAMES = st.text(PRINTABLE, min_size=1, max_size=5).map(str.strip).filter(bool)


def opened(*names: str, reuse: str = "everyone") -> State:
    state = State()
    state.add(Founded(ledger="l"), TIME, Head(1, b""))
    for at, name in enumerate(names, 2):
        entry = Opened(account=name, filter=Filter(cap=PureDP(epsilon=1)).to_state(), reuse=reuse)
        state.add(entry, TIME, Head(at, b""))
    return state


def found_own(state: State, asked: Charge) -> bool | None:
    return offer(state, asked).own


@given(
    analyst=NAMES,
    key=NAMES,
    token=st.none() | NAMES,
    label=st.text(st.characters(codec="utf-8"), max_size=5),
    reuse=st.sampled_from(["everyone", "own", "never"]),
)
def test_a_quote_is_the_text_of_the_charge(analyst: str, key: str, token: str | None, label: str, reuse: str) -> None:
    state = opened("visits", f"visits/{analyst}", reuse=reuse)
    asked = charge(analyst=analyst, key=key, token=token, label=label, snapshot=label)
    found = quote(state, asked)
    entry = Charged(
        accounts={"visits": ["1/10"], f"visits/{analyst}": ["1/10"]},
        analyst=analyst,
        token=token,
        cost=described(asked.cost),
        key=key,
        before=None,
        body=asked.body,
        own=None if reuse == "never" else reuse == "own",
        snapshot=label,
        label=label,
    )
    assert found.terms + found.start + TIME.encode() + found.end == written(entry, TIME)
    assert (found.key, found.question, found.analyst) == (asked.filed, entry.question, analyst)
    assert found.bill.accounts == entry.accounts
    for query in ("another", 'with "quotes"'):  # what was hashed around the first one is remembered
        quoted, alone = (charge(query, analyst=analyst, key=key, token=token, snapshot=label) for _ in range(2))
        assert quote(state, quoted).question == alone.question(own=found_own(state, quoted))
        assert quoted.body == alone.body


def test_a_quote_ends_when_an_account_is_opened() -> None:
    """Whoever was quoted before pays for the new account too."""
    state = opened("visits")
    found = quote(state, charge(analyst="ann"))
    assert found.offers is state.offers
    going_on = state.copy()
    assert found.offers is going_on.offers
    going_on.add(
        Opened(account="visits/ann", filter=Filter(cap=PureDP(epsilon=1)).to_state(), reuse="everyone"),
        TIME,
        Head(3, b""),
    )
    assert found.offers is not going_on.offers
    assert set(quote(going_on, charge(analyst="ann")).bill.accounts) == {"visits", "visits/ann"}
    assert set(quote(state, charge(analyst="ann")).bill.accounts) == {"visits"}


def test_equal_terms_are_priced_once() -> None:
    state = opened("visits")
    assert offer(state, charge("one")) is offer(state, charge("another"))


def test_nobody_quotes_for_a_lineage_without_a_budget() -> None:
    with pytest.raises(InvalidParameter, match="nobody has set a budget"):
        quote(opened("visits"), charge(lineages=("wards",)))


def test_costs_that_no_account_counts_in() -> None:
    """What was not quoted is refused in the turn, in its own words."""
    with Ledger.open(":memory:") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1))
        with pytest.raises(Exception, match="PureDP"):
            ledger.charge(charge(cost=ApproxDP(epsilon=1, delta="0.1")))
        assert ledger.head.number == 2
