"""Designs for a number of rows that is secret: made twice, debited once, refused before a draw."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, Release
from gdppca._errors import DataError, ParameterError
from gdppca.design import Parameters, Shares, design_of
from gdppca.noise import Overheard, secure_noise, seeded_noise
from gdppca.privacy import Neighbors, Protected
from gdppca.steps.base import Public
from gdppca.steps.count import LEAST, MOST

SECRET = Public.of(10_000, 3, protected=Protected(neighbors=Neighbors.ADD_REMOVE))
GROUPS = tuple(f"ward {k}" for k in range(400))
ASKED = {
    "default": ({}, Shares()),
    "scales": ({"scale": "private"}, Shares()),
    "radius": ({"sign": "winsor", "radius": "quantile"}, Shares()),
    "public centre": ({"location": np.zeros(3)}, Shares()),
    "variances": ({}, Shares(variances=0.1)),
    "map": ({}, Shares(score_map=0.2)),
    "map by groups": ({}, Shares(score_map=0.2, groups=GROUPS)),
    "all": ({"scale": "private"}, Shares(variances=0.1, score_map=0.2, groups=GROUPS)),
    "largest radius": ({"sign": "winsor", "radius": 1e150}, Shares()),
}
NUMBERS = [LEAST, 11.7, 1e4, 1e9, MOST]


@pytest.mark.parametrize(("asked", "shares"), ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 100.0])
def test_no_count_changes_the_debit_or_is_refused(asked, shares, gaps, epsilon):
    public = replace(SECRET, gaps=gaps)
    first = design_of(
        Parameters(epsilon=epsilon, neighbors="add-remove", **asked), public, shares=shares
    )
    for number in NUMBERS:
        known = first.counted(number)
        assert known.debit == first.debit
        assert [type(step) for step in known.steps] == [type(step) for step in first.steps]
        count, again = first.steps[0], known.steps[0]
        assert count.events == again.events


def test_noise_that_no_float_holds_is_refused_before_the_count(monkeypatch):
    """At a usual number of rows it would do, and at a million it would not."""
    ear = Overheard(seeded_noise(0))
    pca = DPPCA(
        1,
        epsilon=100.0,
        delta=0.1,
        sign="winsor",
        radius=1e-150,
        neighbors="add-remove",
        location=np.zeros(2),
        random_state=ear,
    )
    with pytest.raises(ParameterError, match="too small for floating point"):
        pca.fit(np.zeros((3, 2)))
    assert not ear.draws


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("persons", [False, True])
def test_nobody_shows_by_being_the_last_one(n, persons):
    X, ids = np.ones((n, 3)), np.zeros(n, dtype=int) if persons else None
    pca = DPPCA(2, epsilon=30.0, neighbors="add-remove", missing="rates", scale="private")
    release = pca.set_params(random_state=Overheard(secure_noise())).fit_release(
        X, persons=ids, variances=0.1, score_map=0.2
    )
    assert np.isfinite(release.scatter).all()
    assert release.n_samples >= LEAST


def test_weights_tell_no_number():
    """A row of weight w adds w to the trace, not one."""
    X = np.random.default_rng(0).normal(size=(5000, 3))
    pca = DPPCA(1, epsilon=20.0, neighbors="add-remove", location=np.zeros(3), random_state=0)
    pca.fit(X, weights=np.full(5000, 0.25), largest_weight=1.0)
    assert pca.n_samples_ == pytest.approx(5000, rel=0.01)


def test_no_refusal_tells_how_many_rows_there_are():
    X = np.ones((9173, 2))
    with pytest.raises(DataError) as refused:
        DPPCA(1, neighbors="add-remove").fit_release(
            X, score_map=0.2, groups=["a"] * 9172, categories=["a"]
        )
    assert "917" not in str(refused.value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("asked", [{"neighbors": "add-remove"}, {"missing": "rates"}])
def test_a_walk_without_room_leaves_a_release_that_can_be_read(asked, tmp_path):
    """Its centre is where it would have begun, and nothing was drawn for it."""
    pca = DPPCA(1, epsilon=0.01, random_state=0, **asked).fit(np.ones((4, 3)))
    assert pca.release_.centre_origin == "public"
    np.testing.assert_array_equal(pca.mean_, np.zeros(3))
    pca.release_.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json").centre_origin == "public"


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_few_rows_with_gaps_are_refused_in_words(n):
    """Less than one whole pair is expected then."""
    pca = DPPCA(1, epsilon=0.01, scale="private", missing="rates")
    with pytest.raises(ParameterError, match="noise would win over the scales"):
        pca.fit(np.ones((n, 3)))
