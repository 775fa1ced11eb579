"""A plan from a description of the table: columns, persons, and what is publicly known of them."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from gdppca import DPPCA, Description, ParameterError
from gdppca.cli.main import app
from gdppca.planning import plan

TOLD = {
    "table": {"person": "patient"},
    "columns": {
        "age": {"typical": 50, "spread": 20},
        "pulse": {"typical": 70, "spread": 10},
        "smoker": {"type": "yes-no"},
        "ward": {"type": "category", "levels": ["surgery", "medicine", "icu"]},
    },
}


@pytest.fixture
def table():
    return Description.from_dict(TOLD)


def test_columns_and_persons_come_from_the_description(table):
    ahead = plan(312, description=table)
    assert (ahead.n_features, ahead.unit) == (6, "person")  # a level is a column
    assert plan(312, description=table, unit="row").unit == "row"
    assert DPPCA(2).plan(312, description=table).n_features == 6
    assert plan(312, 6).unit == "row"


def test_another_number_of_columns_is_refused(table):
    with pytest.raises(ParameterError, match=r"`n_features` is 4.*makes 6 columns.*each level"):
        plan(312, 4, description=table)
    with pytest.raises(ParameterError, match="`n_features` must be"):
        plan(312)
    with pytest.raises(ParameterError, match="`description` must be"):
        plan(312, description=5)


def test_what_is_known_saves_budget(table):
    told = plan(2000, description=table, scale="private", unit="row")
    blind = plan(2000, 6, scale="private")
    assert told.sin_theta < 0.8 * blind.sin_theta
    assert told.case.centre_share < blind.case.centre_share
    assert not told.doubtful
    assert told.scales == "private"
    assert any("within a factor of two" in line for line in told.sentences)
    assert not any("within a factor of two" in line for line in blind.sentences)


def test_guesses_are_planned_where_nothing_could_be_measured(table):
    assert plan(312, 6, scale="private").doubts
    assert not any(
        "scale" in doubt for doubt in plan(312, description=table, scale="private").doubts
    )


def test_a_plan_of_a_description_is_that_of_the_fit(table, rng):
    n = 400
    frame = pd.DataFrame(
        {
            "patient": np.arange(n) // 2,
            "age": rng.normal(50, 20, n),
            "pulse": rng.normal(70, 10, n),
            "smoker": rng.choice(["yes", "no"], n),
            "ward": rng.choice(["surgery", "medicine", "icu"], n),
        }
    )
    pca = DPPCA(2, scale="private", random_state=0)
    ahead = pca.plan(n // 2, description=table)
    release = pca.fit_release(frame, description=table, plan=ahead.to_dict())
    assert release.n_features == ahead.n_features
    first = {event.purpose for event in release.guarantee.events}
    assert {event.purpose for event in ahead.events} == first


def test_weights_of_a_description_are_planned_around_a_centre(table):
    told = Description.from_dict(
        {"table": {"weight": "w", "largest_weight": 4.0}, "columns": {"a": {}, "b": {}, "c": {}}}
    )
    ahead = plan(2000, description=told)
    assert ahead.way == "private centre"
    assert any("largest weight" in line for line in ahead.sentences)
    with pytest.raises(ParameterError, match="compares rows with a centre"):
        plan(2000, description=told, location=None)


def test_the_command_takes_a_table(table, tmp_path):
    file = tmp_path / "table.toml"
    table.save(file)
    asked = ["plan", "--rows", "312", "--table", str(file)]
    result = CliRunner().invoke(app, [*asked, "--json"])
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert (plain["n_features"], plain["unit"]) == (6, "person")
    refused = CliRunner().invoke(app, [*asked, "--columns", "4"])
    assert refused.exit_code == 2
    assert "`--columns` is 4" in " ".join(refused.output.split())
    nothing = CliRunner().invoke(app, asked[:3])
    assert "Give `--columns`, or a description" in " ".join(nothing.output.split())
