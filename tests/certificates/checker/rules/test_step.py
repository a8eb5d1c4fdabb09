import pytest

from privately.certificates.checker.intervals import Interval, whole
from privately.certificates.checker.rules.step import (
    Step,
    read_above_zero,
    read_boolean,
    read_choice,
    read_counts,
    read_multiples,
    read_not_negative,
    read_positive,
    read_rational,
    read_several,
    read_text,
)
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.statements import read_statement
from privately.certificates.checker.work import Work
from tests.certificates.checker.building import rational, statement


def step(delta: str = "1/2") -> Step:
    claim = read_statement(statement("ApproxDP", epsilon=1, delta=delta))
    premise = read_statement(statement("PureDP", epsilon=1))
    return Step(claim, [premise, premise], {"counts": [1, 2]}, {}, Work())


def never(bits: int) -> Interval:
    raise AssertionError(f"{bits} bits asked for")


def test_kinds() -> None:
    assert step().only_premise("ZCDP", "PureDP").kind == "PureDP"
    with pytest.raises(Invalid, match=r"premises\[0\]: is PureDP, but the rule needs ZCDP or RenyiDP"):
        step().only_premise("ZCDP", "RenyiDP")
    step().claim_must_be("ApproxDP")
    with pytest.raises(Invalid, match=r"conclusion\.kind: is ApproxDP, but the rule gives PureDP"):
        step().claim_must_be("PureDP")


def test_counts() -> None:
    assert step().counts() == [1, 2]
    with pytest.raises(Invalid, match="one count for each"):
        step()._replace(parameters={"counts": [1]}).counts()


def test_numbers() -> None:
    step().require_number("epsilon", rational(1))
    with pytest.raises(Invalid, match=r"conclusion\.epsilon: claims 1, but the rule gives 1\.001"):
        step().require_number("epsilon", rational("1.001"))
    assert step()._replace(parameters={"scale": rational("1/3")}).given("scale") == rational("1/3")


def test_bounds() -> None:
    step().require_bound("epsilon", lambda bits: whole(1, bits))
    with pytest.raises(Invalid, match=r"conclusion\.epsilon"):
        step().require_bound("epsilon", lambda bits: whole(2, bits))


def test_delta_is_exact_where_it_can_be_and_one_is_enough() -> None:
    step().require_delta_bound(rational("1/2"), never)
    with pytest.raises(Invalid):
        step().require_delta_bound(rational("51/100"), never)
    step("1").require_delta_bound(None, never)
    with pytest.raises(Invalid):
        step().require_delta_bound(None, lambda bits: whole(1, bits))


def test_readers() -> None:
    assert read_counts([1, 2], "x") == [1, 2]
    assert read_multiples([0, 2], "x") == [0, 2]
    assert read_positive(1, "x") == 1
    assert read_rational("1/2", "x") == rational("1/2")
    assert read_text("a", "x") == "a"
    assert read_several(2, "x") == 2
    assert read_above_zero("1/2", "x") == rational("1/2")
    assert read_not_negative("0", "x") == rational(0)
    assert read_boolean(True, "x") is True
    assert read_choice("a", "b")("b", "x") == "b"
    for reader, value in (
        (read_counts, [0]),
        (read_multiples, [-1]),
        (read_positive, 0),
        (read_rational, 1),
        (read_text, 1),
        (read_several, 1),
        (read_above_zero, "0"),
        (read_above_zero, "-1/2"),
        (read_not_negative, "-1/2"),
        (read_boolean, 1),
        (read_choice("a", "b"), "c"),
    ):
        with pytest.raises(Invalid):
            reader(value, "x")
