"""Every voice says what was done to the loadings, in one sentence, and marks negligible ones."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner
from voices import on_a_terminal, plainly

from gdppca import DPPCA, Release, datasets
from gdppca.cli.main import app
from gdppca.plots import biplot_figure, release_figure
from gdppca.releases.words import few_columns_in_words, loadings_in_words, named_columns
from gdppca.report import render


@pytest.fixture(scope="module")
def plain():
    X = datasets.make_elliptical(4000, 25, location=5.0, random_state=3).X
    return DPPCA(epsilon=1.0, random_state=0, max_loadings=3).fit(X).release_.plain()


@pytest.fixture(scope="module")
def shrunk(plain):
    return plain.shrunk()


def test_all_voices_say_it_in_the_same_words(shrunk, plain):
    said = plainly(loadings_in_words(shrunk))
    assert said.startswith("The loadings were shrunk under the known noise, which cost nothing.")
    voices = (plainly(render(shrunk)), on_a_terminal(shrunk), plainly(shrunk._repr_html_()))
    assert all(said in voice for voice in voices)
    assert loadings_in_words(plain) == ""


def test_where_nothing_was_shrunk_it_is_said(plain):
    bare = replace(plain, scatter=None, method="NSGGD").shrunk()
    assert "no reason to" in loadings_in_words(bare)
    assert "no reason to" in plainly(render(bare))


def test_negligible_loadings_are_marked(shrunk, plain):
    page = plainly(render(shrunk))
    assert "negligible, " in page
    assert "Empty bars with a ring" in page
    assert "negligible" not in plainly(render(plain))
    labels = [text.get_text() for text in release_figure(shrunk).axes[1].get_legend().get_texts()]
    assert labels.count("negligible") == 1
    assert "(negligible)" in shrunk._repr_html_()


def test_pictures_say_what_was_done(shrunk, plain):
    assert "shrunk under" in " ".join(release_figure(shrunk, level=0.9).get_supxlabel().split())
    assert "shrunk under" not in release_figure(plain).get_supxlabel()
    figure = biplot_figure(shrunk)
    arrows = [text for text in figure.axes[0].texts if not text.get_text()]
    both = shrunk.negligible[:2].all(axis=0)
    assert 4 <= len(arrows) <= (~both).sum()


def test_components_are_told_in_few_columns(shrunk):
    names = shrunk.feature_names
    told = few_columns_in_words(shrunk, 0, names)
    assert told.count(",") == 2
    assert told in render(shrunk)
    assert all(not shrunk.negligible[0, j] for j in named_columns(shrunk, 0))
    assert few_columns_in_words(replace(shrunk, max_loadings=None), 0, names) == ""


def test_the_command_line_shrinks(tmp_path):
    X = datasets.make_elliptical(4000, 10, location=5.0, random_state=3).X
    names = ",".join(f"c{j}" for j in range(10))
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header=names, comments="")
    asked = ["--loadings", "shrunk", "--max-loadings", "4", "--components", "0.5", "--seed", "1"]
    files = ["-o", str(tmp_path / "r.json"), "--report", str(tmp_path / "r.html")]
    result = CliRunner().invoke(app, ["fit", str(tmp_path / "t.csv"), *asked, *files])
    assert result.exit_code == 0, result.output
    release = Release.load(tmp_path / "r.json")
    assert release.loadings.shrunk
    assert release.max_loadings == 4
    assert len(release.components) == 2  # which carry half of the variance
