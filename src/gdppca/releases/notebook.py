"""A release as a notebook shows it: the promise first, then the largest loadings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gdppca import _html
from gdppca.privacy import words
from gdppca.releases.words import heaviest_columns, marked_names, size_in_words

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_SHOWN_COLUMNS = 8
_SHOWN_COMPONENTS = 3


def as_card(release: Release) -> str:
    """HTML without a template engine, every name escaped."""
    made = f"{release.method}: {size_in_words(release)}"
    more = [_html.element("div", made), *(_html.element("p", doubt) for doubt in release.doubts)]
    return words.as_card(release.guarantee, *more, *_loadings(release))


def _loadings(release: Release) -> Iterator[_html.Html]:
    if not len(release.components):
        return
    shown = release.components[:_SHOWN_COMPONENTS]
    heaviest = heaviest_columns(shown, _SHOWN_COLUMNS)
    names = marked_names(release)
    left_out = release.n_features > len(heaviest) or len(release.components) > len(shown)
    yield _html.table(
        "Largest loadings" if left_out else "Loadings",
        ["column", *(f"component {k + 1}" for k in range(len(shown)))],
        [[names[j], *(f"{row[j]:+.2f}" for row in shown)] for j in heaviest],
    )
