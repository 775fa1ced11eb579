"""Commands on a disk that is full or cannot be written to; run by a test.

``python disk_faults.py folder`` prints, as JSON by name of the fault, how the command ended, what
it said, whether noise was drawn, how often was spent, and which files are there.

A disk is full when the system lets the process write no file beyond some size. Root may write
anywhere, so where something is read-only the command runs as another user.
"""

import json
import os
import resource
import shutil
import sys
from pathlib import Path

import numpy as np
from faults import forked
from typer.testing import CliRunner

from gdppca import DPPCA, Release
from gdppca.cli.main import app
from gdppca.ledgers import Ledger
from gdppca.noise import FreshNoise
from gdppca.report import write_report

NOBODY = 65534


def full(size):
    """From now on no file of this process grows beyond so many bytes, what it says neither."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def before_spend(act):
    """When all is checked and read."""
    spend = Ledger.spend
    Ledger.spend = lambda *each, **more: (act(), spend(*each, **more))[1]


def after_spend(act):
    """When the budget is spent and nothing is written yet."""
    spend = Ledger.spend
    Ledger.spend = lambda *each, **more: (spend(*each, **more), act())[0]


def before_completion(act):
    """When the release lies whole on the disk, under its hidden name."""
    complete = Ledger.complete
    Ledger.complete = lambda *each: (act(), complete(*each))[1]


def after_completion(act):
    """When the release is as good as published, and its picture and page are not yet there."""
    complete = Ledger.complete
    Ledger.complete = lambda *each: (complete(*each), act())[0]


def after_load(act):
    """When a release is read and its report not yet written."""
    load = Release.load
    Release.load = staticmethod(lambda path: (load(path), act())[0])


def as_nobody():
    """Become a user who owns this folder and has no other rights."""
    CliRunner().invoke(app, ["fit", "table.csv", "-o", "warm.json"])  # modules it cannot read later
    Path("warm.json").unlink()
    if os.getuid() == 0:
        for path in (Path(), *Path().rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        os.setuid(NOBODY)
    Path("noise").unlink(missing_ok=True)


def read_only(*names):
    for name in names:
        os.chmod(name, 0o555 if os.path.isdir(name) else 0o444)


FIT = ("fit", "table.csv", "-o", "out/r.json", "--location", "none", "--ledger")
COUNTED = (*FIT, "sqlite:///ledger/budget.db#patients")
NO_SERVER = (*FIT, "postgresql://x@/y?host=/missing#patients")
REPORT = ("report", "old/r.json", "-o", "old/r.html", "--force")

# The command, and what happens to its process before it begins.
FAULTS = {
    "none": (COUNTED, lambda: None),
    "full from the start": (COUNTED, lambda: full(100_000)),
    "full for the ledger": (COUNTED, lambda: before_spend(lambda: full(600))),
    "full for the release": (COUNTED, lambda: after_spend(lambda: full(600))),
    "full for the completion": (COUNTED, lambda: before_completion(lambda: full(5_000))),
    "ledger read-only for the completion": (
        COUNTED,
        lambda: (as_nobody(), before_completion(lambda: read_only("ledger", "ledger/budget.db"))),
    ),
    "full for the plot": (
        (*COUNTED, "--plot", "out/p.svg"),
        lambda: after_completion(lambda: full(5_000)),
    ),
    "full for the report": (
        (*COUNTED, "--report", "out/r.html"),
        lambda: after_completion(lambda: full(5_000)),
    ),
    "full for a report later": (REPORT, lambda: after_load(lambda: full(5_000))),
    "folder read-only": (COUNTED, lambda: (as_nobody(), read_only("out"))),
    "folder read-only after the spend": (
        COUNTED,
        lambda: (as_nobody(), after_spend(lambda: read_only("out"))),
    ),
    "folder read-only for a report": (REPORT, lambda: (as_nobody(), read_only("old"))),
    "folder gone after the spend": (COUNTED, lambda: after_spend(lambda: shutil.rmtree("out"))),
    "folder is a file": ((*COUNTED, "-o", "table.csv/r.json"), lambda: None),
    "ledger read-only": (
        COUNTED,
        lambda: (as_nobody(), read_only("ledger", "ledger/budget.db")),
    ),
    "database gone": (NO_SERVER, lambda: None),
}


def record_noise():
    """Leave a file wherever noise is drawn."""
    for name in ("gaussian", "laplace", "argmax", "generator"):
        setattr(FreshNoise, name, recorded(getattr(FreshNoise, name)))


def recorded(draw):
    def call(*each, **more):
        Path("noise").touch()
        return draw(*each, **more)

    return call


def lay_out(folder, release):
    for name in ("ledger", "out", "old"):
        (folder / name).mkdir(parents=True)
    np.savetxt(folder / "table.csv", TABLE, delimiter=",", header="a,b,c", comments="")
    release.save(folder / "old/r.json")
    write_report(release, folder / "old/r.html")
    ledger = Ledger(f"sqlite:///{folder}/ledger/budget.db")
    ledger.create("patients", epsilon=10.0, delta=1e-6)
    return ledger


def result(name, folder, release):
    words, prepare = FAULTS[name]
    ledger = lay_out(folder, release)
    page = folder / "old/r.html"
    old = page.read_bytes()
    os.chdir(folder)
    pid = forked.start(words, folder.with_suffix(".log"), prepare=prepare)
    _, status = os.waitpid(pid, 0)
    ledger.verify()
    return {
        "code": os.waitstatus_to_exitcode(status),
        "said": folder.with_suffix(".log").read_text(encoding="utf-8"),
        "noise": (folder / "noise").exists(),
        "spends": ledger.account("patients").spends,
        "status": [each.status for each in ledger.register() if each.entry.kind == "spend"],
        "files": sorted(os.listdir("out")) if os.path.isdir("out") else [],
        "old": sorted(os.listdir("old")) == ["r.html", "r.json"] and page.read_bytes() == old,
    }


TABLE = np.random.default_rng(0).normal(size=(60, 3))


def main(folder):
    folder = Path(folder).resolve()
    release = DPPCA(location=None).fit(TABLE).release_
    first = lay_out(folder / "first", release)
    forked.load_everything(first.address)
    record_noise()
    results = {name: result(name, folder / str(k), release) for k, name in enumerate(FAULTS)}
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
