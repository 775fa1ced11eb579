"""What a release shows, as facts for the page: spectrum, loadings, score map, variances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gdppca._errors import MissingExtraError, ParameterError
from gdppca._words import decimal, percent, signed, with_minus
from gdppca.plots import scree as draw_scree
from gdppca.plots.scores import heat_maps
from gdppca.plots.scree import SHOWN_LOADINGS, loadings_with_intervals
from gdppca.plots.style import LONGEST_COLUMN, short
from gdppca.releases import (
    Release,
    ScoreMap,
    SeenSpectrum,
    heaviest_columns,
    marked_names,
    release_intervals,
    seen_spectrum,
)
from gdppca.releases.words import standing_in_words
from gdppca.report import alt
from gdppca.report.figures import inline_svg
from gdppca.report.words import rest, table
from gdppca.theory import LoadingIntervals, spherical_eigenvalues_inverse

_SHOWN_COLUMNS = 30
_SHOWN_COMPONENTS = 5
_DOUBTFUL_SINE = 0.5  # an angle of 30°
_DRAWN_GROUPS = 6

Facts = dict[str, Any]


def _picture(name: str, title: str, said: str, draw: Callable[[Any], None], height: float) -> Facts:
    """A picture, or why there is none."""
    try:
        return {"svg": inline_svg(name, title, said, draw, height), "why": ""}
    except MissingExtraError as missing:
        return {"svg": "", "why": str(missing)}


def spectrum(release: Release) -> Facts | None:
    """Eigenvalues against the noise floor, and how many stand above it."""
    seen, m = seen_spectrum(release), len(release.components)
    if seen is None:
        return None
    shares, kept = _shares(release, seen), min(seen.clear, m)
    return {
        "finding": standing_in_words(m, seen.clear),
        "kept": kept,
        "carried": percent(sum(shares[:kept])) if shares and kept else "",
        "further": max(seen.clear - m, 0) if m else 0,
        "figure": _picture(
            "scree",
            "Eigenvalues and noise floor",
            alt.spectrum_in_words(seen, m),
            lambda figure: draw_scree(release, figure.subplots(), titled=False),
            3.2,
        ),
        "table": _spectrum_table(seen, shares),
    }


def _shares(release: Release, seen: SeenSpectrum) -> list[float]:
    """Shares of variance by component, where the sign allows to compute them."""
    if release.sign is None or release.sign["name"] != "spherical":
        return []
    try:
        shares = spherical_eigenvalues_inverse(seen.without_noise)
    except ParameterError:  # the noise left nothing above zero
        return []
    return [float(share) for share in shares] if np.isfinite(shares).all() else []


def _spectrum_table(seen: SeenSpectrum, shares: list[float]) -> Facts:
    head = ["Component", "Eigenvalue", "Above the noise"] + ["Share of variation"] * bool(shares)
    rows = []
    for k, value in enumerate(seen.values[: alt.SHOWN_EIGENVALUES]):
        row = [str(k + 1), decimal(value), "yes" if seen.is_clear(k) else "no"]
        rows.append(row + ([percent(shares[k])] if shares else []))
    note = rest(len(seen.values), alt.SHOWN_EIGENVALUES, "largest ones")
    caption = f"Eigenvalues; the remaining ones and the noise end at {decimal(seen.high)}"
    return table(caption, head, rows, note=note)


def loadings(release: Release) -> Facts | None:
    """Weights of the columns in the components, and how far the noise may have moved them."""
    if not len(release.components):
        return None
    known = _intervals(release)
    about = _about(known)
    lines = max(min(release.n_features, SHOWN_LOADINGS), 3) + bool(about and about["pale"])
    return {
        **_turned(known),
        "known": about,
        "figure": _picture(
            "loadings",
            "Loadings of the first components",
            alt.loadings_in_words(release, known, SHOWN_LOADINGS),
            lambda figure: loadings_with_intervals(
                release, known, figure.subplots(), legend="above"
            ),
            0.8 + 0.3 * lines,
        ),
        "table": _loadings_table(release, known),
    }


def _intervals(release: Release) -> LoadingIntervals | None:
    """Where the loadings without noise may be; nothing is known without a matrix."""
    if release.scatter is None or release.noise_sd == 0:
        return None
    return release_intervals(replace(release, components=release.components[:_SHOWN_COMPONENTS]))


def _turned(known: LoadingIntervals | None) -> Facts:
    """How far the noise turned each component, as an angle, and which are in doubt."""
    sines = [] if known is None else np.minimum(known.angles[: known.above_noise], 1.0)
    return {
        "turned": [f"component {k + 1} by {_angle(sine)}" for k, sine in enumerate(sines)],
        "doubtful": [f"{k + 1}" for k, sine in enumerate(sines) if sine > _DOUBTFUL_SINE],
    }


def _angle(sine: float) -> str:
    degrees = math.degrees(math.asin(sine))
    return f"about {degrees:.0f}°" if degrees >= 1 else "less than 1°"


def _about(known: LoadingIntervals | None) -> Facts | None:
    """What the intervals are about; whether a drawn component has none."""
    if known is None:
        return None
    pale = known.above_noise < min(len(known.angles), 2)
    return {"about": known.about, "cases": f"{100 * known.level:.0f}", "pale": pale}


def _loadings_table(release: Release, known: LoadingIntervals | None) -> Facts:
    shown = release.components[:_SHOWN_COMPONENTS]
    heaviest = heaviest_columns(shown, _SHOWN_COLUMNS)
    names = marked_names(release)
    rows = [
        [
            names[j],
            *(signed(v[j]) + alt.reach(known, k, j, "\n{}") for k, v in enumerate(shown)),
        ]
        for j in heaviest
    ]
    head = ["Column", *(f"Component {k + 1}" for k in range(len(shown)))]
    notes = (
        rest(release.n_features, _SHOWN_COLUMNS, "heaviest columns"),
        rest(len(release.components), _SHOWN_COMPONENTS, "first components"),
    )
    caption = "Loadings" if known is None else "Loadings, and where they may be without the noise"
    return table(caption, head, rows, note=" ".join(note for note in notes if note))


def score_map(release: Release) -> Facts | None:
    """Where people lie on two components, as counts in cells."""
    shown = release.score_map
    if shown is None:
        return None
    tables = len(shown.counts)
    drawn = min(tables, _DRAWN_GROUPS)
    return {
        "components": [axis + 1 for axis in shown.axes],
        "cells": shown.counts.shape[1:],
        "noise_sd": f"{shown.noise_sd:.2g}" if shown.noise_sd else "",
        "threshold": shown.threshold if shown.kind == "sparse" else None,
        "groups": tables,
        "drawn": drawn,
        "figure": _picture(
            "map",
            "Where people lie",
            alt.map_in_words(shown),
            lambda figure: heat_maps(_with_short_names(shown), figure, across=2, most=drawn),
            4.4 if drawn == 1 else 0.6 + 2.6 * math.ceil(drawn / 2),
        ),
        "table": _group_table(shown) if tables > 1 else None,
    }


def _with_short_names(shown: ScoreMap) -> ScoreMap:
    if shown.groups is None:
        return shown
    return replace(shown, groups=tuple(short(name, LONGEST_COLUMN) for name in shown.groups))


def _group_table(shown: ScoreMap) -> Facts:
    rows = [
        (name, with_minus(f"{int(counts.sum()):,}"), with_minus(f"{int(out):,}"))
        for name, counts, out in zip(shown.groups or (), shown.counts, shown.outside, strict=True)
    ]
    note = rest(len(rows), alt.SHOWN_GROUPS, "first groups")
    head = ["Group", "Inside the map", "Outside"]
    caption = f"{'Noisy' if shown.noise_sd else 'Exact'} numbers of rows"
    return table(caption, head, rows[: alt.SHOWN_GROUPS], note=note)


def variances(release: Release) -> Facts | None:
    """How much people vary along the components, where that was paid for."""
    if release.variances is None:
        return None
    rows = [
        (str(k + 1), f"{value:.4g}", f"{math.sqrt(max(value, 0.0)):.4g}")
        for k, value in enumerate(release.variances)
    ]
    head = ["Component", "Variance", "Standard deviation"]
    return table("Variance of the scores", head, rows, named_above=True)
