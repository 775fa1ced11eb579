"""What a fit writes down: steps and spends, and nothing that is secret."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca.cli.main import app

TIME = re.compile(r", \d+\.\d\d s$", re.MULTILINE)


@pytest.fixture
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(7_000_000, 7_000_400, 1234), rng.normal(size=(1234, 3)) + 5])
    np.savetxt("visits.csv", X, delimiter=",", header="id,a,b,c", comments="", fmt="%.9g")
    return tmp_path


def logged(*options):
    call = ["fit", "visits.csv", "--log-file", "fit.log", "--quiet", *options]
    result = CliRunner().invoke(app, call)
    with open("fit.log", encoding="utf-8") as file:
        return result, file.read()


def test_steps_times_and_spends_are_written_down(visits):
    result, log = logged("--columns", "a,b,c")
    assert result.exit_code == 0, result.output
    assert " fit started, version" in log
    assert "spent epsilon = 1, delta = 1e-06" in log
    assert "step Scatter drew scatter" in log
    assert TIME.search(log)
    assert log.endswith(" fit done\n")


@pytest.mark.parametrize("options", [("--person", "id"), ("--neighbors", "add-remove")])
def test_a_secret_number_is_not_told_by_count_or_time(visits, options):
    result, log = logged(*options)
    assert result.exit_code == 0, result.output
    assert "step Scatter drew scatter" in log
    assert not TIME.search(log)
    assert not re.search(r"1[ ,_]?234|70000", log)


def test_errors_are_written_down_too(visits):
    result, log = logged("--epsilon", "-1")
    assert result.exit_code == 2
    assert "ERROR ParameterError: `--epsilon` must be" in log


def test_a_log_that_cannot_be_written_is_said_before_anything_is_spent(visits):
    call = ["fit", "visits.csv", "--log-file", "nowhere/fit.log"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 2
    assert "nowhere/fit.log" in result.output.replace("\n", "")
    assert not (visits / "release.json").exists()
