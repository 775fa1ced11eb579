"""What `gdppca fit` does: read, check, spend, write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from gdppca._errors import ParameterError
from gdppca.cli.files import PAGES, drawn, read_plan, require_writable
from gdppca.cli.options import columns_of, require_private_radius
from gdppca.cli.show import console, late_progress
from gdppca.cli.summary import summary
from gdppca.estimators import DPPCA
from gdppca.kernels import Progress
from gdppca.plots._style import ENDINGS
from gdppca.releases import Release
from gdppca.report import require_extras, write_report
from gdppca.tables.files import can_read_whole, column_names, read_labels, read_table
from gdppca.tables.sources import files_behind

_LARGEST_AT_ONCE = 2**28  # bytes of a file that is read whole


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What to read, what to release beside the directions, and what to write."""

    data: list[Path]
    columns: list[str] | None
    variances: float
    score_map: float
    groups: str | None
    assume_shuffled: bool
    plan: Path | None
    output: Path
    plot: Path | None
    report: Path | None


def run(
    *, components: Any, columns: Any, seed: Any, force: bool, as_json: bool, **asked: Any
) -> None:
    """Fit, save, draw, report and print, from the options of the command line."""
    require_private_radius(asked["radius"], asked["quantile"])
    shared = {name: asked.pop(name) for name in DPPCA().get_params() if name in asked}
    pca = DPPCA(n_components=components, random_state=seed, **shared)
    _run(pca, Wish(columns=columns_of(columns), **asked), force=force, as_json=as_json)


def _run(pca: DPPCA, wish: Wish, *, force: bool, as_json: bool) -> None:
    _require_writable(wish, force=force)
    planned = None if wish.plan is None else read_plan(wish.plan)
    with late_progress("comparing rows") as progress:
        fit = _fit_in_parts if _comes_in_parts(wish) else _fit_at_once
        try:
            fit(pca, wish, progress)
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
    if as_json:
        typer.echo(json.dumps({"file": str(wish.output), **release.to_dict()}))
    else:
        _tell(release, wish)


def _saved(pca: DPPCA, planned: dict[str, Any] | None, wish: Wish) -> Release:
    """The release with its plan, on disk before anything else is done with it."""
    release = replace(pca.release_, plan=planned)
    release.save(wish.output)
    return release


def _comes_in_parts(wish: Wish) -> bool:
    """Whether rows are read in parts: many files, a large one, or the order they have is wanted."""
    [first, *others] = wish.data
    whole = not others and first.is_file() and can_read_whole(first)
    if whole and (wish.variances or wish.score_map or wish.groups):
        return False  # these look at all rows again
    return wish.assume_shuffled or not whole or first.stat().st_size > _LARGEST_AT_ONCE


def _fit_in_parts(pca: DPPCA, wish: Wish, progress: Progress) -> None:
    if wish.variances or wish.score_map or wish.groups:
        raise ParameterError(
            "`--variances`, `--score-map` and `--groups` need one CSV or Parquet file that fits "
            "into memory."
        )
    # One name may be a folder or a pattern.
    source = wish.data if len(wish.data) > 1 else wish.data[0]
    pca.fit_stream(
        source,
        columns=wish.columns,
        assume_shuffled=wish.assume_shuffled,
        progress=progress,
    )


def _fit_at_once(pca: DPPCA, wish: Wish, progress: Progress) -> None:
    if wish.assume_shuffled:
        raise ParameterError("`--assume-shuffled` is for rows that are read in parts.")
    table, labels, categories = _read(wish)
    pca.fit_release(
        table,
        variances=wish.variances,
        score_map=wish.score_map,
        groups=labels,
        categories=categories,
        progress=progress,
    )


def _require_writable(wish: Wish, *, force: bool) -> None:
    """Nothing may fail after the budget is spent that could have failed before."""
    taken = [file for name in wish.data for file in (name, *files_behind(name))]
    require_writable(wish.output, force=force, never=taken)
    taken.append(wish.output)
    if wish.plot is not None:
        require_writable(wish.plot, force=force, never=taken, endings=ENDINGS)
        taken.append(wish.plot)
    if wish.report is not None:
        require_writable(wish.report, force=force, never=taken, endings=PAGES)
        require_extras()


def _read(wish: Wish) -> tuple[Any, Any, list[str] | None]:
    """The table, and labels and categories of the groups where a map by group is wanted."""
    [file] = wish.data
    if wish.groups is None:
        return read_table(file, wish.columns), None, None
    column, categories = _group_wish(wish.groups)
    if not wish.score_map:
        raise ParameterError("`--groups` needs `--score-map` with a share of the budget.")
    every = column_names(file)
    if column not in every:
        raise ParameterError(f"'{file}' has no column '{column}' for the groups.")
    others = [name for name in every if name != column]
    names = wish.columns or others
    if column in names:
        raise ParameterError(f"'{column}' cannot be a group and a column of the analysis.")
    missing = [name for name in names if name not in others]
    if missing:
        raise ParameterError(f"'{file}' has no column '{missing[0]}'.")
    return read_table(file, names), read_labels(file, column), categories


def _group_wish(text: str) -> tuple[str, list[str]]:
    column, _, listed = text.partition("=")
    categories = [part.strip() for part in listed.split(",") if part.strip()]
    if not column or len(categories) < 2:
        raise ParameterError(
            "`--groups` must name a column and at least two categories, as sex=female,male. "
            "Categories are public: they are not looked up in the data."
        )
    return column.strip(), categories


def _tell(release: Release, wish: Wish) -> None:
    console.print(summary(release))
    for what, path in _files(wish):
        console.print(f"{what + ':':8} {path}", soft_wrap=True, markup=False)


def _files(wish: Wish) -> Iterator[tuple[str, Path]]:
    yield "Release", wish.output
    if wish.plot is not None:
        yield "Plot", wish.plot
    if wish.report is not None:
        yield "Report", wish.report
