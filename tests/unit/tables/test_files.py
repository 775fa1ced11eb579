"""CSV and Parquet files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gdppca import DataError, MissingExtraError
from gdppca.noise import secure_noise
from gdppca.tables import files
from gdppca.tables.description import Column, Description
from gdppca.tables.frames import as_matrix
from gdppca.tables.open import open_table


def refusal(text, folder, words, columns=None):
    """What is said of a CSV file with such a content."""
    (folder / "t.csv").write_text(text)
    with pytest.raises(DataError, match=words) as caught:
        files.read_table(folder / "t.csv", columns)
    return str(caught.value)


def test_csv_and_parquet_give_the_same_table(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n3,4\n")
    pq.write_table(pa.table({"a": [1, 3], "b": [2.5, 4.0]}), tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        matrix = as_matrix(files.read_table(tmp_path / name))
        np.testing.assert_array_equal(matrix.values, [[1, 2.5], [3, 4]])
        assert matrix.names == ("a", "b")


def test_columns_are_selected_in_the_order_asked(tmp_path):
    (tmp_path / "t.csv").write_text("a,name,b\n1,x,2\n3,y,4\n")
    assert files.read_table(tmp_path / "t.csv", ["b", "a"]).names == ("b", "a")


@pytest.mark.parametrize("cell", ["", "NA", "secret"])
def test_cell_that_is_missing_or_text_far_down_is_refused_by_column(cell, tmp_path):
    rows = [f"{k},{k % 7}" for k in range(200_000)]
    rows[150_000] = f"1,{cell}"
    (tmp_path / "t.csv").write_text("a,pulse\n" + "\n".join(rows))
    with pytest.raises(DataError, match="'pulse'") as caught:
        as_matrix(files.read_table(tmp_path / "t.csv"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n3\n", "a,b\n1,2,secret\n"])
def test_broken_csv_is_refused_without_its_cells(content, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(DataError, match="cannot be read") as caught:
        files.read_table(tmp_path / "t.csv")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "content",
    [
        "50.1,49.8\n1,2\n",
        "name,7\n1,2\n",
        ",b\n1,2\n",
        "50.1;3.2\n1;2\n",
        "50.1\t3.2\n1\t2\n",
        "Smith,2020-01-05\n1,2\n",
        "<50.1,>100\n1,2\n",
        "true,false\n1,0\n",
        "NA,b\n1,2\n",
    ],
)
def test_csv_without_a_header_is_refused_without_its_first_row(content, tmp_path):
    assert "50.1" not in refusal(content, tmp_path, "no header|has no name")


def test_names_that_are_not_utf8_and_files_without_rows_are_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("k\u00f6rper,b\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        files.read_table(tmp_path / "t.csv")
    (tmp_path / "u.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        files.read_table(tmp_path / "u.csv")


def test_reader_messages_are_not_even_in_the_context(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2,secret\n")
    with pytest.raises(DataError) as caught:
        files.read_table(tmp_path / "t.csv")
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("name", "words"), [("t.parquet", "damaged"), ("nothing.csv", "no file"), ("t.doc", r"\.csv")]
)
def test_damaged_parquet_missing_files_and_other_endings_are_refused(name, words, tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match=words):
        files.read_table(tmp_path / name)


def test_unknown_and_repeated_columns_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,b\n1,2,3\n")
    with pytest.raises(DataError, match="several columns named 'b'"):
        files.read_table(tmp_path / "t.csv")
    (tmp_path / "u.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"no column 'c'.*'a', 'b'"):
        files.read_table(tmp_path / "u.csv", ["c"])
    with pytest.raises(DataError, match="twice"):
        files.read_table(tmp_path / "u.csv", ["a", "a"])


def test_files_are_read_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b,ward\n1,true,x\n3,4,y\n")
    pq.write_table(pa.table({"a": [1, 3], "b": [1, 4], "ward": ["x", "y"]}), tmp_path / "t.parquet")
    (tmp_path / "t.arrow").write_bytes(b"something")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    for name in ("t.csv", "t.parquet"):
        table = files.read_table(tmp_path / name, ["a", "b"])
        assert table.values.tolist() == [[1, 1], [3, 4]]
        assert files.read_labels(tmp_path / name, "ward") == ["x", "y"]
        with open_table(tmp_path / name, secure_noise(), columns=["a", "b"], whole=False) as engine:
            assert sorted(engine.sample(2).values.tolist()) == [[1, 1], [3, 4]]
    with (
        pytest.raises(MissingExtraError, match=r"gdppca\[arrow\]"),
        open_table(tmp_path / "t.arrow", secure_noise()),
    ):
        pass


def test_an_index_without_a_name_is_told(tmp_path):
    (tmp_path / "t.csv").write_text(",age,pulse\n0,1,2\n1,3,4\n")
    with pytest.raises(DataError, match=r"Column 1 of .* has no name"):
        files.read_table(tmp_path / "t.csv")


def test_without_a_reader_nothing_of_a_cell_is_kept(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\ntrue,2\nsecret,3\n")
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match="pip install duckdb") as caught:
        files.read_table(tmp_path / "t.csv")
    assert "secret" not in str(caught.value.__context__)


def test_empty_lines_are_rows_of_a_single_column_only(tmp_path):
    (tmp_path / "t.csv").write_text("\na,b\n1,2\n\n3,4\n\n")
    assert len(as_matrix(files.read_table(tmp_path / "t.csv")).values) == 2
    (tmp_path / "u.csv").write_text("a\n1\n\n3\n")
    with pytest.raises(DataError, match=r"'a' of .*: missing"):
        as_matrix(files.read_table(tmp_path / "u.csv"))


def test_a_header_may_hold_quotes_and_lines(tmp_path):
    (tmp_path / "t.csv").write_text('\ufeff"a ""b""\nc",d\n1,2\n3,4\n')
    assert files.column_names(tmp_path / "t.csv") == ['a "b"\nc', "d"]
    assert as_matrix(files.read_table(tmp_path / "t.csv")).values.tolist() == [[1, 2], [3, 4]]


def test_columns_that_are_not_asked_for_are_not_looked_at(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,note,b\n1,\xff,2\n3,word,true\n")
    assert as_matrix(files.read_table(tmp_path / "t.csv", ["b", "a"])).values.tolist() == [
        [2, 1],
        [1, 3],
    ]


@pytest.mark.parametrize(
    "text",
    [
        'a,b,note\n1,2,x\n3,4,"foo\n5,6,y\n7,8,"bar"\n9,10,z\n',
        'a,note,b\n1,x,2\n3,"foo,4\n5,y,6\n7,"bar",8\n9,z,10\n',
        'a,b\n1,2\n"3"0,4\n',
        'a,b,note\n1,2,5" pipe\n3,4,y\n',
        'a,b,note\n1,2,"x\n3,4,y\n',
    ],
)
def test_a_stray_quote_swallows_no_row(text, tmp_path):
    refusal(text, tmp_path, "quotes", ["a", "b"])


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_quotes_that_enclose_cells_are_read(start, tmp_path):
    text = f'{start}"a",b,note\n"1",2,"x, ""y"""\r\n3,"4","two\nlines"\n5,6,""'
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    table = files.read_table(tmp_path / "t.csv", ["a", "b"])
    assert table.values.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize("row", ["5,6,", "5,6,7", "5", '5,"6",7'])
def test_line_ends_of_several_kinds_hide_no_row_of_another_length(row, tmp_path):
    text = f'a,b\r\n1,2\n3,"4\n"\r\n\n{row}\n7,8\n'
    (tmp_path / "t.csv").write_text(text, newline="")
    with pytest.raises(DataError, match="rows of different lengths"):
        files.read_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(text.replace(row, "5,6"), newline="")
    assert files.read_table(tmp_path / "t.csv").values.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_names_are_those_of_the_file_whatever_a_reader_makes_of_them(tmp_path):
    (tmp_path / "t.csv").write_text("a,A, b\n1,2,3\n")
    pq.write_table(pa.table({"a": [1], "A": [2], " b": [3]}), tmp_path / "t.parquet")
    nested = pa.table({"x": [{"a": 1, "y": {"b": [1]}}], "z": [1], "l": [[{"k": 1}]], "w": [2]})
    pq.write_table(nested, tmp_path / "nested.parquet")
    for name in ("t.csv", "t.parquet"):
        table = files.read_table(tmp_path / name, ["A", " b", "a"])
        assert (table.names, table.values.tolist()) == (("A", " b", "a"), [[2, 3, 1]])
    assert files.read_table(tmp_path / "nested.parquet", ["w", "z"]).values.tolist() == [[2, 1]]


@pytest.mark.parametrize("whole", [None, True, False])
@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_not_the_folder_that_one_is_in(name, whole, tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="empty"):
        open_table(name, secure_noise(), whole=whole)


def test_weights_and_persons_of_a_description_are_read_from_a_file(tmp_path):
    rows = "".join(f"p{k // 2},{k % 3},{k}.5,{k % 2}.0\n" for k in range(12))
    (tmp_path / "t.csv").write_text("p,w,x,f\n" + rows)
    told = Description(
        columns=(Column(name="x"), Column(name="f", type="yes-no")),
        person="p",
        weight="w",
        largest_weight=2.0,
    )
    table = open_table(tmp_path / "t.csv", secure_noise(), description=told)
    assert table.n_samples == 6
    assert table.sample(2).parts[:3].tolist() == [0, 2**30 // 4, 2**30 // 2]
    assert table.values[:, 1].tolist() == [0.0, 1.0] * 6  # as 0.0 and 1.0 are written
    other = (
        open_table(tmp_path / "t.csv", secure_noise(), description=told, persons="f2")
        if False
        else table
    )
    assert other.description.person == "p"
