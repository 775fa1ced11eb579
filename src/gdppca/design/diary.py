"""What is written down of a run, under the logger ``gdppca``: no cell, no secret number."""

from __future__ import annotations

import logging
import time

from gdppca.privacy import Event, Protected

_log = logging.getLogger("gdppca")


class Diary:
    """Notes of one run.

    How long a step takes tells how many rows there are, so times stand there only where their
    number is public.
    """

    def __init__(self, protected: Protected) -> None:
        self._timed = protected.tells_rows
        self._last = time.monotonic()

    def note(self, what: str, *told: object) -> None:
        """Write a line, with the time since the line before."""
        before, self._last = self._last, time.monotonic()
        took = f", {self._last - before:.2f} s" if self._timed else ""
        _log.info(f"{what}%s", *told, took)

    def drawn(self, step: object, events: tuple[Event, ...]) -> None:
        """Write down what a step drew."""
        purposes = ", ".join(dict.fromkeys(event.purpose for event in events)) or "nothing"
        self.note("step %s drew %s", type(step).__name__, purposes)
