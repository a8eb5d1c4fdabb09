"""`privately explain`: free, in the terms of the account, and without the file where the declaration suffices."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from privately.guarantees import ApproxDP, Neighbors
from privately.ledger import Ledger
from tests.cli.sql.visits import WARDS, Run, run

__all__ = ["run"]

BUDGET = ("--ledger", "visits.ledger", "--budget-epsilon", "3")
TOTAL = "SELECT COUNT(*) AS n FROM visits"
PATIENTS = Neighbors.ADD_REMOVE.of_unit("patient")


def test_explaining_is_free_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = run("explain", "visits.csv", WARDS, "--epsilon", "0.5", "--budget-epsilon", "2")
    assert done.status == 0, done.err
    assert "scan visits, at most 2 rows of each patient" in done.out
    assert "Laplace, scale 4" in done.out
    assert "remaining: PureDP with epsilon 2" in done.out
    assert "remaining" not in run("explain", "visits.csv", WARDS, "--epsilon", "0.5").out
    assert sorted(tmp_path.iterdir()) == before
    run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET)
    told = json.loads(
        run("explain", "visits.csv", WARDS, "--epsilon", "0.5", "--ledger", "visits.ledger", "--json").out
    )
    assert (told["groups"], told["cost"]["epsilon"], told["remaining"]["epsilon"]) == (2, "1/2", "2")


def test_what_the_account_cannot_pay_for_is_said(run: Run) -> None:
    median = "SELECT MEDIAN(age) AS m FROM visits"
    told = run("explain", "visits.csv", median, "--mu", "0.2", "--budget-mu", "1").out
    assert "charged: this account counts in GaussianDP and cannot pay for it." in told
    assert "remaining: GaussianDP with mu 1, adding or removing one patient" in told


def test_slack_makes_several_cheaper(run: Run) -> None:
    words = ("explain", "visits.csv", *[TOTAL] * 30, "--epsilon", "0.05", "--json", "--ledger", "a.ledger")
    with Ledger.open("a.ledger") as ledger:
        ledger.account("visits", cap=ApproxDP(epsilon=2, delta="1e-5", neighbors=PATIENTS), by=ApproxDP)
    plain, with_slack = (json.loads(run(*words, *more).out) for more in ((), ("--slack", "1e-6")))
    assert len(plain["questions"]) == 30
    assert Fraction(plain["cost"]["epsilon"]) == Fraction(3, 2)
    assert Fraction(with_slack["cost"]["epsilon"]) < Fraction(3, 2)


def test_it_works_with_the_file_deleted(run: Run, tmp_path: Path) -> None:
    asked = ("explain", "visits.csv", WARDS, "--epsilon", "0.5")
    before = run(*asked)
    Path("visits.csv").unlink()
    after = run(*asked)
    assert (after.status, after.out) == (before.status, before.out)
    assert after.status == 0, after.err
    refused = run("explain", "visits.csv", "SELECT SUM(nothing) FROM visits", "--epsilon", "1")
    assert "nothing" in refused.err
    Path("visits.toml").unlink()
    assert run(*asked).error.startswith("FILE: there is no file 'visits.csv'. Without it, declare")
    assert not list(tmp_path.iterdir())


def test_of_the_file_nothing_but_its_columns_is_read(run: Run) -> None:
    """A file that cannot be opened, since a cell of it cannot be read, can be explained."""
    with Path("visits.csv").open("a", encoding="utf-8") as file:
        file.write('1,"A,3\n')
    assert run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET).status == 2
    assert run("explain", "visits.csv", WARDS, "--epsilon", "1").status == 0


def test_what_is_charged_is_told_in_the_terms_of_the_account(run: Run) -> None:
    done = run("explain", "visits.csv", WARDS, "--epsilon", "0.1", "--budget-rho", "1")
    assert "cost: PureDP with epsilon 0.1," in done.out
    assert "charged: ZCDP with rho 0.0049" in done.out
    assert "remaining: ZCDP with rho 1," in done.out
    told = json.loads(run("explain", "visits.csv", WARDS, "--epsilon", "0.1", "--budget-rho", "1", "--json").out)
    assert told["charged"]["kind"] == "ZCDP"


@pytest.mark.parametrize("price", [("--epsilon", "0.1"), ("--rho", "0.01"), ("--mu", "0.1")])
def test_several_without_a_budget(run: Run, price: tuple[str, str]) -> None:
    done = run("explain", "visits.csv", WARDS, TOTAL, *price)
    assert done.status == 0, done.err
    assert "cost of all together: " in done.out
    assert "remaining" not in done.out
