"""How `gdppca study` speaks."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gdppca import studies
from gdppca.cli.show import console, errors
from gdppca.studies.kept import told_agreement


def list_studies() -> None:
    """Name every study."""
    table = Table("name", "figure", "what", "methods", title="Studies", title_justify="left")
    for study in studies.STUDIES.values():
        methods = [name for name in study.methods if not name.endswith(", exact")]
        table.add_row(study.name, study.figure, study.title, escape(", ".join(methods)))
    console.print(table)


def run_study(
    name: str,
    *,
    quick: bool,
    runs: int | None,
    out: Path,
    workers: int | None,
    data: Path | None,
) -> None:
    """Run a study with a live bar, then tell its verdicts and files."""
    columns = (
        TextColumn("{task.description}", markup=False),  # a name as it was typed
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(f"{name}, tables", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        try:
            result = studies.run(
                name,
                quick=quick,
                runs=runs,
                out=out,
                workers=workers,
                data=data,
                progress=progress,
            )
        except KeyboardInterrupt:
            errors.print("Stopped. The same command goes on where it was.")
            raise typer.Exit(130) from None
    for verdict in result.verdicts:
        colour = {True: "green", False: "yellow", None: "blue"}[verdict.holds]
        mark = f"[{colour}]{verdict.mark:8}[/]"
        console.print(f"{mark} {escape(verdict.sentence)} [dim]({escape(verdict.numbers)})[/]")
    if quick:
        console.print("A quick run shows that the study runs. --full gives verdicts on the paper.")
    else:
        told = told_agreement(result.name, result.about, result.summary)
        console.print(told, markup=False, highlight=False, soft_wrap=True)
    for path in result.files:
        console.print(str(path), markup=False, soft_wrap=True)
