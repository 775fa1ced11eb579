"""The workbench is killed at any moment: no release without a debit, and a true history."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest
from workbench import Walker, served

from gdppca import Ledger, Release

pytest.importorskip("starlette")
pytest.importorskip("httpx2")
pytestmark = pytest.mark.slow

COLUMNS = {
    **{f"use-{k}": "yes" for k in range(3)},
    **{f"type-{k}": "number" for k in range(3)},
    "gaps": "refuse",
    "save_as": "rows.toml",
}
MOMENTS = {"at once": None, "as it spends": 0.0, "soon after": 0.15, "later": 0.6}  # in seconds


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(0).normal(size=(40_000, 3)) * [9, 3, 1]
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.4f")
    return tmp_path


def workers_of(server):
    """Processes that a server started."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    split = (line.split(None, 2) for line in listed.splitlines()[1:])
    return [
        int(pid)
        for pid, parent, words in split
        if int(parent) == server.pid and "gdppca.jobs.worker" in words
    ]


def until_gone(pids):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        listed = subprocess.run(["ps", "-eo", "pid,stat"], capture_output=True, text=True).stdout
        alive = {int(line.split()[0]) for line in listed.splitlines()[1:] if "Z" not in line}
        if not alive & set(pids):
            return
        time.sleep(0.2)
    raise AssertionError("A worker does not end.")


def until(walker, place, seconds):
    """Wait until the fit was given the word, and so long more; not at all for None."""
    if seconds is None:
        return
    while "Reading" in walker.get(f"{place}/progress").text:
        time.sleep(0.02)
    time.sleep(seconds)


def spends(folder):
    entries = Ledger(f"sqlite:///{folder}/budget.db").history("all")
    return sum(entry.kind == "spend" for entry in entries)


def releases(folder):
    """All releases, each whole; what a killed writer may leave is hidden and named so."""
    left = {path.name for path in folder.iterdir()}
    odd = {name for name in left if not name.startswith(("rows", "budget.db"))}
    assert all(name.startswith(".") and name.endswith(".tmp") for name in odd)
    return [Release.load(path) for path in folder.glob("*-release*.json")]


@pytest.mark.parametrize("whom", ["server", "worker", "both"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment(folder, whom, moment):
    with served(folder) as (address, server):
        walker = Walker(address)
        place, token = walker.to_confirm("rows.csv", COLUMNS, epsilon="1", components="2")
        walker.post(f"{place}/spend", token=token)
        workers = workers_of(server)
        until(walker, place, MOMENTS[moment])
        for pid in workers if whom != "server" else []:
            if pid in workers_of(server):
                os.kill(pid, signal.SIGKILL)
        if whom != "worker":
            server.kill()
            server.wait()
        until_gone(workers)
        if whom == "worker":
            page = walker.wait(f"{place}/result", "is being made").text
            spent = "Nothing was spent" not in page
            assert spends(folder) <= spent  # never told less than what was spent
    made = releases(folder)
    assert len(made) <= spends(folder) <= 1
    if whom == "server":  # whoever began to spend goes on to its end
        assert len(made) == spends(folder)
    with served(folder) as (address, _):  # started again, it shows what was spent
        page = Walker(address).get("/history").text
        assert page.count("<td>spent</td>") == spends(folder)
        assert page.count('aria-label="Merge ') == len(made)
