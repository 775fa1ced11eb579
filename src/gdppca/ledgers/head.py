"""The last entry's hash, kept beside the ledger: what shows that entries were rolled back.

The file is written after an entry was committed. A crash in between leaves it one entry behind,
never ahead; so a file that is ahead of its ledger means that the ledger lost entries.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from gdppca._errors import LedgerError, PrivacyWarning
from gdppca.ledgers.chain import Head

_LINE = re.compile(rb"(\d{12}) ([0-9a-f]{64})\n")  # one width: overwritten in place, in one write


class HeadFile:
    """A one-line file with number and hash of the last entry seen."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Head | None:
        """What was noted last; None where the file is missing or, after a kill, empty."""
        try:
            content = self.path.read_bytes()
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

    def note(self, head: Head) -> None:
        """Remember a later entry; a failure is a warning, since the entry itself is safe."""
        try:
            with _locked(self.path) as file:
                noted = _LINE.fullmatch(os.pread(file, 100, 0))
                if noted is None or int(noted[1]) < head.number:
                    os.pwrite(file, f"{head.number:012d} {head.hash}\n".encode(), 0)
                if noted is None:
                    os.fsync(file)
        except OSError as error:
            warnings.warn(
                f"The last entry could not be noted in '{self.path}': {error.strerror}.",
                PrivacyWarning,
                stacklevel=3,
            )


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with contextlib.suppress(ImportError):  # Windows: the worst is a head that lags behind
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)
