"""Each method: what it accepts, what it refuses, how its witness is read."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.certificates.checker.accounting.methods import METHODS, Question, answer, read_witness
from privately.certificates.checker.accounting.moments import Moments
from privately.certificates.checker.accounting.terms import REVEALED, Terms
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import binomial_profile, enclosing, high, law, normal_profile
from tests.certificates.checker.building import Number, Plain, down, mpf, rational, up

GRID: Plain = {"spacing": "1/8", "first": -96, "last": 128, "strip": "2", "height": "1/8"}
WITNESSES: dict[str, Plain] = {
    "gaussian": {"method": "gaussian", "mu": "2"},
    "pure": {"method": "pure"},
    "laplace": {"method": "laplace"},
    "steps": {"method": "steps"},
    "contour": {"method": "contour", "c": "1", "step": "1/4", "count": 900, "blur": "1/100", "grids": []},
    "renyi": {"method": "renyi", "order": "5", "grids": [GRID]},
    "cells": {"method": "cells", "step": "1/100", "cells": 500, "firsts": [-3]},
    "unsampled": {"method": "unsampled", "bound": {"method": "gaussian", "mu": "2"}},
    "base": {"method": "base", "bound": {"method": "gaussian", "mu": "2"}},
    "smaller": {"method": "smaller", "epsilon": "1", "bound": {"method": "pure"}},
    "mixed": {
        "method": "mixed",
        "bases": [{"step": "1/50", "cells": 1000, "firsts": [-50], "top": "3", "small": "1/1000000000000"}],
        "bound": {"method": "cells", "step": "1/200", "cells": 1000, "firsts": [-25]},
    },
}


def ask(terms: Terms, epsilon: Number, delta: Number, witness: Plain, *, removes: bool = True) -> None:
    question = Question(terms, rational(epsilon), rational(delta), removes=removes, work=Work())
    answer(question, read_witness(witness, "witness"))


def refused(terms: Terms, epsilon: Number, delta: Number, witness: Plain, *, removes: bool = True) -> str:
    with pytest.raises(Invalid) as caught:
        ask(terms, epsilon, delta, witness, removes=removes)
    return caught.value.field


def test_gaussian() -> None:
    terms = {law("normal", 1): 3, law("normal", "1/2"): 2}
    exact = normal_profile(4, 3)
    ask(terms, 3, up(exact), WITNESSES["gaussian"])
    assert refused(terms, 3, down(exact), WITNESSES["gaussian"]) == "conclusion.delta"
    assert refused(terms, 3, 1, {**WITNESSES["gaussian"], "mu": "199/100"}) == "witness.mu"
    assert refused({**terms, law("laplace", 1): 1}, 3, 1, WITNESSES["gaussian"]) == "witness.method"
    ask({}, 0, 0, {**WITNESSES["gaussian"], "mu": "0"})
    ask(terms, 500, "1e-1000", WITNESSES["gaussian"])
    assert refused(terms, 500, 0, WITNESSES["gaussian"]) == "conclusion.delta"
    # Far above mu in units of mu, but half of all losses are larger.
    assert refused({law("normal", 300**2): 1}, 45_000, "1/4", {**WITNESSES["gaussian"], "mu": "300"})


def test_pure() -> None:
    terms = {law("laplace", "1/3"): 2, law("response", 1, 5, 0): 3, law("range", 1): 1}
    ask(terms, "14/3", 0, WITNESSES["pure"])
    assert refused(terms, "4666/1000", 0, WITNESSES["pure"]) == "conclusion.epsilon"
    assert refused({law("normal", 1): 1}, 100, "1/2", WITNESSES["pure"]) == "witness"
    failing = {law("response", 1, 2, "1/10"): 2}
    ask(failing, 2, "1901/10000", WITNESSES["pure"])
    assert refused(failing, 2, "1899/10000", WITNESSES["pure"]) == "conclusion.delta"
    assert refused({REVEALED: 1}, 100, "1/2", WITNESSES["pure"]) == "conclusion.delta"
    sampled = {law("sampled normal", 100, "1/2"): 3}
    ask(sampled, up(3 * mpmath.log(2)), 0, WITNESSES["pure"], removes=False)
    assert refused(sampled, down(3 * mpmath.log(2)), 0, WITNESSES["pure"], removes=False) == "conclusion.epsilon"
    removed = {law("sampled response", 2, 2, 0, "1/2"): 3}
    most = 3 * mpmath.log((1 + mpmath.exp(2)) / 2)
    ask(removed, up(most), 0, WITNESSES["pure"])
    assert refused(removed, down(most), 0, WITNESSES["pure"]) == "conclusion.epsilon"
    often = {law("response", 0, 2, "1e-9"): 10**6}  # (1 - delta)^times is too long to be written down
    ask(often, 0, "1/1000", WITNESSES["pure"])
    assert refused(often, 0, "999/1000000", WITNESSES["pure"]) == "conclusion.delta"


def test_laplace() -> None:
    terms = {law("laplace", 2): 1}
    exact = -mpmath.expm1(mpf("-1/2"))
    ask(terms, 1, up(exact), WITNESSES["laplace"])
    assert refused(terms, 1, down(exact), WITNESSES["laplace"]) == "conclusion.delta"
    ask(terms, 2, 0, WITNESSES["laplace"])
    for wrong in ({}, {law("laplace", 2): 2}, {law("laplace", 2): 1, law("laplace", 1): 1}, {law("normal", 2): 1}):
        assert refused(wrong, 9, "1/2", WITNESSES["laplace"]) == "witness.method"


def step_profile(mu_squared: Number, rate: Number, at: mpmath.mpf, *, removes: bool) -> mpmath.mpf:
    """delta of one sampled step, from where the likelihood ratio passes e^at, on either side."""
    mu, q, alpha = mpmath.sqrt(mpf(mu_squared)), mpf(rate), mpmath.exp(at)
    odds = (alpha - 1 + q) / q if removes else (1 / alpha - 1 + q) / q
    if odds <= 0:
        return mpmath.mpf(0)
    place = (mpmath.log(odds) + mu * mu / 2) / mu
    beyond, shifted = (mpmath.erfc(x / mpmath.sqrt(2)) / 2 for x in (place, place - mu))
    if removes:
        return (1 - q) * beyond + q * shifted - alpha * beyond
    return 1 - beyond - alpha * ((1 - q) * (1 - beyond) + q * (1 - shifted))


@pytest.mark.parametrize("removes", [True, False])
def test_steps(*, removes: bool) -> None:
    """One step exactly; several by as many times the delta of their part."""
    with mpmath.workdps(60):
        for mu_squared, rate, times, epsilon in (
            (1, "1/100", 1, "1/200"),
            (4, "1/3", 7, "7/5"),
            ("1/400", "1/1000", 30, 0),
        ):
            terms = {law("sampled normal", mu_squared, rate): times}
            exact = times * step_profile(mu_squared, rate, mpf(epsilon) / times, removes=removes)
            assert exact > 0
            ask(terms, epsilon, up(exact), WITNESSES["steps"], removes=removes)
            assert refused(terms, epsilon, down(exact), WITNESSES["steps"], removes=removes) == "conclusion.delta"
    sampled = law("sampled normal", 1, "1/2")
    ask({sampled: 2}, 5000, "1e-1000", WITNESSES["steps"], removes=removes)
    if not removes:
        ask({sampled: 2}, 2, 0, WITNESSES["steps"], removes=removes)
    for wrong in ({}, {sampled: 1, law("sampled normal", 2, "1/2"): 1}, {law("normal", 2): 1}, {REVEALED: 1}):
        assert refused(wrong, 9, "1/2", WITNESSES["steps"], removes=removes) == "witness.method"


def test_contour() -> None:
    terms = {law("response", "1/3", 2, 0): 60}
    exact = binomial_profile("1/3", 60, 3)
    ask(terms, 3, up(exact * mpf("101/100")), WITNESSES["contour"])
    assert refused(terms, 3, down(exact), WITNESSES["contour"]) == "conclusion.delta"
    failing = {law("response", "1/3", 2, "1/1000"): 60}
    more = 1 - mpf("999/1000") ** 60 * (1 - exact * mpf("101/100"))
    ask(failing, 3, up(more), WITNESSES["contour"])
    assert (
        refused(failing, 3, down(1 - mpf("999/1000") ** 60 * (1 - exact)), WITNESSES["contour"]) == "conclusion.delta"
    )


def test_contour_of_noise_that_is_not_listed() -> None:
    """No loss that is listed is above 20; those that are not have more than this delta."""
    terms = {law("discrete normal", 2, 1): 3}
    witness = {**WITNESSES["contour"], "c": "400", "count": 10, "blur": "0"}
    ask(terms, 60, "1e-139", witness)
    assert refused(terms, 60, "1e-140", witness) == "conclusion.delta"


def test_renyi() -> None:
    c = mpf(4)
    terms = {law("concentrated", "1/50"): 2, law("normal", "1/10"): 1, law("range", "1/5"): 3}
    bounded = high(Moments(Work()).of(law("range", "1/5"), rational(4), removes=True))
    assert bounded < 20 * mpf("1/200")
    k = 20 * mpf("1/25") + 20 * mpf("1/20") + 3 * bounded
    exact = mpmath.exp(k - 4 * 3) * c**4 / 5**5
    witness = {**WITNESSES["renyi"], "grids": []}
    ask(terms, 3, up(exact), witness)
    assert refused(terms, 3, down(exact), witness) == "conclusion.delta"
    sampled = {**terms, law("sampled normal", 1, "1/100"): 5}
    assert refused(sampled, 3, up(exact), WITNESSES["renyi"]) == "conclusion.delta"
    ask(sampled, 3, up(exact * 2), WITNESSES["renyi"])
    assert refused(sampled, 3, 1, witness) == "witness.grids"


@pytest.mark.parametrize("removes", [True, False])
def test_renyi_of_samples_is_about_one_direction(*, removes: bool) -> None:
    mix = enclosing("sampled mix", [{law("concentrated", 1): 1}], "1/3")
    one, other = (high(Moments(Work()).of(mix, rational(4), removes=way)) for way in (removes, not removes))
    assert abs(one - other) > mpf("1/100")
    exact = mpmath.exp(2 * one - 4 * 3) * mpf(4) ** 4 / 5**5
    witness = {**WITNESSES["renyi"], "grids": []}
    ask({mix: 2}, 3, up(exact), witness, removes=removes)
    assert refused({mix: 2}, 3, down(exact), witness, removes=removes) == "conclusion.delta"


def test_cells() -> None:
    """Two sampled steps, against their integral; two numbers of the witness that show less."""
    terms = {law("sampled normal", 1, "1/50"): 2}
    witness = WITNESSES["cells"]
    with mpmath.workdps(30):
        ask(terms, "3/20", "2/1000", witness)
        one = step_profile(1, "1/50", mpf("3/20"), removes=True)
        assert refused(terms, "3/20", down(2 * one * mpf("1/2")), witness) == "conclusion.delta"
    assert refused({**terms, law("concentrated", 1): 1}, 1, "1/2", {**witness, "firsts": [-3, -3]}) == "witness.method"
    assert refused(terms, "3/20", "2/1000", {**witness, "firsts": [-3, -3]}) == "witness.firsts"
    assert refused(terms, "3/20", "2/1000", {**witness, "step": "3"})
    assert refused(terms, "3/20", "2/1000", {**witness, "firsts": [20]})


def test_unsampled() -> None:
    """A sample costs what it is a sample of, at most: mu^2 of all, sampled or not, and neither direction more."""
    terms = {law("sampled normal", 1, "999/1000"): 3, law("normal", 1): 1}
    exact = normal_profile(4, 3)
    for removes in (True, False):
        ask(terms, 3, up(exact), WITNESSES["unsampled"], removes=removes)
        assert refused(terms, 3, down(exact), WITNESSES["unsampled"], removes=removes) == "conclusion.delta"
    assert refused({**terms, law("normal", 2): 1}, 3, up(exact), WITNESSES["unsampled"]) == "witness.mu"
    inner = {"method": "unsampled", "bound": WITNESSES["unsampled"]}
    with pytest.raises(Invalid, match="method"):
        read_witness(inner, "witness")
    shared = {law("sampled laplace", 1, "1/2"): 1, law("sampled response", 1, 2, 0, "1/2"): 1}
    ask(shared, 2, 0, {"method": "unsampled", "bound": {"method": "pure"}})
    assert refused(shared, "19/10", 0, {"method": "unsampled", "bound": {"method": "pure"}}) == "conclusion.epsilon"
    mix = {enclosing("sampled mix", [{law("response", 1, 2, 0): 3}], "1/2"): 2}
    ask(mix, 6, 0, {"method": "unsampled", "bound": {"method": "pure"}})
    assert refused(mix, "59/10", 0, {"method": "unsampled", "bound": {"method": "pure"}}) == "conclusion.epsilon"
    samples = {enclosing("sampled mix", [{law("sampled laplace", 1, "1/2"): 3}], "1/2"): 2}
    assert refused(samples, 6, 0, {"method": "unsampled", "bound": {"method": "pure"}}) == "witness.method"


@pytest.mark.parametrize("removes", [True, False])
def test_base(*, removes: bool) -> None:
    """One sample is known exactly by what is sampled: here by that of a sampled normal law in closed form."""
    terms = {law("sampled normal", 4, "1/10"): 1}
    epsilon = "1/5" if removes else "1/20"
    with mpmath.workdps(60):
        exact = step_profile(4, "1/10", mpf(epsilon), removes=removes)
        assert exact > 0
        ask(terms, epsilon, up(exact), WITNESSES["base"], removes=removes)
        assert refused(terms, epsilon, down(exact), WITNESSES["base"], removes=removes) == "conclusion.delta"
    for wrong in ({}, {law("sampled normal", 4, "1/10"): 2}, {**terms, law("normal", 1): 1}, {law("normal", 4): 1}):
        assert refused(wrong, 1, "1/20", WITNESSES["base"], removes=removes) == "witness.method"
    directed = enclosing("glued mix", [{law("sampled laplace", 4, "1/10"): 2}], "1/10")
    assert refused({directed: 1}, 9, "1/20", {"method": "base", "bound": {"method": "pure"}}) == "witness.method"
    glued = {law("glued normal", 4, "1/10"): 1}
    with mpmath.workdps(60):
        both_ways = step_profile(4, "1/10", mpf("1/5"), removes=True)
        ask(glued, "1/5", up(both_ways), WITNESSES["base"], removes=removes)
        assert refused(glued, "1/5", down(both_ways), WITNESSES["base"], removes=removes) == "conclusion.delta"


@pytest.mark.parametrize("removes", [True, False])
def test_base_is_rounded_to_the_safe_side(*, removes: bool) -> None:
    """An epsilon that is too small by less than the checker's own numbers tell apart."""
    response, witness = {law("sampled response", 2, 2, 0, "1/2"): 1}, {"method": "base", "bound": {"method": "pure"}}
    with mpmath.workprec(320):
        truth = mpmath.log((1 + mpmath.exp(2)) / 2) if removes else -mpmath.log((1 + mpmath.exp(-2)) / 2)
        ask(response, _below(truth, 2**200) + Fraction(2, 2**200), 0, witness, removes=removes)
        refused(response, _below(truth, 2**270), 0, witness, removes=removes)
        if not removes:
            last = _below(mpmath.log(2), 2**270)
            refused({law("sampled normal", 1, "1/2"): 1}, last, 0, WITNESSES["base"], removes=removes)


def _below(value: mpmath.mpf, parts: int) -> Fraction:
    return Fraction(int(mpmath.floor(value * parts)), parts)


def test_smaller() -> None:
    terms = {law("response", 1, 2, 0): 1}
    ask(terms, 2, 0, WITNESSES["smaller"])
    assert refused(terms, "1/2", "1/2", WITNESSES["smaller"]) == "conclusion.epsilon"
    assert refused(terms, 2, 0, {**WITNESSES["smaller"], "epsilon": "9/10"}) == "conclusion.epsilon"
    with pytest.raises(Invalid, match="method"):
        read_witness({**WITNESSES["smaller"], "bound": WITNESSES["smaller"]}, "witness")


@pytest.mark.parametrize("removes", [True, False])
def test_mixed(*, removes: bool) -> None:
    """Two responses on a sample, twice: not below the exact sum over all outcomes, and near it."""
    terms = {enclosing("sampled mix", [{law("response", "1/2", 2, 0): 2}], "1/5"): 2}
    witness, epsilon = WITNESSES["mixed"], mpf("1/10")
    t, q = mpmath.exp(mpf("1/2")), mpf("1/5")
    pair = [(t * t, 1), (t, t), (t, t), (1, t * t)]
    one = [(p / (1 + t) ** 2, s / (1 + t) ** 2) for p, s in pair]
    mixed = [((1 - q) * s + q * p, s) if removes else (p, (1 - q) * p + q * s) for p, s in one]
    exact = mpmath.fsum(max(p * r - mpmath.exp(epsilon) * s * u, 0) for p, s in mixed for r, u in mixed)
    ask(terms, "1/10", up(exact * mpf("104/100")), witness, removes=removes)
    assert refused(terms, "1/10", down(exact), witness, removes=removes) == "conclusion.delta"
    assert refused(terms, "1/10", "1/2", {**witness, "bases": []}, removes=removes) == "witness.bases"
    assert refused(terms, "1/10", "1/2", {**witness, "bases": witness["bases"] * 2}, removes=removes) == "witness.bases"
    for change in ({"firsts": [20]}, {"step": "2"}, {"cells": 2}, {"top": "1/10"}):
        worse = {**witness, "bases": [{**witness["bases"][0], **change}]}
        refused(terms, "1/10", up(exact * mpf("104/100")), worse, removes=removes)
    assert refused(terms, "1/10", "1/2", witness["bound"], removes=removes) == "witness.method"


@pytest.mark.parametrize("name", ["step", "cells", "firsts", "top", "small"])
def test_layouts_are_read_strictly(name: str) -> None:
    (layout,) = WITNESSES["mixed"]["bases"]
    for value in (None, True, 1.5, "-1", "x", "0", 10**6, [10**10]):
        with pytest.raises(Invalid, match="bases"):
            read_witness({**WITNESSES["mixed"], "bases": [{**layout, name: value}]}, "witness")


@pytest.mark.parametrize("method", METHODS)
def test_witnesses_are_read_strictly(method: str) -> None:
    good = WITNESSES[method]
    assert read_witness(good, "witness")["method"] == method
    wrong: list[Any] = [None, True, 1.5, -1, "-1", "x", {}, [1], "1/" + str(2**5000), [{**GRID, "extra": 1}]]
    for name in good:
        with pytest.raises(Invalid, match="witness"):
            read_witness({other: value for other, value in good.items() if other != name}, "witness")
        for value in wrong:
            if name == "firsts" and value == [1]:
                continue
            with pytest.raises(Invalid, match="witness"):
                read_witness({**good, name: value}, "witness")
    with pytest.raises(Invalid):
        read_witness({**good, "extra": 1}, "witness")


@pytest.mark.parametrize("name", GRID)
def test_grids_are_read_strictly(name: str) -> None:
    for value in (None, True, 1.5, "-1", "x", 10**6, -(10**6), "0"):
        if name == "height" and value == "0":
            continue
        with pytest.raises(Invalid, match="grids"):
            read_witness({**WITNESSES["renyi"], "grids": [{**GRID, name: value}]}, "witness")
    with pytest.raises(Invalid, match="last"):
        read_witness({**WITNESSES["renyi"], "grids": [{**GRID, "last": -97}]}, "witness")


def test_limits() -> None:
    for change in ({"count": 100_001}, {"count": 0}, {"c": "0"}, {"step": "0"}, {"c": str(2**128)}):
        with pytest.raises(Invalid):
            read_witness({**WITNESSES["contour"], **change}, "witness")
    with pytest.raises(Invalid):
        read_witness({**WITNESSES["renyi"], "order": "1"}, "witness")
    lists: list[Plain] = [{"cells": 1}, {"cells": 20_001}, {"step": "0"}, {"firsts": [10**10]}, {"firsts": [-(10**10)]}]
    for less in lists:
        with pytest.raises(Invalid):
            read_witness({**WITNESSES["cells"], **less}, "witness")
