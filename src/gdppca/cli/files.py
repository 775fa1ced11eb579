"""Files that a command writes: checked before any budget is spent, written whole."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError
from gdppca.planning.plan import PLAN_FIELDS
from gdppca.plots import release_figure
from gdppca.releases import Release, write_whole


def require_writable(
    path: Path, *, force: bool, never: Sequence[Path], endings: tuple[str, ...] | None = None
) -> None:
    """Refuse a path that could not be written later, and always a file that is read."""
    if path.resolve() in [source.resolve() for source in never]:
        raise ParameterError(f"'{path}' is the data file; it would be overwritten.")
    if endings is not None and path.suffix.lower() not in endings:
        raise ParameterError(f"'{path}' must end in {', '.join(endings)}.")
    if path.is_dir():
        raise ParameterError(f"'{path}' is a folder; give a file.")
    if path.exists() and not force:
        raise ParameterError(
            f"'{path}' exists already, and a release cannot be made again for free. "
            "Choose another name, or use --force."
        )
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ParameterError(f"The folder '{path.parent}' is missing or cannot be written to.")


def drawn(release: Release, path: Path) -> None:
    """Draw a release into a file."""
    picture = io.BytesIO()
    release_figure(release).savefig(picture, format=path.suffix.lower().lstrip("."))
    write_whole(path, picture.getvalue())


def read_plan(path: Path) -> dict[str, Any]:
    """Read what `gdppca plan --json` printed; only the plan's own fields are kept."""
    problem = ParameterError(f"'{path}' is no plan: make one with gdppca plan ... --json.")
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise problem from None
    if not isinstance(plain, dict) or not set(PLAN_FIELDS) <= set(plain):
        raise problem
    return {name: plain[name] for name in PLAN_FIELDS}
