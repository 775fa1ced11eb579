"""The report in a real browser: what people see, on screens, phones and paper."""

from dataclasses import replace

import numpy as np
import pytest
from chromium import needs_browser
from sklearn.datasets import load_diabetes

from gdppca import DPPCA
from gdppca.releases import score_map
from gdppca.report import Owner, write_report

HOSTILE = (
    '<script>window.gone = "script"</script>',
    '<img src="x" onerror="window.gone = 1">',
    "</script></svg></title><script>window.gone = 2</script>",
    '"&\'` onmouseover=window.gone=3 x="',
    "javascript:window.gone=4",
    "$\\alpha$ {{ 1 }} \u202e",
)

pytestmark = needs_browser


@pytest.fixture(scope="module")
def release():
    patients = load_diabetes()
    return released(patients.data, epsilon=2.0, feature_names=tuple(patients.feature_names))


def released(X, *, epsilon=1.0, m=2, **changes):
    """The same numbers every time, with the promise that secret noise would give."""
    release = DPPCA(m, epsilon=epsilon, delta=1e-6, random_state=1).fit(X).release_
    return replace(release, guarantee=replace(release.guarantee, seeded=False), **changes)


@pytest.fixture(scope="module")
def files(release, tmp_path_factory):
    """Reports of a protected, a simulated and a hostile release."""
    folder = tmp_path_factory.mktemp("reports")
    write_report(release, folder / "demo.html")
    X = np.random.default_rng(0).normal(size=(300, 6)) * [5, 3, 1, 1, 1, 1]
    write_report(DPPCA(2, random_state=0).fit(X).release_, folder / "seeded.html")
    hostile = released(X, feature_names=HOSTILE)
    owner = Owner(name=HOSTILE[0], curators=HOSTILE[:3], intended_use=HOSTILE[3])
    write_report(hostile, folder / "hostile.html", owner)
    wide = np.random.default_rng(0).normal(size=(300, 40)) * np.linspace(9, 1, 40)
    names = tuple(f"a_rather_long_name_of_a_column_{k:03d}" * 2 for k in range(40))
    write_report(released(wide, m=8, feature_names=names), folder / "wide.html")
    full = released(X)
    groups = np.array(HOSTILE)[np.arange(300) % 2]
    shown = score_map(X, full, groups=groups, categories=HOSTILE[:2], epsilon=4.0)
    full = replace(
        full,
        score_map=shown,
        guarantee=full.guarantee + shown.guarantee,
        variances=[25.0, 9.0],
        plan={"sin_theta": 0.1, "spectrum": "taken from an earlier study"},
    )
    write_report(full, folder / "full.html")
    return folder


@pytest.fixture
def opened(browser, files):
    """Open a report; remember what it asked for and complained about."""
    contexts = []

    def open_(name="demo", width=1280, height=900, scheme="light"):
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto((files / f"{name}.html").as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", ["demo", "seeded", "hostile", "wide", "full"])
def test_page_is_quiet_and_asks_for_nothing(opened, files, name):
    page = opened(name)
    page.wait_for_load_state("networkidle")
    assert page.complaints == []
    assert page.requests == [(files / f"{name}.html").as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(("name", "number"), [("demo", 2), ("full", 3)])
def test_every_picture_is_there_and_visible(opened, name, number, width, scheme):
    page = opened(name, width=width, scheme=scheme)
    pictures = page.locator("svg[role=img]")
    assert pictures.count() == number
    for k in range(pictures.count()):
        box = pictures.nth(k).bounding_box()
        assert box["width"] > 250
        assert box["height"] > 120
        drawn = "svg => [...svg.querySelectorAll('path, use')].some(e => e.getBBox().width > 50)"
        assert pictures.nth(k).evaluate(drawn)
        assert pictures.nth(k).locator("text").count() > 5


@pytest.mark.parametrize("name", ["demo", "seeded", "hostile", "wide", "full"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nobody_has_to_scroll_sideways(opened, name, width):
    page = opened(name, width=width, height=844)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# Contrast of every visible text with what lies behind it, by the formula of WCAG 2.
CONTRAST = """() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || ['SCRIPT', 'STYLE', 'title', 'desc'].includes(e.tagName)) continue;
    const style = getComputedStyle(e);
    const ink = parse(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), e.tagName, e.textContent.trim().slice(0, 40)]);
  }
  return found;
}"""


@pytest.mark.parametrize("name", ["demo", "seeded", "full"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(opened, name, scheme):
    found = opened(name, scheme=scheme).evaluate(CONTRAST)
    assert len(found) > 100
    assert any(tag == "text" for _, tag, _ in found)  # the pictures' own words too
    assert [line for line in found if line[0] < 4.5] == []


def test_lines_of_pictures_follow_the_scheme(opened):
    black = """() => [...document.querySelectorAll('svg[role=img] path, svg[role=img] use')]
      .filter(e => getComputedStyle(e).stroke === 'rgb(0, 0, 0)').length"""
    assert opened(scheme="dark").evaluate(black) == 0


def test_dark_is_dark(opened):
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = (opened(scheme=s).evaluate(background) for s in ("light", "dark"))
    assert sum(map(int, light[4:-1].split(","))) > 700
    assert sum(map(int, dark[4:-1].split(","))) < 100


def test_hostile_names_do_not_run(opened):
    page = opened("hostile")
    page.mouse.move(600, 400)
    assert page.evaluate("window.gone === undefined")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert page.get_by_text(HOSTILE[0]).count() >= 2  # shown as it is
    page = opened("full")  # as names of groups
    assert page.evaluate("window.gone === undefined")
    assert page.locator("img").count() == 0


def test_record_can_be_read_from_the_page_and_saved(opened, tmp_path):
    page = opened()
    record = page.evaluate("JSON.parse(document.getElementById('registry-record').textContent)")
    assert record["status"] == "Draft"
    with page.expect_download() as started:
        page.get_by_role("link", name="Save registry-record.json").click()
    assert started.value.suggested_filename == "registry-record.json"
    started.value.save_as(tmp_path / "record.json")
    assert (tmp_path / "record.json").stat().st_size > 1000
    page.get_by_text("Show the record").click()
    assert page.locator("pre.long").is_visible()


def test_simulation_fills_the_first_screen(opened):
    for width, height in ((1280, 900), (390, 844)):
        page = opened("seeded", width=width, height=height)
        alert = page.get_by_role("alert")
        assert "Nobody is protected" in alert.inner_text().capitalize()
        box = alert.bounding_box()
        assert box["y"] + box["height"] < height
        assert alert.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(179, 32, 26)"


def test_screen_readers_get_headings_landmarks_and_numbers(opened, release):
    page = opened()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    largest = f"{np.linalg.eigvalsh(release.scatter)[-1]:.3f}"
    assert page.get_by_role("img", name=largest).count() == 1
    assert page.get_by_role("img", name="Component 1: ").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#content")


def test_paper_is_white_and_shows_the_numbers(opened, tmp_path):
    page = opened(scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.get_by_role("navigation").is_visible()
    assert page.get_by_role("table", name="Eigenvalues").is_visible()
    assert page.evaluate(CONTRAST)
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert 3 <= paper.count(b"/Type /Page\n") <= 12
