"""A job in a process of its own: a wish on standard input, what happens on standard output.

Both are lines of JSON. A fit waits for the word "go" before it spends anything: whoever started it
may stop it up to there, and where that process dies nothing is spent. From there on the fit goes on
to its end by itself, whatever becomes of the process that started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from gdppca._errors import GdppcaError, PrivacyWarning
from gdppca.design.run import Gate
from gdppca.jobs.ahead import count
from gdppca.jobs.fit import illustrate, released
from gdppca.jobs.wish import Said, Wish

GO = "go"
Tell = Callable[..., None]
_PATHS = ("plan", "output", "plot", "report")


class Stopped(BaseException):
    """Nobody said go."""


class Teller(Gate):
    """Progress that is told as lines, and asks before anything is spent."""

    def __init__(self, tell: Tell, ask: TextIO) -> None:
        self.tell, self._ask, self._last = tell, ask, -1

    def __call__(self, done: int, total: int) -> None:
        """Tell it where a hundredth more is done."""
        now = 100 * done // max(total, 1)
        if now != self._last:
            self._last = now
            self.tell("progress", percent=now)

    def last_call(self) -> None:
        """Wait for the word; nobody there means no."""
        self.tell("ready")
        if self._ask.readline().strip() != GO:
            raise Stopped
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._last = -1

    def entered(self) -> None:
        """Tell that it is paid for."""
        self.tell("entered")


def to_plain(wish: Wish) -> dict[str, Any]:
    """A wish as JSON holds it."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(wish), default=str))
    return plain


def from_plain(plain: dict[str, Any]) -> Wish:
    """What `to_plain` wrote."""
    said = dict(plain.pop("said"))
    table = said.pop("table")
    paths = {name: Path(plain[name]) for name in _PATHS if plain[name] is not None}
    return Wish(
        **{**plain, **paths, "data": tuple(plain["data"])},
        said=Said(table=None if table is None else Path(table), **said),
    )


def work(task: dict[str, Any], tell: Tell, ask: TextIO) -> None:
    """Do one job, and tell how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyWarning)
        warnings.showwarning = lambda message, *_, **__: tell("warning", text=str(message))
        try:
            wish = from_plain(task["wish"])
            if task["job"] == "count":
                found = count(wish)
                tell("counted", **asdict(found) | {"supply": found.supply.name})
                return
            release = released(wish, Teller(tell, ask))
            illustrate(wish, release)
            tell("done", file=str(wish.output))
        except Stopped:
            tell("stopped")
        except BaseException as error:
            tell("failed", text=said_of(error), notes=[*getattr(error, "__notes__", ())])


def said_of(error: BaseException) -> str:
    """What went wrong, without a word that could be a cell."""
    if isinstance(error, GdppcaError):
        return str(error)
    if isinstance(error, OSError):
        named = f": {error.filename}" if error.filename else ""
        return f"{error.strerror or 'A file could not be read or written'}{named}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this table. Try a machine with more."
    return f"Something went wrong that nobody foresaw ({type(error).__name__})."


def main() -> None:
    """Read a task, work, and leave standard output to what is told."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)

    def tell(kind: str, **more: Any) -> None:
        with contextlib.suppress(OSError, ValueError):  # nobody listens any more
            out.write(json.dumps({"kind": kind, **more}) + "\n")
            out.flush()

    work(json.loads(sys.stdin.readline()), tell, sys.stdin)


def _stop(*_: Any) -> None:
    raise Stopped


if __name__ == "__main__":
    main()
