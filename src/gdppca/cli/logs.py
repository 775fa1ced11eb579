"""What commands write down of their work, under the logger ``gdppca``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gdppca._version import __version__

log = logging.getLogger("gdppca")
log.addHandler(logging.NullHandler())  # who wants to hear of it adds another
_FORM = "%(asctime)s %(levelname)s %(message)s"


def writable(text: str) -> str:
    """A text with what is no letter as \\x..: a file's name may be any bytes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def logged(file: Path | None, command: str) -> Iterator[None]:
    """Append what happens during a command to a file, where one is named."""
    if file is None:
        yield
        return
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORM, "%Y-%m-%dT%H:%M:%S%z"))
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.info("%s started, version %s", command, __version__)
    try:
        yield
        log.info("%s done", command)
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
        handler.close()
