"""Every voice stays true whoever is protected, against what, and with whichever cells missing."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from kinds import DESCRIPTION, KINDS, NAMES, RATES, WARD, made
from voices import on_a_terminal, plainly

from gdppca.plots import biplot_figure, release_figure
from gdppca.plots.scores import score_figure
from gdppca.plots.style import column_labels
from gdppca.privacy import GaussianEvent
from gdppca.releases import ScoreMap
from gdppca.releases.described import check_description, described, variable_loadings
from gdppca.releases.words import how_many, pairs_in_words
from gdppca.report import registry_record, render

RANDOM = "cells are missing completely at random"
HOSTILE = "<script>alert(1)</script>"


def voices(release):
    record = json.dumps(registry_record(release))
    page = plainly(render(release))
    return (page, on_a_terminal(release), plainly(release._repr_html_()), repr(release), record)


@pytest.mark.parametrize(("unit", "neighbors"), KINDS)
@pytest.mark.parametrize("rates", [None, RATES], ids=["whole", "gaps"])
def test_what_is_counted_is_called_what_it_is(unit, neighbors, rates):
    release = made(unit, neighbors, rates=rates, described=True)
    other = "row" if unit == "person" else "person"
    for voice in voices(release):
        assert f"2000 {unit}s" in voice.replace("2,000", "2000")
        assert f"2000 {other}s" not in voice.replace("2,000", "2000")
        assert ("an estimate" in voice) is (neighbors == "add-remove")
        assert (RANDOM in voice) is (rates is not None)
    for voice in voices(release)[:3]:
        assert ("one row" in voice) is (unit == "row")
        assert ("all rows of" in voice) is (unit == "person")


@pytest.mark.parametrize(("unit", "neighbors"), KINDS)
def test_the_page_tells_what_is_public_of_the_size(unit, neighbors):
    page = plainly(render(made(unit, neighbors)))
    assert (f"The number of {unit}s and the names of the columns." in page) is (
        neighbors == "replace-one"
    )
    assert ("is an estimate from noisy numbers" in page) is (neighbors == "add-remove")
    assert ("The number of rows does not: it is protected and stands nowhere." in page) is (
        (unit, neighbors) == ("person", "replace-one")
    )
    assert ("is this person ill" in page) is (neighbors == "replace-one")
    assert ("may gain more" in page) is (neighbors == "add-remove")


@pytest.mark.parametrize(
    ("kind", "whom", "near"),
    [
        (("row", "replace-one"), "One row of the table", "one row is replaced by any other"),
        (("row", "add-remove"), "One row of the table", "has one row more"),
        (("person", "replace-one"), "One person, with all", "all rows of one person are replaced"),
        (("person", "add-remove"), "One person, with all", "has one person more"),
    ],
)
def test_the_record_has_unit_and_neighbours(kind, whom, near):
    deployment = registry_record(made(*kind, rates=RATES, described=True))["deployment"]
    loss, variant = deployment["privacy_loss"], deployment["dp_variant"]
    assert loss["privacy_unit"].startswith(whom)
    assert near in loss["privacy_unit_details"]
    assert kind[1] in loss["privacy_unit_details"]
    secret = kind[1] == "add-remove"
    assert (f"the number of {kind[0]}s" in variant["unprotected_quantities"]) is not secret
    assert ("Tables of any number of" in variant["data_domain"]) is secret
    assert "cells may be missing" in variant["data_domain"]


def test_a_large_delta_is_told_in_the_unit():
    person = made("person", "add-remove", n=50)
    page = plainly(render(replace(person, guarantee=replace(person.guarantee, delta=0.05))))
    assert "not below one over the estimated number of persons" in page
    assert "giving away all rows of one person could pass" in page
    assert "Every person in this table is protected with all of their rows, but only weakly" in page


@pytest.mark.parametrize("scheme", ["all", "halves", "blocks", "one-sample", "merged"])
def test_persons_are_compared_with_others_and_not_with_themselves(scheme):
    described = {"name": scheme, "size": 16, "groups": 3}
    told = pairs_in_words(replace(made("person"), scheme=described))
    assert "person" in told


def test_one_person_is_one():
    assert how_many(replace(made("person"), n_samples=1)) == "1 person"
    assert how_many(made("person", "add-remove"), ",") == "about 2,000 persons (an estimate)"


def test_labels_and_units_stand_beside_names():
    page = plainly(render(made(described=True)))
    for said in (
        "Age at the visit, in years",
        "Smoker, 0 is never, 1 is ever",
        "Ward: intensive care",
        "days since 2020-01-01",
        "A column of yes or no counts one answer as 0",
        "A category has one column for each of its levels",
        "The description of the table.",
    ):
        assert said in page
        assert said not in plainly(render(made()))
    assert "Age at the visit, in years" in plainly(made(described=True)._repr_html_())


def test_levels_are_summed_up_per_variable():
    release = made(described=True)
    names, sizes = variable_loadings(release)
    assert names == ("age", "smoker", "ward", "admitted", "pulse")
    np.testing.assert_allclose(np.sum(sizes**2, axis=1), 1.0)
    exact = np.linalg.norm(release.components[:, 2:5], axis=1)
    np.testing.assert_allclose(sizes[:, 2], exact)
    page = plainly(render(release).split("Sizes of whole variables")[-1].replace("<", " <"))
    assert f"{exact[0]:.2f}" in page
    assert "Ward, 3 levels" in page
    assert "Sizes of whole variables" not in render(made())


def test_rates_have_a_table():
    page = render(made(rates=RATES, described=True))
    table = page.split('id="missing"')[1].split("</table>")[0]
    assert table.count("<tr>") == 1 + len(NAMES)
    assert "40\N{NO-BREAK SPACE}%" in table
    assert "where high values go missing more often" in plainly(table)
    assert 'href="#missing"' in page
    assert 'id="missing"' not in render(made())


def test_equal_rates_are_one_number():
    [doubt] = made(rates=np.full(len(NAMES), 0.8)).doubts
    assert plainly(doubt).startswith(
        "Cells are missing: about 80 % of each column are there, give or take 2.7 points. This"
    )


def hostile():
    """A description in which everything that can be a script is one."""
    said = copy.deepcopy(DESCRIPTION)
    for column in said["columns"].values():
        column.update(label=HOSTILE, unit=HOSTILE)
    said["columns"]["smoker"]["levels"] = [HOSTILE, f"{HOSTILE}!"]
    said["columns"]["ward"]["levels"] = [HOSTILE, "b", "c"]
    names = (NAMES[0], NAMES[1], f"ward={HOSTILE}", "ward=b", "ward=c", *NAMES[5:])
    release = replace(made(rates=RATES), description=said, feature_names=names)
    check_description(said, names)
    return release


def test_hostile_words_of_a_description_stay_text():
    release = hostile()
    for markup in (render(release), release._repr_html_()):
        assert "<script>alert" not in markup
        assert "&lt;script&gt;alert" in markup


@pytest.mark.parametrize("draw", [biplot_figure, release_figure])
def test_pictures_take_labels(draw):
    figure = draw(made(described=True))
    figure.canvas.draw()
    shown = [text.get_text() for axes in figure.axes for text in axes.texts]
    shown += [tick.get_text() for axes in figure.axes for tick in axes.get_yticklabels()]
    assert "Age at the visit" in shown
    assert "Ward: medicine" in shown
    assert "age" not in shown


def test_a_long_name_keeps_its_level():
    said = copy.deepcopy(DESCRIPTION)
    said["columns"]["ward"]["label"] = "Ward on the day of admission"
    labels = column_labels(replace(made(), description=said))
    assert labels[2] == "Ward on the …: surgery"
    assert labels[4].endswith("intensive…") or labels[4].endswith("care")
    assert all(len(label) <= 22 for label in labels)
    assert column_labels(made())[2:4] == ("ward=surgery", "ward=medicine")


def test_labels_that_would_look_the_same_are_names():
    said = copy.deepcopy(DESCRIPTION)
    said["columns"]["age"]["label"] = said["columns"]["pulse"]["label"] = "Value"
    labels = column_labels(replace(made(), description=said))
    assert (labels[0], labels[6]) == ("age", "pulse")


def test_columns_that_a_description_does_not_know_keep_their_names():
    strangers = replace(made(described=True), feature_names=tuple("abcdefg"))
    assert [each.words for each in described(strangers)] == [""] * 7
    assert "Which columns matter" in render(strangers)


@pytest.mark.parametrize("unit", ["row", "person"])
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_maps_count_what_is_protected(unit, neighbors):
    release = made(unit, neighbors)
    drawn = GaussianEvent(purpose="score map", noise_multiplier=5.0)
    shown = ScoreMap(
        axes=(0, 1),
        x_edges=np.arange(4.0),
        y_edges=np.arange(4.0),
        groups=None,
        counts=np.full((1, 3, 3), 50),
        outside=np.array([2]),
        n_samples=2000,
        kind="dense",
        noise_sd=5.0,
        threshold=0,
        guarantee=replace(release.guarantee, events=(drawn,)),
    )
    page = plainly(render(replace(release, score_map=shown)))
    assert f"The map counts the {unit}s in 3 × 3 cells" in page
    assert f"All {unit}s: about 450 inside" in page
    assert ("A person counts as one in all" in page) is (unit == "person")
    figure = score_figure(shown)
    assert f"{unit}s in a cell, with noise" in [axes.get_ylabel() for axes in figure.axes]


def test_the_description_may_leave_out_what_it_likes():
    bare = {"table": {}, "columns": {"a": {}, "b": {"type": "yes-no"}, "c": {"type": "date"}}}
    check_description(bare, ["a", "b", "c"])
    release = replace(made(), description=bare, feature_names=("a", "b", "c", *NAMES[3:]))
    assert [each.words for each in described(release)[:3]] == ["", "0 is no, 1 is yes", "days"]
    assert WARD[0] in described(made(described=True))[2].words
