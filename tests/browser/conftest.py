"""One real browser for the tests of a file."""

import pytest
from chromium import CHROMIUM, QUIET


@pytest.fixture(scope="module")
def browser():
    assert CHROMIUM, "Chromium is required here and not installed: make browser"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()
