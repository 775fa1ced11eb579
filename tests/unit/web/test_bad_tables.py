"""What a bad table or description is told: file, key and remedy, at every door, unspent."""

import html
import re

import pytest
from table_files import write_xlsx
from typer.testing import CliRunner

from gdppca import DPPCA, Ledger
from gdppca._errors import GdppcaError
from gdppca.cli.main import app

TWO = "[columns.age]\n[columns.size]\n"
LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le") * 9
# Data, description, and what must be said: which file, which key or column, what to do.
CASES = {
    "unknown key": ("visits.csv", TWO + "typicl = 3\n", ["told.toml", "columns.size", "typical"]),
    "unknown key of the table": (
        "visits.csv", "[table]\npersn = 'who'\n" + TWO, ["told.toml", "[table]", "person"],
    ),
    "level twice": (
        "visits.csv", TWO + "[columns.ward]\ntype = 'category'\nlevels = ['a', 'b', 'a']\n",
        ["told.toml", "[columns.ward]", "levels", "Keep one"],
    ),
    "person that is a feature": (
        "visits.csv", "[table]\nperson = 'age'\n" + TWO,
        ["told.toml", "[table]", "person", "Delete [columns.age]"],
    ),
    "weight without largest": (
        "visits.csv", "[table]\nweight = 'w'\n" + TWO,
        ["told.toml", "[table]", "largest_weight", "Give both"],
    ),
    "negative weights": (
        "negative.csv", "[table]\nweight = 'w'\nlargest_weight = 2\n" + TWO,
        ["negative.csv", "'w'", "told.toml", "weight of [table]", "Correct them"],
    ),
    "other columns": (
        "visits.csv", TWO + "[columns.height]\n",
        ["visits.csv", "'height'", "told.toml", "[columns.height]", "Correct the name there"],
    ),
    "other person": (
        "visits.csv", "[table]\nperson = 'patient'\n" + TWO,
        ["visits.csv", "'patient'", "told.toml", "person of [table]", "Correct the name there"],
    ),
    "other weight": (
        "visits.csv", "[table]\nweight = 'v'\nlargest_weight = 2\n" + TWO,
        ["visits.csv", "'v'", "told.toml", "weight of [table]", "Correct the name there"],
    ),
    "several sheets": ("sheets.xlsx", TWO, ["sheets.xlsx", "several sheets", "One", "sheet"]),
    "password": ("locked.xlsx", TWO, ["locked.xlsx", "password", "save it without one"]),
    "dates that do not parse": (
        "visits.csv", TWO + "[columns.day]\ntype = 'date'\norigin = '2020-01-01'\n",
        ["visits.csv", "'day'", "told.toml", "[columns.day]", "format"],
    ),
}  # fmt: skip
BY_CELLS = ("negative weights", "dates that do not parse")  # what no header tells


@pytest.fixture
def place(folder, monkeypatch):
    """A folder with tables and a ledger, where one is."""
    rows = [f"p{k // 2},{40 + k % 9},{k % 7},{'ab'[k % 2]},1.5,1.2.2020" for k in range(60)]
    head = "who,age,size,ward,w,day"
    (folder / "visits.csv").write_text("\n".join([head, *rows]) + "\n")
    rows[7] = rows[7].replace(",1.5,", ",-1.5,")
    (folder / "negative.csv").write_text("\n".join([head, *rows]) + "\n")
    (folder / "locked.xlsx").write_bytes(LOCKED)
    sheet = [["age", "size"], [40, 2]]
    write_xlsx(folder / "sheets.xlsx", {"One": sheet, "Two": sheet})
    monkeypatch.chdir(folder)
    ledger = Ledger(f"sqlite:///{folder}/budget.db")
    ledger.create("visits", epsilon=5, delta=1e-5)
    return folder


def told_in_python(case, place):
    data, _, _ = CASES[case]
    model = DPPCA(1, epsilon=1, delta=1e-6, ledger="sqlite:///budget.db#visits")
    with pytest.raises(GdppcaError) as caught:
        model.fit(data, description="told.toml")
    return str(caught.value)


def told_in_parts(case, place):
    data, _, _ = CASES[case]
    model = DPPCA(1, epsilon=1, delta=1e-6, ledger="sqlite:///budget.db#visits")
    with pytest.raises(GdppcaError) as caught:
        model.fit_stream(data, description="told.toml")
    return str(caught.value)


def told_by_the_command(case, place):
    data, _, _ = CASES[case]
    words = ["fit", data, "--table", "told.toml", "--components", "1", "--epsilon", "1"]
    words += ["--delta", "1e-6", "--ledger", "sqlite:///budget.db#visits", "--output", "r.json"]
    found = CliRunner().invoke(app, words)
    assert found.exit_code in (2, 3)
    assert not (place / "r.json").exists()
    return found.output


def told_by_the_workbench(case, visitor, bench):
    data, _, _ = CASES[case]
    page = visitor.post("/", file=data, description="told.toml", action="next")
    if case in BY_CELLS:
        [draft] = bench.drafts.values()
        visitor.post(f"/d/{draft.id}/people", unit="row", neighbors="replace-one")
        columns = draft.typed["columns"] | {"gaps": "refuse", "replace": "yes"}
        visitor.post(f"/d/{draft.id}/columns", **columns)
        page = visitor.wait(f"/d/{draft.id}/budget", "Reading the table")
    [problems] = re.findall(r'id="problems".*?</(?:section|div)>', page.text, re.DOTALL)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", problems).split()))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tell", [told_in_python, told_in_parts, told_by_the_command])
def test_bad_input_is_told_by_file_key_and_remedy(tell, case, place):
    _, told, expected = CASES[case]
    (place / "told.toml").write_text(told)
    said = tell(case, place)
    assert [words for words in expected if words not in said] == [], said
    kinds = [entry.kind for entry in Ledger(f"sqlite:///{place}/budget.db").history("visits")]
    assert "spend" not in kinds


# The workbench has fields where a description has keys; what no field is for is said the same way.
FIELDS = {
    "negative weights": ["negative.csv", "'w'", "design weights", "Correct them"],
    "dates that do not parse": ["visits.csv", "'day'", "format"],
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_told_on_the_workbench(case, place, visitor, bench):
    _, told, expected = CASES[case]
    (place / "told.toml").write_text(told)
    said = told_by_the_workbench(case, visitor, bench)
    assert [words for words in FIELDS.get(case, expected) if words not in said] == [], said
