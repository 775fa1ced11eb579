"""The report as a file: complete, self-contained, escaped, reproducible."""

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from gdppca import DPPCA, NSGGD, SGPCA, AnalyzeGauss, MissingExtraError, Release
from gdppca.privacy import PureEvent
from gdppca.releases import release_intervals, score_map
from gdppca.report import Owner, render, require_extras, write_report
from gdppca.report.environment import template

HOSTILE = (
    '<script>alert("gone")</script>',
    "</script><img src=x onerror=alert(1)>",
    "\"&'><svg onload=alert(1)>",
    "$\\frac{1}{$",
    "{{ 7 * 7 }}{% raw %}",
    "\x00\x08\ud800\u202etxt\ufffe",
    "a very long name of a column that nobody would ever want to read in a picture " * 3,
    "]]></style><!--",
)


def table(n=300, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * ([5, 3] + [1] * d)[:d]


def released(X=None, seed=1, **options):
    """The same numbers every time, with the promise that secret noise would give."""
    options = {"n_components": 2, "epsilon": 2.0, "delta": 1e-6, **options}
    release = DPPCA(**options, random_state=seed).fit(table() if X is None else X).release_
    return replace(release, guarantee=replace(release.guarantee, seeded=False))


class Page(HTMLParser):
    """What a browser would see: elements, their order, and their text."""

    VOID = {"meta", "link", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append(SimpleNamespace(tag=tag, attrs=dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(SimpleNamespace(tag=tag, attrs=dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def all(self, tag):
        return [element for element in self.elements if element.tag == tag]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def demo():
    return released()


@pytest.fixture(scope="module")
def page(demo):
    return Page(render(demo))


def test_opens_with_what_is_protected_in_plain_words(page):
    start = page.words.index("Every person with one row in this table is protected")
    assert start < page.words.index("What is promised")
    # c/Φ(Φ⁻¹(c) - μ) at (2, 1e-6), not e² = 7.39.
    assert "by a factor of at most 10.2, but for a chance of 1 in 1,000,000." in page.words
    assert "In 95 of 100 such releases the odds rise by a factor of at most 2.76." in page.words
    assert "7.39" not in page.words
    assert "What is not promised" in page.words


def test_beliefs_move_by_the_factor_and_not_by_e_to_the_epsilon(demo):
    """Odds rise 10.13-fold at most and 2.75-fold mostly: 1 % to 9.3 % and 2.8 %, and so on."""
    table = render(demo).split('class="beliefs"')[1].split("</table>")[0]
    cells = re.findall(r"<t[dh][^>]*>([0-9.]+)\N{NO-BREAK SPACE}%</t[dh]>", table)
    assert cells == ["1", "0", "9.3", "2.8", "10", "1", "53", "24", "50", "8.9", "91.1", "74"]
    assert "a chance of at most 1 in 1,000,000" in table.replace("\N{NO-BREAK SPACE}", " ")


def test_rows_are_not_called_people(page):
    assert "Rows 300 one per person is assumed" in page.words
    assert "300 people" not in page.words
    assert "Whoever has several rows in the table" in page.words


def test_pure_and_add_remove_promises_are_told_as_what_they_are(demo):
    pure = replace(demo.guarantee, events=(PureEvent(purpose="x", epsilon=1.0),))
    told = Page(render(replace(demo, guarantee=pure))).words
    assert "× 2.72 at most, without exception" in told
    assert "No limit is ever passed" in told
    presence = replace(demo.guarantee, neighbors="add-remove")
    told = Page(render(replace(demo, guarantee=presence))).words
    assert "is this person ill" not in told
    assert told.count("guesses whether one person") >= 2


def test_headings_descend_one_step_at_a_time(page):
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_every_table_has_caption_and_scopes(page):
    assert len(page.all("table")) == len(page.all("caption")) >= 4
    assert all(e.attrs.get("scope") in ("row", "col") for e in page.all("th"))


def test_pictures_speak_to_screen_readers(page, demo):
    pictures = [e for e in page.all("svg") if e.attrs.get("role") == "img"]
    assert len(pictures) == 2
    ids = {e.attrs["id"] for e in page.elements if "id" in e.attrs}
    for picture in pictures:
        assert set(picture.attrs["aria-labelledby"].split()) <= ids
    largest = f"{np.linalg.eigvalsh(demo.scatter)[-1]:.3f}"
    assert f"5 in all: {largest}" in page.words
    assert "Component 1: x0 +" in page.words


def test_ids_are_unique_and_links_lead_somewhere(page):
    ids = [e.attrs["id"] for e in page.elements if "id" in e.attrs]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        target = element.attrs.get("href", "")
        if target.startswith("#"):
            assert target[1:] in ids


def test_nothing_comes_from_outside_and_nothing_runs(page):
    for element in page.elements:
        for name, value in element.attrs.items():
            assert not name.startswith("on")
            if name in ("src", "href", "xlink:href", "action", "data", "poster"):
                assert value.startswith(("#", "data:"))
    assert [e.attrs["type"] for e in page.all("script")] == ["application/json"]
    [policy] = [e for e in page.all("meta") if e.attrs.get("http-equiv")]
    assert "default-src 'none'" in policy.attrs["content"]
    assert "script-src" not in policy.attrs["content"]


def test_style_sheets_of_pictures_do_not_reach_the_page(demo):
    assert render(demo).count("<style") == 1


def test_same_release_gives_same_bytes(demo):
    assert render(demo) == render(demo)


def test_hostile_names_stay_text():
    X = table(d=len(HOSTILE))
    release = replace(released(X), feature_names=HOSTILE)
    text = render(release, Owner(name=HOSTILE[1], curators=(HOSTILE[0],)))
    page = Page(text)
    text.encode("utf-8")
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert not [e for e in page.elements if any(name.startswith("on") for name in e.attrs)]
    assert HOSTILE[0] in page.words  # shown as it is
    assert "{{ 7 * 7 }}" in page.words
    assert not re.search("[\x00-\x08\u202e\ud800-\udfff]", text)


def test_hostile_words_of_a_guarantee_stay_text(demo):
    guarantee = replace(demo.guarantee, assumptions=("<b>one</b>",), status="high-probability",
                        reason="<i>why</i>")  # fmt: skip
    page = Page(render(replace(demo, guarantee=guarantee, method="<u>x</u>", plan={"<s>": "<q>"})))
    assert not {e.tag for e in page.elements} & {"b", "i", "u", "s", "q"}
    assert "<b>one</b>" in page.words
    assert "with high probability only" in page.words


def test_simulation_shouts_that_nobody_is_protected():
    simulated = DPPCA(2, epsilon=2.0, random_state=0).fit(table()).release_
    page = Page(render(simulated))
    assert page.words.index("Nobody is protected") < page.words.index("What is promised")
    assert "Every person" not in page.words
    assert "simulation" in page.words
    assert "by a factor" not in page.words
    assert "Mostly" not in page.words
    [alert] = [e for e in page.elements if e.attrs.get("role") == "alert"]
    assert "unprotected" in alert.attrs["class"]
    assert "NOBODY IS PROTECTED" in render(simulated).split("</title>")[0]


def test_infinite_epsilon_shouts_too():
    page = Page(render(released(epsilon=float("inf"))))
    assert page.words.index("Nobody is protected") < page.words.index("What is promised")
    assert "epsilon is infinite, so no noise was added" in page.words


def test_weak_protection_is_called_weak():
    page = Page(render(released(epsilon=12.0)))
    assert "Every person with one row is protected, but only weakly" in page.words
    assert "noise that hides single rows" not in page.words
    page = Page(render(released(epsilon=14.0)))
    assert "× 1,000,000 or more: a guess may become certain" in page.words
    assert "raises the odds of that guess by a factor that may exceed a million." in page.words


def test_delta_above_one_over_n_is_named():
    page = Page(render(released(delta=0.01)))
    assert "Delta is too large" in page.words
    assert "Every person with one row is protected, but only weakly" in page.words


def test_large_release_does_not_travel_inside(demo, monkeypatch):
    monkeypatch.setattr("gdppca.report.making._LARGEST_ATTACHMENT", 100)
    page = Page(render(demo))
    assert "too large to travel inside" in page.words
    assert not [e for e in page.all("a") if e.attrs.get("download") == "release.json"]


@pytest.mark.parametrize(
    "pca",
    [
        NSGGD(2, epsilon=4.0, delta=1e-4, noise="accounted", n_iterations=50),
        NSGGD(1, epsilon=4.0, delta=1e-4, n_iterations=50),
        SGPCA(2, epsilon=2.0, eigenvalues=[25, 9, 1, 1, 1]),
        AnalyzeGauss(2, epsilon=2.0),
        DPPCA(2, sign="winsor", radius="quantile", epsilon=4.0),
        DPPCA(1, location=np.zeros(5), scale=np.ones(5)),
        DPPCA(5, pairs=16),
    ],
    ids=["NSGGD", "NSGGD printed", "SGPCA", "AnalyzeGauss", "radius", "centre", "blocks"],
)
def test_every_method_has_a_report(pca):
    release = pca.fit(table()).release_
    page = Page(render(release))
    assert release.method in page.words
    if release.scatter is None:
        assert "there is no spectrum to draw" in page.words
    if release.location is not None:
        assert "Centre and scales that were used" in page.words
    assert ("Nobody is protected" in page.words) is (not release.guarantee.protects)


@pytest.mark.filterwarnings("ignore:No direction")
def test_release_without_components_says_so():
    X = np.random.default_rng(0).normal(size=(50, 4))
    page = Page(render(released(X, n_components="auto", epsilon=0.1)))
    assert "No component stands above the noise" in page.words
    assert "there are no loadings" in page.words


@pytest.mark.parametrize("d", [1, 2, 60])
def test_few_and_many_columns(d):
    page = Page(render(released(table(d=d), n_components=1)))
    assert ("30 of 60" in page.words) is (d == 60)


def test_two_rows_are_enough():
    assert "Nothing" not in Page(render(released(table(n=2), n_components=1))).words[:500]


def test_extras_of_a_release_have_their_sections(demo):
    full = replace(demo, variances=np.array([25.0, 9.0]), plan={"sin_theta": 0.25, "rows": [1, 2]})
    page = Page(render(full))
    assert "How much people vary" in page.words
    assert "Error of the components together 0.25" in page.words
    assert "Absolute variances" not in page.words
    assert "Absolute variances" in Page(render(demo)).words  # not in this release


@pytest.fixture(scope="module")
def mapped():
    """A release that holds a score map of two groups."""
    X = table(n=2000)
    pca = DPPCA(2, epsilon=1.0, random_state=1).fit(X)
    names = ["<b>women</b>", "$men"]
    groups = np.array(names)[np.arange(2000) % 2]
    shown = score_map(X, pca, groups=groups, categories=names, epsilon=2.0, random_state=1)
    return replace(
        pca.release_, score_map=shown, guarantee=pca.release_.guarantee + shown.guarantee
    )


def test_score_map_is_drawn_and_described(mapped):
    page = Page(render(mapped))
    assert "Where people lie" in page.words
    assert len([e for e in page.all("svg") if e.attrs.get("role") == "img"]) == 3
    assert not page.all("b")
    for name, counts in zip(mapped.score_map.groups, mapped.score_map.counts, strict=True):
        assert f"{name}: about {counts.sum():,} inside" in page.words
    assert "A map of where people lie" not in page.words  # it is not missing
    assert all(e.attrs["href"].startswith("data:image/png") for e in page.all("image"))


def test_exact_counts_are_not_called_noisy(mapped):
    assert "with noise on every count" in Page(render(mapped)).words
    exact = replace(mapped, score_map=replace(mapped.score_map, noise_sd=0.0))
    told = Page(render(exact)).words
    assert "cells, without noise." in told
    assert "A map of exact counts." in told
    assert "Exact numbers of rows" in told
    for claim in ("with noise", "Noisy numbers", "A map of noisy counts"):
        assert claim not in told


def test_map_without_groups_and_map_of_many(mapped):
    shown = mapped.score_map
    alone = replace(shown, groups=None, counts=shown.counts[:1], outside=shown.outside[:1])
    assert "All rows: about" in Page(render(replace(mapped, score_map=alone))).words
    many = replace(
        shown,
        groups=tuple("abcdefgh"),
        counts=np.repeat(shown.counts, 4, axis=0),
        outside=np.repeat(shown.outside, 4),
    )
    assert "Only the first 6 of 8 groups" in Page(render(replace(mapped, score_map=many))).words


def test_loadings_have_intervals(demo):
    known = release_intervals(demo)
    ends = f"{known.lower[0, 0]:+.2f} to {known.upper[0, 0]:+.2f}"
    assert ends in Page(render(demo)).words
    assert "The noise is expected to have turned component 1 by" in Page(render(demo)).words


def test_components_that_may_be_mixed_are_named():
    matrix = np.diag([0.5, 0.15, 0.1499, 0.1, 0.1])
    plain = released(location=None, loadings="plain")
    mixed = replace(plain, scatter=matrix, components=np.eye(5)[:2], noise_sd=0.005)
    assert "Read component 2 with care" in Page(render(mixed)).words
    assert "Pale bars" not in Page(render(mixed)).words


def test_components_in_the_noise_get_no_interval():
    matrix = np.diag([0.5, 0.13, 0.125, 0.125, 0.12])
    page = Page(
        render(replace(released(), scatter=matrix, components=np.eye(5)[:2], noise_sd=0.005))
    )
    assert "Only the first one stands above the noise" in page.words
    assert "The first one carries about" in page.words  # and not the other, which is named last
    assert "maybe noise" in page.words
    assert "Pale bars" in page.words


def test_budget_shares_add_up():
    release = released(sign="winsor", radius="quantile", epsilon=4.0)
    budget = render(release).split('id="budget"')[1].split("</table>")[0]
    shares = re.findall(r"<td>([0-9.]+)\N{NO-BREAK SPACE}%</td>", budget)
    assert len(shares) == len({event.purpose for event in release.guarantee.events}) >= 2
    assert sum(map(float, shares)) == pytest.approx(100, abs=1)


def test_owner_is_named(demo):
    owner = Owner(name="Blood values", curators=("A hospital",), publication_date="2025-12-31")
    page = Page(render(demo, owner))
    assert "Blood values" in page.words
    assert "Published by A hospital. Published on 2025-12-31." in page.words
    assert "Intended use: " not in page.words.split("What is promised")[0]  # not said


def test_release_travels_inside_its_report(demo, tmp_path):
    from urllib.parse import unquote

    [link] = [e.attrs["href"] for e in Page(render(demo)).all("a")
              if e.attrs.get("download") == "release.json"]  # fmt: skip
    (tmp_path / "r.json").write_text(unquote(link.split(",", 1)[1]), encoding="utf-8")
    assert np.array_equal(Release.load(tmp_path / "r.json").components, demo.components)


def test_report_is_written_whole_or_not_at_all(demo, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_report(demo, path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_without_jinja_the_extra_is_named(demo, monkeypatch):
    template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install jinja2"):
        render(demo)
    with pytest.raises(MissingExtraError, match=r"pip install jinja2"):
        require_extras()
    template.cache_clear()


def test_without_matplotlib_the_numbers_are_still_there(demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = Page(render(demo))
    assert "No picture here" in page.words
    assert "Eigenvalues; the remaining ones and the noise end at" in page.words


def test_band_of_the_spectrum_is_called_what_it_holds(page, demo):
    reach = "The shaded band reaches as far as noise would bring remaining components"
    assert f"{reach} that are all alike" in page.words
    assert "how far noise would bring remaining components that are all alike" in page.words
    assert "noise alone would" not in render(demo)
