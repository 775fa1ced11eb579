"""The workbench in a process of its own, and a walk through it by what is visible."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager

WAIT = 120_000  # milliseconds: a fit compiles first
LEVELS = {"Station": "Chirurgie\nInnere\nIntensiv", "Geschlecht": "m\nw", "Raucher": "nein\nja"}
TYPES = {
    "Aufnahme": "date",
    "Station": "category",
    "Geschlecht": "yes or no",
    "Raucher": "yes or no",
}
KNOWN = {
    "Aufnahme": ("", "200"),
    "Alter": ("50", "20"),
    "Größe": ("170", "10"),
    "CRP": ("10", "10"),
}


@contextmanager
def served(folder, *options):
    """Start `gdppca web`; its address with the token."""
    program = "from gdppca.cli.main import app; app()"
    server = subprocess.Popen(
        [sys.executable, "-c", program, "web", str(folder), "--no-browser", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield address_of(server), server
    finally:
        server.terminate()
        server.wait(30)


def address_of(server):
    for line in server.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+/start\?token=[0-9a-f]{64}", line):
            return found[0]
    raise AssertionError("The server said no address.")


def choose_table(page, look=lambda page, name: None):
    look(page, "1-table")
    page.get_by_role("radio", name="station4.csv").check()
    page.get_by_text("How the file is written").click()
    page.get_by_label("Letters").fill("latin-1")
    page.get_by_label("Lines before the header").fill("2")
    page.get_by_role("button", name="Show the columns").click()
    page.get_by_role("alert").get_by_text("Sign between cells").wait_for()  # the page says which
    look(page, "1-table-problem")
    page.get_by_label("Sign between cells").fill(";")
    page.get_by_label("Decimal sign").fill(",")
    page.get_by_role("button", name="Show the columns").click()
    page.get_by_role("heading", name="Columns of station4.csv").wait_for()
    look(page, "1-table-preview")
    page.get_by_role("button", name="Continue").click()


def say_who(page, look=lambda page, name: None):
    page.get_by_role("heading", name="Who is protected?").wait_for()
    assert page.get_by_role("radio", checked=True).count() == 0  # empty until answered
    look(page, "2-people")
    page.get_by_role("radio", name="A person may have several rows").check()
    page.get_by_label("Column that says who").select_option("Patienten-Nr")
    page.get_by_role("radio", name="One person is replaced by another").check()
    page.get_by_role("button", name="Continue").click()


def describe(page, look=lambda page, name: None):
    page.get_by_role("heading", name="What do the columns mean?").wait_for()
    for name, kind in TYPES.items():
        page.get_by_role("group", name=name).get_by_label("Type").select_option(label=kind)
    for name, levels in LEVELS.items():
        page.get_by_role("group", name=name).get_by_label("Levels").fill(levels)
    day = page.get_by_role("group", name="Aufnahme")
    day.get_by_label("Counted from").fill("2021-01-01")
    day.get_by_label("How a date is written").fill("%d.%m.%Y")
    for name, (typical, spread) in KNOWN.items():
        group = page.get_by_role("group", name=name)
        group.get_by_label("Typical value").fill(typical)
        group.get_by_label("Usual spread").fill(spread)
    page.get_by_label("Codes for missing cells").fill("NA, -99")
    look(page, "3-columns")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_role("heading", name="How much may be given away?").wait_for(timeout=WAIT)


def set_cap(page, name="patients", cap="3"):
    page.get_by_label("Name of these people’s data").fill(name)
    page.get_by_label("Cap ε").fill(cap)
    page.get_by_role("button", name="Set this cap").click()
    page.get_by_label("Enter the spend under").wait_for()


def choose_budget(page, look=lambda page, name: None, epsilon="1.5"):
    page.get_by_role("heading", name="How much may be given away?").wait_for()
    look(page, "4-budget-no-cap")
    set_cap(page)
    page.get_by_label("Privacy loss ε as a number").fill(epsilon)
    page.get_by_label("Share for variances").fill("10")
    page.get_by_label("Share for a map").fill("20")
    page.get_by_text("will stand above the noise").wait_for()
    page.wait_for_timeout(1500)
    look(page, "4-budget")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Spend and release?").wait_for()


def to_confirm(page, look=lambda page, name: None):
    """From the folder to the page with the button."""
    choose_table(page, look)
    say_who(page, look)
    describe(page, look)
    choose_budget(page, look)
    look(page, "5-confirm")


def to_result(page, look=lambda page, name: None):
    page.get_by_role("button", name="Spend and release").click()
    page.get_by_role("heading", name="The release is being made").wait_for()
    look(page, "6-progress")
    page.get_by_role("heading", name="Which columns matter").wait_for(timeout=WAIT)
    look(page, "6-result")


class Walker:
    """The same way by requests alone, for tests that kill and look again."""

    def __init__(self, address):
        import httpx2

        origin = address.partition("/start")[0]
        self.client = httpx2.Client(
            base_url=origin, headers={"origin": origin}, follow_redirects=True, timeout=60
        )
        page = self.client.get(address).text
        self.csrf = re.search(r'name="csrf" value="(\w+)"', page)[1]

    def get(self, path):
        return self.client.get(path)

    def post(self, path, **typed):
        return self.client.post(path, data={"csrf": self.csrf, **typed})

    def wait(self, path, while_):
        while while_ in (page := self.get(path)).text:
            time.sleep(0.2)
        return page

    def to_confirm(self, file, columns, person=None, **budget):
        """From a table to the page with the button; its draft and its token."""
        place = self.post("/", file=file, action="next").url.path.rpartition("/")[0]
        who = {"unit": "row"} if person is None else {"unit": "person", "person": person}
        self.post(f"{place}/people", **who, neighbors="replace-one")
        self.post(f"{place}/columns", **columns)
        self.wait(f"{place}/budget", "Reading the table")
        self.post(f"{place}/budget", action="create", new_dataset="all", cap="3")
        page = self.post(f"{place}/budget", action="next", dataset="all", **budget)
        return place, re.search(r'name="token" value="(\w+)"', page.text)[1]
