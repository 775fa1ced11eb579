"""The command line: one thin command per verb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gdppca._version import __version__
from gdppca.cli import options as opt
from gdppca.cli.ledger import app as ledger_app
from gdppca.cli.show import Command, console

app = typer.Typer(
    help="Robust and differentially private principal component analysis.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with local variables would print rows
    add_completion=False,
)


app.add_typer(ledger_app, name="ledger")


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


class _ReportByName(Command):
    """Lets ``--report`` stand alone: a page called report.html."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give a lone ``--report`` its file."""
        alone = [arg == "--report" for arg in args]
        for k, following in enumerate([*args, "--"][1:]):
            alone[k] = alone[k] and following.startswith("-")
        named = (
            [arg, "report.html"] if lone else [arg] for arg, lone in zip(args, alone, strict=True)
        )
        return super().parse_args(ctx, [arg for part in named for arg in part])


@app.command(cls=_ReportByName)
def fit(
    data: opt.Data,
    output: opt.ReleaseFile = Path("release.json"),
    components: opt.Components = "2",
    epsilon: opt.Epsilon = 1.0,
    delta: opt.Delta = 1e-6,
    columns: opt.Columns = None,
    location: opt.Location = "auto",
    scale: opt.Scale = "none",
    scale_share: opt.ScaleShare = 0.2,
    sign: opt.Sign = "spherical",
    radius: opt.Radius = None,
    quantile: opt.Quantile = None,
    quantile_share: opt.QuantileShare = 0.05,
    pairs: opt.Pairs = "auto",
    calibration: opt.Calibration = "tight",
    variances: opt.Variances = 0.0,
    score_map: opt.ScoreMap = 0.0,
    groups: opt.Groups = None,
    assume_shuffled: opt.AssumeShuffled = False,
    ledger: opt.Ledger = None,
    plan: opt.PlanFile = None,
    plot: opt.Plot = None,
    report: opt.Report = None,
    seed: opt.Seed = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Release private principal components of a file.

    Every run draws new noise and spends its own (ε, δ): run it once.
    """
    asked = dict(locals())  # the options by name: nothing else has a name yet
    from gdppca.cli.fit import run

    run(**asked)


@app.command(cls=Command)
def plan(
    rows: opt.Rows,
    columns: opt.ColumnCount,
    epsilon: opt.Epsilon = 1.0,
    delta: opt.Delta = 1e-6,
    spectrum: opt.Spectrum = None,
    components: opt.ComponentCount = 2,
    location: opt.PlannedLocation = "auto",
    scale: opt.PlannedScale = "none",
    scale_share: opt.ScaleShare = 0.2,
    sign: opt.Sign = "spherical",
    radius: opt.Radius = None,
    quantile: opt.Quantile = None,
    quantile_share: opt.QuantileShare = 0.05,
    pairs: opt.Pairs = "auto",
    calibration: opt.Calibration = "tight",
    variances: opt.Variances = 0.0,
    score_map: opt.ScoreMap = 0.0,
    target: opt.Target = None,
    plot: opt.PlanPlot = None,
    as_json: opt.AsJson = False,
) -> None:
    """Tell the accuracy before any budget is spent, from public numbers alone.

    The same options as for fit give the plan of that fit.
    """
    asked = dict(locals())
    from gdppca.cli.planning import show_plan

    show_plan(**asked)


@app.command(cls=Command)
def audit(
    method: Annotated[str, typer.Option(help="What to audit, or 'list'.")] = "dppca",
    epsilon: Annotated[float, typer.Option(help="Privacy ε that is claimed.")] = 4.0,
    delta: Annotated[float, typer.Option(help="Privacy δ that is claimed.")] = 1e-6,
    runs: Annotated[
        int | None,
        typer.Option(help="Real runs of the pipeline; as many as the method wants if left out."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the lower bound.")] = 0.9999,
    plot: opt.AuditPlot = None,
    as_json: opt.AsJson = False,
) -> None:
    """Attack the promise on made-up tables: a lower bound on the true ε. No file is read."""
    asked = dict(locals())
    from gdppca.cli.audit import list_methods, run_audit

    if method == "list":
        list_methods()
    elif run_audit(**asked).refuted:
        raise typer.Exit(1)


@app.command(cls=Command)
def merge(
    releases: Annotated[list[Path], typer.Argument(help="Release files of disjoint groups.")],
    output: opt.ReleaseFile,
    components: Annotated[
        int | None, typer.Option(help="Number of directions; the fewest of the parts if left out.")
    ] = None,
    force: opt.Force = False,
) -> None:
    """Merge releases of different people into one; nothing is spent.

    Nobody may be in two of the groups: then their guarantees would add up.
    """
    from gdppca.cli.files import require_writable
    from gdppca.cli.summary import summary
    from gdppca.releases import Release

    require_writable(output, force=force, never=releases)
    merged = Release.merge([Release.load(path) for path in releases], components)
    merged.save(output)
    console.print(summary(merged))
    console.print(f"Release: {output}", soft_wrap=True, markup=False)


@app.command(cls=Command)
def report(
    release: Annotated[Path, typer.Argument(help="Release file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")] = Path(
        "report.html"
    ),
    name: Annotated[str | None, typer.Option(help="Name of what is published.")] = None,
    curator: Annotated[list[str] | None, typer.Option(help="Who publishes it.")] = None,
    region: Annotated[str | None, typer.Option(help="Where the people live.")] = None,
    use: Annotated[str | None, typer.Option(help="What the release is for.")] = None,
    date: Annotated[str | None, typer.Option(help="Day of publication, as 2025-12-31.")] = None,
    sector: Annotated[str | None, typer.Option(help="Such as Healthcare.")] = None,
    author: Annotated[list[str] | None, typer.Option(help="Who wrote the record.")] = None,
    force: opt.Force = False,
) -> None:
    """Write a page about a release that people can read, print and forward."""
    from gdppca.cli.files import PAGES, require_writable
    from gdppca.releases import Release
    from gdppca.report import Owner, write_report

    said: dict[str, Any] = {
        "name": name,
        "curators": tuple(curator or ()) or None,
        "region": region,
        "intended_use": use,
        "publication_date": date,
        "sector": sector,
        "authors": tuple(author or ()) or None,
    }
    owner = Owner(**{key: value for key, value in said.items() if value is not None})
    require_writable(output, force=force, never=[release], endings=PAGES)
    write_report(Release.load(release), output, owner)
    console.print(f"Report: {output}", soft_wrap=True, markup=False)


@app.command(cls=Command)
def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the release and the plot.")
    ] = Path("gdppca-demo"),
) -> None:
    """Run on a public table of 442 diabetes patients: guarantee, directions, plot, release."""
    from gdppca.cli.demo import run

    run(folder)


@app.command(cls=Command)
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
    from gdppca.cli.studies import list_studies, run_study

    if name == "list":
        list_studies()
    else:
        run_study(name, quick=not full, out=out, workers=workers, data=data)
