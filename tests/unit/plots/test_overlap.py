"""No text covers another or leaves the paper, measured by the boxes of what is drawn."""

import math
from dataclasses import replace

import numpy as np
import pytest
from drawn_texts import drawn_texts, outside, overlapping

from gdppca import DPPCA, ParameterError
from gdppca.planning import plan
from gdppca.plots import (
    biplot,
    biplot_figure,
    loadings,
    release_figure,
    score_figure,
    score_heatmap,
    score_points,
    scree,
)
from gdppca.plots.audit import audit_figure, score_distributions, trade_off
from gdppca.plots.curve import error_curve, plan_figure
from gdppca.plots.labels import places
from gdppca.plots.style import column_labels, new_figure
from gdppca.releases import heaviest_columns, score_map

WARDS = ["ward=surgery", "ward=medicine", "a very long name of a ward that nobody would cut", "x"]


def fitted(X, names, m=2, epsilon=4.0):
    release = DPPCA(m, epsilon=epsilon, random_state=0).fit(X).release_
    return replace(release, feature_names=tuple(names))


def twins():
    """Loadings that are nearly equal, in pairs and exactly opposite."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4000)) * [[3], [2]]
    noise = rng.normal(size=(7, 4000)) * 0.1
    X = np.stack([a, a, b, b, -b, 0 * a, a + b]) + noise
    names = ["systolic pressure", "diastolic pressure", "haemoglobin", "haematocrit"]
    return fitted(X.T, [*names, "ward=surgery", "ward=medicine", "age at admission"])


def wide(d, names):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2)) @ rng.normal(size=(2, d)) * 2 + rng.normal(size=(4000, d))
    return fitted(X, names)


def on_one_side():
    """A dozen arrows that all point the same way."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 1)) * 2 + rng.normal(size=(4000, 14)) * 0.3
    return fitted(X, [f"temperature at hour {j}" for j in range(14)])


def noise():
    X = np.random.default_rng(3).normal(size=(300, 8))
    return fitted(X, [f"column {j}" for j in range(8)], epsilon=0.2)


def with_map(groups):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 5)) * [5, 3, 1, 1, 1]
    options = {"epsilon": 0.5, "random_state": 0}
    if groups:
        options |= {"groups": np.array(groups)[rng.integers(0, len(groups), 3000)]}
        options |= {"categories": groups}
    pca = DPPCA(2, random_state=0).fit(X)
    return replace(pca.release_, score_map=score_map(X, pca, **options))


RELEASES = {
    "twins": twins,
    "forty": lambda: wide(40, [f"measurement_{j:02d}" for j in range(40)]),
    "sixty long": lambda: wide(
        60, [f"{'the_value_of_the_laboratory_test':_<57}_{j:02d}" for j in range(60)]
    ),
    "one side": on_one_side,
    "noise": noise,
    "map": lambda: with_map([]),
    "groups": lambda: with_map(WARDS),
}


@pytest.fixture(scope="module", params=RELEASES)
def release(request):
    return RELEASES[request.param]()


def assert_clear(figure, kind="png"):
    texts = drawn_texts(figure, kind)
    assert len(texts) > 5
    assert overlapping(texts) == []
    assert outside(texts, figure, dpi=72 if kind in ("svg", "pdf") else 100) == []


@pytest.mark.parametrize("size", [(5.8, 5.6), (3.4, 3.4), (9.0, 4.0)])
def test_biplots_of_any_size_are_clear(release, size):
    assert_clear(biplot_figure(release, size=size))


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_biplots_of_any_kind_are_clear(kind):
    assert_clear(biplot_figure(RELEASES["forty"]()), kind)


def test_spectra_and_loadings_are_clear(release):
    assert_clear(release_figure(release))
    assert_clear(release_figure(release, level=0.9))
    alone = loadings(release, level=0.9, size=(6.0, 4.0)).figure
    assert_clear(alone)


def test_maps_are_clear():
    for groups in ([], WARDS[:2], WARDS, [f"clinic {k}" for k in range(8)]):
        release = with_map(groups)
        for style in ("heat", "points"):
            assert_clear(score_figure(release, style=style, random_state=0))


def test_plans_and_audits_are_clear():
    for epsilon in (0.1, 1.0, 20.0):
        assert_clear(plan_figure(plan(2000, 10, epsilon=epsilon), target=0.1))
    rates = np.linspace(0, 1, 50)
    scores = np.random.default_rng(0).normal([[0.5], [-0.5]], size=(2, 500))
    assert_clear(audit_figure(*scores, (rates, 0.6 - rates / 2, 0.9 - rates), "A sentence. " * 12))


def test_every_name_of_a_biplot_is_written(release):
    figure = biplot_figure(release)
    written = {words for words, _ in drawn_texts(figure)}
    drawn = release.components[:2]
    sizes = np.abs(drawn).max(axis=0)
    labels = column_labels(release)
    heaviest = heaviest_columns(drawn, 12)
    wanted = {labels[j] for j in heaviest if sizes[j] > 0.2 * sizes.max()}
    assert len(wanted) >= 2
    assert wanted <= written


def test_long_names_that_start_alike_are_told_apart():
    labels = column_labels(RELEASES["sixty long"]())
    assert len(set(labels)) == 60
    assert max(map(len, labels)) <= 24
    same = replace(
        noise(), feature_names=("x" * 60 + "a" + "y" * 60, "x" * 60 + "b" + "y" * 60, *"cdefgh")
    )
    assert len(set(column_labels(same))) == 8


def test_overlap_would_be_seen():
    figure = new_figure(figsize=(3, 3))
    axes = figure.subplots()
    axes.text(0.5, 0.5, "systolic")
    axes.text(0.55, 0.52, "diastolic")
    axes.text(0.9, 0.1, "a name that leaves the paper", in_layout=False)
    texts = drawn_texts(figure)
    assert ("systolic", "diastolic") in overlapping(texts)
    assert "a name that leaves the paper" in outside(texts, figure)


def test_name_without_room_is_left_out_and_not_drawn_over_others():
    size = np.full((6, 2), [50.0, 10.0])
    tips = np.full((6, 2), 30.0)
    found = places(size, tips, np.array([[0.0, 0.0], [60.0, 36.0]]), np.zeros((0, 2, 2)))
    kept = found[np.isfinite(found[:, 0])]
    assert len(kept) >= 2
    assert np.diff(np.sort(kept[:, 1])).min() >= 10


PANELS = {
    "biplot": lambda release, **where: biplot(release, **where),
    "scree": lambda release, **where: scree(release, **where),
    "loadings": lambda release, **where: loadings(release, level=0.9, **where),
    "heat": lambda release, **where: score_heatmap(release, **where).axes,
    "points": lambda release, **where: score_points(release, random_state=0, **where),
    "plan": lambda release, **where: error_curve(plan(500, 5), **where),
    "scores": lambda release, **where: score_distributions(np.arange(9.0), np.arange(9.0), **where),
    "errors": lambda release, **where: trade_off(
        np.arange(9.0), np.arange(9.0), (np.arange(2), np.arange(2), np.arange(2)), **where
    ),
}  # fmt: skip


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
def test_panels_take_axes_or_a_size(panel):
    release = with_map([])
    alone = panel(release, size=(4.0, 3.0))
    assert tuple(alone.figure.get_size_inches()) == (4.0, 3.0)
    assert panel(release).figure is not alone.figure
    own = new_figure().subplots()
    assert panel(release, ax=own) is own
    with pytest.raises(ParameterError, match="`size` is that of a new figure"):
        panel(release, ax=own, size=(4.0, 3.0))


def test_figures_have_the_size_that_is_wanted():
    release, size = with_map(WARDS), (7.0, 6.5)
    made = [
        biplot_figure(release, size=size),
        release_figure(release, size=size),
        score_figure(release, size=size),
        score_figure(release, style="points", size=size),
        plan_figure(plan(500, 5, epsilon=math.inf), size=size),
    ]
    assert {tuple(figure.get_size_inches()) for figure in made} == {size}


def test_components_are_told_apart_in_grey():
    axes = loadings(twins())
    named = [bars for bars in axes.containers if bars.get_label().startswith("component")]
    hatches = {bars.get_label(): {bar.get_hatch() for bar in bars} for bars in named}
    assert hatches == {"component 1": {None}, "component 2": {"////"}}
