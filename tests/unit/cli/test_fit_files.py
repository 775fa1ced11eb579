"""`gdppca fit` on many files, folders, patterns and files larger than memory."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from gdppca import Release
from gdppca.cli.main import app
from gdppca.tables import open as opening


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    X = rng.normal(size=(3000, 3)) * [9, 3, 1]
    (tmp_path / "visits").mkdir()
    for k in range(3):
        part = pa.table(dict(zip("abc", X[k::3].T, strict=True)))
        parquet.write_table(part, tmp_path / "visits" / f"{k}.parquet")
    csv.write_csv(pa.table(dict(zip("abc", X.T, strict=True))), tmp_path / "all.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "data", [["visits"], ["visits/*.parquet"], ["visits/0.parquet", "visits/1.parquet"]]
)
def test_folders_patterns_and_lists_are_read(data, folder):
    result = run(*data, "-o", "r.json")
    assert result.exit_code == 0, result.output
    release = Release.load("r.json")
    assert release.n_samples == (3000 if len(data) == 1 else 2000)
    assert not any("order" in str(said) for said in release.guarantee.assumptions)


def test_large_file_is_read_in_parts(folder, monkeypatch):
    monkeypatch.setattr(opening, "_LARGEST_AT_ONCE", 1000)
    monkeypatch.setattr(opening, "read_table", None)  # it is not read whole
    assert run("all.csv", "-o", "r.json").exit_code == 0
    assert Release.load("r.json").n_samples == 3000


def test_small_file_is_read_whole(folder, monkeypatch):
    monkeypatch.setattr(opening, "_in_parts", None)
    assert run("all.csv", "-o", "r.json").exit_code == 0


def test_order_may_be_taken_as_it_is_and_the_release_says_so(folder):
    result = run("all.csv", "-o", "r.json", "--assume-shuffled", "--pairs", 64, "--columns", "c,a")
    assert result.exit_code == 0, result.output
    release = Release.load("r.json")
    assert release.feature_names == ("c", "a")
    assert any("nothing was shuffled" in str(said) for said in release.guarantee.assumptions)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["visits", "--score-map", "0.2"], "`--score-map` and `--groups`"),
        (["visits", "--score-map", "0.2"], "file that fits into memory"),
        (["visits", "--variances", "0.2"], "file that fits into memory"),
        (["visits", "--score-map", "0.2", "--groups", "d=1,2"], "file that fits into memory"),
        (["all.csv", "--variances", "0.2", "--assume-shuffled"], "`--assume-shuffled` is for"),
        (["all.csv", "--variances", "0.2", "--assume-shuffled"], "read in parts"),
        (["visits", "all.csv"], "several kinds"),
        (["nothing/*.csv"], "nothing/*.csv"),
        (["visits", "--pairs", "all"], "all rows at once"),
        (["visits", "-o", "visits/0.parquet", "--force"], "visits/0.parquet"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(arguments, said, folder):
    before = (folder / "visits" / "0.parquet").read_bytes()
    result = run(*arguments)
    assert result.exit_code == (3 if said in ("several kinds", "nothing/*.csv") else 2)
    assert said in " ".join(result.output.split())
    assert not (folder / "release.json").exists()
    assert (folder / "visits" / "0.parquet").read_bytes() == before
    assert np.array_equal(sorted(folder.iterdir()), [folder / "all.csv", folder / "visits"])


def test_one_label_moves_nobody_else_to_another_group(tmp_path, monkeypatch):
    """With 9X somewhere, the labels 01 and 02 of all others were no longer 1 and 2."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(2000, 3))
    totals = []
    for label in ("01", "9X", "", "1.5", "True", "NA"):
        wards = ["01", "02"] * 1000
        wards[0] = label
        table = pa.table({**dict(zip("abc", X.T, strict=True)), "ward": wards})
        csv.write_csv(table, "t.csv", csv.WriteOptions(quoting_style="none"))
        arguments = ["t.csv", "--groups", "ward=01,02", "--score-map", "0.5", "--epsilon", "100"]
        result = CliRunner().invoke(app, ["fit", *arguments, "-o", "r.json", "--force"])
        assert result.exit_code == 0, result.output
        shown = Release.load("r.json").score_map
        totals.append(shown.counts.sum(axis=(1, 2)) + shown.outside)
    np.testing.assert_allclose(totals, 1000, atol=40)
