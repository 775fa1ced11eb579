"""Private scales that are not to be trusted are named beside what rests on them."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, Release
from gdppca.releases import marked_names
from gdppca.releases.notebook import as_card


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4)) * [10, 3, 1, 1]
    X[:, 3] = np.arange(6000) < 30  # hardly varies
    return DPPCA(2, epsilon=2.0, scale="private", random_state=0).fit(X).release_


def test_a_hidden_size_is_told_in_words_and_beside_the_name(release):
    assert np.isinf(release.scale_error).tolist() == [False, False, False, True]
    assert marked_names(release) == ("x0", "x1", "x2", "x3 (scale unknown)")
    [doubt] = release.doubts
    assert doubt.startswith("The scale of 'x3' could not be measured")
    assert doubt in repr(release)
    assert "could not be measured" in as_card(release)


def test_rough_scales_are_told_too(release):
    rough = replace(release, scale_error=np.array([0.5, 0.5, 0.1, 0.1]))
    [doubt] = rough.doubts
    assert doubt.startswith("The scale of each of 'x0', 'x1' is known only roughly")


def test_public_scales_and_good_ones_raise_no_doubt(release):
    assert replace(release, scale_error=None).doubts == ()
    assert replace(release, scale_error=np.full(4, 0.05)).doubts == ()


def test_errors_of_scales_travel_with_the_release(release, tmp_path):
    release.save(tmp_path / "release.json")
    again = Release.load(tmp_path / "release.json")
    np.testing.assert_array_equal(again.scale_error, release.scale_error)
    assert again.doubts == release.doubts


def test_scales_that_would_be_mere_noise_are_refused_and_told_what_would_do(release):
    X = np.random.default_rng(1).normal(size=(312, 7))
    with pytest.raises(ParameterError, match=r"more than 312 rows.*rows would do.*epsilon") as told:
        DPPCA(2, scale="private").fit(X)
    words = str(told.value)
    rows = int(words.split("About ")[1].split(" rows")[0].replace(",", ""))
    enough = np.random.default_rng(1).normal(size=(rows, 7))
    DPPCA(2, scale="private", random_state=0).fit(enough)
    epsilon = float(words.split("`epsilon` = ")[1].split(",")[0])
    DPPCA(2, scale="private", epsilon=epsilon, random_state=0).fit(X)
