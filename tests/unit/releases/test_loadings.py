"""Shrunken loadings in releases: made, saved, checked, merged, and taken back."""

from dataclasses import replace

import numpy as np
import pytest
from edited import rewritten

from gdppca import DPPCA, ParameterError, Release, ReleaseError, datasets, sin_theta
from gdppca.releases import release_intervals, sparse_components


@pytest.fixture(scope="module")
def table():
    return datasets.make_elliptical(4000, 25, location=5.0, random_state=3)


@pytest.fixture(scope="module")
def plain(table):
    return DPPCA(epsilon=0.7, loadings="plain", random_state=1).fit(table.X).release_


@pytest.fixture(scope="module")
def shrunk(plain):
    return plain.shrunk()


@pytest.fixture
def saved(shrunk, tmp_path):
    shrunk.save(tmp_path / "r.json")
    return tmp_path / "r.json"


def test_shrunken_directions_are_nearer_and_plain_ones_stay(plain, shrunk, table):
    assert shrunk.loadings.shrunk
    assert sin_theta(shrunk.components, table.components) < 0.7 * sin_theta(
        plain.components, table.components
    )
    assert np.array_equal(shrunk.plain_components, plain.components)
    assert np.array_equal(shrunk.plain().components, plain.components)
    assert shrunk.plain().loadings is None
    assert shrunk.guarantee == plain.guarantee


def test_negligible_columns_are_those_without_a_part(shrunk, plain):
    assert shrunk.negligible[:, 4:].mean() > 0.7
    assert not shrunk.negligible[0, :4].any()
    assert not plain.negligible.any()


def test_a_file_holds_what_was_shown(saved, shrunk):
    read = Release.load(saved)
    assert np.array_equal(read.components, shrunk.components)
    assert np.array_equal(read.plain_components, shrunk.plain_components)
    assert np.array_equal(read.negligible, shrunk.negligible)
    assert read.checksum == shrunk.checksum
    assert not read.loadings.sd.flags.writeable


def _swapped(plain):
    plain["components"][0][10] += 1e-4


def _named(plain):
    row = plain["loadings"]["negligible"][0]
    row[0] = not row[0]


def _surer(plain):
    plain["loadings"]["sd"][0][0] *= 0.5


def _other_target(plain):
    plain["loadings"]["target"] = "population"


def _other_plain(plain):
    plain["loadings"]["plain"] = plain["components"]


def _called_plain(plain):
    plain["loadings"]["kind"] = "plain"


def _without(plain):
    plain["loadings"] = None


def _short(plain):
    plain["loadings"]["sd"] = plain["loadings"]["sd"][:1]


@pytest.mark.parametrize(
    "lie",
    [_swapped, _named, _surer, _other_target, _other_plain, _called_plain, _without, _short],
)
def test_a_file_that_lies_about_its_loadings_is_refused(saved, lie):
    with pytest.raises(ReleaseError):
        Release.load(rewritten(saved, lie))


def test_dense_tables_keep_their_eigenvectors_bit_for_bit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6)) * [5, 3, 1, 1, 1, 1] @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    before = DPPCA(epsilon=1.0, random_state=0).fit(X).release_
    after = before.shrunk()
    assert after.loadings.kind == "plain"
    assert np.array_equal(after.components, before.components)
    after.save(tmp_path / "r.json")
    assert not Release.load(tmp_path / "r.json").loadings.shrunk


def test_merged_releases_can_be_shrunk(table, tmp_path):
    rows = [table.X[k::2] for k in (0, 1)]
    shrunk = [DPPCA(epsilon=1.0, random_state=k).fit(X).release_ for k, X in enumerate(rows)]
    parts = [part.plain() for part in shrunk]
    merged = Release.merge(parts)
    assert merged.loadings is None
    assert merged.shrunk().loadings.shrunk
    again = Release.merge(shrunk)
    assert np.array_equal(again.components, merged.shrunk().components)
    assert Release.merge([parts[0], shrunk[1]]).loadings is None
    again.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").loadings.shrunk


def test_what_is_about_other_directions_is_left_out(table):
    pca = DPPCA(epsilon=2.0, loadings="plain", random_state=0)
    release = pca.fit_release(table.X, variances=0.1, score_map=0.1)
    assert release.shrunk().variances is None
    assert release.shrunk().score_map is None
    assert release.plain().variances is not None


def test_without_a_matrix_it_stays_plain_and_says_so(plain):
    bare = replace(plain, scatter=None, method="NSGGD")
    assert bare.shrunk().loadings.kind == "plain"
    assert np.array_equal(bare.shrunk().components, plain.components)


def test_intervals_are_about_the_shrunken_loadings(shrunk, plain):
    narrow, wide = release_intervals(shrunk), release_intervals(plain)
    assert np.array_equal(narrow.components, shrunk.components)
    assert ((narrow.lower <= shrunk.components) & (shrunk.components <= narrow.upper)).all()
    assert (narrow.upper - narrow.lower).mean() < 0.8 * (wide.upper - wide.lower).mean()
    assert narrow.subspace_angle < wide.subspace_angle
    assert narrow.about == wide.about
    assert release_intervals(shrunk, sampling=True).covers == "privacy noise and sampling"


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_intervals_as_a_frame(shrunk, backend):
    import narwhals as nw

    frame = nw.from_native(release_intervals(shrunk).to_frame(backend))
    assert frame.columns == ["component", "column", "loading", "lower", "upper"]
    assert frame.shape == (50, 5)
    assert frame["column"].to_list()[:25] == list(shrunk.feature_names)


@pytest.mark.parametrize("target", ["people", None])
def test_other_targets_are_refused(plain, target):
    with pytest.raises(ParameterError, match="target"):
        plain.shrunk(target)


def test_the_population_is_known_for_the_spherical_sign_only(table):
    release = DPPCA(sign="winsor", random_state=0).fit(table.X).release_
    assert release.shrunk().loadings.target == "rows"
    with pytest.raises(ParameterError, match="spherical"):
        release.shrunk("population")


def test_sparse_components_name_so_many_columns():
    components = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 3)))[0].T
    sparse = sparse_components(components, 3)
    assert ((sparse != 0).sum(axis=1) == 3).all()
    assert np.allclose(np.linalg.norm(sparse, axis=1), 1)
    assert np.allclose(sparse_components(components, 8), components)


@pytest.mark.parametrize("k", [0, 9, 2.5, "two"])
def test_a_number_of_columns_that_makes_no_sense_is_refused(k):
    with pytest.raises(ParameterError, match="max_loadings"):
        sparse_components(np.eye(8), k)
