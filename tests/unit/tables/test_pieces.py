"""By what a table is known again, and what that costs."""

import numpy as np

from gdppca.noise import secure_noise
from gdppca.tables.memory import MemoryTable
from gdppca.tables.pieces import MOST_FILES, pieces_of, pieces_of_files, pieces_of_rows

MB = 2**20


def size(pieces):
    return sum(map(len, pieces))


def test_a_small_table_is_known_by_all_of_it(tmp_path):
    values = np.arange(12.0).reshape(4, 3)
    assert b"".join(pieces_of_rows(values)) == b"(4, 3)" + values.tobytes()
    (tmp_path / "rows.csv").write_bytes(b"a,b\n1,2\n")
    assert b"".join(pieces_of_files([tmp_path / "rows.csv"])) == b"8 bytes" + b"a,b\n1,2\n"


def test_a_large_one_costs_no_pass_over_it(tmp_path):
    rows = np.lib.stride_tricks.as_strided(np.arange(8.0), (10_000_000, 8), (0, 8))
    assert size(pieces_of_rows(rows)) <= 4 * MB + 100
    with open(tmp_path / "rows.csv", "wb") as file:
        file.truncate(2**34)  # 16 GB of nothing
    assert size(pieces_of_files([tmp_path / "rows.csv"])) <= 4 * MB + 100


def test_the_first_and_the_last_rows_and_the_number_count():
    rows = np.zeros((200_000, 8))
    whole = b"".join(pieces_of_rows(rows))
    for place in (0, -1):
        other = rows.copy()
        other[place, 0] = 1.0
        assert b"".join(pieces_of_rows(other)) != whole
    assert b"".join(pieces_of_rows(rows[:-1])) != whole


def test_only_memory_and_few_files_are_looked_at(tmp_path):
    table = MemoryTable(np.zeros((3, 2)), None, secure_noise())
    assert b"".join(pieces_of(table)).startswith(b"(3, 2)")
    assert pieces_of(object()) is None
    assert pieces_of_files([tmp_path] * (MOST_FILES + 1)) is None


def test_rows_in_another_layout_are_the_same_rows():
    rows = np.random.default_rng(0).normal(size=(1000, 3))
    assert [*pieces_of_rows(rows)] == [*pieces_of_rows(np.asfortranarray(rows))]
