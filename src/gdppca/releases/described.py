"""What a table's description says of the columns of a release: labels, units, levels.

The description is plain and was written by others. It is checked where a file is read; names that
it does not know speak for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import ReleaseError

if TYPE_CHECKING:
    from gdppca.releases.release import Release


@dataclass(frozen=True, kw_only=True)
class Described:
    """One column of the components, as the table's owner calls it."""

    name: str
    variable: str  # the column of the table that it comes from
    kind: str = "number"
    level: str = ""  # of a category
    levels: tuple[str, ...] = ()
    label: str = ""
    unit: str = ""
    origin: str = ""  # of a date

    @property
    def heading(self) -> str:
        """The variable as reports call it."""
        return self.label or self.variable

    @property
    def title(self) -> str:
        """The column as pictures call it."""
        if not self.level:
            return self.heading
        return f"{self.heading}{self.joint}{self.level}"

    @property
    def joint(self) -> str:
        """What stands between variable and level: as in the name, or as people write it."""
        return ": " if self.label else "="

    @property
    def words(self) -> str:
        """What is to be known beside the name; nothing where that is all."""
        match self.kind, self.levels:
            case "category", _:
                return self.title if self.label else ""
            case "yes-no", (no, yes):
                return _joined(self.label, f"0 is {no}, 1 is {yes}")
            case "yes-no", _:
                return _joined(self.label, "0 is no, 1 is yes")
            case "date", _:
                return _joined(self.label, f"days since {self.origin}" if self.origin else "days")
        return _joined(self.label, f"in {self.unit}" if self.unit else "")


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def check_description(description: Any, feature_names: Sequence[str]) -> None:
    """Refuse a plain description of other columns than those of the release."""
    laid_out = (
        isinstance(description, Mapping)
        and all(isinstance(description.get(part), Mapping) for part in ("table", "columns"))
        and all(isinstance(column, Mapping) for column in description["columns"].values())
    )
    if not laid_out:
        raise ReleaseError("The release's description must hold a `table` and its `columns`.")
    if sorted(each.name for each in _features(description)) != sorted(feature_names):
        raise ReleaseError("The release's description is not one of its columns.")


def described(release: Release) -> tuple[Described, ...]:
    """Each column of the components as the description has it, or by its name alone."""
    known = {each.name: each for each in _features(release.description or {"columns": {}})}
    return tuple(
        known.get(name) or Described(name=name, variable=name) for name in release.feature_names
    )


def _features(description: Mapping[str, Any]) -> Iterator[Described]:
    for name, column in description["columns"].items():
        kind = column.get("type") or "number"
        levels = tuple(column.get("levels") or ())
        said = {key: str(column.get(key) or "") for key in ("label", "unit", "origin")}
        if kind != "category":
            yield Described(name=name, variable=name, kind=kind, levels=levels, **said)
            continue
        for level in levels:
            yield Described(
                name=f"{name}={level}", variable=name, kind=kind, level=level, levels=levels, **said
            )


def by_variable(release: Release) -> dict[str, list[int]]:
    """Columns of the components by the variable of the table that they come from, in order."""
    groups: dict[str, list[int]] = {}
    for j, each in enumerate(described(release)):
        groups.setdefault(each.variable, []).append(j)
    return groups


def variable_loadings(release: Release) -> tuple[tuple[str, ...], np.ndarray]:
    """Variables, and the root of the sum of squared loadings of each in every component.

    Squares of these add up to one over the variables of a component: they are its shares.
    """
    groups = by_variable(release)
    squares = [np.sum(release.components[:, of] ** 2, axis=1) for of in groups.values()]
    return tuple(groups), np.sqrt(np.array(squares).T.reshape(len(release.components), -1))
