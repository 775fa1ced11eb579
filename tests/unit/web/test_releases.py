"""What is shown and handed on of releases that lie in the folder; history and merging."""

import io
import json
import zipfile

import numpy as np
import pytest

from gdppca import DPPCA, Release
from gdppca.web import parcel, pictures
from gdppca.web.pages.publish import OWNED


@pytest.fixture
def releases(bench, rng):
    """Two releases of different people, and something that is none."""
    X = rng.normal(size=(800, 4)) * [9, 4, 1, 1]
    for name, rows in (("north", X[:400]), ("south", X[400:])):
        pca = DPPCA(3, epsilon=4.0, location=None)
        pca.fit_release(rows, variances=0.1, score_map=0.2).save(bench.folder.root / f"{name}.json")
    (bench.folder.root / "other.json").write_text("{}")
    return bench


def test_the_result_is_drawn_without_styles_of_its_own(visitor, releases):
    page = visitor.get("/release/folder/north.json")
    assert page.status_code == 200
    assert page.text.count("<svg") >= 5  # spectrum, loadings, map, biplot, and the sign above
    assert " style=" not in page.text
    assert "Where people lie" in page.text
    assert "How much people vary" in page.text


def test_any_two_components_can_be_drawn(visitor, releases):
    page = visitor.get("/release/folder/north.json", across="3", up="1")
    assert "Loadings on components 3 and 1" in page.text
    page = visitor.get("/release/folder/north.json", across="2", up="2")
    assert "Choose two different components" in page.text
    page = visitor.get("/release/folder/north.json", across="9", up="x")
    assert page.status_code == 200


def test_what_is_no_release_is_said(visitor, releases):
    assert visitor.get("/release/folder/other.json").status_code == 404
    assert visitor.get("/release/folder/missing.json").status_code == 404
    assert visitor.get("/release/nowhere/north.json").status_code == 404


def test_everything_can_be_saved_together(visitor, releases):
    answer = visitor.get("/release/folder/north.json/file/all.zip", name="Visits <2021>")
    assert answer.headers["content-disposition"] == 'attachment; filename="north.zip"'
    box = zipfile.ZipFile(io.BytesIO(answer.content))
    assert box.testzip() is None
    names = set(box.namelist())
    assert {"release.json", "report.html", "notebook.ipynb", "biplot.png", "map.pdf"} <= names
    written = (releases.folder.root / "north.json").read_bytes()
    assert box.read("release.json") == written
    assert "Visits &lt;2021&gt;" in box.read("report.html").decode()
    assert json.loads(box.read("notebook.ipynb"))["nbformat"] == 4


def test_the_notebook_runs_beside_the_release(releases, tmp_path, monkeypatch):
    release = Release.load(releases.folder.root / "north.json")
    plain = json.loads(parcel.notebook(release))
    import nbformat

    nbformat.validate(nbformat.from_dict(plain))
    release.save(tmp_path / "release.json")
    monkeypatch.chdir(tmp_path)
    cells = [cell["source"] for cell in plain["cells"] if cell["cell_type"] == "code"]
    names = {}
    for source in cells:
        exec(source, names)
    assert np.array_equal(names["pca"].components_, release.components)


def test_files_that_there_are_not_are_refused(visitor, releases):
    for name in ("table.toml", "nothing.png", "..%2fsouth.json"):
        assert visitor.get(f"/release/folder/north.json/file/{name}").status_code in (400, 404)


def test_what_the_owner_says_is_checked(visitor, releases):
    page = visitor.get("/release/folder/north.json/publish", publication_date="yesterday")
    assert 'id="problems"' in page.text
    assert 'value="yesterday"' in page.text
    assert len(OWNED) == 5


def test_history_shows_releases_side_by_side(visitor, releases):
    page = visitor.get("/history")
    assert page.text.count('aria-label="Merge ') == 2
    assert "other.json" not in page.text
    assert "No cap has been set yet" in page.text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"release": ["north.json"], "disjoint": "yes", "output": "m.json"}, "at least two"),
        ({"release": ["north.json", "south.json"], "output": "m.json"}, "nobody is in two"),
        (
            {"release": ["north.json", "south.json"], "disjoint": "yes", "output": "north.json"},
            "would be overwritten",
        ),
        (
            {"release": ["north.json", "../x.json"], "disjoint": "yes", "output": "m.json"},
            "in this folder",
        ),
    ],
)
def test_merging_asks_for_what_it_needs(visitor, releases, typed, said):
    page = visitor.post("/merge", **typed)
    assert said in page.text
    assert not (releases.folder.root / "m.json").exists()


def test_releases_of_different_people_are_merged(visitor, releases):
    typed = {"release": ["north.json", "south.json"], "disjoint": "yes", "output": "all.json"}
    page = visitor.post("/merge", **typed)
    assert page.url.path == "/release/folder/all.json"
    assert Release.load(releases.folder.root / "all.json").n_samples == 800


def test_styles_become_attributes():
    plain = (
        '<svg xmlns="http://www.w3.org/2000/svg"><text style="font: bold 12px x; fill: red"/></svg>'
    )
    drawn = pictures.unstyled(plain)
    assert "style" not in drawn
    assert 'font-size="12px"' in drawn
    assert 'font-weight="bold"' in drawn
    assert 'fill="red"' in drawn
