"""The folder that the workbench may see: names inside it, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gdppca._errors import ParameterError
from gdppca.tables.formats import FORMATS

TABLES = (
    *(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"),
    *(".parquet", ".pq", ".arrow", ".feather"),
    *FORMATS,
)
_DEPTH = 3  # folders inside folders
_MOST = 500  # names that are listed
_STEM_LENGTH = 80


@dataclass(frozen=True)
class Folder:
    """A folder by its true path. What is asked for by name lies inside it, and is no link."""

    root: Path

    @classmethod
    def opened(cls, path: str | os.PathLike[str]) -> Folder:
        """A folder that is there and can be read."""
        root = Path(path)
        if not root.is_dir():
            raise ParameterError(f"`folder` must be a folder that is there, got '{root}'.")
        if not os.access(root, os.R_OK | os.X_OK):
            raise ParameterError(f"`folder` cannot be read: '{root}'. Ask its owner for the right.")
        return cls(root.resolve())

    def path(self, name: str) -> Path:
        """Where a name stands; refused unless it lies inside and no part of it is a link."""
        parts = PurePosixPath(name).parts
        odd = "\0" in name or "\\" in name or any(part.startswith(".") for part in parts)
        if not parts or odd or PurePosixPath(name).is_absolute():
            raise ParameterError("The name must be one of a file in this folder.")
        path = self.root.joinpath(*parts)
        if path.resolve() != path:
            raise ParameterError("The name must be one of a file in this folder, and no link.")
        return path

    def existing(self, name: str) -> Path:
        """The same for a file that is there."""
        path = self.path(name)
        if not path.is_file():
            raise ParameterError(f"There is no file '{name}' in this folder any more.")
        return path

    def new(self, name: str, ending: str) -> Path:
        """The same for a file that is to be written, directly in the folder."""
        if "/" in name or not name.endswith(ending) or len(name) > _STEM_LENGTH + len(ending):
            raise ParameterError(
                f"The name must end in {ending}, without a slash, {_STEM_LENGTH} letters at most."
            )
        return self.path(name)

    def name(self, path: Path) -> str:
        """What a file inside is called."""
        return path.relative_to(self.root).as_posix()

    def tables(self) -> list[str]:
        """Files that can be opened as tables."""
        return self._listed(TABLES)

    def descriptions(self) -> list[str]:
        """Files that may describe a table."""
        return self._listed((".toml",))

    def releases(self) -> list[str]:
        """Files that may be releases."""
        return self._listed((".json",))

    def _listed(self, endings: tuple[str, ...]) -> list[str]:
        found = (self.name(path) for path in _files(self.root, _DEPTH))
        return sorted(name for name in found if name.lower().endswith(endings))[:_MOST]


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Files that are no links and not hidden, in folders of which the same is true."""
    try:
        entries = list(os.scandir(folder))
    except OSError:  # a folder inside that may not be read is passed by
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
        elif depth and entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), depth - 1)
