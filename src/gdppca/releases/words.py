"""What is said of a release: its size, how it was made, what stands in doubt.

Notebook, command line and report say it in these words; `gdppca.privacy.words` has those for its
promise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gdppca._words import capital, counted, percent, plural, rounded_up, signed, spelled
from gdppca.privacy import Unit
from gdppca.releases.certainty import rate_sd, variance_doubt
from gdppca.releases.noise_floor import SeenSpectrum, rate_noise, seen_spectrum
from gdppca.releases.origin import Origin
from gdppca.theory import kept_share
from gdppca.theory.shrinkage import NEGLIGIBLE

if TYPE_CHECKING:
    from gdppca.releases.release import Release

UNKNOWN = "scale unknown"
ROUGH = "scale rough"
_ROUGH = 0.35  # error of a logarithm: within a factor of two in 95 of 100 cases
_NAMED = 8  # columns in a sentence
_WORST = 0.55  # mean move of a share over the noise and √(d - 1): .59 to .52 for 3 to 30 columns
_MANY_POINTS = 5.0  # of per cent, by which a share may not be moved without a word
_FEW_POINTS = 1.0  # of per cent, below which the noise of a share is not worth a word
_MOSTLY_KEPT = 0.8  # share of its difference from the mean that a rate must keep
_LEFT_OVER = 0.05  # what a correction may leave, as the sine of an angle
NOT_ABOVE = "not above the noise"  # what is said of components that may be noise
_HARDLY = 0.25  # share of its cells below which a column seems not to have been understood
_SIGNS = {
    "spherical": "only its direction was kept, whatever its length",
    "winsor": "it was shortened to a given length if longer",
    "trimmed": "its direction was kept, or nothing if it was too long",
    "ball": "it was kept, or nothing if it was too long",
}
_PAIRS = {
    Unit.ROW: {
        "all": "every pair of rows",
        "halves": "pairs of rows, each row in one pair",
        "blocks": "rows inside random blocks of {size}",
        "one-sample": "every row and one {whose} centre",
        "merged": "rows as in the releases of the {groups} groups that were merged",
    },
    Unit.PERSON: {
        "all": "every pair of rows of two persons",
        "halves": "pairs of rows of two persons, each person in one pair",
        "blocks": "rows of different persons inside random blocks of {size}",
        "one-sample": "every row and one {whose} centre, all rows of a person sharing one weight",
        "merged": "rows as in the releases of the {groups} groups of persons that were merged",
    },
}
_AT_RANDOM = (
    "This assumes that cells are missing completely at random; where high values go missing more "
    "often, the components are wrong."
)
_ORIGINS = {
    Origin.PUBLIC: "public, given by the data owner",
    Origin.PRIVATE: "private, paid from the budget",
    Origin.MERGED: "the mean of the merged groups' own centres, private or public as theirs were",
}


def marked_names(release: Release) -> tuple[str, ...]:
    """Column names, with a word beside those whose private scale is unknown or rough."""
    return marked(release, release.feature_names)


def marked(release: Release, names: Sequence[str]) -> tuple[str, ...]:
    """What the columns are called, with the same words beside it."""
    return tuple(
        f"{name} ({mark})" if mark else name
        for name, mark in zip(names, _marks(release), strict=True)
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
    scales = tuple(
        f"The scale of {_each([name for name, own in named if own == mark])} {words}"
        for mark, words in said.items()
        if mark in marks
    )
    lost = tuple(filter(None, [variance_doubt(release)]))
    if release.rates is None:
        return (*scales, *lost)
    gaps = " ".join(filter(None, (_gaps(release), _AT_RANDOM, few_columns_doubt(release))))
    return (*scales, *_hardly_there(release), gaps, *lost)


def _hardly_there(release: Release) -> Iterator[str]:
    """Columns that seem to be nearly empty, by their released rates."""
    assert release.rates is not None
    for name, rate in zip(release.feature_names, release.rates, strict=True):
        if rate < _HARDLY:
            yield (
                f"Hardly anything of '{name}' could be read (about {percent(rate)}): its type, "
                "levels, format or codes may be described wrongly. Components rest on it all the "
                "same."
            )


def _gaps(release: Release) -> str:
    """How many cells are there, and how surely."""
    assert release.rates is not None
    least, most = percent(release.rates.min()), percent(release.rates.max())
    among = f"{least} of each column" if least == most else f"{least} to {most} of a column"
    said = f"Cells are missing: about {among} are there{_give_or_take(release)}."
    return " ".join(filter(None, (said, rates_in_words(release))))


def _give_or_take(release: Release) -> str:
    points = 100 * float(rate_sd(release).max())
    return f", give or take {rounded_up(points, 2)} points" if points >= _FEW_POINTS else ""


def rates_in_words(release: Release) -> str:
    """That shares of cells were drawn to their mean, where that may have moved one by much.

    One column that differs by δ from d - 1 others with noise s is moved by about s²δ/(s² + δ²/d):
    at the worst δ by half of s√(d - 1), and a tenth more since the noise tells how much is kept.
    """
    assert release.rates is not None
    noise = rate_noise(release)
    moved = 100 * _WORST * noise * math.sqrt(release.n_features - 1)
    if moved < _MANY_POINTS or kept_share(release.rates, noise) > _MOSTLY_KEPT:
        return ""
    return (
        "The noise of shares is not small beside what the columns seem to differ by, so they were "
        "drawn to their mean: that of a column with far fewer cells than the others, or far more, "
        f"may have been moved by {rounded_up(moved, 2)} points or so."
    )


def few_columns_doubt(release: Release) -> str:
    """What the correction for missing cells leaves where columns are few; nothing if it is little.

    See docs/proofs/missing.md: off by the order of (1 - q)/(qd) at any number of rows.
    """
    assert release.rates is not None
    left = float(np.mean(1 / release.rates - 1)) / release.n_features
    if left < _LEFT_OVER:
        return ""
    return (
        f"Of only {counted(release.n_features, 'column')} the correction is not exact even then: "
        f"directions may be off by up to about {min(left, 1.0):.1g} (sine of the angle) at any "
        "budget."
    )


def component_names(release: Release, many: int) -> list[str]:
    """What the first components are called, with a word beside those that may be noise."""
    seen = seen_spectrum(release)
    clear = many if seen is None else seen.clear
    return [f"component {k + 1}" + f" ({NOT_ABOVE})" * (k >= clear) for k in range(many)]


def below_in_words(release: Release, seen: SeenSpectrum) -> str:
    """What dots below the band of a spectrum mean; nothing where there are none."""
    below = int((seen.values < seen.low).sum())
    if not below:
        return ""
    gaps = ", or cells are not missing at random" if release.rates is not None else ""
    return (
        f"{capital(spelled(below, 'dot'))} {'lies' if below == 1 else 'lie'} lower than noise "
        f"would bring components that are all alike: along {'it' if below == 1 else 'them'} rows "
        f"differ less than along the others, as where columns determine each other{gaps}."
    )


def _marks(release: Release) -> list[str]:
    if release.scale_error is None:
        return [""] * release.n_features
    return [
        UNKNOWN if np.isinf(error) else ROUGH if error > _ROUGH else ""
        for error in release.scale_error
    ]


def _each(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more columns" if len(names) > _NAMED else ""
    return ("each of " if len(names) > 1 else "") + shown + more


def size_in_words(release: Release) -> str:
    """How many components and columns, and of how many."""
    return (
        f"{counted(len(release.components), 'component')} of "
        f"{counted(release.n_features, 'column')} from {how_many(release)}"
    )


def how_many(release: Release, grouped: str = "") -> str:
    """The number of rows, or of persons, as far as it is known; `grouped` is "," for reports."""
    n = release.n_samples
    many = f"{n:{grouped}} {plural(n, release.unit)}"
    return f"about {many} (an estimate)" if release.n_is_estimate else many


def pairs_in_words(release: Release) -> str:
    """What was compared with what; nothing where the method has a description of its own."""
    if release.scheme is None:
        return ""
    return _PAIRS[release.unit][release.scheme["name"]].format(
        whose=release.centre_origin, **release.scheme
    )


def sign_name(release: Release) -> str:
    """What the sign is called, with its cut-offs."""
    if release.sign is None:
        return ""
    cut_offs = ", ".join(f"{key} {value:.4g}" for key, value in release.sign["parameters"].items())
    return f"{release.sign['name']} sign" + (f" ({cut_offs})" if cut_offs else "")


def sign_in_words(release: Release) -> str:
    """What was kept of a difference."""
    kept = _SIGNS.get(release.sign["name"]) if release.sign is not None else None
    return f"{sign_name(release)}: {kept}" if kept else sign_name(release)


def origin_in_words(origin: Origin, *, without: str) -> str:
    """Where a centre or a scale came from."""
    return _ORIGINS.get(origin, without)


def standing_in_words(m: int, clear: int) -> str:
    """Which of m released components say something, where so many stand above the noise."""
    if m == 0:
        return "No component stands above the noise, so none was released."
    if clear >= m:
        many = {1: "The released component stands", 2: "Both released components stand"}
        return f"{many.get(m, f'All {m} released components stand')} clearly above the noise."
    if clear == 0:
        one = "The released component does not stand" if m == 1 else "No released component stands"
        return (
            f"{one} above the noise. Do not read anything into {'it' if m == 1 else 'them'}: the "
            "table is too small for this budget, or no direction stands out from the others."
        )
    first = "one stands" if clear == 1 else f"{spelled(clear, 'component')} stand"
    return (
        f"Only the first {first} above the noise. Do not read anything into the "
        f"{plural(m - clear, 'other')}."
    )


def loadings_in_words(release: Release) -> str:
    """What was done to the loadings beside the matrix; nothing where nobody asked for it."""
    staged = release.second_stage is not None
    return " ".join(filter(None, (_TWO_STAGES if staged else "", _shrinking(release))))


_TWO_STAGES = (
    "The directions come from two stages: from the released matrix, and from how the rows lie "
    "across its leading eigenvectors."
)


def _shrinking(release: Release) -> str:
    done = release.loadings
    if done is None:
        return ""
    if not done.shrunk:
        plain = "are those of the matrix's plain eigenvectors"
        staged = "stay as the two stages found them"
        return (
            "No loading was shrunk, because what was released gives no reason to: they "
            f"{plain if release.second_stage is None else staged}."
        )
    many = int(done.negligible.sum())
    named = (
        f"{many} of {done.negligible.size} are negligible: zero with a probability of at least "
        f"{percent(NEGLIGIBLE)}."
        if many
        else "None of them is negligible."
    )
    return f"The loadings were shrunk under the known noise, which cost nothing. {named}"


def named_columns(release: Release, k: int) -> np.ndarray:
    """Columns that component k is told by, heaviest first: no negligible ones, and not too many."""
    heaviest = heaviest_columns(release.components[[k]], release.max_loadings or release.n_features)
    return heaviest[~release.negligible[k, heaviest]]


def few_columns_in_words(release: Release, k: int, names: Sequence[str]) -> str:
    """Component k by the few columns that it is to be explained by; nothing where all may be."""
    sparse = release.sparse_components
    if sparse is None:
        return ""
    told = ", ".join(f"{names[j]} {signed(sparse[k, j])}" for j in named_columns(release, k))
    kept = float((release.components[k] * sparse[k]).sum()) ** 2
    named = capital(component_names(release, k + 1)[k])
    return f"{named} in few columns: {told or 'none'} ({percent(kept)} of it)."


def heaviest_columns(components: np.ndarray, many: int) -> np.ndarray:
    """Columns with the largest loadings on any of the components, heaviest first."""
    return np.argsort(-np.abs(components).max(axis=0), kind="stable")[:many]
