"""Options from a file and from the environment, under the command line."""

import json

import pytest
from typer.testing import CliRunner

from gdppca.cli.main import app


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(*options):
    call = ["plan", "--rows", "500", "--columns", "3", "--json", *options]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*call):
    result = CliRunner().invoke(app, [*call, "--json"])
    assert result.exit_code == 2, result.output
    return json.loads(result.stdout)["message"]


def test_command_line_goes_before_environment_and_that_before_the_file(folder, monkeypatch):
    assert planned()["epsilon"] == 1.0
    (folder / "gdppca.toml").write_text("[plan]\nepsilon = 2\n")
    assert planned()["epsilon"] == 2.0
    monkeypatch.setenv("GDPPCA_EPSILON", "3")
    assert planned()["epsilon"] == 3.0
    monkeypatch.delenv("GDPPCA_EPSILON")
    monkeypatch.setenv("GDPPCA_PLAN_EPSILON", "4")
    assert planned()["epsilon"] == 4.0
    assert planned("--epsilon", "5")["epsilon"] == 5.0


def test_a_named_file_stands_for_the_usual_one(folder, monkeypatch):
    (folder / "gdppca.toml").write_text("epsilon = 2\n")
    (folder / "other.toml").write_text("delta = 1e-8\n")
    assert planned("--config", "other.toml")["epsilon"] == 1.0
    assert planned("--config=other.toml")["delta"] == 1e-8
    monkeypatch.setenv("GDPPCA_CONFIG", "other.toml")
    assert planned()["delta"] == 1e-8


def test_keys_are_options_with_or_without_dashes(folder):
    for key in ("score-map", "score_map"):
        (folder / "gdppca.toml").write_text(f"[plan]\n{key} = 0.25\n")
        assert "the score map takes 25 %" in planned()["budget"]


def test_shared_keys_serve_the_commands_that_have_them(folder):
    (folder / "gdppca.toml").write_text("epsilon = 2\nperson = 'id'\n[ledger.init]\ndelta=1e-7\n")
    assert planned()["epsilon"] == 2.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilonn = 1\n", "`epsilonn`, but no command"),
        ("[plan]\nperson = 'id'\n", "`plan.person`, but plan has no such option"),
        ("[plann]\nepsilon = 1\n", "`[plann]`, but no command is called so"),
        ("[ledger.shove]\njson = true\n", "`[ledger.shove]`, but no command is called so"),
        ("epsilon = 1\n[plan]\nepsilon = 2\n", "says two things of `--epsilon`"),
        ("[plan]\nscore-map = 0.1\nscore_map = 0.1\n", "says `--score-map` twice"),
        ("[plan]\nepsilon = [[1]]\n", "`--epsilon` must be a word, a number or a list"),
        ("epsilon = \n", "is not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder, text, said):
    (folder / "gdppca.toml").write_text(text)
    assert said in refused("plan", "--rows", "500", "--columns", "3")


def test_a_file_that_is_not_there_is_refused():
    assert "'none.toml' cannot be read" in refused("plan", "--config", "none.toml")


def test_nothing_is_printed_quietly(folder):
    result = CliRunner().invoke(app, ["plan", "--rows", "500", "--columns", "3", "--quiet"])
    assert result.exit_code == 0
    assert result.output == ""
