"""`privately sql`, `explain` and `prepare`, from the words typed to the words printed."""

import csv
import json
import re
from pathlib import Path

import pytest

from privately.certificates import check
from privately.ledger import Ledger
from tests.cli.sql.visits import WARDS, Run, run

__all__ = ["run"]

BUDGET = ("--ledger", "visits.ledger", "--budget-epsilon", "3")


def test_an_answer_with_error_bars_is_paid_for_once(run: Run) -> None:
    first = run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET)
    assert first.status == 0, first.err
    assert first.out.splitlines()[0].split() == ["ward", "n", "±", "(95", "%)"]
    assert re.search(r"^A +-?\d+ +\d+$", first.out, re.MULTILINE)
    assert "PureDP with epsilon 1, adding or removing one patient" in first.out
    assert "paid: epsilon 1; remaining: epsilon 2" in first.out
    again = run("sql", "visits.csv", WARDS, "--epsilon", "1", "--ledger", "visits.ledger")
    assert "paid: nothing: it was answered before; remaining: epsilon 2" in again.out
    assert again.out.splitlines()[:3] == first.out.splitlines()[:3]


def test_for_programs_and_in_files(run: Run) -> None:
    files = ("--plot", "wards.svg", "--certificate", "wards.json")
    done = run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--json", *files)
    assert done.status == 0, done.err
    data = json.loads(done.out)
    assert data["columns"] == ["ward", "n"]
    assert [row[0] for row in data["rows"]] == ["A", "B"]
    assert data["guarantee"]["epsilon"] == "1"
    for row, ends in zip(data["rows"], data["intervals"]["n"], strict=True):
        assert ends["lower"] <= row[1] <= ends["upper"]
    assert check("wards.json").claim_text.startswith("1-DP")
    assert check("wards.json").hash == data["certificate"]
    assert "n by ward" in Path("wards.svg").read_text(encoding="utf-8")
    table = run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--csv")
    rows = list(csv.reader(table.out.splitlines()))
    assert rows[0] == ["ward", "n", "n_lower", "n_upper"]
    assert [int(row[1]) for row in rows[1:]] == [row[1] for row in data["rows"]]


def test_bounds_on_rows_in_groups_are_told(run: Run) -> None:
    told = ("--unit", "patient", "--max-rows-per-unit", "4", "--max-groups-per-unit", "2")
    for most, moved in (("1", "2 (L1)"), ("2", "4 (L1)")):
        done = run("explain", "visits.csv", WARDS, "--epsilon", "1", *told, "--max-rows-per-unit-and-group", most)
        assert moved in done.out, done.err


def test_groups_of_a_public_file(run: Run) -> None:
    Path("wards.csv").write_text("ward\nB\nC\n", encoding="utf-8")
    done = run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--keys-file", "wards.csv", "--json")
    assert [row[0] for row in json.loads(done.out)["rows"]] == ["B", "C"]
    for content, words in (("", "needs names"), ("ward\n", "needs names"), ("ward\nB,C\n", "needs names")):
        Path("wards.csv").write_text(content, encoding="utf-8")
        refused = run("explain", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--keys-file", "wards.csv")
        assert f"--keys-file: wards.csv {words}" in refused.err
    missing = run("explain", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--keys-file", "no.csv")
    assert "--keys-file: cannot read no.csv" in missing.err


TOTAL = "SELECT COUNT(*) AS n FROM visits"


def test_several_questions_are_paid_for_at_once(run: Run) -> None:
    budget = ("--ledger", "z.ledger", "--budget-rho", "1")
    done = run("sql", "visits.csv", WARDS, f"{TOTAL}; {TOTAL} WHERE age > 20;", "--epsilon", "0.1", *budget)
    assert done.status == 0, done.err
    assert [line for line in done.out.splitlines() if line.startswith("(")] == ["(1)", "(2)", "(3)"]
    paid = done.out.splitlines()[-1]
    assert paid.startswith("paid for all together: rho 0.0149"), "three times 0.1 tanh 0.05, and not 0.3 tanh 0.15"
    with Ledger.inspect("z.ledger") as ledger:
        assert ledger.budget("visits").entries == 1
    words = ("sql", "visits.csv", WARDS, TOTAL, "--epsilon", "1", *BUDGET)
    told = json.loads(run(*words, "--json", "--certificate", "both.json").out)
    assert [answer["columns"] for answer in told["answers"]] == [["ward", "n"], ["n"]]
    assert (told["guarantee"]["epsilon"], told["remaining"]["epsilon"], told["free"]) == ("2", "1", False)
    assert check("both.json").claim_text.startswith("2-DP")
    tables = run(*words, "--csv").out.split("\n\n")
    assert [table.splitlines()[0] for table in tables] == ["ward,n,n_lower,n_upper", "n,n_lower,n_upper"]
    assert run(*words, "--plot", "a.svg").error.startswith("--plot: draws the answer to one question")


def test_programs_are_told_how_far_off_quantiles_are(run: Run) -> None:
    text = "SELECT MEDIAN(age) AS m, COUNT(*) AS n FROM visits"
    done = run("sql", "visits.csv", text, "--epsilon", "1", *BUDGET, "--json")
    told = json.loads(done.out)
    assert told["intervals"].keys() == {"n"}
    assert told["ranks"].keys() == {"m"}
    assert 0 < told["ranks"]["m"]["off"] < 100
    assert told["ranks"]["m"]["to_within"] == 0


def test_one_of_several_is_refused_at_its_place(run: Run) -> None:
    done = run("sql", "visits.csv", TOTAL, "SELECT MAX(age) FROM visits", "--epsilon", "1", *BUDGET)
    assert done.status == 2
    assert "  SELECT MAX(age) FROM visits" in done.err.splitlines()
    with Ledger.inspect("visits.ledger") as ledger:
        assert ledger.budget("visits").entries == 0


def test_an_accuracy_costs_what_it_takes(run: Run) -> None:
    done = run("sql", "visits.csv", WARDS, "--accuracy", "20 at 95%", *BUDGET, "--json")
    (ends, _) = json.loads(done.out)["intervals"]["n"]
    assert (ends["upper"] - ends["lower"]) / 2 <= 20


def test_gaussian_noise_from_a_budget_of_its_own(run: Run) -> None:
    done = run("sql", "visits.csv", WARDS, "--rho", "0.1", "--ledger", "z.ledger", "--budget-rho", "1")
    assert "paid: mu 0.4472135955; remaining: rho 0.9" in done.out  # mu^2/2 is 0.1
    mixed = run("sql", "visits.csv", WARDS, "--mu", "0.1", "--ledger", "a.ledger",
                "--budget-epsilon", "1", "--budget-delta", "1e-6")  # fmt: skip
    assert mixed.status == 0, mixed.err
    assert run("sql", "visits.csv", "SELECT COUNT(*) FROM visits", "--mu", "0.1", "--ledger", "a.ledger").status == 0
    pure = run("sql", "visits.csv", WARDS, "--rho", "0.1", *BUDGET)
    text = "--rho: a budget of epsilon alone cannot pay for Gaussian noise. Ask with --epsilon instead."
    assert pure.error == text


def test_unknown_groups(run: Run) -> None:
    text = "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient"
    refused = run("sql", "visits.csv", text, "--epsilon", "0.1", *BUDGET)
    assert "--keys" in refused.err
    assert "--delta 1e-6" in refused.err
    pure = run("sql", "visits.csv", text, "--epsilon", "0.1", "--delta", "1e-6", *BUDGET)
    assert pure.error.startswith("--delta: a budget of the kind PureDP has no delta")
    told = run("explain", "visits.csv", text, "--epsilon", "0.1", "--delta", "1e-6", "--json")
    assert json.loads(told.out)["groups"] is None
    budget = ("--ledger", "a.ledger", "--budget-epsilon", "1", "--budget-delta", "1e-4")
    done = run("sql", "visits.csv", text, "--rho", "0.001", "--delta", "1e-6", *budget)
    assert done.status == 0, done.err
    assert "are not shown" in done.out


def test_what_does_not_fit_is_refused_and_not_charged(run: Run) -> None:
    done = run("sql", "visits.csv", WARDS, "--epsilon", "4", *BUDGET)
    assert done.error.startswith("asked PureDP with epsilon 4")
    with Ledger.inspect("visits.ledger") as ledger:
        assert ledger.budget("visits").entries == 0


def test_a_refusal_points_at_its_place(run: Run) -> None:
    text = "SELECT ward,\n  MAX(agee) FROM visits GROUP BY ward"
    done = run("sql", "visits.csv", text, "--epsilon", "1", *BUDGET)
    assert (done.status, done.out) == (2, "")
    error, line, carets = done.err.splitlines()
    assert error.startswith("error: ")
    assert line == "    MAX(agee) FROM visits GROUP BY ward"
    start, end = carets.index("^"), carets.rindex("^") + 1
    assert line[start:end].strip("()") in {"agee", "MAX", "MAX(agee"}
    told = run("sql", "visits.csv", text, "--epsilon", "1", *BUDGET, "--json")
    assert json.loads(told.out)["error"]
    assert told.status == 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["sql", "no.csv", WARDS, "--epsilon", "1", *BUDGET], "FILE: there is no file 'no.csv'."),
        (["sql", "visits.csv", WARDS, *BUDGET], "--epsilon: say what the answer may cost"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", "--ledger", "new"], "--budget-epsilon: say what all answers"),
        (["sql", "no.csv", WARDS, "--epsilon", "1"], "FILE: there is no file 'no.csv'."),
        (["sql", "visits.csv", WARDS, "--epsilon", "1"], "--ledger: say which file"),
        (["prepare", "no.csv", "copy"], "FILE: there is no file 'no.csv'."),
        (["prepare", "visits.csv", "copy"], "--ledger: say which file"),
        (["sql", "visits.csv", WARDS, "--epsilon", "-1", *BUDGET], "--epsilon: "),
        (["sql", "visits.csv", WARDS, "--epsilon", "nan", *BUDGET], "--epsilon: "),
        (["sql", "visits.csv", WARDS, "--accuracy", "good", *BUDGET], "--accuracy: is not of the form"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--plot", "a.gif"], "--plot: 'a.gif' must end in"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--plot", "no/a.svg"], "--plot: there is no folder"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--json", "--csv"], "--csv: give it or --json"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--budget-mu", "1"], "--budget-mu: give it or"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--declaration", "no"], "--declaration: cannot read"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--prepared", "no"], "--prepared: there is no file"),
        (["sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--unit", "nobody"], ""),
        (["explain", "visits.csv", WARDS], "--epsilon: say what the answer may cost"),
        (["prepare", "visits.csv", "no/copy", "--ledger", "visits.ledger"], "COPY: there is no folder 'no'."),
        (["prepare", "visits.csv", "visits.csv", "--ledger", "visits.ledger"], "COPY: must be neither"),
    ],
)
def test_bad_words(run: Run, words: list[str], complaint: str) -> None:
    assert run(*words).error.startswith(complaint)


def test_a_prepared_copy_answers_too(run: Run) -> None:
    told = run("prepare", "visits.csv", "visits.prepared", "--ledger", "visits.ledger")
    assert told.out.splitlines()[0] == "300 rows, of which 300 count, of 150 units"
    report = json.loads(run("prepare", "visits.csv", "visits.prepared", "--ledger", "visits.ledger", "--json").out)
    assert (report["rows"], report["units"], report["without_unit"]) == (300, 150, 0)
    done = run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--prepared", "visits.prepared")
    assert done.status == 0, done.err
    Path("visits.csv").write_text("patient,ward,age\n1,A,2\n", encoding="utf-8")
    stale = run("sql", "visits.csv", WARDS, "--epsilon", "1", *BUDGET, "--prepared", "visits.prepared")
    assert stale.error.startswith("--prepared: ")


@pytest.mark.parametrize("command", ["sql", "explain", "prepare"])
def test_help_shows_an_example(run: Run, command: str) -> None:
    assert f"Example: privately {command} visits.parquet" in run(command, "--help").out


def test_the_owner_hears_of_strange_data_and_the_analyst_does_not(run: Run) -> None:
    rows = [f"{at % 150 or ''},A," for at in range(300)]
    Path("visits.csv").write_text("\n".join(["patient,ward,age", *rows, ""]), encoding="utf-8")
    first = run("sql", "visits.csv", TOTAL, "--epsilon", "1", *BUDGET)
    assert first.err.startswith("note: visits: age is NULL in every row. 2 rows name no patient;")
    for words in (("--analyst", "ann"), ()):
        later = run("sql", "visits.csv", TOTAL, "--epsilon", "0.5", *BUDGET, *words)
        assert (later.status, later.err) == (0, "")


def test_only_copies_are_written_over(run: Run) -> None:
    before = Path("visits.toml").read_bytes()
    done = run("prepare", "visits.csv", "visits.toml", "--ledger", "visits.ledger")
    assert done.error.startswith("COPY: visits.toml is no prepared copy.")
    assert Path("visits.toml").read_bytes() == before
