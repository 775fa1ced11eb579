"""DPPCA as its users call it."""

import math
import re
import warnings
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from gdppca import (
    DPPCA,
    ColumnTypeError,
    DataError,
    ParameterError,
    PrivacyWarning,
    Release,
    StateError,
    kendall_tau,
    sin_theta,
)
from gdppca._errors import BudgetExceeded, LedgerError
from gdppca.kernels import sign_covariance
from gdppca.ledgers import Ledger


@pytest.fixture
def X(rng):
    return rng.standard_t(3, size=(400, 4)) * [9, 3, 1, 1]


def test_exact_fit_is_the_eigenvectors_of_the_pair_scatter(X):
    pca = DPPCA(n_components=3, epsilon=math.inf).fit(X)
    K = kendall_tau(X)
    np.testing.assert_allclose(pca.scatter_, K)
    values, vectors = np.linalg.eigh(K)
    assert sin_theta(pca.components_, vectors[:, ::-1][:, :3].T) < 1e-7
    np.testing.assert_allclose(pca.eigenvalues_, values[::-1])
    assert math.isinf(pca.guarantee_.epsilon)
    assert pca.guarantee_.status == "none"


def test_default_promise_is_what_was_asked(X):
    pca = DPPCA(n_components=2, epsilon=0.7, delta=1e-5).fit(X)
    assert pca.guarantee_.epsilon == pytest.approx(0.7, rel=1e-6)
    assert pca.guarantee_.epsilon <= 0.7
    assert pca.guarantee_.delta == 1e-5
    assert pca.guarantee_.neighbors == "replace-one"
    assert not pca.guarantee_.seeded
    assert pca.noise_floor_ == pytest.approx(pca.noise_sd_ * math.sqrt(8))
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(2), atol=1e-12)


def test_seed_makes_a_simulation_and_says_so(X):
    first, second = (DPPCA(random_state=5).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.scatter_, second.scatter_)
    assert first.guarantee_.seeded
    assert math.isinf(first.guarantee_.epsilon)


def test_secure_fits_differ(X):
    assert not np.array_equal(DPPCA().fit(X).scatter_, DPPCA().fit(X).scatter_)


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_give_the_same_as_arrays(convert, X):
    names = ["age", "weight", "height", "pulse"]
    frame = convert({name: X[:, k] for k, name in enumerate(names)})
    pca = DPPCA(random_state=0).fit(frame)
    np.testing.assert_array_equal(pca.scatter_, DPPCA(random_state=0).fit(X).scatter_)
    assert list(pca.feature_names_in_) == names
    assert pca.release_.feature_names == tuple(names)
    np.testing.assert_allclose(pca.transform(frame), (X - pca.mean_) @ pca.components_.T)


@pytest.mark.parametrize("kind", ["dask", "duckdb"])
def test_tables_elsewhere_keep_their_names(kind, X):
    frame = pd.DataFrame(X, columns=["age", "weight", "height", "pulse"])
    if kind == "dask":
        table = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
    else:
        table = pytest.importorskip("duckdb").connect().from_df(frame)
    pca = DPPCA().fit(table)
    assert list(pca.feature_names_in_) == list(frame)
    assert pca.release_.feature_names == tuple(frame)


@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_scores_come_as_the_frame_that_was_asked_for(output, kind, X):
    pca = DPPCA(random_state=0).set_output(transform=output)
    scores = pca.fit_transform(X)
    assert isinstance(scores, kind)
    assert list(scores.columns) == list(pca.get_feature_names_out()) == ["dppca0", "dppca1"]


def test_transform_says_that_scores_are_not_private(X):
    with pytest.warns(PrivacyWarning, match="not private"):
        DPPCA(random_state=0).fit(X).transform(X)


def test_inverse_transform_returns_to_the_subspace(X):
    pca = DPPCA(4, random_state=0, location=np.ones(4), scale=[1.0, 2.0, 3.0, 4.0]).fit(X)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-10)


def test_pipelines_and_clones_work(X):
    pipeline = make_pipeline(FunctionTransformer(np.negative), DPPCA(1, random_state=0))
    assert clone(pipeline).fit_transform(X).shape == (400, 1)


def test_location_uses_the_one_sample_statistic(X):
    centre = np.array([1.0, 2.0, 3.0, 4.0])
    pca = DPPCA(epsilon=math.inf, location=centre).fit(X)
    np.testing.assert_allclose(pca.scatter_, sign_covariance(X, centre))
    np.testing.assert_array_equal(pca.mean_, centre)
    np.testing.assert_allclose(pca.transform(X), (X - centre) @ pca.components_.T)
    assert pca.release_.scheme == {"name": "one-sample"}
    halved = DPPCA(location=centre, random_state=0).fit(X).noise_sd_
    pairs = DPPCA(location=None, random_state=0).fit(X).noise_sd_
    assert halved == pytest.approx(pairs / 2, rel=1e-6)


def test_scale_divides_the_columns(X):
    scale = np.array([9.0, 3.0, 1.0, 1.0])
    pca = DPPCA(epsilon=math.inf, scale=scale).fit(X)
    np.testing.assert_allclose(pca.scatter_, kendall_tau(X / scale))
    np.testing.assert_allclose(pca.transform(X), (X / scale) @ pca.components_.T)


def test_tiny_scale_is_no_data_dependent_error(X):
    assert np.isfinite(DPPCA(random_state=0, scale=[1e-308] * 4).fit(1e10 * X).scatter_).all()


@pytest.mark.parametrize("pairs", [8, "halves"])
def test_ordered_schemes_shuffle_first(pairs, X):
    ordered = X[np.argsort(X[:, 0])]
    first, second = (DPPCA(epsilon=math.inf, pairs=pairs).fit(ordered).scatter_ for _ in range(2))
    assert not np.allclose(first, second)
    assert not np.allclose(first, kendall_tau(ordered, pairs=pairs), atol=1e-3)


def test_sorted_file_estimates_the_same_as_a_shuffled_one(X):
    expected = kendall_tau(X)
    ordered = DPPCA(epsilon=math.inf, pairs=64).fit(X[np.argsort(X[:, 0])]).scatter_
    assert np.linalg.norm(ordered - expected) < 0.05
    assert np.linalg.norm(kendall_tau(X[np.argsort(X[:, 0])], pairs=64) - expected) > 0.2


def test_auto_keeps_what_stands_above_the_noise(rng):
    X = rng.normal(size=(5000, 10))
    X[:, 0] *= 5
    X[:, 1] *= 3
    pca = DPPCA("auto", epsilon=1.0, random_state=0).fit(X)
    assert pca.n_components_ == len(pca.components_) == 2


def test_auto_says_when_nothing_stands_above_the_noise(rng):
    X = rng.normal(size=(2000, 10))
    with pytest.warns(UserWarning, match="No direction"):
        pca = DPPCA("auto", random_state=0).fit(X)
    assert pca.components_.shape == (0, 10)
    assert pca.transform(X).shape == (2000, 0)


def test_explained_variance_is_that_of_the_scatter_matrix(rng):
    X = rng.normal(size=(20_000, 5)) * np.sqrt([10, 5, 1, 1, 1])
    pca = DPPCA(2, epsilon=1.0, random_state=0).fit(X / np.abs(rng.normal(size=(20_000, 1))))
    np.testing.assert_allclose(pca.explained_variance_ratio_, [10 / 18, 5 / 18], atol=0.02)
    with pytest.raises(AttributeError, match="spherical"):
        _ = DPPCA(sign="winsor", random_state=0).fit(X).explained_variance_ratio_


def test_estimator_from_a_release_has_its_parameters(X):
    pca = DPPCA(1, sign="shell", radius=3.0, pairs=8, calibration="paper", scale=[1.0] * 4).fit(X)
    again = DPPCA.from_release(pca.release_)
    assert again.fit(X).noise_sd_ == pytest.approx(pca.noise_sd_, rel=1e-6)
    assert again.release_.sign == pca.release_.sign
    assert again.release_.scheme == pca.release_.scheme
    np.testing.assert_array_equal(again.scale_, pca.scale_)


class TestEdges:
    """What must simply work."""

    @pytest.mark.parametrize(
        "X",
        [
            np.ones((5, 3)),
            np.column_stack([np.arange(5.0), np.ones(5), np.zeros(5)]),
            np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]),
            np.arange(12).reshape(4, 3) + 2**60,
            np.arange(12, dtype=object).reshape(4, 3) + 10**30,
            np.array([[True, False, True], [False, False, True]]),
            np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32),
            [[1, 2, 3], [4, 5, 6]],
        ],
        ids=["equal", "constant", "two rows", "int64", "bigint", "bool", "float32", "lists"],
    )
    def test_unusual_tables_are_fitted(self, X):
        pca = DPPCA(1).fit(X)
        assert np.isfinite(pca.components_).all()

    def test_one_column(self, rng):
        assert DPPCA(1).fit(rng.normal(size=(9, 1))).components_.shape == (1, 1)

    def test_integers_beyond_two_to_the_53_in_every_frame(self):
        values = {"a": [2**60, 2**60 + 2**20, 5], "b": [1, 2, 4]}
        for frame in (pd.DataFrame(values), pl.DataFrame(values), pa.table(values)):
            assert np.isfinite(DPPCA(1).fit(frame).components_).all()

    def test_larger_than_a_block_of_all_pairs(self, rng):
        pca = DPPCA(1, location=None).fit(rng.normal(size=(60_000, 5)))
        assert pca.release_.scheme == {"name": "blocks", "size": 64}


class TestBadInput:
    """Errors name the parameter or column, say what to do, and never quote a cell."""

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"epsilon": 0}, "`epsilon`"),
            ({"epsilon": -1.0}, "`epsilon`"),
            ({"epsilon": math.nan}, "`epsilon`"),
            ({"epsilon": "1"}, "`epsilon`"),
            ({"epsilon": 1e-6}, "`epsilon`"),
            ({"delta": 0}, "`delta`"),
            ({"delta": 1.0}, "`delta`"),
            ({"delta": None}, "`delta`"),
            ({"n_components": 0}, "`n_components`"),
            ({"n_components": 5}, "`n_components`"),
            ({"n_components": 1.5}, "`n_components`"),
            ({"n_components": "all"}, "`n_components`"),
            ({"sign": "square"}, "`sign`"),
            ({"sign": object()}, "`sign`"),
            ({"radius": 1.0}, "`radius`"),
            ({"sign": "winsor", "radius": -1}, "`radius`"),
            ({"pairs": 1}, "`pairs`"),
            ({"pairs": "some"}, "`pairs`"),
            ({"calibration": "loose"}, "`calibration`"),
            ({"location": [1.0]}, "`location`"),
            ({"location": [np.nan] * 4}, "`location`"),
            ({"location": "mean"}, "`location`"),
            ({"scale": [1.0, 1.0, 1.0, 0.0]}, "`scale`"),
            ({"scale": "auto"}, "`scale`"),
            ({"random_state": -1}, "`random_state`"),
            ({"random_state": "x"}, "`random_state`"),
        ],
    )
    def test_bad_parameters(self, parameters, words, X):
        with pytest.raises(ParameterError, match=words):
            DPPCA(**parameters).fit(X)
        with pytest.raises(ParameterError, match=words):
            DPPCA(**parameters).partial_fit(X)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_non_finite_cells_name_the_column(self, bad, X):
        X[7, 2] = bad
        with pytest.raises(DataError, match=r"Column '2'.*NaN or inf"):
            DPPCA().fit(X)
        frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
        with pytest.raises(DataError, match="Column 'c'"):
            DPPCA().fit(frame)

    @pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_missing_values_and_text_name_the_column(self, convert):
        with pytest.raises(DataError, match="'pulse'"):
            DPPCA(1).fit(convert({"age": [1.0, 2.0], "pulse": [1.0, None]}))
        with pytest.raises(ColumnTypeError, match="'diagnosis'") as caught:
            DPPCA(1).fit(convert({"age": [1.0, 2.0], "diagnosis": ["HIV+", "HIV-"]}))
        assert "HIV" not in str(caught.value)
        assert caught.value.__cause__ is None

    @pytest.mark.parametrize(
        "table",
        [
            np.array([["HIV+", "1"], ["2", "3"]]),
            np.array([["HIV+", 1.0], [2.0, 3.0]], dtype=object),
            [["HIV+", 1.0], [2.0, 3.0]],
            pd.DataFrame({"a": ["HIV+", 1.0], "b": [1, 2]}, dtype=object),
        ],
    )
    def test_text_is_never_quoted(self, table):
        with pytest.raises(ColumnTypeError) as caught:
            DPPCA(1).fit(table)
        assert "HIV" not in str(caught.value)

    @pytest.mark.parametrize(
        "table",
        [np.ones((0, 3)), np.ones((1, 3)), np.ones((5, 0)), np.ones(5), np.ones((2, 2, 2)), 3.0],
    )
    def test_impossible_shapes(self, table):
        with pytest.raises(DataError):
            DPPCA(1).fit(table)

    def test_ragged_lists_and_lazy_frames(self):
        with pytest.raises(DataError, match="rectangular"):
            DPPCA(1).fit([[1.0, 2.0], [3.0]])
        lazy = DPPCA(1).fit(pl.LazyFrame({"a": [1.0, 2.0]}))
        assert list(lazy.feature_names_in_) == ["a"]
        with pytest.raises(DataError, match="whole table"):
            DPPCA(1).fit(pd.Series([1.0, 2.0]))

    def test_delta_above_one_over_n_warns(self, X):
        with pytest.warns(PrivacyWarning, match="1/n"):
            DPPCA(delta=0.01).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            DPPCA(delta=0.001).fit(X)

    def test_wrong_columns_in_transform(self, X):
        pca = DPPCA(random_state=0).fit(X)
        with pytest.raises(ValueError, match="3 features"):
            pca.transform(X[:, :3])
        with pytest.raises(DataError, match="2 components"):
            pca.inverse_transform(X)
        frame = pd.DataFrame(X, columns=list("abcd"))
        with pytest.raises(ValueError, match="feature names"):
            DPPCA(random_state=0).fit(frame).transform(frame[list("dcba")])

    def test_before_the_fit(self, X):
        for call in (DPPCA().transform, DPPCA().inverse_transform):
            with pytest.raises(NotFittedError):
                call(X)

    def test_paper_noise_that_breaks_its_word_warns(self, X):
        with pytest.warns(PrivacyWarning, match="does not reach"):
            pca = DPPCA(epsilon=40.0, delta=1e-5, calibration="paper").fit(X)
        assert pca.guarantee_.epsilon > 40

    def test_no_number_is_drawn_when_a_parameter_is_bad(self, X, no_noise):
        with pytest.raises(ParameterError):
            DPPCA(n_components=9).fit(X)


def test_failed_refit_leaves_nothing_of_the_old_fit(X):
    pca = DPPCA(4).fit(X)
    with pytest.raises(ParameterError):
        pca.fit(X[:, :3])
    assert not hasattr(pca, "release_")


def test_fitted_object_holds_only_the_release_and_the_shape(X):
    canary = 987654.321
    X[3] = canary
    pca = DPPCA(2).fit(X)
    allowed = {
        "components_", "eigenvalues_", "guarantee_", "mean_", "n_components_", "n_features_in_",
        "n_samples_", "noise_floor_", "noise_sd_", "release_", "scale_", "scatter_",
    }  # fmt: skip
    assert set(vars(pca)) - set(pca.get_params()) == allowed
    # As a number of its own: digits behind a point may be anything.
    shown = repr(pca) + repr(pca.release_) + str(pca.release_.to_dict())
    assert not re.search(r"(?<![\w.])987654", shown)
    arrays = [v for v in vars(pca).values() if isinstance(v, np.ndarray)]
    assert max(np.abs(a).max() for a in arrays) < 10


class TestCentreAndScale:
    """Private centre and scales: what they spend, when they are used, and what they are for."""

    @pytest.mark.parametrize("location", ["private", "auto", None])
    @pytest.mark.parametrize("scale", ["private", None])
    @pytest.mark.parametrize("radius", ["quantile", 3.0])
    def test_parts_of_a_fit_spend_what_was_asked_for(self, location, scale, radius, rng):
        X = rng.standard_t(3, size=(3000, 4)) + 50
        pca = DPPCA(
            2, epsilon=0.7, delta=1e-5, sign="winsor", radius=radius, location=location, scale=scale
        ).fit(X)
        assert pca.guarantee_.epsilon <= 0.7
        assert pca.guarantee_.epsilon == pytest.approx(0.7, rel=1e-6)
        purposes = {event.purpose for event in pca.guarantee_.events}
        assert ("centre" in purposes) == (location is not None)
        assert ("scale" in purposes) == (scale is not None)
        assert ("radius" in purposes) == (radius == "quantile")

    def test_private_centre_is_used_by_transform(self, rng):
        X = rng.normal(loc=[1000.0, -5.0, 0.0], size=(4000, 3))
        pca = DPPCA(2, epsilon=2.0, delta=1e-6).fit(X)
        assert pca.release_.scheme == {"name": "one-sample"}
        np.testing.assert_allclose(pca.mean_, [1000.0, -5.0, 0.0], atol=0.2)
        assert np.abs(pca.transform(X).mean(axis=0)).max() < 0.5

    def test_centre_comes_back_from_a_release(self, rng, tmp_path):
        X = rng.normal(size=(4000, 3)) * [1e6, 1.0, 1e-3]
        pca = DPPCA(2, epsilon=2.0, delta=1e-6, scale="private").fit(X)
        pca.release_.save(tmp_path / "r.json")
        again = DPPCA.from_release(Release.load(tmp_path / "r.json"))
        np.testing.assert_allclose(again.transform(X[:9]), pca.transform(X[:9]))
        assert again.location == again.scale == "private"

    def test_few_rows_are_compared_in_pairs(self, rng):
        assert DPPCA(2).fit(rng.normal(size=(60, 4))).mean_ is None

    @pytest.mark.parametrize("n", [2, 3, 10, 50, 100, 300])
    @pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0])
    @pytest.mark.filterwarnings("ignore")
    def test_any_number_of_rows_has_a_private_centre_or_pairs(self, n, epsilon, rng):
        X = rng.normal(size=(n, 5))
        pca = DPPCA(2, epsilon=epsilon, location="private", random_state=0).fit(X)
        assert pca.guarantee_.nominal_epsilon <= epsilon

    @pytest.mark.parametrize("n", [2, 3, 10, 100, 300, 2000])
    @pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 20.0])
    def test_any_number_of_rows_has_private_scales_or_is_refused_unspent(self, n, epsilon, rng):
        X = rng.normal(size=(n, 5))
        wishes = {"location": "private", "scale": "private"}
        pca = DPPCA(2, epsilon=epsilon, **wishes, random_state=0)
        with warnings.catch_warnings(), mock.patch("gdppca.design.run.enter") as debit:
            warnings.simplefilter("ignore")
            try:
                pca.fit(X)
            except ParameterError as refused:
                assert "rows would do" in str(refused)  # noqa: PT017
                assert not debit.called
                assert n * epsilon < 2000
                return
        assert pca.guarantee_.nominal_epsilon <= epsilon

    @pytest.mark.parametrize("asked", [{"pairs": 8}, {"calibration": "paper"}, {"location": None}])
    def test_asking_for_pairs_gets_pairs(self, asked, rng):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pca = DPPCA(2, **asked).fit(rng.normal(size=(5000, 4)))
        assert pca.mean_ is None
        assert len(pca.guarantee_.events) == 1

    def test_centre_out_of_reach_leaves_pairs(self, rng):
        X = rng.normal(size=(2000, 25)) + 1e30
        pca = DPPCA(2, epsilon=0.5, delta=1e-5, random_state=0).fit(X)
        assert pca.mean_ is None
        assert pca.release_.scheme == {"name": "all"}
        assert pca.guarantee_.nominal_epsilon <= 0.5

    def test_too_little_room_is_said_before(self, rng):
        X = rng.normal(size=(80, 4))
        with pytest.warns(PrivacyWarning, match="private centre"):
            DPPCA(2, location="private").fit(X)
        with pytest.raises(ParameterError, match="noise would win over the scales of 4 columns"):
            DPPCA(2, scale="private").fit(X)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"location": "private", "pairs": 8},
            {"location": "private", "calibration": "paper"},
            {"scale": "private", "calibration": "paper"},
            {"scale": "private", "scale_share": 1.0},
            {"location": "median"},
            {"scale": "auto"},
        ],
    )
    def test_wishes_that_do_not_go_together(self, parameters, rng):
        with pytest.raises(ParameterError):
            DPPCA(2, **parameters).fit(rng.normal(size=(50, 4)))

    def test_batches_have_no_private_centre_but_auto_is_fine(self, rng):
        X = rng.normal(size=(200, 3))
        for wish in ({"location": "private"}, {"scale": "private"}):
            with pytest.raises(ParameterError, match="all rows at once"):
                DPPCA(2, **wish).partial_fit(X)
        assert DPPCA(2).partial_fit(X).finalize().mean_ is None

    def test_failure_after_a_draw_tells_what_is_spent(self, rng, monkeypatch):
        def fail(*_):
            raise RuntimeError("broken")

        monkeypatch.setattr("gdppca.steps.scatter.noisy_matrix", fail)
        with pytest.raises(RuntimeError) as caught:
            DPPCA(2, epsilon=1.5).fit(rng.normal(size=(5000, 3)))
        assert "epsilon = 1.5" in caught.value.__notes__[0]


class TestLedger:
    """The whole spend is in the ledger before any noise is drawn."""

    @pytest.fixture
    def ledger(self, tmp_path):
        ledger = Ledger(f"sqlite:///{tmp_path / 'budget.db'}")
        ledger.create("patients", 1.0, 1e-5)
        return ledger

    def test_fits_are_counted_until_the_cap(self, ledger, rng):
        X = rng.normal(size=(2000, 4))
        pca = DPPCA(2, epsilon=0.6, delta=1e-5, ledger=f"{ledger.address}#patients").fit(X)
        assert "entered in a ledger" in " ".join(map(str, pca.guarantee_.assumptions))
        assert ledger.remaining("patients") < 0.9
        with pytest.raises(BudgetExceeded) as refused:
            clone(pca).set_params(epsilon=0.9).fit(X)
        assert refused.value.requested > refused.value.remaining

    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"location": None},
            {"scale": "private", "sign": "winsor", "radius": "quantile"},
            {"calibration": "paper", "pairs": 8},
        ],
    )
    @pytest.mark.filterwarnings("ignore")
    def test_what_is_debited_covers_what_is_drawn(self, ledger, parameters, rng):
        address = f"{ledger.address}#patients"
        wish = {} if "calibration" in parameters else {"variances": 0.1, "score_map": 0.2}
        pca = DPPCA(2, epsilon=0.5, delta=1e-5, ledger=address, **parameters)
        release = pca.fit_release(rng.normal(size=(2000, 4)), **wish)
        account = ledger.account("patients")
        assert release.guarantee.epsilon <= account.spent * (1 + 1e-9)
        assert account.spent <= 0.5 * (1 + 1e-6) + (0.1 if "calibration" in parameters else 0)

    def test_refused_fit_draws_no_noise(self, ledger, rng, no_noise):
        with pytest.raises(BudgetExceeded):
            DPPCA(2, epsilon=1.5, delta=1e-5, ledger=f"{ledger.address}#patients").fit(
                rng.normal(size=(2000, 4))
            )
        with pytest.raises(LedgerError, match="nobody"):
            DPPCA(2, epsilon=0.1, ledger=f"{ledger.address}#nobody").fit(rng.normal(size=(99, 4)))
        assert ledger.account("patients").spent == 0

    def test_batches_are_counted_once(self, ledger, rng):
        pca = DPPCA(2, epsilon=0.5, delta=1e-5, ledger=f"{ledger.address}#patients")
        for _ in range(3):
            pca.partial_fit(rng.normal(size=(200, 4)))
        assert ledger.account("patients").spent == 0
        pca.finalize()
        assert ledger.account("patients").spent == pytest.approx(0.5, rel=1e-6)

    @pytest.mark.parametrize("later", [None, "other"])
    def test_the_first_batch_fixes_the_ledger(self, ledger, rng, later):
        ledger.create("other", 1.0, 1e-5)
        pca = DPPCA(2, epsilon=0.5, delta=1e-5, ledger=f"{ledger.address}#patients")
        pca.partial_fit(rng.normal(size=(200, 4)))
        pca.ledger = later and f"{ledger.address}#{later}"
        pca.finalize()
        assert ledger.account("patients").spends == 1
        assert ledger.account("other").spends == 0
        assert "entered in a ledger" in " ".join(map(str, pca.guarantee_.assumptions))

    def test_a_ledger_after_the_first_batch_is_refused_and_the_rows_kept(self, ledger, rng):
        pca = DPPCA(2, epsilon=0.5, delta=1e-5).partial_fit(rng.normal(size=(200, 4)))
        pca.ledger = f"{ledger.address}#patients"
        with pytest.raises(StateError, match="after the first batch"):
            pca.finalize()
        pca.ledger = None
        assert pca.finalize().n_samples_ == 200
        assert ledger.account("patients").spends == 0

    def test_a_wrong_address_is_refused_with_the_first_batch(self, rng):
        with pytest.raises(ParameterError, match="address"):
            DPPCA(2, ledger="budget.db").partial_fit(rng.normal(size=(200, 4)))

    def test_simulation_is_not_counted(self, ledger, rng):
        with pytest.raises(ParameterError, match="simulation"):
            DPPCA(2, ledger=f"{ledger.address}#patients", random_state=0).fit(
                rng.normal(size=(99, 4))
            )


class TestSizes:
    """Noise that floats can hold, or a refusal that spends nothing."""

    @pytest.fixture
    def ledger(self, tmp_path):
        address = f"sqlite:///{tmp_path}/budget.db"
        Ledger(address).create("people", epsilon=100.0, delta=1e-5)
        return f"{address}#people"

    @staticmethod
    def spends(ledger):
        where, name = ledger.split("#")
        return Ledger(where).account(name).spends

    @pytest.mark.parametrize("radius", [1e-150, 1e-90, 1e80, 1e150])
    def test_radius_of_any_size_gives_a_release(self, radius, rng, ledger, tmp_path):
        X = rng.normal(size=(500, 3)) * [9, 3, 1]
        wish = {"sign": "winsor", "epsilon": 5.0, "location": None}
        pca = DPPCA("auto", radius=radius, ledger=ledger, **wish).fit(X * radius)
        pca.release_.save(tmp_path / "r.json")
        assert Release.load(tmp_path / "r.json").noise_sd == pca.noise_sd_
        usual = DPPCA("auto", radius=1.0, **wish).fit(X)
        assert pca.noise_sd_ / radius**2 == pytest.approx(usual.noise_sd_)  # noise knows no unit
        assert pca.n_components_ == usual.n_components_ > 0
        assert self.spends(ledger) == 1

    @pytest.mark.parametrize(
        ("wish", "rule"),
        [
            ({"radius": 1e151}, "between 1e-150 and 1e150"),
            ({"radius": 1e-151}, "between 1e-150 and 1e150"),
            ({"radius": 1e150, "epsilon": 1e-5, "delta": 1e-300}, "too large for floating point"),
            ({"radius": 1e-150, "epsilon": 1e5}, "too small for floating point"),
            ({"scale": "private", "scale_share": 1 - 1e-12}, "leaves nothing"),
        ],
    )
    def test_matrix_that_no_float_holds_is_refused_unspent(self, wish, rule, ledger, rng):
        X = rng.normal(size=(2 if "delta" in wish else 20_000, 2))
        with pytest.raises(ParameterError, match=rule):
            DPPCA(1, **{"sign": "winsor", "location": None, "ledger": ledger} | wish).fit(X)
        assert self.spends(ledger) == 0
