"""What a release shows, as facts for the page: spectrum, loadings, score map, variances."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gdppca._errors import MissingExtraError
from gdppca._words import counted, decimal, percent, rounded_up, signed, with_minus
from gdppca.plots import scree as draw_scree
from gdppca.plots.scores import heat_maps
from gdppca.plots.scree import SHOWN_LOADINGS, loadings_with_intervals
from gdppca.plots.style import LONGEST_COLUMN, column_labels, short
from gdppca.releases import (
    Release,
    ScoreMap,
    SeenSpectrum,
    heaviest_columns,
    marked_names,
    release_intervals,
    seen_spectrum,
)
from gdppca.releases.certainty import rate_sd, total_sd, variance_doubt, variance_noise
from gdppca.releases.described import Described, by_variable, described, variable_loadings
from gdppca.releases.words import (
    below_in_words,
    few_columns_doubt,
    few_columns_in_words,
    rates_in_words,
)
from gdppca.report.environment import template
from gdppca.report.figures import Draw, inline_svg
from gdppca.theory import LoadingIntervals, variance_shares

_SHOWN_EIGENVALUES = 12
_SHOWN_GROUPS = 30
_SHOWN_COLUMNS = 30
_SHOWN_COMPONENTS = 5
_DOUBTFUL_SINE = 0.5  # an angle of 30°
_DRAWN_GROUPS = 6

Facts = dict[str, Any]


def with_picture(name: str, title: str, draw: Draw, height: float, *about: object) -> Facts:
    """A picture with what it shows in words, or why there is none."""
    said = getattr(template("alt.txt.j2").module, name)(*about)
    try:
        return {"svg": inline_svg(name, title, str(said), draw, height), "why": ""}
    except MissingExtraError as missing:
        return {"svg": "", "why": str(missing)}


def spectrum(release: Release) -> Facts | None:
    """Eigenvalues against the noise floor, and how many stand above it."""
    seen, m = seen_spectrum(release), len(release.components)
    if seen is None:
        return None
    shares, kept = _shares(release, seen), min(seen.clear, m)
    share = [percent(share) for share in shares]
    return {
        "seen": seen,
        "kept": kept,
        "below": below_in_words(release, seen),
        "carried": percent(sum(shares[:kept])) if shares and kept else "",
        "figure": with_picture(
            "scree",
            "Eigenvalues and noise floor",
            lambda figure: draw_scree(release, figure.subplots(), titled=False, legend="above"),
            3.5,
            *(seen, m, _SHOWN_EIGENVALUES),
        ),
        "rows": [
            (f"{k + 1}", decimal(value), "yes" if seen.is_clear(k) else "no", *share[k : k + 1])
            for k, value in enumerate(seen.values[:_SHOWN_EIGENVALUES])
        ],
    }


def _shares(release: Release, seen: SeenSpectrum) -> list[float]:
    """Shares of variance by component, where the sign allows to compute them."""
    if release.sign is None or release.sign["name"] != "spherical":
        return []
    if not (seen.without_noise > 0).any():  # the noise left nothing
        return []
    shares = variance_shares(seen.without_noise, release.rates)
    return [float(share) for share in shares] if np.isfinite(shares).all() else []


def loadings(release: Release) -> Facts | None:
    """Weights of the columns in the components, and how far the noise may have moved them."""
    if not len(release.components):
        return None
    known = _intervals(release)
    shown, names = release.components[:_SHOWN_COMPONENTS], columns(release)
    sines = np.minimum(known.angles[: known.above_noise], 1.0) if known else []
    pale = known is not None and known.above_noise < min(len(known.angles), 2)
    return {
        "known": known,
        "pale": pale,
        "angles": [math.degrees(math.asin(sine)) for sine in sines],
        "doubtful": [f"{k + 1}" for k, sine in enumerate(sines) if sine > _DOUBTFUL_SINE],
        "figure": with_picture(
            "loadings",
            "Loadings of the first components",
            lambda figure: loadings_with_intervals(
                release, known, figure.subplots(), legend="above"
            ),
            0.8 + 0.3 * (max(min(release.n_features, SHOWN_LOADINGS), 3) + pale),
            *(release, column_labels(release), partial(_reach, release, known), SHOWN_LOADINGS),
        ),
        "kinds": {each.kind for each in described(release)},
        "few": [few_columns_in_words(release, k, marked_names(release)) for k in range(len(shown))],
        "rows": [
            (
                names[j],
                *(f"{signed(v[j])}\n{_reach(release, known, k, j)}" for k, v in enumerate(shown)),
            )
            for j in heaviest_columns(shown, _SHOWN_COLUMNS)
        ],
    }


def columns(release: Release) -> list[tuple[str, str]]:
    """Names of the columns, and what the description says beside them."""
    said = (each.words for each in described(release))
    return list(zip(marked_names(release), said, strict=True))


def variables(release: Release) -> Facts | None:
    """Weights of whole variables, where levels of a category have columns of their own."""
    features = described(release)
    if not len(release.components) or all(each.kind != "category" for each in features):
        return None
    sizes = variable_loadings(release)[1][:_SHOWN_COMPONENTS]
    firsts = [features[of[0]] for of in by_variable(release).values()]
    return {
        "total": len(firsts),
        "rows": [
            (
                (firsts[j].variable, _about_variable(firsts[j])),
                *(f"{size[j]:.2f}\n{percent(size[j] ** 2)}" for size in sizes),
            )
            for j in heaviest_columns(sizes, _SHOWN_COLUMNS)
        ],
    }


def _about_variable(first: Described) -> str:
    if first.kind != "category":
        return first.label
    levels = counted(len(first.levels), "level")
    return f"{first.label}, {levels}" if first.label else levels


def missing(release: Release) -> Facts | None:
    """Shares of cells that are there, by column; None where no cell may be missing."""
    if release.rates is None:
        return None
    several = zip(columns(release), release.rates, rate_sd(release), strict=True)
    return {
        "rows": [
            (name, f"{percent(rate)}\n{_plus_minus(100 * sd)} points") for name, rate, sd in several
        ][:_SHOWN_COLUMNS],
        "drawn": rates_in_words(release),
        "few": few_columns_doubt(release),
    }


def variances(release: Release) -> Facts | None:
    """Variances of the scores, each with its noise; None where none were paid for."""
    if release.variances is None:
        return None
    known = variance_noise(release)
    noise = known or 0.0
    return {
        "weighted": known is None,
        "noise": percent(noise, math.ceil) if noise else "",
        "doubt": variance_doubt(release) or "",
        "rows": [
            (
                f"{k + 1}",
                f"{value:.3g}\n{_plus_minus(noise * value)}",
                f"{root:.3g}\n{_plus_minus(0.5 * noise * root)}",
            )
            for k, (value, root) in enumerate(
                zip(release.variances, np.sqrt(np.maximum(release.variances, 0)), strict=True)
            )
        ],
    }


def _plus_minus(sd: float) -> str:
    """Noise beside a number, rounded up; nothing where there is none."""
    return f"± {rounded_up(sd, 2)}" if sd > 0 else ""


def _intervals(release: Release) -> LoadingIntervals | None:
    """Where the loadings without noise may be; nothing is known without a matrix."""
    if release.scatter is None or release.noise_sd == 0:
        return None
    if release.loadings is not None and release.loadings.shrunk:
        return release_intervals(release).first(_SHOWN_COMPONENTS)
    return release_intervals(
        replace(release, components=release.components[:_SHOWN_COMPONENTS], loadings=None)
    )


def _reach(release: Release, known: LoadingIntervals | None, k: int, j: int) -> str:
    """Where a loading may be without the noise."""
    if known is None:
        return ""
    if k >= known.above_noise:
        return "maybe noise"
    small = "negligible, " if release.negligible[k, j] else ""
    return f"{small}{signed(known.lower[k, j])} to {signed(known.upper[k, j])}"


def score_map(release: Release) -> Facts | None:
    """Where people lie on two components, as counts in cells."""
    shown = release.score_map
    if shown is None:
        return None
    drawn = min(len(shown.counts), _DRAWN_GROUPS)
    groups = shown.groups and tuple(short(name, LONGEST_COLUMN) for name in shown.groups)
    return {
        "drawn": drawn,
        "lost": [f"{k + 1}" for k in shown.axes if k >= _clear(release)],
        "groups": _groups(shown),
        "figure": with_picture(
            "map",
            "Where people lie",
            lambda figure: heat_maps(replace(shown, groups=groups), figure, across=2, most=drawn),
            4.4 if drawn == 1 else 0.6 + 2.6 * math.ceil(drawn / 2),
            *(shown, _SHOWN_GROUPS),
        ),
    }


def _clear(release: Release) -> int:
    """How many components stand above the noise; all where nothing is known of that."""
    seen = seen_spectrum(release)
    return len(release.components) if seen is None else seen.clear


def _groups(shown: ScoreMap) -> list[tuple[str, str, str]]:
    """Totals of the groups inside and outside of a map, with the noise of each."""
    if not shown.groups:
        return []
    inside, outside = shown.counts.sum(axis=(1, 2)), shown.outside
    each = zip(shown.groups, inside, total_sd(shown), outside, strict=True)
    return [
        (name, _noisy_total(within, sd), _noisy_total(beyond, shown.noise_sd))
        for name, within, sd, beyond in each
    ][:_SHOWN_GROUPS]


def _noisy_total(number: Any, sd: float) -> str:
    return f"{with_minus(f'{int(number):,}')}\n{_plus_minus(sd)}"
