"""Pictures that may stand in a page which allows no styles of its own: SVG with attributes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from gdppca._words import signed
from gdppca.plots import biplot
from gdppca.plots.style import column_labels
from gdppca.releases import Release, heaviest_columns
from gdppca.report import render_findings
from gdppca.report.figures import inline_svg

_NAMED = 8  # columns in the words of a biplot
_PICTURE = re.compile(r"<svg\b.*?</svg>", re.S)
_FONT = re.compile(r"(?:(?P<weight>bold|\d{3})\s+)?(?P<size>[\d.]+px)")


def findings(release: Release) -> str:
    """What was found, as the report says it."""
    return _PICTURE.sub(lambda found: unstyled(found[0]), render_findings(release))


def unstyled(svg: str) -> str:
    """The same picture with attributes in place of styles."""
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    root = ElementTree.fromstring(svg)
    for node in root.iter():
        for declaration in node.attrib.pop("style", "").split(";"):
            name, _, value = declaration.partition(":")
            if name.strip() == "font":
                _set_font(node, value)
            elif value.strip():
                node.set(name.strip(), value.strip())
    return ElementTree.tostring(root, encoding="unicode")


def _set_font(node: ElementTree.Element, shorthand: str) -> None:
    """Size and weight; the family is the page's."""
    found = _FONT.search(shorthand)
    if found is not None:
        node.set("font-size", found["size"])
        if found["weight"]:
            node.set("font-weight", found["weight"])


def biplot_svg(release: Release, pair: tuple[int, int]) -> str:
    """Loadings of two components as arrows."""
    first, second = pair
    names = column_labels(release)
    shown = release.components[[first, second]]
    told = ", ".join(
        f"{names[j]} {signed(shown[0, j])} and {signed(shown[1, j])}"
        for j in heaviest_columns(shown, _NAMED)
    )
    said = (
        f"Arrows from the middle, one for each column. Component {first + 1} runs across, "
        f"component {second + 1} upwards: {told}."
    )
    return unstyled(
        inline_svg(
            "biplot",
            f"Loadings on components {first + 1} and {second + 1}",
            said,
            lambda figure: biplot(release, figure.subplots(), components=pair),
            5.2,
        )
    )
