"""Small pieces of HTML for notebooks; no template engine, and nothing unescaped gets through.

>>> from gdppca._html import element
>>> element("p", "a < b")
'<p>a &lt; b</p>'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is HTML already and must not be escaped again."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> Html:
    """One element; plain strings are escaped. A trailing underscore in a name is dropped."""
    written = "".join(
        f' {name.rstrip("_")}="{escape(value)}"' for name, value in attributes.items()
    )
    inside = "".join(child if isinstance(child, Html) else escape(child) for child in children)
    return Html(f"<{tag}{written}>{inside}</{tag}>")


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table whose first column names the rows."""
    columns = element("tr", *(element("th", name, scope="col", style=_CELL) for name in head))
    body = (
        element(
            "tr",
            element("th", row[0], scope="row", style=_CELL),
            *(element("td", cell, style=_CELL) for cell in row[1:]),
        )
        for row in rows
    )
    return element(
        "table",
        element("caption", caption, style="text-align:left;padding:0.5em 0"),
        element("thead", columns),
        element("tbody", *body),
        style="border-collapse:collapse",
    )


def card(colour: str, *children: str) -> Html:
    """A box with a coloured edge; takes the notebook's own text colour, light or dark."""
    style = f"border-left:4px solid {colour};padding:0.25em 0 0.25em 1em;max-width:44em"
    return element("div", *children, style=style)


_CELL = "text-align:left;padding:0.2em 1em 0.2em 0;font-weight:normal"
