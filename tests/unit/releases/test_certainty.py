"""Every number that is shown has its noise beside it, and what may be mere noise is called so."""

import html
from dataclasses import replace

import numpy as np
import pytest
from kinds import NAMES, RATES, made

from gdppca import DPPCA
from gdppca.plots import release_figure
from gdppca.privacy import GaussianEvent
from gdppca.releases import private_variances, score_map, seen_spectrum
from gdppca.releases.certainty import rate_sd, total_sd, variance_noise
from gdppca.releases.noise_floor import rate_noise
from gdppca.releases.words import below_in_words, component_names, rates_in_words
from gdppca.report import render
from gdppca.theory import shrunk_rates

NOISE = "may be mere noise"


def plainly(text):
    return " ".join(html.unescape(text).replace("\N{NO-BREAK SPACE}", " ").split())


def table(n, sizes=(9, 5, 1, 1), seed=0):
    return np.random.default_rng(seed).normal(size=(n, len(sizes))) * sizes


@pytest.mark.parametrize("method", ["huber", "winsorized", "clipped"])
def test_noise_of_variances_follows_from_the_events(method):
    X = table(40_000)
    release = DPPCA(2, random_state=0).fit(X).release_
    assert variance_noise(release) is None
    for seed in range(3):
        found = private_variances(X, release, 0.5, 1e-6, method=method, random_state=seed)
        expected = variance_noise(release.with_variances(found))
        np.testing.assert_allclose(found.noise_sd / found.variances, expected, rtol=0.2)


def test_variances_of_few_rows_are_called_what_they_are():
    few, many = (
        DPPCA(2, random_state=0).fit_release(table(n), variances=0.2) for n in (300, 20_000)
    )
    assert NOISE in " ".join(few.doubts)
    assert NOISE in plainly(few._repr_html_())
    page = plainly(render(few))
    assert "150 pairs of rows are few for the variances of 2 components" in page
    assert not many.doubts
    said = plainly(render(many))
    assert NOISE not in said
    assert "± is that in the units of the number" in said


def test_variances_without_noise_have_none():
    release = DPPCA(2, epsilon=np.inf).fit_release(table(300), variances=0.2)
    assert variance_noise(release) == 0
    assert "±" not in render(release).partition('id="variances"')[2].partition("</section>")[0]


def test_rates_have_their_noise_beside_them():
    release = made(rates=RATES)
    sd = rate_noise(release)
    assert sd == pytest.approx(20 * np.sqrt(len(NAMES)) / 2000)
    np.testing.assert_allclose(rate_sd(release), sd)
    persons = made("person", rates=RATES)  # one row of each was looked at, which may be any
    chance = RATES * (1 - RATES) / 2000
    np.testing.assert_allclose(rate_sd(persons), np.sqrt(sd**2 + chance))
    assert "± 2.7 points" in plainly(render(release))


def test_a_rate_is_drawn_to_the_mean_by_no_more_than_is_said():
    d, sd = 8, 0.05
    rng = np.random.default_rng(1)
    moved = [
        np.mean(
            [
                shrunk_rates(np.full(d, 0.6) + rng.normal(0, sd, d) - apart * np.eye(d)[0], sd)[0]
                - (0.6 - apart)
                for _ in range(3000)
            ]
        )
        for apart in (0.05, 0.1, 0.15, 0.2)
    ]
    assert max(moved) == pytest.approx(0.55 * sd * np.sqrt(d - 1), rel=0.1)


def test_rates_that_were_moved_by_much_are_said_to_be():
    noisy = GaussianEvent(purpose="rates", noise_multiplier=120.0)
    calm = made(rates=RATES)
    events = (noisy, *calm.guarantee.events[1:])
    loud = replace(calm, guarantee=replace(calm.guarantee, events=events))
    assert rates_in_words(calm) == ""
    assert "drawn to their mean" in rates_in_words(loud)
    for voice in (render(loud), loud._repr_html_(), repr(loud)):
        assert "drawn to their mean" in plainly(voice)
        assert "give or take 16 points" in plainly(voice)


def test_few_columns_with_many_gaps_say_what_no_budget_mends():
    assert "correction is not exact" in " ".join(made(rates=RATES).doubts)
    assert "correction is not exact" not in " ".join(made(rates=np.full(7, 0.9)).doubts)


def test_totals_of_groups_have_the_noise_of_their_cells():
    X, frame = table(3000), ((-20.0, 20.0), (-10.0, 10.0))
    pca = DPPCA(2, random_state=0).fit(X)
    labels = np.where(np.arange(3000) % 3, "a", "b")
    shown = [
        score_map(X, pca, 12, groups=labels, categories=["a", "b"], frame=frame, random_state=seed)
        for seed in range(60)
    ]
    totals = np.array([each.counts.sum(axis=(1, 2)) for each in shown])
    sd = total_sd(shown[0])
    assert sd == pytest.approx(12 * shown[0].noise_sd)
    np.testing.assert_allclose(totals.std(axis=0), sd, rtol=0.3)
    released = replace(pca.release_, score_map=shown[0])
    part = plainly(render(released)).partition('id="scores"')[2]
    assert f"± {sd[0]:.2g}" in part.replace(",", "")


@pytest.fixture(scope="module")
def half():
    """Two components, of which one is above the noise."""
    return DPPCA(2, epsilon=0.5, random_state=0).fit(table(800, (20, 1, 1, 1, 1))).release_


def test_components_below_the_noise_are_marked_everywhere(half):
    assert seen_spectrum(half).clear == 1
    names = ["component 1", "component 2 (not above the noise)"]
    assert component_names(half, 2) == names
    assert names[1] in half._repr_html_()
    figure = release_figure(half)
    said = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]
    assert names[1] in said
    assert "kept, not above the noise" in said
    assert "An empty ring marks a released component that may be noise." in plainly(render(half))


def test_clear_components_have_no_mark():
    release = DPPCA(2, random_state=0).fit(table(20_000)).release_
    assert component_names(release, 2) == ["component 1", "component 2"]
    texts = [axes.get_legend().get_texts() for axes in release_figure(release).axes]
    assert not any("above" in text.get_text() for own in texts for text in own)


def test_dots_below_the_band_are_told():
    X = table(800, (*[1] * 10, 1e-3))  # in one direction nobody differs
    whole = DPPCA(1, random_state=0, location=np.zeros(11)).fit(X).release_
    seen = seen_spectrum(whole)
    assert (seen.values < seen.low).sum() == 1
    assert below_in_words(whole, seen).startswith("One dot lies lower than noise would bring")
    assert "missing" not in below_in_words(whole, seen)
    assert "One dot lies lower" in plainly(render(whole))
    even = DPPCA(1, random_state=0).fit(table(5000, (1, 1, 1))).release_
    assert below_in_words(even, seen_spectrum(even)) == ""
