"""The ledger's commands, as a person types them."""

import json
import sqlite3

import pytest
from typer.testing import CliRunner

from gdppca.cli.ledger import app
from gdppca.ledgers import Ledger, as_protected
from gdppca.privacy import GaussianEvent, PureEvent


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(result):
    return " ".join(result.output.split())


@pytest.fixture
def address(tmp_path):
    return f"sqlite:///{tmp_path}/budget.db"


@pytest.fixture
def made(address):
    result = run("init", f"{address}#patients", "--epsilon", 1)
    assert result.exit_code == 0, result.output
    return address


def test_init_show_grant_verify(made):
    Ledger(made).spend("patients", PureEvent(purpose="quantile", epsilon=0.25), request_id="run-1")
    shown = run("show", f"{made}#patients")
    assert shown.exit_code == 0, shown.output
    assert "patients" in words(shown)
    assert "0.25" in words(shown)
    assert "quantile" in words(shown)
    granted = run("grant", f"{made}#patients", "--epsilon", 2)
    assert "cap of (epsilon = 2, delta = 1e-06)" in words(granted)
    verified = run("verify", made)
    assert verified.exit_code == 0, verified.output
    assert "4 entries" in words(verified)


def test_show_as_json(made):
    Ledger(made).spend("patients", PureEvent(purpose="quantile", epsilon=0.25))
    plain = json.loads(run("show", f"{made}#patients", "--json").output)
    [account] = plain["datasets"]
    assert (account["cap"], account["spent"], account["spends"]) == (1.0, 0.25, 1)
    assert plain["entries"][-1]["events"] == [
        {"kind": "pure", "purpose": "quantile", "epsilon": 0.25}
    ]
    assert json.loads(run("show", made, "--json").output)["datasets"] == [account]


def test_a_cap_about_persons_says_so_everywhere(address):
    whom = ("--unit", "person", "--neighbors", "add-remove")
    made = run("init", f"{address}#visits", "--epsilon", 1, *whom)
    assert "cap of (epsilon = 1, delta = 1e-06) for persons (add-remove neighbours)" in words(made)
    ledger = Ledger(address)
    ledger.spend(
        "visits", PureEvent(purpose="q", epsilon=0.25), protected=as_protected(*whom[1::2])
    )
    granted = run("grant", f"{address}#visits", "--epsilon", 2)
    assert "for persons (add-remove neighbours)" in words(granted)
    shown = run("show", f"{address}#visits")
    for part in ("persons", "add-remove"):
        assert part in words(shown)
    plain = json.loads(run("show", f"{address}#visits", "--json").output)
    for counted in (*plain["datasets"], *plain["entries"]):
        assert (counted["unit"], counted["neighbors"]) == ("person", "add-remove")


def test_a_cap_is_about_rows_unless_it_is_said(made):
    [account] = json.loads(run("show", made, "--json").output)["datasets"]
    assert (account["unit"], account["neighbors"]) == ("row", "replace-one")
    assert "rows" in words(run("show", made))


def test_verify_tells_of_an_edit_and_fails(made, tmp_path):
    with sqlite3.connect(tmp_path / "budget.db") as database:
        database.execute("DROP TRIGGER gdppca_entries_no_UPDATE")
        database.execute("UPDATE gdppca_entries SET content = replace(content, '1.0', '9.0')")
    result = run("verify", made)
    assert result.exit_code == 4
    assert "Entry 2 was edited" in words(result)


def test_verify_wants_the_hash_that_was_noted_down(made):
    assert run("verify", made, "--head", Ledger(made).verify().hash).exit_code == 0
    result = run("verify", made, "--head", "f" * 64)
    assert result.exit_code == 4
    assert "rolled back" in words(result)


def test_a_lost_head_is_accepted_by_the_owner(made, tmp_path):
    noted = Ledger(made).spend("patients", PureEvent(purpose="quantile", epsilon=0.25)).hash
    (tmp_path / "budget.db.head").unlink()
    refused = run("grant", f"{made}#patients", "--epsilon", 2)
    assert refused.exit_code == 4
    assert "accept-head" in words(refused)
    assert run("show", f"{made}#patients").exit_code == 0
    assert run("accept-head", made, "--head", "f" * 64).exit_code == 4
    accepted = run("accept-head", made, "--head", noted)
    assert accepted.exit_code == 0, accepted.output
    assert noted in words(accepted)
    assert run("grant", f"{made}#patients", "--epsilon", 2).exit_code == 0


def test_show_tells_what_is_held_against_the_cap(made):
    ledger = Ledger(made)
    ledger.spend("patients", GaussianEvent(purpose="scatter", noise_multiplier=8.0))
    ledger.spend("patients", PureEvent(purpose="quantile", epsilon=0.05))
    [account] = json.loads(run("show", f"{made}#patients", "--json").output)["datasets"]
    assert account["spent"] < account["spent_bound"] < 1.0
    shown = words(run("show", made))
    assert f"{account['spent_bound']:.4g}" in shown
    assert "held against the cap" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("init", "sqlite:///{folder}/other.db", "--epsilon", "1"), "Name the data set"),
        (("init", "mysql://host/db#patients", "--epsilon", "1"), "must look like"),
        (("init", "{made}#patients", "--epsilon", "1"), "exists already"),
        (("init", "{made}#staff", "--epsilon", "-1"), "`--epsilon` must be"),
        (("init", "{made}#staff", "--epsilon", "1", "--unit", "home"), "`--unit` must be 'row' or"),
        (("init", "{made}#a", "--epsilon", "1", "--neighbors", "all"), "`--neighbors` must be"),
        (("grant", "{made}#strangers", "--epsilon", "1"), "no data set 'strangers'"),
        (("show", "sqlite:///{folder}/missing.db"), "There is no ledger"),
        (("verify", "sqlite:///{folder}/missing.db"), "There is no ledger"),
    ],
)
def test_mistakes_are_told_in_one_sentence(made, tmp_path, arguments, said):
    result = run(*(part.format(made=made, folder=tmp_path) for part in arguments))
    by_the_ledger = ("exists already", "no data set 'strangers'", "There is no ledger")
    assert result.exit_code == (4 if said in by_the_ledger else 2)
    assert said in words(result)
    assert "Traceback" not in result.output
