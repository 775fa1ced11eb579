"""Made-up rows: the columns of a description, and nobody's rows."""

import csv

import numpy as np

from gdppca import DPPCA, Description
from gdppca.jobs.practice import write_practice

TOLD = Description.from_dict(
    {
        "table": {"person": "who", "delimiter": ";", "missing": ["", "NA"]},
        "columns": {
            "age": {"typical": 50, "spread": 10},
            "ward": {"type": "category", "levels": ["a", "b", "c"]},
            "smokes": {"type": "yes-no"},
            "day": {"type": "date", "origin": "2021-01-01", "format": "%d.%m.%Y", "spread": 90},
        },
    }
)


def test_rows_follow_the_description(tmp_path):
    made = write_practice(TOLD, 500, tmp_path, seed=1)
    with made.file.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == {"who", "age", "ward", "smokes", "day"}
    assert len({row["who"] for row in rows}) == 500 < len(rows)
    ages = np.array([float(row["age"]) for row in rows if row["age"]])
    assert abs(ages.mean() - 50) < 3
    assert abs(ages.std() - 10) < 1
    assert {row["ward"] for row in rows} == {"", "a", "b", "c"}
    assert 0.02 < np.mean([row["smokes"] == "" for row in rows]) < 0.08


def test_they_can_be_fitted_and_come_again(tmp_path):
    made = write_practice(TOLD, 400, tmp_path, seed=1)
    pca = DPPCA(2, epsilon=4.0, missing="rates").fit(made.file, description=made.table)
    assert pca.n_persons_ == 400
    (tmp_path / "again").mkdir()
    again = write_practice(TOLD, 400, tmp_path / "again", seed=1)
    assert again.file.read_bytes() == made.file.read_bytes()
    other = write_practice(TOLD, 400, tmp_path / "again", seed=2)
    assert other.file.read_bytes() != made.file.read_bytes()
