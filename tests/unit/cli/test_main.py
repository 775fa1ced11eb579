"""The command line, as a person types it."""

import json
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import Release
from gdppca.cli import show
from gdppca.cli.main import app
from gdppca.noise import FreshNoise


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(result):
    return " ".join(result.output.split())


@pytest.fixture
def data(tmp_path, rng):
    X = rng.normal(size=(3000, 3)) * [9, 3, 1]
    np.savetxt(tmp_path / "data.csv", X, delimiter=",", header="age,pulse,weight", comments="")
    return tmp_path / "data.csv"


def test_fit_writes_a_release_and_tells_the_promise(data, tmp_path):
    result = run("fit", data, "--epsilon", 1, "--delta", 1e-6, "-o", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert "(epsilon = 1, delta = 1e-06)-differential privacy" in words(result)
    assert "age +1.00" in words(result)
    told = words(result).replace("│ ", "")  # the frame of the box
    assert "by a factor of at most 3.32, but for a chance of 1 in 1,000,000." in told
    assert "in 95 of 100 such releases at most 1.7 %, 16 % or 63 %." in told
    release = Release.load(tmp_path / "r.json")
    assert release.feature_names == ("age", "pulse", "weight")
    assert release.n_samples == 3000
    assert not release.guarantee.seeded


def test_options_reach_the_estimator(data, tmp_path):
    result = run(
        "fit", data, "-o", tmp_path / "r.json", "--columns", "weight,age", "--components", "1",
        "--sign", "winsor", "--radius", "sqrt_d", "--pairs", "16", "--calibration", "paper",
        "--seed", "3", "--plot", tmp_path / "p.svg",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "simulation" in words(result)
    assert "by a factor" not in words(result)
    release = Release.load(tmp_path / "r.json")
    assert release.feature_names == ("weight", "age")
    assert release.sign["parameters"] == {"radius": pytest.approx(2**0.5)}
    assert release.scheme == {"name": "blocks", "size": 16}
    assert release.calibration == "paper"
    assert (tmp_path / "p.svg").read_text().lstrip().startswith("<?xml")


def test_json_is_json_and_nothing_else(data, tmp_path):
    result = run("fit", data, "-o", tmp_path / "r.json", "--json", "--components", "auto")
    printed = json.loads(result.stdout)
    assert printed["guarantee"]["delta"] == 1e-6
    assert printed["file"].endswith("r.json")


def test_private_radius_is_one_option(data, tmp_path):
    result = run(
        "fit", data, "-o", tmp_path / "r.json", "--sign", "trimmed", "--radius", "quantile",
        "--quantile", "0.8",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    events = Release.load(tmp_path / "r.json").guarantee.events
    assert [event.purpose for event in events].count("radius") == 1


def test_study_list_names_them_all():
    listed = words(run("study", "list"))
    assert all(name in listed for name in ("E1a", "E1b", "E6", "E12"))


def test_study_runs_from_the_command_line(tmp_path):
    result = run("study", "e12", "--quick", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "The median of R is near 2√d" in words(result)
    assert (tmp_path / "E12" / "figure.png").exists()
    assert run("study", "E99", "--out", tmp_path).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "`--epsilon`"),
        (["--components", "9"], "`--components`"),
        (["--sign", "square"], "`--sign`"),
        (["--pairs", "x"], "`--pairs`"),
        (["--radius", "wide", "--sign", "ball"], "`--radius`"),
        (["--columns", "height"], "no column 'height'"),
        (["--plot", "plot.bmp"], ".png"),
    ],
)
def test_errors_are_one_sentence_and_leave_no_file(arguments, message, data, tmp_path):
    result = run("fit", data, "-o", tmp_path / "r.json", *arguments)
    assert result.exit_code == (3 if "no column" in message else 2)
    assert message in words(result)
    assert "Traceback" not in result.output
    assert sorted(os.listdir(tmp_path)) == ["data.csv"]


def test_missing_files_and_folders_are_named(tmp_path, data):
    assert "no file" in words(run("fit", tmp_path / "none.csv", "-o", tmp_path / "r.json"))
    assert "folder" in words(run("fit", data, "-o", tmp_path / "none" / "r.json"))
    assert "is a folder" in words(run("fit", data, "-o", tmp_path))


def test_existing_release_is_not_overwritten_by_accident(data, tmp_path):
    (tmp_path / "r.json").write_text("precious")
    result = run("fit", data, "-o", tmp_path / "r.json")
    assert result.exit_code == 2
    assert "exists already" in words(result)
    assert (tmp_path / "r.json").read_text() == "precious"
    assert run("fit", data, "-o", tmp_path / "r.json", "--force").exit_code == 0
    Release.load(tmp_path / "r.json")


def test_data_file_is_never_overwritten(data):
    before = data.read_bytes()
    for option in ("-o", "--plot"):
        result = run("fit", data, option, data, "--force")
        assert result.exit_code == 2
        assert "is the data file" in words(result)
    assert data.read_bytes() == before


def test_columns_with_commas_can_be_quoted(tmp_path, rng):
    (tmp_path / "t.csv").write_text('"age, years",b\n' + "1,2\n3,5\n" * 9)
    result = run(
        "fit", tmp_path / "t.csv", "-o", tmp_path / "r.json", "--columns", '"age, years",b'
    )
    assert result.exit_code == 0, result.output
    assert Release.load(tmp_path / "r.json").feature_names == ("age, years", "b")


def test_components_below_the_noise_are_marked(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    result = run("fit", tmp_path / "t.csv", "-o", tmp_path / "r.json", "--components", "1")
    assert "NO (" in words(result)
    assert "Do not read anything into" in words(result)


def test_no_noise_is_drawn_before_the_files_are_known_to_be_writable(data, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("noise was drawn")

    for name in ("gaussian", "laplace", "argmax", "generator"):
        monkeypatch.setattr(FreshNoise, name, fail)
    result = run("fit", data, "-o", tmp_path / "none" / "r.json")
    assert result.exit_code == 2


def test_text_cells_are_never_printed(tmp_path):
    (tmp_path / "t.csv").write_text("age,diagnosis\n50,HIV+\n60,none\n")
    result = run("fit", tmp_path / "t.csv", "-o", tmp_path / "r.json")
    assert result.exit_code == 3
    assert "'diagnosis'" in words(result)
    assert "HIV" not in result.output


def test_warnings_are_one_line(data, tmp_path):
    result = run("fit", data, "-o", tmp_path / "r.json", "--delta", "0.01")
    assert result.exit_code == 0
    assert "warning: `--delta`" in words(result)


@pytest.mark.parametrize("parts", [[], ["--assume-shuffled"]])
def test_release_is_saved_though_a_warning_became_an_error(parts, tmp_path, rng):
    np.savetxt(tmp_path / "a.csv", rng.normal(size=(200, 6)), delimiter=",", header="a,b,c,d,e,f")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # By a seed: of pure noise one fit in a hundred keeps a component, and does not warn.
        asked = ["--components", "auto", "--seed", 1, *parts]
        result = run("fit", tmp_path / "a.csv", *asked, "-o", tmp_path / "r.json")
    assert isinstance(result.exception, UserWarning)
    assert Release.load(tmp_path / "r.json").n_samples == 200
    assert "r.json" in " ".join(result.exception.__notes__)


@pytest.mark.parametrize("name", ["a[red]", "a[@b]", "a:red_heart:", "a[link=x]b"])
def test_names_of_files_and_columns_are_printed_letter_by_letter(tmp_path, rng, name):
    data = tmp_path / f"{name}.csv"
    rows = rng.normal(size=(500, 2)) * [9, 1]
    np.savetxt(data, rows, delimiter=",", header=f"{name},y", comments="")
    result = run("fit", data, "-o", tmp_path / f"{name}.json", "--plot", tmp_path / f"{name}.png")
    assert result.exit_code == 0, result.output
    assert f"{name} +" in words(result)
    for ending in ("json", "png"):
        assert f"{tmp_path}/{name}.{ending}" in result.output
    again = run("fit", data, "-o", tmp_path / f"{name}.json")
    assert f"'{tmp_path}/{name}.json' exists already" in again.output
    absent = run("fit", data, "--columns", f"{name}{name},y", "-o", tmp_path / "new.json")
    assert absent.exit_code == 3
    assert f"'{name}{name}'" in absent.output
    assert f"{name}.csv" in absent.output


def test_column_that_looks_like_the_end_of_a_colour_is_printed(tmp_path, rng):
    rows = rng.normal(size=(500, 2)) * [9, 1]
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="x[/red],y", comments="")
    assert "x[/red] +1.00" in words(run("fit", tmp_path / "a.csv", "-o", tmp_path / "r.json"))


def test_name_of_a_study_may_have_brackets(tmp_path):
    result = run("study", "[/red]", "--out", tmp_path)
    assert result.exit_code == 2, result.output
    assert "[/red]" in result.output


def test_bar_appears_only_after_a_second(monkeypatch):
    clock = iter([0.0, 0.5, 2.0])
    # Other threads of this process have a clock of their own.
    monkeypatch.setattr(show, "time", SimpleNamespace(monotonic=lambda: next(clock, 2.0)))
    started = []
    monkeypatch.setattr(show.Bar, "start", lambda self: started.append(True))
    with show.late_progress("work") as progress:
        progress(1, 3)
        assert not started
        progress(2, 3)
        assert started


def test_installed_command_tells_its_version():
    command = [sys.executable, "-c", "from gdppca.cli.main import app; app()", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gdppca 0.")


def test_fit_with_everything_under_one_budget(data, tmp_path, rng):
    table = np.genfromtxt(data, delimiter=",", skip_header=1)
    labels = np.where(rng.random(len(table)) < 0.5, "f", "m")
    lines = [f"{a},{b},{c},{label}" for (a, b, c), label in zip(table, labels, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["age,pulse,weight,sex", *lines]))
    both = ("--scale", "private", "--variances", "0.2", "--score-map", "0.3")
    result = run("plan", "--rows", len(table), "--columns", 3, *both, "--json")
    (tmp_path / "plan.json").write_text(result.stdout)
    result = run(
        "fit", tmp_path / "t.csv", "-o", tmp_path / "r.json", *both, "--groups", "sex=f,m",
        "--plan", tmp_path / "plan.json", "--report", tmp_path / "r.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    release = Release.load(tmp_path / "r.json")
    assert release.guarantee.epsilon == pytest.approx(1.0, rel=1e-6)
    assert release.guarantee.epsilon <= 1
    assert release.score_map.groups == ("f", "m")
    assert release.plan["n_samples"] == len(table)
    assert "<script>" not in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--score-map", "1.5"], "`--score-map` must be"),
        (["--variances", "0.6", "--score-map", "0.5"], "less than 1"),
        (["--groups", "sex=f,m"], "--score-map"),
        (["--score-map", "0.3", "--groups", "sex"], "categories"),
        (["--score-map", "0.3", "--groups", "sex=f,m"], "no column 'sex'"),
        (["--score-map", "0.3", "--groups", "age=1,2", "--columns", "age,pulse"], "a group and"),
        (["--location", "1,2"], "location"),
        (["--location", "home"], "location"),
        (["--scale", "1,2,-3"], "> 0"),
        (["--report", "r.txt"], ".html"),
        (["--plan", "data.csv"], "no plan"),
    ],
)
def test_bad_wishes_write_nothing(data, tmp_path, options, said, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("fit", data, "-o", tmp_path / "r.json", *options)
    assert result.exit_code == 2
    assert said in words(result)
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}


def test_public_centre_and_scale_from_the_command_line(data, tmp_path):
    result = run("fit", data, "-o", tmp_path / "r.json", "--location=1,-2,0.5", "--scale", "9,3,1")
    assert result.exit_code == 0, result.output
    release = Release.load(tmp_path / "r.json")
    assert release.location.tolist() == [1.0, -2.0, 0.5]
    assert release.scale.tolist() == [9.0, 3.0, 1.0]


def test_merge_writes_one_release_of_both(data, tmp_path):
    for name in ("a", "b"):
        run("fit", data, "-o", tmp_path / f"{name}.json")
    parts = [tmp_path / "a.json", tmp_path / "b.json"]
    result = run("merge", *parts, "-o", tmp_path / "all.json")
    assert result.exit_code == 0, result.output
    assert "one of the 2 merged groups only" in words(result)
    merged = Release.load(tmp_path / "all.json")
    assert merged.n_samples == 6000
    assert merged.guarantee.epsilon == pytest.approx(1.0)
    assert "overwritten" in words(run("merge", *parts, "-o", parts[0], "--force"))


def test_report_from_a_release(data, tmp_path):
    run("fit", data, "-o", tmp_path / "r.json")
    result = run(
        "report", tmp_path / "r.json", "-o", tmp_path / "r.html", "--name", "Blood & <bones>",
        "--curator", "North", "--curator", "South", "--date", "2026-01-31",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text()
    assert "Blood &amp; &lt;bones&gt;" in page
    again = run("report", tmp_path / "r.json", "-o", tmp_path / "r.html")
    assert again.exit_code == 2
    assert "exists already" in words(again)
    assert run("report", tmp_path / "r.json", "-o", tmp_path / "x.html", "--date", "soon").exit_code


def test_plan_speaks_in_words_and_in_json(tmp_path):
    told = run(
        "plan", "--rows", 2000, "--columns", 25, "--epsilon", 0.5, "--spectrum", "spiked:10,5",
        "--target", 0.2, "--plot", tmp_path / "curve.png",
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "stand above the noise" in words(told)
    assert (tmp_path / "curve.png").stat().st_size > 5000
    plain = json.loads(run("plan", "--rows", 2000, "--columns", 25, "--json").output)
    assert plain["n_features"] == 25


def test_plan_takes_the_options_of_fit(data, tmp_path):
    rows = len(data.read_text().splitlines()) - 1
    options = [
        "--epsilon", 2, "--scale", "private", "--location", "none", "--sign", "trimmed",
        "--radius", "quantile", "--quantile", "0.8", "--pairs", "8", "--calibration", "tight",
        "--variances", "0.1", "--score-map", "0.2",
    ]  # fmt: skip
    fitted = run("fit", data, "-o", tmp_path / "r.json", *options)
    assert fitted.exit_code == 0, fitted.output
    planned = run("plan", "--rows", rows, "--columns", 3, *options, "--json")
    assert planned.exit_code == 0, planned.output
    noise_sd = Release.load(tmp_path / "r.json").noise_sd
    assert json.loads(planned.stdout)["noise_sd"] == pytest.approx(noise_sd, rel=1e-9)


def test_plan_takes_public_numbers(tmp_path):
    public = ["--location=1,-2,0.5", "--scale", "9,3,1"]
    planned = run("plan", "--rows", 500, "--columns", 3, *public, "--json")
    plain = json.loads(planned.stdout)
    assert (plain["statistic"], plain["scales"]) == ("public centre", "public")


def test_plan_of_another_fit_is_refused_in_options(data, tmp_path):
    asked = ("--columns", 5, "--components", 1, "--epsilon", 2)
    (tmp_path / "plan.json").write_text(run("plan", "--rows", 70, *asked, "--json").stdout)
    fit = ("fit", data, "-o", tmp_path / "r.json", "--plan", tmp_path / "plan.json")
    result = run(*fit)
    assert result.exit_code == 2
    for option in ("`--plan` was made", "`--components` is 1", "`--epsilon` is 2.0", "`--columns`"):
        assert option in " ".join(result.output.split())
    assert not (tmp_path / "r.json").exists()


def test_plan_of_an_earlier_version_is_kept(data, tmp_path):
    plain = json.loads(run("plan", "--rows", 3000, "--columns", 3, "--json").output)
    older = {name: plain[name] for name in plain if name not in ("sign", "scales", "budget")}
    for name, kept in (("new", plain), ("old", older)):
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
        file, plan = tmp_path / f"r-{name}.json", tmp_path / f"{name}.json"
        assert run("fit", data, "-o", file, "--plan", plan).exit_code == 0
        assert ("budget" in Release.load(file).plan) == (name == "new")


def test_report_option_may_stand_alone(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("fit", data, "--report", "-o", tmp_path / "r.json").exit_code == 0
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
