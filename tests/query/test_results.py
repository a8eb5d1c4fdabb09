"""The table that an analyst holds in hand."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from privately.engines.protocol import Bins
from privately.errors import InvalidParameter
from privately.guarantees import PureDP
from privately.plans import Column, Question, Table, Unit
from privately.query.allocation import Budget, allocated
from privately.query.answers import result_of
from privately.query.binding import bind
from privately.query.drawing import ChosenPoints, drawn
from privately.query.proving import derivation
from privately.query.results import Result, _half, _text
from privately.query.showing import Shown
from privately.query.uses import uses
from privately.rounding import Interval
from tests.query.small_questions import NoNoise, counted, question

TABLE: list[Any] = [(1, "a", 3), (2, "a", -5), (3, "a", None), (4, "<b>", 8)]
GROUPS = (("a",), ("<b>",))


def answered(asked: Question, *noise: int, notes: tuple[str, ...] = ()) -> Result:
    plan = allocated(uses(asked), 2, Budget(currency="epsilon", amount=Fraction(1)))
    found = drawn(plan, asked.aggregation, counted(asked, TABLE), GROUPS, NoNoise(*noise))
    return result_of(asked, GROUPS, found, derivation(plan, asked.aggregation), notes)


ASKED = question("rows", "mean", values=("a", "<b>"))
RESULT = answered(ASKED, notes=("Of one <person> at most 1 row counts.",))


def test_rows_and_columns() -> None:
    assert RESULT.columns == ("part", "rows", "mean")
    assert RESULT.rows == (("a", 3, -1.0), ("<b>", 1, 8.0))
    assert RESULT.to_dicts()[1] == {"part": "<b>", "rows": 1, "mean": 8.0}
    assert RESULT.guarantee == PureDP(epsilon=1)
    assert RESULT.certificate.guarantee == RESULT.guarantee


def test_intervals_grow_with_the_confidence() -> None:
    usual, more, less = RESULT.intervals(), RESULT.intervals("0.999"), RESULT.intervals(Fraction(1, 2))
    assert set(usual) == {"part", "rows", "mean"}
    assert usual["part"] == (None, None)
    for name in ("rows", "mean"):
        for at in range(2):
            narrow, middle, wide = (each[name][at] for each in (less, usual, more))
            assert narrow is not None
            assert middle is not None
            assert wide is not None
            assert wide.lower <= middle.lower <= narrow.lower <= narrow.upper <= middle.upper <= wide.upper
    assert more["rows"] != less["rows"]


@pytest.mark.parametrize("confidence", [0, 1, 2, -1, "much", float("nan")])
def test_confidences_are_between_0_and_1(confidence: Any) -> None:
    with pytest.raises(InvalidParameter):
        RESULT.intervals(confidence)


def test_as_text() -> None:
    lines = str(RESULT).splitlines()
    assert lines[0].split() == ["part", "rows", "±", "(95", "%)", "mean", "±", "(95", "%)"]
    assert lines[1].split()[:2] == ["a", "3"]
    assert "PureDP with epsilon 1" in lines[4]
    assert lines[-1].startswith("Of one <person>")


def test_html_is_escaped() -> None:
    found = RESULT._repr_html_()
    assert "&lt;b&gt;" in found
    assert "&lt;person&gt;" in found
    assert "<b>" not in found
    assert found.count("<tr>") == 3


def test_missing_values_are_shown_as_such() -> None:
    found = answered(ASKED, -1000)
    assert found.rows[0][2] is None
    assert "–" in str(found)


def test_as_frames() -> None:
    found = answered(ASKED, -1000, 1000)
    arrow = found.to_arrow()
    assert arrow.column_names == ["part", "rows", "mean"]
    assert arrow.to_pylist() == found.to_dicts()
    assert found.to_pandas().shape == (2, 3)
    assert found.to_polars().columns == ["part", "rows", "mean"]


def test_numbers_that_64_bits_or_doubles_do_not_hold_are_shown() -> None:
    huge = replace(RESULT, question=ASKED)
    huge.__dict__["shown"] = Shown(
        columns=("part", "rows", "mean"),
        rows=(("a", 2**70, 1e308), ("<b>", 1, 8.0)),
        intervals=((None, Interval(2**69, 2**71), Interval(0, 10**309)), (None, Interval(0, 2), Interval(7, 9))),
    )
    assert huge.to_arrow().to_pylist()[0]["rows"] == 2.0**70
    assert huge.to_pandas().shape == (2, 3)
    assert "1e+308 ± " in huge.plot(column="mean")
    assert "1e+308" in str(huge)


def test_a_table_without_rows() -> None:
    found = answered(question("rows", values=("a", "<b>"), more={"limit": 0}))
    assert found.rows == ()
    assert found.intervals() == {"part": (), "rows": ()}
    assert str(found).splitlines()[0].split()[:2] == ["part", "rows"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(None, "–"), (1234567, "1,234,567"), (True, "True"), (0.123456, "0.1235"), (123456.7, "123,457"), ("x", "x")],
        *[(1e17, "100,000,000,000,000,000"), (1.25e300, "1.25e+300")],
    ],
)
def test_cells(value: Any, text: str) -> None:
    assert _text(value) == text


def test_control_characters_of_data_do_not_reach_the_terminal() -> None:
    assert _text("a\x1b[31m\x00\n\u202e\u00e9") == "a\ufffd[31m\ufffd\ufffd\ufffd\u00e9"


def test_half_widths_are_of_the_longer_side() -> None:
    assert _half(3, Interval(2, 7)) == "4"
    assert _half(None, Interval(2, 7)) == ""
    assert _half(0, Interval(Fraction(-121_01, 100), Fraction(121))) == "122"


def test_a_plot_has_a_bar_for_every_row(tmp_path: Path) -> None:
    path = tmp_path / "mean.svg"
    drawn = RESULT.plot(path, column="mean")
    assert path.read_text(encoding="utf-8") == drawn
    root = ET.fromstring(drawn)
    texts = {"".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"mean by part", "a", "<b>"} <= texts
    assert any(text.startswith("-1 ± ") for text in texts)
    assert "rows by part" in RESULT.plot()


def test_what_cannot_be_plotted_is_said(tmp_path: Path) -> None:
    for wrong in ("part", "nothing"):
        with pytest.raises(InvalidParameter, match="there are rows, mean"):
            RESULT.plot(column=wrong)
    with pytest.raises(InvalidParameter, match=r"must end in \.svg or \.png"):
        RESULT.plot(tmp_path / "mean.gif")


def test_a_plot_in_pixels(tmp_path: Path) -> None:
    RESULT.plot(tmp_path / "mean.png", column="mean")
    assert (tmp_path / "mean.png").read_bytes().startswith(b"\x89PNG")


def test_quantiles_are_off_by_ranks() -> None:
    found = answered(question("median", values=("a", "<b>")))
    (chosen,) = (one for one in found.noise if isinstance(one, ChosenPoints))
    assert found.ranks() == {"median": chosen.mechanism.interval("0.95")}
    assert found.ranks("0.5")["median"] < found.ranks()["median"] < found.ranks("0.999")["median"]
    assert f"median: off by at most {float(found.ranks()['median']):g} ranks (95 %)." in str(found)
    assert "ranks (95 %)" in found._repr_html_()
    assert RESULT.ranks() == {}
    assert "ranks" not in str(RESULT)


def test_numbers_that_may_be_off_by_anything_are_told() -> None:
    """A quotient by what may be 0 looks as good as any other number."""
    declared = (
        Column(name="part", type="text", categories=["a", "<b>"]),
        Column(name="x", type="integer", bounds=(0, 9)),
    )
    table = Table(name="t", columns=declared, unit=Unit())
    asked = bind("SELECT COUNT(*) AS n, SUM(x) / COUNT(*) AS r, COUNT(*) / 2 AS half FROM t", {"t": table})
    plan = allocated(uses(asked), 1, Budget(currency="epsilon", amount=Fraction(1)))
    proof = derivation(plan, asked.aggregation)
    told = {}
    for rows in (2, 500):
        found = drawn(plan, asked.aggregation, {(): (rows, 3 * rows)}, [()], NoNoise())
        told[rows] = result_of(asked, [()], found, proof)
    assert told[2].unbounded_in_words == ["r: nothing can be said of how far off it is."]
    assert "r: nothing can be said" in str(told[2])
    assert "r: nothing can be said" in told[2]._repr_html_()
    assert "cannot be said" in told[2].plot(column="r")
    assert told[500].unbounded_in_words == []
    assert "cannot be said" not in told[500].plot(column="r")


def test_a_plot_without_error_bars() -> None:
    assert "median by part" in answered(question("median", values=("a", "<b>"))).plot()


def coarse(resolution: int | None) -> Result:
    column = Column(name="x", type="real", bounds=(0, 10), resolution=resolution)
    table = Table(name="t", columns=(column,), unit=Unit())
    asked = bind("SELECT MEDIAN(x) AS m FROM t", {"t": table})
    plan = allocated(uses(asked), 1, Budget(currency="epsilon", amount=Fraction(100)))
    bins = Bins(np.array([0 if resolution else 64_880]), np.array([1000]))
    found = drawn(plan, asked.aggregation, {(): (bins,)}, ((),), NoNoise())
    return result_of(asked, ((),), found, derivation(plan, asked.aggregation))


def test_ranks_are_those_of_a_bin() -> None:
    """A thousand times 9.9 in one bin: the answer 5 is below all of them, and is off by no rank to within 5."""
    found = coarse(10)
    assert found.rows == ((5.0,),)
    assert found.to_within() == {"m": 5}
    assert "m: off by at most 0 ranks, to within ± 5 (95 %)." in str(found)
    assert coarse(None).to_within() == {"m": 0}
    assert "within" not in str(coarse(None))
