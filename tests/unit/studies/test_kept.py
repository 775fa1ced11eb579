"""Kept results: whole, told of truly, and compared as a whole."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gdppca.studies import STUDIES
from gdppca.studies.kept import FILES, FOLDER, agreement, keep, kept_result, told_agreement
from gdppca.studies.looks import look_of
from gdppca.studies.results import as_csv, read_csv
from gdppca.studies.verdicts import judge

KEPT = [name for name in STUDIES if kept_result(name)]


def table(seed, cells=200, runs=100, shift=0.0):
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0.5, 0.1, size=(cells, runs))
    drawn[0] += shift
    return [
        {"method": "m", "n": k, "mean": x.mean(), "se": x.std(ddof=1) / runs**0.5, "runs": runs}
        for k, x in enumerate(drawn)
    ]


def test_honest_tables_agree_and_one_wrong_cell_is_found():
    for seed in range(1, 6):
        assert agreement(table(0), table(seed)).agrees
    found = agreement(table(0), table(1, shift=0.1))  # seven standard errors of the difference
    assert not found.agrees
    assert "200 means" in found.words


def test_honest_tables_seldom_disagree():
    """At most 1 % by design: 400 pairs of tables, of which 16 have odds below 1e-5."""
    wrong = sum(not agreement(table(2 * k), table(2 * k + 1)).agrees for k in range(400))
    assert wrong < 16


def test_means_without_an_error_must_be_equal():
    once = [{"method": "q", "d": 25, "mean": 2.0, "se": 0.0, "runs": 1}]
    assert agreement(once, once).agrees
    assert not agreement(once, [once[0] | {"mean": 2.1}]).agrees
    assert not agreement(once, [once[0] | {"d": 50}]).agrees


@pytest.mark.parametrize("name", KEPT)
def test_kept_verdicts_are_those_of_the_kept_table(name):
    kept = kept_result(name)
    found = [verdict.to_dict() for verdict in judge(name, kept.summary)]
    assert found == kept.about["verdicts"]
    assert kept.about["form"] == "full"
    assert {row["runs"] for row in kept.summary} == {kept.about["runs"]}
    assert {row["method"] for row in kept.summary} == set(STUDIES[name].methods)
    assert read_csv(as_csv(kept.summary).decode()) == kept.summary
    assert agreement(kept.summary, kept.summary).agrees


def test_the_papers_studies_are_kept():
    assert set(KEPT) == set(STUDIES)


def test_only_full_runs_are_kept(tmp_path):
    source = tmp_path / "studies" / "E2"
    source.mkdir(parents=True)
    for file in FILES:
        (source / file).write_bytes((FOLDER / "E2" / file).read_bytes())
    kept = tmp_path / "kept"
    assert "E2: kept (full form, 100 runs" in "\n".join(keep(tmp_path / "studies", kept))
    assert (kept / "E2" / "summary.csv").exists()
    about = json.loads((source / "verdict.json").read_text()) | {"form": "quick"}
    (source / "verdict.json").write_text(json.dumps(about))
    told = "\n".join(keep(tmp_path / "studies", tmp_path / "other"))
    assert "gives no verdict" in told
    assert "E3: not finished" in told
    assert not (tmp_path / "other").exists()


def test_full_run_is_told_beside_the_kept_one(tmp_path):
    kept = kept_result("E2")
    assert "agrees with the kept one" in told_agreement("E2", kept.about, kept.summary)
    worse = [kept.summary[0] | {"mean": 0.99, "se": 0.001}, *kept.summary[1:]]
    assert "does NOT agree" in told_agreement("E2", kept.about, worse)
    assert str(tmp_path) in told_agreement("E2", kept.about, kept.summary, tmp_path)


def test_page_has_every_sentence_a_reason_where_one_is_not_seen_and_the_table(tmp_path):
    docs = Path(__file__).parents[3] / "docs"
    sys.path.insert(0, str(docs))
    try:
        import paper_pages
    finally:
        sys.path.remove(str(docs))
    paper_pages.write(tmp_path / "auto_paper")
    page = (tmp_path / "auto_paper" / "index.md").read_text()
    for name in KEPT:
        for verdict in kept_result(name).about["verdicts"]:
            assert verdict["sentence"] in page
            assert verdict["numbers"] in page
        assert (tmp_path / "auto_paper" / f"{name}.svg").exists()
    assert "| E2 | ε = 0.5, Gaussian, d = 5, n = 2000 |" in page


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in ("E6", "E12")])
def test_no_two_methods_look_alike_in_grey(name):
    methods = STUDIES[name].methods
    looks = [look_of(method, methods) for method in methods]
    shapes = [(look.marker, look.line, look.filled == "white") for look in looks if look.label]
    assert len(set(shapes)) == len(shapes)
