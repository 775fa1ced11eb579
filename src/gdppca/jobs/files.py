"""Files that a job writes: checked before any budget is spent, written whole."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError
from gdppca.planning.plan import NEWER_FIELDS, PLAN_FIELDS
from gdppca.plots import release_figure
from gdppca.plots.style import require_ending, write_picture
from gdppca.releases import Release

PAGES = (".html", ".htm")
_USUAL_SIZE = 2**20  # bytes: 150 columns, or a report


def require_writable(
    path: Path, *, force: bool, never: Sequence[Path], endings: tuple[str, ...] | None = None
) -> None:
    """Refuse a path that could not be written later, and always a file that is read."""
    if path.resolve() in [source.resolve() for source in never]:
        raise ParameterError(f"'{path}' is the data file; it would be overwritten.")
    if endings is not None:
        require_ending(path, endings)
    if path.is_dir():
        raise ParameterError(f"'{path}' is a folder; give a file.")
    if path.exists() and not path.is_file():
        raise ParameterError(f"'{path}' is a device or a pipe; give a file.")
    if path.exists() and not force:
        raise ParameterError(
            f"'{path}' exists already, and a release cannot be made again for free. "
            "Choose another name, or use --force."
        )
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ParameterError(f"The folder '{path.parent}' is missing or cannot be written to.")
    _require_room(path)


def _require_room(path: Path) -> None:
    """Write as much as a usual release takes, and nothing stays of it.

    Rights, room and name are found wanting here, and not after the budget is spent.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            path.lstat()  # a name that is too long
        with tempfile.TemporaryFile(dir=path.parent) as trial:
            trial.write(bytes(_USUAL_SIZE))
    except OSError as error:
        raise ParameterError(
            f"'{path}' could not be written: {error.strerror}. Nothing was spent."
        ) from None


def drawn(release: Release, path: Path) -> None:
    """Draw a release that is saved already into a file."""
    try:
        write_picture(release_figure(release), path)
    except OSError as error:
        error.add_note("Only the plot is missing: the release is saved.")
        raise


def read_plan(path: Path) -> dict[str, Any]:
    """Read what `gdppca plan --json` printed; only the plan's own fields are kept."""
    problem = ParameterError(f"'{path}' is no plan: make one with gdppca plan ... --json.")
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise problem from None
    if not isinstance(plain, dict) or not set(PLAN_FIELDS) <= set(plain):
        raise problem
    kept = {name: plain[name] for name in (*PLAN_FIELDS, *NEWER_FIELDS) if name in plain}
    values = [*kept.values(), *(kept["per_component"] if _is_list(kept["per_component"]) else [])]
    if not all(_is_plain(value) or value is kept["per_component"] for value in values):
        raise problem
    return kept


def read_audit(path: Path) -> Any:
    """Read what `gdppca audit --release --json` printed; the report looks at what is in it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise ParameterError(
            f"'{path}' is no audit: make one with gdppca audit --release ... --json."
        ) from None


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 10_000


def _is_plain(value: Any) -> bool:
    """A short word or a number that JSON can hold and a release can give back."""
    if isinstance(value, str):
        return len(value) <= 1000
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and abs(value) < 1e17
