"""Eight processes at once, killed at random: never over the cap, no release without an entry."""

import json
import math
from pathlib import Path

import pytest
from faults import programs

from gdppca.ledgers import Ledger
from gdppca.privacy.accounting import gaussian_epsilon, gaussian_multiplier

pytestmark = pytest.mark.slow

STORM = Path(__file__).with_name("ledger_storm.py")
LINES = Path(__file__).with_name("ledger_lines.py")
SHARES, ASKS = 400, 80  # eight processes ask for 640 of 400


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_processes_never_release_more_than_the_cap(address, tmp_path, seed):
    ledger = Ledger(address)
    ledger.create("patients", epsilon=1.0, delta=1e-6)
    multiplier = gaussian_multiplier(1.0, 1e-6) * math.sqrt(SHARES)
    arguments = (address, tmp_path, ASKS, multiplier, seed)
    assert int(programs.output(STORM, *arguments)) > 20  # or the storm was none

    lines = [
        line
        for file in tmp_path.glob("released-*")
        for line in file.read_text(encoding="ascii").splitlines()
    ]
    released = dict(line.split() for line in lines)
    assert len(released) == len(lines)
    together = gaussian_epsilon(multiplier / math.sqrt(len(released)), 1e-6)
    assert together <= 1.0 + 1e-9

    assert ledger.verify().number == SHARES + 2
    entered = {entry.request_id: entry.hash for entry in ledger.history() if entry.kind == "spend"}
    assert released.items() <= entered.items()
    assert len(entered) == SHARES  # as many as fit, each once, whatever was killed


def test_ledgers_go_on_from_any_line_where_they_were_killed(tmp_path):
    found = json.loads(programs.output(LINES, tmp_path))
    assert found["kills"] > 100
    assert found["wrongs"] == {}
