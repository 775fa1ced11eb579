"""A private score map on its own: design, debit, frame and counts, publish."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.design import Design, run
from gdppca.design.shares import checked_axes
from gdppca.ledgers import Booking
from gdppca.linalg import LARGEST
from gdppca.noise import Noise, noise_for
from gdppca.privacy.assumptions import PUBLIC_FRAME
from gdppca.privacy.budget import warn_of_large_delta
from gdppca.releases.files import checksum
from gdppca.releases.rows import ledger_of, opened_for, release_of, require_replacing, state_of
from gdppca.releases.score_map import ScoreMap, published_map
from gdppca.steps.score_map import MapCounts, Span
from gdppca.tables.groups import group_codes

if TYPE_CHECKING:
    from gdppca.releases.release import Release

_SHOWN_SDS = 3.0  # of a frame from released variances


def score_map(
    X: Any,
    pca: Any,
    bins: Any = "auto",
    epsilon: float = 1.0,
    delta: float = 1e-6,
    groups: Any = None,
    *,
    axes: tuple[int, int] = (0, 1),
    categories: Any = None,
    frame: Any = None,
    kind: str = "dense",
    noise: str = "auto",
    use_location: bool = True,
    persons: Any = None,
    ledger: str | None = None,
    random_state: int | Noise | None = None,
) -> ScoreMap:
    r"""Release a private map of the scores on two components.

    What people show of a principal component analysis is the scatter plot of its scores, where
    every point is a person. This is what can be shown instead: noisy counts of the rows in the
    bins of a frame that is found privately.

    Parameters
    ----------
    X : table of shape (n, d)
        Rows with the columns of the fit.
    pca : DPPCA or Release
        Fitted estimator, or what it published.
    bins : "auto", int or (int, int), default "auto"
        Bins along each axis; "auto" follows from the number of rows and the noise.
    epsilon, delta : float
        Budget of the map: frame and counts together. Infinite ε adds no noise.
    axes : (int, int), default (0, 1)
        Which components, counted from zero.
    groups : None or sequence of n labels, default None
        One map per group. A pandas Categorical or a polars Enum brings its categories along.
    categories : None or sequence, default None
        The groups that there are, for labels that do not say so themselves; public. Rows with
        other labels, or none, are counted nowhere.
    frame : None, ((x0, x1), (y0, y1)) or "variances", default None
        None finds the frame privately. Public numbers cost nothing. "variances" takes three
        released standard deviations around the released centre and costs nothing either.
    kind : "dense" or "sparse", default "dense"
        Noise on all counts, or only on those of cells that hold a row, shown above a threshold.
    noise : "auto", "laplace" or "gaussian", default "auto"
        Law of the noise. "auto" takes the smaller noise, which is the discrete Laplace unless δ is
        huge. The Gaussian composes better with a fit that takes most of a common budget.
    use_location : bool, default True
        Put the middle of a private frame at the release's own centre, if it has one; else the
        middle is found too.
    persons : None, sequence of n ids or str, default None
        Whose each row is, where a person may have several: one random row of each is counted, and
        the promise is about persons. Or the name of the column that says so.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients". None
        takes that of a fitted estimator, if it has one; a Release has none.
    random_state : None or int, default None
        None draws from the system's secure source. A seed makes a simulation that protects
        nobody, and the guarantee says so.

    Returns
    -------
    ScoreMap
        Counts, edges and guarantee.

    Notes
    -----
    **Privacy.** (ε, δ)-differential privacy for replace-one neighbours, n public: two pure events
    per axis for the frame (one where the release has a centre), then two pure events or a Gaussian
    one for the counts. One row leaves one cell and enters another, over all groups together. Rows
    outside the frame are counted in `outside`, in no bin. The guarantee is about the map alone:
    add that of the components.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca import DPPCA
    >>> from gdppca.releases import score_map
    >>> X = np.random.default_rng(0).normal(size=(3000, 4)) * [5, 3, 1, 1]
    >>> sex = np.where(np.arange(3000) % 3, "female", "male")
    >>> pca = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(X)
    >>> shown = score_map(X, pca, groups=sex, categories=["female", "male"], epsilon=0.5)
    >>> shown.groups
    ('female', 'male')
    >>> round((pca.guarantee_ + shown.guarantee).epsilon, 1)
    1.4
    """
    release, source = release_of(pca), noise_for(random_state)
    require_replacing(release)
    table, public = opened_for(X, release, source, persons)
    codes, names = group_codes(groups, categories, len(table.values))
    chosen = checked_axes(axes, len(release.components))
    step = MapCounts(
        public=public,
        epsilon=epsilon,
        delta=delta,
        axes=chosen,
        known_center=use_location and release.location is not None,
        spans=_free_spans(frame, release, chosen),
        bins=bins,
        names=names,
        kind=kind,
        law=noise,
    )
    warn_of_large_delta(delta, table.n_samples, stacklevel=2, those=public.those)
    public_frame = frame is not None and not isinstance(frame, str)
    design = Design.of(
        step,
        epsilon=epsilon,
        delta=delta,
        noiseless=math.isinf(epsilon),
        start=state_of(release),
        assumptions=(PUBLIC_FRAME,) if public_frame else (),
    )
    asked = {"epsilon": epsilon, "delta": delta, "axes": list(chosen), "kind": kind, "noise": noise}
    booking = Booking(ledger_of(pca, ledger), "score_map", asked)
    state = run(design, replace(table, codes=codes), source, booking)
    shown = published_map(step, design, state, booking.address is not None, source.seeded)
    booking.complete(checksum(shown.to_dict()))
    return replace(shown, entries=booking.entries)


def _free_spans(frame: Any, release: Release, axes: tuple[int, int]) -> tuple[Span, Span] | None:
    """The frame where it costs nothing, or None where it is to be found privately."""
    if frame is None:
        return None
    if isinstance(frame, str):
        _validate.one_of(("variances",), frame=frame)
        if release.variances is None or release.location is None:
            raise ParameterError(
                "`frame='variances'` needs a release with variances and a location. "
                "Leave `frame` out, or give public numbers."
            )
        half = _SHOWN_SDS * np.sqrt(release.variances[list(axes)])
        spans = np.stack([-half, half], axis=1)
    else:
        spans = _numbers(frame)
    size = np.abs(spans).max(axis=1)
    if not (size <= LARGEST / 4).all() or not (np.diff(spans)[:, 0] > 1e-9 * size).all():
        raise ParameterError(
            "`frame` must hold finite spans (low, high), low < high by a billionth of their size."
        )
    return tuple(spans[0].tolist()), tuple(spans[1].tolist())


def _numbers(frame: Any) -> np.ndarray:
    spans = _validate.floats(frame)
    if spans is None or spans.shape != (2, 2):
        raise ParameterError("`frame` must be ((x0, x1), (y0, y1)), 'variances' or None.")
    return spans
