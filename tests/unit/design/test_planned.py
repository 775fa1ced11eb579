"""A plan goes with the fit that it was made for, and with no other."""

import numpy as np
import pytest

from gdppca import DPPCA, Ledger, ParameterError
from gdppca.planning import plan

N, D = 800, 4
OTHERS = {
    "n_samples": ({"n_samples": 900}, "`n_samples` is 900 there and 800 here"),
    "n_features": ({"n_features": 5}, "`n_features` is 5 there and 4 here"),
    "n_components": ({"n_components": 1}, "`n_components` is 1 there and 2 here"),
    "epsilon": ({"epsilon": 2.0}, "`epsilon` is 2.0 there and 1.0 here"),
    "delta": ({"delta": 1e-7}, "`delta` is 1e-07 there and 1e-06 here"),
    "unit": ({"unit": "person"}, "`unit` is person there and row here"),
    "neighbors": ({"neighbors": "add-remove"}, "`neighbors` is add-remove there and replace-one"),
    "sign": ({"sign": "winsor"}, "`sign` is winsor there and spherical here"),
    "scales": ({"scale": "private"}, "`scale` is private there and none here"),
    "missing": ({"missing": 0.2}, "cells may be missing there and not here"),
    "location": ({"location": "public"}, "rows are compared by public centre there"),
}


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, D)) * [9, 3, 1, 1]


def planned(n_samples=N, n_features=D, **parameters):
    return plan(n_samples, n_features, **parameters).to_dict()


@pytest.mark.parametrize("name", OTHERS)
def test_a_plan_of_another_fit_is_refused_unspent(name, X, tmp_path):
    other, words = OTHERS[name]
    address = f"sqlite:///{tmp_path / 'budget.db'}#patients"
    Ledger(address.rpartition("#")[0]).create("patients", 1.0, 1e-6)
    pca = DPPCA(2, epsilon=1.0, delta=1e-6, ledger=address)
    with pytest.raises(ParameterError) as refused:
        pca.fit_release(X, plan=planned(**other))
    assert words in str(refused.value)
    assert "Nothing was spent" in str(refused.value)
    assert Ledger(address.rpartition("#")[0]).account("patients").spends == 0


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"location": None},
        {"location": "private"},
        {"neighbors": "add-remove"},
        {"epsilon": np.inf, "location": None},
        {"sign": "trimmed", "radius": "quantile"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_the_plan_of_this_fit_is_taken(parameters, X):
    pca = DPPCA(2, random_state=0, **parameters)
    assert pca.fit_release(X, plan=pca.plan(N, D).to_dict()).n_features == D


def test_a_secret_number_is_compared_with_no_guess(X):
    pca = DPPCA(2, neighbors="add-remove", random_state=0)
    for guess in (50, 10**6):
        pca.fit_release(X, plan=pca.plan(guess, D).to_dict())


def test_earlier_plans_say_less_and_are_taken(X):
    earlier = planned()
    for name in ("unit", "neighbors", "missing", "scales", "sign"):
        del earlier[name]
    assert DPPCA(2, random_state=0).fit_release(X, plan=earlier).n_samples == N


def test_gaps_and_persons_are_part_of_a_fit(X):
    X[::7, 1] = np.nan
    pca = DPPCA(2, missing="rates", random_state=0)
    ahead = planned(missing=0.1, unit="person", n_samples=100)
    assert pca.fit_release(X, persons=np.arange(N) % 100, plan=ahead).n_samples == 100
