"""Directions, variances and score map together spend what was asked for, exactly."""

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, Release
from gdppca.steps.score_map import MapCounts


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"location": None},
        {"location": np.zeros(4)},
        {"scale": "private"},
        {"sign": "winsor", "radius": "quantile", "scale": "private"},
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_whole_release_spends_the_budget(parameters, rng, tmp_path):
    X = rng.normal(size=(3000, 4)) * [9, 3, 1, 1]
    pca = DPPCA(2, epsilon=0.8, delta=1e-6, **parameters)
    release = pca.fit_release(X, variances=0.15, score_map=0.3)
    assert release is pca.release_
    assert release.guarantee.epsilon <= 0.8
    assert release.guarantee.epsilon == pytest.approx(0.8, rel=1e-6)
    assert release.variances.shape == (2,)
    release.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").guarantee == release.guarantee


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"variances": 0.5, "score_map": 0.5}, "less than 1"),
        ({"variances": -0.1}, "share of the variances"),
        ({"score_map": 0.3, "bins": 2000}, "bins"),
        ({"score_map": 0.3, "groups": ["a"] * 300}, "categories"),
        ({"groups": ["a"] * 300, "categories": ["a", "b"]}, "share"),
    ],
)
def test_bad_wish_spends_nothing(wish, words, rng, no_noise):
    with pytest.raises(ParameterError, match=words):
        DPPCA(2).fit_release(rng.normal(size=(300, 4)), **wish)


@pytest.mark.parametrize(
    ("m", "wish"), [(1, "score_map"), ("auto", "score_map"), ("auto", "variances")]
)
def test_number_of_components_must_be_known(m, wish, rng):
    with pytest.raises(ParameterError, match="n_components"):
        DPPCA(m).fit_release(rng.normal(size=(300, 4)), **{wish: 0.2})


def test_labels_may_be_an_iterator(rng):
    X, labels = rng.normal(size=(2000, 4)), ["a", "b"] * 1000
    wish = {"groups": iter(labels), "categories": iter(["a", "b"])}
    assert DPPCA(2).fit_release(X, score_map=0.3, **wish).score_map.groups == ("a", "b")


def test_papers_noise_shares_with_no_gaussian_step(rng):
    with pytest.raises(ParameterError, match="calibration"):
        DPPCA(2, calibration="paper").fit_release(rng.normal(size=(900, 4)), variances=0.3)


@pytest.mark.parametrize("cell", [1.7e308, 5e-324, 0.0])
def test_no_numpy_error_depends_on_a_cell(cell, rng):
    X = rng.normal(size=(1500, 4)) + 3
    X[7] = cell
    pca = DPPCA(2, epsilon=2.0, scale="private", sign="winsor", radius="quantile")
    with np.errstate(all="raise"):
        pca.fit_release(X, variances=0.2, score_map=0.2)


def test_failed_map_tells_what_is_spent(rng, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr(MapCounts, "draw", fail)
    with pytest.raises(RuntimeError) as caught:
        DPPCA(2, epsilon=1.5).fit_release(rng.normal(size=(3000, 4)), score_map=0.2)
    assert "epsilon = 1.5" in caught.value.__notes__[0]


def test_intervals_hold_the_components(rng):
    pca = DPPCA(2, epsilon=2.0).fit(rng.normal(size=(5000, 4)) * [9, 3, 1, 1])
    known = pca.loading_intervals(0.9)
    assert (known.lower <= pca.components_).all()
    assert (pca.components_ <= known.upper).all()
    lower, upper = known
    assert (lower < upper).all()


def test_release_and_map_tell_one_number_where_it_is_secret(rng, tmp_path):
    X = rng.normal(size=(3000, 4)) * [9, 3, 1, 1]
    pca = DPPCA(2, epsilon=1.0, neighbors="add-remove", random_state=1)
    release = pca.fit_release(X, score_map=0.3)
    assert release.n_samples == release.score_map.n_samples
    release.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").score_map.n_samples == release.n_samples
