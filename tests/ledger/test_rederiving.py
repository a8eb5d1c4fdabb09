"""What one record says of others is derived again: what was spent before an account, and which charge was before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Ledger
from tests.ledger.examples import charge, founded
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


def question_left_out(texts: Texts) -> None:
    of(texts, "charged")[0][1]["question"] = None


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
    question_left_out,
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
