"""What a description is, what it refuses, and that a file keeps its meaning."""

import json
import tomllib
from dataclasses import replace
from datetime import date, datetime
from importlib import resources

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gdppca import DataError, Description, DescriptionError, ParameterError, describe
from gdppca.tables.description import TYPES, Column
from gdppca.tables.description_files import as_toml

WHOLE = """
[table]
person = "patient_id"
weight = "w"
largest_weight = 4.0
delimiter = ";"
decimal = ","
thousands = "."
encoding = "latin-1"
skip = 1
sheet = "Visits"
missing = ["", "NA"]

[columns.age]
type = "number"
typical = 50
spread = 20
unit = "years"
label = "Age at the visit"
missing = [-99, -98.0, -1.5]

[columns.ward]
type = "category"
levels = ["surgery", " medicine ", 3]

[columns.smokes]
type = "yes-no"
levels = ["nein", "ja"]

[columns.admitted]
type = "date"
origin = 2020-01-01
format = "%d.%m.%Y"
"""


def written(path, text):
    file = path / "table.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def whole(tmp_path):
    return Description.load(written(tmp_path, WHOLE))


# --- What is read ---------------------------------------------------------------------------------


def test_every_key_is_read(whole):
    assert (whole.person, whole.weight, whole.largest_weight) == ("patient_id", "w", 4.0)
    assert (whole.delimiter, whole.decimal, whole.thousands) == (";", ",", ".")
    assert (whole.encoding, whole.skip, whole.sheet) == ("latin-1", 1, "Visits")
    assert whole.missing == ("", "NA")
    age, ward, smokes, admitted = whole.columns
    assert (age.typical, age.spread, age.unit, age.label) == (50, 20, "years", "Age at the visit")
    assert ward.levels == ("surgery", "medicine", "3")
    assert smokes.levels == ("nein", "ja")
    assert (admitted.origin, admitted.format) == (date(2020, 1, 1), "%d.%m.%Y")


def test_codes_that_are_numbers_become_text_as_the_file_writes_it(whole):
    assert whole.columns[0].missing == ("-99", "-98", "-1,5")


def test_features_are_named_by_levels(whole):
    assert [feature.name for feature in whole.features] == [
        "age", "ward=surgery", "ward=medicine", "ward=3", "smokes", "admitted",
    ]  # fmt: skip


def test_a_file_keeps_its_meaning(whole, tmp_path):
    whole.save(tmp_path / "again.toml")
    assert Description.load(tmp_path / "again.toml") == whole


def test_plain_form_is_json_and_fits_the_schema(whole):
    plain = json.loads(json.dumps(whole.to_dict(), allow_nan=False))
    assert Description.from_dict(plain) == whole
    schema = resources.files("gdppca.tables").joinpath("schemas/description.json").read_text()
    Draft202012Validator.check_schema(json.loads(schema))
    Draft202012Validator(json.loads(schema)).validate(plain)
    types = json.loads(schema)["$defs"]["column"]["properties"]["type"]["enum"]
    assert tuple(types) == TYPES


def test_a_heading_alone_is_a_column_of_numbers(tmp_path):
    table = Description.load(written(tmp_path, "[columns.a]\n[columns.b]\n"))
    assert table == Description(columns=(Column(name="a"), Column(name="b")))
    assert table.missing == ("",)


def test_a_mark_of_windows_at_the_start_is_no_harm(tmp_path):
    file = tmp_path / "t.toml"
    file.write_bytes(b"\xef\xbb\xbf[columns.a]\r\ntype = 'number'\r\n")
    assert Description.load(file).columns[0].name == "a"


def test_values_of_python_are_written_alike():
    column = Column(name="a", levels=[" x ", 1.0], type="category", missing=(-99, -99.0, "-99"))
    assert (column.levels, column.missing) == (("x", "1"), ("-99",))
    day = Column(name="d", type="date", origin=datetime(2020, 1, 2, 3))
    assert day.origin == Column(name="d", type="date", origin="2020-01-02").origin
    assert isinstance(Column(name="n", typical=np.float32(2)).typical, float)


# --- What is refused ------------------------------------------------------------------------------

A = "[columns.a]\n"
REFUSED = {
    "no column": ("", "No column is described"),
    "no column in the section": ("[columns]\n", "No column is described"),
    "unknown section": ("[tabel]\nskip = 1\n" + A, "'tabel'. Did you mean `table`"),
    "key without a section": ("person = 'p'\n" + A, "'person'. It belongs below .table."),
    "unknown key of the table": ("[table]\ndelimeter = ';'\n" + A, "Did you mean `delimiter`"),
    "unknown key": (A + "levles = ['x', 'y']\n", "columns.a.*'levles'. Did you mean `levels`"),
    "misspelt levels": (A + "type='category'\nlevles = ['x', 'y']\n", "Did you mean `levels`"),
    "key of a table": (A + "person = 'x'\n", "columns.a.*It belongs below .table."),
    "key of a column": ("[table]\nspread = 2\n" + A, "table.*below its own heading"),
    "far key": (A + "zzzz = 1\n", "columns.a.*Known are `type`"),
    "no section": ("columns = 3\n", "columns.*Must be a section"),
    "no section of a column": ("[columns]\na = 3\n", "columns.a.*Must be a section"),
    "table is no section": ("table = 3\n" + A, "table.*Must be a section"),
    "type": (A + "type = 'numbr'\n", "columns.a.*`type` must be one of.*got 'numbr'"),
    "level twice": (A + "type='category'\nlevels = ['x', 'y', 'x']\n", "'x' stands twice in"),
    "level twice, trimmed": (A + "type='category'\nlevels = ['x', ' x']\n", "'x' stands twice"),
    "level twice, number": (A + "type='category'\nlevels = ['1', 1.0]\n", "'1' stands twice"),
    "empty level": (A + "type='category'\nlevels = ['x', ' ']\n", "level of `levels` is empty"),
    "one level": (A + "type='category'\nlevels = ['x']\n", "must be a list of at least two"),
    "level is a list": (A + "type='category'\nlevels = ['x', ['y']]\n", "`levels` must be"),
    "level is a flag": (A + "type='category'\nlevels = [true, false]\n", "`levels` must be"),
    "three words": (A + "type='yes-no'\nlevels = ['x', 'y', 'z']\n", "`levels` must be a list"),
    "level is a code": (
        "[table]\nmissing=['9']\n" + A + "type='category'\nlevels=['1', '9.0']\n",
        "'9.0' is also a code of `missing`",
    ),
    "levels of numbers": (A + "levels = ['x', 'y']\n", "`levels` is for columns of the types cat"),
    "origin of numbers": (A + "origin = '2020-01-01'\n", "`origin` is for dates"),
    "typical of a category": (
        A + "type='category'\nlevels = ['x', 'y']\ntypical = 1\n",
        "`typical` is for numbers and dates",
    ),
    "spread of yes-no": (A + "type='yes-no'\nspread = 1\n", "`spread` is for numbers and dates"),
    "no levels": (A + "type='category'\n", "Still to be filled in: `levels` in .columns.a."),
    "no origin": (A + "type='date'\n", "Still to be filled in: `origin` in .columns.a."),
    "origin": (A + "type='date'\norigin='1.1.2020'\n", "`origin` must be the day"),
    "origin is no day": (A + "type='date'\norigin='2020-02-30'\n", "`origin` is no day of the"),
    "origin is a time": (A + "type='date'\norigin=2020-01-01T00:00:00\n", "`origin` must be"),
    "format without a year": (
        A + "type='date'\norigin='2020-01-01'\nformat='%d.%m.'\n",
        "`format` must .*whole day",
    ),
    "format of one system": (
        A + "type='date'\norigin='2020-01-01'\nformat='%-d.%m.%Y'\n", "`format` must",
    ),
    "format": (A + "type='date'\norigin='2020-01-01'\nformat='%d.%m.%Y%'\n", "`format` must"),
    "spread": (A + "spread = 0\n", "`spread` must be a finite number > 0"),
    "spread is nan": (A + "spread = nan\n", "columns.a.*`spread` must be finite"),
    "typical": (A + "typical = inf\n", "columns.a.*`typical` must be finite"),
    "typical is text": (A + "typical = 'fifty'\n", "`typical` must be a finite number"),
    "typical is a flag": (A + "typical = true\n", "`typical` must be a finite number"),
    "typical is huge": (A + f"typical = 1{'0' * 400}\n", "`typical` must be finite"),
    "code is nan": (A + "missing = [nan]\n", "columns.a.*`missing` must be finite.*in quotes"),
    "code is a flag": (A + "missing = [true]\n", "`missing` must be a list of words"),
    "codes are no list": (A + "missing = 'NA'\n", "`missing` must be a list of words"),
    "long unit": (A + f"unit = '{'m' * 201}'\n", "`unit` must be a text of at most 200"),
    "lines in a label": (A + 'label = "a\\nb"\n', "`label` must be a text .* one line"),
    "end of a label": (A + 'label = "a\\n"\n', "`label` must be a text .* one line"),
    "letters that are none": (A + 'unit = "\\u007f"\n', "`unit` must be a text"),
    "person is analysed": ("[table]\nperson='a'\n" + A, "`person` is 'a', .* Delete .columns.a."),
    "weight is analysed": (
        "[table]\nweight='a'\nlargest_weight=2\n" + A,
        "`weight` is 'a', .* Delete .columns.a.",
    ),
    "person is the weight": (
        "[table]\nweight='p'\nperson='p'\nlargest_weight=2\n" + A,
        "both 'p'",
    ),
    "weight alone": ("[table]\nweight='w'\n" + A, "`weight` stands alone.*Give both"),
    "largest weight alone": ("[table]\nlargest_weight=2\n" + A, "`largest_weight` stands alone"),
    "largest weight": (
        "[table]\nweight='w'\nlargest_weight=0\n" + A,
        "`largest_weight` must be a finite number > 0, .*got 0",
    ),
    "infinite weight": (
        "[table]\nweight='w'\nlargest_weight=inf\n" + A,
        "`largest_weight` must be finite",
    ),
    "delimiter": ("[table]\ndelimiter=';;'\n" + A, "`delimiter` must be the one sign"),
    "delimiter is a letter": ("[table]\ndelimiter='x'\n" + A, "`delimiter` must be the one sign"),
    "delimiter is a line": ('[table]\ndelimiter="\\n"\n' + A, "`delimiter` must be the one sign"),
    "decimal": ("[table]\ndecimal='5'\n" + A, "`decimal` must be the one sign"),
    "decimal, thousands": (
        "[table]\ndecimal=','\nthousands=','\n" + A,
        "`decimal` and `thousands` are both ','",
    ),
    "usual decimal": ("[table]\nthousands='.'\n" + A, "both '.', which is usual for decimals"),
    "decimal, delimiter": (
        "[table]\ndecimal=','\ndelimiter=','\n" + A,
        "`decimal` and `delimiter` are both ','",
    ),
    "skip": ("[table]\nskip=-1\n" + A, "`skip` must be a whole number from 0.*got -1"),
    "skip is text": ("[table]\nskip='1'\n" + A, "`skip` must be a whole number"),
    "encoding": ("[table]\nencoding='utf-9'\n" + A, "`encoding` is none that is known"),
    "encoding of no text": ("[table]\nencoding='base64'\n" + A, "`encoding` is none that is known"),
    "names that collide": (
        "[columns.a]\ntype='category'\nlevels=['b', 'c']\n[columns.'a=b']\n",
        "'a' and 'a=b' would both give 'a=b'",
    ),
    "no name": ("[columns.'']\n", "name of a column is empty"),
    "blank name": ("[columns.' ']\n", "name of a column is empty"),
    "name twice": (A + A, "It is not TOML; look at line 2"),
    "no TOML": ("age,ward\n50,HIV\n", "It is not TOML; look at line 1"),
    "no end": ("[columns.a]\nunit = 'm\n", "It is not TOML"),
    "many digits": ("[columns.a]\ntypical = " + "1" * 5000, "It is not TOML"),
    "deep": ("a = " + "[" * 100_000, "It is not TOML"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_descriptions_name_file_key_and_remedy(case, tmp_path):
    text, said = REFUSED[case]
    file = written(tmp_path, text)
    with pytest.raises(DescriptionError, match=said) as refusal:
        Description.load(file)
    assert str(refusal.value).startswith(f"'{file}': ")
    assert isinstance(refusal.value, ParameterError)
    assert refusal.value.__cause__ is None


def test_a_table_in_place_of_its_description_is_not_quoted(tmp_path):
    file = written(tmp_path, "name,diagnosis\nSmith = 3,HIV+\n")
    with pytest.raises(DescriptionError) as refusal:
        Description.load(file)
    shown = "".join(map(str, (refusal.value, refusal.value.__context__)))
    assert "Smith" not in shown
    assert "HIV" not in shown


def test_other_letters_and_no_file_are_said(tmp_path):
    file = tmp_path / "t.toml"
    file.write_bytes("[columns.größe]".encode("latin-1"))
    with pytest.raises(DescriptionError, match="not UTF-8"):
        Description.load(file)
    with pytest.raises(DescriptionError, match=r"no such file\. Make one with gdppca describe"):
        Description.load(tmp_path / "other.toml")


def test_all_that_is_to_be_filled_in_is_named_at_once(tmp_path):
    columns = "".join(f"[columns.c{k}]\ntype = 'category'\nlevels = []\n" for k in range(10))
    file = written(tmp_path, columns + "[columns.d]\ntype='date'\norigin=''\n")
    with pytest.raises(DescriptionError, match=r"`levels` in \[columns.c0\].*and 3 more"):
        Description.load(file)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"columns": (Column(name="a"), Column(name="a"))}, "'a' stands twice"),
        ({"columns": (Column(name=3),)}, "must be a text"),
        ({"columns": (Column(name="a", type="text"),)}, "`type` must be one of"),
        ({"columns": (Column(name="a", spread=-1),)}, "`spread` must be"),
        ({"columns": (Column(name="a", spread=10**400),)}, "`spread` must be finite"),
        ({"columns": (Column(name="a", type="date", origin="soon"),)}, "`origin` must be"),
        ({"columns": (Column(name="a"),), "person": "a"}, "`person` is 'a'"),
        ({"columns": (Column(name="a"),), "skip": 1.5}, "`skip` must be"),
        ({"columns": (Column(name="a"),), "weight": "w"}, "`weight` stands alone"),
    ],
)
def test_descriptions_made_in_python_follow_the_same_rules(fields, said):
    with pytest.raises(DescriptionError, match=said):
        Description(**fields)


def test_one_word_is_no_list_of_words():
    with pytest.raises(DescriptionError, match="`levels` must be a list"):
        Column(name="a", type="category", levels="ab")


@pytest.mark.parametrize("plain", [None, 3, [], "x", {}, {"columns": []}, {"columns": {"a": []}}])
def test_what_is_no_description_is_refused(plain):
    with pytest.raises(DescriptionError):
        Description.from_dict(plain)


def test_many_columns_that_are_alike_are_checked_one_by_one():
    columns = {f"c{k}": {"typical": 1} for k in range(50)}
    for name, said in (("c49", "columns.c49.*`typical`"), (" ", "name of a column is empty")):
        with pytest.raises(DescriptionError, match=said):
            Description.from_dict({"columns": columns | {name: {"typical": "x"}}})
    with pytest.raises(DescriptionError, match="name of a column is empty"):
        Description.from_dict({"columns": columns | {"\ud800": {"typical": 1}}})


# --- Templates ------------------------------------------------------------------------------------


@pytest.fixture
def visits(tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text("PatientID,age,pulse\nx,HIV,1\n")
    return file


def test_describe_asks_the_header_alone(visits):
    table = describe(visits)
    assert [(column.name, column.type) for column in table.columns] == [
        ("PatientID", "number"), ("age", "number"), ("pulse", "number"),
    ]  # fmt: skip
    visits.write_text("PatientID,age,pulse\n")
    assert describe(visits) == table


def test_a_person_is_proposed_in_a_comment_and_never_chosen(visits):
    text = as_toml(describe(visits))
    assert '# person = "PatientID"' in text.splitlines()
    assert tomllib.loads(text)["table"] == {"missing": [""]}
    told = tomllib.loads(as_toml(describe(visits, person="PatientID")))
    assert told["table"]["person"] == "PatientID"
    assert list(told["columns"]) == ["age", "pulse"]
    with pytest.raises(DataError, match="no column 'patient' for `person`"):
        describe(visits, person="patient")


def test_examples_in_comments_are_toml(visits):
    lines = as_toml(describe(visits)).splitlines()
    examples = [line[2:] for line in lines if line.startswith("# ") and line[2:3].isalpha()]
    keys = [line.partition(" = ")[0] for line in examples if " = " in line]
    assert {"person", "weight", "largest_weight", "delimiter", "decimal", "skip"} <= set(keys)
    tomllib.loads("\n".join(line for line in examples if " = " in line))


def test_declared_types_are_taken_over(visits, monkeypatch):
    kinds = {"a": "number", "b": "yes-no", "c": "date", "d": "text", "e": ""}
    monkeypatch.setattr("gdppca.tables.describing._declared", lambda *_: kinds)
    table = describe(visits)
    types = [column.type for column in table.columns]
    assert types == ["number", "yes-no", "date", "category", "number"]
    assert table.to_fill_in == (("c", "origin"), ("d", "levels"))
    for use in (lambda: table.features, table.require_complete):
        with pytest.raises(DescriptionError, match=r"`levels` in \[columns.d\]"):
            use()


def test_a_template_says_what_is_to_be_filled_in(tmp_path):
    file = tmp_path / "t.toml"
    Description(columns=(Column(name="the ward", type="category"),)).save(file)
    assert "TO BE FILLED IN: levels" in file.read_text()
    with pytest.raises(DescriptionError, match=r"t.toml.*`levels` in \[columns.\"the ward\"\]"):
        Description.load(file)
    file.write_text(file.read_text().replace("levels = []", "levels = ['x', 'y']"))
    assert Description.load(file).columns[0].levels == ("x", "y")


def test_types_of_tables_in_memory_are_not_taken():
    with pytest.raises(DataError, match="takes the name of a file, got dict"):
        describe({"a": [1]})


# --- Any description ------------------------------------------------------------------------------

letters = st.characters(exclude_categories=["Cs"])
names = st.text(letters, min_size=1, max_size=12).filter(str.strip)
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12
).filter(lambda word: word.strip(" \t"))  # fmt: skip
finite = st.floats(allow_nan=False, allow_infinity=False)
said = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
FORMATS = ["", "%d.%m.%Y", "%Y%m%d", "%m/%d/%y %H:%M", "%j '%Y'"]


@st.composite
def any_columns(draw, name):
    kind = draw(st.sampled_from(TYPES))
    told = {"unit": draw(said), "label": draw(said), "missing": draw(st.lists(words, max_size=2))}
    if kind in ("number", "date"):
        told["typical"] = draw(st.none() | finite)
        told["spread"] = draw(st.none() | st.floats(1e-300, 1e300))
    if kind == "date":
        told |= {"origin": draw(st.dates()), "format": draw(st.sampled_from(FORMATS))}
    many = {"category": (2, 4), "yes-no": draw(st.sampled_from([(0, 0), (2, 2)]))}.get(kind, (0, 0))
    trimmed = words.map(lambda word: word.strip(" \t"))
    levels = draw(st.lists(trimmed, min_size=many[0], max_size=many[1], unique=True))
    return Column(name=name, type=kind, levels=levels, **told)


@st.composite
def descriptions(draw):
    named = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    columns = [draw(any_columns(name)) for name in named]
    beside = names.filter(lambda name: name not in named)
    weight = draw(st.none() | beside)
    told = {
        "person": draw(st.none() | beside.filter(lambda name: name != weight)),
        "weight": weight,
        "largest_weight": None if weight is None else draw(st.floats(1e-300, 1e300)),
        "missing": draw(st.lists(words, max_size=3)),
        "delimiter": draw(st.sampled_from([None, ";", "\t", "|", "\x01"])),
        "decimal": draw(st.sampled_from([None, ",", "·"])),
        "thousands": draw(st.sampled_from([None, " ", "'", "\xa0"])),
        "encoding": draw(st.sampled_from([None, "latin-1", "UTF-16"])),
        "skip": draw(st.integers(0, 10)),
        "sheet": draw(st.none() | words),
    }
    try:
        return Description(columns=columns, **told)
    except DescriptionError:  # a level that is a code, or names that collide
        hypothesis.reject()


@hypothesis.settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture,
        hypothesis.HealthCheck.too_slow,
    ],
)
@given(table=descriptions())
def test_whatever_is_saved_is_loaded(table, tmp_path):
    file = tmp_path / "table.toml"
    table.save(file)
    again = Description.load(file)
    assert again == table
    assert [column.name for column in again.columns] == [column.name for column in table.columns]
    assert Description.from_dict(json.loads(json.dumps(table.to_dict()))) == table


@pytest.mark.parametrize(
    "name",
    [
        *('a"b', "a.b", "a\nb", "a]b", "#", "ä ö", "'", "\\", "\x7f", "\x00", "a = 1", "{{ x }}"),
        *("{%", "a\u2028"),
    ],
)  # fmt: skip
def test_odd_names_are_escaped(name, tmp_path):
    table = Description(columns=(Column(name=name), Column(name="id" + name)), person=name + "p")
    table.save(tmp_path / "t.toml")
    assert Description.load(tmp_path / "t.toml") == table
    with pytest.raises(DescriptionError):
        replace(table, person=name)
