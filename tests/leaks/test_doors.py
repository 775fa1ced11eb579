"""Every door that takes numbers × cells that are none: nothing of a cell is said.

Neither in the message nor in notes, in the errors behind it or in the printed traceback.
"""

import dataclasses
import decimal
import fractions
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gdppca import (
    DPPCA,
    SGPCA,
    AnalyzeGauss,
    GdppcaError,
    Ledger,
    PairSum,
    SignCovariancePCA,
    audit,
    kendall_tau,
    plan,
    sin_theta,
    theory,
)
from gdppca.datasets import make_elliptical
from gdppca.estimators.diagnostics import outlier_map
from gdppca.kernels import SignSum, sign_covariance
from gdppca.releases import private_quantile, private_variances, score_map
from gdppca.signs import as_sign

WORD = "HIV(+) 123456"
CANARIES = ("HIV", "123456")
D = 3


class Talkative:
    """An entry of some library that tells its value when it is no number."""

    def __float__(self):
        raise RuntimeError(WORD)

    def __array__(self, *_, **__):
        raise RuntimeError(WORD)


def with_cell(cell):
    """A vector with one such cell."""
    column = np.empty(D, dtype=object)
    column[0], column[1], column[2] = 1.0, cell, 2.0
    return column


CELLS = {
    "a word": WORD,
    "bytes": WORD.encode(),
    "a digit too many": 10**400 + 123456,
    "a decimal": decimal.Decimal("sNaN123456"),
    "a fraction": fractions.Fraction(10**400 + 123456),
    "a list": [WORD],
    "a date": pd.Timestamp("1234-05-06 12:34:56"),
    "another library's": Talkative(),
}
FRAMES = {"array": lambda rows: rows, "list": lambda rows: rows.tolist(), "pandas": pd.DataFrame}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(40, D)) * [3, 2, 1]


@pytest.fixture(scope="module")
def pca(X):
    return DPPCA(2, epsilon=2.0, location=[0.0] * D).fit(X)


def doors_for_rows(X, pca, folder):
    """Doors that take a table."""
    ledger = Ledger(f"sqlite:///{folder / 'budget.db'}")
    ledger.create("people", epsilon=1.0, delta=1e-6)
    return {
        "fit": DPPCA(2).fit,
        "partial_fit": lambda rows: DPPCA(2).partial_fit(rows),
        "fit_release": lambda rows: DPPCA(2).fit_release(rows, variances=0.1),
        "transform": pca.transform,
        "inverse_transform": pca.inverse_transform,
        "fingerprint": ledger.fingerprint,
        "fingerprint with a key": lambda rows: ledger.fingerprint(rows, key=b"k"),
        "kendall_tau": kendall_tau,
        "PairSum": lambda rows: PairSum("spherical", D).update(rows),
        "SignSum": lambda rows: SignSum("spherical", [0.0] * D).update(rows),
        "sign_covariance": lambda rows: sign_covariance(rows, [0.0] * D),
        "a sign": as_sign("spherical"),
        "a sign with a cut-off": as_sign("winsor", 1.0, n_features=D),
        "score_map": lambda rows: score_map(rows, pca, epsilon=1.0),
        "private_variances": lambda rows: private_variances(rows, pca.release_, 1.0, 1e-6),
        "outlier_map": lambda rows: outlier_map(rows, pca),
        "sin_theta": lambda rows: sin_theta(rows, X[: len(rows)]),
        "projector_distance": lambda rows: theory.projector_distance(rows, X[: len(rows)]),
    }


def doors_for_vectors(X, pca):
    """Doors that take one number per column or row."""
    return {
        "location": lambda cells: DPPCA(2, location=cells).fit(X),
        "location of a stream": lambda cells: DPPCA(2, location=cells).partial_fit(X).finalize(),
        "scale": lambda cells: DPPCA(2, scale=cells).fit(X),
        "centre": lambda cells: AnalyzeGauss(2, norm=1.0, center=cells).fit(X),
        "eigenvalues": lambda cells: SGPCA(2, eigenvalues=cells).fit(X),
        "sign covariance": lambda cells: SignCovariancePCA(2, location=cells).fit(X),
        "centre of a sum": lambda cells: SignSum("spherical", cells),
        "sign_covariance": lambda cells: sign_covariance(X, cells),
        "a sign": as_sign("spherical"),
        "private_quantile": lambda cells: private_quantile(cells, 0.5, 1.0),
        "frame": lambda cells: score_map(X, pca, frame=(cells, cells)),
        "plan": lambda cells: plan(100, D, spectrum=with_cell(cells[1]), n_components=1),
        "audit": lambda cells: audit(DPPCA(2, location=cells), runs=10),
        "audit of SGPCA": lambda cells: audit(SGPCA(1, eigenvalues=cells), runs=10),
        "sin_theta": lambda cells: sin_theta(cells, np.ones(D)),
        "spherical_eigenvalues": theory.spherical_eigenvalues,
        "effective_rank": theory.effective_rank,
        "contamination": lambda cells: theory.contaminated_covariance(
            [cells] * D, fraction=0.1, shift=1.0, direction=np.ones(D)
        ),
        "components": lambda cells: make_elliptical(9, D, spikes=[5.0], components=[cells]),
    }


def everything_said(error):
    """All that an error can print: its own words, its notes, and every error behind it."""
    parts = traceback.format_exception(error)
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        parts += [str(one), repr(one), repr(one.args), *getattr(one, "__notes__", ())]
        waiting += [one.__cause__, one.__context__]
    return "\n".join(parts)


def assert_says_nothing(door, cells):
    with pytest.raises(GdppcaError) as refusal:
        door(cells)
    said = everything_said(refusal.value)
    for canary in CANARIES:
        assert canary not in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("cell", CELLS)
def test_no_door_for_tables_quotes_a_cell(cell, frame, X, pca, tmp_path):
    for name, door in doors_for_rows(X, pca, tmp_path).items():
        rows = X.astype(object)[: D if "_d" in name else None]
        rows[1, 1] = CELLS[cell]
        assert_says_nothing(door, FRAMES[frame](rows))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cell", CELLS)
def test_no_door_for_vectors_quotes_an_entry(cell, X, pca):
    for door in doors_for_vectors(X, pca).values():
        assert_says_nothing(door, with_cell(CELLS[cell]))
        assert_says_nothing(door, with_cell(CELLS[cell]).tolist())


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_tables_of_text_are_not_quoted(frame, X, pca, tmp_path):
    table = frame({"a": [WORD] * 9, "b": [1.0] * 9, "c": [2.0] * 9})
    for door in doors_for_rows(X, pca, tmp_path).values():
        assert_says_nothing(door, table)


def test_the_net_has_no_holes():
    """What the tests above look for would be found, wherever an error keeps it."""

    def behind(cells):
        try:
            np.asarray(cells, dtype=float)
        except ValueError:
            raise GdppcaError("nothing") from None

    def noted(cells):
        error = GdppcaError("nothing")
        error.add_note(f"{cells[1]}")
        raise error

    for leaky in (behind, noted):
        with pytest.raises(AssertionError):
            assert_says_nothing(leaky, with_cell(WORD))


def test_labels_are_not_quoted(X, pca):
    labels = [*[WORD] * 39, Talkative()]
    shown = score_map(X, pca, groups=labels, categories=["A", "B"], epsilon=1.0)
    assert "HIV" not in repr(dataclasses.asdict(shown))
    for wrong in (WORD, [labels], np.array([[WORD]]), 7):
        assert_says_nothing(
            lambda wrong: score_map(X, pca, groups=wrong, categories=["A", "B"]), wrong
        )
