"""What one record says of others is derived again: what was spent before an account, and which charge was before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Charge, Ledger, OwnerKey
from privately.ledger.acts import REUSES, Reuse
from tests.ledger.examples import charge, forging, founded
from tests.ledger.rewriting import Texts, of, rewritten


def filled(path: Path) -> None:
    """A late account, and a key that was paid for three times."""
    with founded(path, cap=10) as ledger:
        for at in range(3):
            ledger.charge(charge(f"q{at}", analyst="ann", key=f"k{at}"))
        ledger.account("visits", analyst="ann", cap=PureDP(epsilon=1))
        for _ in range(3):
            ledger.charge(charge("lost", key="lost", analyst="ann"), again=True)


def opened_with_nothing(texts: Texts) -> None:
    late = of(texts, "opened")[1][1]
    late["filter"]["spent"], late["filter"]["entries"], late["last"] = ["0"], 0, None


def opened_with_less(texts: Texts) -> None:
    of(texts, "opened")[1][1]["filter"]["spent"] = ["1/5"]


def opened_after_fewer(texts: Texts) -> None:
    of(texts, "opened")[1][1]["filter"]["entries"] = 2


def opened_after_nothing(texts: Texts) -> None:
    of(texts, "opened")[1][1]["last"] = None


def lineage_with_something_spent(texts: Texts) -> None:
    of(texts, "opened")[0][1]["filter"]["entries"] = 1


def unknown_policy(texts: Texts) -> None:
    of(texts, "opened")[0][1]["reuse"] = "always"


def another_policy(texts: Texts) -> None:
    """Then no charge would say what may serve again."""
    of(texts, "opened")[0][1]["reuse"] = "never"


def policy_of_an_analyst(texts: Texts) -> None:
    of(texts, "opened")[1][1]["reuse"] = "never"


def forgotten_before(texts: Texts) -> None:
    of(texts, "charged")[-1][1]["before"] = None


def another_before(texts: Texts) -> None:
    last = of(texts, "charged")[-1][1]
    last["before"] -= 1


def before_another_key(texts: Texts) -> None:
    of(texts, "charged")[1][1]["before"] = 3


def another_request(texts: Texts) -> None:
    of(texts, "charged")[-1][1]["body"] = "0" * 64


def another_token(texts: Texts) -> None:
    """No account of its own, so that all is paid; but the same key was asked without it."""
    of(texts, "charged")[-1][1]["token"] = "t"


def question_left_out(texts: Texts) -> None:
    of(texts, "charged")[0][1]["own"] = None


def question_kept(texts: Texts) -> None:
    of(texts, "charged")[0][1]["own"] = True


def account_left_out(texts: Texts) -> None:
    del of(texts, "charged")[-1][0]["accounts"]["visits/ann"]


def account_of_another(texts: Texts) -> None:
    of(texts, "charged")[-1][1]["analyst"] = "bob"


LIES = [
    opened_with_nothing,
    opened_with_less,
    opened_after_fewer,
    opened_after_nothing,
    lineage_with_something_spent,
    unknown_policy,
    another_policy,
    policy_of_an_analyst,
    forgotten_before,
    another_before,
    before_another_key,
    another_request,
    another_token,
    question_left_out,
    question_kept,
    account_left_out,
    account_of_another,
]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_lies_about_other_records(lie: Callable[[Texts], None], tmp_path: Path) -> None:
    path = tmp_path / "l"
    filled(path)
    rewritten(path, lambda _texts: None)
    with Ledger.inspect(path) as ledger:
        assert ledger.verify().charges == 6
    rewritten(path, lie)
    with pytest.raises(LedgerCorrupt), Ledger.inspect(path) as ledger:
        ledger.verify()


def registered(path: Path) -> None:
    """A table and its copy, which belongs where the table does; a late account; a key with one answer of two."""
    filled(path)
    key = OwnerKey(b"k" * 32)
    with Ledger.open(path) as ledger:
        ledger.account("claims", cap=PureDP(epsilon=1))
        ledger.register("first", lineage=["visits", "claims"], units=range(100), key=key)
        ledger.register("copy", units=range(100), key=key)
        ledger.adjust("visits", cap=PureDP(epsilon=12), by="owner", reason="more")
        lost = [ledger.charge(charge("twice", key="twice"), again=True) for _ in range(2)]
        ledger.store(lost[0], b"one")


def changed(what: str, place: int, **members: Any) -> Callable[[Texts], None]:
    """Other members of one record; a name with __ is that of a member of a member."""

    def lie(texts: Texts) -> None:
        for name, value in members.items():
            data, path = of(texts, what)[place][1], name.split("__")
            for step in path[:-1]:
                data = data[step]
            data[path[-1]] = value

    return lie


def two_answers(texts: Texts) -> None:
    first = of(texts, "released")[0]
    places = [place for place, (terms, _) in enumerate(texts, 1) if terms["what"] == "charged"]
    texts.append((first[0], {**first[1], "charge": places[-1]}))


TABLES = {
    "a lineage less": changed("registered", 1, lineages=["claims"]),
    "no lineage": changed("registered", 1, lineages=[]),
    "out of order": changed("registered", 1, lineages=["visits", "claims"]),
    "no name": changed("registered", 0, table=""),
    "another key": changed("registered", 1, key="00" * 8),
    "no sketch": changed("registered", 0, sketch="zz"),
}
NONSENSE = {
    "more than the cap": changed("opened", 1, filter__spent=["99"]),
    "another currency": changed("opened", 1, filter__cap__kind="ZCDP"),
    "a last charge that is none": changed("opened", 1, last__visits=["x"]),
    "another last charge": changed("opened", 1, last__visits=["1/1000"]),
    "a cheaper last charge": changed("opened", 1, **{"last__visits/ann": ["1/1000"]}),
    "nobody": changed("opened", 2, account=""),
    "nobody's": changed("opened", 2, account="visits/ann/t/x"),
}


def lies_are_found(path: Path, lie: Callable[[Texts], None], answer: bytes | None = None) -> None:
    registered(path)
    rewritten(path, lambda _: None)
    with Ledger.inspect(path) as ledger:
        ledger.verify()
    rewritten(path, lie)
    if answer is not None:
        with forging(path) as file:
            file.execute("INSERT INTO answer VALUES ((SELECT max(number) FROM record), ?)", (answer,))
    with pytest.raises(LedgerCorrupt), Ledger.inspect(path) as ledger:
        ledger.verify()


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_do_not_follow(name: str, tmp_path: Path) -> None:
    lies_are_found(tmp_path / "l", TABLES[name])


@pytest.mark.parametrize("name", NONSENSE)
def test_accounts_that_make_no_sense(name: str, tmp_path: Path) -> None:
    """They are a LedgerCorrupt, and nothing else."""
    lies_are_found(tmp_path / "l", NONSENSE[name])


def test_a_key_has_one_answer(tmp_path: Path) -> None:
    lies_are_found(tmp_path / "l", two_answers, b"one")


def with_served(texts: Texts, asked: Charge, paid: int, **changed: str) -> None:
    """A request that is said to have been served what record `paid` was charged for."""
    served = {"analyst": asked.analyst, "request": asked.request, "key": asked.key, "charge": paid, **changed}
    texts.append(({"what": "served"}, {**served, "time": texts[-1][1]["time"]}))


@pytest.mark.parametrize("analyst", ["ann", "bob"])
@pytest.mark.parametrize("second", [None, *REUSES])
@pytest.mark.parametrize("first", REUSES)
def test_nobody_was_served_what_a_lineage_keeps_to_others(
    first: Reuse, second: Reuse | None, analyst: str, tmp_path: Path
) -> None:
    """Neither verified nor given to anybody, where the policy of a lineage forbids it."""
    path, policies = tmp_path / "l", [first] if second is None else [first, second]
    names = tuple(f"l{at}" for at in range(len(policies)))
    with Ledger.open(path) as ledger:
        for name, reuse in zip(names, policies, strict=True):
            ledger.account(name, cap=PureDP(epsilon=1), reuse=reuse)
        paid = ledger.answer(charge("of ann", analyst="ann", lineages=names), lambda _: b"of ann").receipt.number
    asked = charge("mine", analyst=analyst, lineages=names, key="z")
    rewritten(path, lambda texts: with_served(texts, asked, paid))
    allowed = "never" not in policies and (analyst == "ann" or "own" not in policies)
    with Ledger.open(path) as ledger:
        if allowed:
            assert ledger.verify().charges == 1
            assert ledger.answer(asked, lambda _: b"new").body == b"of ann"
            return
        with pytest.raises(LedgerCorrupt, match="keeps to others"):
            ledger.verify()
    with Ledger.open(path) as ledger, pytest.raises(LedgerCorrupt, match="may not serve"):
        ledger.answer(asked, lambda _: b"new")


@pytest.mark.parametrize("changed", [{"analyst": "b/ob"}, {"key": "z z "}, {"key": ""}])
def test_whoever_was_served_has_a_name(changed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "l"
    with founded(path) as ledger:
        ledger.answer(charge(), lambda _: b"42")
    rewritten(path, lambda texts: with_served(texts, charge(key="k"), 3, **changed))
    with Ledger.inspect(path) as ledger, pytest.raises(LedgerCorrupt, match="cannot have been served like this"):
        ledger.verify()
