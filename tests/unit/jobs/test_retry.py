"""A request that is made again neither spends nor draws again."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import Ledger
from gdppca.cli.main import app
from gdppca.noise import FreshNoise


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(200, 3))
    np.savetxt("d.csv", X, delimiter=",", header="a,b,c", comments="")
    Ledger("sqlite:///budget.db").create("people", 4.0, 1e-6)
    return tmp_path


def fitted(*options, name="q4", code=0):
    call = ["fit", "d.csv", "--ledger", "sqlite:///budget.db#people", "--request-id", name]
    result = CliRunner().invoke(app, [*call, "--json", *options])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def spends():
    return Ledger("sqlite:///budget.db").account("people").spends


@pytest.mark.filterwarnings("ignore")
def test_the_saved_release_is_given_back(desk, monkeypatch):
    first = fitted()

    def fail(*_, **__):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(FreshNoise, "gaussian", fail)
    again = fitted()
    assert (first.pop("repeated"), again.pop("repeated")) == (False, True)
    assert again == first
    assert spends() == 1


@pytest.mark.filterwarnings("ignore")
def test_another_name_spends_anew(desk):
    fitted()
    fitted("--output", "second.json", name="q1")
    assert spends() == 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [("--epsilon", "0.5"), ("--variances", "0.2")])
def test_other_parameters_are_refused(desk, options):
    fitted()
    assert "with other parameters" in fitted(*options, code=4)["message"]
    assert spends() == 1


@pytest.mark.filterwarnings("ignore")
def test_a_lost_or_edited_release_is_not_drawn_again(desk):
    fitted()
    (desk / "release.json").rename("kept.json")
    assert "Bring back the file" in fitted(code=4)["message"]
    assert "Bring back the file" in fitted("--output", "other.json", code=4)["message"]
    fitted("--output", "release.json", name="q1")  # of another request
    assert "is not its release" in fitted(code=4)["message"]
    assert spends() == 2


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_died_after_its_debit_is_told(desk, monkeypatch):
    def died(*_, **__):
        raise OSError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr("gdppca.releases.release.write_whole", died)
        fitted(code=5)
    said = fitted(code=4)["message"]
    assert "interrupted after the debit" in said
    assert spends() == 1


def test_a_request_needs_a_ledger(desk):
    result = CliRunner().invoke(app, ["fit", "d.csv", "--request-id", "q4"])
    assert result.exit_code == 2
    assert "`--request-id` names a spend in a ledger" in " ".join(result.output.split())
