"""What a release shows: spectrum, loadings, score map, variances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gdppca._errors import MissingExtraError, ParameterError
from gdppca.linalg import eigenvalues_descending
from gdppca.plots import score_heatmap as draw_heatmap
from gdppca.plots import scree as draw_scree
from gdppca.privacy.words import percent
from gdppca.releases import Release, ScoreMap, marked_names, release_intervals
from gdppca.report.figures import DRAWN_COLUMNS, inline_svg, label, loadings_with_intervals
from gdppca.report.words import (
    capital,
    counted,
    decimal,
    listed,
    rest,
    signed,
    table,
    with_minus,
)
from gdppca.theory import (
    LoadingIntervals,
    components_above_noise,
    denoised_eigenvalues,
    noise_band,
    spherical_eigenvalues_inverse,
)

_SHOWN_EIGENVALUES = 12
_SHOWN_COLUMNS = 30
_SHOWN_COMPONENTS = 5
_DOUBTFUL_SINE = 0.5  # an angle of 30°
_DRAWN_GROUPS = 6
_SHOWN_GROUPS = 30

Facts = dict[str, Any]


def _picture(name: str, title: str, said: str, draw: Callable[[Any], None], height: float) -> Facts:
    """A picture, or why there is none."""
    try:
        return {"svg": inline_svg(name, title, said, draw, height), "why": ""}
    except MissingExtraError as missing:
        return {"svg": "", "why": str(missing)}


def _untitled(figure: Any, release: Release, draw: Callable[[Release, Any], None]) -> None:
    """One picture whose title is the heading above it."""
    axes = figure.subplots()
    draw(release, axes)
    axes.set_title("")


def spectrum(release: Release) -> Facts:
    """Eigenvalues against the noise floor, and how many stand above it."""
    if release.scatter is None:
        return {
            "finding": f"{release.method} releases components only.",
            "words": "Without a matrix there is no spectrum to draw, and nothing tells which "
            "components stand above the noise.",
            "figure": None,
            "table": None,
        }
    values = eigenvalues_descending(release.scatter)
    noise = (release.noise_sd, release.n_samples, release.centre_bias)
    edge = noise_band(values, *noise)[1]
    clear = components_above_noise(values, *noise)
    shares = _shares(release, values)
    return {
        "finding": _finding(len(release.components), clear),
        "words": _more(len(release.components), clear, shares),
        "figure": _picture(
            "scree",
            "Eigenvalues and noise floor",
            _spectrum_in_words(values, edge, len(release.components)),
            lambda figure: _untitled(figure, release, draw_scree),
            3.2,
        ),
        "table": _spectrum_table(values, edge, shares),
    }


def _shares(release: Release, values: np.ndarray) -> list[float]:
    """Shares of variance by component, where the sign allows to compute them."""
    if release.sign is None or release.sign["name"] != "spherical":
        return []
    try:
        clean = denoised_eigenvalues(
            values, release.noise_sd, release.n_samples, release.centre_bias
        )
        shares = spherical_eigenvalues_inverse(clean)
    except ParameterError:  # the noise left nothing above zero
        return []
    return [float(share) for share in shares] if np.isfinite(shares).all() else []


def _finding(m: int, clear: int) -> str:
    """Which of the released components say something."""
    if m == 0:
        return "No component stands above the noise, so none was released."
    if clear >= m:
        many = {1: "The released component stands", 2: "Both released components stand"}
        return f"{many.get(m, f'All {m} released components stand')} clearly above the noise."
    if clear == 0:
        one = "The released component does not stand" if m == 1 else "No released component stands"
        return (
            f"{one} above the noise. Do not read anything into "
            f"{'it' if m == 1 else 'them'}: the table is too small for this budget."
        )
    first = "one stands" if clear == 1 else f"{counted(clear, 'component')} stand"
    return (
        f"Only the first {first} above the noise. Do not read anything into the "
        f"other{'s' * (m - clear > 1)}."
    )


def _more(m: int, clear: int, shares: list[float]) -> str:
    said, kept = [], min(clear, m)
    if shares and kept:
        carried = percent(sum(shares[:kept]))
        said.append(
            f"{'It carries' if kept == 1 else 'Together they carry'} about {carried} of the "
            "variation in the table, once the noise is taken into account (and if the data are "
            "roughly elliptical)."
        )
    if m and clear > m:
        said.append(
            f"{capital(counted(clear - m, 'further component'))} "
            f"stand{'s' * (clear - m == 1)} above the noise too."
        )
    return " ".join(said)


def _spectrum_in_words(values: np.ndarray, edge: float, kept: int) -> str:
    shown = ", ".join(decimal(value, 3) for value in values[:_SHOWN_EIGENVALUES])
    more = " and so on" if len(values) > _SHOWN_EIGENVALUES else ""
    return (
        f"A falling line with one dot per released eigenvalue, {len(values)} in all: "
        f"{shown}{more}. A shaded band up to {decimal(edge, 3)} shows where the remaining "
        "components and the noise lie; "
        f"{int((values > edge).sum())} of the dots lie above it. Large dots mark the "
        f"{kept} released."
    )


def _spectrum_table(values: np.ndarray, edge: float, shares: list[float]) -> Facts:
    head = ["Component", "Eigenvalue", "Above the noise"] + ["Share of variation"] * bool(shares)
    rows = []
    for k, value in enumerate(values[:_SHOWN_EIGENVALUES]):
        row = [str(k + 1), decimal(value), "yes" if value > edge else "no"]
        rows.append(row + ([percent(shares[k])] if shares else []))
    note = rest(len(values), _SHOWN_EIGENVALUES, "largest ones")
    return table(
        f"Eigenvalues; the remaining ones and the noise end at {decimal(edge)}",
        head,
        rows,
        note=note,
    )


def loadings(release: Release) -> Facts:
    """Weights of the columns in the components, and how far the noise may have moved them."""
    if not len(release.components):
        none = "There are no components, so there are no loadings."
        return {"words": none, "known": "", "figure": None, "caption": "", "table": None}
    known = _intervals(release)
    named = replace(release, feature_names=tuple(label(name) for name in release.feature_names))
    drawn = max(min(release.n_features, DRAWN_COLUMNS), 3)
    return {
        "words": "",
        "known": _known_in_words(known),
        "caption": _loadings_caption(known),
        "figure": _picture(
            "loadings",
            "Loadings of the first components",
            _loadings_in_words(release, known),
            lambda figure: loadings_with_intervals(named, known, figure.subplots()),
            0.8 + 0.3 * drawn,
        ),
        "table": _loadings_table(release, known),
    }


def _intervals(release: Release) -> LoadingIntervals | None:
    """Where the loadings without noise may be; nothing is known without a matrix."""
    if release.scatter is None or release.noise_sd == 0:
        return None
    return release_intervals(replace(release, components=release.components[:_SHOWN_COMPONENTS]))


def _known_in_words(known: LoadingIntervals | None) -> str:
    """How far the noise turned each component, as an angle, and which are in doubt."""
    if known is None or not known.above_noise:
        return ""
    sines = np.minimum(known.angles[: known.above_noise], 1.0)
    turned = [f"component {k + 1} by {_angle(sine)}" for k, sine in enumerate(sines)]
    said = f"The noise is expected to have turned {listed(turned)}; 90° would be worthless."
    doubtful = [f"{k + 1}" for k, sine in enumerate(sines) if sine > _DOUBTFUL_SINE]
    if doubtful:
        one = len(doubtful) == 1
        said += (
            f" Read component{'s' * (not one)} {listed(doubtful)} with care: "
            f"{'it' if one else 'they'} may be mixed with other components of about the same size."
        )
    return said


def _angle(sine: float) -> str:
    degrees = math.degrees(math.asin(sine))
    return f"about {degrees:.0f}°" if degrees >= 1 else "less than 1°"


def _loadings_caption(known: LoadingIntervals | None) -> str:
    if known is None:
        return "Bars are the released loadings."
    return (
        f"Bars are the released loadings. Thin lines are to hold {known.about}, and do so in about "
        f"{100 * known.level:.0f} cases of 100. They do not cover which people happen to be in the "
        "table."
        + " Pale bars belong to components that may be noise."
        * (known.above_noise < min(len(known.angles), 2))
    )


def _loadings_in_words(release: Release, known: LoadingIntervals | None) -> str:
    said, names = ["Horizontal bars, one per column and component."], marked_names(release)
    for k, component in enumerate(release.components[:2]):
        heaviest = np.argsort(-np.abs(component), kind="stable")[:DRAWN_COLUMNS]
        weights = (
            f"{names[j]} {signed(component[j])}{_reach(known, k, j, ' ({})')}" for j in heaviest
        )
        said.append(f"Component {k + 1}: {', '.join(weights)}.")
    return " ".join(said)


def _reach(known: LoadingIntervals | None, k: int, j: int, form: str) -> str:
    if known is None:
        return ""
    if k >= known.above_noise:
        return form.format("maybe noise")
    return form.format(f"{signed(known.lower[k, j])} to {signed(known.upper[k, j])}")


def _loadings_table(release: Release, known: LoadingIntervals | None) -> Facts:
    shown = release.components[:_SHOWN_COMPONENTS]
    heaviest = np.argsort(-np.abs(shown).max(axis=0), kind="stable")[:_SHOWN_COLUMNS]
    names = marked_names(release)
    rows = [
        [
            names[j],
            *(signed(v[j]) + _reach(known, k, j, "\n{}") for k, v in enumerate(shown)),
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
    if shown.groups is not None:
        shown = replace(shown, groups=tuple(label(name) for name in shown.groups))
    tables = len(shown.counts)
    drawn = min(tables, _DRAWN_GROUPS)
    return {
        "words": _map_in_short(shown),
        "caption": _map_caption(shown) + _rest_of_groups(tables, drawn),
        "figure": _picture(
            "map",
            "Where people lie",
            _map_in_words(release.score_map or shown),
            lambda figure: _heat_maps(figure, shown, drawn),
            4.4 if drawn == 1 else 0.6 + 2.6 * math.ceil(drawn / 2),
        ),
        "table": _group_table(release.score_map or shown) if tables > 1 else None,
    }


def _rest_of_groups(tables: int, drawn: int) -> str:
    """What a figure with many groups leaves out."""
    return f" Only the first {drawn} of {tables} groups are drawn." if tables > drawn else ""


def _heat_maps(figure: Any, shown: ScoreMap, drawn: int) -> None:
    """Small multiples on one scale, two beside each other so that a phone shows them."""
    columns = min(drawn, 2)
    lines = math.ceil(drawn / columns)
    panels = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    highest = max(float(shown.counts.max()), 1.0)
    for group, axes in enumerate(panels.ravel()):
        if group >= drawn:
            axes.set_visible(False)
            continue
        mesh = draw_heatmap(shown, axes, group=group, highest=highest)
        axes.label_outer()
    bar = figure.colorbar(mesh, ax=panels, shrink=0.8, pad=0.02)
    bar.set_label("rows in a cell")
    bar.outline.set_visible(False)


def _map_in_short(shown: ScoreMap) -> str:
    first, second = (axis + 1 for axis in shown.axes)
    across, up = shown.counts.shape[1:]
    return (
        f"Every row has a score on component {first} and one on component {second}. The map counts "
        f"the rows in {across} × {up} cells, with noise on every count."
    )


def _map_caption(shown: ScoreMap) -> str:
    if shown.noise_sd == 0:
        return "Darker cells hold more rows. The counts are exact: nobody is protected."
    least = (
        f"no count, or one below {shown.threshold}"
        if shown.kind == "sparse"
        else "counts that may be noise alone"
    )
    return (
        f"Darker cells hold more rows. White: {least}. The noise has a standard deviation of "
        f"{shown.noise_sd:.2g} rows."
    )


def _map_in_words(shown: ScoreMap) -> str:
    """Frame, totals and the fullest cells."""
    x, y = shown.x_edges, shown.y_edges
    said = [
        f"A map of noisy counts. Scores on component {shown.axes[0] + 1} run from {x[0]:.3g} to "
        f"{x[-1]:.3g}, on component {shown.axes[1] + 1} from {y[0]:.3g} to {y[-1]:.3g}."
    ]
    for counts, outside, name in zip(
        shown.counts, shown.outside, shown.groups or ("All rows",), strict=True
    ):
        i, j = np.unravel_index(int(counts.argmax()), counts.shape)
        said.append(
            f"{name}: about {int(counts.sum()):,} inside, {int(outside):,} outside; the fullest "
            f"cell, around {(x[i] + x[i + 1]) / 2:.3g} and {(y[j] + y[j + 1]) / 2:.3g}, has "
            f"{int(counts[i, j]):,}."
        )
    return " ".join(said[: _SHOWN_GROUPS + 1])


def _group_table(shown: ScoreMap) -> Facts:
    rows = [
        (name, with_minus(f"{int(counts.sum()):,}"), with_minus(f"{int(out):,}"))
        for name, counts, out in zip(shown.groups or (), shown.counts, shown.outside, strict=True)
    ]
    note = rest(len(rows), _SHOWN_GROUPS, "first groups")
    head = ["Group", "Inside the map", "Outside"]
    return table("Noisy numbers of rows", head, rows[:_SHOWN_GROUPS], note=note)


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
