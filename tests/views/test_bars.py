"""Bars and their error bars are where they belong, and nothing is drawn over anything else."""

import math
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from privately.errors import InvalidParameter
from privately.views import Bar, BarChart
from privately.views.bars import LEFT, LETTER, MOST, MOST_LETTERS, RIGHT, ROW, THICK, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
WARDS = (
    Bar(name="surgery", value=40.0, lower=30.0, upper=50.0, text="40 ± 10"),
    Bar(name="<maternity>", value=100.0, lower=90.0, upper=110.0, text="100 ± 10"),
    Bar(name="nobody", value=None, text="–"),
)


def drawn(*bars: Bar) -> ET.Element:
    return ET.fromstring(BarChart(title="Visits & more", subtitle="at 95 %", label="visits", bars=bars).svg())


def boxes(root: ET.Element) -> list[dict[str, float]]:
    found = root.findall(f"{SVG}rect")[1:]
    return [{name: float(one.attrib[name]) for name in ("x", "y", "width", "height")} for one in found]


def whiskers(root: ET.Element) -> list[tuple[float, float]]:
    lines = [{name: float(one.attrib[name]) for name in ("x1", "x2", "y1", "y2")} for one in root.iter(f"{SVG}line")]
    return [(one["x1"], one["x2"]) for one in lines if one["y1"] == one["y2"]]


def test_it_says_what_it_shows() -> None:
    root = drawn(*WARDS)
    texts = {"".join(one.itertext()) for one in root.iter(f"{SVG}text")}
    assert {"Visits & more", "at 95 %", "visits", "surgery", "<maternity>", "nobody", "40 ± 10", "–"} <= texts
    assert "surgery: 40 ± 10" in (root.findtext(f"{SVG}desc") or "")


def test_lengths_are_values() -> None:
    root = drawn(*WARDS)
    scale = (WIDTH - LEFT - RIGHT) / 110
    first, second = boxes(root)
    assert first["x"] == second["x"] == LEFT
    assert first["width"] == pytest.approx(40 * scale, abs=0.01)
    assert second["width"] == pytest.approx(100 * scale, abs=0.01)
    assert whiskers(root)[1] == pytest.approx((LEFT + 90 * scale, LEFT + 110 * scale), abs=0.01)


def test_values_below_zero_go_to_the_left() -> None:
    root = drawn(Bar(name="a", value=-5.0, lower=-10.0, upper=0.0), Bar(name="b", value=10.0))
    first, second = boxes(root)
    assert first["x"] + first["width"] == pytest.approx(second["x"], abs=0.02)
    assert whiskers(root)[0][0] == LEFT


def test_long_numbers_are_not_cut_and_have_room() -> None:
    text = "734,123,456 ± 1,230,000"
    root = drawn(Bar(name="a", value=734123456.0, lower=732893456.0, upper=735353456.0, text=text))
    (shown,) = (one for one in root.iter(f"{SVG}text") if "".join(one.itertext()) == text)
    assert shown.attrib["text-anchor"] == "end"
    assert whiskers(root)[0][1] <= float(shown.attrib["x"]) - LETTER * len(text)


def test_numbers_below_the_axis_do_not_touch() -> None:
    text = "734,123,456 ± 90,230,000"
    root = drawn(Bar(name="a", value=734123456.0, lower=-9e7, upper=8.2e8, text=text))
    below = [one for one in root.iter(f"{SVG}text") if "".join(one.itertext()).replace(",", "").lstrip("-").isdigit()]
    ends = [(float(one.attrib["x"]), LETTER * len("".join(one.itertext())) / 2) for one in below]
    assert len(ends) >= 2
    assert all(one + half < later - other for (one, half), (later, other) in pairwise(ends))


def test_rows_do_not_touch_and_stay_between_the_texts() -> None:
    many = tuple(
        Bar(name="x" * 40, value=float(at), lower=at - 1.0, upper=at + 5.0, text="1" * 40) for at in range(MOST)
    )
    root = drawn(*many)
    found = boxes(root)
    assert all(later["y"] - one["y"] == ROW > THICK for one, later in pairwise(found))
    assert all(low >= LEFT - 0.01 and high <= WIDTH - RIGHT + 0.01 for low, high in whiskers(root))
    assert max(len("".join(one.itertext())) for one in root.iter(f"{SVG}text")) <= MOST_LETTERS


@pytest.mark.parametrize(
    "bars",
    [
        (),
        (WARDS[0],) * (MOST + 1),
        (Bar(name="a", value=math.nan),),
        (Bar(name="a", value=1.0, lower=0.0, upper=math.inf),),
        (Bar(name="a", value=1.0, lower=0.0),),
    ],
)
def test_what_cannot_be_drawn_is_refused(bars: Any) -> None:
    with pytest.raises(InvalidParameter):
        BarChart(title="", label="", bars=bars)


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e300, -1e300])
def test_any_number_can_be_drawn(value: float) -> None:
    assert len(boxes(drawn(Bar(name="a", value=value)))) == 1


@pytest.mark.parametrize(
    ("top", "shown"),
    [(6_000.0, "2,000"), (60_000.0, "20,000"), (0.6, "0.2"), (3e12, "1e+12")],
)
def test_numbers_along_the_axis_are_in_groups_of_three(top: float, shown: str) -> None:
    chart = BarChart(title="", subtitle="", label="n", bars=(Bar(name="a", value=top, text=""),))
    assert f">{shown}<" in chart.svg()
