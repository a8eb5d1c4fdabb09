"""What a plan can take at most."""

from privately.plans import Column, Table, Unit
from privately.plans.aggregates import Aggregation
from privately.plans.costs import bins_of_groups, numbers, passes, steps
from privately.query import bind

TABLE = Table(
    name="t",
    columns=(
        Column(name="word", type="text", length=50),
        Column(name="n", type="integer", bounds=(0, 100)),
        Column(name="kind", type="text", categories=("a", "b", "c")),
    ),
    unit=Unit(),
)


def asked(text: str, *, unknown: bool = False) -> Aggregation:
    return bind(text, {"t": TABLE}, unknown=unknown).aggregation


def test_every_part_of_a_plan_adds_steps() -> None:
    plain = steps(asked("SELECT COUNT(*) AS x FROM t"))
    assert plain >= 50, "texts are read as far as they are declared"
    for dearer in (
        "SELECT COUNT(*) AS x FROM t WHERE n > 3",
        "SELECT COUNT(*) AS x FROM t GROUP BY kind",
        "SELECT COUNT(*) AS x, SUM(n) AS y FROM t",
        "SELECT COUNT(w) AS x FROM (SELECT word || word AS w FROM t)",
    ):
        assert steps(asked(dearer)) > plain


def test_a_computed_column_costs_wherever_it_is_used() -> None:
    made = "WITH v AS (SELECT LOWER(word || word) AS w FROM t) SELECT COUNT(*) AS x FROM v WHERE {}"
    once = steps(asked(made.format("w = 'a'")))
    twice = steps(asked(made.format("w = 'a' OR w = 'b'")))
    assert twice - once > 200, "a hundred characters to make, and a hundred to compare"


def test_passes_and_numbers() -> None:
    count, medians = asked("SELECT COUNT(*) AS x FROM t"), asked("SELECT MEDIAN(n) AS x FROM t GROUP BY kind")
    assert (passes(count), numbers(count)) == (1, 1)
    assert passes(medians) == 2
    bins = next(tally.bins for _, tally in medians.tallies if hasattr(tally, "bins"))
    groups = medians.listed_groups
    assert groups is not None
    assert numbers(medians) == groups * (len(medians.tallies) - 1 + bins)
    assert numbers(asked("SELECT word, COUNT(*) AS x FROM t GROUP BY word", unknown=True)) is None


def test_groups_with_bins() -> None:
    two = "SELECT {0}, MEDIAN(n) AS x, MEDIAN(n * 2) AS y, COUNT(*) AS z FROM t GROUP BY {0}"
    listed, unlisted = asked(two.format("kind")), asked(two.format("word"), unknown=True)
    assert listed.listed_groups == 4
    assert [bins_of_groups(listed, rows) for rows in (1, 4, 100)] == [2, 8, 8]
    assert bins_of_groups(unlisted, 100) == 200
    assert bins_of_groups(asked("SELECT COUNT(*) AS x FROM t"), 100) == 0
