"""What is asked of a fit, by the names that the command line has; the browser asks for the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError
from gdppca.estimators import DPPCA
from gdppca.jobs.texts import DIALECT, axes_of, dialect_of, groups_of, question_of
from gdppca.tables.description import Description
from gdppca.tables.sources import files_behind


@dataclass(frozen=True, kw_only=True)
class Said:
    """What is said of rows beside where they are; options go before the description's file."""

    table: Path | None = None
    person: str | None = None
    weight: str | None = None
    largest_weight: float | None = None
    dialect: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def taken_from(cls, asked: dict[str, Any]) -> Said:
        """What options say of the rows, taken out of them."""
        written = {name: asked.pop(name) for name in DIALECT}
        named = ("table", "person", "weight", "largest_weight")
        return cls(dialect=dialect_of(written), **{name: asked.pop(name, None) for name in named})

    def arguments(self) -> dict[str, Any]:
        """The same as `DPPCA.fit_release` takes it; the description is read here."""
        told = None if self.table is None else Description.load(self.table)
        if self.dialect:
            told = replace(told or Description(columns=()), **self.dialect)
        return {
            "persons": self.person,
            "weights": self.weight,
            "largest_weight": self.largest_weight,
            "description": told,
        }


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What to read, what to release, and what to write."""

    data: tuple[str, ...]
    parameters: Mapping[str, Any]  # of `DPPCA`
    said: Said = field(default_factory=Said)
    query: str | None = None  # to a database, in place of files
    columns: list[str] | None = None
    variances: float = 0.0
    score_map: float = 0.0
    axes: str | None = None  # components of the map, counted from one
    groups: str | None = None
    assume_shuffled: bool = False
    who: str | None = None  # in whose name a ledger notes the spend
    purpose: str | None = None
    fingerprint: bool = True
    request_id: str | None = None  # a second run of that name neither spends nor draws
    plan: Path | None = None
    output: Path = Path("release.json")
    plot: Path | None = None
    report: Path | None = None
    force: bool = False

    def __post_init__(self) -> None:
        """Refuse groups that nothing would be done with, and questions to nobody."""
        if self.groups is not None:
            groups_of(self.groups)
        self._require_axes()
        for name in ("groups", "axes"):
            if getattr(self, name) is not None and not self.score_map:
                raise ParameterError(f"`--{name}` needs `--score-map` with a share of the budget.")
        if self.request_id is not None and self.parameters.get("ledger") is None:
            raise ParameterError("`request_id` names a spend in a ledger. Give `ledger` too.")
        question_of(list(self.data), self.query)

    def _require_axes(self) -> None:
        """Refuse a map of components that there will not be, in the words of who counts from 1."""
        m = self.parameters.get("n_components")
        if self.axes is not None and isinstance(m, int) and max(axes_of(self.axes)) >= m:
            raise ParameterError(
                f"`--axes` asks for a map of component {max(axes_of(self.axes)) + 1}, and "
                f"`--components` is {m}. Release more components, or map others."
            )

    @property
    def source(self) -> Any:
        """Files, or a question to a database; one name may be a folder or a pattern."""
        question = question_of(list(self.data), self.query)
        if question is not None:
            return question
        files = [Path(name) for name in self.data]
        return files if len(files) > 1 else files[0]

    @property
    def estimator(self) -> DPPCA:
        """What will be fitted."""
        return DPPCA(**self.parameters)

    @property
    def beside(self) -> dict[str, Any]:
        """What is released beside the directions, as `DPPCA.fit_release` takes it."""
        groups, categories = (None, None) if self.groups is None else groups_of(self.groups)
        return {
            "variances": self.variances,
            "score_map": self.score_map,
            "axes": (0, 1) if self.axes is None else axes_of(self.axes),
            "groups": groups,
            "categories": categories,
        }

    @property
    def files_read(self) -> list[Path]:
        """Files that must not be written over."""
        if self.query is not None:
            return []
        return [file for name in map(Path, self.data) for file in (name, *files_behind(name))]
