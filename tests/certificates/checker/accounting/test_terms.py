"""What an event becomes, law by law."""

from typing import Any

import mpmath
import pytest

from privately.certificates.checker.accounting.events import read_event
from privately.certificates.checker.accounting.numbers import near
from privately.certificates.checker.accounting.profiles import profile
from privately.certificates.checker.accounting.terms import REVEALED, Law, Terms, alternatives, flatten, ordered
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import enclosing, law
from tests.certificates.checker.building import REPLACE, ROW, Plain, mpf, rational


def leaf(kind: str, neighbors: Plain = ROW, **fields: Any) -> Plain:
    return {"kind": kind, "neighbors": neighbors, **fields}


def pure(epsilon: str, neighbors: Plain = ROW) -> Plain:
    return leaf("Pure", neighbors, epsilon=epsilon)


def gaussian(multiplier: str) -> Plain:
    return leaf("Gaussian", noise_multiplier=multiplier)


def repeat(event: Plain, times: int) -> Plain:
    return {"kind": "Repeat", "event": event, "times": times}


def sequence(*events: Plain) -> Plain:
    return {"kind": "Sequence", "events": list(events)}


def poisson(event: Plain, rate: str) -> Plain:
    return {"kind": "PoissonSample", "event": event, "rate": rate}


def fixed(event: Plain, size: int, population: int) -> Plain:
    return {"kind": "FixedSizeSample", "event": event, "size": size, "population": population}


def group(event: Plain, size: int) -> Plain:
    return {"kind": "Group", "event": event, "size": size}


def flat(event: Plain) -> Terms:
    return flatten(read_event(event, "event"), Work())


LEAVES: list[tuple[Plain, Law | None]] = [
    (gaussian("1/2"), law("normal", 4)),
    (gaussian("0"), REVEALED),
    (leaf("GaussianDP", mu="3"), law("normal", 9)),
    (leaf("GaussianDP", mu="0"), None),
    (leaf("Laplace", scale="4"), law("laplace", "1/4")),
    (leaf("Laplace", scale="0"), REVEALED),
    (leaf("DiscreteLaplace", scale="4", sensitivity=3), law("discrete laplace", 4, 3)),
    (leaf("DiscreteLaplace", scale="4", sensitivity=1), law("response", "1/4", 2, 0)),
    (leaf("DiscreteLaplace", scale="4", sensitivity=1001), law("response", "1001/4", 2, 0)),
    (leaf("DiscreteLaplace", scale="0", sensitivity=3), REVEALED),
    (leaf("DiscreteGaussian", variance="4", sensitivity=3), law("discrete normal", 4, 3)),
    (leaf("DiscreteGaussian", variance="0", sensitivity=3), REVEALED),
    (leaf("RandomizedResponse", epsilon="1", categories=5), law("response", 1, 5, 0)),
    (leaf("RandomizedResponse", epsilon="0", categories=5), None),
    (pure("2"), law("response", 2, 2, 0)),
    (pure("0"), None),
    (leaf("Approx", epsilon="0", delta="1/9"), law("response", 0, 2, "1/9")),
    (leaf("Approx", epsilon="0", delta="0"), None),
    (leaf("Exponential", epsilon="1"), law("range", 1)),
    (leaf("ZCDP", rho="1"), law("concentrated", 1)),
    (leaf("Renyi", bounds=[["2", "1"], ["3", "4"]]), law("renyi", 2, 1, 3, 4)),
    (leaf("Renyi", bounds=[["2", "1"], ["3", "0"]]), None),
]


@pytest.mark.parametrize(("event", "expected"), LEAVES)
def test_leaves(event: Plain, expected: Law | None) -> None:
    assert flat(event) == ({} if expected is None else {expected: 1})


def test_runs_are_counted() -> None:
    event = sequence(repeat(sequence(pure("1"), gaussian("1"), pure("1")), 5), pure("1"), repeat(pure("3"), 0))
    assert flat(event) == {law("response", 1, 2, 0): 11, law("normal", 1): 5}


GROUPS: list[tuple[Plain, Law]] = [
    (gaussian("1/2"), law("normal", 36)),
    (gaussian("0"), REVEALED),
    (leaf("Laplace", scale="4"), law("laplace", "3/4")),
    (leaf("Exponential", epsilon="1"), law("range", 3)),
    (leaf("ZCDP", rho="1"), law("concentrated", 9)),
    (leaf("DiscreteGaussian", variance="4", sensitivity=2), law("discrete normal", 4, 6)),
    (leaf("DiscreteLaplace", scale="4", sensitivity=2), law("discrete laplace", 4, 6)),
    (pure("1"), law("discrete laplace", 1, 3)),
    (leaf("Renyi", bounds=[["2", "1"]]), enclosing("group", [{law("renyi", 2, 1): 1}], 3)),
    (poisson(gaussian("1"), "1/2"), enclosing("group", [{law("sampled normal", 1, "1/2"): 1}], 3)),
]


@pytest.mark.parametrize(("event", "expected"), GROUPS)
def test_groups(event: Plain, expected: Law) -> None:
    assert flat(group(repeat(event, 7), 3)) == {expected: 7}
    assert flat(group(event, 1)) == flat(event)


def test_groups_of_responses() -> None:
    """Each answer is one more; what may reveal everything does so more often."""
    for categories in (2, 5):
        answers = leaf("RandomizedResponse", epsilon="1", categories=categories)
        one = law("response", 1, categories, 0)
        assert flat(group(answers, 3)) == {one: 3}
        assert flat(group(repeat(group(sequence(answers, answers), 2), 5), 3)) == {one: 60}
    ((found, times),) = flat(group(leaf("Approx", epsilon="1", delta="1/1000"), 3)).items()
    assert (found.name, found.number(0), times) == ("response", rational(3), 1)
    true = (1 + mpmath.exp(1) + mpmath.exp(2)) / 1000
    assert true < mpf(found.number(2)) < true * (1 + mpmath.mpf(10) ** -15)
    assert flat(group(leaf("Approx", epsilon="1", delta="1/9"), 9)) == {law("response", 9, 2, 1): 1}
    assert flat(group(leaf("Approx", epsilon="0", delta="1/9"), 3)) == {law("response", 0, 2, "1/3"): 1}


def test_groups_of_answers_that_may_be_anything() -> None:
    """Where it is not known that a law is the answers of single people, it is as bad as its epsilon allows."""
    two, five = (leaf("RandomizedResponse", epsilon="1", categories=many) for many in (2, 5))
    assert flat(group(poisson(two, "1"), 3)) == flat(group(pure("1"), 3)) == {law("discrete laplace", 1, 3): 1}
    assert flat(group(repeat(poisson(five, "1"), 7), 3)) == {law("response", 1, 5, 0): 21}
    assert flat(group(poisson(repeat(two, 7), "1"), 3)) == {law("discrete laplace", 1, 3): 7}
    both = sequence(two, pure("1"))
    assert flat(group(both, 3)) == {law("response", 1, 2, 0): 3, law("discrete laplace", 1, 3): 1}
    twice = group(group(leaf("Renyi", bounds=[["2", "1"]]), 2), 3)
    assert flat(twice) == {enclosing("group", [{law("renyi", 2, 1): 1}], 6): 1}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (poisson(gaussian("1/2"), "1/10"), law("sampled normal", 4, "1/10")),
        (poisson(repeat(gaussian("1/2"), 3), "1/10"), law("sampled normal", 12, "1/10")),
        (poisson(sequence(gaussian("1/2"), leaf("GaussianDP", mu="1")), "1/10"), law("sampled normal", 5, "1/10")),
        (poisson(poisson(gaussian("1/2"), "1/10"), "1/2"), law("sampled normal", 4, "1/20")),
        (poisson(pure("1"), "1/10"), law("sampled response", 1, 2, 0, "1/10")),
        (poisson(poisson(pure("1"), "1/10"), "1/2"), law("sampled response", 1, 2, 0, "1/20")),
        (poisson(leaf("Laplace", scale="4"), "1/10"), law("sampled laplace", "1/4", "1/10")),
        (poisson(leaf("Exponential", epsilon="1"), "1/10"), law("sampled range", 1, "1/10")),
        (poisson(gaussian("0"), "1/10"), law("sampled response", 0, 2, 1, "1/10")),
        (poisson(sequence(pure("1"), gaussian("0")), "1/10"), law("sampled response", 0, 2, 1, "1/10")),
        (
            poisson(leaf("RandomizedResponse", epsilon="1", categories=5), "1/10"),
            law("sampled response", 1, 5, 0, "1/10"),
        ),
        (
            poisson(repeat(leaf("Approx", epsilon="1", delta="1/9"), 3), "1/10"),
            enclosing("sampled mix", [{law("response", 1, 2, "1/9"): 3}], "1/10"),
        ),
        (
            poisson(sequence(pure("1"), gaussian("1")), "1/2"),
            enclosing("sampled mix", [{law("normal", 1): 1, law("response", 1, 2, 0): 1}], "1/2"),
        ),
        (
            poisson(poisson(leaf("ZCDP", rho="1"), "1/2"), "1/2"),
            enclosing("sampled mix", [{law("concentrated", 1): 1}], "1/4"),
        ),
        (
            poisson(leaf("DiscreteGaussian", variance="4", sensitivity=3), "1/2"),
            law("sampled discrete normal", 4, 3, "1/2"),
        ),
        (fixed(leaf("Gaussian", REPLACE, noise_multiplier="1"), 1, 2), law("glued normal", 1, "1/2")),
        (fixed(repeat(pure("1", REPLACE), 2), 1, 2), enclosing("glued mix", [{law("response", 1, 2, 0): 2}], "1/2")),
        (fixed(pure("1", REPLACE), 2, 10), law("glued response", 1, 2, 0, "1/5")),
    ],
)
def test_samples(event: Plain, expected: Law) -> None:
    assert flat(event) == {expected: 1}


def test_samples_of_all_or_nothing() -> None:
    both = sequence(pure("1"), gaussian("1"))
    assert flat(poisson(both, "1")) == flat(both)
    assert flat(poisson(both, "0")) == {}
    assert flat(poisson(pure("0"), "1/2")) == {}
    assert flat(fixed(pure("1", REPLACE), 3, 3)) == flat(pure("1"))


def test_parallel() -> None:
    both = {"kind": "Parallel", "events": [pure("1"), gaussian("1"), pure("1")]}
    found = alternatives(read_event(both, "event"), Work())
    assert found == [{law("response", 1, 2, 0): 1}, {law("normal", 1): 1}]
    same = {"kind": "Parallel", "events": [pure("1"), pure("1")]}
    assert flat(repeat(same, 2)) == {law("response", 1, 2, 0): 2}
    inside = {"kind": "Parallel", "events": [gaussian("1"), pure("1"), pure("1")]}
    worst = [{law("normal", 1): 1}, {law("response", 1, 2, 0): 1}]
    assert flat(repeat(inside, 2)) == {enclosing("worst", worst): 2}
    sampled = alternatives(read_event(poisson(inside, "1/3"), "event"), Work())
    assert sampled == [{law("sampled normal", 1, "1/3"): 1}, {law("sampled response", 1, 2, 0, "1/3"): 1}]
    assert flat(repeat(poisson(inside, "1/3"), 2)) == {enclosing("worst", sampled): 2}
    many = {"kind": "Parallel", "events": [repeat(pure(str(i)), 102 - i) for i in range(1, 102)]}
    with pytest.raises(Invalid, match="more than 100"):
        alternatives(read_event(many, "event"), Work())


def covered(*parts: Plain) -> list[Terms]:
    return alternatives(read_event({"kind": "Parallel", "events": list(parts)}, "event"), Work())


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (gaussian("1"), gaussian("2")),
        (leaf("Laplace", scale="1"), leaf("Laplace", scale="2")),
        (pure("2"), pure("1")),
        (leaf("Exponential", epsilon="2"), leaf("Exponential", epsilon="1")),
        (leaf("ZCDP", rho="2"), leaf("ZCDP", rho="1")),
        (repeat(pure("1"), 3), repeat(pure("1"), 2)),
        (poisson(gaussian("1"), "1/2"), poisson(gaussian("2"), "1/3")),
        (poisson(leaf("ZCDP", rho="1"), "1/2"), poisson(leaf("ZCDP", rho="1"), "1/3")),
        (sequence(pure("2"), gaussian("1")), sequence(pure("1"), gaussian("2"))),
    ],
)
def test_parts_that_another_one_covers_are_left_out(more: Plain, less: Plain) -> None:
    expected = [flat(more)]
    assert covered(more, less) == covered(less, more) == covered(less, less, more) == expected


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(
    ("more", "less"),
    [
        (law("normal", 2), law("normal", 1)),
        (law("laplace", 2), law("laplace", 1)),
        (law("range", 2), law("range", 1)),
        (law("response", 2, 5, "1/9"), law("response", 1, 5, "1/9")),
        (law("sampled normal", 2, "1/2"), law("sampled normal", 1, "1/3")),
        (law("sampled response", 2, 5, "1/9", "1/2"), law("sampled response", 1, 5, "1/9", "1/3")),
    ],
)
def test_what_covers_another_has_a_larger_profile(more: Law, less: Law, *, removes: bool) -> None:
    for ratio in ("1/10", "1/2", "9/10", "1", "10/9", "2", "5"):
        large, small = (profile(one, near(rational(ratio)), removes=removes) for one in (more, less))
        assert large.upper_end() >= small.lower_end()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (gaussian("1"), leaf("Laplace", scale="2")),
        (leaf("DiscreteGaussian", variance="4", sensitivity=2), leaf("DiscreteGaussian", variance="3", sensitivity=2)),
        (leaf("DiscreteLaplace", scale="4", sensitivity=2), leaf("DiscreteLaplace", scale="3", sensitivity=2)),
        (leaf("Renyi", bounds=[["3", "1"]]), leaf("Renyi", bounds=[["2", "1"]])),
        (pure("1"), leaf("Approx", epsilon="1/2", delta="1/9")),
        (leaf("Approx", epsilon="2", delta="1/9"), leaf("Approx", epsilon="1", delta="1/8")),
        (pure("2"), leaf("RandomizedResponse", epsilon="1", categories=5)),
        (repeat(pure("1"), 3), repeat(pure("2"), 2)),
        (repeat(pure("1"), 3), sequence(repeat(pure("1"), 3), gaussian("9"))),
        (gaussian("9"), sequence(pure("1"), gaussian("9"))),
        (poisson(gaussian("1"), "1/3"), poisson(gaussian("2"), "1/2")),
        (poisson(gaussian("1"), "1/3"), gaussian("2")),
        (poisson(leaf("ZCDP", rho="1"), "1/2"), poisson(leaf("ZCDP", rho="2"), "1/3")),
        (sequence(pure("2"), gaussian("2")), sequence(pure("1"), gaussian("1"))),
    ],
)
def test_parts_that_do_not_cover_each_other_are_kept(one: Plain, other: Plain) -> None:
    assert covered(one, other) == [flat(one), flat(other)]
    assert covered(other, one) == [flat(other), flat(one)]


def test_which_laws_have_two_directions() -> None:
    sampled = law("sampled normal", 1, "1/2")
    assert sampled.is_directed
    assert enclosing("worst", [{law("normal", 1): 1}, {sampled: 2}]).is_directed
    assert not enclosing("worst", [{law("normal", 1): 1}]).is_directed
    assert not enclosing("group", [{sampled: 1}], 2).is_directed
    assert not enclosing("glued mix", [{sampled: 1}], "1/2").is_directed


def test_the_order_of_laws_inside_of_others() -> None:
    first, second = ({law("response", one, 2, 0): 2} for one in (1, 2))
    terms = {enclosing("sampled mix", [second], "1/2"): 1, enclosing("sampled mix", [first], "1/2"): 1}
    assert [found.inner[0] for found, _ in ordered(terms)] == [tuple(first.items()), tuple(second.items())]
