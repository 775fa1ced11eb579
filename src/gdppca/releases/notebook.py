"""A release as a notebook shows it: the promise first, then the largest loadings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gdppca import _html
from gdppca.privacy import words
from gdppca.releases.doubts import marked_names

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_SHOWN_COLUMNS = 8
_SHOWN_COMPONENTS = 3


def as_card(release: Release) -> str:
    """HTML without a template engine, every name escaped."""
    m = len(release.components)
    made = (
        f"{release.method}: {m} component{'s' * (m != 1)} of {release.n_features} columns from "
        f"{release.n_samples} rows"
    )
    more = [_html.element("div", made), *(_html.element("p", doubt) for doubt in release.doubts)]
    return words.as_card(release.guarantee, *more, *([_loadings(release)] if m else []))


def _loadings(release: Release) -> _html.Html:
    shown = release.components[:_SHOWN_COMPONENTS]
    heaviest = np.argsort(-np.abs(shown).max(axis=0), kind="stable")[:_SHOWN_COLUMNS]
    names = marked_names(release)
    left_out = release.n_features > len(heaviest) or len(release.components) > len(shown)
    return _html.table(
        "Largest loadings" if left_out else "Loadings",
        ["column", *(f"component {k + 1}" for k in range(len(shown)))],
        [[names[j], *(f"{row[j]:+.2f}" for row in shown)] for j in heaviest],
    )
