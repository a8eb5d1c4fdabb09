"""What still matters."""

from privately.proving.language.liveness import needed, needed_by, needed_by_loop
from privately.proving.language.pythonic import read_python

LOOP = read_python("""
def f(x):
    a = 0
    b = 1
    i = 0
    while i < 3:
        a = a + b
        b = x
        i = i + 1
    return a
""").body


def test_only_inputs_matter_at_the_start() -> None:
    assert needed(LOOP, frozenset()) == {"x"}


def test_a_loop_needs_what_its_next_round_reads() -> None:
    assert needed_by(LOOP[3], frozenset({"a"})) == {"a", "b", "i", "x"}
    assert needed_by_loop(frozenset({"i"}), LOOP[3].body, frozenset()) == {"i", "b", "x", "a"}  # type: ignore[union-attr]


def test_nothing_matters_after_the_output() -> None:
    assert needed_by(LOOP[-1], frozenset({"zebra"})) == {"a"}
