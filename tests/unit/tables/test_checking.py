"""What the owner of a table is told of it: every kind of finding, and never a cell."""

import ast
from pathlib import Path

import numpy as np
import pytest
from table_files import write_csv, write_xlsx

import gdppca
from gdppca import Description, Query
from gdppca.tables import looking
from gdppca.tables.checking import check
from gdppca.tables.wishes import Wishes

HOSTILE = "HIV+"
ROOMS = Path(gdppca.__file__).parent
N = 400


def checked(tmp_path, table, described=None, **wishes):
    """What is found in a CSV file of these columns."""
    file = write_csv(tmp_path / "t.csv", rows_of(table))
    if described is not None:
        wishes["description"] = Description.from_dict(described)
    return check([file], Wishes(**wishes))


def rows_of(columns):
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def said(found, kind, column=None):
    words = [each.words for each in found.findings if each.kind == kind and each.column == column]
    return " ".join(words)


def normal(seed=0, scale=1.0, n=N):
    return (scale * np.random.default_rng(seed).standard_normal(n)).round(6).tolist()


@pytest.fixture
def fine():
    return {"weight": normal(1), "height": normal(2)}


def test_nothing_is_odd_about_measurements(tmp_path, fine):
    found = checked(tmp_path, fine)
    assert found.findings == ()
    assert (found.n_rows, found.n_seen, found.person, found.columns) == (N, N, None, None)
    assert [feature.name for feature in found.features] == ["weight", "height"]
    assert not found.gaps


def test_persons_with_several_rows_are_noticed(tmp_path, fine):
    ids = [f"{HOSTILE}{k % 100}" for k in range(N)]
    ids[0] = ids[1]
    found = checked(tmp_path, {"patient_id": ids, **fine})
    words = said(found, "persons", "patient_id")
    assert "100 persons, 3 to 5 rows each" in words
    assert "--person patient_id" in words
    assert (found.person, found.person_is_new, found.n_persons) == ("patient_id", True, 100)
    assert found.columns is None  # the person's column is none of the analysis


def test_ids_that_stand_once_are_no_persons_with_several_rows(tmp_path, fine):
    found = checked(tmp_path, {"patient_id": list(range(N)), **fine})
    assert found.person is None
    assert "called like an id" in said(found, "id", "patient_id")
    assert found.columns == ["weight", "height"]


def test_declared_persons_are_counted_and_missing_ids_told(tmp_path, fine):
    ids = [None if k < 3 else k % 50 for k in range(N)]
    found = checked(tmp_path, {"who": ids, **fine}, persons="who")
    assert said(found, "persons", "who") == "50 persons, 7 to 8 rows each."
    assert "3 rows are without an id: fit refuses" in said(found, "nobody", "who")
    assert not found.person_is_new
    assert "by a code" not in said(found, "nobody", "who")
    described = {"table": {"person": "who", "missing": ["", "NA"]}, "columns": {"weight": {}}}
    found = checked(tmp_path, {"who": ["NA", *ids[1:]], **fine}, described)
    assert "1 row is without an id by a code of missing cells" in said(found, "nobody", "who")


def test_columns_that_look_like_ids_by_their_cells(tmp_path, fine):
    found = checked(tmp_path, {"code": list(range(1000, 1000 + N)), **fine})
    assert "Nearly all of its cells differ" in said(found, "id", "code")
    assert not said(found, "id", "weight")  # measurements with decimals differ as well


def test_constants(tmp_path, fine):
    found = checked(tmp_path, {"site": [7] * N, **fine})
    assert "All cells are equal" in said(found, "constant", "site")


def test_an_empty_column_is_left_out(tmp_path, fine):
    found = checked(tmp_path, {"empty": [None] * N, **fine})
    assert "Every cell is missing" in said(found, "missing", "empty")
    assert found.columns == ["weight", "height"]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"{1 + k % 28:02d}.03.2021" for k in range(N)], 'format = "%d.%m.%Y"'),
        ([f"2021-03-{1 + k % 28:02d}" for k in range(N)], 'type = "date" and an origin'),
        ([f"{1 + k % 12}/{13 + k % 15}/2021" for k in range(N)], 'format = "%m/%d/%Y"'),
    ],
)
def test_dates_by_their_cells(tmp_path, fine, cells, words):
    found = checked(tmp_path, {"admitted": cells, **fine})
    assert words in said(found, "date", "admitted")
    assert found.columns == ["weight", "height"]


def test_dates_by_their_name(tmp_path, fine):
    found = checked(tmp_path, {"year_of_birth": [1950 + k % 40 for k in range(N)], **fine})
    assert "called like a date" in said(found, "date", "year_of_birth")


def test_dates_that_a_file_declares(tmp_path, fine):
    import datetime

    days = [datetime.date(2021, 3, 1 + k % 28) for k in range(N)]
    file = write_xlsx(tmp_path / "t.xlsx", {"One": rows_of({"seen": days, **fine})})
    found = check([file], Wishes())
    assert "Its cells are dates" in said(found, "date", "seen")


def test_numbers_with_a_comma(tmp_path, fine):
    cells = [f"{number:.3f}".replace(".", ",") for number in normal(3)]
    found = checked(tmp_path, {"bmi": cells, **fine})
    assert '--decimal , or decimal = ","' in said(found, "text", "bmi")


def test_numbers_stored_as_text_in_a_file_with_types(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"bmi": [f"{k}.5" for k in range(N)], "age": normal(1)}), file)
    found = check([file], Wishes())
    assert "numbers that are stored as text" in said(found, "text", "bmi")
    assert found.columns == ["age"]  # without a description fit refuses text


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([HOSTILE, "other"], 'type = "category" with levels in a description'),
        (["yes", "no"], 'type = "yes-no" in a description'),
    ],
)
def test_text_that_is_not_described(tmp_path, fine, cells, words):
    found = checked(tmp_path, {"status": cells * (N // 2), **fine})
    assert words in said(found, "text", "status")
    assert "not from the data" in said(found, "text", "status")


def test_free_text(tmp_path, fine):
    found = checked(tmp_path, {"note": [f"{HOSTILE} {k % 200}" for k in range(N)], **fine})
    assert "text of many kinds" in said(found, "text", "note")


def test_units_that_differ_by_a_thousand(tmp_path, fine):
    found = checked(tmp_path, {"platelets": normal(3, 5e3), **fine})
    assert "more than 1,000 times" in said(found, "units")
    assert "'platelets'" in said(found, "units")
    assert not checked(tmp_path, {"platelets": normal(3, 5), **fine}).has("units")


def test_indicators_have_a_size_too(tmp_path, fine):
    sex = {"type": "category", "levels": ["f", "m"]}
    columns = {"platelets": normal(3, 5e3), "sex": ["f", "m"] * (N // 2)}
    found = checked(tmp_path, columns, {"columns": {"platelets": {}, "sex": sex}})
    assert "'platelets' and 'sex'" in said(found, "units")


def test_cells_outside_levels_are_counted_and_not_named(tmp_path, fine):
    wards = ["surgery", "medicine"] * (N // 2)
    wards[:3] = [HOSTILE, "NA", "-99"]
    answers = ["ja", "nein"] * (N // 2)
    answers[5] = HOSTILE
    described = {
        "table": {"missing": ["", "NA"]},
        "columns": {
            "ward": {"type": "category", "levels": ["surgery", "medicine"], "missing": [-99]},
            "smokes": {"type": "yes-no", "levels": ["nein", "ja"]},
        },
    }
    found = checked(tmp_path, {"ward": wards, "smokes": answers, **fine}, described)
    assert "1 cell is none of its levels" in said(found, "levels", "ward")
    assert "1 cell is neither of its two words" in said(found, "levels", "smokes")
    assert "(2)" in said(found, "missing", "ward")
    assert said(found, "beside") == "Not analysed: 'weight' and 'height'."
    assert found.gaps


def test_levels_that_no_cell_has(tmp_path, fine):
    described = {"columns": {"ward": {"type": "category", "levels": ["Surgery", "Medicine"]}}}
    found = checked(tmp_path, {"ward": ["surgery", "medicine"] * (N // 2), **fine}, described)
    assert "is it the spelling?" in said(found, "levels", "ward")
    assert found.features == ()


def test_cells_that_cannot_be_read(tmp_path, fine):
    bmi = normal(3)
    bmi[:2] = [HOSTILE, "<5"]
    found = checked(tmp_path, {"bmi": bmi, **fine})
    assert "2 cells are no numbers" in said(found, "unreadable", "bmi")
    assert found.gaps
    days = ["31.12.2020"] * N
    days[0] = "2020"
    described = {
        "columns": {"seen": {"type": "date", "origin": "2020-01-01", "format": "%d.%m.%Y"}}
    }
    found = checked(tmp_path, {"seen": days}, described)
    assert "1 cell is no date as described" in said(found, "unreadable", "seen")


def test_shares_of_missing_cells(tmp_path, fine):
    fine["weight"] = [None if k % 4 == 0 else value for k, value in enumerate(fine["weight"])]
    found = checked(tmp_path, fine)
    assert (
        said(found, "missing", "weight") == "25\N{NO-BREAK SPACE}% of the cells are missing (100)."
    )
    assert not found.has("together")


def test_cells_that_go_missing_with_values_or_with_others(tmp_path, fine):
    high = [value > 0.5 for value in fine["height"]]
    fine["bili"] = [None if gone else 1.5 * k for k, gone in enumerate(high)]
    fine["chol"] = [None if gone else 2.5 * k for k, gone in enumerate(high)]
    found = checked(tmp_path, fine)
    assert "'bili' and 'chol' go missing together" in said(found, "together")
    assert "at some values of 'height'" in said(found, "together", "bili")


def test_weights(tmp_path, fine):
    weights = [1.0] * N
    weights[:7] = [-1.0, None, 9, 9, 9, 9, 9]
    columns = {"w": weights, **fine}
    found = checked(tmp_path, columns, weights="w", largest_weight=4.0)
    words = said(found, "weights", "w")
    assert "1 weight is missing" in words
    assert "1 weight is below 0" in words
    assert "1.3\N{NO-BREAK SPACE}% of the weights are above" in words
    assert "not from this output" in words
    assert [feature.name for feature in found.features] == ["weight", "height"]


def test_guesses_that_are_far_off(tmp_path):
    described = {"columns": {"weight": {"typical": 80, "spread": 15}, "height": {"spread": 100}}}
    found = checked(tmp_path, {"weight": normal(1), "height": normal(2)}, described)
    assert "more than 5 spreads away" in said(found, "guess", "weight")
    assert "spread far less" in said(found, "guess", "weight") + said(found, "guess", "height")
    assert "breaks the promise" in said(found, "guess", "height")
    described = {"columns": {"weight": {"typical": 0.5, "spread": 2}}}
    assert not checked(tmp_path, {"weight": normal(1)}, described).has("guess")


def test_zeros_and_ones_may_be_yes_or_no(tmp_path, fine):
    found = checked(tmp_path, {"dead": [k % 2 for k in range(N)], **fine})
    assert 'type = "yes-no"' in said(found, "type", "dead")


def test_chosen_columns_stay_chosen(tmp_path, fine):
    found = checked(tmp_path, {"note": [HOSTILE] * N, **fine}, columns=["height"])
    assert found.columns == ["height"]
    described = {"columns": {"height": {}, "weight": {}}}
    found = checked(tmp_path, fine, described, columns=["weight"])
    assert found.columns == ["weight"]


def test_a_described_column_that_is_the_person_is_left_out(tmp_path, fine):
    described = {"columns": {"id": {}, "weight": {}, "height": {}}}
    found = checked(tmp_path, {"id": [k % 100 for k in range(N)], **fine}, described)
    assert found.person == "id"
    assert found.columns == ["weight", "height"]


def test_large_tables_are_sampled_and_ids_counted_in_all(tmp_path, fine, monkeypatch):
    monkeypatch.setattr(looking, "_MOST_CELLS", 300)
    monkeypatch.setattr(looking, "_FEWEST_ROWS", 50)
    ids = ["" if k < 2 else f"p{k % 100}" for k in range(N)]
    file = write_csv(tmp_path / "t.csv", rows_of({"patient_id": ids, **fine}))
    found = check([file], Wishes())
    assert (found.n_rows, found.n_seen) == (N, 100)
    assert "100 persons, 3 to 4 rows each" in said(found, "persons", "patient_id")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "json", "xlsx"])
def test_every_format_is_looked_at(tmp_path, fine, ending):
    rows = rows_of({"patient_id": [k % 100 for k in range(N)], **fine})
    file = tmp_path / f"t.{ending}"
    if ending == "xlsx":
        write_xlsx(file, {"One": rows})
    elif ending.startswith("csv"):
        write_csv(file, rows)
    else:
        _write_by_arrow(file, rows, ending)
    assert "100 persons, 4 rows each" in said(check([file], Wishes()), "persons", "patient_id")


def _write_by_arrow(file, rows, ending):
    pa = pytest.importorskip("pyarrow")
    names, *cells = rows
    table = pa.table(dict(zip(names, map(list, zip(*cells, strict=True)), strict=True)))
    if ending == "json":
        import json

        file.write_text("\n".join(map(json.dumps, table.to_pylist())))
    elif ending == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, file)
    else:
        from pyarrow import feather

        feather.write_feather(table, file)


def test_answers_of_databases_are_looked_at(tmp_path, fine):
    import sqlite3

    file = tmp_path / "t.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE visits (patient_id TEXT, weight REAL, height REAL)")
        rows = zip([f"p{k % 100}" for k in range(N)], fine["weight"], fine["height"], strict=True)
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", list(rows))
    found = check(Query(f"sqlite:///{file}", "SELECT * FROM visits"), Wishes())
    assert "100 persons" in said(found, "persons", "patient_id")


def test_no_cell_is_ever_quoted(tmp_path):
    rng = np.random.default_rng(0)
    cells = [HOSTILE, "secret-7", "99.5secret", "", "31.12.1999", "1,5"]
    columns = {
        name: [cells[k] for k in rng.integers(0, len(cells), N)]
        for name in ("patient_id", "ward", "date", "w", "a", "b")
    }
    columns["c"] = [f"{HOSTILE}-{k}" for k in range(N)]
    described = {
        "columns": {
            "ward": {"type": "category", "levels": ["surgery", "medicine"]},
            "date": {"type": "date", "origin": "2020-01-01"},
            "a": {"typical": 3, "spread": 1},
            "b": {"type": "yes-no"},
        }
    }
    for described_or_not in (described, None):
        for person in ("patient_id", None):
            found = checked(
                tmp_path, columns, described_or_not, persons=person, weights="w", largest_weight=2
            )
            words = " ".join(finding.words for finding in found.findings)
            assert not any(cell in words for cell in (HOSTILE, "secret", "1999", "1,5"))


def test_only_the_command_knows_of_looking_without_noise():
    looks = {"checking", "looking", "profiles"}
    allowed = {"cli/check.py", *(f"tables/{name}.py" for name in looks)}
    for path in ROOMS.rglob("*.py"):
        if path.relative_to(ROOMS).as_posix() in allowed:
            continue
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for node in (each for each in tree if isinstance(each, ast.Import | ast.ImportFrom)):
            names = [getattr(node, "module", None) or "", *(each.name for each in node.names)]
            assert not looks & {part for name in names for part in name.split(".")}, path
