"""A folder for raw data that nobody else can read and that is gone on every exit."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from gdppca._errors import DataError

_PREFIX = "gdppca-rows-"
_LOCK = "in-use"
_NEW = 60.0  # seconds
_ENDINGS = ("SIGTERM", "SIGHUP", "SIGQUIT")


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of our own (mode 0700) where the system keeps temporary files, see TMPDIR.

    It is removed at the end, on errors, on Ctrl-C, SIGTERM, SIGQUIT and SIGHUP, a terminal that
    is gone. What else ends a program at once, such as SIGKILL and a power cut, can leave it; the
    next one that is made removes what they left.
    """
    wish = os.environ.get("TMPDIR", "")
    if wish and not os.path.isdir(wish):  # Python would take another place without a word
        raise DataError("There is no folder TMPDIR, where raw rows would go. Make or mount it.")
    _require_plain_name(tempfile.gettempdir())
    _remove_orphans()
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise DataError(
            f"No temporary folder can be made in '{tempfile.gettempdir()}' "
            f"({error.strerror}). Set TMPDIR to a folder with room."
        ) from None
    try:
        with _removed_on_signals(folder):
            _locked(lock)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _require_plain_name(folder: str) -> None:
    """Refuse a name that DuckDB takes for another one: raw rows would go elsewhere."""
    no_letters = map(chr, range(0xD800, 0xE000))  # bytes that are none
    if ({"?", "\\", *no_letters} - {os.sep}) & set(folder):
        raise DataError(
            "The name of the temporary folder must be text without a question mark or a "
            f"backslash, got {folder!a}. Set TMPDIR to another folder."
        )


@contextmanager
def _removed_on_signals(folder: Path) -> Iterator[None]:
    """They end a Python program without any clean-up, unless somebody takes them."""
    in_main = threading.current_thread() is threading.main_thread()  # others cannot take signals
    known = [getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)]
    # Where a signal has another handler, the program has its own plans.
    ours = [each for each in known if in_main and signal.getsignal(each) is signal.SIG_DFL]

    def remove_and_end(number: int, frame: FrameType | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for each in ours:
        signal.signal(each, remove_and_end)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def _locked(lock: int) -> bool:
    """Take the lock of a folder; the system gives it back when its process ends, however."""
    try:
        import fcntl
    except ImportError:  # not everywhere; then nothing is an orphan
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_orphans() -> None:
    """Remove folders of ours whose process is no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone already
            if time.time() - folder.stat().st_mtime < _NEW:
                continue  # its lock may not be taken yet
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                if _locked(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
