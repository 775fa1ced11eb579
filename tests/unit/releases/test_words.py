"""What is said of a release; private scales that are not to be trusted are named first of all."""

from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, Release
from gdppca.releases import marked_names, merge_releases, seen_spectrum
from gdppca.releases.notebook import as_card
from gdppca.releases.words import (
    origin_in_words,
    pairs_in_words,
    sign_in_words,
    sign_name,
    size_in_words,
    standing_in_words,
)
from gdppca.report.registry import Owner, registry_record


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pairs": "all"}, "every pair of rows"),
        ({"pairs": "halves"}, "pairs of rows, each row in one pair"),
        ({"pairs": 16}, "rows inside random blocks of 16"),
        ({"epsilon": 4.0}, "every row and one private centre"),
        ({"location": np.zeros(4)}, "every row and one public centre"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_how_rows_were_compared_is_told(options, said):
    X = np.random.default_rng(0).normal(size=(200, 4))
    assert pairs_in_words(DPPCA(2, random_state=0, **options).fit(X).release_) == said


def test_merged_groups_are_counted():
    parts = [
        DPPCA(2, location=np.zeros(4), random_state=k)
        .fit(np.random.default_rng(k).normal(size=(200, 4)))
        .release_
        for k in range(3)
    ]
    told = pairs_in_words(merge_releases(parts))
    assert told == "rows as in the releases of the 3 groups that were merged"


def test_signs_are_told_with_their_cut_offs(release):
    assert sign_name(release) == "spherical sign"
    winsor = {"name": "winsor", "parameters": {"radius": 2.5}, "sup_norm": 2.5}
    assert sign_in_words(replace(release, sign=winsor)) == (
        "winsor sign (radius 2.5): it was shortened to a given length if longer"
    )
    own = {"name": "mine", "parameters": {}, "sup_norm": 1.0}
    assert sign_in_words(replace(release, sign=own)) == "mine sign"


def test_one_component_is_one(release):
    one = replace(release, components=release.components[:1])
    assert size_in_words(one) == "1 component of 4 columns from 6000 rows"
    for shown in (repr(one), as_card(one)):
        assert "1 component of 4 columns from 6000 rows" in shown


@pytest.mark.parametrize(
    ("m", "clear", "said"),
    [
        (0, 0, "No component stands above the noise, so none was released."),
        (1, 2, "The released component stands clearly above the noise."),
        (2, 2, "Both released components stand clearly above the noise."),
        (4, 4, "All 4 released components stand clearly above the noise."),
        (2, 1, "Only the first one stands above the noise. Do not read anything into the other."),
    ],
)
def test_what_stands_above_the_noise_is_told(m, clear, said):
    assert standing_in_words(m, clear) == said


def test_components_in_the_noise_are_not_blamed_on_the_table_alone():
    """Columns of equal scale have no direction that stands out, however many rows there are."""
    X = np.random.default_rng(0).normal(size=(20_000, 4))
    release = DPPCA(2, epsilon=4.0, random_state=0).fit(X).release_
    seen = seen_spectrum(release)
    assert seen.clear == 0
    assert "or no direction stands out" in standing_in_words(2, seen.clear)


def test_a_merged_centre_is_called_neither_private_nor_public():
    rng = np.random.default_rng(0)
    parts = [
        DPPCA(2, epsilon=epsilon, location="private").fit(rng.normal(size=(3000, 3))).release_
        for epsilon in (1.0, 0.9)
    ]
    merged = Release.merge(parts)
    assert origin_in_words(merged.centre_origin, without="").startswith("the mean of the")
    assert "the centre, chosen without" not in str(registry_record(merged, Owner()))
