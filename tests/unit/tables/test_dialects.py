"""Text files as programs write them: what is declared is obeyed, what is not is said truly."""

import gzip

import numpy as np
import pytest

from gdppca import DataError, ParameterError
from gdppca.noise import secure_noise
from gdppca.tables.description import Column, Description
from gdppca.tables.dialects import Dialect, dialect_of, known_encoding, plain_copy
from gdppca.tables.files import column_names, read_table
from gdppca.tables.open import open_table

TABLE = Description(columns=(Column(name="a"), Column(name="b")))


def refused(path, description=None):
    """What whole and in parts is said alike."""
    said = set()
    for whole in (True, False):
        with pytest.raises(DataError) as caught:
            open_table(path, secure_noise(), description=description, whole=whole).__enter__()
        said.add(str(caught.value))
        assert "HIV" not in str(caught.value)
    [words] = said
    return words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a;b\n1;HIV+\n", r"separated by ';': give --delimiter ';', or delimiter = \";\""),
        (b"a\tb\n1\tHIV+\n", r"separated by '\t': give --delimiter '\t', or"),
        (b"a|b|c\n1|HIV+|2\n", "separated by '|': give --delimiter '|'"),
        (
            "a,b\n1,HIV+\n".encode("utf-16"),
            "UTF-16, as its first bytes say: give --encoding utf-16",
        ),
        ("größe,b\n1,HIV+\n".encode("latin-1"), "not UTF-8. Give its encoding (--encoding"),
        (b"PK\x03\x04HIV+", "a zip archive or a workbook"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "packed by gzip: give it the ending .csv.gz"),
        (b"\xd0\xcf\x11\xe0HIV+", "a workbook of Excel: give it the ending .xls"),
        (b"PAR1HIV+", "a Parquet file"),
        (b"<!DOCTYPE html><p>HIV+\n", "a web page or XML"),
        (b" <HTML><p>HIV+\n", "a web page or XML"),
        (b"Visits of 2020\na,b\n1,2\n", "has one name: if lines of titles"),
        (b"Visits,\na,b\n1,2\n", "has no name; it may be an index"),
    ],
)
def test_what_a_file_is_instead_is_said_by_its_header_and_format(content, words, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    assert words.replace('\\"', '"') in refused(tmp_path / "t.csv")


def test_separators_of_a_file_without_a_header_are_not_guessed(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"50.1;HIV+\n1;2\n")
    assert "no header" in refused(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"encoding": "utf-16"}, "is not written in utf-16"),
        ({"skip": 9}, "nothing after 9 lines"),
        ({"encoding": "cp1252", "skip": 1}, "no header"),
    ],
)
def test_a_dialect_that_the_file_does_not_have(how, words, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    assert words in refused(tmp_path / "t.csv", Description(columns=TABLE.columns, **how))


def test_names_that_are_not_in_the_declared_encoding(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\x81,b\n1,2\n")
    known = Description(columns=TABLE.columns, encoding="cp1252")
    assert "not in the encoding that was given" in refused(tmp_path / "t.csv", known)


def test_quotes_are_strict_between_declared_delimiters(tmp_path):
    known = Description(columns=TABLE.columns, delimiter=";", decimal=",")
    (tmp_path / "t.csv").write_text('a;b;note\n"1,5";2;"x;\ny"\n3;4;"say ""no"""\n')
    assert read_table(tmp_path / "t.csv", None, known).values.tolist() == [[1.5, 2], [3, 4]]
    (tmp_path / "t.csv").write_text('a;b;note\n1;2;x,"HIV+"\n3;4;y\n')
    with pytest.raises(DataError, match="has quotes that neither") as caught:
        read_table(tmp_path / "t.csv", None, known)
    assert "HIV" not in str(caught.value)


def test_thousands_and_decimal_signs(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1.234.567,25; 1.000 \n-0,5;1e3\n", encoding="utf-8")
    known = Description(columns=TABLE.columns, delimiter=";", decimal=",", thousands=".")
    assert read_table(tmp_path / "t.csv", None, known).values.tolist() == [
        [1234567.25, 1000],
        [-0.5, 1000],
    ]


def test_a_description_without_columns_takes_all_for_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;who\n1,5;2;7\n3;4;8\n")
    known = Description(columns=(), delimiter=";", decimal=",", person="who")
    table = read_table(tmp_path / "t.csv", None, known)
    assert table.names == ("a", "b")
    assert table.values.tolist() == [[1.5, 2], [3, 4]]
    assert read_table(tmp_path / "t.csv", ["b"], known).names == ("b",)
    assert column_names(tmp_path / "t.csv", known) == ["a", "b", "who"]


def test_columns_choose_among_those_of_a_description(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert read_table(tmp_path / "t.csv", ["b"], TABLE).names == ("b",)
    with pytest.raises(DataError, match="The description has no column 'c'"):
        read_table(tmp_path / "t.csv", ["c"], TABLE)
    with pytest.raises(DataError, match=r"t.csv' has no column 'c', .*. It has 'a', 'b'"):
        read_table(tmp_path / "t.csv", None, Description(columns=(Column(name="c"),)))


@pytest.mark.parametrize("how", [{"skip": 1}, {"encoding": "utf-16"}, {}])
def test_several_files_in_a_dialect_are_one_table(how, tmp_path):
    known = Description(columns=TABLE.columns, delimiter=";", **how)
    for k in range(3):
        text = "a title\n" * known.skip + f"a;b\n{k};1\n{k};2\n"
        (tmp_path / f"{k}.csv").write_bytes(text.encode(known.encoding or "utf-8"))
    table = open_table(tmp_path, secure_noise(), description=known, assume_shuffled=True)
    with table as engine:
        expected = [[k, b] for k in range(3) for b in (1, 2)]
        np.testing.assert_array_equal(engine.sample(9), expected)


def test_notes_beside_tables_are_no_tables(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "readme.txt").write_text("about the table")
    with open_table(tmp_path, secure_noise()) as engine:
        assert engine.n_samples == 2
    (tmp_path / "b.txt").write_text("a,b\n1,2\n")
    assert read_table(tmp_path / "b.txt").values.tolist() == [[1, 2]]


def test_plain_copies_are_alone_in_their_folder(tmp_path):
    (tmp_path / "t.csv").write_bytes("title\nä,b\n".encode("latin-1"))
    copy = plain_copy(tmp_path / "t.csv", Dialect(encoding="iso8859-1", skip=1), tmp_path)
    assert copy.read_text(encoding="utf-8") == "ä,b\n"
    other = plain_copy(tmp_path / "t.csv", Dialect(encoding="iso8859-1"), tmp_path)
    assert other != copy


def test_encodings_and_delimiters_that_are_none():
    assert known_encoding(None) == "utf-8"
    assert known_encoding("Latin-1") == "iso8859-1"
    for name in ("klingon", "base64", "\0"):
        with pytest.raises(ParameterError, match="--encoding"):
            known_encoding(name)
    assert dialect_of(None, []) == Dialect()
