"""A release as a notebook shows it: the promise first, then the largest loadings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from gdppca.privacy import words
from gdppca.releases.described import described
from gdppca.releases.words import (
    component_names,
    heaviest_columns,
    loadings_in_words,
    marked_names,
    size_in_words,
)

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_SHOWN_COLUMNS = 8
_SHOWN_COMPONENTS = 3
_STYLE = "text-align:left;padding:0.2em 1em 0.2em 0;font-weight:normal"
_HEAD = Markup('<th scope="{}" style="' + _STYLE + '">{}</th>')
_CELL = Markup('<td style="' + _STYLE + '">{}</td>')
_TABLE = Markup(
    '<table style="border-collapse:collapse">'
    '<caption style="text-align:left;padding:0.5em 0">{}</caption>'
    "<thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
)
_SMALL = Markup("{}<br><small>{}</small>")
_joined = Markup().join


def as_card(release: Release) -> str:
    """HTML without a template engine, every name escaped."""
    made = Markup("<div>{}: {}</div>").format(release.method, size_in_words(release))
    doubts = _joined(Markup("<p>{}</p>").format(doubt) for doubt in release.doubts)
    said = loadings_in_words(release)
    done = Markup("<p>{}</p>").format(said) if said else Markup()
    return words.as_card(release.guarantee, made + doubts + _loadings(release) + done)


def _loadings(release: Release) -> Markup:
    shown = release.components[:_SHOWN_COMPONENTS]
    if not len(shown):
        return Markup()
    heaviest = heaviest_columns(shown, _SHOWN_COLUMNS)
    names = [
        _SMALL.format(name, each.words) if each.words else name
        for name, each in zip(marked_names(release), described(release), strict=True)
    ]
    left_out = release.n_features > len(heaviest) or len(release.components) > len(shown)
    head = ["column", *component_names(release, len(shown))]
    rows = (
        _HEAD.format("row", names[j])
        + _joined(
            _CELL.format(f"{row[j]:+.2f}" + " (negligible)" * bool(release.negligible[k, j]))
            for k, row in enumerate(shown)
        )
        for j in heaviest
    )
    return _TABLE.format(
        "Largest loadings" if left_out else "Loadings",
        _joined(_HEAD.format("col", name) for name in head),
        _joined(Markup("<tr>{}</tr>").format(row) for row in rows),
    )
