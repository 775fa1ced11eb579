"""Names inside the folder, and nothing else."""

import os

import pytest

from gdppca import ParameterError
from gdppca.web.folder import Folder


@pytest.fixture
def place(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("in/a.csv", "in/deep/b.parquet", "in/t.toml", "in/.hidden.csv", "out.csv"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "out.csv")
    (tmp_path / "in" / "linked").symlink_to(tmp_path)
    return tmp_path / "in"


def test_tables_are_listed_without_links_and_hidden_ones(place):
    folder = Folder.opened(place)
    assert folder.tables() == ["a.csv", "deep/b.parquet"]
    assert folder.descriptions() == ["t.toml"]


@pytest.mark.parametrize(
    "name",
    [
        "../out.csv", "deep/../../out.csv", "/etc/passwd", "link.csv", "linked/out.csv", "", ".",
        "..", ".hidden.csv", "a.csv\0", "deep\\..\\..\\out.csv", "~/x.csv", "missing.csv",
    ],
)  # fmt: skip
def test_what_is_not_inside_is_refused(place, name):
    with pytest.raises(ParameterError):
        Folder.opened(place).existing(name)


def test_what_is_inside_is_found(place):
    folder = Folder.opened(place)
    assert folder.existing("deep/b.parquet") == place.resolve() / "deep" / "b.parquet"
    assert folder.name(folder.existing("deep/b.parquet")) == "deep/b.parquet"


@pytest.mark.parametrize("name", ["x/y.toml", "x.csv", "../x.toml", ".toml", "a" * 99 + ".toml"])
def test_new_files_have_plain_names(place, name):
    with pytest.raises(ParameterError):
        Folder.opened(place).new(name, ".toml")


def test_a_link_cannot_be_written_through(place):
    (place / "away.toml").symlink_to(place.parent / "written.toml")
    with pytest.raises(ParameterError, match="no link"):
        Folder.opened(place).new("away.toml", ".toml")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="folder that is there"):
        Folder.opened(tmp_path / "missing")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(ParameterError, match="cannot be read"):
        Folder.opened(tmp_path / "closed")
