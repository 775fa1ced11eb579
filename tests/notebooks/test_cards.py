"""What a notebook shows, in a real run of one: cards with the promise, and figures."""

import base64
import io

import pytest
from matplotlib.image import imread

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

TABLE = """
import pandas as pd
from gdppca import DPPCA, datasets
visits = pd.DataFrame(datasets.make_visits(2000, random_state=0))
visits = visits[["patient", "age", "systolic", "bmi", "leukocytes"]]
visits = visits.rename(columns={"bmi": "<b>mass"})
pca = DPPCA(n_components=2, epsilon=2.0, delta=1e-6).fit(visits, persons="patient")
release = pca.release_
"""
PLOTS = "from gdppca.plots import biplot, biplot_figure, release_figure"
CELLS = {
    "table": TABLE,
    "before": "DPPCA(epsilon=2.0)",
    "estimator": "pca",
    "release": "release",
    "guarantee": "pca.guarantee_",
    "frame": "pca.components_frame('pandas')",
    "plots": PLOTS,
    "overview": "release_figure(release, level=0.9)",
    "biplot": "biplot_figure(release)",
    "panel": "biplot(release, size=(3, 3)).figure",
    "inline": "%matplotlib inline",
    "inline biplot": "biplot_figure(release)",
    "pyplot": "import matplotlib.pyplot as plt\n_, ax = plt.subplots()\nbiplot(release, ax=ax);",
}


@pytest.fixture(scope="module")
def shown():
    """Outputs of every cell, by its name."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def data(outputs):
    [only] = [each for each in outputs if "data" in each]
    return only["data"]


def test_nothing_is_said_that_nobody_asked_for(shown):
    assert [
        name for name, outputs in shown.items() if any(o.output_type == "stream" for o in outputs)
    ] == []
    assert shown["table"] == shown["plots"] == []


@pytest.mark.parametrize("name", ["release", "guarantee"])
def test_cards_open_with_the_promise(shown, name):
    card = data(shown[name])["text/html"]
    assert "privacy of whole persons" in " ".join(card.split())
    assert "2" in card
    if name == "release":
        assert "&lt;b&gt;mass" in card  # a name is text
        assert "<b>mass" not in card
        assert "2000 persons" in card or "2,000 persons" in card


@pytest.mark.parametrize("name", ["before", "estimator"])
def test_estimators_are_shown_as_those_of_scikit_learn(shown, name):
    card = data(shown[name])["text/html"]
    assert "DPPCA" in card
    assert "sk-" in card


def test_frames_are_tables(shown):
    table = data(shown["frame"])["text/html"]
    assert "leukocytes" in table
    assert "<b>mass" not in table


@pytest.mark.parametrize("name", ["overview", "biplot", "panel", "inline biplot", "pyplot"])
def test_figures_are_pictures(shown, name):
    drawn = imread(io.BytesIO(base64.b64decode(data(shown[name])["image/png"])))
    assert min(drawn.shape[:2]) > 200
    assert drawn[..., :3].std() > 0.05  # not an empty page


def test_figures_without_pyplot_are_sharp_and_not_too_large(shown):
    [output] = shown["overview"]
    drawn = imread(io.BytesIO(base64.b64decode(output["data"]["image/png"])))
    size = output["metadata"]["image/png"]
    assert size["width"] == 720
    assert drawn.shape[1] > 2 * size["width"]
