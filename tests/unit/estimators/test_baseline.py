"""The face that all estimators share, and the one way in which baselines are fitted."""

import inspect
from unittest import mock

import numpy as np
import pytest

from gdppca import (
    DPPCA,
    NSGGD,
    SGPCA,
    AnalyzeGauss,
    DataError,
    Ledger,
    ParameterError,
    SignCovariancePCA,
)
from gdppca.estimators import base
from gdppca.privacy.accounting import gaussian_epsilon
from gdppca.steps.winsorized_mean import WinsorizedMean

SPIKED = [90.0, 1.0, 1.0]
BASELINES = {
    "analyze-gauss": AnalyzeGauss(1, norm=20.0, center=np.zeros(3)),
    "sgpca": SGPCA(1, eigenvalues=SPIKED),
    "nsggd": NSGGD(1, noise="accounted", n_iterations=10),
    "sign-covariance": SignCovariancePCA(1),
    "sign-covariance, rho": SignCovariancePCA(1, rho=0.5),
}
PRINTED = {
    "analyze-gauss, printed": AnalyzeGauss(1),
    "nsggd, printed": NSGGD(1, n_iterations=10),
    "sign-covariance, published": SignCovariancePCA(1, location="pmwm-published"),
}
ALL = {"dppca": DPPCA(1)} | BASELINES | PRINTED


def each(estimators):
    return pytest.mark.parametrize("make", estimators.values(), ids=estimators)


@pytest.fixture
def X(rng):
    return rng.normal(size=(600, 3)) * np.sqrt(SPIKED)


def fresh(estimator, **changes):
    return type(estimator)(**(estimator.get_params() | changes))


@each(ALL)
def test_file_that_is_not_there_is_said_and_a_text_is_not_quoted(make, tmp_path):
    with pytest.raises(DataError, match=r"There is no file '.*visits\.csv'"):
        fresh(make).fit(tmp_path / "visits.csv")
    with pytest.raises(DataError, match="There is no file of that name"):
        fresh(make).fit("visits.csv")


@pytest.mark.parametrize("kind", [DPPCA, NSGGD, SGPCA, AnalyzeGauss, SignCovariancePCA])
def test_common_parameters_are_the_same_everywhere(kind):
    parameters = inspect.signature(kind).parameters
    common = {"n_components": 2, "epsilon": 1.0, "delta": 1e-6, "ledger": None}
    common["random_state"] = None
    assert {name: parameters[name].default for name in common} == common
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == ["n_components"]
    one, other = kind(), kind()
    assert one != other  # estimators are compared by what they are, not by their parameters
    assert len({one, other}) == 2


@each(ALL)
@pytest.mark.filterwarnings("ignore")
def test_refused_refit_leaves_nothing_of_the_old_fit(make, X):
    for wrong in ({"epsilon": -1.0}, {"n_components": 9}, {"delta": 2.0}, {"random_state": -1}):
        pca = fresh(make).fit(X)
        assert hasattr(pca, "release_")
        with pytest.raises(ParameterError):
            pca.set_params(**wrong).fit(X)
        assert {name for name in vars(pca) if name.endswith("_")} <= {
            "n_features_in_",
            "feature_names_in_",
        }


def test_refused_joint_release_leaves_nothing_of_the_old_fit(X):
    pca = DPPCA(2).fit(X)
    with pytest.raises(ParameterError, match="less than 1"):
        pca.fit_release(X, variances=0.5, score_map=0.5)
    assert not [name for name in vars(pca) if name.endswith("_")]


@each(BASELINES | PRINTED)
@pytest.mark.filterwarnings("ignore")
def test_failure_after_the_debit_tells_what_is_spent(make, X, monkeypatch):
    promised = fresh(make).fit(X).guarantee_.nominal_epsilon
    monkeypatch.setattr(base, "published", mock.Mock(side_effect=RuntimeError("broken")))
    with pytest.raises(RuntimeError) as caught:
        fresh(make).fit(X)
    assert f"epsilon = {promised:g}, delta = 1e-06" in caught.value.__notes__[0]


@pytest.mark.filterwarnings("ignore")
def test_spend_that_is_told_is_that_of_the_zcdp_budget(X, monkeypatch):
    monkeypatch.setattr(WinsorizedMean, "draw", mock.Mock(side_effect=RuntimeError))
    with pytest.raises(RuntimeError) as caught:
        SignCovariancePCA(1, rho=0.5).fit(X)
    assert f"epsilon = {gaussian_epsilon(1.0, 1e-6):g}" in caught.value.__notes__[0]


@each(BASELINES)
@pytest.mark.filterwarnings("ignore")
def test_everything_that_is_refused_is_refused_before_the_debit(make, X, tmp_path, no_noise):
    ledger = Ledger(f"sqlite:///{tmp_path / 'budget.db'}")
    ledger.create("patients", 100.0, 1e-5)
    address = f"{ledger.address}#patients"
    for wrong in ({"epsilon": 0.0}, {"n_components": 4}, {"delta": 0.0}, {"random_state": 1}):
        with pytest.raises(ParameterError):
            fresh(make, ledger=address, **wrong).fit(X)
    assert ledger.account("patients").spends == 0


@each(BASELINES)
@pytest.mark.filterwarnings("ignore")
def test_debit_comes_before_the_draw(make, X):
    seen = []

    def entered(_address, events, **_):
        seen.append(events)
        raise KeyboardInterrupt

    pca = fresh(make)
    with mock.patch("gdppca.design.run.enter", entered), pytest.raises(KeyboardInterrupt):
        pca.fit(X)
    assert not hasattr(pca, "release_")
    assert seen == [pca.fit(X).guarantee_.events]  # what is entered is what is promised


@each(BASELINES | PRINTED)
@pytest.mark.parametrize("cell", [1.7e308, 5e-324, 0.0])
@pytest.mark.filterwarnings("ignore")
def test_no_numpy_error_depends_on_a_cell(make, cell, X):
    X[7] = cell
    X[8] = -cell
    pca = fresh(make)
    with np.errstate(all="raise"):
        pca.fit(X)
    assert np.isfinite(pca.components_).all()
