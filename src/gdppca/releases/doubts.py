"""What a reader must know before reading a number: which private scales are not to be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gdppca.releases.release import Release

UNKNOWN = "scale unknown"
ROUGH = "scale rough"
_ROUGH = 0.35  # error of a logarithm: within a factor of two in 95 of 100 cases
_NAMED = 8  # columns in a sentence


def marked_names(release: Release) -> tuple[str, ...]:
    """Column names, with a word beside those whose private scale is unknown or rough."""
    return tuple(
        f"{name} ({mark})" if mark else name
        for name, mark in zip(release.feature_names, _marks(release), strict=True)
    )


def doubts(release: Release) -> tuple[str, ...]:
    """What stands in doubt, in sentences; from the release alone."""
    marks = _marks(release)
    said = {
        UNKNOWN: (
            "could not be measured: the column hardly varies, or the noise hid its size. It keeps "
            "the scale 1, and every loading, share, variance and score rests on that."
        ),
        ROUGH: (
            "is known only roughly, by a factor of two or more: loadings, shares, variances and "
            "scores may give too much or too little weight to it."
        ),
    }
    named = list(zip(release.feature_names, marks, strict=True))
    return tuple(
        f"The scale of {_listed([name for name, own in named if own == mark])} {words}"
        for mark, words in said.items()
        if mark in marks
    )


def _marks(release: Release) -> list[str]:
    if release.scale_error is None:
        return [""] * release.n_features
    return [
        UNKNOWN if np.isinf(error) else ROUGH if error > _ROUGH else ""
        for error in release.scale_error
    ]


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more columns" if len(names) > _NAMED else ""
    return ("each of " if len(names) > 1 else "") + shown + more
