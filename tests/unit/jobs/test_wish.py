"""A wish, and the command and the Python lines that say the same: one debit, one record."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from gdppca import Description, Ledger, ParameterError, Release
from gdppca.cli.main import app
from gdppca.jobs.ahead import Counted, count, delta_for, design_ahead, plan_ahead, promise_ahead
from gdppca.jobs.fit import released
from gdppca.jobs.spelling import command, command_line, python
from gdppca.jobs.wish import Said, Wish
from gdppca.jobs.worker import from_plain, to_plain
from gdppca.privacy import Neighbors, Protected, Unit
from gdppca.privacy.events import event_to_dict
from gdppca.tables.base import Supply
from gdppca.tables.description import Column

PERSONS = 400
ABOUT = Protected(Unit.PERSON, Neighbors.REPLACE_ONE)


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    """Visits of persons with gaps, their description, and a ledger of persons."""
    monkeypatch.chdir(tmp_path)
    rows = ["who;age;pulse;ward"]
    for person in range(PERSONS):
        for _ in range(rng.integers(1, 4)):
            age, pulse = rng.normal(50, 15), rng.normal(80, 10)
            cell = "" if rng.random() < 0.1 else f"{pulse:.1f}"
            rows.append(f"p{person};{age:.1f};{cell};{rng.choice(['a', 'b'])}")
    (tmp_path / "visits.csv").write_text("\n".join(rows) + "\n")
    described = Description(
        columns=(
            Column(name="age", typical=50, spread=20),
            Column(name="pulse", typical=80, spread=10),
            Column(name="ward", type="category", levels=("a", "b")),
        ),
        person="who",
        delimiter=";",
    )
    described.save("visits.toml")
    return tmp_path


def wish_of(**changes):
    parameters = {
        "n_components": 2,
        "epsilon": 2.0,
        "delta": 1e-6,
        "missing": "rates",
        **changes.pop("parameters", {}),
    }
    said = changes.pop("said", {"table": "visits.toml"})
    return Wish(data=("visits.csv",), parameters=parameters, said=Said(**said), **changes)


def debits(name):
    entries = Ledger("sqlite:///budget.db").history(name)
    return [entry.detail["events"] for entry in entries if entry.kind == "spend"]


def record(file):
    """What a release says, but for what noise decides."""
    plain = json.loads((file).read_text())
    promise = {k: v for k, v in plain["guarantee"].items() if k not in ("events", "epsilon")}
    return {
        "promise": {k: v for k, v in promise.items() if k not in ("gdp_mu", "zcdp_rho")},
        **{k: plain[k] for k in ("n_samples", "feature_names", "description", "method", "sign")},
    }


@pytest.mark.parametrize("more", [{}, {"variances": 0.1, "score_map": 0.2, "groups": "ward=a,b"}])
def test_command_and_python_do_what_the_wish_does(folder, more):
    described = Description.load("visits.toml")
    if more:  # a column of groups is none of the analysis
        described = described.only(["age", "pulse"])
        described.save("visits.toml")
    ledger = Ledger("sqlite:///budget.db")
    wishes = {}
    for way in ("wish", "command", "python"):
        ledger.create(way, 10, 1e-6, protected=ABOUT)
        parameters = {"ledger": f"sqlite:///budget.db#{way}"}
        wishes[way] = wish_of(parameters=parameters, output=folder / f"{way}.json", **more)
    released(wishes["wish"])
    told = CliRunner().invoke(app, command(wishes["command"])[1:])
    assert told.exit_code == 0, told.output
    exec(python(wishes["python"]), {})
    assert debits("wish") == debits("command") == debits("python")
    assert [*map(len, debits("wish"))]
    first, *others = (record(folder / f"{way}.json") for way in wishes)
    assert others == [first, first]
    counted = count(wishes["wish"])
    assert counted == Counted(PERSONS, 2 if more else 4, Supply.TABLE)
    design = design_ahead(wishes["wish"], counted)
    assert [[event_to_dict(event) for event in design.debit]] == debits("wish")
    promise = promise_ahead(design, entered=True)
    assert promise.assumptions == Release.load("wish.json").guarantee.assumptions


def test_seeded_releases_are_the_same_file_bit_for_bit(folder):
    files = [folder / f"{way}.json" for way in ("wish", "command", "python")]
    for way, file in zip((released, "command", "python"), files, strict=True):
        wish = wish_of(parameters={"random_state": 3}, output=file)
        if way == "command":
            assert CliRunner().invoke(app, command(wish)[1:]).exit_code == 0
        elif way == "python":
            exec(python(wish), {})
        else:
            way(wish)
    first, *others = (json.loads(file.read_text()) for file in files)
    assert others == [first, first]


def test_words_for_a_shell_are_quoted_and_usual_values_left_out():
    wish = wish_of(
        said={"person": "who is it", "dialect": {"delimiter": ";"}},
        columns=["a,b", "c"],
        parameters={"scale": None, "location": None, "missing": "refuse"},
    )
    assert command_line(wish) == (
        "gdppca fit visits.csv --person 'who is it' --delimiter ';' --columns '\"a,b\"' "
        "--columns c --components 2 --epsilon 2.0 --delta 1e-06 --location none "
        "--output release.json"
    )
    assert "replace(Description(columns=()), delimiter=';')" in python(wish)


def test_what_the_ledger_notes_is_said_too():
    noted = {"purpose": "a study", "request_id": "one"}
    wish = wish_of(parameters={"ledger": "sqlite:///budget.db#a"}, **noted)
    assert "--purpose 'a study' --request-id one" in command_line(wish)
    assert "with entered_as(purpose='a study', request_id='one'):\n    release =" in python(wish)
    compile(python(wish), "lines", "exec")


def test_a_secret_number_is_not_counted(folder):
    wish = wish_of(parameters={"neighbors": "add-remove"})
    counted = count(wish)
    assert counted.n_samples is None
    design = design_ahead(wish, counted)
    assert promise_ahead(design, entered=True).neighbors == "add-remove"
    assert plan_ahead(wish, counted, 1000, 0.1).n_samples == 1000


@pytest.mark.parametrize(
    ("n", "delta"), [(300, 1e-6), (9_999, 1e-6), (10_000, 1e-6), (10_001, 1e-7), (10**6, 1e-8)]
)
def test_delta_is_far_below_one_over_n(n, delta):
    assert delta_for(n) == delta
    assert delta * n <= 0.01


def test_groups_without_a_map_are_refused():
    with pytest.raises(ParameterError, match="--score-map"):
        wish_of(groups="ward=a,b")


def test_a_wish_survives_the_way_to_a_worker(folder):
    wish = wish_of(output=folder / "r.json", columns=["age"], said={"dialect": {"skip": 2}})
    assert from_plain(json.loads(json.dumps(to_plain(wish)))) == wish


def start_worker(task):
    pipe = subprocess.PIPE
    worker = subprocess.Popen(
        [sys.executable, "-m", "gdppca.jobs.worker"], stdin=pipe, stdout=pipe, text=True
    )
    worker.stdin.write(json.dumps(task) + "\n")
    worker.stdin.flush()
    return worker


def lines_of(worker, until):
    for line in worker.stdout:
        said = json.loads(line)
        yield said
        if said["kind"] in until:
            return


@pytest.mark.parametrize(
    "answer", ["go\n", *(pytest.param(other, marks=pytest.mark.slow) for other in ("stop\n", ""))]
)
def test_a_worker_spends_only_after_the_word(folder, answer):
    Ledger("sqlite:///budget.db").create("visits", 10, 1e-6, protected=ABOUT)
    wish = wish_of(parameters={"ledger": "sqlite:///budget.db#visits"}, output=folder / "r.json")
    worker = start_worker({"job": "fit", "wish": to_plain(wish)})
    assert [*lines_of(worker, ("ready",))][-1] == {"kind": "ready"}
    assert debits("visits") == []
    out, _ = worker.communicate(answer, timeout=120)
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    went = answer == "go\n"
    assert kinds[-1] == ("done" if went else "stopped")
    assert len(debits("visits")) == (folder / "r.json").exists() == went


def test_a_worker_goes_on_when_nobody_listens(folder):
    wish = wish_of(output=folder / "r.json")
    worker = start_worker({"job": "fit", "wish": to_plain(wish)})
    assert [*lines_of(worker, ("ready",))]
    worker.stdin.write("go\n")
    worker.stdin.close()
    worker.stdout.close()
    assert worker.wait(120) == 0
    assert Release.load(folder / "r.json").n_samples == PERSONS


def test_a_worker_counts_and_tells_errors_without_cells(folder):
    worker = start_worker({"job": "count", "wish": to_plain(wish_of())})
    out, _ = worker.communicate(timeout=120)
    assert json.loads(out) == {
        "kind": "counted", "n_samples": PERSONS, "n_features": 4, "supply": "TABLE",
    }  # fmt: skip
    refusing = wish_of(parameters={"missing": "refuse"})
    worker = start_worker({"job": "count", "wish": to_plain(refusing)})
    out, _ = worker.communicate(timeout=120)
    told = json.loads(out)
    assert told["kind"] == "failed"
    assert "pulse" in told["text"]


def test_a_map_of_other_components_is_the_same_wish_from_everywhere(folder):
    parameters = {"n_components": 3, "random_state": 3}
    wishes = [
        wish_of(parameters=parameters, output=folder / f"{k}.json", score_map=0.3, axes="3,1")
        for k in range(3)
    ]
    released(wishes[0])
    assert CliRunner().invoke(app, command(wishes[1])[1:]).exit_code == 0
    exec(python(wishes[2]), {})
    first, *others = (json.loads((folder / f"{k}.json").read_text()) for k in range(3))
    assert others == [first, first]
    assert Release.load(folder / "0.json").score_map.axes == (2, 0)
    usual = wish_of(parameters=parameters, score_map=0.3)
    counted = count(usual)
    debits_ahead = [design_ahead(wish, counted).debit for wish in (usual, wishes[0])]
    assert debits_ahead[0] == debits_ahead[1]  # other components cost the same


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"axes": "2,1"}, "--score-map"),
        ({"axes": "1,3", "score_map": 0.2}, "component 3"),
        *(({"axes": axes, "score_map": 0.2}, "counted from 1") for axes in ("1", "2,2", "0,1")),
    ],
)
def test_a_map_of_components_that_there_are_not_is_refused(more, said):
    with pytest.raises(ParameterError, match=said):
        wish_of(**more)
