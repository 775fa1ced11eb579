"""Nothing of the data leaves that was not paid for.

Three nets. *Canaries*: cells and statistics that must not turn up in anything that an estimator
keeps, prints, pickles, writes, logs, warns of or raises. *Replay*: the values that one table
released are handed to its neighbour's fit, and then nothing at all may differ, neither results nor
which noise was asked for. *Silence*: without noise, only the released values may differ.
"""

import copy
import dataclasses
import gc
import json
import logging
import pickle
import re
import struct
import traceback
import warnings
import weakref
from urllib.parse import unquote

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from gdppca import (
    DPPCA,
    NSGGD,
    SGPCA,
    AnalyzeGauss,
    GdppcaError,
    Release,
    SignCovariancePCA,
    StateError,
    kendall_tau,
)
from gdppca.cli.main import app
from gdppca.kernels import sign_covariance
from gdppca.noise import FreshNoise
from gdppca.releases import private_quantile, private_variances, score_map
from gdppca.report import write_report
from gdppca.steps import descent

CANARY = 123456.78125
WORD = "HIV(+)"  # no picture holds it by chance: base64 has no brackets
# As a number of its own: digits behind a point, or inside a checksum, may be anything.
PRINTED = re.compile(r"(?<![\w.])123,?456(?!\w)")
D = 4
NAMES = ("age", "pulse", "weight", "iron")
EXTRAS = {"variances": 0.1, "score_map": 0.2}

ESTIMATORS = {
    "auto": DPPCA(2, epsilon=2.0),
    "private centre": DPPCA(2, epsilon=2.0, location="private"),
    "private scale": DPPCA(2, epsilon=2.0, scale="private"),
    "pairs": DPPCA(2, epsilon=2.0, location=None),
    "blocks": DPPCA(2, epsilon=2.0, pairs=16),
    "halves": DPPCA(2, epsilon=2.0, pairs="halves"),
    "public centre": DPPCA(2, epsilon=2.0, location=[1.0, 2.0, 3.0, 4.0]),
    "paper": DPPCA(2, epsilon=0.5, calibration="paper"),
    "private radius": DPPCA(2, epsilon=2.0, sign="trimmed", radius="quantile"),
    "as many as there are": DPPCA("auto", epsilon=2.0),
    "Analyze Gauss": AnalyzeGauss(2, norm=5.0, center=np.zeros(D)),
    "Analyze Gauss, printed": AnalyzeGauss(2),
    "SGPCA": SGPCA(2, eigenvalues=[9.0, 4.0, 1.0, 1.0]),
    "NSGGD": NSGGD(2, n_iterations=20, noise="accounted"),
    "NSGGD, printed": NSGGD(2, n_iterations=20),
    "sign covariance": SignCovariancePCA(2, location="pmwm"),
    "sign covariance, published": SignCovariancePCA(2, location="pmwm-published"),
}
EVERY_ESTIMATOR = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


@pytest.fixture
def X(rng):
    """A table with the canary as its largest value, in one row."""
    X = rng.standard_t(3, size=(600, D)) * [9, 3, 1, 1] + 5
    X[17, 1] = CANARY
    return X


@pytest.fixture
def neighbour(X):
    """The same table with another person in one row."""
    other = X.copy()
    other[17] = [-3e7, 41.0, 1e-3, 2e11]
    return other


# What an object holds and what can be made from it.


def leaves(thing, path="", seen=None):
    """Every number, text and array inside an object, however deep, with the way to it."""
    seen = set() if seen is None else seen
    if isinstance(thing, (str, bytes, bool, int, float, np.generic, type(None))):
        yield path, thing
        return
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield path, thing
        yield from leaves(thing.base, path + ".base", seen)  # a view keeps the whole alive
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from leaves(key, f"{path} key", seen)
            yield from leaves(value, f"{path}.{key}", seen)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for k, value in enumerate(thing):
            yield from leaves(value, f"{path}[{k}]", seen)
    elif not isinstance(thing, type) and hasattr(thing, "__dict__"):
        yield from leaves(vars(thing), path, seen)


def numbers(thing):
    """All real numbers inside an object, as one vector."""
    parts = [
        np.ravel(np.asarray(value, dtype=float))
        for _, value in leaves(thing)
        if isinstance(value, (int, float, np.number, np.ndarray))
        and np.asarray(value).dtype.kind in "iuf"
    ]
    return np.concatenate([np.empty(0), *parts])


def spoken(pca):
    """Everything that a fitted estimator can say in words."""
    return "\n".join(
        [
            repr(pca),
            str(pca),
            pca._repr_html_(),
            repr(pca.release_),
            pca.release_._repr_html_(),
            repr(pca.guarantee_),
            str(pca.guarantee_),
            json.dumps(pca.release_.to_dict()),
            json.dumps(pca.guarantee_.to_dict()),
        ]
    )


def statistics(X):
    """Exact statistics of the table; none of them may be seen."""
    differences = X[:300] - X[300:]
    center = np.median(X, axis=0)
    exact = [
        X, X.mean(axis=0), center, X.std(axis=0), X.std(axis=0, ddof=1),
        np.quantile(X, [0.1, 0.25, 0.75, 0.9], axis=0), np.abs(X - center).max(axis=0),
        np.cov(X.T), np.linalg.eigh(np.cov(X.T))[1], np.linalg.norm(X, axis=1),
        np.linalg.norm(X - center, axis=1), np.linalg.norm(differences, axis=1),
        kendall_tau(X), np.linalg.eigh(kendall_tau(X))[0], np.linalg.eigh(kendall_tau(X))[1],
        sign_covariance(X, center), sign_covariance(X, np.zeros(D)), X.sum(axis=0),
    ]  # fmt: skip
    return np.concatenate([np.ravel(part) for part in exact])


def found_among(values, forbidden):
    """Those values that are, up to sign and rounding, forbidden ones."""
    values, forbidden = np.abs(values), np.unique(np.abs(forbidden))
    values = values[np.isfinite(values)]  # an infinite error of what was not shrunk is no statistic
    place = np.clip(np.searchsorted(forbidden, values), 1, len(forbidden) - 1)
    nearest = np.minimum(np.abs(values - forbidden[place]), np.abs(values - forbidden[place - 1]))
    return values[(nearest <= 1e-13 * values) & (values > 0)]


def assert_no_canary(text):
    if isinstance(text, bytes):
        for order in "<>":
            assert struct.pack(order + "d", CANARY) not in text
        text = text.decode("latin-1")
    assert not PRINTED.search(unquote(text))
    assert WORD not in unquote(text)


TOOK = re.compile(r", \d+\.\d\d s$", re.MULTILINE)  # the clock's part of a line of the log


@pytest.fixture
def ears(caplog, capfd):
    """Everything that is logged or printed."""
    caplog.set_level(logging.DEBUG)
    for other in ("numba", "py4j", "distributed", "asyncio"):  # they speak of themselves
        logging.getLogger(other).setLevel(logging.INFO)

    def heard():
        streams, logged = capfd.readouterr(), TOOK.sub("", caplog.text)
        caplog.clear()
        return logged + streams.out + streams.err

    return heard


def fitted(estimator, X):
    """A fitted copy and its warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        pca = clone(estimator).fit(X)
    return pca, [str(each.message) for each in warned]


# Canaries.


@EVERY_ESTIMATOR
def test_no_cell_and_no_exact_statistic_stays_in_a_fitted_estimator(estimator, X, ears):
    pca, warned = fitted(estimator, pd.DataFrame(X, columns=NAMES))
    for text in (spoken(pca), pickle.dumps(pca), pickle.dumps(pca.release_), *warned, ears()):
        assert_no_canary(text)
    state = {name: value for name, value in vars(pca).items() if name not in pca.get_params()}
    assert found_among(numbers(state), statistics(X)).size == 0
    texts = {value for _, value in leaves(state) if isinstance(value, str)}
    assert not texts & {str(cell) for cell in X.ravel()}


def test_the_net_has_no_holes(X):
    """What the test above looks for would be found."""
    pca, _ = fitted(ESTIMATORS["pairs"], X)
    assert_no_canary(spoken(pca))
    for planted in (X[17], X.mean(axis=0), {"deep": [(np.median(X, axis=0),)]}, kendall_tau(X)):
        pca.planted_ = planted
        assert found_among(numbers(vars(pca)), statistics(X)).size > 0
    view = X[20:20]  # empty, but keeps all rows alive
    assert found_among(numbers({"view": view}), statistics(X)).size > 0
    with pytest.raises(AssertionError):
        assert_no_canary(pickle.dumps(X))
    exact = DPPCA(2, epsilon=np.inf, location=None).fit(X)
    assert found_among(numbers(vars(exact)), statistics(X)).size > 0


@EVERY_ESTIMATOR
def test_no_fit_keeps_the_rows_alive(estimator, X):
    table = X.copy()
    rows = weakref.ref(table)
    pca, _ = fitted(estimator, table)
    del table
    gc.collect()
    assert rows() is None
    assert pca.release_ is not None


def test_stream_shows_nothing_and_is_not_copied(X, ears):
    pca = DPPCA(2, location=None)
    for batch in np.array_split(X, 3):
        pca.partial_fit(batch)
        assert_no_canary(repr(pca) + pca._repr_html_() + ears())
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(StateError) as refusal:
                way(pca)
            assert_no_canary(everything_said(refusal.value))
    assert not [name for name in vars(pca) if name.endswith("_") and name != "n_features_in_"]
    pca.finalize()
    assert "_batches" not in vars(pca)
    assert_no_canary(spoken(pca))
    assert_no_canary(pickle.dumps(pca))
    assert found_among(numbers(vars(pca)), statistics(X)).size == 0


def test_whole_release_merged_and_reported(X, tmp_path, ears):
    halves = [
        DPPCA(2, epsilon=4.0, location=None).fit_release(part, **(EXTRAS if k else {}))
        for k, part in enumerate(np.array_split(X, 2))
    ]
    merged = Release.merge(halves)
    for k, release in enumerate([*halves, merged]):
        release.save(tmp_path / f"{k}.json")
        write_report(release, tmp_path / f"{k}.html")
        assert found_among(numbers(release), statistics(X)).size == 0
        assert_no_canary(release._repr_html_() + repr(release))
    for written in tmp_path.iterdir():
        assert_no_canary(written.read_bytes())
    assert_no_canary(ears())


def test_releases_beside_a_fit(X, ears):
    labels = [WORD if k == 17 else "A" if k % 2 else "B" for k in range(len(X))]
    pca, _ = fitted(ESTIMATORS["auto"], X)
    shown = score_map(X, pca, epsilon=1.0, groups=labels, categories=["A", "B"])
    found = private_variances(X, pca.release_, 1.0, 1e-6)
    for result in (shown, found):
        plain = dataclasses.asdict(result)
        assert_no_canary(repr(result) + repr(plain))
        assert_no_canary(pickle.dumps(result))
        real = {name: value for name, value in plain.items() if name not in ("counts", "outside")}
        assert found_among(numbers(real), statistics(X)).size == 0
    for method in ("grid", "unbounded"):
        assert_no_canary(repr(private_quantile(X[:, 1], 0.999, 1.0, method=method)))
    assert_no_canary(ears())


def everything_said(error):
    """All that an error can print, what it hides included."""
    parts = traceback.format_exception(error)
    while error is not None:
        parts += [str(error), repr(error.args), *getattr(error, "__notes__", ())]
        error = error.__cause__ or error.__context__
    return "\n".join(parts)


def bad_tables(X):
    """Tables that are refused, each with a cell that must not be quoted."""
    text = pd.DataFrame(X, columns=NAMES).astype(object)
    text.iloc[17, 2] = WORD
    missing, infinite = X.copy(), X.copy()
    missing[3, 0], infinite[3, 0] = np.nan, np.inf
    dated = pd.DataFrame(X, columns=NAMES)
    dated["iron"] = pd.Timestamp("2020-01-01")
    mixed = {name: X[:, k] for k, name in enumerate(NAMES)}
    return {
        "words": text,
        "words in polars": pl.DataFrame({**mixed, "note": [WORD] * len(X)}),
        "words in arrow": pa.table({**mixed, "note": [WORD] * len(X)}),
        "words in a list": [[WORD, CANARY], [1.0, 2.0]],
        "words in an array": np.array([[WORD, str(CANARY)]] * 9),
        "huge numbers": [[CANARY, 10**400]] * 9,
        "missing": missing,
        "infinite": infinite,
        "no rectangle": [[CANARY, 1.0], [2.0]],
        "complex": X + 1j,
        "one column": X[:, 1],
        "one row": X[17:18],
        "dates": dated,
        "bytes": np.array([[WORD.encode()] * 2] * 9),
        "nothing": None,
        "a word": f"{WORD} {CANARY}",
        "a table as text": f"age,pulse\n{CANARY},{WORD}\n" * 99,
        "a column of words": [WORD, str(CANARY)],
        "masked": np.ma.masked_greater(X, 1e5),
    }


@EVERY_ESTIMATOR
def test_refusals_quote_no_cell(estimator, X, ears):
    for table in bad_tables(X).values():
        with pytest.raises(GdppcaError) as refusal:
            clone(estimator).fit(table)
        assert_no_canary(everything_said(refusal.value))
    assert_no_canary(ears())


@pytest.mark.parametrize("call", ["partial_fit", "fit_release", "transform", "map", "variances"])
def test_other_doors_quote_no_cell(call, X, ears):
    pca, _ = fitted(ESTIMATORS["public centre"], X)
    calls = {
        "partial_fit": lambda table: DPPCA(2).partial_fit(table).finalize(),
        "fit_release": lambda table: DPPCA(2).fit_release(table, **EXTRAS),
        "transform": lambda table: pca.transform(table),
        "map": lambda table: score_map(table, pca, epsilon=1.0),
        "variances": lambda table: private_variances(table, pca.release_, 1.0, 1e-6),
    }
    tables = bad_tables(X)
    if call == "transform":  # takes one row, and leaves shapes to scikit-learn
        tables = {name: tables[name] for name in ("words", "missing", "infinite", "complex")}
    if call == "variances":  # takes these for what they are not; below
        tables = {name: tables[name] for name in tables if name not in _TAKEN_BY_VARIANCES}
    for table in tables.values():
        with pytest.raises(GdppcaError) as refusal:
            calls[call](table)
        assert_no_canary(everything_said(refusal.value))
    assert_no_canary(ears())


_TAKEN_BY_VARIANCES = ("huge numbers", "complex", "masked")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _TAKEN_BY_VARIANCES)
def test_variances_refuse_what_a_fit_refuses(name, X):
    pca, _ = fitted(ESTIMATORS["public centre"], X)
    table = bad_tables(X)[name] if name != "huge numbers" else [[1.0, 2.0, 3.0, 10**400]] * 9
    with pytest.raises(GdppcaError):
        private_variances(table, pca.release_, 1.0, 1e-6)


def test_quantile_refuses_integers_beyond_all_floats():
    with pytest.raises(GdppcaError):
        private_quantile([1.0, 10**400], 0.5, 1.0)


def test_command_line_writes_no_cell(X, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(X, columns=NAMES)
    table["sex"] = ["F", "M"] * 300
    table.loc[17, "sex"] = WORD
    table.to_csv("people.csv", index=False)
    table.drop(columns="sex").to_csv("numbers.csv", index=False)
    runs = [
        ["fit", "numbers.csv", "-o", "a.json", "--report", "a.html", "--plot", "a.svg"],
        ["fit", "numbers.csv", "-o", "b.json", "--json", "--location", "none"],
        ["fit", "people.csv", "-o", "c.json", "--groups", "sex=F,M", "--score-map", "0.3"],
        ["merge", "a.json", "b.json", "-o", "d.json"],
        ["report", "c.json", "-o", "c.html"],
    ]
    bad = [
        ["fit", "people.csv", "-o", "e.json"],
        ["fit", "people.csv", "-o", "e.json", "--columns", "age,sex"],
        ["fit", "people.csv", "-o", "e.json", "--columns", "age,nose"],
        ["report", "people.csv", "-o", "e.html"],
    ]
    for arguments in runs + bad:
        result = CliRunner().invoke(app, [*arguments])
        assert result.exit_code == (0 if arguments in runs else 3), result.output
        assert_no_canary(result.output)
    written = [path for path in tmp_path.iterdir() if path.suffix != ".csv"]
    assert len(written) == 7
    for path in written:
        assert_no_canary(path.read_bytes())


# Two neighbours.


class Noise:
    """Stands in for all noise: records what is released, hands it out again, or adds none.

    `descended` draws from a generator, so it is taken whole.
    """

    def __init__(self, monkeypatch):
        self.mode = "record"
        self.asked, self.given = [], []
        for name in ("gaussian", "laplace", "argmax"):
            real = getattr(FreshNoise, name)
            monkeypatch.setattr(FreshNoise, name, self._method(name, real))
        real = descent.descended
        monkeypatch.setattr(descent, "descended", self._stand_in("descended", real))

    def _method(self, draw, real):
        def method(noise, values, scale, **named):
            def drawn(*_):
                return real(noise, values, scale, **named)

            return self._stand_in(draw, drawn)(values, scale, *named.values())

        return method

    def _stand_in(self, draw, real):
        def stand_in(values, *settings):
            if self.mode == "silent":
                return _SILENT[draw](values, *settings)
            self.asked.append((draw, np.shape(values), *_public(settings)))
            if self.mode == "record":
                self.given.append(copy.deepcopy(real(values, *settings)))
            return copy.deepcopy(self.given[len(self.asked) - 1])

        return stand_in

    def replay(self):
        """Hand out again what was released; what was asked for until now is returned."""
        asked, self.asked, self.mode = self.asked, [], "replay"
        return asked


_SILENT = {
    "gaussian": lambda exact, sd, sensitivity: exact.copy(),
    "laplace": lambda exact, scale: exact.copy(),
    "argmax": lambda scores, epsilon: int(np.argmax(scores)),
    "descended": lambda Z, V, plan, noise: V,
}


def _public(settings):
    """What a mechanism was told beside the values: scales and plans, not random sources."""
    return tuple(
        repr(each) if not isinstance(each, np.ndarray) else each.tobytes()
        for each in settings
        if not hasattr(each, "permutation")
    )


def everything_public(estimator, X, tmp_path, more=None):
    """All that leaves: state, pickle, words, warnings, files."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        pca = clone(estimator)
        if more is None:
            pca.fit(X)
        else:
            pca.fit_release(X, **more)
    shown = {
        "state": pickle.dumps(pca),
        "words": re.sub(r"sk-[\w-]+|0x[0-9a-f]+", "", spoken(pca)),
        "warnings": [str(each.message) for each in warned],
    }
    pca.release_.save(tmp_path / "release.json")
    shown["file"] = (tmp_path / "release.json").read_bytes()
    return pca, shown


CASES = [pytest.param(estimator, None, id=name) for name, estimator in ESTIMATORS.items()] + [
    pytest.param(ESTIMATORS[name], EXTRAS, id=f"{name}, with map and variances")
    for name in ("auto", "private scale", "pairs", "public centre", "private radius")
]


@pytest.mark.parametrize(("estimator", "more"), CASES)
def test_same_released_values_make_the_same_everything(
    estimator, more, X, neighbour, tmp_path, monkeypatch, ears
):
    noise = Noise(monkeypatch)
    pca, shown = everything_public(estimator, X, tmp_path, more)
    printed = ears()
    asked = noise.replay()
    other, shown_of_other = everything_public(estimator, neighbour, tmp_path, more)
    assert asked  # or nothing is private here
    assert noise.asked == asked  # the same noise, as often and as large, whatever the rows
    for what in shown:
        assert shown[what] == shown_of_other[what], what
    assert ears() == printed
    if more is not None:
        for k, release in enumerate((pca.release_, other.release_)):
            write_report(release, tmp_path / f"{k}.html")
        assert (tmp_path / "0.html").read_bytes() == (tmp_path / "1.html").read_bytes()


def test_replay_finds_a_leak(X, neighbour, tmp_path, monkeypatch):
    """A number of rows' own, smuggled past the noise, is seen."""
    noise = Noise(monkeypatch)
    leaky = "gdppca.estimators.gdppca.warn_of_weakness"
    _, shown = everything_public(ESTIMATORS["pairs"], X, tmp_path)
    noise.replay()
    monkeypatch.setattr(leaky, lambda *_, **__: warnings.warn("41 is odd", stacklevel=1))
    _, shown_of_other = everything_public(ESTIMATORS["pairs"], neighbour, tmp_path)
    assert shown["warnings"] != shown_of_other["warnings"]
    assert shown["file"] == shown_of_other["file"]


# Where a released value may stand; everything else is public and must not move.
_NOISED = {
    "components", "scatter", "location", "scale", "variances", "checksum",
    "loadings.plain", "loadings.sd", "loadings.negligible", "loadings.kind",
    "score_map.x_edges", "score_map.y_edges", "score_map.counts", "score_map.outside",
}  # fmt: skip
_OF_A_PRIVATE_RADIUS = {"sign.parameters.radius", "sign.sup_norm", "noise_sd"}


def differing(one, other, path=""):
    """Where two plain releases differ; a list of numbers is one place."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(set(one) | set(other)):
            way = f"{path}.{key}".lstrip(".")
            yield from differing(one.get(key), other.get(key), way)
    elif one != other:
        yield path


@pytest.mark.parametrize(("estimator", "more"), CASES)
def test_without_noise_only_released_values_differ(
    estimator, more, X, neighbour, tmp_path, monkeypatch
):
    Noise(monkeypatch).mode = "silent"
    pca, shown = everything_public(estimator, X, tmp_path, more)
    other, shown_of_other = everything_public(estimator, neighbour, tmp_path, more)
    moved = set(differing(pca.release_.to_dict(), other.release_.to_dict()))
    allowed = _NOISED | (_OF_A_PRIVATE_RADIUS if "quantile" in repr(estimator) else set())
    assert moved <= allowed
    assert "components" in moved  # the tables do differ
    assert shown["warnings"] == shown_of_other["warnings"]
    assert pca.guarantee_.to_dict() == other.guarantee_.to_dict()
    assert set(vars(pca)) == set(vars(other))


def test_stream_of_a_neighbour_shows_the_same(X, neighbour, monkeypatch):
    noise = Noise(monkeypatch)
    shown = []
    for table in (X, neighbour):
        pca = DPPCA(2, pairs=8)
        for batch in np.array_split(table, 4):
            pca.partial_fit(batch)
        shown.append((pickle.dumps(pca.finalize()), json.dumps(pca.release_.to_dict())))
        asked = noise.replay()
    assert shown[0] == shown[1]
    assert len(asked) == 1
