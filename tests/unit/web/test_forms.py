"""What was typed, as values, and errors by the labels of fields."""

import pytest

from gdppca import ParameterError
from gdppca.web import forms
from gdppca.web.drafts import Budget, Draft
from gdppca.web.pages.budget import typed_of
from gdppca.web.running import Job, Stage
from gdppca.web.words import in_fields, lasting


@pytest.fixture
def draft(tmp_path):
    made = Draft(id="x", name="t.csv", file=tmp_path / "t.csv")
    made.names = dict.fromkeys(["who", "age", "ward", "day"], "")
    made.counting = Job("count", None, Stage.DONE)
    made.counting.answer = {"n_samples": 100, "n_features": 4, "supply": "TABLE"}
    return made


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), ("1,5", 1.5), (" 2 ", 2), ("−3", -3), ("", None)]
)
def test_numbers_are_read_as_people_write_them(text, value):
    assert forms.number({"x": text}, "x", "X") == value


@pytest.mark.parametrize("text", ["a", "1e999", "nan", "1;2"])
def test_what_is_no_number_is_told_by_its_label(text):
    with pytest.raises(ParameterError, match="“Share” must be a number"):
        forms.number({"x": text}, "x", "Share")


@pytest.mark.parametrize("text", ["a\nb c\n", "a, b c", "a;b c"])
def test_lists_are_lines_or_one_line(text):
    assert forms.listed(text) == ("a", "b c")


def test_columns_become_a_description_and_back(draft):
    draft.person = "who"
    typed = {
        "use-1": "yes", "type-1": "number", "typical-1": "50", "unit-1": "years",
        "use-2": "yes", "type-2": "category", "levels-2": "a\nb", "missing-2": "-9",
        "use-3": "yes", "type-3": "date", "origin-3": "2020-01-01", "format-3": "%d.%m.%Y",
        "codes": "NA, -99",
    }  # fmt: skip
    told = forms.described(draft, typed)
    assert [column.name for column in told.columns] == ["age", "ward", "day"]
    assert told.missing == ("", "NA", "-99")
    assert told.person == "who"
    again = forms.described(draft, forms.typed_of(told, draft.names))
    assert again == told


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "At least one column"),
        ({"use-2": "yes", "type-2": "category"}, "ward"),
        ({"use-1": "yes", "typical-1": "x"}, "Typical value of age"),
        ({"use-1": "yes", "weight": "ward"}, "go together"),
        ({"use-1": "yes", "weight": "age", "largest_weight": "2"}, "cannot be a weight"),
    ],
)
def test_columns_that_cannot_be_are_told(draft, typed, said):
    with pytest.raises(ParameterError, match=said):
        forms.described(draft, typed)


def test_a_budget_survives_the_form(draft):
    chosen = Budget(
        epsilon=0.5, delta=1e-7, scales=True, score_map=0.2, groups="ward=a,b", dataset="d"
    )
    assert forms.budget(draft, typed_of(chosen), usual=Budget()) == chosen


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"epsilon": "0"}, "Privacy loss ε"),
        ({"epsilon": "1000"}, "at most 50"),
        ({"delta": "2"}, "Privacy δ"),
        ({"components": "9"}, "at most 4"),
        ({"components": "1.5"}, "whole number"),
        ({"variances": "120"}, "between 0 and 100"),
        ({"group_column": "ward", "group_names": "a"}, "at least two"),
    ],
)
def test_budgets_that_cannot_be_are_told(draft, typed, said):
    with pytest.raises(ParameterError, match=said):
        forms.budget(draft, typed, usual=Budget())


@pytest.mark.parametrize(
    ("number", "slider", "was", "epsilon"),
    [
        ("1", "1", "1", 1.0),
        ("1", "2.5", "1", 2.5),  # the slider was moved, and no script copied it
        ("3", "1", "1", 3.0),
        ("0.05", "0.1", "0.05", 0.05),  # the slider ends above
        ("0.55", "0.6", "0.55", 0.55),
    ],
)
def test_slider_and_number_agree_without_a_script(draft, number, slider, was, epsilon):
    typed = {"epsilon": number, "epsilon_slider": slider, "epsilon_was": was}
    assert forms.budget(draft, typed, usual=Budget()).epsilon == epsilon


@pytest.mark.parametrize(
    ("python", "page"),
    [
        (
            "give --delimiter ';', or delimiter = \";\" in the description.",
            "give “Sign between cells” ';'.",
        ),
        (
            "Give its encoding (--encoding, or encoding in the description), such as latin-1",
            "Give its encoding (“Letters”), such as latin-1",
        ),
        ("`epsilon` must be > 0", "“Privacy loss ε” must be > 0"),
        ("`scale='private'` needs", "“Column scales” needs"),
        ("a `strange` word stays", "a `strange` word stays"),
    ],
)
def test_messages_name_fields(python, page):
    assert in_fields(python) == page


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "a few seconds"), (44, "about 40 seconds"), (600, "about 10 minutes")],
)
def test_spans_of_time_in_words(seconds, words):
    assert lasting(seconds) == words
