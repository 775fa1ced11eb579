"""Pictures of a report in words, for those who do not see them."""

from __future__ import annotations

import numpy as np

from gdppca._words import decimal, signed
from gdppca.releases import Release, ScoreMap, SeenSpectrum, heaviest_columns, marked_names
from gdppca.theory import LoadingIntervals

SHOWN_EIGENVALUES = 12
SHOWN_GROUPS = 30


def spectrum_in_words(seen: SeenSpectrum, kept: int) -> str:
    """Eigenvalues, the noise floor, and how many lie above it."""
    values = seen.values
    shown = ", ".join(decimal(value, 3) for value in values[:SHOWN_EIGENVALUES])
    more = " and so on" if len(values) > SHOWN_EIGENVALUES else ""
    return (
        f"A falling line with one dot per released eigenvalue, {len(values)} in all: "
        f"{shown}{more}. A shaded band up to {decimal(seen.high, 3)} shows where the remaining "
        "components and the noise lie; "
        f"{int((values > seen.high).sum())} of the dots lie above it. Large dots mark the "
        f"{kept} released."
    )


def loadings_in_words(release: Release, known: LoadingIntervals | None, many: int) -> str:
    """The heaviest columns of each component that is drawn."""
    said, names = ["Horizontal bars, one per column and component."], marked_names(release)
    for k, component in enumerate(release.components[:2]):
        weights = (
            f"{names[j]} {signed(component[j])}{reach(known, k, j, ' ({})')}"
            for j in heaviest_columns(component[None], many)
        )
        said.append(f"Component {k + 1}: {', '.join(weights)}.")
    return " ".join(said)


def reach(known: LoadingIntervals | None, k: int, j: int, form: str) -> str:
    """Where a loading may be without the noise."""
    if known is None:
        return ""
    if k >= known.above_noise:
        return form.format("maybe noise")
    return form.format(f"{signed(known.lower[k, j])} to {signed(known.upper[k, j])}")


def map_in_words(shown: ScoreMap) -> str:
    """Frame, totals and the fullest cells."""
    x, y = shown.x_edges, shown.y_edges
    said = [
        f"A map of {'noisy' if shown.noise_sd else 'exact'} counts. Scores on component "
        f"{shown.axes[0] + 1} run from {x[0]:.3g} to {x[-1]:.3g}, on component "
        f"{shown.axes[1] + 1} from {y[0]:.3g} to {y[-1]:.3g}."
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
    return " ".join(said[: SHOWN_GROUPS + 1])
