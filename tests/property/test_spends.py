"""A search for parameters that lose a release: nothing that follows a draw may raise."""

import json
import math
import warnings
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gdppca import DPPCA, ParameterError, Release, SignCovariancePCA
from gdppca.linalg import eigenvalues_descending
from gdppca.signs import NAMES
from gdppca.steps.winsorized_mean import WinsorizedMean
from gdppca.theory import denoised_eigenvalues, noise_band


def powers(smallest, largest):
    """Numbers of any size between two powers of ten, their ends included."""
    return st.floats(smallest, largest).map(lambda exponent: 10.0**exponent)


named = [name for name in NAMES if name != "spherical"]
radii = st.one_of(powers(-150, 150), st.sampled_from([1e-150, 1e150, 5e149, 1e80, "quantile"]))


@st.composite
def estimators(draw):
    private = {
        "location": draw(st.sampled_from(["auto", "private", None])),
        "scale": draw(st.sampled_from([None, "private"])),
        "scale_share": draw(st.sampled_from([0.2, 1 - 1e-12, 1 - 1e-6, 1e-12])),
    }
    paper = {"calibration": "paper", "location": None}
    return DPPCA(
        draw(st.sampled_from([1, 2, "auto"])),
        sign=draw(st.sampled_from(named)),
        radius=draw(radii),
        epsilon=draw(st.one_of(powers(-5, 6), st.just(math.inf))),
        delta=draw(powers(-300, -0.01)),
        random_state=draw(st.sampled_from([None, 0])),
        **draw(st.sampled_from([private, paper])),
    )


@st.composite
def tables(draw):
    n, d = draw(st.sampled_from([(2, 2), (30, 3), (8, 70)]))
    X = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, d))
    return X * draw(powers(-307, 307))


def fit(pca, X, door):
    if door == "batches":
        pca.partial_fit(X[: len(X) // 2]).partial_fit(X[len(X) // 2 :]).finalize()
    else:
        pca.fit(X)


@settings(max_examples=300, deadline=None)
@given(
    pca=estimators(),
    X=tables(),
    door=st.sampled_from(["table", "batches"]),
    action=st.sampled_from(["ignore", "error"]),
)
def test_whatever_is_refused_is_refused_before_the_debit(pca, X, door, action):
    with mock.patch("gdppca.design.run.enter") as debit, warnings.catch_warnings():
        warnings.simplefilter(action)
        try:
            fit(pca, X, door)
        except (ParameterError, Warning):
            assert not debit.called or hasattr(pca, "release_")
            return
    assert debit.called
    require_finite(pca.release_)


def require_finite(release):
    """Every number that was published, and what follows from it, is one; the file is read again."""
    again = Release.from_dict(json.loads(json.dumps(release.to_dict(), allow_nan=False)))
    values = eigenvalues_descending(again.scatter)
    about = values, again.noise_sd, again.n_samples, again.centre_bias
    for numbers in (values, noise_band(*about), denoised_eigenvalues(*about)):
        assert np.isfinite(numbers).all()


@settings(max_examples=100, deadline=None)
@given(
    sign=st.sampled_from(named),
    radius=powers(-150, 150),
    rho=powers(-10, 6),
    noise=st.sampled_from(["accounted", "printed"]),
    X=tables(),
)
def test_sign_covariance_draws_nothing_that_it_cannot_publish(sign, radius, rho, noise, X):
    pca = SignCovariancePCA(1, sign=sign, radius=radius, rho=rho, noise=noise, random_state=0)
    with (
        mock.patch.object(WinsorizedMean, "draw", autospec=True) as drawn,
        warnings.catch_warnings(),
    ):
        drawn.side_effect = lambda step, table, state, noise: state.with_(
            location=np.zeros(X.shape[1])
        )
        warnings.simplefilter("ignore")
        try:
            pca.fit(X)
        except ParameterError:
            assert not drawn.called
            return
    require_finite(pca.release_)
