"""The way through the pages, without a browser: what they ask, show, refuse and never show."""

import json
import re
import shlex
import sqlite3

import pytest
from typer.testing import CliRunner
from visitor import BUDGET, COLUMNS, HOSTILE, PERSONS, SECRET, WHO

from gdppca import Ledger, Release
from gdppca.cli.main import app
from gdppca.web.running import Job, Stage

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')


def spends(bench, name="visits"):
    if not bench.books.exists:
        return []
    entries = Ledger(bench.books.address).history(name)
    return [entry.detail["events"] for entry in entries if entry.kind == "spend"]


def noted(bench, name):
    """What the register says of a spend beside its events."""
    [entry] = [each for each in Ledger(bench.books.address).history(name) if each.kind == "spend"]
    told = ("who", "purpose", "method", "description")
    # The ledger's address among the parameters names the data set.
    parameters = entry.detail["parameters"] | {"ledger": ""}
    return {key: entry.detail.get(key) for key in told} | {"parameters": parameters}


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def test_one_release_and_the_same_from_the_command_line(visitor, bench, confirmed):
    page = visitor.get(f"/d/{confirmed.id}/confirm")
    token = TOKEN.search(page.text)[1]
    command = re.search(r'aria-label="Command"><code>(.*?)</code>', page.text, re.S)[1]
    for _ in range(3):  # impatient clicks
        visitor.post(f"/d/{confirmed.id}/spend", token=token)
    result = visitor.wait(f"/d/{confirmed.id}/result", "is being made")
    assert result.url.path == "/release/folder/visits-release.json"
    assert len(spends(bench)) == 1
    visitor.post(f"/d/{confirmed.id}/spend", token=token)  # later, from another tab
    again = visitor.get(f"/d/{confirmed.id}/confirm")
    assert again.url.path == result.url.path  # there is no way back to the button
    assert len(spends(bench)) == 1
    assert SECRET not in result.text
    assert HOSTILE not in result.text
    assert "&lt;script&gt;" in result.text
    # The command of the page, to another data set and file.
    Ledger(bench.books.address).create("other", 5, 1e-6, protected=confirmed.protected)
    words = shlex.split(command.replace("&#39;", "'").replace("&amp;", "&"))
    words = [word.replace("#visits", "#other").replace("-release", "-other") for word in words]
    told = CliRunner().invoke(app, words[1:])
    assert told.exit_code == 0, told.output
    assert spends(bench, "other") == spends(bench)
    first, second = (noted(bench, name) for name in ("visits", "other"))
    assert first == second
    assert first["purpose"] == "A study"
    assert first["method"] == "DPPCA"
    ours, theirs = (
        json.loads((bench.folder.root / f"visits-{name}.json").read_text())
        for name in ("release", "other")
    )
    assert ours["description"] == theirs["description"]
    assert ours["n_samples"] == theirs["n_samples"] == PERSONS
    assert ours["guarantee"]["assumptions"] == theirs["guarantee"]["assumptions"]
    assert ours.keys() == theirs.keys()
    history = text_of(visitor.get("/history"))
    assert "visits-release.json" in history
    assert "none was edited" in history


def test_no_page_shows_a_cell_or_the_number_of_rows(visitor, bench, confirmed):
    rows = sum(1 for _ in (bench.folder.root / "visits.csv").open()) - 1
    for step in ("people", "columns", "budget", "confirm"):
        page = visitor.get(f"/d/{confirmed.id}/{step}")
        assert SECRET not in page.text
        assert HOSTILE not in page.text
        assert not re.search(rf"(?<![\w.,]){rows}(?![\w.,]*\d)", text_of(page))
    assert f"{PERSONS}" in text_of(page)  # public


def test_questions_of_who_are_empty_until_answered(visitor, draft):
    page = visitor.get(f"/d/{draft.id}/people")
    assert " checked" not in page.text
    page = visitor.post(f"/d/{draft.id}/people", unit="person")
    assert page.text.count("<li>Say what may differ") == 1
    assert "Choose the column that says whose" in page.text
    assert 'value="person" checked' in page.text  # what was filled in is still there


def test_steps_cannot_be_skipped(visitor, draft):
    for step in ("columns", "budget", "confirm"):
        assert visitor.get(f"/d/{draft.id}/{step}").url.path == f"/d/{draft.id}/people"
    assert visitor.get(f"/d/{draft.id}/result").url.path == f"/d/{draft.id}/people"


@pytest.mark.parametrize("name", ["../outside.csv", "/etc/passwd", "", "missing.csv", "link.csv"])
def test_files_outside_the_folder_are_refused(visitor, bench, name):
    (bench.folder.root / "link.csv").symlink_to(bench.folder.root.parent / "outside.csv")
    page = visitor.post("/", file=name, action="next")
    assert 'id="problems"' in page.text
    assert not bench.drafts
    assert visitor.get("/release/folder/../../outside.csv").status_code == 404
    assert visitor.get("/release/folder/%2e%2e%2foutside.csv").status_code == 404
    assert visitor.get("/static/..%2fapp.py").status_code == 404


def test_a_description_outside_the_folder_is_neither_read_nor_written(visitor, bench, draft):
    page = visitor.post("/", file="visits.csv", description="../x.toml", action="next")
    assert "one of a file in this folder" in page.text
    visitor.post(f"/d/{draft.id}/people", **WHO)
    page = visitor.post(f"/d/{draft.id}/columns", **COLUMNS | {"save_as": "../x.toml"})
    assert 'id="problems"' in page.text
    assert not (bench.folder.root.parent / "x.toml").exists()


def test_a_description_with_an_error_is_told_where_it_is_chosen(visitor, bench):
    (bench.folder.root / "bad.toml").write_text("[columns.age]\ntype = 'nonsense'\n")
    page = visitor.post("/", file="visits.csv", description="bad.toml", action="next")
    assert page.url.path == "/"
    assert "bad.toml" in text_of(page)
    assert 'id="problems"' in page.text
    assert 'value="visits.csv" checked' in page.text


def test_what_was_typed_of_columns_survives_an_error(visitor, draft):
    visitor.post(f"/d/{draft.id}/people", **WHO)
    page = visitor.post(f"/d/{draft.id}/columns", **COLUMNS | {"levels-3": "", "typical-1": "51"})
    assert "Nothing was spent" in page.text
    assert 'value="51"' in page.text
    assert "ward" in text_of(page)


def test_a_description_is_not_written_over_unless_asked_to(visitor, bench, draft):
    file = bench.folder.root / "visits.toml"
    file.write_text("# somebody's work\n")
    visitor.post(f"/d/{draft.id}/people", **WHO)
    page = visitor.post(f"/d/{draft.id}/columns", **COLUMNS)
    assert "exists already" in page.text
    assert file.read_text() == "# somebody's work\n"
    visitor.post(f"/d/{draft.id}/columns", **COLUMNS, replace="yes")
    assert "[columns.age]" in file.read_text()


def test_cells_that_cannot_be_read_are_told_with_the_columns(visitor, draft):
    visitor.post(f"/d/{draft.id}/people", **WHO)
    visitor.post(f"/d/{draft.id}/columns", **COLUMNS | {"gaps": "refuse"})
    page = visitor.wait(f"/d/{draft.id}/budget", "Reading the table")
    assert page.url.path.endswith("/columns")
    assert "ward" in text_of(page)
    assert SECRET not in page.text


def test_a_table_that_changed_is_said_and_nothing_spent(visitor, bench, confirmed):
    token = TOKEN.search(visitor.get(f"/d/{confirmed.id}/confirm").text)[1]
    with (bench.folder.root / "visits.csv").open("a") as table:
        table.write("p999,50,0,a\n")
    visitor.post(f"/d/{confirmed.id}/spend", token=token)
    assert spends(bench) == []
    page = visitor.wait(f"/d/{confirmed.id}/confirm", "Reading the table")
    assert f"{PERSONS + 1}" in text_of(page)
    table = (bench.folder.root / "visits.csv").read_text()
    (bench.folder.root / "visits.csv").write_text(table.replace("who,age", "who,alter"))
    page = visitor.wait(f"/d/{confirmed.id}/confirm", "Reading the table")
    assert page.url.path.endswith("/columns")
    assert "The table has changed since it was described" in page.text
    assert "alter" in page.text
    assert spends(bench) == []


def test_a_spent_ledger_is_said_before_the_button(visitor, bench, confirmed):
    visitor.post(f"/d/{confirmed.id}/budget", action="next", **BUDGET | {"epsilon": "9"})
    page = visitor.get(f"/d/{confirmed.id}/confirm")
    assert "The register would refuse this" in page.text
    assert TOKEN.search(page.text) is None


def test_a_ledger_that_is_locked_is_said_and_nothing_spent(visitor, bench, confirmed):
    token = TOKEN.search(visitor.get(f"/d/{confirmed.id}/confirm").text)[1]
    lock = sqlite3.connect(bench.folder.root / "budget.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    visitor.post(f"/d/{confirmed.id}/spend", token=token)
    page = visitor.wait(f"/d/{confirmed.id}/result", "is being made")
    lock.execute("ROLLBACK")
    assert "Nothing was spent" in page.text
    assert confirmed.job.stage is Stage.FAILED
    assert not confirmed.frozen  # it can be tried again
    assert spends(bench) == []
    assert TOKEN.search(visitor.get(f"/d/{confirmed.id}/confirm").text)


def test_a_fit_can_be_cancelled_before_it_spends(visitor, bench, confirmed, monkeypatch):
    monkeypatch.setattr(Job, "_give_the_word", lambda job: None)  # it waits, as with many rows
    token = TOKEN.search(visitor.get(f"/d/{confirmed.id}/confirm").text)[1]
    visitor.post(f"/d/{confirmed.id}/spend", token=token)
    page = visitor.post(f"/d/{confirmed.id}/cancel")
    assert "Cancelled" in page.text
    assert "Nothing was spent" in page.text
    assert spends(bench) == []
    assert not (bench.folder.root / "visits-release.json").exists()
    assert visitor.post(f"/d/{confirmed.id}/spend", token=token).url.path.endswith("/confirm")
    assert confirmed.job.stage is Stage.STOPPED  # the old token started nothing


def test_a_budget_that_was_changed_in_another_window_is_looked_at_again(visitor, bench, confirmed):
    token = TOKEN.search(visitor.get(f"/d/{confirmed.id}/confirm").text)[1]
    visitor.post(f"/d/{confirmed.id}/budget", action="next", **BUDGET | {"epsilon": "3"})
    visitor.post(f"/d/{confirmed.id}/spend", token=token)
    assert spends(bench) == []


def test_secret_sizes_show_nowhere(visitor, bench, draft):
    visitor.post(f"/d/{draft.id}/people", **WHO | {"neighbors": "add-remove"})
    visitor.post(f"/d/{draft.id}/columns", **COLUMNS)
    page = visitor.wait(f"/d/{draft.id}/budget", "Reading the table")
    assert "About how many persons" in page.text
    assert not re.search(rf"(?<![\w.,]){PERSONS}(?![\w.,]*\d)", text_of(page))
    page = visitor.get(f"/d/{draft.id}/forecast", guess="1000", epsilon="1", scales="")
    assert "will stand above the noise" in page.text


def test_an_old_address_says_that_it_is_old(visitor):
    page = visitor.get("/d/000000000000/budget")
    assert "started again" in page.text


def test_several_tables_are_open_at_once(visitor, bench, draft):
    (bench.folder.root / "second.csv").write_text("a,b\n1,2\n3,4\n")
    visitor.post("/", file="second.csv", action="next")
    visitor.post("/", file="visits.csv", action="next")  # the same draft as before
    assert sorted(each.name for each in bench.drafts.values()) == ["second.csv", "visits.csv"]


def test_practice_goes_the_whole_way_and_spends_nothing(visitor, bench, counted):
    page = visitor.post("/practice", description="visits.toml", n="400")
    [made] = [each for each in bench.drafts.values() if each.practice]
    page = visitor.wait(f"/d/{made.id}/budget", "Reading the table")
    assert "These rows are made up" in page.text
    assert "Set this cap" not in page.text
    page = visitor.post(f"/d/{made.id}/budget", action="next", epsilon="2", components="2")
    visitor.post(f"/d/{made.id}/spend", token=TOKEN.search(page.text)[1])
    page = visitor.wait(f"/d/{made.id}/result", "is being made")
    assert page.url.path.startswith("/release/practice/")
    assert "These rows are made up" in page.text
    release = Release.load(made.output)
    assert release.guarantee.seeded
    assert not release.guarantee.protects
    assert not bench.books.exists
    assert {path.name for path in bench.folder.root.iterdir()} == {"visits.csv", "visits.toml"}
    saved = visitor.get(f"{page.url.path}/file/release.json")
    assert 'filename="practice-release.json"' in saved.headers["content-disposition"]


def test_the_components_of_the_map_are_chosen_before_the_spend(visitor, bench, confirmed):
    place = f"/d/{confirmed.id}"
    chosen = {"components": "3", "score_map": "30", "map_across": "3", "map_up": "1"}
    page = visitor.post(f"{place}/budget", action="next", **BUDGET | chosen)
    assert "--axes 3,1" in text_of(page)
    visitor.post(f"{place}/spend", token=TOKEN.search(page.text)[1])
    page = visitor.wait(f"{place}/result", "is being made")
    assert "Every row has a score on component 3 and one on component 1" in text_of(page)
    assert len(spends(bench)) == 1


@pytest.mark.parametrize(
    ("up", "said"), [("3", "two different ones"), ("9", "among those that are released")]
)
def test_components_that_cannot_be_on_the_map_are_said_beside_what_was_typed(
    visitor, bench, confirmed, up, said
):
    chosen = {"components": "3", "score_map": "30", "map_across": "3", "map_up": up}
    page = visitor.post(f"/d/{confirmed.id}/budget", action="next", **BUDGET | chosen)
    assert page.url.path.endswith("/budget")
    assert said in text_of(page)
    assert f'value="{up}"' in page.text
    assert spends(bench) == []
