"""How `gdppca plan` speaks."""

import json

import pytest

from gdppca import DPPCA, ParameterError
from gdppca.cli.planning import show_plan


def words(capsys):
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_plan_is_told_in_plain_words(capsys):
    show_plan(2000, 10, epsilon=0.5, location="none", target=0.1)
    told = words(capsys)
    assert "2000 rows, 10 columns, epsilon = 0.5, delta = 1e-06; pairs of rows" in told
    assert "2 components will stand above the noise." in told
    assert "assumed because no spectrum was given" in told
    assert "Nothing is spent: no row was seen." in told
    assert all(way in told for way in ("pairs of rows", "private centre", "public centre"))
    assert "█" in told
    assert "would bring sin Θ to 0.1. At the planned budget," in told


def test_target_out_of_reach_is_said_to_be(capsys):
    show_plan(500, 5, epsilon=4, location="none", spectrum="spiked:3,2", target=0.02)
    told = words(capsys)
    assert "No epsilon brings sin Θ to 0.02 with 500 rows. At the planned budget," in told


def test_private_centre_that_few_rows_do_not_allow(capsys):
    show_plan(300, 5, epsilon=0.3, location="private")
    told = words(capsys)
    assert "private centre (doubtful)" in told
    assert "how far the rows are from the origin" in told


def test_shares_and_doubts_are_told(capsys):
    show_plan(
        200, 5, epsilon=0.5, location="none", scale="private", sign="trimmed", radius="quantile",
        score_map=0.2,
    )  # fmt: skip
    told = words(capsys)
    assert "the score map takes 20 % and the radius takes 5 %" in told
    assert "the scales take 20 % and the matrix gets 80 %" in told
    assert "needs more than 200 rows at this budget: noise would win over the scales" in told


def test_json_is_json_and_nothing_else(capsys):
    show_plan(1000, 5, target=0.2, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["n_samples"] == 1000
    assert told["statistic"] == "private centre"
    assert set(told["ways"]) == {"pairs of rows", "private centre", "public centre"}
    assert len(told["curve"]["epsilon"]) == len(told["curve"]["sin_theta"])
    assert 0 < told["required"]["epsilon"] < 1
    assert told["target"] == 0.2
    assert (told["sign"], told["scales"], told["doubts"]) == ("spherical", "none", [])
    assert "the search for a centre takes about" in told["budget"]


def test_release_serves_as_spectrum_and_plot_is_drawn(rng, tmp_path, capsys):
    X = rng.normal(size=(3000, 4)) * [3, 2, 1, 1]
    DPPCA(2, location=None, random_state=0).fit(X).release_.save(tmp_path / "release.json")
    show_plan(
        1000, 4, spectrum=str(tmp_path / "release.json"), plot=tmp_path / "p.svg", location="none"
    )
    told = words(capsys)
    assert "the variances behind a release of 3000 rows" in told
    assert "p.svg" in told
    assert (tmp_path / "p.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 2.0}, "`target`"),
        ({"spectrum": "spiked:"}, "spiked:10,5"),
        ({"location": "mean"}, "`location`"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        show_plan(1000, 5, **options)


def test_plot_must_be_a_picture(tmp_path):
    with pytest.raises(ParameterError, match="must end in"):
        show_plan(1000, 5, plot=tmp_path / "plot.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("epsilon", [0.3, float("inf")])
def test_any_budget_has_a_curve(epsilon, capsys):
    show_plan(500, 3, epsilon=epsilon, components=1)
    assert "Error against epsilon" in words(capsys)
