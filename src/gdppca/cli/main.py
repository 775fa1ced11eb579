"""The command line: one thin command per verb."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated

import typer

from gdppca._version import __version__
from gdppca.cli.show import console, friendly, late_progress, summary

app = typer.Typer(
    help="Robust and differentially private principal component analysis.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with local variables would print rows
    add_completion=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gdppca {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Robust and differentially private principal component analysis."""


def _components(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _pairs(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _radius(text: str | None) -> float | str | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _columns(listed: list[str] | None) -> list[str] | None:
    names = [name for row in csv.reader(listed or [], skipinitialspace=True) for name in row]
    return [name.strip() for name in names if name.strip()] or None


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="CSV file with a header, or Parquet file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Release file to write.")] = Path(
        "release.json"
    ),
    components: Annotated[
        str, typer.Option(help="Number of directions, or 'auto': those above the noise.")
    ] = "2",
    epsilon: Annotated[float, typer.Option(help="Privacy ε.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy δ, far below 1 over the rows.")] = 1e-6,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns to use, separated by commas; all if left out. Quote a name with a comma."
        ),
    ] = None,
    sign: Annotated[
        str, typer.Option(help="spherical, winsor, trimmed, ball, quad, shell or lr.")
    ] = "spherical",
    radius: Annotated[
        str | None,
        typer.Option(help="Cut-off of the sign: a number, 'sqrt_d' or 'quantile' (private)."),
    ] = None,
    quantile: Annotated[
        float | None, typer.Option(help="Which quantile, with --radius quantile.")
    ] = None,
    pairs: Annotated[str, typer.Option(help="'auto', 'all', 'halves' or a block size.")] = "auto",
    calibration: Annotated[
        str, typer.Option(help="'tight', or 'paper' for the larger noise that the paper states.")
    ] = "tight",
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw spectrum and loadings: a .png, .svg or .pdf file."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Known seed: a simulation that protects nobody.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Release private principal components of a file.

    Every run draws new noise and spends its own (ε, δ): run it once.
    """
    with friendly():
        from gdppca.cli.files import drawn, require_writable
        from gdppca.engines.files import read_table
        from gdppca.estimators import DPPCA

        # Nothing may fail after the budget is spent that could have failed before.
        require_writable(output, force=force, never=data)
        if plot is not None:
            require_writable(plot, force=force, never=data, endings=(".png", ".svg", ".pdf"))
        pca = DPPCA(
            n_components=_components(components),
            epsilon=epsilon,
            delta=delta,
            sign=sign,
            radius=_radius(radius),
            quantile=quantile,
            pairs=_pairs(pairs),
            calibration=calibration,
            random_state=seed,
        )
        table = read_table(data, _columns(columns))
        with late_progress("comparing rows") as progress:
            release = pca._fit(table, progress).release_
        release.save(output)
        if plot is not None:
            drawn(release, plot)
        if as_json:
            typer.echo(json.dumps({"file": str(output), **release.to_dict()}))
        else:
            console.print(summary(release))
            console.print(f"Release: {output}", soft_wrap=True, markup=False)
            if plot is not None:
                console.print(f"Plot:    {plot}", soft_wrap=True, markup=False)


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the release and the plot.")
    ] = Path("gdppca-demo"),
) -> None:
    """Run on a public table of 442 diabetes patients: guarantee, directions, plot, release."""
    with friendly():
        from gdppca.cli.demo import run

        run(folder)


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="'list', or the name of a study: E1a to E12.")],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's grid and runs, or a coarse look.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and verdicts.")] = Path(
        "studies"
    ),
    workers: Annotated[
        int | None, typer.Option(help="Processes; one per core if left out.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the Europe map's files, for E6.")
    ] = None,
) -> None:
    """Run one of the paper's experiments: table, figure and verdict."""
    with friendly():
        from gdppca.cli.studies import list_studies, run_study

        if name == "list":
            list_studies()
        else:
            run_study(name, quick=not full, out=out, workers=workers, data=data)
