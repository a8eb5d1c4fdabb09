"""Charts in files: SVG always, PNG with the extra `plot`, the same picture in both."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from privately.errors import InvalidParameter, NotSupported

SUFFIXES = (".svg", ".png")
SHARPNESS = 2
"""Pixels for each unit of the drawing."""

_SVG = "{http://www.w3.org/2000/svg}"
_DOTS, _POINTS = 100, 72
"""Units of the drawing, and points of type, in an inch."""


def picture(path: str | os.PathLike[str], svg: str) -> bytes:
    """What belongs into a file of this name: the drawing as it is, or as pixels."""
    return png(svg) if suffix_of(path) == ".png" else svg.encode()


def suffix_of(path: str | os.PathLike[str], field: str = "path") -> str:
    """The suffix that says what to write; refuses names that do not, and pixels where nothing can draw them."""
    name = Path(os.fspath(path)).name
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidParameter(field, f"{name!r} must end in {' or '.join(SUFFIXES)}.")
    if suffix == ".png":
        _matplotlib()
    return suffix


def png(svg: str) -> bytes:
    """The drawing in pixels. It knows the elements that our charts are made of, and refuses others.

    Drawn from the SVG, so that there is one layout; by matplotlib, which brings its own fonts.
    """
    figure_of, artists = _matplotlib()
    root = ET.fromstring(svg)  # noqa: S314 - made by us
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = figure_of(figsize=(width / _DOTS, height / _DOTS), dpi=_DOTS)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    for place, element in enumerate(root):
        for artist in _drawn(element, artists):
            artist.set_zorder(place)
            axes.add_artist(artist)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # it draws a box instead
        figure.savefig(buffer, format="png", dpi=_DOTS * SHARPNESS)
    return buffer.getvalue()


def _matplotlib() -> tuple[Callable[..., Any], Any]:
    try:
        from matplotlib import lines, patches, text
        from matplotlib.figure import Figure
    except ImportError:
        hint = "Install it: pip install 'privately[plot]', or write to a file that ends in .svg."
        raise NotSupported("PNG without matplotlib.", hint=hint) from None
    return Figure, _Artists(lines.Line2D, patches, text.Text)


class _Artists:
    """The parts of matplotlib that draw ours."""

    def __init__(self, line: Any, patches: Any, text: Any) -> None:
        self.line, self.patches, self.text = line, patches, text


def _drawn(element: ET.Element, artists: _Artists) -> Iterator[Any]:
    kind, given = element.tag.removeprefix(_SVG), element.attrib
    match kind:
        case "title" | "desc":
            return
        case "rect":
            corner = float(given.get("x", 0)), float(given.get("y", 0))
            yield artists.patches.Rectangle(
                corner, float(given["width"]), float(given["height"]), facecolor=given["fill"], edgecolor="none"
            )
        case "line":
            ends = [float(given[name]) for name in ("x1", "x2", "y1", "y2")]
            yield artists.line(ends[:2], ends[2:], **_stroke(given))
        case "polyline":
            places = _places(given["points"])
            yield artists.line([x for x, _ in places], [y for _, y in places], **_stroke(given))
        case "polygon":
            yield artists.patches.Polygon(_places(given["points"]), facecolor=given["fill"], edgecolor="none")
        case "circle":
            centre = float(given["cx"]), float(given["cy"])
            yield artists.patches.Circle(centre, float(given["r"]), facecolor=given["fill"], edgecolor="none")
        case "text":
            yield _text(element, artists)
        case _:
            raise NotSupported(f"<{kind}> in a picture of pixels.")


def _text(element: ET.Element, artists: _Artists) -> Any:
    given = element.attrib
    anchors = {"start": "left", "middle": "center", "end": "right"}
    words = artists.text(
        float(given["x"]),
        float(given["y"]),
        element.text or "",
        fontsize=float(given["font-size"]) * _POINTS / _DOTS,
        fontweight=given["font-weight"],
        color=given["fill"],
        horizontalalignment=anchors[given["text-anchor"]],
        verticalalignment="baseline",
        rotation=90 if "rotate(-90" in given.get("transform", "") else 0,
        rotation_mode="anchor",
    )
    words.set_parse_math(False)
    return words


def _stroke(given: dict[str, str]) -> dict[str, Any]:
    width = float(given.get("stroke-width", 1)) * _POINTS / _DOTS
    dashes = [float(one) * _POINTS / _DOTS / width for one in given.get("stroke-dasharray", "").split()]
    return {
        "color": given["stroke"],
        "linewidth": width,
        "linestyle": (0, dashes) if dashes else "-",
        "dash_capstyle": "butt",
    }


def _places(points: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (one.split(",") for one in points.split())]
