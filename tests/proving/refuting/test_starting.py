"""Neighbours that suit an event."""

from fractions import Fraction

from privately.proving.paths.exploring import explore
from privately.proving.reading import read_program
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.starting import natural
from privately.proving.refuting.templates import Reach, templates

FIRST_ABOVE = """def f(q: each(1)):
    t = laplace(2)
    for v in q:
        y = v + laplace(4)
        if y > t + 9:
            return y - t
    return -1
"""


def test_a_path_is_taken_without_noise_and_its_event_lies_around_an_entry_far_from_the_others() -> None:
    program = read_program(FIRST_ABOVE)
    near = layout(program, {}, 2).with_widths({4.0})
    paths = explore(program, near.symbolic(0)).paths
    reach = Reach(paths)
    shown = next(one for one in templates(paths) if one.directions)
    found = natural(near, shown, reach.paths(shown), list(near.starts()))
    assert any(max(left) > 9 for left, _ in found)
    assert {(Fraction(64), Fraction(0)), (Fraction(-64), Fraction(0))} <= {left for left, _ in found}
    assert all(near.holds(pair) for pair in found)
