"""A chart is one XML document, the same for the same data, with every point where it belongs."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from privately.errors import InvalidParameter
from privately.views import Axis, Chart, Line, Mark
from privately.views.charts import BOTTOM, COLOURS, HEIGHT, LEFT, RIGHT, TOP, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
DELTA, EPSILON = Axis(label="delta", logarithmic=True), Axis(label="epsilon")
UPPER = Line(name="at most", points=((1e-6, 4.0), (1e-4, 2.0), (1e-2, 1.0)))
LOWER = Line(name="at least", points=((1e-6, 3.0), (1e-4, 1.5), (1e-2, 0.5)))


def chart(**changed: object) -> Chart:
    settings = {"title": "A title", "x": DELTA, "y": EPSILON, "lines": (UPPER, LOWER), **changed}
    return Chart(**settings)  # type: ignore[arg-type]


def drawn(one: Chart) -> ET.Element:
    return ET.fromstring(one.svg())


def texts(root: ET.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def points(root: ET.Element, number: int) -> list[tuple[float, float]]:
    path = root.findall(f"{SVG}polyline")[number].attrib["points"]
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in path.split())]


def test_it_says_what_it_shows() -> None:
    mark = Mark(text="here", point=(1e-5, 3.0))
    root = drawn(chart(subtitle="below it", marks=(mark,)))
    assert root.findtext(f"{SVG}title") == "A title"
    assert "here" in (root.findtext(f"{SVG}desc") or "")
    assert {"A title", "below it", "delta", "epsilon", "at most", "at least", "here"} <= set(texts(root))
    assert {"1e-6", "1e-4", "1e-2", "0", "2", "4"} <= set(texts(root))


def test_points_are_where_they_belong() -> None:
    root = drawn(chart())
    (first, middle, last) = points(root, 0)
    assert (first[0], last[0]) == (LEFT, WIDTH - RIGHT)
    assert middle[0] == pytest.approx((LEFT + WIDTH - RIGHT) / 2)  # 1e-4 is half-way on a logarithmic axis
    bottom = HEIGHT - BOTTOM
    heights = [bottom - y for _, y in points(root, 0) + points(root, 1)]
    assert heights == pytest.approx([heights[0] / 4 * value for value in (4, 2, 1, 3, 1.5, 0.5)], abs=0.02)
    assert TOP < first[1] < bottom


def test_lines_differ_without_colours() -> None:
    upper, lower = drawn(chart()).findall(f"{SVG}polyline")
    assert (upper.attrib["stroke"], lower.attrib["stroke"]) == COLOURS[:2]
    assert "stroke-dasharray" not in upper.attrib
    assert "stroke-dasharray" in lower.attrib


def test_the_shaded_area_lies_between_the_lines() -> None:
    root = drawn(chart(shaded=UPPER.points + LOWER.points[::-1]))
    (area,) = root.findall(f"{SVG}polygon")
    outline = area.attrib["points"].split()
    assert outline == [f"{x:.2f},{y:.2f}" for x, y in points(root, 0) + points(root, 1)[::-1]]


def test_the_same_data_give_the_same_bytes() -> None:
    assert chart().svg() == chart().svg()
    program = (
        "from privately.views import *\n"
        "line = Line(name='at most', points=((1e-6, 4.0), (1e-4, 2.0)))\n"
        "print(Chart(title='t', x=Axis(label='x'), y=Axis(label='y'), lines=(line,)).svg())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "a & \"b\" 'c'", "nul\0 and \x1b[31m red \ud800", "ε ≤ δ"]
)
def test_any_text_is_harmless(text: str) -> None:
    root = drawn(chart(title=text, subtitle=text, marks=(Mark(text=text, point=(1e-5, 1.0)),)))
    assert root.find(f".//{SVG}script") is None
    shown = root.findtext(f"{SVG}title") or ""
    assert [letter for letter in shown if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


def test_long_texts_are_cut() -> None:
    assert all(len(text) <= 110 for text in texts(drawn(chart(title="x" * 1000, subtitle="y" * 1000))))


@pytest.mark.parametrize("line", [(), ((float("nan"), 1.0),), ((1.0, float("inf")),), ((0.0, 1.0),), ((-1.0, 1.0),)])
def test_what_cannot_be_drawn_is_refused(line: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(InvalidParameter):
        chart(lines=(Line(name="bad", points=line),))


@pytest.mark.parametrize("points", [((1e-5, 0.0),), ((1e-5, 3.0),), ((1e-5, -3.0), (1e-4, -1.0)), ((1e-300, 1e-300),)])
def test_odd_data_stay_inside(points: tuple[tuple[float, float], ...]) -> None:
    root = drawn(chart(lines=(Line(name="one", points=points),)))
    for pair in root.findall(f"{SVG}polyline")[0].attrib["points"].split():
        x, y = map(float, pair.split(","))
        assert LEFT <= x <= WIDTH - RIGHT
        assert TOP <= y <= HEIGHT - BOTTOM


def test_it_needs_the_standard_library_alone() -> None:
    program = "import sys, privately.views; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before = subprocess.run([sys.executable, "-c", "import sys; print(*{n.partition('.')[0] for n in sys.modules})"],
                            capture_output=True, text=True, check=True)  # fmt: skip
    foreign = set(done.stdout.split()) - set(before.stdout.split()) - sys.stdlib_module_names
    assert foreign == {"privately"}
