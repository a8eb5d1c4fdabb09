import json

from privately.certificates.checker.report import Report
from privately.certificates.checker.rules import RULES
from privately.certificates.checker.statements import read_statement
from tests.certificates.checker.building import statement

REPORT = Report(
    claim=read_statement(statement("ApproxDP", epsilon="0.5", delta="1e-6")),
    assumptions=("node 0 takes for granted 1-DP",),
    node_count=3,
    rules=("assumption", "parallel_by_value", "parallel_by_value_replace", "sequential"),
    hash="sha256:" + "0" * 64,
    subject=None,
)


def test_text_says_everything() -> None:
    text = REPORT.text()
    assert "valid: (0.5, 1e-6)-DP, adding or removing one row" in text
    assert "steps: 3" in text
    assert "rules: assumption, parallel_by_value, parallel_by_value_replace, sequential" in text
    assert "  - node 0 takes for granted 1-DP" in text
    assert "release: none named" in text
    assert text.endswith(REPORT.hash)
    for sentence in REPORT.trusted:
        assert f"  - {sentence}" in text
    assert "assumptions: none" in REPORT._replace(assumptions=()).text()


def test_trust_depends_on_the_rules() -> None:
    assert any("assumptions" in sentence for sentence in REPORT.trusted)
    assert sum("own value" in sentence for sentence in REPORT.trusted) == 1
    assert len(REPORT._replace(rules=("sequential",)).trusted) == 3
    assert any("mechanism" in sentence for sentence in REPORT._replace(rules=()).trusted)


def test_every_leaf_leaves_something_to_trust() -> None:
    for name, rule in RULES.items():
        if rule.premises == 0:
            assert len(REPORT._replace(rules=(name,)).trusted) == 4


def test_plain_form_is_json() -> None:
    plain = json.loads(json.dumps(REPORT.plain()))
    assert plain["valid"] is True
    assert plain["claim"] == statement("ApproxDP", epsilon="0.5", delta="1e-6")
    assert plain["steps"] == 3


def test_plans_and_claims_are_shown_where_there_are_some() -> None:
    assert "from the table" not in REPORT.text()
    assert "claimed" not in REPORT.text()
    full = REPORT._replace(plan=("[0] scan_rows: visits",), claimed=("node 1, discrete_laplace: sensitivity 3",))
    lines = full.text().splitlines()
    assert lines[lines.index("from the table:") + 1] == "  [0] scan_rows: visits"
    assert lines[lines.index("claimed, not derived:") + 1] == "  - node 1, discrete_laplace: sensitivity 3"
    assert "that what is claimed and not derived is true" in full.trusted
    assert full.plain()["plan"] == ["[0] scan_rows: visits"]
    assert full.plain()["claimed"] == ["node 1, discrete_laplace: sensitivity 3"]
