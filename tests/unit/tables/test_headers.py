"""Names of columns in the header of a file."""

import pytest

from gdppca import DataError
from gdppca.tables.headers import csv_header, parquet_names


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n", (1, ["a", "b"])),
        ("\n\r\na,b\n1,2\n", (3, ["a", "b"])),
        ('"a\nx",b\n1,2\n', (1, ["a\nx", "b"])),
        ('\ufeff"a\nx",b\n1,2\n', (2, ["a\nx", "b"])),
        ('"a ""b""", c\r\n', (1, ['a "b"', " c"])),
        ("", (1, [])),
    ],
)
def test_names_and_the_lines_before_the_first_row(content, expected, tmp_path):
    (tmp_path / "t.csv").write_text(content, newline="", encoding="utf-8")
    assert csv_header(tmp_path / "t.csv") == expected


def test_a_header_that_is_not_utf8_is_not_even_in_the_context(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\xff,b\n1,2\n")
    with pytest.raises(DataError, match="UTF-8") as caught:
        csv_header(tmp_path / "t.csv")
    assert caught.value.__context__ is None


def test_only_whole_columns_have_names():
    nodes = [("root", 3), ("x", 2), ("a", None), ("y", 1), ("b", None), ("z", None), ("w", None)]
    assert parquet_names(nodes) == ["x", "z", "w"]
