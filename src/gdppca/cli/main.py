"""The command line: one thin command per verb."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gdppca._errors import ParameterError
from gdppca._version import __version__
from gdppca.cli.ledger import app as ledger_app
from gdppca.cli.show import console, friendly, summary

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


def _number_or_word(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) <= 15 else text


def _decimal_or_word(text: str | None) -> float | str | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _numbers_or_word(text: str) -> list[float] | str | None:
    if text == "none":
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def _columns(listed: list[str] | None) -> list[str] | None:
    try:
        names = [name for row in csv.reader(listed or [], skipinitialspace=True) for name in row]
    except csv.Error:
        raise ParameterError("`--columns` must be names on one line, with commas.") from None
    return [name.strip() for name in names if name.strip()] or None


# What `fit` and `plan` ask for alike.
_Sign = Annotated[str, typer.Option(help="spherical, winsor, trimmed, ball, quad, shell or lr.")]
_Radius = Annotated[
    str | None,
    typer.Option(help="Cut-off of the sign: a number, 'sqrt_d' or 'quantile' (private)."),
]
_Quantile = Annotated[float | None, typer.Option(help="Which quantile, with --radius quantile.")]
_Pairs = Annotated[str, typer.Option(help="'auto', 'all', 'halves' or a block size.")]
_Calibration = Annotated[
    str, typer.Option(help="'tight', or 'paper' for the larger noise that the paper states.")
]
_Variances = Annotated[
    float, typer.Option(help="Share of ε for the components' variances; 0: none.")
]
_ScoreMap = Annotated[
    float, typer.Option(help="Share of ε for a private map of the scores; 0: none.")
]


class _ReportByName(TyperCommand):
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
    data: Annotated[
        list[Path],
        typer.Argument(
            help="CSV (with a header), Parquet, Arrow or JSON: files of any size, a folder, or a "
            "pattern in quotes."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Release file to write.")] = Path(
        "release.json"
    ),
    components: Annotated[
        str, typer.Option(help="Number of directions, or 'auto': those above the noise.")
    ] = "2",
    epsilon: Annotated[float, typer.Option(help="Privacy ε of everything together.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy δ, far below 1 over the rows.")] = 1e-6,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns to use, separated by commas; all if left out. Quote a name with a comma."
        ),
    ] = None,
    location: Annotated[
        str,
        typer.Option(
            help="Centre: 'auto', 'private', 'none' (compare pairs) or public numbers with commas."
        ),
    ] = "auto",
    scale: Annotated[
        str,
        typer.Option(help="Column scales: 'none', 'private' or public numbers with commas."),
    ] = "none",
    sign: _Sign = "spherical",
    radius: _Radius = None,
    quantile: _Quantile = None,
    pairs: _Pairs = "auto",
    calibration: _Calibration = "tight",
    variances: _Variances = 0.0,
    score_map: _ScoreMap = 0.0,
    groups: Annotated[
        str | None,
        typer.Option(help="Map by group: a column and its categories, as sex=female,male."),
    ] = None,
    assume_shuffled: Annotated[
        bool,
        typer.Option(
            "--assume-shuffled",
            help="Take the rows in the order they have: no secret shuffle, and the guarantee "
            "says that it rests on that order.",
        ),
    ] = False,
    ledger: Annotated[
        str | None,
        typer.Option(help="Count the spend: sqlite:///budget.db#patients; see gdppca ledger."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="Plan to keep with the release: a file with what plan --json printed."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw spectrum and loadings: a .png, .svg or .pdf file."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Also write a report for people: an .html file, report.html by itself."),
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
        from gdppca.cli.fit import Wish, run
        from gdppca.estimators import DPPCA

        pca = DPPCA(
            n_components=_number_or_word(components),
            epsilon=epsilon,
            delta=delta,
            sign=sign,
            radius=_decimal_or_word(radius),
            quantile=quantile,
            pairs=_number_or_word(pairs),
            calibration=calibration,
            location=_numbers_or_word(location),
            scale=_numbers_or_word(scale),
            ledger=ledger,
            random_state=seed,
        )
        wish = Wish(
            data=data,
            columns=_columns(columns),
            variances=variances,
            score_map=score_map,
            groups=groups,
            assume_shuffled=assume_shuffled,
            plan=plan,
            output=output,
            plot=plot,
            report=report,
        )
        run(pca, wish, force=force, as_json=as_json)


@app.command()
def plan(
    rows: Annotated[int, typer.Option(help="Number of rows.")],
    columns: Annotated[int, typer.Option(help="Number of columns.")],
    epsilon: Annotated[float, typer.Option(help="Privacy ε.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy δ.")] = 1e-6,
    spectrum: Annotated[
        str | None,
        typer.Option(help="Expected variances: 'spiked:10,5' (the rest 1) or a release file."),
    ] = None,
    components: Annotated[int, typer.Option(help="Number of directions.")] = 2,
    location: Annotated[
        str,
        typer.Option(help="As for fit: 'auto', 'private', 'none' or numbers; or 'public'."),
    ] = "auto",
    scale: Annotated[
        str, typer.Option(help="As for fit: 'none', 'private' or numbers; or 'public'.")
    ] = "none",
    sign: _Sign = "spherical",
    radius: _Radius = None,
    quantile: _Quantile = None,
    pairs: _Pairs = "auto",
    calibration: _Calibration = "tight",
    variances: _Variances = 0.0,
    score_map: _ScoreMap = 0.0,
    target: Annotated[
        float | None, typer.Option(help="Error that is wanted: what ε or how many rows give it?")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw error against ε: a .png, .svg or .pdf file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Tell the accuracy before any budget is spent, from public numbers alone.

    The same options as for fit give the plan of that fit.
    """
    with friendly():
        from gdppca.cli.planning import show_plan

        show_plan(
            rows,
            columns,
            epsilon=epsilon,
            delta=delta,
            spectrum=spectrum,
            components=components,
            location=_numbers_or_word(location),
            scale=_numbers_or_word(scale),
            sign=sign,
            radius=_decimal_or_word(radius),
            quantile=quantile,
            pairs=_number_or_word(pairs),
            calibration=calibration,
            variances=variances,
            score_map=score_map,
            target=target,
            plot=plot,
            as_json=as_json,
        )


@app.command()
def audit(
    method: Annotated[str, typer.Option(help="What to audit, or 'list'.")] = "dppca",
    epsilon: Annotated[float, typer.Option(help="Privacy ε that is claimed.")] = 4.0,
    delta: Annotated[float, typer.Option(help="Privacy δ that is claimed.")] = 1e-6,
    runs: Annotated[
        int | None,
        typer.Option(help="Real runs of the pipeline; as many as the method wants if left out."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the lower bound.")] = 0.9999,
    plot: Annotated[
        Path | None, typer.Option(help="Draw what was found: a .png, .svg or .pdf file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Attack the promise on made-up tables: a lower bound on the true ε. No file is read."""
    with friendly():
        from gdppca.cli.audit import list_methods, run_audit

        if method == "list":
            list_methods()
            return
        found = run_audit(
            method,
            epsilon=epsilon,
            delta=delta,
            runs=runs,
            confidence=confidence,
            plot=plot,
            as_json=as_json,
        )
        if found.refuted:
            raise typer.Exit(1)


@app.command()
def merge(
    releases: Annotated[list[Path], typer.Argument(help="Release files of disjoint groups.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Release file to write.")],
    components: Annotated[
        int | None, typer.Option(help="Number of directions; the fewest of the parts if left out.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Overwrite a file that exists.")] = False,
) -> None:
    """Merge releases of different people into one; nothing is spent.

    Nobody may be in two of the groups: then their guarantees would add up.
    """
    with friendly():
        from gdppca.cli.files import require_writable
        from gdppca.releases import Release

        require_writable(output, force=force, never=releases)
        merged = Release.merge([Release.load(path) for path in releases], components)
        merged.save(output)
        console.print(summary(merged))
        console.print(f"Release: {output}", soft_wrap=True, markup=False)


@app.command()
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
    force: Annotated[bool, typer.Option(help="Overwrite a file that exists.")] = False,
) -> None:
    """Write a page about a release that people can read, print and forward."""
    with friendly():
        from gdppca.cli.files import require_writable
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
        require_writable(output, force=force, never=[release], endings=(".html", ".htm"))
        write_report(Release.load(release), output, owner)
        console.print(f"Report: {output}", soft_wrap=True, markup=False)


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
