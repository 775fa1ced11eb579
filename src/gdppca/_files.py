"""Files that outlast a crash: written whole or not at all, with names that last."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_SHORT_NAME = 50  # letters of at most four bytes, so that a longest name still leaves room


def write_whole(path: Path, content: bytes, flushed: Callable[[], None] = lambda: None) -> None:
    """Write a file so that a crash leaves the old one or the new one, never half of it.

    A process that is killed meanwhile may leave a hidden file beside it that ends in ``.tmp``. It
    holds all once `flushed` is called, and gets its name after that.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(path.parent))
    try:
        _write_and_move(path, content, flushed)
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None  # not that of a temporary file
        raise
    make_durable(path.parent)


def _write_and_move(path: Path, content: bytes, flushed: Callable[[], None]) -> None:
    prefix = f".{path.name[:_SHORT_NAME]}."
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        flushed()
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def make_durable(folder: Path) -> None:
    """Let a new name outlast a power cut; where folders cannot be flushed, it may not."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
