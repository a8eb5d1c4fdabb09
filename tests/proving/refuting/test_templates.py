"""Events with open bounds."""

from fractions import Fraction

from privately.proving.paths.events import entries_of
from privately.proving.paths.exploring import explore
from privately.proving.reading import read_program
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.templates import OPEN, Reach, Template, centre_at, templates
from tests.proving.textbook import COUNT, PREFIX_SUM, sparse

PUBLIC = {"threshold": 0, "most": 1, "epsilon": 1}


def made(text: str) -> list[Template]:
    program = read_program(text)
    return templates(explore(program, {**PUBLIC, **layout(program, {}, 3).symbolic(0)}).paths)


def test_constant_outputs_are_events_of_their_own() -> None:
    found = made(sparse())
    assert len(found) == 4
    assert all(not one.directions for one in found)


def test_running_sums_are_taken_apart_into_single_draws() -> None:
    isolated, plain = made(PREFIX_SUM)
    assert sorted(one.weights for one in isolated.directions) == [
        ((0, Fraction(-1)), (1, Fraction(1))),
        ((0, Fraction(1)),),
        ((1, Fraction(-1)), (2, Fraction(1))),
    ]
    assert all(one.width == 1 for one in isolated.directions)
    assert [one.weights for one in plain.directions] == [((k, Fraction(1)),) for k in range(3)]
    inputs = {"q[0]": Fraction(5), "q[1]": Fraction(7), "q[2]": Fraction(1)}
    assert sorted(centre_at(one, inputs) for one in isolated.directions) == [1, 5, 7]
    assert sorted(centre_at(one, inputs) for one in plain.directions) == [5, 12, 13]


def test_windows_become_conditions() -> None:
    template = made(COUNT)[0]
    event = template.event([(Fraction(-1), Fraction(2))], {"x[0]": Fraction(10)})
    assert str(event) == "output >= 9, output <= 12"
    assert str(template.event([OPEN], {"x[0]": Fraction(10)})) == "output is a number"
    assert template.directions[0].whole


def test_constants_decide_where_an_event_can_happen() -> None:
    program = read_program(sparse(yes="value"))
    paths = explore(program, {**PUBLIC, **layout(program, {}, 2).symbolic(0)}).paths
    reach = Reach(paths)
    for template in templates(paths):
        reached = reach.paths(template)
        assert reached
        for path in paths:
            entries = entries_of(path.output)
            assert (path in reached) == (
                len(template.shape) == len(entries) and all(entries[place] == value for place, value in template.fixed)
            )


def test_rounded_noise_lies_where_the_answer_does() -> None:
    program = read_program("def f(x: each(1)):\n    return 2 * ((x + 3 + laplace(1)) // 1)\n")
    found = templates(explore(program, layout(program, {}, 1).symbolic(0)).paths)
    assert {centre_at(one.directions[0], {"x[0]": Fraction(777)}) for one in found} == {780, 1560}
