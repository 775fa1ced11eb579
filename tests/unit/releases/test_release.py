"""Releases on disk: whole, checked, plain."""

import json
import math
import os

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters

from gdppca import DPPCA, Release, ReleaseError
from gdppca.releases import score_map
from gdppca.releases.release import _checksum


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(0)
    return DPPCA(n_components=2, random_state=1).fit(rng.normal(size=(50, 3))).release_


def rewritten(path, change, *, sealed=True):
    """Edit a release file; with `sealed` the checksum is made to match again."""
    plain = json.loads(path.read_text())
    change(plain)
    if sealed:
        plain["checksum"] = _checksum(plain)
    path.write_text(json.dumps(plain))
    return path


@pytest.fixture
def path(release, tmp_path):
    release.save(tmp_path / "release.json")
    return tmp_path / "release.json"


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


def test_file_is_readable_by_others(path):
    assert path.stat().st_mode & 0o777 == 0o644


def test_careless_edit_is_found_by_the_checksum(path):
    def edit(plain):
        plain["noise_sd"] *= 2

    with pytest.raises(ReleaseError, match="checksum"):
        Release.load(rewritten(path, edit, sealed=False))


def test_edited_promise_is_found_by_its_events(path):
    def edit(plain):
        plain["guarantee"]["epsilon"] = 0.001

    with pytest.raises(ReleaseError, match="epsilon"):
        Release.load(rewritten(path, edit))


def test_later_version_asks_for_a_newer_library(path):
    with pytest.raises(ReleaseError, match="newer gdppca"):
        Release.load(rewritten(path, lambda plain: plain.update(version=4)))


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.pop("scatter"),
        lambda plain: plain.update(extra=1),
        lambda plain: plain.update(noise_sd="small"),
        lambda plain: plain["guarantee"].update(neighbors="all"),
        lambda plain: plain["guarantee"]["events"].append({"kind": "gaussian"}),
    ],
)
def test_schema_is_kept(change, path):
    with pytest.raises(ReleaseError, match="schema"):
        Release.load(rewritten(path, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["components"][0].append(0.0),
        lambda plain: plain["scatter"].pop(),
        lambda plain: plain["feature_names"].pop(),
        lambda plain: plain.update(location=[0.0]),
        lambda plain: plain["scatter"][0].__setitem__(1, 9.0),
    ],
)
def test_shapes_must_fit_together(change, path):
    with pytest.raises(ReleaseError, match=r"fit together|symmetric"):
        Release.load(rewritten(path, change))


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


def test_endless_integers_are_refused(path):
    path.write_text(path.read_text().replace('"n_samples": 50', '"n_samples": 5' + "0" * 400))
    with pytest.raises(ReleaseError, match="JSON"):
        Release.load(path)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '"x"', '{"format": "other"}', "[" * 100_000, "\x00", '{"format": NaN}'],
)
def test_damaged_files_are_refused(text, tmp_path):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(ReleaseError):
        Release.load(tmp_path / "r.json")


def test_infinite_numbers_are_refused(path):
    path.write_text(path.read_text().replace('"noise_sd": ', '"noise_sd": 1e999, "x": '))
    with pytest.raises(ReleaseError, match="JSON"):
        Release.load(path)


def test_binary_and_missing_files_are_refused(tmp_path):
    (tmp_path / "r.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReleaseError, match="damaged"):
        Release.load(tmp_path / "r.json")
    with pytest.raises(ReleaseError, match="no release file"):
        Release.load(tmp_path / "missing.json")


def test_failed_write_leaves_the_old_file_and_no_other(release, path, monkeypatch):
    before = path.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        release.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["release.json"]


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
        plain["version"] = version
        plain["score_map"]["guarantee"]["epsilon"] = stated
        if version < 3:
            del plain["scale_error"]

    read = Release.load(rewritten(tmp_path / "r.json", earlier))
    assert read.score_map.guarantee.epsilon == exact.epsilon
    assert read.guarantee.epsilon == release.guarantee.epsilon
