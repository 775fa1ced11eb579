"""Studies: the same table whatever happens on the way."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from gdppca import DPPCA, ParameterError, __version__, studies
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.studies import experiments, runner
from gdppca.studies.experiments import STUDIES, Study, grid
from gdppca.studies.figures import curves
from gdppca.studies.looks import shown_name
from gdppca.studies.methods import DEFAULT, DEFAULT_ZCDP, METHODS, NO_PRIVACY, TIGHT


@pytest.fixture
def tiny(monkeypatch):
    """E1b on two small tables, so that a run takes a moment."""

    def settings(quick):
        return grid(kind=["gaussian"], d=[25], n=(60, 120))

    study = Study(
        "E1b", "Pairs", "1(b)", settings, ("all pairs", "halves", "blocks of 64"),
        x="n", panels="d", runs=(3, 5), loss="‖VV' - UU'‖",
    )  # fmt: skip
    monkeypatch.setitem(STUDIES, "E1b", study)
    # Workers are fresh processes that know the real study; stay in this one.
    monkeypatch.setattr(runner, "computed", in_this_process)
    return study


def in_this_process(study, tasks, done, workers):
    for key, setting, seed in tasks:
        if key not in done:
            yield key, study.task(setting, seed)


def table(folder):
    with (folder / "runs.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_study_writes_tables_figures_and_verdicts(tiny, tmp_path):
    result = studies.run("e1b", out=tmp_path)
    names = {path.name for path in result.files}
    assert names == {
        "runs.csv", "summary.csv", "verdict.json", "verdict.md", "figure.png", "figure.svg",
        "figure.pdf",
    }  # fmt: skip
    assert all(path.exists() for path in result.files)
    assert len(table(result.folder)) == 2 * 3 * 3
    for row in result.summary:
        assert row["runs"] == 3
        assert row["se"] > 0
    judged = json.loads((result.folder / "verdict.json").read_text())
    assert (judged["form"], judged["runs"], judged["version"]) == ("quick", 3, __version__)
    assert {"study", "seed", "date"} <= set(judged)
    verdicts = judged["verdicts"]
    assert all(set(verdict) == {"sentence", "holds", "numbers"} for verdict in verdicts)


def test_stopped_study_goes_on_where_it_was(tiny, tmp_path, monkeypatch):
    whole = studies.run("E1b", out=tmp_path / "whole")
    seen = []

    def stop_after_two(study, tasks, done, workers):
        for k, result in enumerate(in_this_process(study, tasks, done, workers)):
            if k == 2:
                raise KeyboardInterrupt
            seen.append(result[0])
            yield result

    monkeypatch.setattr(runner, "computed", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        studies.run("E1b", out=tmp_path / "stopped")
    # A line torn by the crash must not count.
    with (tmp_path / "stopped" / "E1b" / "runs.jsonl").open("a") as stream:
        stream.write('{"key": "torn')
    again = []

    def remember(study, tasks, done, workers):
        for result in in_this_process(study, tasks, done, workers):
            again.append(result[0])
            yield result

    monkeypatch.setattr(runner, "computed", remember)
    resumed = studies.run("E1b", out=tmp_path / "stopped")
    assert len(seen) == 2
    assert len(again) == 4
    assert not set(seen) & set(again)
    assert (resumed.folder / "runs.csv").read_bytes() == (whole.folder / "runs.csv").read_bytes()


STUDY = [sys.executable, "-c", "from gdppca.cli.main import app; app()", "study", "E8"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A study that nobody stopped."""
    out = tmp_path_factory.mktemp("whole")
    subprocess.run([*STUDY, "--out", out], check=True, capture_output=True)
    return out / "E8" / "runs.csv"


@pytest.mark.slow
@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_killed_study_goes_on_and_leaves_no_worker(signal_sent, undisturbed, tmp_path):
    command = [*STUDY, "--out", tmp_path]
    stopped = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    runs = tmp_path / "E8" / "runs.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (
        runs.exists() and runs.read_bytes().count(b"\n") > 5
    ):
        time.sleep(0.2)
    stopped.send_signal(signal_sent)
    stopped.communicate(timeout=60)  # ends only when every worker has let go of the pipe
    assert 5 < runs.read_bytes().count(b"\n") < 48
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "E8" / "runs.csv").read_bytes() == undisturbed.read_bytes()


def test_table_does_not_depend_on_the_number_of_workers(tmp_path):
    one, two = (studies.run("E12", out=tmp_path / str(k), workers=k) for k in (1, 2))
    assert (one.folder / "runs.csv").read_bytes() == (two.folder / "runs.csv").read_bytes()


def test_progress_tells_how_far_it_is(tiny, tmp_path):
    steps = []
    studies.run("E1b", out=tmp_path, progress=lambda *step: steps.append(step))
    assert steps[0] == (0, 6)
    assert steps[-1] == (6, 6)


def test_unknown_study_lists_the_known_ones(tmp_path):
    with pytest.raises(ParameterError, match=r"E1a, E1b, .* E12"):
        studies.run("E99", out=tmp_path)
    assert not os.listdir(tmp_path)


def test_folder_of_another_study_or_form_is_refused(tiny, tmp_path):
    studies.run("E1b", out=tmp_path)
    with pytest.raises(ParameterError, match="quick"):
        studies.run("E1b", quick=False, out=tmp_path)
    manifest = tmp_path / "E1b" / "study.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": "0.0.1"}))
    with pytest.raises(ParameterError, match=r"version 0\.0\.1.* start anew.*--out"):
        studies.run("E1b", out=tmp_path)
    (tmp_path / "E12").mkdir()
    (tmp_path / "E12" / "thesis.txt").write_text("mine")
    with pytest.raises(ParameterError, match="other files"):
        studies.run("E12", out=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot be used"):
        studies.run("E12", out=tmp_path / "file")


def test_europe_study_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.delenv("GDPPCA_EUROPE", raising=False)
    with pytest.raises(ParameterError, match="NovembreLab"):
        studies.run("E6", out=tmp_path)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("quick", [True, False])
def test_every_study_knows_its_methods_and_has_a_judge(name, quick):
    study = STUDIES[name]
    from gdppca.studies.verdicts import JUDGES

    assert name in JUDGES
    assert study.settings(quick)
    if study.run is not experiments.radius_quantiles:
        assert set(study.methods) <= set(METHODS)


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in ("E1b", "E12")])
def test_every_study_with_noise_has_the_default_estimator(name):
    methods = STUDIES[name].methods
    assert {DEFAULT, DEFAULT_ZCDP} & set(methods)
    assert not any(method.startswith("ours") for method in methods)


@pytest.mark.parametrize("method", [DEFAULT, DEFAULT_ZCDP])
def test_default_is_what_the_front_door_does(method, monkeypatch):
    asked = []

    def fit(pca, X):
        asked.append(pca.get_params())
        pca.components_ = np.eye(2, X.shape[1])
        return pca

    monkeypatch.setattr(DPPCA, "fit", fit)
    budget = {"epsilon": 0.5, "delta": 1e-5, "rho": 0.1}
    METHODS[method](np.zeros((9, 3)), budget, 7)
    [found] = asked
    usual = DPPCA(2, delta=1e-5, random_state=7).get_params()
    assert found | {"epsilon": 1.0} == usual
    if method == DEFAULT_ZCDP:
        multiplier = gaussian_multiplier(found["epsilon"], 1e-5)
        assert 1 / (2 * multiplier**2) == pytest.approx(0.1)
    else:
        assert found["epsilon"] == 0.5


def test_default_without_noise_is_all_pairs():
    """So E1b needs no line for it."""
    for setting in STUDIES["E1b"].settings(False):
        X, _ = experiments.draw(setting, 1)
        exact = setting | {"epsilon": math.inf}
        all_pairs = METHODS["all pairs"](X, setting, 1)
        np.testing.assert_array_equal(METHODS[DEFAULT](X, exact, 1), all_pairs)


def test_default_is_in_table_figure_and_verdict(tmp_path, monkeypatch):
    small = replace(
        STUDIES["E8"],
        settings=lambda quick: grid(kind=["gaussian"], d=[4], n=(60, 120)),
        runs=(2, 2),
    )
    monkeypatch.setitem(STUDIES, "E8", small)
    monkeypatch.setattr(runner, "computed", in_this_process)
    result = studies.run("E8", out=tmp_path)
    assert {row["method"] for row in table(result.folder)} == set(small.methods)
    drawn = [text.get_text() for text in curves(small, result.summary).legends[0].get_texts()]
    assert {shown_name(DEFAULT), shown_name(TIGHT)} <= set(drawn)
    assert any(DEFAULT in verdict.numbers for verdict in result.verdicts)


def test_results_with_other_methods_are_made_again(tiny, tmp_path):
    whole = studies.run("E1b", out=tmp_path / "whole")
    studies.run("E1b", out=tmp_path / "older")
    runs = tmp_path / "older" / "E1b" / "runs.jsonl"
    runs.write_text(runs.read_text().replace("blocks of 64", "a former name"))
    again = studies.run("E1b", out=tmp_path / "older")
    assert (again.folder / "runs.csv").read_bytes() == (whole.folder / "runs.csv").read_bytes()


def test_quick_run_gives_no_verdict_on_the_paper(tiny, tmp_path, monkeypatch):
    quick = studies.run("E1b", out=tmp_path / "quick")
    assert {verdict.mark for verdict in quick.verdicts} == {"runs"}
    few = studies.run("E1b", quick=False, runs=4, out=tmp_path / "full")
    assert {verdict.mark for verdict in few.verdicts} == {"runs"}
    full = studies.run("E1b", quick=False, out=tmp_path / "full")
    assert {verdict.mark for verdict in full.verdicts} <= {"seen", "not seen"}


def test_fewer_runs_are_the_first_rounds_and_lose_none(tiny, tmp_path):
    whole = studies.run("E1b", out=tmp_path)
    text = (tmp_path / "E1b" / "runs.jsonl").read_bytes()
    fewer = studies.run("E1b", runs=2, out=tmp_path)
    assert fewer.about["runs"] == 2
    assert fewer.runs == [row for row in whole.runs if row["run"] < 2]
    assert (tmp_path / "E1b" / "runs.jsonl").read_bytes() == text
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ParameterError, match="runs"):
            studies.run("E1b", runs=wrong, out=tmp_path)


def test_lines_without_noise_are_drawn_once():
    study = STUDIES["E5"]
    private, exact = ({"epsilon": epsilon} for epsilon in (0.5, math.inf))
    assert set(study.compared(private)).isdisjoint(study.compared(exact))
    assert {*study.compared(private), *study.compared(exact)} == set(study.methods)
    assert NO_PRIVACY in study.compared(exact)
    assert STUDIES["E2"].compared(private) == STUDIES["E2"].methods
