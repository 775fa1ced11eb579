"""Files larger than memory: every source, the secret order, and what goes wrong on the way."""

import gzip
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest
from pyarrow import csv, dataset, parquet

from gdppca import DPPCA, BudgetExceeded, DataError, Ledger, Release, kendall_tau, sin_theta
from gdppca.kernels import Blocks
from gdppca.noise import FreshNoise, OrderKeys
from gdppca.noise.bits import secure_bits
from gdppca.signs import as_sign
from gdppca.tables import base, duck, visits
from gdppca.tables.base import Recipe
from gdppca.tables.description import Description
from gdppca.tables.open import open_table
from gdppca.tables.sources import found_files

KEYS = OrderKeys(b"a secret of thirty-two bytes ...")
SECRET = "HIV+"
PAIRS = Recipe(as_sign("spherical"), 3, Blocks(16))


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert not list(folder.iterdir())  # raw rows are gone, whatever happened


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(1000, 3)) * [5, 2, 1] + 7
    return X[np.argsort(X[:, 0])]


@pytest.fixture
def table(X):
    return pa.table(dict(zip("abc", X.T, strict=True)))


@dataclass(frozen=True)
class FixedKeys(FreshNoise):
    """Noise whose secret order is known here."""

    known: OrderKeys | None

    def keys(self):
        return self.known


def opened(source, keys, columns=None, **wishes):
    """Rows that are read in parts, in the order of these keys or as they come."""
    noise, shuffled = FixedKeys(secure_bits(), keys), keys is None
    wishes = {"columns": columns, "assume_shuffled": shuffled, "whole": False, **wishes}
    return open_table(source, noise, **wishes)


def silent(done, total):
    pass


def ordered(source, keys=KEYS, columns=None):
    """All rows of a source in the order in which they are summed."""
    with opened(source, keys, columns) as engine:
        return engine.sample(engine.n_samples).values


def sources(table, folder):
    parquet.write_table(table, folder / "t.parquet", row_group_size=100)
    csv.write_csv(table, folder / "t.csv")
    pa.feather.write_feather(table, folder / "t.feather")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    (folder / "t.tsv").write_text((folder / "t.csv").read_text().replace(",", "\t"))
    (folder / "t.jsonl").write_text(
        "\n".join(str(row).replace("'", '"') for row in table.to_pylist())
    )
    (folder / "parts").mkdir()
    (folder / "parts" / "_SUCCESS").write_text("")
    for k in range(4):
        parquet.write_table(table.slice(250 * k, 250), folder / "parts" / f"{k}.parquet")
    parts = [folder / "parts" / f"{k}.parquet" for k in range(4)]
    return {
        "parquet": folder / "t.parquet",
        "csv": str(folder / "t.csv"),
        "feather": folder / "t.feather",
        "gz": folder / "t.csv.gz",
        "tsv": folder / "t.tsv",
        "json": folder / "t.jsonl",
        "folder": folder / "parts",
        "pattern": str(folder / "parts" / "*.parquet"),
        "list": parts,
        "table": table,
        "data set": dataset.dataset(parts),
        "reader": table.to_reader(),
        "relation": duckdb.connect().from_arrow(table),
    }


NAMES = ["parquet", "csv", "feather", "gz", "tsv", "json", "folder", "pattern", "list"]
NAMES += ["table", "data set", "reader", "relation"]


@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_the_same_rows_in_the_same_secret_order(name, X, table, tmp_path):
    source = sources(table, tmp_path)[name]
    np.testing.assert_array_equal(ordered(source), X[np.argsort(KEYS.range(len(X)))])


def test_without_keys_rows_keep_their_order(X, table):
    np.testing.assert_array_equal(ordered(table, None), X)
    with opened(table, None) as engine:
        np.testing.assert_array_equal(engine.sample(10), X[:10])


def test_sum_is_that_of_the_rows_in_their_order(X, table, tmp_path):
    parquet.write_table(table, tmp_path / "t.parquet")
    seen = []
    for keys, order in ((KEYS, np.argsort(KEYS.range(len(X)))), (None, slice(None))):
        with opened(tmp_path / "t.parquet", keys) as engine:
            total = engine.total(PAIRS, lambda done, n: seen.append((done, n)))
        np.testing.assert_allclose(total.mean(), kendall_tau(X[order], pairs=16), atol=1e-14)
        assert seen[-1] == (len(X), len(X))


def test_batches_do_not_matter(X, table, monkeypatch):
    monkeypatch.setattr(duck, "_BATCH_ROWS", 7)
    monkeypatch.setattr(duck, "_BATCH_ENTRIES", 0)
    with opened(table, None) as engine:
        total = engine.total(PAIRS, silent)
    np.testing.assert_allclose(total.mean(), kendall_tau(X, pairs=16), atol=1e-14)


def test_columns_are_taken_in_the_order_asked_whatever_their_names(tmp_path):
    names = ['a "quoted" name', "ß; DROP TABLE rows", "select"]
    X = np.arange(12.0).reshape(4, 3)
    parquet.write_table(pa.table(dict(zip(names, X.T, strict=True))), tmp_path / "t.parquet")
    np.testing.assert_array_equal(
        ordered(tmp_path / "t.parquet", None, [names[2], names[0]]), X[:, [2, 0]]
    )


def test_types_are_those_of_numbers(tmp_path):
    from decimal import Decimal

    table = pa.table(
        {
            "whole": pa.array([1, 2], pa.int8()),
            "large": pa.array([2**63, 1], pa.uint64()),
            "yes": [True, False],
            "exact": pa.array([Decimal("1.5"), Decimal("2.5")]),
            "half": pa.array(np.array([1.5, 2.5], np.float32)),
        }
    )
    expected = [[1, 2.0**63, 1, 1.5, 1.5], [2, 1, 0, 2.5, 2.5]]
    names = ["whole", "large", "yes", "exact", "half"]
    np.testing.assert_array_equal(ordered(table, None, names), expected)


def test_files_may_have_their_columns_in_another_order(X, table, tmp_path):
    for name, part in (("a", table.slice(0, 500)), ("b", table.slice(500).select(["c", "a", "b"]))):
        parquet.write_table(part, tmp_path / f"{name}.parquet")
        csv.write_csv(part, tmp_path / f"{name}.csv")
    for ending in ("parquet", "csv"):
        np.testing.assert_array_equal(ordered(str(tmp_path / f"*.{ending}"), None), X)


def test_whole_numbers_in_one_csv_may_be_fractions_in_the_next(tmp_path):
    (tmp_path / "1.csv").write_text("a\n1\n2\n")
    (tmp_path / "2.csv").write_text("a\n1.5\n2\n")
    np.testing.assert_array_equal(ordered(tmp_path, None).ravel(), [1, 2, 1.5, 2])


def refused(source, columns=None):
    with pytest.raises(DataError) as caught, opened(source, KEYS, columns) as engine:
        engine.total(Recipe(as_sign("spherical"), engine.n_features, Blocks(16)), silent)
    assert SECRET not in str(caught.value)
    error = caught.value
    while error is not None:  # not even behind the error
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    return str(caught.value)


LONG = "a,b\n" + "1,2\n" * 30_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (LONG + f"3,{SECRET}\n", "Column 'b'.*not numbers"),
        (f"a,b\n1,{SECRET}\n", "Column 'b'.*not numbers"),
        (LONG + "3,\n", "Column 'b' of '.*bad.csv': missing"),
        (LONG + "3,NA\n", "Column 'b' of '.*bad.csv': missing"),
        (LONG + "3,inf\n", "Column 'b' of '.*bad.csv': NaN or inf"),
        (LONG + "3\n", "rows of different lengths"),
        (LONG + f"3,4,{SECRET}\n", "rows of different lengths"),
        (f"a,b\n1,2020-01-05\n2,{'2020-01-06'}\n", "Column 'b'.*not numbers"),
        ("", "cannot be read as csv"),
        ("1.5,2.5\n3,4\n", "no header"),
    ],
)
def test_bad_csv_is_refused_by_column_and_without_its_cells(content, said, tmp_path):
    (tmp_path / "bad.csv").write_text(content)
    assert re.search(said, refused(tmp_path / "bad.csv"))


def test_files_that_do_not_match_are_named(table, tmp_path):
    parquet.write_table(table, tmp_path / "1.parquet")
    parquet.write_table(table.select(["a", "b"]), tmp_path / "2.parquet")
    said = refused(tmp_path)
    assert "column 'c'" in said
    assert "2.parquet" in said
    other = table.set_column(0, "a", table["a"].cast(pa.float32()))
    parquet.write_table(other, tmp_path / "2.parquet")
    said = refused(tmp_path)
    assert "Column 'a' is DOUBLE" in said
    assert "FLOAT" in said
    assert "2.parquet" in said
    (tmp_path / "2.parquet").write_bytes(b"nothing of the kind")
    assert "2.parquet" in refused(tmp_path)
    (tmp_path / "2.parquet").unlink()
    csv.write_csv(table, tmp_path / "3.csv")
    assert "several kinds" in refused(tmp_path)


def test_what_is_not_there_is_named(table, tmp_path):
    assert "nothing.csv" in refused(tmp_path / "nothing.csv")
    assert "There is no file in" in refused(tmp_path)
    assert "*.csv" in refused(str(tmp_path / "*.csv"))
    assert "must end in" in refused(__file__)
    assert "no column 'z'" in refused(table, ["z"])
    assert "twice" in refused(table, ["a", "a"])
    assert "list of names" in refused(table, "a")
    assert "ndarray" in refused(np.zeros((3, 2)))
    parquet.write_table(table.slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(DataError, match="2 rows"):
        DPPCA().fit_stream(tmp_path / "none.parquet")


@pytest.mark.parametrize("change", ["grown", "gone", "replaced"])
def test_file_that_changes_while_it_is_read_is_named(change, table, tmp_path, monkeypatch):
    file = tmp_path / "t.csv"
    csv.write_csv(table, file)

    def disturb():
        if change == "grown":
            with file.open("a") as out:
                out.write("1,2,3\n")
        else:
            file.unlink()
        if change == "replaced":
            csv.write_csv(table, file)

    with opened(file, KEYS) as engine:
        disturb()
        with pytest.raises(DataError, match=r"t\.csv' changed"):
            engine.total(PAIRS, silent)


def test_nothing_is_spent_on_a_file_that_fails(table, tmp_path):
    address = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = Ledger(address)
    ledger.create("people", epsilon=1.0, delta=1e-6)
    csv.write_csv(table, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open("a") as out:
        out.write(f"1,2,{SECRET}\n")
    for location in (None, "auto"):
        pca = DPPCA(2, location=location, ledger=f"{address}#people")
        with pytest.raises(DataError, match="'c'"):
            pca.fit_stream(tmp_path / "t.csv")
    assert ledger.account("people").spends == 0
    parquet.write_table(table, tmp_path / "t.parquet")
    pca.fit_stream(tmp_path / "t.parquet")
    assert ledger.account("people").spends == 1
    seen = []
    with pytest.raises(BudgetExceeded):
        pca.fit_stream(tmp_path / "t.parquet", progress=lambda *done: seen.append(done))
    assert not seen  # refused before anything was read
    assert ledger.account("people").spends == 1


def test_full_temporary_disk_is_told(tmp_path, monkeypatch):
    """Files of this process may not grow beyond a megabyte, the sort needs more."""
    monkeypatch.setenv("GDPPCA_MEMORY", "120MB")
    X = np.random.default_rng(0).normal(size=(1_000_000, 20))
    table = pa.table({f"c{k}": X[:, k] for k in range(20)})
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, limit[1]))
    try:
        with (
            pytest.raises(DataError, match="disk of the temporary folder"),
            opened(table, KEYS) as engine,
        ):
            engine.total(Recipe(as_sign("spherical"), 20, Blocks(64)), silent)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)


def test_too_little_memory_is_told(monkeypatch):
    monkeypatch.setenv("GDPPCA_MEMORY", "1MB")
    table = pa.table({f"c{k}": np.zeros(100_000) for k in range(10)})
    assert "GDPPCA_MEMORY" in refused(table)


_LONG_FIT = """
import sys
from gdppca import DPPCA
print("begun", flush=True)
DPPCA(2, pairs=64, location=None, delta=1e-9).fit_stream(sys.argv[1])
print("done", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_rows_on_disk_are_gone_after_a_signal(number, tmp_path, own_temporary_folder):
    X = np.random.default_rng(0).normal(size=(1_200_000, 10))
    file = tmp_path / "t.parquet"
    table = pa.table({f"c{k}": X[:, k] for k in range(10)})
    parquet.write_table(table, file, row_group_size=100_000)
    fit = subprocess.Popen(
        [sys.executable, "-c", _LONG_FIT, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(own_temporary_folder), "GDPPCA_MEMORY": "100MB"},
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not _spilled(own_temporary_folder):
        time.sleep(0.01)
    assert _spilled(own_temporary_folder)
    fit.send_signal(number)
    said, complaint = fit.communicate(timeout=60)
    assert "done" not in said
    assert number == signal.SIGTERM or complaint.splitlines()[-1] == "KeyboardInterrupt"
    assert fit.returncode != 0
    assert not list(own_temporary_folder.iterdir())


def _spilled(folder):
    """Bytes of raw rows on disk."""
    return sum(
        os.path.getsize(os.path.join(where, name))
        for where, _, names in os.walk(folder)
        for name in names
        if os.path.exists(os.path.join(where, name))
    )


def test_sample_is_random_and_of_its_size():
    n = 400_000
    table = pa.table({"a": np.arange(n, dtype=float)})
    with opened(table, KEYS) as engine:
        sample = engine.sample(10_000).values.ravel()
    assert abs(len(sample) - 10_000) < 600
    assert len(np.unique(sample)) == len(sample)
    assert abs(sample.mean() / n - 0.5) < 0.02
    assert (np.diff(sample) > 0).mean() < 0.6  # in random order, too


def test_fit_stream_is_a_fit(table, X):
    streamed = DPPCA(2, epsilon=np.inf, pairs=16, random_state=0).fit_stream(table)
    whole = DPPCA(2, epsilon=np.inf, pairs=16, random_state=0).fit(table)
    assert sin_theta(streamed.components_, whole.components_) < 0.05
    assert streamed.release_.scheme == whole.release_.scheme
    assert list(streamed.feature_names_in_) == ["a", "b", "c"]
    again = DPPCA(2, epsilon=np.inf, pairs=16, random_state=0).fit_stream(table)
    np.testing.assert_array_equal(again.scatter_, streamed.scatter_)


@pytest.mark.parametrize(
    "parameters",
    [{"scale": "private"}, {"location": "private"}, {"sign": "winsor", "radius": "quantile"}],
)
def test_private_steps_work_on_streams(parameters, table):
    pca = DPPCA(2, epsilon=4.0, **parameters).fit_stream(table)
    whole = DPPCA(2, epsilon=4.0, **parameters).fit(table)
    assert pca.guarantee_.epsilon == pytest.approx(4.0, rel=1e-6)
    purposes = {event.purpose for event in whole.guarantee_.events}
    assert {event.purpose for event in pca.guarantee_.events} == purposes
    assert pca.guarantee_.assumptions == whole.guarantee_.assumptions


def test_guarantee_tells_that_nothing_was_shuffled(table):
    shuffled = DPPCA(2, pairs=16).fit_stream(table)
    taken = DPPCA(2, pairs=16).fit_stream(table, assume_shuffled=True)
    assert not any("order" in str(said) for said in shuffled.guarantee_.assumptions)
    assert any("order" in str(said) for said in taken.guarantee_.assumptions)


@pytest.mark.parametrize("pairs", ["all", "halves"])
def test_schemes_that_need_all_rows_are_refused(pairs, table):
    with pytest.raises(ValueError, match="all rows at once"):
        DPPCA(2, pairs=pairs).fit_stream(table)


def test_files_of_a_folder_of_folders(table, tmp_path):
    (tmp_path / "year=2024").mkdir()
    parquet.write_table(table.slice(0, 10), tmp_path / "year=2024" / "a.parquet")
    parquet.write_table(table.slice(10, 10), tmp_path / "b.parquet")
    assert len(found_files(tmp_path)._paths) == 2
    both = [tmp_path / "year=2024", tmp_path / "b.parquet"]
    assert found_files(both).name == "The list of files"


@pytest.mark.parametrize("name", ["secret", "Secret", "c0", "c1", "rows", "secret_key", 'a"b'])
def test_no_name_of_a_column_gets_into_the_way_of_the_keys(X, name, tmp_path):
    plain = ordered(pa.table(dict(zip("abc", X.T, strict=True))))
    assert np.array_equal(ordered(pa.table(dict(zip([name, "b", "z"], X.T, strict=True)))), plain)
    beside = pa.table(
        {"a": X[:, 0], "b": X[:, 1], "z": X[:, 2], name + "_": X[:, 0], name: X[:, 0]}
    )
    assert np.array_equal(ordered(beside, columns=["a", "b", "z"]), plain)
    with opened(beside, KEYS, ["a", "b", "z"]) as engine:
        few = engine.sample(100).values
    assert np.array_equal(few, plain[: len(few)])


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("front", ["0.5", "0"])
def test_the_first_rows_do_not_decide_how_others_are_rounded(kind, front, tmp_path):
    path = tmp_path / f"t.{kind}"
    cells = [front, *["0"] * 25_000, *["0.4", "0.6"] * 50]
    if kind == "csv":
        path.write_text("a,b\n" + "".join(f"{cell},{cell}\n" for cell in cells))
    else:
        path.write_text("".join(f'{{"a": {cell}, "b": {cell}}}\n' for cell in cells))
    rows = ordered(path)
    assert np.array_equal(np.sort(rows[:, 1]), np.sort(np.array(cells, dtype=float)))


@pytest.mark.parametrize("front", ["", '"1","2"\n', "3,4\n"])
def test_the_first_rows_do_not_decide_what_quotes_and_comments_are(front, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + front + "3,4\n" * 25_000 + '"5","6"\n')
    assert ordered(path).max(axis=0).tolist() == [5.0, 6.0]
    path.write_text("a,b\n" + front + "3,4\n" * 25_000 + "#5,6\n")
    refused(path)


def test_json_takes_each_cell_by_itself(tmp_path):
    front = '{"a": true, "b": 1}\n' * 25_000
    (tmp_path / "t.jsonl").write_text(front + '{"a": 0.25, "b": 2.5}\n')
    assert ordered(tmp_path / "t.jsonl").sum(axis=0).tolist() == [25_000.25, 25_002.5]


def test_no_file_is_read_twice(table, tmp_path):
    file = tmp_path / "v1.parquet"
    parquet.write_table(table, file)
    os.symlink(file, tmp_path / "latest.parquet")
    for twice in (tmp_path, [file, file], [tmp_path / "v*.parquet", file]):
        with pytest.raises(DataError, match="the same file twice"):
            found_files(twice)


def test_names_that_look_like_patterns_are_names(table, tmp_path):
    parquet.write_table(table.slice(0, 10), tmp_path / "v1.parquet")
    parquet.write_table(table.slice(10, 30), tmp_path / "v[1].parquet")
    csv.write_csv(table.slice(10, 30), tmp_path / "w[1]?*.csv")
    assert len(ordered(tmp_path / "v[1].parquet")) == 30
    assert len(np.unique(ordered(tmp_path / "*.parquet")[:, 0])) == 40
    assert len(ordered(tmp_path / "w[1]?*.csv")) == 30


@pytest.mark.parametrize("cell", [np.nan, np.inf, None])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_bad_cell_outside_of_the_sample_is_refused_before_the_spend(
    cell, shuffled, X, ledger, monkeypatch
):
    monkeypatch.setattr(base, "LARGEST_SAMPLE", 100)
    book, account = ledger
    bad = pa.table({"a": X[:, 0], "b": [*X[:-1, 1], cell]})
    pca = DPPCA(1, location="private", ledger=account)
    with pytest.raises(DataError, match="Column 'b'"):
        pca.fit_stream(bad, assume_shuffled=shuffled)
    assert book.account("patients").spends == 0
    good = DPPCA(1, location="private").fit_stream(pa.table({"a": X[:, 0], "b": X[:, 1]}))
    assert len(good.components_) == 1


def test_a_bad_cell_of_a_wide_table_is_found(monkeypatch):
    monkeypatch.setattr(base, "LARGEST_SAMPLE", 2)
    X = np.ones((30, 2100))
    X[29, 1234] = np.nan
    wide = pa.table({f"x{k}": X[:, k] for k in range(X.shape[1])})
    with pytest.raises(DataError, match="Column 'x1234'"), opened(wide, KEYS, None) as engine:
        engine.sample(2)


def test_a_release_knows_the_sample_that_its_centre_comes_from(X, tmp_path, monkeypatch):
    table = pa.table(dict(zip("abc", np.tile(X, (20, 1)).T, strict=True)))
    whole = DPPCA(1, location="private").fit_stream(table).release_
    monkeypatch.setattr(base, "LARGEST_SAMPLE", 10_000)
    release = DPPCA(1, location="private").fit_stream(table).release_
    release.save(tmp_path / "r.json")
    again = Release.load(tmp_path / "r.json")
    assert again.scheme == {"name": "one-sample", "sample": 10_000}
    assert whole.scheme == {"name": "one-sample"}
    assert again.centre_bias > 2 * whole.centre_bias > 0


def test_a_relation_that_fails_quotes_no_cell():
    with duckdb.connect() as elsewhere:
        elsewhere.sql(f"CREATE TABLE people AS SELECT 1 AS a, '{SECRET}' AS n")
        assert "cannot be read" in refused(elsewhere.sql("SELECT a, CAST(n AS DOUBLE) FROM people"))
        gone = elsewhere.sql("SELECT a FROM people")
    assert "cannot be read" in refused(gone)


def test_settings_that_are_wrong_are_told(table, monkeypatch, tmp_path):
    monkeypatch.setenv("GDPPCA_MEMORY", "512 bananas")
    with pytest.raises(ValueError, match="GDPPCA_MEMORY must be a size"):
        DPPCA(1).fit_stream(table)
    monkeypatch.delenv("GDPPCA_MEMORY")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "not mounted"))
    assert "no folder TMPDIR" in refused(table)


def test_a_later_file_without_a_header_is_not_quoted(tmp_path):
    (tmp_path / "a.csv").write_text("age,pulse\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("123456.78,1\n37.5,2\n")
    for source in (tmp_path, [tmp_path / "b.csv", tmp_path / "a.csv"]):
        with pytest.raises(DataError, match="seems to have no header") as refused:
            ordered(source)
        assert "123456" not in str(refused.value)


def test_numbers_of_programmers_are_refused_in_words(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n0x10,2\n3,4\n")
    with pytest.raises(DataError, match=r"a|read"):
        ordered(tmp_path / "t.csv")


def visits_file(tmp_path, n=200_000, ids=30_000):
    rng = np.random.default_rng(3)
    columns = dict(zip("abc", rng.normal(size=(3, n)), strict=True))
    whose = pa.array([f"patient number {k:09}" for k in rng.integers(0, ids, n)])
    path = tmp_path / "visits.parquet"
    parquet.write_table(pa.table({**columns, "who": whose}), path, row_group_size=20_000)
    return path


@pytest.mark.parametrize(
    "recipe", [PAIRS, Recipe(as_sign("spherical"), 3, Blocks(16), np.zeros(3))]
)
def test_ids_beyond_memory_go_to_the_private_folder(tmp_path, monkeypatch, recipe):
    path, found = visits_file(tmp_path), []
    for memory in ("512MB", "32MB"):
        monkeypatch.setenv(duck.MEMORY_VARIABLE, memory)
        with opened(path, KEYS, persons="who") as engine:
            sample = engine.sample(1000)
            found.append((sample.values, sample.parts, engine.total(recipe, silent).mean()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


def test_a_full_disk_is_said_before_it_kills(tmp_path, monkeypatch):
    def full(folder, kind, n):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(visits, "_array", full)
    with (
        pytest.raises(DataError, match="is full"),
        opened(visits_file(tmp_path, 100), KEYS, persons="who"),
    ):
        pass


@pytest.mark.parametrize("name", ["csv", "parquet", "json", "relation", "reader", "feather"])
def test_every_source_knows_persons_and_weights(name, X, table, tmp_path):
    who = [f"P{k % 300}" for k in range(len(X))]
    table = table.append_column("who", pa.array(who)).append_column("w", pa.array(X[:, 0] % 2 + 1))
    source = sources(table, tmp_path)[name]
    wish = {"persons": "who", "weights": "w", "largest_weight": 2.0}
    recipe = Recipe(as_sign("spherical"), 3, Blocks(16), np.full(3, 7.0))
    with opened(source, KEYS, **wish) as engine:
        assert (engine.n_samples, engine.names) == (300, ("a", "b", "c"))
        result = engine.total(recipe, silent).mean()
    with open_table(table, FixedKeys(secure_bits(), KEYS), **wish) as whole:
        expected = whole.total(recipe, silent).mean()
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


def test_ids_of_files_are_cells_as_they_stand(tmp_path):
    """Here NA is a name like any other, unless a description says that it is missing."""
    (tmp_path / "t.csv").write_text("who,a,b\nNA,1,2\n01,2,3\n1,3,5\nNA,1,1\n")
    with opened(tmp_path / "t.csv", KEYS, persons="who") as engine:
        assert engine.n_samples == 3
    told = Description(columns=(), missing=("NA",))
    with (
        pytest.raises(DataError, match="rows without an id"),
        opened(tmp_path / "t.csv", KEYS, persons="who", description=told),
    ):
        pass
