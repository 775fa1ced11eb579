"""The last entry's hash, kept beside the ledger: what shows that entries were rolled back.

The file is made before the first entry is committed, and written after every one. A crash in
between leaves it behind, never ahead, and the entry that it names is in the ledger for ever. So an
entry that is gone or another one means that the ledger was rolled back or replaced, and a file that
is missing was taken away.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from gdppca._errors import LedgerError, PrivacyWarning
from gdppca._files import make_durable
from gdppca.ledgers.chain import Head

_LINE = re.compile(rb"(\d{12}) ([0-9a-f]{64})\n")  # one width: overwritten in place, in one write


class HeadFile:
    """A one-line file with number and hash of the last entry seen."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Head | None:
        """What was noted last; None where the file is missing or, after a kill, empty."""
        try:
            with _locked(self.path, reading=True) as file:
                content = os.pread(file, 1000, 0)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"'{self.path}' cannot be read: {error.strerror}.") from None
        if not content:
            return None
        found = _LINE.fullmatch(content)
        if found is None:
            raise LedgerError(f"'{self.path}' does not hold the last entry's hash: it was edited.")
        return Head(int(found[1]), found[2].decode())

    def make(self) -> None:
        """Make the file, empty, so that it outlasts a power cut; a failure is an error."""
        try:
            with _locked(self.path) as file:
                os.fsync(file)
            make_durable(self.path.parent)
        except OSError as error:
            raise LedgerError(
                f"'{self.path}' cannot be made: {error.strerror}. Nothing was entered."
            ) from None

    def accept(self, head: Head) -> None:
        """Note an entry whatever was noted before; a failure is an error."""
        try:
            with _locked(self.path) as file:
                os.ftruncate(file, 0)
                os.pwrite(file, _line(head), 0)
                os.fsync(file)
        except OSError as error:
            raise LedgerError(f"'{self.path}' cannot be written: {error.strerror}.") from None

    def note(self, head: Head) -> None:
        """Remember a later entry; a failure is a warning, since the entry itself is safe."""
        try:
            with _locked(self.path) as file:
                noted = _LINE.fullmatch(os.pread(file, 100, 0))
                if noted is None or int(noted[1]) < head.number:
                    os.pwrite(file, _line(head), 0)
                if noted is None:
                    os.fsync(file)
        except OSError as error:
            warnings.warn(
                f"The last entry could not be noted in '{self.path}': {error.strerror}.",
                PrivacyWarning,
                stacklevel=3,
            )


def _line(head: Head) -> bytes:
    return f"{head.number:012d} {head.hash}\n".encode()


@contextlib.contextmanager
def _locked(path: Path, *, reading: bool = False) -> Iterator[int]:
    """The file while nobody else writes: half of a line and half of the next would be an alarm.

    Without locks, as on Windows, the worst is a head that lags behind: writes are small.
    """
    file = os.open(path, os.O_RDONLY if reading else os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with contextlib.suppress(ImportError, *([OSError] if reading else [])):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_SH if reading else fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)
