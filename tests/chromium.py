"""The browser that tests drive."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = bool(os.environ.get("CI") or os.environ.get("GDPPCA_REQUIRE_BROWSER"))
QUIET = (
    "--no-sandbox",  # Chromium refuses to run as root with it
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED,
    reason="Chromium is not installed: make browser (GDPPCA_REQUIRE_BROWSER=1 forbids skipping)",
)
