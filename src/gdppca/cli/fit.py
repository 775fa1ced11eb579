"""What `gdppca fit` does: read, check, spend, write."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from gdppca._errors import ParameterError
from gdppca.cli.files import PAGES, drawn, read_plan, require_writable
from gdppca.cli.options import DIALECT, columns_of, dialect_of, question_of, require_private_radius
from gdppca.cli.show import console, late_progress, tell_files
from gdppca.cli.summary import summary
from gdppca.estimators import DPPCA
from gdppca.kernels import Progress
from gdppca.plots.style import ENDINGS
from gdppca.releases import Release
from gdppca.report import require_extras, write_report
from gdppca.tables.description import Description
from gdppca.tables.sources import files_behind
from gdppca.tables.sql import Query


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What to read, what to release beside the directions, and what to write."""

    data: list[Path]
    columns: list[str] | None
    question: Query | None  # to a database, in place of files
    rows: dict[str, Any]  # what is said of them: persons, weights, a description
    force: bool
    as_json: bool
    variances: float
    score_map: float
    groups: str | None
    assume_shuffled: bool
    plan: Path | None
    output: Path
    plot: Path | None
    report: Path | None

    @property
    def looks_again(self) -> bool:
        """Whether something is asked for that looks at all rows a second time."""
        return bool(self.variances or self.score_map or self.groups)


def run(*, components: Any, columns: Any, seed: Any, **asked: Any) -> None:
    """Fit, save, draw, report and print, from the options of the command line."""
    require_private_radius(asked["radius"], asked["quantile"])
    shared = {name: asked.pop(name) for name in DPPCA().get_params() if name in asked}
    pca = DPPCA(n_components=components, random_state=seed, **shared)
    rows, data = said_of_rows(asked), asked.pop("data")
    question = question_of(data, asked.pop("query"))
    files = [] if question else [Path(name) for name in data]
    _run(pca, Wish(data=files, question=question, columns=columns_of(columns), rows=rows, **asked))


def _run(pca: DPPCA, wish: Wish) -> None:
    _require_writable(wish)
    planned = None if wish.plan is None else read_plan(wish.plan)
    with late_progress("comparing rows") as progress:
        try:
            _fit(pca, wish, progress)
        except BaseException as error:
            if hasattr(pca, "release_"):  # drawn and paid for: a warning became an error, say
                _saved(pca, planned, wish)
                error.add_note(f"What was drawn before is saved: {wish.output}")
            raise
        release = _saved(pca, planned, wish)
    if wish.plot is not None:
        drawn(release, wish.plot)
    if wish.report is not None:
        write_report(release, wish.report)
    if wish.as_json:
        typer.echo(json.dumps({"file": str(wish.output), **release.to_dict()}))
        return
    console.print(summary(release))
    tell_files(8, Release=wish.output, Plot=wish.plot, Report=wish.report)


def _saved(pca: DPPCA, planned: dict[str, Any] | None, wish: Wish) -> Release:
    """The release with its plan, on disk before anything else is done with it."""
    release = replace(pca.release_, plan=planned)
    release.save(wish.output)
    return release


def _fit(pca: DPPCA, wish: Wish, progress: Progress) -> None:
    """Fit what the options say."""
    groups, categories = (None, None) if wish.groups is None else _group_wish(wish.groups)
    if groups is not None and not wish.score_map:
        raise ParameterError("`--groups` needs `--score-map` with a share of the budget.")
    pca.fit_release(
        _source(wish),
        variances=wish.variances,
        score_map=wish.score_map,
        groups=groups,
        categories=categories,
        columns=wish.columns,
        **wish.rows,
        assume_shuffled=wish.assume_shuffled,
        progress=progress,
    )


def _source(wish: Wish) -> Any:
    """Files, or a question to a database; one name may be a folder or a pattern."""
    if wish.question is not None:
        return wish.question
    return wish.data if len(wish.data) > 1 else wish.data[0]


def said_of_rows(asked: dict[str, Any]) -> dict[str, Any]:
    """What options say of the rows, taken out of them: persons, weights and a description.

    Options go before what stands in the description's file.
    """
    table, written = asked.pop("table"), {name: asked.pop(name) for name in DIALECT}
    told = None if table is None else Description.load(table)
    if dialect := dialect_of(written):
        told = replace(told or Description(columns=()), **dialect)
    return {
        "persons": asked.pop("person"),
        "weights": asked.pop("weight", None),
        "largest_weight": asked.pop("largest_weight", None),
        "description": told,
    }


def _require_writable(wish: Wish) -> None:
    """Nothing may fail after the budget is spent that could have failed before."""
    taken = [file for name in wish.data for file in (name, *files_behind(name))]
    for path, endings in ((wish.output, None), (wish.plot, ENDINGS), (wish.report, PAGES)):
        if path is not None:
            require_writable(path, force=wish.force, never=taken, endings=endings)
            taken.append(path)
    if wish.report is not None:
        require_extras()


def _group_wish(text: str) -> tuple[str, list[str]]:
    column, _, listed = text.partition("=")
    categories = [part.strip() for part in listed.split(",") if part.strip()]
    if not column or len(categories) < 2:
        raise ParameterError(
            "`--groups` must name a column and at least two categories, as sex=female,male. "
            "Categories are public: they are not looked up in the data."
        )
    return column.strip(), categories
