"""Streams: accumulate, then draw once."""

import copy
import math
import pickle
import threading
import warnings

import numpy as np
import pytest

from gdppca import (
    DPPCA,
    BudgetExceeded,
    DataError,
    Ledger,
    ParameterError,
    StateError,
    kendall_tau,
)
from gdppca.kernels import sign_covariance


@pytest.fixture
def X(rng):
    return rng.standard_t(3, size=(400, 4)) * [9, 3, 1, 1]


def _repeat(call, argument):
    for _ in range(30):
        call(argument)


def test_batches_release_once_at_the_end(X):
    pca = DPPCA(2, epsilon=2.0)
    for batch in np.split(X, 4):
        pca.partial_fit(batch)
        assert not hasattr(pca, "components_")
    pca.finalize()
    assert pca.n_samples_ == 400
    assert pca.release_.scheme == {"name": "blocks", "size": 64}
    assert pca.guarantee_.epsilon == pytest.approx(2.0, rel=1e-6)
    assert any("order" in str(assumption) for assumption in pca.guarantee_.assumptions)


def test_estimate_is_that_of_blocks(X):
    pca = DPPCA(2, epsilon=math.inf, pairs=32)
    for batch in np.split(X, [100, 101, 250]):
        pca.partial_fit(batch)
    assert np.linalg.norm(pca.finalize().scatter_ - kendall_tau(X)) < 0.05


def test_location_and_scale_stream_too(X):
    scale, centre = [9.0, 3.0, 1.0, 1.0], np.ones(4)
    pca = DPPCA(epsilon=math.inf, location=centre, scale=scale)
    pca.partial_fit(X[:150]).partial_fit(X[150:]).finalize()
    expected = DPPCA(epsilon=math.inf, location=centre, scale=scale).fit(X).scatter_
    np.testing.assert_allclose(pca.scatter_, expected, atol=1e-14)


def test_noise_is_drawn_once_only(X):
    pca = DPPCA().partial_fit(X).finalize()
    with pytest.raises(StateError, match="finalize"):
        pca.finalize()
    with pytest.raises(StateError, match="clone"):
        pca.partial_fit(X)
    with pytest.raises(StateError, match="partial_fit"):
        DPPCA().finalize()


def test_exact_sums_are_not_pickled_and_are_gone_after(X):
    pca = DPPCA().partial_fit(X)
    for leak in (pickle.dumps, copy.copy):
        with pytest.raises(StateError, match="not private"):
            leak(pca)
    assert "sums" not in repr(pca)
    assert not any("accumulated" in name for name in vars(pca.finalize()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"sign": "winsor", "radius": 100.0}, {"radius": 0.1}),
        ({}, {"location": np.zeros(4)}),
        ({"scale": np.ones(4)}, {"scale": 1e6 * np.ones(4)}),
        ({"epsilon": 0.1}, {"epsilon": 100.0}),
        ({"random_state": None}, {"random_state": 1}),
    ],
)
def test_parameters_are_frozen_at_the_first_batch(before, after, X):
    expected = DPPCA(**before).partial_fit(X).partial_fit(X).finalize()
    changed = DPPCA(**before).partial_fit(X).set_params(**after).partial_fit(X).finalize()
    assert changed.noise_sd_ == expected.noise_sd_
    assert changed.guarantee_ == expected.guarantee_
    np.testing.assert_allclose(changed.scatter_, expected.scatter_, atol=20 * expected.noise_sd_)


def test_own_sign_cannot_change_its_bound_midway(X):
    class Own:
        sup_norm = 10.0

        def radial(self, s):
            return np.minimum(s, self.sup_norm)

    pca = DPPCA(sign=Own()).partial_fit(X)
    Own.sup_norm = 1.0
    expected = DPPCA(sign="winsor", radius=10.0).partial_fit(X).finalize()
    assert pca.finalize().noise_sd_ == pytest.approx(expected.noise_sd_)


@pytest.mark.parametrize("location", [None, np.zeros(4)])
def test_interrupted_batch_cannot_be_counted_twice(location, X):
    calls = []

    class Interrupted:
        sup_norm = 1.0

        def radial(self, s):
            calls.append(1)
            if len(calls) == 20:
                raise KeyboardInterrupt
            return np.ones_like(s)

    pca = DPPCA(sign=Interrupted(), location=location)
    with pytest.raises(KeyboardInterrupt):
        _repeat(pca.partial_fit, X)
    for call in (pca.finalize, lambda: pca.partial_fit(X)):
        with pytest.raises(StateError, match="midway"):
            call()


def test_threads_cannot_draw_twice(X):
    pca = DPPCA().partial_fit(X)
    outcomes = []

    def finish():
        try:
            outcomes.append(pca.finalize().scatter_)
        except StateError:
            outcomes.append(None)

    threads = [threading.Thread(target=finish) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome is not None for outcome in outcomes) == 1


def test_paid_release_survives_warnings_as_errors(rng):
    pca = DPPCA("auto", random_state=0).partial_fit(rng.normal(size=(300, 8)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="No direction"):
            pca.finalize()
    assert pca.release_.n_samples == 300


def test_centre_is_a_copy(X):
    centre = np.zeros(4)
    pca = DPPCA(location=centre, epsilon=math.inf).partial_fit(X)
    centre[:] = 100.0
    np.testing.assert_allclose(pca.finalize().scatter_, sign_covariance(X, np.zeros(4)))


def test_columns_must_stay_the_same(X):
    pca = DPPCA().partial_fit(X)
    with pytest.raises(ValueError, match="3 features"):
        pca.partial_fit(X[:, :3])


def test_all_pairs_need_all_rows(X):
    with pytest.raises(ParameterError, match="all rows at once"):
        DPPCA(pairs="all").partial_fit(X)


def test_one_row_in_all_is_too_few():
    with pytest.raises(DataError, match="At least 2 rows"):
        DPPCA(1).partial_fit(np.ones((1, 2))).finalize()


def test_a_refused_release_can_be_made_once_the_cap_is_raised(X, tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("rows", 0.5, 1e-6)
    pca = DPPCA(2, ledger=f"{ledger.address}#rows").partial_fit(X)
    with pytest.raises(BudgetExceeded):
        pca.finalize()
    assert not hasattr(pca, "release_")
    ledger.grant("rows", 2.0)
    assert pca.finalize().n_samples_ == len(X)
    assert ledger.account("rows").spends == 1
