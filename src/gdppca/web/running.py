"""Jobs in processes of their own: the page stays responsive, and can stop one before it spends."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gdppca.jobs.wish import Wish
from gdppca.jobs.worker import GO, to_plain

_UNHEARD = (
    "The job ended without a word: it was stopped from outside, or the machine had no room. "
    "History shows whether anything was entered."
)
_PATIENCE = 5.0  # seconds until a job that is to stop is made to


class Stage(StrEnum):
    """How far a job is."""

    READING = "reading"  # nothing is spent, and it can be stopped
    SPENDING = "spending"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


_OVER = (Stage.DONE, Stage.FAILED, Stage.STOPPED)


@dataclass
class Job:
    """A job and what was heard of it."""

    kind: str  # "fit" or "count"
    wish: Wish
    stage: Stage = Stage.READING
    percent: int | None = None
    spent: bool = False  # whether the debit stands, or may stand
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    answer: dict[str, Any] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)

    def start(self) -> Job:
        """Start the process, and listen to it."""
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder that it runs in.
            [sys.executable, "-P", "-m", "gdppca.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C in the terminal does not reach it
        )
        self._say(json.dumps({"job": self.kind, "wish": to_plain(self.wish)}))
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.stage in _OVER

    @property
    def seconds_left(self) -> float | None:
        """About how long the part that runs will take, where that can be told."""
        if not self.percent or self.over:
            return None
        return (time.monotonic() - self.begun) * (100 - self.percent) / self.percent

    def cancel(self) -> bool:
        """Stop it where nothing is spent yet; tell whether that was so."""
        with self._lock:
            if self.stage is not Stage.READING:
                return self.stage is Stage.STOPPED
            self.stage = Stage.STOPPED
        with contextlib.suppress(OSError):
            self._process.terminate()
        threading.Timer(_PATIENCE, self._process.kill).start()
        return True

    def wait(self, seconds: float) -> bool:
        """Wait for its end; tell whether it came."""
        self._listener.join(seconds)
        return self.over

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is gone, and the listener will notice
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._hear(json.loads(line))
        self._process.wait()
        with self._lock:
            if not self.over:
                self.spent = self.stage is Stage.SPENDING
                self.stage, self.problem = Stage.FAILED, _UNHEARD

    def _hear(self, said: dict[str, Any]) -> None:
        match said["kind"]:
            case "progress":
                self.percent = int(said["percent"])
            case "warning":
                self.warnings.append(str(said["text"]))
            case "ready":
                self._give_the_word()
            case "entered":
                self.spent = True
            case "counted" | "done":
                self.answer, self.stage = said, Stage.DONE
            case "failed":
                with self._lock:
                    if self.stage is not Stage.STOPPED:
                        self.problem, self.notes = said["text"], said["notes"]
                        self.stage = Stage.FAILED

    def _give_the_word(self) -> None:
        with self._lock:
            if self.stage is not Stage.READING:
                return
            self.stage, self.percent = Stage.SPENDING, None
            self.begun = time.monotonic()
        self._say(GO)
