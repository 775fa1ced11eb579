"""Eight processes reserve, draw, save and complete, and are killed at random; run by tests.

``python fit_storm.py address folder kills seed [fault]``: the ledger knows the data set
"patients", and the folder holds nothing but table.csv.

Every process is one whole command: ``gdppca fit table.csv --ledger ... -o k.json``, with
``--report k.html``, with a map or without, or ``gdppca report`` or ``gdppca merge`` of releases
that are there (`checks.work`). Who finds too few to merge is idle.
Six of seven are doomed until there are kills enough: half of them to die at a random moment of a
usual life, half at a random line of the code that spends and writes. Then fits go on until the
budget has refused as many as run at once. Prints what became of each, as JSON.

A fault is planted on purpose, to see the checks find what it does.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from faults import forked
from faults.checks import epsilon, files, work

from gdppca import Release
from gdppca.cli.outcomes import Outcome
from gdppca.ledgers import Ledger

WORKERS = 8
_LONGEST = 120  # seconds; longer is a hang


class Storm:
    """Processes that come and go; `fates` tells how each ended, by its number."""

    def __init__(self, address, logs, kills, seed):
        self._address, self._logs, self._kills = address, logs, kills
        self._chance = random.Random(seed)
        self._running = {}  # process id: number, when it began, when it must end
        self._life = 1.0  # seconds, as lately seen
        self._lines = forked.lines_of(self._words(0), logs / "0")
        self.fates = {0: "done"}

    def blow(self):
        """Until the budget is gone and everything has ended."""
        while self._running or self._count("refused") < WORKERS:
            while len(self._running) < WORKERS and self._count("refused") < WORKERS:
                self._start()
            time.sleep(0.002)
            for pid, (_, _, end) in self._running.items():
                if time.monotonic() > end:
                    os.kill(pid, signal.SIGKILL)  # not yet reaped: the id is still this child's
            for pid in list(self._running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    k, began, _ = self._running.pop(pid)
                    self._note(k, os.waitstatus_to_exitcode(status), time.monotonic() - began)

    def calm(self):
        """Leave nobody behind."""
        for pid in self._running:
            os.kill(pid, signal.SIGKILL)

    def _count(self, fate):
        return Counter(self.fates.values())[fate]

    def _start(self):
        k, now = len(self.fates) + len(self._running), time.monotonic()
        if work(k) == "merged" and len(self._done("reported")) < 2:
            self.fates[k] = "idle"
            return
        doomed = self._count("killed") < self._kills and self._chance.random() < 0.85
        line, life = None, _LONGEST
        if doomed and self._chance.random() < 0.5:
            line = self._chance.choice(self._lines)
        elif doomed:
            life = self._chance.uniform(0, 1.2 * self._life)
        pid = forked.start(self._words(k), self._logs / str(k), line)
        self._running[pid] = k, now, now + life

    def _done(self, kind):
        """Whose releases of a kind are there."""
        return [k for k, fate in self.fates.items() if fate == "done" and work(k) == kind]

    def _words(self, k):
        kind = work(k)
        if kind == "report":
            return [
                "report",
                f"{self._chance.choice(self._done('reported'))}.json",
                "-o",
                f"{k}.html",
            ]
        if kind == "merged":
            parts = self._chance.sample(self._done("reported"), 2)
            return ["merge", *(f"{part}.json" for part in parts), "-o", f"{k}.json"]
        words = ["fit", "table.csv", "--ledger", f"{self._address}#patients", "-o", f"{k}.json"]
        words += ["--epsilon", str(epsilon(k)), "--purpose", f"storm {k}"]
        words += ["--location", "private" if kind == "centred" else "none"]
        words += ["--assume-shuffled"] * (kind == "in parts")
        words += ["--score-map", "0.3"] * (kind == "mapped")
        return [*words, "--report", f"{k}.html"] if f"{k}.html" in files(k) else words

    def _note(self, k, code, life):
        said = (self._logs / str(k)).read_text(encoding="utf-8")
        if code == -signal.SIGKILL and life < _LONGEST:
            self.fates[k] = "killed"
        elif code == 0:
            self.fates[k] = "done"
            self._life = 0.7 * self._life + 0.3 * life
        elif code == Outcome.BUDGET and "does not allow it" in said:
            self.fates[k] = "refused"
        elif code == Outcome.ENVIRONMENT and "error: The ledger at" in said:
            self.fates[k] = "turned away"  # the database is gone
        else:
            raise SystemExit(f"process {k} ended with {code} after {life:.1f} s: {said}")


def late_debit():
    """Spend only when the release is written."""
    spend, save, owed = Ledger.spend, Release.save, []

    def save_and_spend(release, path, ledger=None):
        save(release, path, ledger)
        for each, named in owed:
            spend(*each, **named)

    Ledger.require = lambda *_, **__: None  # nobody asks before
    Ledger.spend = lambda *each, **named: owed.append((each, named))
    Release.save = save_and_spend


def torn_write():
    """Write files in place; some processes die between two halves."""

    def write(path, content, flushed=lambda: None):
        flushed()
        with open(path, "wb", buffering=0) as stream:
            stream.write(content[: len(content) // 2])
            if int(path.stem) % 3 == 1:
                forked.die()
            stream.write(content[len(content) // 2 :])

    for name in ("gdppca.releases.release", "gdppca.report.render"):
        sys.modules[name].write_whole = write


FAULTS = {fault.__name__: fault for fault in (late_debit, torn_write)}


def main(address, folder, kills, seed, fault=None):
    if fault is not None:
        FAULTS[fault]()
    forked.load_everything(address)
    logs = Path(folder).resolve().with_name("logs")
    logs.mkdir()
    os.chdir(folder)
    storm = Storm(address, logs, int(kills), int(seed))
    try:
        storm.blow()
    finally:
        storm.calm()
    print(json.dumps(storm.fates))


if __name__ == "__main__":
    main(*sys.argv[1:])
