"""`prove` and `analyze`."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privately.errors import CertificateInvalid, InvalidParameter, NotSupported
from privately.proving import analyze, anything, between, bits, inside, prove, replaced
from privately.proving.exact.budgets import NotFinite
from privately.proving.verdicts import Proved, Refuted, Unknown, Witness
from privately.rounding import Interval

SEEDS = Path(__file__).parents[1] / "corpus" / "seeds"
RESPONSE = SEEDS / "002-randomized-response-p.txt"
LOW, HIGH = "ln((2-p)/(1-p))", "ln((p^2-p+1)/(1-p)^2)"


@pytest.mark.parametrize(
    ("name", "claim", "known", "verdict"),
    [
        ("000-one-time-pad", "0", {"neighbors": {"m": anything(bits(4))}, "public": {"n": 4}}, "proved"),
        ("000-mean", "100", {"neighbors": {"d": replaced(0, 1)}}, "refuted"),
        ("002-randomized-response", "ln(3)", {"neighbors": {"F(x)": replaced(0, 1)}}, "proved"),
        ("002-randomized-response", "ln(2.999)", {"neighbors": {"F(x)": replaced(0, 1)}}, "refuted"),
        ("002-randomized-response-p", LOW, {"public": {"p": inside(0, "1/2")}}, "proved"),
        ("002-randomized-response-p", LOW, {"public": {"p": between(0, "1/2")}}, "proved"),
        ("002-randomized-response-p", LOW, {"public": {"p": inside(0, 1)}}, "refuted"),
        ("002-randomized-response-p", HIGH, {"public": {"p": inside("1/2", 1)}}, "proved"),
        ("002-randomized-response-p", HIGH, {"public": {"p": inside("0.4999", 1)}}, "refuted"),
        ("002-randomized-response-p", "ln(7/3)", {"public": {"p": "1/4"}}, "proved"),
        ("002-randomized-response-p", "ln(13)", {"public": {"p": "3/4"}}, "proved"),
    ],
)
def test_finite_seed_programs(name: str, claim: str, known: dict[str, Any], verdict: str) -> None:
    if name == "002-randomized-response-p":
        known = {"neighbors": {"Mem": replaced(0, 1)}, "sizes": [1], **known}
    found = prove(SEEDS / f"{name}.txt", claim, **known)
    assert found.word == verdict, str(found)


def test_an_end_that_belongs_to_the_domain_is_looked_at() -> None:
    text = "def f(x: replaced(0, 1), p):\n    return x if flip(p) else flip()\n"
    claim = "ln((1+p)/(1-p))"
    assert prove(text, claim, public={"p": inside("1/2", 1)}).word == "proved"
    with pytest.raises(InvalidParameter, match="no value at 1"):
        prove(text, claim, public={"p": between("1/2", 1)})


def test_refutations_of_formulas_name_a_value() -> None:
    found = prove(RESPONSE, LOW, neighbors={"Mem": replaced(0, 1)}, sizes=[1])
    assert isinstance(found, Refuted)
    assert " at p = 3/4" in found.claim
    assert found.witness.epsilon.lower > 2


def test_lists_of_any_length_are_not_proved_by_short_ones() -> None:
    text = "def f(x: replaced(0, 1)):\n    return [v if flip() else flip() for v in x]\n"
    unknown = prove(text, "ln(3)")
    assert isinstance(unknown, Unknown)
    assert "any length" in unknown.why
    assert isinstance(prove(text, "ln(3)", sizes=[1, 2]), Proved)
    assert isinstance(prove(text, "ln(2)"), Refuted)


def test_noise_without_end_is_unknown_for_now() -> None:
    found = prove(SEEDS / "000-dummy-sum-1.txt", "eps", neighbors={"d": replaced(0, 1)}, public={"eps": 1})
    assert found.word != "proved"


def test_claims_may_be_numbers() -> None:
    text = "def f(x: replaced(0, 1)):\n    return x if flip() else flip()\n"
    assert prove(text, 2).word == "proved"
    assert prove(text, 0.5).word == "refuted"
    assert analyze(text).epsilon.upper < 1.1


LAPLACE = "def f(x: replaced(0, 1), scale):\n    return x + discrete_laplace(scale)\n"
MAXIMUM = """
def f(q: each(1, whole(0, 1)), scale):
    best = 0
    top = 0
    for i in range(len(q)):
        noisy = q[i] + discrete_laplace(scale)
        if i == 0 or noisy > top:
            top = noisy
            best = i
    return best
"""


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 2), Fraction(1, 3)])
def test_noise_without_end_is_proved_with_its_tight_claim(scale: Fraction) -> None:
    proved = prove(LAPLACE, "1/scale", public={"scale": scale})
    assert isinstance(proved, Proved)
    assert proved.certificate is not None
    assert proved.certificate.guarantee.parameters["epsilon"] == 1 / scale
    refuted = prove(LAPLACE, "1/scale - 1/10^30", public={"scale": scale})
    assert isinstance(refuted, Refuted)


def test_a_witness_may_be_a_tail() -> None:
    text = "def f(x: replaced(0, 1)):\n    a = discrete_laplace(1)\n    return a if x == 0 else min(a, 3)\n"
    verdict = prove(text, "100")
    assert isinstance(verdict, Refuted)
    assert verdict.witness.event == "output 4 or more"
    assert verdict.witness.neighbor_probability.upper == 0
    count, neighbor_count = verdict.witness.replay(2000)
    assert count > 0
    assert neighbor_count == 0


def test_noisy_max_with_discrete_noise_is_proved() -> None:
    assert prove(MAXIMUM, "2/scale", public={"scale": 2}, sizes=[2]).word == "proved"
    assert prove(MAXIMUM, "1/scale", public={"scale": 2}, sizes=[2]).word == "refuted"


def refuted(program: str, claim: str | int) -> Witness:
    verdict = prove(program, claim)
    assert isinstance(verdict, Refuted)
    return verdict.witness


def test_noise_of_another_size_for_a_neighbor_has_no_bound() -> None:
    """No output is impossible, but far out one falls faster than the other."""
    sizes = "def f(x: replaced(1, 2)):\n    return discrete_laplace(x)\n"
    assert analyze(sizes).epsilon.lower == math.inf
    assert analyze(sizes).epsilon_at(Fraction(1, 100)).upper < 4
    witness = refuted(sizes, 3)
    assert 3 < witness.epsilon.lower <= witness.epsilon.upper < 4
    assert witness.event == "output 8"


def test_a_limit_is_the_tight_epsilon() -> None:
    """The ratio of two sums of equal noises comes near to e^(1/scale), and no output reaches it."""
    summed = "def f(x: each(1, whole(0, 1))):\n    return x + discrete_laplace(2) + discrete_laplace(2)\n"
    assert prove(summed, "1/2").word == "proved"
    assert analyze(summed).epsilon == Interval(Fraction(1, 2), Fraction(1, 2))
    witness = refuted(summed, "49/100")
    assert Fraction(49, 100) < witness.epsilon.lower <= witness.epsilon.upper < Fraction(1, 2)
    assert analyze(summed).delta(Fraction(1, 2)).upper < Fraction(1, 10**50)
    closer = refuted(summed, "4999999/10000000")
    assert closer.event == "output -9999998"
    assert Fraction(4999999, 10**7) < closer.epsilon.lower <= closer.epsilon.upper < Fraction(1, 2)
    assert closer.replay(3) == (0, 0)


def test_epsilons_that_no_guarantee_has_are_proved_without_a_certificate() -> None:
    verdict = prove("def f(x: each(1, whole(0, 1))):\n    return 3*x + discrete_laplace(1/1000)\n", 3000)
    assert isinstance(verdict, Proved)
    assert verdict.certificate is None
    assert "2000" in verdict.uncertified


ENTRIES = "def f(q: each(1), epsilon):\n    return [x + laplace(1/epsilon) for x in q]\n"


def test_claims_that_speak_of_the_size_are_held_against_lists_of_that_size() -> None:
    known = {"epsilon": 1}
    assert prove(ENTRIES, "size*epsilon", public=known).word == "unknown"
    assert prove(ENTRIES, "(size - 1/2)*epsilon", public=known).word == "refuted"
    late = "def f(q: each(1)):\n    return sum(q) + laplace(1 if len(q) < 5 else 1/2)\n"
    broken = prove(late, "size")
    assert isinstance(broken, Refuted)
    assert len(broken.witness.inputs["q"]) == 5


def test_longer_lists_than_those_that_are_listed_are_searched() -> None:
    text = "def f(q: anything(0, 1)):\n    return [v if flip(3/4) else 1 - v for v in q]\n"
    worst = prove(text, 1)
    assert isinstance(worst, Refuted)
    assert worst.witness.epsilon.lower > 6
    assert len(worst.witness.inputs["q"]) == 6
    assert prove(text, 7).word == "unknown"
    apart = "def f(q: each(1, whole(5, 6))):\n    return [v if flip(3/4) else 11 - v for v in q]\n"
    found = prove(apart, 1)
    assert isinstance(found, Refuted)
    assert set(found.witness.inputs["q"]) <= {5, 6}


def test_what_the_checker_contradicts_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def contradicting(_: object) -> None:
        raise CertificateInvalid("nodes[0].conclusion.epsilon", "is too small: two neighbouring inputs need more")

    monkeypatch.setattr("privately.proving.certifying.certify", contradicting)
    verdict = prove("def f(x: replaced(0, 1)):\n    return x if flip(1/2) else flip(1/2)\n", "ln(3)")
    assert isinstance(verdict, Unknown)
    assert "contradicts" in verdict.why


def test_lists_of_every_size_are_compared() -> None:
    count = "def count(x: added(1)):\n    return len(x) >= 600\n"
    verdict = prove(count, 0, sizes=range(640))
    assert isinstance(verdict, Refuted)
    assert verdict.witness.epsilon.lower == float("inf")


def test_a_loop_that_never_ends_for_one_value_of_an_open_parameter() -> None:
    """At p = 1/2 one of the two inputs never gives an output."""
    body = "    if x == 1:\n        while flip({}):\n            pass\n    return 0\n"
    text = f"def f(x: replaced(0, 1), p: inside(0, 1)):\n{body}"
    with pytest.raises(NotSupported, match="never ends"):
        prove(text.format("1 - (2*p - 1)**2"), 0)
    assert prove(text.format("1 - p"), 0).word == "proved"


@pytest.mark.parametrize("noise", ["laplace", "discrete_laplace"])
def test_lists_without_entries_are_looked_at(noise: str) -> None:
    """Nobody is told of the first entry, but of the empty list."""
    counted = "    y = len(q) + {}(1)\n    return y if y > 5 else 0\n"
    text = "def f(q: added(0, 1)):\n    if len(q) == 0:\n        return 0\n" + counted.format(noise)
    verdict = prove(text, 5)
    assert isinstance(verdict, Refuted)
    assert verdict.witness.epsilon.lower == float("inf")
    assert () in (verdict.witness.inputs["q"], verdict.witness.neighbor["q"])


def test_what_a_program_cannot_do_with_an_empty_list_is_forgiven() -> None:
    mean = "def f(q: added(between(0, 1))):\n    return sum(q)/len(q) + laplace(1)\n"
    assert isinstance(prove(mean, "2/5"), Refuted)
    assert isinstance(prove(mean, 1), Unknown)


def test_what_entries_are_added_to_is_a_list() -> None:
    """Taken for one number, it would have no neighbour of another length."""
    text = "def f(q: added(0, 1)):\n    if flip():\n        return q\n    return [flip(), flip()]\n"
    verdict = prove(text, 2)
    assert isinstance(verdict, Refuted)
    assert verdict.witness.epsilon.lower == float("inf")
    with pytest.raises(NotSupported, match="is no number"):
        prove("def f(x: added(0, 1)):\n    return x if flip() else x + 1\n", 2)


@pytest.mark.parametrize("noise", ["0", "laplace(1)"])
def test_an_input_that_cannot_change_stands_beside_one_that_can(noise: str) -> None:
    text = f"def f(x: replaced(0, 1), y: replaced(2)):\n    return 3 * sum(x) + y + {noise}\n"
    witness = getattr(prove(text, 2), "witness", None)
    assert witness is not None
    assert witness.inputs["y"] == witness.neighbor["y"] == 2


def test_a_list_without_entries_stands_in_the_way_of_no_claim_about_sizes() -> None:
    text = "def f(x: replaced(0, 1)):\n    return sum(x) + discrete_laplace(1)\n"
    assert prove(text, "size", sizes=range(3)).word == "proved"
    with pytest.raises(NotSupported, match="no two neighbours"):
        prove(text, "size", sizes=[0])


@pytest.mark.parametrize("body", ["y = uniform(1000000)", "y = uniform_bits(17)"])
def test_too_many_outcomes_are_no_fault_of_the_program(body: str) -> None:
    text = f"def f(x: replaced(0, 1)):\n    {body}\n    return 0\n"
    assert prove(text, 1).word == "unknown"
    with pytest.raises(NotFinite, match="too many to list"):
        _ = analyze(text).epsilon
