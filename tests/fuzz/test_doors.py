"""Hostile input at every door: files, releases, command lines, parameters.

The doors themselves, and what counts as a finding, are in `doors`. `make fuzz` knocks a million
times, guided by coverage; here are a few thousand knocks with fixed seeds.
"""

import json
import math
import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fuzz import doors
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from kinds import RATES, made

from gdppca import DPPCA, NSGGD, SGPCA, AnalyzeGauss, GdppcaError, Release, SignCovariancePCA
from gdppca.noise import FreshNoise
from gdppca.planning.plan import PLAN_FIELDS

# Files.

cells = st.one_of(
    st.sampled_from(
        ["", "1", "-2.5", "NA", "nan", "inf", "1e999", '"', '""', '"a', "2020-01-01", "true",
         "\x00", doors.SECRET, doors.NUMBER, f'"{doors.SECRET}"', "9" * 400,
         "=1+1", " ", "é", "\ud7ff"]
    ),
    st.text(max_size=6),
)  # fmt: skip
rows = st.lists(st.lists(cells, max_size=4), max_size=5)
headers = st.lists(st.sampled_from(["a", "b", "a", "age", "", "7", "x y", "é"]), max_size=4)


@settings(max_examples=400)
@given(headers, rows, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_csv_of_odd_cells(header, rows, separator, end):
    lines = [separator.join(cells) for cells in (header, *rows)]
    doors.csv_door(end.join(lines).encode("utf-8", "replace"))


@settings(max_examples=400)
@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbfa,b\n1,2\n")
@example(b"\xff\xfea\x00,\x00b\x00\n\x00")
@example(b"a\n" + b"1" * 100_000)
def test_csv_of_any_bytes(content):
    doors.csv_door(content)


@st.composite
def damaged(draw, whole):
    """Bytes of a good file, cut, overwritten, doubled or put into."""
    content = bytearray(draw(st.sampled_from(whole)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        size = draw(st.integers(0, 8))
        content[place : place + size] = draw(st.binary(max_size=8))
    return bytes(content)


PARQUET = [doors.example_parquet(), doors.example_parquet("snappy"), doors.example_numbers()]


@settings(max_examples=800)
@given(damaged(PARQUET))
@example(b"")
@example(b"PAR1PAR1")
@example(b"PAR1" + b"\xff" * 4 + b"\xff\xff\xff\x7f" + b"PAR1")
def test_damaged_parquet(content):
    doors.parquet_door(content)


@settings(max_examples=400)
@given(damaged([doors.example_csv(), b'a,"b"\r\n1,"2"\r\n3,4\r\n']))
def test_damaged_csv(content):
    doors.csv_door(content)


@settings(max_examples=60)
@given(damaged([doors.example_csv(), b'a,"b"\r\n1,"2"\r\n3,4\r\n']), damaged(PARQUET))
def test_damaged_files_read_in_parts(csv, parquet):
    doors.csv_door(csv, doors.in_parts)
    doors.parquet_door(parquet, doors.in_parts)


@settings(max_examples=150)
@given(damaged(doors.example_dialects()))
def test_damaged_text_in_dialects(content):
    doors.dialect_door(content)


@settings(max_examples=100)
@given(st.integers(0, 5), headers, rows, st.sampled_from([",", ";", "\t", "|"]))
def test_odd_cells_in_dialects(dialect, header, rows, separator):
    lines = [separator.join(cells) for cells in (["title"], [*header, "age"], *rows)]
    encoding = ["utf-8", "utf-8", "utf-16", "latin-1", "cp1252", "utf-16-be"][dialect]
    doors.dialect_door(bytes([dialect]) + "\n".join(lines).encode(encoding, "replace"))


@settings(max_examples=200)
@given(damaged([doors.example_workbook()]))
def test_damaged_workbooks(content):
    doors.workbook_door(content)


@settings(max_examples=200)
@given(damaged([doors.example_statfile()]), damaged([doors.example_statfile(".dta")]))
def test_damaged_files_of_statistical_programs(spss, stata):
    doors.statfile_door(spss)
    doors.statfile_door(stata, ".dta")


def test_doors_let_good_files_in():
    """Or all of the above would prove nothing."""
    for read in ({}, {"read": doors.in_parts}):
        assert doors.csv_door(b"a,b\n1,2\n3,4\n", **read)
        assert doors.parquet_door(doors.example_numbers(), **read)
        assert not doors.csv_door(doors.example_csv(), **read)  # a column of words
        assert not doors.parquet_door(doors.example_parquet(), **read)
    assert all(map(doors.dialect_door, doors.example_dialects()))
    assert doors.workbook_door(doors.example_workbook())
    assert doors.statfile_door(doors.example_statfile())
    assert doors.statfile_door(doors.example_statfile(".dta"), ".dta")
    assert doors.release_door(RELEASES[0])
    assert doors.sealed_release_door(RELEASES[1])
    assert doors.sealed_release_door(RELEASES[2])


def test_a_quoted_cell_would_be_found(monkeypatch):
    def quoting(path):
        raise GdppcaError(f"cannot read {doors.SECRET}")

    monkeypatch.setattr(doors, "read_table", quoting)
    with pytest.raises(doors.Finding):
        doors.csv_door(doors.example_csv())


# Releases.

RELEASES = [
    doors.example_release(),
    doors.example_release(variances=0.1, score_map=0.2),
    json.dumps(made("person", "add-remove", rates=RATES, described=True).to_dict()).encode(),
]


@settings(max_examples=300)
@given(damaged(RELEASES))
@example(b"[" * 100_000)
@example(b"NaN")
@example(b'{"format": "gdppca-release", "version": 3}')
@example(b"\xff\xfe")
def test_damaged_release(content):
    doors.release_door(content)


@settings(max_examples=1000)
@given(st.sampled_from(RELEASES), st.data())
def test_forged_release(content, data):
    """Any place of the tree changed, with the right checksum."""
    plain = json.loads(content)
    for _ in range(data.draw(st.integers(1, 3))):
        plain = doors.mutated_json(plain, lambda k: data.draw(st.integers(0, k - 1)))
    doors.sealed_release_door(json.dumps(plain).encode())


@pytest.mark.parametrize("version", [True, 1.0, 2.0])
def test_version_that_equals_a_number_but_is_none(version):
    doors.sealed_release_door(json.dumps({**json.loads(RELEASES[0]), "version": version}).encode())


@pytest.mark.parametrize("place", ["counts", "outside"])
def test_whole_number_that_no_integer_holds(place):
    plain = json.loads(RELEASES[1])
    numbers = plain["score_map"][place]
    while isinstance(numbers[0], list):
        numbers = numbers[0]
    numbers[0] = 1e308
    doors.sealed_release_door(json.dumps(plain).encode())


# The command line.


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X = np.random.default_rng(0).normal(size=(60, 3)) * [9, 3, 1]
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table.to_csv(folder / "table.csv", index=False)
    table["g"] = ["x", doors.SECRET] * 30
    table.to_csv(folder / "groups.csv", index=False)
    (folder / "release.json").write_bytes(RELEASES[0])
    (folder / "junk.json").write_text('{"n_samples": 1}')
    (folder / "empty.csv").write_text("")
    return folder


OPTIONS = {
    "fit": ["--components", "--epsilon", "--delta", "--columns", "--location", "--scale", "--sign",
            "--radius", "--quantile", "--pairs", "--calibration", "--variances", "--score-map",
            "--groups", "--plan", "--plot", "--seed", "--report", "-o", "--json", "--nonsense"],
    "plan": ["--rows", "--columns", "--epsilon", "--delta", "--spectrum", "--components",
             "--location", "--target", "--json"],
    "merge": ["-o", "--components", "--force"],
    "report": ["-o", "--name", "--curator", "--date", "--sector", "--force"],
}  # fmt: skip
FILES = ["table.csv", "groups.csv", "release.json", "junk.json", "empty.csv", ".", "none.csv"]
WORDS = ["", "auto", "private", "none", "0", "1", "2", "-1", "3.5", "nan", "inf", "-inf", "1e-320",
         "1e-5", "1e6", "1e308", "9" * 30, "a,b", '"a', "a,a", "x,y,z", "1,2,3", "nan,1,2",
         "winsor", "trimmed", "quantile", "halves", "paper", "g=x,y", "g=", "spiked:3,2", "spiked:",
         "²", "é", "[red]", "[/]", "<script>", "--", "out.json", "out.html", "x.svg",
         "\udcff", "\udcff.json", "[\udcff].html", "x" * 300 + ".json"]  # fmt: skip


@st.composite
def command_lines(draw):
    verb = draw(st.sampled_from(list(OPTIONS)))
    words = [verb]
    if verb != "plan":
        words += [draw(st.sampled_from(FILES)) for _ in range(draw(st.integers(0, 2)))]
    else:
        words += ["--rows", "50", "--columns", "4"]
    for _ in range(draw(st.integers(0, 3))):
        option = draw(st.sampled_from(OPTIONS[verb]))
        value = draw(
            st.sampled_from(WORDS + FILES) | st.text(st.characters(codec="utf-8"), max_size=5)
        )
        words += [option] if option in ("--json", "--force") else [option, value]
    return words


@settings(max_examples=150)
@given(words=command_lines())
def test_command_lines(words, files):
    if any("\x00" in word for word in words):
        return  # no shell passes that on
    with pytest.MonkeyPatch.context() as here:
        here.chdir(files)
        before = set(files.iterdir())
        doors.command_door(words)
        for new in set(files.iterdir()) - before:
            new.unlink() if new.is_file() else new.rmdir()


PLAN = dict.fromkeys(PLAN_FIELDS, 1)


def test_fit_without_a_file():
    doors.command_door(["fit"])


@pytest.mark.parametrize(
    "options",
    [
        ["--columns", "a\nb"],
        ["--columns", "x" * 200_000],
        ["--components", "9" * 5000],
        ["--pairs", "9" * 5000],
        ["--delta", "1e-320"],
    ],
    ids=["line in a name", "long name", "many digits", "many digits of pairs", "tiny delta"],
)
def test_fit_options_that_end_in_a_traceback(options, files, tmp_path):
    doors.command_door(["fit", str(files / "table.csv"), "-o", str(tmp_path / "r.json"), *options])


@pytest.mark.parametrize("name", ["caf\udce9", "[red]", "x" * 250], ids=["bytes", "markup", "long"])
def test_files_of_any_name_are_written(name, files, tmp_path):
    """A name may be any bytes, which the terminal may have no letters for."""
    release, page = tmp_path / f"{name}.json", tmp_path / f"{name}.html"
    words = ["fit", str(files / "table.csv"), "-o", str(release), "--report", str(page)]
    assert doors.command_door(words) == 0
    Release.load(release)
    assert doors.command_door(["report", str(release), "-o", str(page)]) == 2  # is there already
    assert doors.command_door(["report", str(release), "-o", str(page), "--force"]) == 0
    assert set(tmp_path.iterdir()) == {release, page}


def test_a_file_that_a_library_cannot_name_is_refused(files, tmp_path):
    table = tmp_path / "caf\udce9.csv"
    table.write_bytes((files / "table.csv").read_bytes())
    out = tmp_path / "r.json"
    assert doors.command_door(["fit", str(table), "-o", str(out)]) == 3
    ledger = f"sqlite:///{tmp_path}/caf\udce9.db#patients"
    words = ["fit", str(files / "table.csv"), "-o", str(out), "--ledger", ledger]
    assert doors.command_door(words) == 4
    assert list(tmp_path.iterdir()) == [table]


def test_a_name_that_is_too_long_is_refused_before_anything_is_drawn(files, tmp_path, monkeypatch):
    for name in ("gaussian", "laplace", "argmax", "generator"):
        monkeypatch.setattr(FreshNoise, name, None)
    words = ["fit", str(files / "table.csv"), "-o", str(tmp_path / ("x" * 300))]
    assert doors.command_door(words) == 5


def test_a_pipe_is_not_replaced_by_a_file(files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    words = ["fit", str(files / "table.csv"), "-o", str(tmp_path / "pipe"), "--force"]
    assert doors.command_door(words) == 2
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("value", [math.nan, 10**40], ids=["nan", "many digits"])
def test_release_with_a_hostile_plan_can_be_read(value, files, tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps({**PLAN, "sin_theta": value}))
    out = tmp_path / "r.json"
    words = ["fit", str(files / "table.csv"), "-o", str(out), "--plan", str(tmp_path / "plan.json")]
    if doors.command_door(words) == 0:
        Release.load(out)


def test_release_of_huge_blocks_can_be_read(files, tmp_path):
    out = tmp_path / "r.json"
    words = ["fit", str(files / "table.csv"), "-o", str(out), "--pairs", "9" * 30]
    if doors.command_door(words) == 0:
        Release.load(out)


# Parameters.

TABLE = np.random.default_rng(0).normal(size=(12, 3))
HOSTILE = [
    None, True, 0, -1, 1, 2, 3, 10**30, 0.0, -0.0, 0.5, 1.5, math.nan, math.inf, -math.inf, 1e-9,
    1e308, "", "auto", "private", "x", "\ud800", b"x", [], [1.0, 2.0, 3.0], [math.nan] * 3,
    [doors.SECRET] * 3, [0.0] * 3, [1e308, -1e308, 1e308], [5e-324] * 3, {}, set(), object(), 1j,
    np.array(1.0), np.array([1]), np.array([[1.0]]), np.array(["a"]), np.float64(1), np.int64(2),
    np.bool_(True), np.datetime64("2020"), len, float, (1, 2), range(3),
]  # fmt: skip
ESTIMATORS = [
    DPPCA(),
    DPPCA(sign="winsor"),
    DPPCA(sign="trimmed", radius="quantile"),
    DPPCA(location=None, scale="private"),
    AnalyzeGauss(norm=5.0, center=np.zeros(3)),
    SGPCA(eigenvalues=[3.0, 2.0, 1.0]),
    NSGGD(n_iterations=5),
    SignCovariancePCA(location="pmwm"),
]
PLACES = [(pca, name) for pca in ESTIMATORS for name in pca.get_params() if name != "ledger"]


def fit_or_refuse(pca, **changes):
    """Fit, or a refusal that says something and quotes no cell; what it says."""
    refusal = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            type(pca)(**{**pca.get_params(), **changes}).fit(TABLE)
        except GdppcaError as error:
            refusal = error
    if refusal is None:
        return ""
    words = doors.said(refusal)
    assert str(refusal).strip()
    assert not [cell for cell in TABLE.ravel() if str(cell) in words]
    return words


def every_place(**unfit):
    """Every parameter of every estimator; what is known to be unfit must fail."""
    marks = {name: pytest.mark.xfail(reason=reason) for name, reason in unfit.items()}
    return pytest.mark.parametrize(
        ("pca", "name"),
        [pytest.param(pca, name, marks=marks.get(name, ())) for pca, name in PLACES],
        ids=[f"{type(pca).__name__}-{name}-{k}" for k, (pca, name) in enumerate(PLACES)],
    )


@every_place()
def test_one_hostile_parameter(pca, name):
    for value in HOSTILE:
        if name == "n_iterations" and isinstance(value, int) and value > 1e6:
            continue  # legal, and takes as long as it is asked to
        fit_or_refuse(pca, **{name: value})


# Whoever gives the table as a parameter, or a column of it, must not read a cell in the error.
_CANARY = "31337"
numbers = st.floats(0, 0.5).map(lambda part: float(_CANARY) + part)
columns = st.lists(numbers, min_size=1, max_size=4)
tables = st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d)))
words = st.lists(st.sampled_from(["paper", "auto", "private", _CANARY]), max_size=3)
KINDS = [list, tuple, np.array, pd.Series, pd.DataFrame, np.ma.array, pl.Series, set, iter,
         lambda rows: np.array(rows, dtype=object), lambda rows: {"a": rows}]  # fmt: skip


@every_place()
@settings(max_examples=25, phases=[Phase.generate])  # a shrunk table shows no more
@given(data=st.data())
def test_table_given_as_a_parameter(pca, name, data):
    rows = data.draw(columns | tables | words)
    try:
        value = data.draw(st.sampled_from(KINDS))(rows)
    except (TypeError, ValueError):
        return  # there is no such set, series or array
    said = fit_or_refuse(pca, **{name: value})
    assert _CANARY not in said
    assert not said or [each for each in pca.get_params() if f"`{each}" in said]


@settings(max_examples=200)
@given(st.sampled_from(ESTIMATORS), st.data())
def test_several_hostile_parameters(pca, data):
    names = [name for name in pca.get_params() if name not in ("ledger", "n_iterations")]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=4, unique=True))
    fit_or_refuse(pca, **{name: data.draw(st.sampled_from(HOSTILE)) for name in chosen})


@pytest.mark.parametrize(
    "changes",
    [{"epsilon": 10**400}, {"location": [10**400] * 3}],
    ids=["epsilon", "location"],
)
def test_integers_beyond_all_floats(changes):
    fit_or_refuse(DPPCA(), **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"delta": 5e-324, "calibration": "paper"},
        {"scale_share": 5e-324, "scale": "private"},
    ],
    ids=["delta", "scale_share"],
)
def test_denormal_parameters(changes):
    fit_or_refuse(DPPCA(), **changes)
