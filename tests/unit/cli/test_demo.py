"""The demonstration: real commands on a made-up table, whose components stand out."""

import csv
import shlex
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import Release
from gdppca.cli.demo import COMMANDS, PERSONS
from gdppca.cli.main import app
from gdppca.datasets import make_visits
from gdppca.privacy import Unit
from gdppca.releases import seen_spectrum


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "d[red] one"  # printed letter by letter


@pytest.fixture(scope="module")
def said(folder):
    result = CliRunner().invoke(app, ["demo", "-o", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output


def test_it_says_what_it_types_and_that_nobody_lived(said, folder):
    assert said.startswith(f"Made-up visits of {PERSONS:,} patients who never lived")
    assert f"$ cd {shlex.quote(str(folder))}" in said
    for line in COMMANDS.values():
        assert f"$ {line}\n" in said
    assert "NOT PRIVATE" in said  # check
    assert "What the noise cost" in said
    for name in (
        "visits.csv",
        "table.toml",
        "release.json",
        "components.png",
        "map.png",
        "report.html",
    ):
        assert f" {folder}/{name}\n" in said
        assert (folder / name).stat().st_size > 500
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Made-up visits of 4,000 patients who never lived" in page


def test_both_components_stand_out_and_are_the_two_that_were_made(said, folder):
    release = Release.load(folder / "release.json")
    assert release.guarantee.protects
    assert release.guarantee.unit is Unit.PERSON
    assert release.guarantee.epsilon == pytest.approx(1, rel=1e-3)
    assert release.n_samples == PERSONS
    seen = seen_spectrum(release)
    assert seen.clear >= 2
    assert seen.values[1] > 4 * seen.high
    heaviest = [
        set(np.array(release.feature_names)[np.abs(v).argsort()[-4:]]) for v in release.components
    ]
    assert {"crp", "leukocytes", "temperature", "albumin"} in heaviest
    assert any({"systolic", "diastolic"} <= four for four in heaviest)
    assert release.score_map.groups == ("cardiology", "infections", "surgery")


def test_it_runs_twice_and_says_that_it_overwrites(said, folder):
    before = (folder / "release.json").read_bytes()
    result = CliRunner().invoke(app, ["demo", "-o", str(folder)])
    assert result.exit_code == 0, result.output
    assert result.output.count("--force\n") == 2
    assert (folder / "release.json").read_bytes() != before


def test_table_has_persons_gaps_and_categories(said, folder):
    with (folder / "visits.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    often = Counter(Counter(row["patient"] for row in rows).values())
    assert set(often) == {1, 2, 3, 4, 5}
    assert sum(often.values()) == PERSONS
    empty = {name: np.mean([row[name] == "" for row in rows]) for name in rows[0]}
    assert 0.2 < empty["crp"] < 0.3
    assert max(empty[name] for name in ("patient", "ward", "age")) == 0
    assert {row["admission"] for row in rows} == {"planned", "emergency", "transfer", ""}
    assert min(float(row["age"]) for row in rows) >= 18
    assert "nan" not in (folder / "visits.csv").read_text(encoding="utf-8").lower()


def test_same_seed_gives_the_same_visits():
    first, second = (make_visits(50, random_state=1) for _ in range(2))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
