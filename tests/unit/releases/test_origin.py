"""Where centre and scales came from: as was said, else as the events say."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, Release
from gdppca.estimators import SignCovariancePCA
from gdppca.releases import Origin
from gdppca.releases.words import origin_in_words

X = np.random.default_rng(0).normal(size=(3000, 3)) * [3, 2, 1]
ZEROS, ONES = np.zeros(3), np.ones(3)


@pytest.mark.parametrize(
    ("options", "centre", "scale"),
    [
        ({"location": None}, Origin.NONE, Origin.NONE),
        ({"location": ZEROS, "scale": ONES}, Origin.PUBLIC, Origin.PUBLIC),
        ({"location": "private", "epsilon": 2.0}, Origin.PRIVATE, Origin.NONE),
        ({"location": None, "scale": "private", "epsilon": 4.0}, Origin.NONE, Origin.PRIVATE),
    ],
    ids=["nothing", "given", "centre drawn", "scale drawn"],
)
def test_a_fit_says_where_they_came_from_and_a_file_keeps_it(options, centre, scale, tmp_path):
    release = DPPCA(2, random_state=0, **options).fit(X).release_
    release.save(tmp_path / "r.json")
    for found in (release, Release.load(tmp_path / "r.json")):
        assert (found.centre_origin, found.scale_origin) == (centre, scale)
    again = DPPCA.from_release(release)
    assert isinstance(again.location, str) is (centre is Origin.PRIVATE)
    assert isinstance(again.scale, str) is (scale is Origin.PRIVATE)


def test_other_methods_say_so_too():
    assert SignCovariancePCA(2, epsilon=2.0).fit(X).release_.centre_origin is Origin.PRIVATE
    given = SignCovariancePCA(2, epsilon=2.0, location=ZEROS).fit(X).release_
    assert given.centre_origin is Origin.PUBLIC


def test_what_is_not_there_came_from_nowhere():
    release = DPPCA(2, location=ZEROS, random_state=0).fit(X).release_
    assert replace(release, location=None).centre_origin is Origin.NONE
    back = replace(replace(release, location=None), location=ZEROS)
    assert back.centre_origin is Origin.PUBLIC
    assert replace(release, centre_origin="merged").centre_origin is Origin.MERGED


def test_origins_have_words():
    assert origin_in_words(Origin.NONE, without="none needed") == "none needed"
    for origin in (Origin.PUBLIC, Origin.PRIVATE, Origin.MERGED):
        assert str(origin) in origin_in_words(origin, without="")
