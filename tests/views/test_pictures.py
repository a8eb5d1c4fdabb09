"""Pixels show what the drawing says, in the order of the drawing."""

import io
import sys

import numpy as np
import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.views import Axis, Bar, BarChart, Chart, Line, Mark
from privately.views.bars import TOP
from privately.views.pictures import SHARPNESS, picture, png, suffix_of

BARS = BarChart(
    title="Visits",
    label="visits",
    bars=(Bar(name="surgery", value=40.0, lower=30.0, upper=50.0), Bar(name="病棟 $x$", value=100.0)),
)
CURVE = Chart(
    title="Growth",
    x=Axis(label="year", logarithmic=True),
    y=Axis(label="value"),
    lines=(Line(name="one", points=((1, 1), (10, 2))), Line(name="two", points=((1, 2), (10, 3)))),
    shaded=((1, 1), (10, 2), (10, 3)),
    marks=(Mark(text="here", point=(2, 2)),),
)


def pixels(content: bytes) -> np.ndarray:
    image = pytest.importorskip("matplotlib.image")
    return np.asarray(image.imread(io.BytesIO(content), format="png"))[:, :, :3]


def has(found: np.ndarray, colour: str) -> bool:
    wanted = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return bool((np.abs(found - wanted).max(axis=2) < 0.01).any())


def blue(row: np.ndarray) -> np.ndarray:
    """Where along a row of pixels there is a bar."""
    return np.flatnonzero(np.abs(row - [0x8F / 255, 0xC1 / 255, 0xE0 / 255]).max(axis=1) < 0.01)


def test_bars_are_where_the_drawing_has_them() -> None:
    found = pixels(png(BARS.svg()))
    assert found.shape[:2] == (BARS.height * SHARPNESS, 720 * SHARPNESS)
    assert has(found, "#8fc1e0")
    assert has(found, "#222222")
    assert (found[2, 2] == 1).all()
    bar = (np.abs(found - [0x8F / 255, 0xC1 / 255, 0xE0 / 255]).max(axis=2) < 0.01).sum(axis=1)
    assert (
        bar[(68 + 15) * SHARPNESS - 10] * 2.4 < bar[(68 + 45) * SHARPNESS - 10] < bar[(68 + 15) * SHARPNESS - 10] * 2.7
    )


def test_bars_hide_the_grid_behind_them() -> None:
    bar = blue(pixels(png(BARS.svg()))[(TOP + 45 + 7) * SHARPNESS])
    assert len(bar) == bar[-1] - bar[0] + 1


def test_curves_have_their_colours() -> None:
    found = pixels(png(CURVE.svg()))
    assert all(has(found, colour) for colour in ("#0072B2", "#D55E00", "#cfe3f1", "#222222"))


def test_the_suffix_says_what_is_written() -> None:
    assert picture("a.svg", BARS.svg()) == BARS.svg().encode()
    assert picture("a.PNG", BARS.svg()).startswith(b"\x89PNG")
    with pytest.raises(InvalidParameter, match=r"--plot: 'a\.gif' must end in \.svg or \.png"):
        suffix_of("b/a.gif", "--plot")


def test_unknown_elements_are_refused() -> None:
    with pytest.raises(NotSupported, match="<ellipse>"):
        png('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><ellipse/></svg>')


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NotSupported, match=r"PNG without matplotlib") as refused:
        suffix_of("a.png")
    assert "privately[plot]" in str(refused.value)
    assert suffix_of("a.svg") == ".svg"
