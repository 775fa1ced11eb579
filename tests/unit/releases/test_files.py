"""Files of releases: written whole, checked before they are believed."""

import os

import pytest
from edited import rewritten

from gdppca import Release, ReleaseError
from gdppca.releases import files


def test_file_is_readable_by_others(path):
    assert path.stat().st_mode & 0o777 == 0o644


def test_careless_edit_is_found_by_the_checksum(path):
    def edit(plain):
        plain["noise_sd"] *= 2

    with pytest.raises(ReleaseError, match="checksum"):
        Release.load(rewritten(path, edit, sealed=False))


def test_later_version_asks_for_a_newer_library(path):
    with pytest.raises(ReleaseError, match="newer gdppca"):
        Release.load(rewritten(path, lambda plain: plain.update(version=files.VERSION + 1)))


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
