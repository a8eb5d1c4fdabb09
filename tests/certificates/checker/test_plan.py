"""Steps of a plan as lines; and a thousand of them in little time."""

import json

from privately.certificates.checker import check, read_certificate
from privately.certificates.checker.plan import LINES, plan_lines
from tests.certificates.checker.building import Plain, assume, node, plain_certificate, run, seal, statement
from tests.certificates.checker.rules.tables import BINS, PERSON, keyed, limits, noisy, scan, sensitivity, tally
from tests.endless import ends


def chain(table: str = "visits", condition: str = "(age > 3)") -> list[Plain]:
    scanned = scan() | {"parameters": {"table": table}}
    kept = node("filter_rows", [0], scanned["conclusion"], {"condition": condition})
    made = node("project_rows", [1], scanned["conclusion"], {"values": ["y = (x + 1)", "z = x"]})
    keys = [{"key": "part", "values": 3}, {"key": "y", "values": None}]
    grouped = node("group_rows", [2], limits("Groups", PERSON, 6, 4, 2, listed=None), {"keys": keys})
    counted = node("count_rows", [3], sensitivity(6), {"argument": None})
    return [scanned, kept, made, grouped, counted, noisy(4)]


UNIT = "of one unit at most 6 rows, in at most 4 groups, at most 2 in each"


def test_lines() -> None:
    assert run(*chain()).plan == (
        f"[0] scan_rows: visits -> {UNIT}, adding or removing all rows of one 'person' (any number of rows each)",
        "[1] filter_rows of [0]: (age > 3)",
        "[2] project_rows of [1]: y = (x + 1); z = x",
        f"[3] group_rows of [2]: part (3 listed); y (not listed) -> groups that nobody listed, {UNIT}",
        "[4] count_rows of [3] -> moves by at most 6 in L1",
        "[5] discrete_laplace of [4]: scale 1e+30 -> 1-DP",
    )


def test_lines_of_other_steps() -> None:
    found = {"kind": "ScoreSpread", "neighbors": PERSON, "value": "4"}
    scored = tally("score_quantile", found, {**BINS, "probability": "1/2"}, listed=1)
    pure = statement("PureDP", PERSON, epsilon=1)
    lines = run(*scored, node("exponential_mechanism", [2], pure, {"scale": "4"})).plan
    assert lines[1].endswith("part (1 listed) -> one group, of one unit at most 2 rows, in one group")
    assert lines[2].endswith("x; lower 0; width 0.1; bins 40; probability 0.5 -> scores move at most 4 apart")
    keys = tally("count_units_by_key", {"kind": "UnitKeys", "neighbors": PERSON, "keys": 4})
    shown = {"noise": "rounded_gaussian", "scale": "9", "threshold": 900}
    claim = statement("ApproxZCDP", PERSON, rho=1, delta="1e-6")
    lines = run(*keys, node("thresholded_histogram", [2], claim, shown)).plan
    assert "[2] count_units_by_key of [1] -> each unit counts once in at most 4 keys" in lines
    row = scan({**PERSON, "unit": None}, 1, 1, 1)
    assert "of one unit one row, adding or removing one row" in run(row, *_counted(row)).plan[0]


def _counted(scanned: Plain) -> list[Plain]:
    who = scanned["conclusion"]["neighbors"]
    return [keyed(scanned), node("count_units", [1], sensitivity(1, neighbors=who)), noisy(2, who)]


def test_only_steps_have_lines() -> None:
    assert run(assume(statement("PureDP", epsilon=1))).plan == ()


def test_lines_are_safe_to_print_and_short() -> None:
    """Whatever a table or a condition is called."""
    wild = "a\n\x1b[31m\u202e" * 1000
    for line in run(*chain(wild, wild)).plan:
        assert line.isascii()
        assert line.isprintable()
        assert len(line) < 300
    assert "sha256:" not in str(run(*chain()).plan)


def many(blocks: int) -> bytes:
    """So many plans of six nodes, all of them together."""
    nodes = [
        one | {"premises": [6 * block + place for place in one["premises"]]}
        for block in range(blocks)
        for one in chain(f"table {block}")
    ]
    last = [6 * block + 5 for block in range(blocks)]
    total = node("sequential", last, statement("PureDP", PERSON, epsilon=blocks), {"counts": [1] * blocks})
    return seal(plain_certificate(*nodes, total))


def test_a_thousand_steps_take_little_time() -> None:
    document = many(170)
    with ends():
        report = check(document)
        assert report.node_count == 1021


def test_very_long_plans_are_cut_short() -> None:
    lines = list(plan_lines(read_certificate(many(100)).nodes))
    assert len(lines) == LINES + 1
    assert lines[-1] == f"and {600 - LINES} more"
    assert len(json.dumps(check(many(100)).plain())) < 100_000
