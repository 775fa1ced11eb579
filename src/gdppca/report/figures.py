"""Pictures as inline SVG: the page's own fonts and colours, ids of their own, words beside them."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from gdppca.plots import loadings
from gdppca.plots.scree import new_figure
from gdppca.releases import Release
from gdppca.theory import LoadingIntervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_LONGEST_LABEL = 22
DRAWN_COLUMNS = 12  # as many as the plot of loadings shows
_WIDTH = 5.4  # inches: letters of eleven points are read on a phone and not huge on a desk

# Colours that the plots use, and the page's variables that stand for them in light and dark.
_COLOURS = {
    "#000000": "currentColor",
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--orange)",
    "#6e6e6e": "var(--soft)",
}
_STYLE = {
    "svg.fonttype": "none",  # text stays text: the page's font, and searchable
    "svg.hashsalt": "gdppca",  # the same release gives the same bytes
    "text.parse_math": False,  # a column may be called "$x$"
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}

Draw = Callable[["Figure"], None]


def inline_svg(name: str, title: str, description: str, draw: Draw, height: float) -> str:
    """Draw a figure and return it as SVG that can stand inside the page.

    Parameters
    ----------
    name : str
        Prefix of every id inside, so that figures of one page do not mix.
    title, description : str
        For screen readers; the description holds the numbers.
    draw : callable
        Draws on the empty figure that it is given.
    height : float
        In inches; the width is that of a phone.

    Returns
    -------
    str
        An ``svg`` element.
    """
    root = ElementTree.fromstring(_drawn(draw, height))
    _strip(root)
    for node in root.iter():
        _own_ids(node, name)
        _own_look(node)
    root.attrib.pop("width")  # as wide as the page allows
    root.attrib.pop("height")
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    _describe(root, name, title, description)
    ElementTree.register_namespace("", _SVG.strip("{}"))
    return ElementTree.tostring(root, encoding="unicode")


def loadings_with_intervals(release: Release, known: LoadingIntervals | None, axes: Axes) -> None:
    """Loadings as bars, with a thin line for each interval; pale where there may be only noise."""
    loadings(release, axes)
    axes.set_title("")
    axes.locator_params(axis="x", nbins=5)
    if known is not None:
        _draw_intervals(release, known, axes)
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}  # where no bar can be
    axes.legend(frameon=False, ncols=2, **above)


def _draw_intervals(release: Release, known: LoadingIntervals, axes: Axes) -> None:
    # As the bars are ordered: heaviest columns, heaviest on top.
    shown = release.components[:2]
    heaviest = np.argsort(-np.abs(shown).max(axis=0))[:DRAWN_COLUMNS][::-1]
    for k, bars in enumerate(axes.containers):
        middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        if k < known.above_noise:
            ends = known.lower[k, heaviest], known.upper[k, heaviest]
            axes.hlines(middles, *ends, color="#000000", lw=1.1)
        for bar in bars:
            bar.set_alpha(0.65 if k < known.above_noise else 0.25)


def label(text: str) -> str:
    """A column name as a picture can hold it: one line, printable, not too long."""
    line = "".join(
        "\N{REPLACEMENT CHARACTER}" if _unprintable(letter) else letter for letter in text
    )
    return line if len(line) <= _LONGEST_LABEL else line[: _LONGEST_LABEL - 1] + "…"


def _unprintable(letter: str) -> bool:
    """Control characters, surrogates and the like, which XML cannot hold or which turn text."""
    return unicodedata.category(letter)[0] in "CZ" and letter != " "


def _drawn(draw: Draw, height: float) -> bytes:
    size = (_WIDTH, height)
    new_figure(figsize=size)  # asks for matplotlib where it is missing
    from matplotlib import rc_context

    with rc_context(_STYLE):
        figure = new_figure(figsize=size, dpi=200)  # of what is not vectors
        draw(figure)
        for axes in figure.axes:
            _calm(axes)
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", transparent=True, metadata={"Date": None})
    return picture.getvalue()


def _calm(axes: Axes) -> None:
    """Small print grows to be read on a phone."""
    legend = axes.get_legend()
    small = legend.get_texts() if legend is not None else []
    for text in (*small, *axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set_fontsize(11)


def _strip(root: Any) -> None:
    """Drop metadata, and the style sheet that would reach out of the picture."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)


def _own_ids(node: Any, name: str) -> None:
    attributes = node.attrib
    if "id" in attributes:
        attributes["id"] = f"{name}-{attributes['id']}"
    if _HREF in attributes:
        target = attributes.pop(_HREF)
        attributes["href"] = f"#{name}-{target[1:]}" if target.startswith("#") else target
    for key, value in attributes.items():
        attributes[key] = re.sub(r"url\(#", f"url(#{name}-", value)


def _own_look(node: Any) -> None:
    style = node.get("style", "")
    style = re.sub(r"font-family:[^;]*;?\s*", "", style)
    for colour, variable in _COLOURS.items():
        style = style.replace(colour, variable)
    if node.tag == f"{_SVG}text" and "fill" not in style:
        style += "; fill: currentColor"
    if style:
        node.set("style", style)


def _describe(root: Any, name: str, title: str, description: str) -> None:
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-description")
    for place, (kind, text) in enumerate((("title", title), ("desc", description))):
        words = ElementTree.Element(f"{_SVG}{kind}")
        words.set("id", f"{name}-{'title' if kind == 'title' else 'description'}")
        words.text = text
        root.insert(place, words)
