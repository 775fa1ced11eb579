"""A full disk, a read-only folder, a database that is gone: told in words, nothing torn.

No noise is drawn where the spend was not entered, and an error after it says what is spent.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from faults import programs

from gdppca.cli.outcomes import Outcome

PROGRAM = Path(__file__).with_name("disk_faults.py")
SPENT = "What it spent stays spent: (epsilon = 1, delta = 1e-06)"

LATER = "stays reserved"
# What is said, spends, whether noise was drawn, files.
EXPECTED = {
    "full from the start": ("'out/r.json' could not be written", 0, False, []),
    "full for the ledger": ("Nothing was spent", 0, False, []),
    "full for the release": (SPENT, 1, True, []),
    "full for the completion": (LATER, 1, True, ["r.json"]),
    "ledger read-only for the completion": (LATER, 1, True, ["r.json"]),
    "full for the plot": ("Only the plot is missing", 1, True, ["r.json"]),
    "full for the report": ("Only the report is missing", 1, True, ["r.json"]),
    "full for a report later": ("Only the report is missing", 0, False, []),
    "folder read-only": ("cannot be written", 0, False, []),
    "folder read-only after the spend": (SPENT, 1, True, []),
    "folder read-only for a report": ("cannot be written", 0, False, []),
    "folder gone after the spend": (SPENT, 1, True, []),
    "folder is a file": ("cannot be written", 0, False, []),
    "ledger read-only": ("Nothing was spent", 0, False, []),
    "database gone": ("Nothing was spent", 0, False, []),
}


@pytest.fixture(scope="module")
def results():
    folder = tempfile.mkdtemp(prefix="gdppca-disks-")  # where another user may go too
    os.chmod(folder, 0o755)
    try:
        return json.loads(programs.output(PROGRAM, folder))
    finally:
        shutil.rmtree(folder)


def test_without_a_fault_all_is_well(results):
    """Or the others would prove nothing."""
    good = {"code": 0, "noise": True, "spends": 1, "files": ["r.json"], "old": True}
    assert results["none"]["status"] == ["completed"]
    assert results["none"].items() >= good.items()
    assert set(results) == {"none", *EXPECTED}


@pytest.mark.parametrize("fault", EXPECTED)
def test_a_fault_is_told_and_leaves_nothing_torn(fault, results):
    said, spends, noise, files = EXPECTED[fault]
    found = results[fault]
    before = ("cannot be written", "could not be written")  # found out by a look at the folder
    usage = fault == "folder gone after the spend" or any(each in said for each in before)
    failed = Outcome.USAGE if usage else Outcome.ENVIRONMENT
    assert found["code"] == (Outcome.DONE if said == LATER else failed)
    complete = said != LATER and "r.json" in files
    assert found["status"] == ["completed" if complete else "reserved"] * spends
    assert said in found["said"]
    assert "Traceback" not in found["said"]
    assert found["spends"] == spends
    assert found["noise"] == noise
    assert found["files"] == files
    assert found["old"]  # an earlier report is as it was
