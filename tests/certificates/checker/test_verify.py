import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.check_certificate import certificate
from privately.certificates.checker import Invalid, Report, check, check_file, read_certificate
from privately.certificates.checker.rules import RULES
from privately.certificates.checker.statements import GUARANTEES
from tests.certificates.checker.building import Plain, assume, node, plain_certificate, renyi, run, seal, statement
from tests.certificates.checker.test_plan import many
from tests.endless import ends

PURE = statement("PureDP", epsilon=1)
SUM = node("sequential", [0, 1, 1], statement("PureDP", epsilon=4), {"counts": [1, 1, 2]})


def example() -> Plain:
    return plain_certificate(assume(PURE), assume(PURE), json.loads(json.dumps(SUM)))


def reason(data: bytes | str) -> Invalid:
    with pytest.raises(Invalid) as caught:
        check(data, allow_assumptions=True)
    return caught.value


def test_a_valid_certificate() -> None:
    subject = "sha256:" + "ab" * 32
    report = check(seal({**example(), "subject": subject}), allow_assumptions=True)
    assert isinstance(report, Report)
    assert report.claim_text == "4-DP, adding or removing one row"
    assert report.claim.plain() == statement("PureDP", epsilon=4)
    assert report.node_count == 3
    assert report.rules == ("assumption", "sequential")
    assert report.subject == subject
    assert report.assumptions[1] == "node 1 takes for granted 1-DP, adding or removing one row: 'given' ('a test')"
    assert len(report.hash) == 71


def test_whitespace_and_order_of_members_are_harmless() -> None:
    data = json.loads(seal(example()))
    spread = json.dumps(dict(reversed(data.items())), indent=3)
    assert check(spread, allow_assumptions=True).hash == data["hash"]


Edit = Callable[[Any], None]


def put(*path: str | int, value: object) -> Edit:
    def edit(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return edit


def drop(*path: str | int) -> Edit:
    def edit(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return edit


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (put("schema", value="privately.certificate/2"), "schema"),
        (put("schema", value=None), "schema"),
        (put("subject", value="sha256:0"), "subject"),
        (put("subject", value=1.5), "subject"),
        (put("extra", value=1), "certificate"),
        (drop("subject"), "certificate"),
        (drop("nodes"), "certificate"),
        (put("nodes", value=[]), "nodes"),
        (put("nodes", value={}), "nodes"),
        (put("nodes", value=[None] * 100_001), "nodes"),
        (put("nodes", 1, value=7), "nodes[1]"),
        (put("nodes", 1, "extra", value=7), "nodes[1]"),
        (drop("nodes", 1, "witness"), "nodes[1]"),
        (put("nodes", 2, "rule", value="magic"), "nodes[2].rule"),
        (put("nodes", 2, "rule", value=["sequential"]), "nodes[2].rule"),
        (put("nodes", 2, "rule", value=None), "nodes[2].rule"),
        (put("nodes", 2, "premises", value=[]), "nodes[2].premises"),
        (put("nodes", 2, "premises", value=[0, 1, 2]), "nodes[2].premises[2]"),
        (put("nodes", 2, "premises", value=[0, 1, 10**9]), "nodes[2].premises[2]"),
        (put("nodes", 2, "premises", value=[0, 1, -1]), "nodes[2].premises[2]"),
        (put("nodes", 2, "premises", value=[0, 1, True]), "nodes[2].premises[2]"),
        (put("nodes", 2, "premises", value=[0, 1, 1.0]), "nodes[2].premises[2]"),
        (put("nodes", 2, "premises", value={"0": 1}), "nodes[2].premises"),
        (put("nodes", 2, "premises", value=[0, 0, 0]), "nodes[1]"),
        (put("nodes", 1, "premises", value=[0]), "nodes[1].premises"),
        (put("nodes", 0, "premises", value=[0]), "nodes[0].premises"),
        (put("nodes", 2, "parameters", value=[]), "nodes[2].parameters"),
        (put("nodes", 2, "parameters", "extra", value=1), "nodes[2].parameters"),
        (put("nodes", 2, "witness", "order", value="2"), "nodes[2].witness"),
        (put("nodes", 2, "conclusion", "epsilon", value=4), "nodes[2].conclusion.epsilon"),
        (put("nodes", 2, "conclusion", "epsilon", value=4.5), "nodes[2].conclusion.epsilon"),
        (put("nodes", 2, "conclusion", "epsilon", value=float("nan")), "nodes[2].conclusion.epsilon"),
        (put("nodes", 2, "conclusion", "epsilon", value=float("inf")), "nodes[2].conclusion.epsilon"),
        (put("nodes", 2, "conclusion", "epsilon", value="3999/1000"), "nodes[2].conclusion.epsilon"),
        (put("nodes", 2, "conclusion", "epsilon", value="9" * 10_000), "nodes[2].conclusion.epsilon"),
        (put("nodes", 2, "conclusion", "neighbors", "change", value="replace"), "nodes[2].conclusion.neighbors"),
        (put("nodes", 0, "parameters", "statement", value="x" * 20_001), "nodes[0].parameters.statement"),
    ],
)
def test_every_refusal_names_the_field(edit: Edit, field: str) -> None:
    data = example()
    edit(data)
    assert reason(seal(data)).field == field


def test_the_hash_is_that_of_the_contents() -> None:
    data = json.loads(seal(example()))
    data["nodes"][2]["conclusion"]["epsilon"] = "5"
    assert reason(json.dumps(data)).field == "hash"
    for value in (None, "", "sha256:" + "0" * 64, 5):
        assert reason(json.dumps({**data, "hash": value})).field == "hash"


def test_reading_derives_nothing() -> None:
    data = example()
    data["nodes"][2]["conclusion"]["epsilon"] = "0"
    read = read_certificate(seal(data))
    assert (len(read.nodes), read.subject) == (3, None)
    assert reason(seal(data)).field == "nodes[2].conclusion.epsilon"
    with pytest.raises(Invalid, match="hash"):
        read_certificate(json.dumps({**data, "hash": "sha256:" + "0" * 64}))


def test_what_nobody_thought_of_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (MemoryError, RecursionError, ZeroDivisionError, OverflowError, ValueError):
        for name in ("_read_nodes", "_check_nodes"):
            with monkeypatch.context() as patch:
                patch.setattr(f"privately.certificates.checker.verify.{name}", Mock(side_effect=error))
                assert error.__name__ in reason(seal(example())).reason


def test_assumptions_need_leave() -> None:
    with pytest.raises(Invalid, match=r"nodes\[0\]\.rule"):
        check(seal(example()))


def test_texts_cannot_write_to_the_terminal() -> None:
    evil = "\x1b[2J\u202e\n\u0007"
    claim = statement("PureDP", {"change": "replace", "size": 1, "unit": evil, "max_rows": None}, epsilon=1)
    report = run(node("assumption", [], claim, {"statement": evil, "reference": evil}))
    assert all(character == "\n" or character.isprintable() for character in report.text())
    assert report.text().isascii()


@given(st.binary(max_size=300) | st.text(max_size=300))
def test_noise_is_refused(data: bytes | str) -> None:
    reason(data)


def refused(data: bytes) -> Invalid | None:
    try:
        check(data, allow_assumptions=True)
    except Invalid as error:
        return error
    return None


values = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        -1,
        2.5,
        "",
        "0",
        "1/3",
        "-1",
        "x" * 30,
        [],
        {},
        ["1"],
        {"a": 1},
        10**30,
        float("nan"),
        "sequential",
    ]
)


@given(st.data(), st.booleans())
def test_random_edits_raise_nothing_else(data: st.DataObject, plans: bool) -> None:
    """Replace or drop any value of a certificate with many rules, hash made right again."""
    content: Any = json.loads(many(4) if plans else certificate(blocks=1, nodes=26))
    place, key = content, data.draw(st.sampled_from(sorted(set(content) - {"hash"})))
    while isinstance(place[key], list | dict) and place[key] and data.draw(st.integers(0, 5)):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place)) if isinstance(place, dict) else st.integers(0, len(place) - 1))
    if data.draw(st.booleans()):
        place[key] = data.draw(values)
    else:
        del place[key]
    refusal = refused(seal(content))
    assert refusal is None or refusal.field != "file"


def test_a_thousand_nodes_of_nearly_all_rules() -> None:
    report = check(certificate(blocks=39, nodes=1000))
    assert report.node_count == 1000
    combining = {name for name, rule in RULES.items() if rule.premises != 0 and rule.takes == GUARANTEES}
    assert combining - set(report.rules) == {"approx_to_zcdp", "bounded_unit"}


def test_it_uses_no_decimal_and_nothing_of_ours(tmp_path: Path) -> None:
    """Copied elsewhere under another name, and run without site packages, it needs only light modules."""
    import privately.certificates.checker as package

    source = Path(str(package.__file__)).parent
    for path in source.rglob("*.py"):
        target = tmp_path / "checker" / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (tmp_path / "certificate.json").write_bytes(certificate(blocks=1, nodes=26))
    script = (
        "import sys; sys.path.insert(0, '.'); from checker.__main__ import main; code = main(['certificate.json']);"
        "print(sorted({'decimal', 'fractions', 'dataclasses', 'privately'} & set(sys.modules))); sys.exit(code)"
    )
    command = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(seal(example()))
    assert check_file(path, allow_assumptions=True) == check_file(str(path), allow_assumptions=True)
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(2**34)
    for wrong in (tmp_path, tmp_path / "missing", huge, Path("/dev/zero"), "a\0b"):
        with pytest.raises(Invalid, match=r"^file: ") as caught:
            check_file(wrong)
        assert caught.value.field == "file"


def hostile_tails() -> bytes:
    """Thousands of different costly conversions: nearly everything cancels."""
    gaussians = [assume(statement("GaussianDP", mu=f"1/{10**1100 + 2 * i + 1}")) for i in range(2000)]
    claim = statement("ApproxDP", epsilon=0, delta=f"1/{10**1000}")
    claims = [node("gaussian_to_approx", [i], claim) for i in range(2000)]
    last = node("sequential", range(2000, 4000), statement("ApproxDP", epsilon=0, delta=1), {"counts": [1] * 2000})
    return seal(plain_certificate(*gaussians, *claims, last))


def hostile_lattices() -> bytes:
    """Thousands of compositions at the limits of the lattice."""
    claims = []
    for i in range(2000):
        claim = statement("ApproxDP", epsilon=40, delta=f"1/{10**1200 + i}")
        multiples = {"unit": "1/1000", "multiples": [1, 700]}
        claims.append(node("optimal_composition", [0, 0], claim, {"counts": [40_000, 110]}, multiples))
    last = node("sequential", range(1, 2001), statement("ApproxDP", epsilon=10**6, delta=1), {"counts": [1] * 2000})
    return seal(plain_certificate(assume(statement("PureDP", epsilon="1/1000")), *claims, last))


def hostile_sum() -> bytes:
    """A sum of thousands of large denominators without common factors."""
    nodes = [assume(statement("PureDP", epsilon=f"1/{2**4000 + 2 * i + 1}")) for i in range(6000)]
    last = node("sequential", range(6000), statement("PureDP", epsilon=1), {"counts": [1] * 6000})
    return seal(plain_certificate(*nodes, last))


def hostile_orders() -> bytes:
    """A premise with a thousand orders, used a million times."""
    orders = {2 + i: 1 for i in range(1000)}
    last = node("sequential", [0] * 10**6, renyi({2: 10**9}), {"counts": [1] * 10**6})
    return seal(plain_certificate(assume(renyi(orders)), last))


def hostile_sort() -> bytes:
    """Millions of parts."""
    nodes = [assume(statement("PureDP", epsilon=f"1/{3 + i}")) for i in range(50)]
    places = [(i * 17) % 50 for i in range(3 * 10**6)]
    return seal(plain_certificate(*nodes, node("parallel_by_value", places, statement("PureDP", epsilon="1/3"))))


def hostile_histograms() -> bytes:
    """Tens of thousands of different tails, as far out as they are evaluated, of which none is shared."""
    claim = statement("ApproxZCDP", rho=6000, delta=f"1/{10**400}")
    nodes = []
    for i in range(20_000):
        parameters = {
            "noise": "rounded_gaussian",
            "scale": f"{10**9 + 2 * i + 1}/{2**23}",
            "threshold": 14_000,
            "keys": 10**8,
        }
        nodes.append(node("thresholded_histogram", [], claim, parameters))
    last = node("sequential", range(20_000), statement("ApproxZCDP", rho=10**9, delta=1), {"counts": [1] * 20_000})
    return seal(plain_certificate(*nodes, last))


@pytest.mark.slow
@pytest.mark.parametrize(
    "build", [hostile_histograms, hostile_tails, hostile_lattices, hostile_sum, hostile_orders, hostile_sort]
)
def test_hostile_certificates_end(build: Callable[[], bytes]) -> None:
    data = build()
    assert len(data) <= 16 * 2**20
    with ends(600):
        refusal = refused(data)
        assert refusal is None or "work" in refusal.reason or "small" in refusal.reason
