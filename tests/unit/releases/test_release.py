"""Releases on disk: whole, checked, plain."""

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from edited import as_before, rewritten

from gdppca import DPPCA, Release, ReleaseError
from gdppca.releases import Origin, score_map

FILES = Path(__file__).with_name("files")  # written by earlier versions


def test_what_is_saved_comes_back_to_the_last_bit(release, path):
    loaded = Release.load(path)
    for name in ("components", "scatter"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(release, name))
    assert loaded.to_dict() == release.to_dict()
    assert loaded.guarantee == release.guarantee


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": math.inf},
        {"n_components": "auto"},
        {"location": np.zeros(3), "scale": [1.0, 2.0, 3.0]},
        {"sign": "shell", "radius": 2.0, "pairs": 4},
        {"sign": "lr", "radius": 2.0, "pairs": "halves", "calibration": "paper"},
    ],
)
@pytest.mark.filterwarnings("ignore:No direction")
def test_every_kind_of_release_comes_back(options, tmp_path, rng):
    pca = DPPCA(**({"n_components": 1, "random_state": 0} | options)).fit(rng.normal(size=(40, 3)))
    pca.release_.save(tmp_path / "r.json")
    assert Release.load(tmp_path / "r.json").to_dict() == pca.release_.to_dict()


def test_release_is_read_only(release):
    with pytest.raises(ValueError, match="read-only"):
        release.scatter[0, 0] = 1.0
    with pytest.raises(AttributeError):
        release.noise_sd = 0.0


def test_edited_promise_is_found_by_its_events(path):
    def edit(plain):
        plain["guarantee"]["epsilon"] = 0.001

    with pytest.raises(ReleaseError, match="epsilon"):
        Release.load(rewritten(path, edit))


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(noise_sd=plain["noise_sd"] / 1000),
        lambda plain: plain.update(noise_sd=0.0),
        lambda plain: plain.update(n_samples=50_000),
        lambda plain: plain["sign"].update(sup_norm=1e-9),
        lambda plain: plain["sign"].update(name="custom", parameters={}, sup_norm=1e200),
        lambda plain: plain["sign"].update(name="winsor", parameters={"radius": -1.0}),
        lambda plain: plain.update(components=np.eye(3)[:2].tolist()),
        lambda plain: plain.update(
            components=[[2 * v for v in row] for row in plain["components"]]
        ),
        lambda plain: plain.update(components=plain["components"][::-1]),
        lambda plain: plain.update(scale=[1.0, -1.0, 1.0]),
        lambda plain: plain.update(calibration="bogus"),
        lambda plain: plain.update(scheme={"name": "blocks"}),
        lambda plain: plain.update(scatter=None),
        lambda plain: plain["guarantee"].update(neighbors="add-remove"),
        lambda plain: plain["guarantee"].update(assumptions=[]),
        lambda plain: plain["guarantee"].update(events=[]),
    ],
)
def test_contradictions_are_found_even_under_a_fresh_checksum(change, path):
    with pytest.raises(ReleaseError):
        Release.load(rewritten(path, change))


def test_estimator_from_a_release_scores_alike(release, path, rng):
    pca = DPPCA.from_release(Release.load(path))
    X = rng.normal(size=(4, 3))
    np.testing.assert_allclose(pca.transform(X), X @ release.components.T)
    assert pca.guarantee_ == release.guarantee


def test_repr_tells_the_promise(release):
    assert "simulation" in repr(release)
    assert "2 components of 3 columns from 50 rows" in repr(release)


def by_privacy_loss_distributions(events, delta):
    """ε as earlier versions stated it for pure steps alone, rounded up to a grid."""
    total = pld.identity(value_discretization_interval=1e-4)
    for event in events:
        private = DifferentialPrivacyParameters(event.epsilon, 0)
        total = total.compose(
            pld.from_privacy_parameters(private, value_discretization_interval=1e-4)
        )
    added = sum(event.epsilon for event in events)
    return min(total.get_epsilon_for_delta(delta - 1e-15), added)


@pytest.mark.parametrize("version", [2, 3])
def test_epsilon_of_an_earlier_version_is_read_and_made_exact(version, tmp_path, rng):
    X = rng.normal(size=(2000, 3)) * [5, 3, 1]
    pca = DPPCA(n_components=2, location=None).fit(X)
    release = pca.release_.with_score_map(score_map(X, pca, epsilon=1.0, delta=1e-3))
    exact = release.score_map.guarantee
    stated = by_privacy_loss_distributions(exact.events, exact.delta)
    assert len(exact.events) > 2
    assert stated > exact.epsilon * (1 + 2e-6)  # so that it would not do for the exact number
    release.save(tmp_path / "r.json")

    def earlier(plain):
        as_before(plain, version)
        plain["score_map"]["guarantee"]["epsilon"] = stated

    read = Release.load(rewritten(tmp_path / "r.json", earlier))
    assert read.score_map.guarantee.epsilon == exact.epsilon
    assert read.guarantee.epsilon == release.guarantee.epsilon


@pytest.mark.parametrize("name", [file.name for file in sorted(FILES.iterdir())])
def test_files_of_earlier_versions_mean_what_they_meant(name, tmp_path):
    plain = json.loads((FILES / name).read_text())
    read = Release.load(FILES / name)
    merged = "merged" in name
    assert read.centre_origin is (Origin.MERGED if merged else Origin.PRIVATE)
    assert read.scale_origin is (Origin.NONE if merged else Origin.PUBLIC)
    bias = 0.00012147017541730491 if merged else 0.0003207571819613208  # what was said then
    assert read.centre_bias == pytest.approx(bias, rel=1e-12)
    words = [*map(str, read.guarantee.assumptions)]
    said = [
        each if isinstance(each, str) else each["words"]
        for each in plain["guarantee"]["assumptions"]
    ]
    assert words[:3] == said[:3]
    assert all(each.code != "other" for each in read.guarantee.assumptions)
    assert len(words) == len(said)
    read.save(tmp_path / "again.json")
    again = Release.load(tmp_path / "again.json")
    assert again.to_dict() == read.to_dict()
    assert again.guarantee == read.guarantee


@pytest.fixture
def centred(tmp_path):
    Release.load(FILES / "format-3-sentences.json").save(tmp_path / "centred.json")
    return tmp_path / "centred.json"


def test_types_stand_in_the_file_with_their_words(centred):
    plain = json.loads(centred.read_text())
    first, *_ = plain["guarantee"]["assumptions"]
    assert first == {"code": "one-row-per-person", "words": "Each person is in one row only."}
    assert plain["guarantee"]["unit"] == "row"
    assert (plain["centre_origin"], plain["scale_origin"]) == ("private", "public")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda plain: plain.update(centre_origin="public"), "did not come from"),
        (lambda plain: plain.update(centre_origin="merged"), "did not come from"),
        (lambda plain: plain.update(scale_origin="private"), "did not come from"),
        (lambda plain: plain.update(scale_origin="mine"), "schema at scale_origin"),
        (lambda plain: plain.update(centre_bias=-1.0), "schema at centre_bias"),
        (lambda plain: plain["guarantee"].update(unit="family"), "schema at guarantee/unit"),
        (lambda plain: plain["guarantee"].update(unit="person"), "unit or neighbours"),
        (lambda plain: plain["guarantee"]["assumptions"].append({"code": "x"}), "assumptions"),
    ],
)
def test_types_that_cannot_be_are_refused(change, said, centred):
    with pytest.raises(ReleaseError, match=said):
        Release.load(rewritten(centred, change))


def test_an_error_of_a_centre_that_its_events_do_not_give_is_refused(centred):
    edited = rewritten(centred, lambda plain: plain.update(centre_bias=0.125))
    with pytest.raises(ReleaseError, match="error of the centre"):
        Release.load(edited)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_read_only_and_has_its_own_checksum(release, copied):
    before = release.checksum
    other = copied(release)
    assert not other.components.flags.writeable
    other.sign["parameters"]["edited"] = 1.0
    assert other.checksum != before == release.checksum
