"""The command line in forked processes, which can be told at which line to die.

A process that forks must have one thread only, so programs use this, and no test does itself.
"""

import json
import os
import signal
import sys
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import gdppca
from gdppca import DPPCA
from gdppca.cli.main import app
from gdppca.report import render

# What spends and what writes: a moment drawn at random rarely hits these few lines.
_DANGEROUS = frozenset(
    str(Path(gdppca.__file__).parent / name)
    for name in (
        "_files.py",
        "cli/fit.py",
        "estimators/gdppca.py",
        "jobs/fit.py",
        "ledgers/debit.py",
        "ledgers/desk.py",
        "ledgers/entries.py",
        "ledgers/head.py",
        "ledgers/ledger.py",
        "ledgers/registered.py",
        "ledgers/sql.py",
        "releases/files.py",
        "releases/release.py",
        "report/render.py",
        "steps/scatter.py",
    )
)


def load_everything(address):
    """Import, compile and draw once: a forked command then starts where its work starts."""
    import duckdb  # noqa: F401  (threads start when they read)
    import pyarrow.csv  # noqa: F401

    table = np.arange(12.0).reshape(6, 2)
    for location in (None, "private"):
        with warnings.catch_warnings(action="ignore"):
            render(DPPCA(location=location).fit(table).release_)
    CliRunner().invoke(app, ["fit", "missing.csv"])
    load_ledgers(["ledger", "show", address])


def load_ledgers(words):
    """The same for commands that need no more, by one of them."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert threading.active_count() == 1  # a fork copies one thread, and the locks of all


def start(words, log, line=None, prepare=lambda: None):
    """Run a command in a process of its own, which dies where it reaches `line`; its id."""
    look = None if line is None else lambda here: here == line and die()
    return _fork(words, log, look, first=prepare)


def lines_of(words, log):
    """Every dangerous line that a command passes, in order; it is run once, to its end."""
    seen = {}
    pid = _fork(words, log, seen.setdefault, last=lambda: print(json.dumps([*seen])))
    _, status = os.waitpid(pid, 0)
    said = Path(log).read_text(encoding="utf-8")
    assert status == 0, said
    return [tuple(line) for line in json.loads(said.splitlines()[-1])]


def die():
    """As nothing can prevent."""
    os.kill(os.getpid(), signal.SIGKILL)


def _fork(words, log, look, first=lambda: None, last=lambda: None):
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    pid = os.fork()
    if pid:
        os.close(file)
        return pid
    code = 70
    try:
        os.dup2(file, 1)
        os.dup2(file, 2)
        first()
        sys.settrace(look and _tracer(look))
        app(words)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.settrace(None)
        last()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _tracer(look):
    def trace(frame, event, _):
        if frame.f_code.co_filename not in _DANGEROUS:
            return None
        look((frame.f_code.co_filename, frame.f_lineno))
        return trace

    return trace
