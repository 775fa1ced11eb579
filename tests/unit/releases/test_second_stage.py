"""What a release holds of a second stage, and what is refused of it."""

import copy
import pickle

import numpy as np
import pytest
from edited import rewritten

from gdppca import DPPCA, Release, ReleaseError
from gdppca.releases import merge_releases, release_intervals


def table(seed=0, n=20_000, d=60):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    X = rng.standard_normal((n, d))
    return X + (X @ V * (np.sqrt([10.0, 5.0]) - 1)) @ V.T


def fitted(seed=0, **asked):
    asked = {"epsilon": 0.25, "delta": 1e-5, "loadings": "plain", "stages": "auto", **asked}
    asked.setdefault("location", np.zeros(60))
    return DPPCA(random_state=seed, **asked).fit(table(seed))


@pytest.fixture(scope="module")
def pca():
    return fitted()


@pytest.fixture(scope="module")
def release(pca):
    assert pca.release_.second_stage is not None
    return pca.release_


@pytest.fixture
def path(release, tmp_path):
    release.save(tmp_path / "release.json")
    return tmp_path / "release.json"


def test_it_comes_back_to_the_last_bit(release, path):
    loaded = Release.load(path)
    assert loaded.to_dict() == release.to_dict()
    np.testing.assert_array_equal(loaded.second_stage.values, release.second_stage.values)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_are_read_only(release, copied):
    with pytest.raises(ValueError, match="read-only"):
        copied(release).second_stage.values[0] = 1.0


def test_a_secret_number_of_rows_comes_back_too(tmp_path):
    release = fitted(neighbors="add-remove").release_
    assert release.second_stage is not None
    release.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json").to_dict() == release.to_dict()


def test_an_estimator_comes_of_it(release):
    again = DPPCA.from_release(release)
    assert again.stages == "auto"
    np.testing.assert_array_equal(again.components_, release.components)


def doubled(name):
    def change(plain):
        stage = plain["second_stage"]
        stage[name] = (2 * np.array(stage[name])).tolist()

    return change


def turned(plain):
    plain["components"] = plain["second_stage"]["directions"]


def without(plain):
    plain["second_stage"] = None


def shorter(plain):
    plain["second_stage"]["factors"] = plain["second_stage"]["factors"][:1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (doubled("noise_sd"), "second stage does not follow"),
        (doubled("values"), "do not follow from its matrix and second stage"),
        (turned, "do not follow from its matrix and second stage"),
        (without, "second stage does not follow"),
        (shorter, "does not fit its components"),
        (doubled("directions"), "components are not orthonormal|do not follow"),
        (lambda plain: plain["second_stage"].update(clip=2.0), "schema"),
        (lambda plain: plain["second_stage"].update(clip=0.9), "second stage does not follow"),
        (lambda plain: plain["second_stage"].pop("values"), "schema"),
        (lambda plain: plain.update(noise_sd=0.5 * plain["noise_sd"]), "noise_sd"),
    ],
)
def test_what_was_edited_is_refused(change, words, path):
    with pytest.raises(ReleaseError, match=words):
        Release.load(rewritten(path, change))


def test_one_that_was_never_drawn_is_refused(release, tmp_path):
    path = tmp_path / "one.json"
    fitted(stages="one").release_.save(path)
    stage = release.second_stage.to_dict()
    with pytest.raises(ReleaseError, match="second stage does not follow"):
        Release.load(rewritten(path, lambda plain: plain.update(second_stage=stage)))


def test_shrinking_starts_from_both_stages(release, tmp_path):
    shrunk = release.shrunk()
    np.testing.assert_array_equal(shrunk.loadings.plain, release.components)
    np.testing.assert_array_equal(shrunk.plain().components, release.components)
    shrunk.save(tmp_path / "shrunk.json")
    assert Release.load(tmp_path / "shrunk.json").to_dict() == shrunk.to_dict()


def test_intervals_hold_the_loadings_of_the_same_rows(release):
    U = table()
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    V = np.linalg.eigh(U.T @ U)[1][:, ::-1].T[:2]
    V *= np.sign(np.einsum("kd,kd->k", V, release.components))[:, None]
    found = release_intervals(release)
    assert 0.8 < np.mean((found.lower <= V) & (found.upper >= V)) < 0.98
    wide, narrow = (release_intervals(release, sampling=sampling) for sampling in (True, False))
    assert (wide.upper - wide.lower).mean() > (narrow.upper - narrow.lower).mean()
    plain = DPPCA.from_release(fitted(stages="one").release_).loading_intervals()
    assert narrow.subspace_angle < plain.subspace_angle


def test_merging_takes_the_matrices_alone(release):
    merged = merge_releases([release, fitted(5).release_])
    assert merged.second_stage is None
    assert merged.noise_sd < release.noise_sd
    assert Release.from_dict(merged.to_dict()).scheme["groups"] == 2
