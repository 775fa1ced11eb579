"""Pictures as inline SVG: the page's own fonts and colours, ids of their own, words beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from gdppca.plots.style import BLACK, BLUE, GREY, ORANGE, new_figure, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_WIDTH = 5.4  # inches: letters of eleven points are read on a phone and not huge on a desk

# Colours that the plots use, and the page's variables that stand for them in light and dark.
_COLOURS = {
    BLACK: "currentColor",
    BLUE: "var(--blue)",
    ORANGE: "var(--orange)",
    GREY: "var(--soft)",
}
_STYLE = {
    "svg.fonttype": "none",  # text stays text: the page's font, and searchable
    "text.parse_math": False,  # a column may be called "$x$"
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}

Draw = Callable[["Figure"], object]


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


def _drawn(draw: Draw, height: float) -> bytes:
    size = (_WIDTH, height)
    new_figure(figsize=size)  # asks for matplotlib where it is missing
    from matplotlib import rc_context

    with rc_context(_STYLE):
        figure = new_figure(figsize=size, dpi=200)  # of what is not vectors
        draw(figure)
        for axes in figure.axes:
            _calm(axes)
        return picture(figure, "svg", transparent=True)


def _calm(axes: Axes) -> None:
    """Small print grows to be read on a phone."""
    legend = axes.get_legend()
    small = legend.get_texts() if legend is not None else []
    for text in (*small, axes.title, *axes.get_xticklabels(), *axes.get_yticklabels()):
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
        style = style.replace(colour.lower(), variable)  # matplotlib writes small letters
    if node.tag == f"{_SVG}text" and "fill" not in style:
        style += "; fill: currentColor"
    if style:
        node.set("style", style)


def _describe(root: Any, name: str, title: str, description: str) -> None:
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-description")
    said = (("title", "title", title), ("desc", "description", description))
    for place, (kind, role, text) in enumerate(said):
        words = ElementTree.Element(f"{_SVG}{kind}", id=f"{name}-{role}")
        words.text = text
        root.insert(place, words)
