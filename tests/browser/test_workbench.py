"""The workbench in a real browser: from the folder to the zip, by what is visible."""

import io
import json
import subprocess
import time
import zipfile

import pytest
import workbench
from chromium import needs_browser
from ugly_exports import PATIENTS, SECRET, visits, write_all
from workbench import WAIT, served

from gdppca import Ledger, Release

pytest.importorskip("starlette")
pytestmark = needs_browser

SPEND = "Spend and release"


@pytest.fixture
def folder(tmp_path):
    return write_all(tmp_path)


@pytest.fixture
def bench(folder):
    with served(folder) as (address, server):
        yield address, server


@pytest.fixture
def tabs(browser, bench):
    """Open tabs of one browser that know the workbench; remember what they complained about."""
    contexts = []

    def open_(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(30_000)
        context.complaints = []
        origin = bench[0].rpartition("/start")[0]
        context.on("console", lambda said: context.complaints.append(said.text))
        context.on("weberror", lambda error: context.complaints.append(str(error.error)))
        context.on(
            "request",
            lambda asked: (
                asked.url.startswith((origin, "data:")) or context.complaints.append(asked.url)
            ),
        )
        page = context.new_page()
        page.goto(bench[0])
        return page

    yield open_
    for context in contexts:
        assert context.complaints == []  # no error in the console, nothing asked from outside
        context.close()


def spends(folder):
    entries = Ledger(f"sqlite:///{folder}/budget.db").history("patients")
    return [entry for entry in entries if entry.kind == "spend"]


def serious(page):
    """What axe-core finds that would keep somebody out."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["target"]) for each in found]


def look(page, name):
    """Nobody is kept out, on a desk or a phone, in light or dark, and no cell is seen."""
    size = page.viewport_size
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        assert serious(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.set_viewport_size(size)
    page.emulate_media(color_scheme="light")
    shown = page.content()
    assert SECRET not in shown
    assert f"{len(visits()):,}" not in shown
    assert page.get_by_role("main").count() == page.get_by_role("heading", level=1).count() == 1


def test_from_the_folder_to_the_zip(tabs, folder):
    page = tabs(viewport={"width": 1280, "height": 900})
    assert "token" not in page.url
    workbench.to_confirm(page, look)
    workbench.to_result(page, look)
    assert len(spends(folder)) == 1
    page.get_by_role("link", name="Publish").first.click()
    page.get_by_role("heading", name="Hand it on").wait_for()
    look(page, "publish")
    with page.expect_download(timeout=WAIT) as started:
        page.get_by_role("link", name="Save all as a zip").click()
    box = zipfile.ZipFile(io.BytesIO(started.value.path().read_bytes()))
    assert {"release.json", "report.html", "table.toml", "notebook.ipynb"} <= set(box.namelist())
    release = Release.from_dict(json.loads(box.read("release.json")))
    assert release.n_samples == PATIENTS
    assert release.guarantee.unit == "person"
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="station4-release.json").wait_for()
    look(page, "history")
    page.get_by_role("link", name="Practice").click()
    look(page, "practice")
    page.get_by_role("button", name="Make up a table").click()
    page.get_by_role("heading", name="How much may be given away?").wait_for(timeout=WAIT)
    look(page, "practice budget")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Release the practice table").click()
    page.get_by_role("heading", name="Which columns matter").wait_for(timeout=WAIT)
    look(page, "practice result")
    assert len(spends(folder)) == 1


@pytest.mark.slow
def test_everything_but_one_click_spends_nothing_more(tabs, folder):
    """Reload, back, double click and a second tab, at every step: the ledger tells."""
    page = tabs()
    workbench.choose_table(page)
    page.reload()
    workbench.say_who(page)
    page.go_back()
    page.go_forward()
    workbench.describe(page)
    page.reload()
    workbench.choose_budget(page)
    page.go_back()
    page.go_forward()
    other = page.context.new_page()
    other.goto(page.url)
    third = page.context.new_page()
    third.goto(page.url)
    page.get_by_role("button", name=SPEND).dblclick(no_wait_after=True)
    other.get_by_role("button", name=SPEND).click()
    page.reload()
    page.get_by_role("heading", name="Which columns matter").wait_for(timeout=WAIT)
    assert len(spends(folder)) == 1
    third.get_by_role("button", name=SPEND).click()  # long after
    third.get_by_role("heading", name="Which columns matter").wait_for(timeout=WAIT)
    for each in (page, other, third):
        each.reload()
        each.go_back()
        each.reload()
        assert each.get_by_role("button", name=SPEND).count() == 0
    assert len(spends(folder)) == 1
    assert len(list(folder.glob("*-release*.json"))) == 1


@pytest.mark.slow
def test_it_works_without_scripts(tabs, folder):
    page = tabs(java_script_enabled=False)
    workbench.to_confirm(page)
    page.get_by_role("button", name=SPEND).click()
    page.get_by_role("heading", name="Which columns matter").wait_for(timeout=WAIT)
    assert len(spends(folder)) == 1


def test_keys_alone_reach_the_first_answer(tabs):
    page = tabs()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "file":
            break
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.checked")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Who is protected?").or_(page.get_by_role("alert")).wait_for()


def test_a_page_elsewhere_can_do_nothing(tabs, bench, folder, browser):
    """Another site's form, and a visitor with the cookie but without the pages."""
    page = tabs()
    origin = bench[0].rpartition("/start")[0]
    elsewhere = page.context.new_page()
    elsewhere.goto("data:text/html,<link rel=icon href=data:,><form method=post></form>")
    page.context.complaints.clear()
    elsewhere.evaluate(
        f"""() => {{ const form = document.forms[0]; form.action = '{origin}/';
        form.innerHTML = '<input name=file value=station4.csv><input name=csrf value=x>';
        form.submit(); }}"""
    )
    elsewhere.wait_for_url(f"{origin}/")
    assert "This page opens with the address" in elsewhere.inner_text("body")  # no cookie came
    page.context.complaints.clear()  # the browser's word about the refusal
    stranger = browser.new_context().new_page()
    assert stranger.goto(origin).status == 403
    stranger.context.close()


@pytest.mark.slow
def test_killed_while_it_reads_nothing_is_spent(tabs, bench, folder):
    page = tabs()
    workbench.to_confirm(page)
    page.get_by_role("button", name=SPEND).click(no_wait_after=True)
    page.get_by_role("heading", name="The release is being made").wait_for()
    bench[1].kill()
    bench[1].wait()
    _nothing_is_torn(folder)
    page.context.complaints.clear()  # a server that is gone


def _nothing_is_torn(folder):
    """Whatever happened: a release is in the ledger, and it is whole."""
    until_quiet()
    made = [Release.load(path) for path in folder.glob("*-release*.json")]
    assert len(made) <= len(spends(folder)) <= 1


def until_quiet():
    """Wait for workers that go on by themselves."""
    for _ in range(240):
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        if "gdppca.jobs.worker" not in running:
            return
        time.sleep(0.5)
    raise AssertionError("A worker does not end.")
