"""Ids, and how many rows a person or a table has, leave by no door.

The number of rows is private where a person may have several, and that of persons too under
add-remove. It is looked for in all that a fit keeps, prints, pickles, writes, logs or raises.
"""

import json
import logging
import pickle
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from typer.testing import CliRunner

from gdppca import DPPCA, NSGGD, SGPCA, AnalyzeGauss, GdppcaError, SignCovariancePCA
from gdppca._errors import DataError
from gdppca.cli.main import app
from gdppca.noise import OrderKeys
from gdppca.report import render
from gdppca.tables.persons import persons_of

PERSONS, ROWS, D = 60, 9173, 3
# As a number of its own: digits behind a point may be anything. Neighbours of it tell as much.
NUMBER = re.compile(r"(?<![\w.])9[,._ \u202f]?17[234](?!\w)")
WORD = "qzx-id-"  # of which every id is made
IDS = {
    "strings": lambda codes: [f"{WORD}{k}" for k in codes],
    "bytes": lambda codes: [f"{WORD}{k}".encode() for k in codes],
    "numbers": lambda codes: 7_700_000_123 + codes,
    "fractions": lambda codes: 7_700_000_123.5 + codes,
    "mixed": lambda codes: [f"{WORD}{k}" if k % 2 else 7_700_000_123 + k for k in codes],
    "decimals": lambda codes: [Decimal(7_700_000_123) + int(k) for k in codes],
    "categorical": lambda codes: pd.Categorical([f"{WORD}{k}" for k in codes]),
    "pandas": lambda codes: pd.Series([f"{WORD}{k}" for k in codes]),
    "polars": lambda codes: pl.Series([f"{WORD}{k}" for k in codes]),
    "arrow": lambda codes: pa.array([f"{WORD}{k}" for k in codes]),
    "generator": lambda codes: (f"{WORD}{k}" for k in codes),
}
ESTIMATORS = {
    "default": DPPCA(2, epsilon=4.0),
    "pairs": DPPCA(2, epsilon=4.0, location=None),
    "scales": DPPCA(2, epsilon=50.0, scale="private"),
    "radius": DPPCA(2, epsilon=4.0, sign="winsor", radius="quantile"),
    "gaps": DPPCA(2, epsilon=4.0, missing="rates"),
    "secret": DPPCA(2, epsilon=4.0, neighbors="add-remove"),
    "Analyze Gauss": AnalyzeGauss(2, norm=5.0, center=np.zeros(D)),
    "SGPCA": SGPCA(2, eigenvalues=[9.0, 4.0, 1.0]),
    "NSGGD": NSGGD(2, n_iterations=20, noise="accounted"),
    "sign covariance": SignCovariancePCA(2),
}


@pytest.fixture(scope="module")
def codes():
    """Whose each row is."""
    rng = np.random.default_rng(1)
    found = np.concatenate([np.arange(PERSONS), rng.integers(0, PERSONS, ROWS - PERSONS)])
    rng.shuffle(found)
    return found


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(2).normal(size=(ROWS, D))


def texts_of(pca):
    """All that a fitted estimator says and keeps."""
    release = pca.release_
    yield json.dumps(release.to_dict())
    yield repr(release) + str(release) + release._repr_html_()
    yield repr(pca) + repr(vars(pca)) + pca._repr_html_()
    yield repr(pca.guarantee_) + str(pca.guarantee_)
    yield render(release)
    yield pickle.dumps(pca).decode("latin-1")


def require_silence(*texts):
    for text in texts:
        assert not NUMBER.search(text)
        assert WORD not in text
        assert "7700000" not in text.replace(",", "").replace("_", "")


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_number_of_rows_and_ids_are_in_no_text(estimator, X, codes, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        pca = clone(estimator).fit(X, persons=IDS["strings"](codes))
    require_silence(*texts_of(pca), *(str(each.message) for each in warned))
    require_silence(caplog.text, *capfd.readouterr())
    if estimator is not ESTIMATORS["secret"]:
        assert pca.n_persons_ == pca.n_samples_ == PERSONS


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.filterwarnings("ignore")
def test_ids_of_any_type_say_who_is_who_and_are_forgotten(ids, X, codes):
    persons = persons_of(ids(codes), ROWS, OrderKeys(b"x"))
    assert persons.number == PERSONS
    assert len(np.unique(np.stack([persons.codes, codes]), axis=1).T) == PERSONS
    pca = DPPCA(2, epsilon=4.0, random_state=0)
    pca.fit_release(X, persons=ids(codes), variances=0.1, score_map=0.1)
    require_silence(*texts_of(pca))
    assert WORD.encode() not in pickle.dumps(persons)
    require_silence(repr(persons))


_cells = st.one_of(st.integers(), st.text(max_size=3), st.floats(), st.booleans(), st.dates())


@settings(max_examples=200)
@given(ids=st.lists(st.one_of(st.none(), _cells), min_size=1, max_size=12))
def test_whatever_ids_are_they_are_taken_or_refused_without_being_quoted(ids):
    """And one row's id changes nobody else's company."""
    try:
        found = persons_of(ids, len(ids), OrderKeys(b"x"))
    except DataError:
        with pytest.raises(DataError, match="rows without an id: nobody knows"):
            persons_of(ids, len(ids), OrderKeys(b"x"))
        return
    alone = [persons_of([one, other], 2, OrderKeys(b"x")) for one in ids for other in ids]
    together = found.codes[:, None] == found.codes
    assert [pair.number == 1 for pair in alone] == together.ravel().tolist()


@pytest.mark.parametrize(
    "nobody", [None, float("nan"), "", "  ", Decimal("NaN"), np.datetime64("NaT"), pd.NA, pd.NaT]
)
def test_an_id_that_is_missing_is_nobody(nobody):
    with pytest.raises(DataError, match="without an id"):
        persons_of(["a", nobody, "b"], 3, OrderKeys(b"x"))


SAYINGS = {
    "too few ids": lambda X, ids: {"persons": ids[:-1]},
    "too many ids": lambda X, ids: {"persons": [*ids, ids[0]]},
    "a missing id": lambda X, ids: {"persons": [*ids[:-1], None]},
    "ids that are none": lambda X, ids: {"persons": np.ones((ROWS, 2))},
    "too few weights": lambda X, ids: {
        "persons": ids,
        "weights": np.ones(ROWS - 1),
        "largest_weight": 1.0,
    },
    "bad weights": lambda X, ids: {
        "persons": ids,
        "weights": np.append(np.ones(ROWS - 1), -1.0),
        "largest_weight": 1.0,
    },
    "weights of no size": lambda X, ids: {"persons": ids, "weights": np.ones(ROWS)},
    "too few labels": lambda X, ids: {
        "persons": ids,
        "groups": ["a"] * (ROWS - 1),
        "categories": ["a"],
        "score_map": 0.2,
    },
}


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("said", SAYINGS.values(), ids=SAYINGS)
def test_no_refusal_tells_them(said, neighbors, X, codes):
    pca = DPPCA(2, neighbors=neighbors)
    with pytest.raises(GdppcaError) as refused:
        pca.fit_release(X, **said(X, IDS["strings"](codes)))
    require_silence(str(refused.value), repr(refused.value))
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_nor_does_a_cell_that_is_refused(cell, X, codes):
    hole = X.copy()
    hole[ROWS - 2, 1] = cell
    with pytest.raises(GdppcaError) as refused:
        DPPCA(2).fit(hole, persons=IDS["strings"](codes))
    require_silence(str(refused.value))


def test_a_table_without_columns_does_not_tell_its_rows():
    with pytest.raises(GdppcaError) as refused:
        DPPCA(1, neighbors="add-remove").fit(np.ones((ROWS, 0)))
    require_silence(str(refused.value))


@pytest.mark.parametrize(
    ("neighbors", "persons"), [("add-remove", False), ("add-remove", True), ("replace-one", True)]
)
@pytest.mark.parametrize("times", [1, 40])
def test_progress_is_the_same_however_many_rows_there_are(neighbors, persons, times, X, codes):
    told = []
    pca = DPPCA(2, neighbors=neighbors, random_state=0)
    many, whose = np.tile(X, (times, 1)), np.tile(codes, times)
    pca.fit_release(many, persons=whose if persons else None, progress=lambda *at: told.append(at))
    assert told == [(percent, 100) for percent in range(1, 101)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_line_does_not_tell_them_either(ending, X, codes, tmp_path):
    frame = pd.DataFrame(X, columns=["pulse", "iron", "height"])
    frame["patient"] = IDS["strings"](codes)
    file = tmp_path / f"visits.{ending}"
    frame.to_csv(file, index=False) if ending == "csv" else frame.to_parquet(file)
    out = tmp_path / "release.json"
    asked = ["fit", str(file), "--person", "patient", "--output", str(out)]
    page = ["--report", str(tmp_path / "report.html")]
    result = CliRunner().invoke(app, [*asked, *page])
    assert result.exit_code == 0, result.output
    require_silence(result.output, out.read_text(), (tmp_path / "report.html").read_text())
