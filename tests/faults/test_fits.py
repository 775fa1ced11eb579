"""Fits, debits and reports in eight processes at once, killed at random.

Never over the cap, no release without its completed entry, no torn file.
"""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from faults import checks
from typer.testing import CliRunner

from gdppca import Release
from gdppca.cli.main import app
from gdppca.ledgers import Ledger, complete_entries
from gdppca.privacy.accounting import gaussian_epsilon, gaussian_multiplier

pytestmark = pytest.mark.slow

STORM = Path(__file__).with_name("fit_storm.py")
DELTA = 1e-6
ROWS = np.random.default_rng(0).normal(size=(60, 3)) * [9, 3, 1]


def cap_for(fits):
    """ε with room for about so many fits."""
    one = gaussian_multiplier(checks.epsilon(fits), DELTA)
    return gaussian_epsilon(one / math.sqrt(fits), DELTA)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    np.savetxt(folder / "table.csv", ROWS, fmt="%.17g", delimiter=",", header="a,b,c", comments="")
    return folder


def storm(address, folder, *, kills, fits, seed=1, fault=(), meanwhile=lambda blows: None):
    """Let it blow, and tell what became of the processes, by number."""
    Ledger(address).create("patients", epsilon=cap_for(fits), delta=DELTA)
    process = subprocess.Popen(
        [sys.executable, STORM, address, folder, str(kills), str(seed), *fault],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        meanwhile(lambda: process.poll() is None)
        said, complaint = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 0, complaint
    return {int(k): fate for k, fate in json.loads(said).items()}


def test_killed_fits_and_reports(address, folder):
    fates = storm(address, folder, kills=60, fits=65)
    assert checks.wrongs(address, folder, fates, ROWS) == []
    counts = Counter(fates.values())
    assert counts["killed"] >= 60
    assert counts["done"] >= 20  # or there would be little to check
    assert counts["refused"] >= 8  # the budget is gone
    ends = ("killed", "done", "refused", "idle")
    assert counts.total() == len(fates) == sum(counts[each] for each in ends)
    for kind in checks.WORK:  # of every kind some came to an end
        assert any(fate == "done" and checks.work(k) == kind for k, fate in fates.items()), kind


def test_eighty_releases_a_minute(tmp_path, folder, monkeypatch):
    """Of a small table, by the time that one core takes: others may use this machine too."""
    monkeypatch.chdir(folder)
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("patients", epsilon=10.0, delta=DELTA)
    words = ["fit", "table.csv", "--ledger", f"{ledger.address}#patients", "--epsilon", "0.05"]

    def fit(k):
        result = CliRunner().invoke(app, [*words, "-o", f"{k}.json"])
        assert result.exit_code == 0, result.output

    fit("first")  # loads libraries
    started = time.process_time()
    for k in range(20):
        fit(k)
    assert time.process_time() - started < 20 * 60 / 80
    lines = [line for line in ledger.register() if line.entry.kind == "spend"]
    assert [line.status for line in lines] == ["completed"] * 21


def turned_away(folder):
    """How many processes were told that the database is gone."""
    logs = folder.with_name("logs").iterdir()
    return sum(b"error: The ledger at" in log.read_bytes() for log in logs)


def complete_what_could_not_be(address, folder):
    """Who lost the database after the draw has a release all the same, and was told what to do."""
    for log in folder.with_name("logs").iterdir():
        path = folder / f"{log.name}.json"
        if "stays reserved" in log.read_text(encoding="utf-8") and path.exists():
            release = Release.load(path)
            complete_entries(address, release.entries, release.checksum)


def test_database_gone_and_back(postgres_server, folder):
    """Stopped and crashed in turn while fits go on; who comes meanwhile is turned away."""
    address = postgres_server.new_database()

    def meanwhile(blows):
        for shutdown in (signal.SIGINT, signal.SIGQUIT):
            published = len(list(folder.glob("*.json")))
            while blows() and len(list(folder.glob("*.json"))) < published + 5:
                time.sleep(0.01)
            before = turned_away(folder)
            postgres_server.stop(shutdown)
            while blows() and turned_away(folder) == before:
                time.sleep(0.05)
            postgres_server.start()

    fates = storm(address, folder, kills=5, fits=25, meanwhile=meanwhile)
    complete_what_could_not_be(address, folder)
    assert checks.wrongs(address, folder, fates, ROWS) == []
    counts = Counter(fates.values())
    assert counts["turned away"] >= 2
    assert counts["done"] >= 10


@pytest.mark.parametrize(
    ("fault", "said"), [("late_debit", "published with 0 entries"), ("torn_write", "is torn")]
)
def test_planted_faults_are_found(fault, said, tmp_path, folder):
    address = f"sqlite:///{tmp_path}/budget.db"
    fates = storm(address, folder, kills=1, fits=10, fault=[fault])
    assert [wrong for wrong in checks.wrongs(address, folder, fates, ROWS) if said in wrong]
