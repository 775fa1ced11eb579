"""Messages about the options that were typed, and not about parameters of Python."""

import inspect

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from gdppca import DPPCA, plan
from gdppca.cli import main, show
from gdppca.cli.options import OPTION_OF, columns_of
from gdppca.cli.show import in_options

COMMANDS = typer.main.get_command(main.app).commands
# A value that is refused for every option that Python has a parameter for.
REFUSED = {
    "components": ["9"],
    "epsilon": ["0"],
    "delta": ["2"],
    "location": ["home"],
    "scale": ["home"],
    "scale_share": ["2", "--scale", "private"],
    "sign": ["square"],
    "radius": ["wide", "--sign", "ball"],
    "quantile": ["2", "--radius", "quantile", "--sign", "ball"],
    "quantile_share": ["2", "--radius", "quantile", "--sign", "ball"],
    "pairs": ["x"],
    "calibration": ["loose"],
    "stages": ["two"],
    "variances": ["2"],
    "score_map": ["2"],
}
REFUSED_BY_FIT = REFUSED | {
    "seed": ["-1"],
    "axes": ["1,1", "--score-map", "0.2"],
    "groups": ["a=1,2"],
    "loadings": ["long"],
    "target": ["moon"],
    "max_loadings": ["9"],
    "missing": ["guess"],
    "neighbors": ["next-door"],
    "person": ["nobody"],
    "weight": ["a"],
    "largest_weight": ["2"],
}
REFUSED_BY_PLAN = REFUSED | {
    "rows": ["1"],
    "columns": ["0"],
    "spectrum": ["nowhere"],
    "target": ["3"],
    "unit": ["patient"],
    "neighbors": ["none"],
    "missing": ["2"],
    "sparsity": ["4"],
}
# A ledger's address is refused as an address, a description as a file, and a lone flag cannot be
# wrong.
NEVER_REFUSED = {"ledger", "assume_shuffled", "columns", "plan", "table"}


def run(*arguments):
    return CliRunner().invoke(main.app, [str(argument) for argument in arguments])


def words(result):
    return " ".join(result.output.split())


def option(name):
    return f"--{name.replace('_', '-')}"


def options(command):
    return {param.name for param in COMMANDS[command].params if option(param.name) in param.opts}


def parameters(*functions):
    """Parameters of Python, by the names that the command line has for them."""
    named = {name for function in functions for name in inspect.signature(function).parameters}
    return {OPTION_OF.get(name, name) for name in named}


@pytest.fixture
def data(tmp_path, rng):
    np.savetxt(tmp_path / "d.csv", rng.normal(size=(300, 3)), delimiter=",", header="a,b,c")
    return tmp_path / "d.csv"


def test_every_parameter_of_fit_is_tried():
    known = parameters(DPPCA, DPPCA.fit_release, DPPCA.fit_stream)
    assert options("fit") & known - NEVER_REFUSED == set(REFUSED_BY_FIT)


def test_every_parameter_of_plan_is_tried():
    known = parameters(plan) | {"target"}
    assert options("plan") & known - {"table"} == set(REFUSED_BY_PLAN)


@pytest.mark.parametrize("name", REFUSED_BY_FIT)
def test_fit_names_the_option(name, data, tmp_path):
    result = run("fit", data, "-o", tmp_path / "r.json", option(name), *REFUSED_BY_FIT[name])
    assert result.exit_code == 2
    assert words(result).startswith(f"error: `{option(name)}` ")
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize("name", REFUSED_BY_PLAN)
def test_plan_names_the_option(name):
    result = run("plan", "--rows", 300, "--columns", 3, option(name), *REFUSED_BY_PLAN[name])
    assert result.exit_code == 2
    assert words(result).startswith(f"error: `{option(name)}` ")


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("`random_state` and `n_components`", "`--seed` and `--components`"),
        ("give `location=None`", "give `--location none`"),
        ("`scale='private'` goes", "`--scale private` goes"),
        ("public `scale=[...]`.", "public `--scale 1,2,...`."),
        ("`radius` must be None: no", "`--radius` must be left out: no"),
        ("`frame` and `data` stay", "`frame` and `data` stay"),
        ("no column '`scale`'", "no column '`scale`'"),
    ],
)
def test_parameters_become_options(python, typed, monkeypatch):
    monkeypatch.setattr("gdppca.cli.fit.run", lambda **_: print(show.in_options(python)))
    assert words(run("fit", "d.csv")) == typed
    assert show.in_options(python) == python  # outside of a command there are no options


def test_doubts_of_a_plan_name_the_option():
    told = words(run("plan", "--rows", 300, "--columns", 3, "--scale", "private")).replace("│ ", "")
    assert "`--scale private` needs more than 300 rows" in told


@pytest.mark.parametrize("radius", [[], ["--radius", "3", "--sign", "ball"]])
def test_quantile_without_a_private_radius_is_refused(radius, data, tmp_path):
    for command in (
        ["fit", data, "-o", tmp_path / "r.json"],
        ["plan", "--rows", 9, "--columns", 3],
    ):
        result = run(*command, "--quantile", "0.5", *radius)
        assert result.exit_code == 2
        assert "`--quantile` goes with `--radius quantile` only" in words(result)


def test_columns_are_names_with_commas():
    assert columns_of(['a, "b, c"', "d"]) == ["a", "b, c", "d"]
    assert columns_of(None) is None


def test_sentences_about_another_command_are_in_its_options():
    sentence = "`scale='private'` needs more; `n_components` less."
    assert in_options(sentence) == sentence
    assert in_options(sentence, "fit") == "`--scale private` needs more; `--components` less."


@pytest.mark.parametrize(
    ("option", "needed"),
    [("scale-share", "scale private"), ("quantile-share", "radius quantile")],
)
def test_a_share_of_nothing_is_refused(option, needed, data, tmp_path):
    fit = ("fit", data, "-o", tmp_path / "release.json")
    for command in (fit, ("plan", "--rows", "100", "--columns", "3")):
        result = run(*command, f"--{option}", "0.3")
        assert result.exit_code == 2
        assert f"`--{option}` goes with `--{needed}` only" in words(result)
    assert not (tmp_path / "release.json").exists()


@pytest.mark.parametrize("command", ["fit", "plan"])
@pytest.mark.parametrize(("option", "word"), [("scale", "privat"), ("location", "privat")])
def test_a_misspelt_word_is_told_all_that_may_stand_there(option, word, command, data, tmp_path):
    fit = ("fit", data, "-o", tmp_path / "release.json")
    asked = fit if command == "fit" else ("plan", "--rows", "100", "--columns", "3")
    result = run(*asked, f"--{option}", word)
    assert result.exit_code == 2
    for told in ("'private'", "one public number for each column", f"(`--{option} none`)"):
        assert told in words(result)
