"""The command line: one thin command per verb; its options are in options.toml."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from gdppca._version import __version__
from gdppca.cli.ledger import app as ledger_app
from gdppca.cli.options import OWNED_AS
from gdppca.cli.show import Command, command, console, print_json, tell_files

app = typer.Typer(
    help="Robust and differentially private principal component analysis.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with local variables would print rows
)
app.add_typer(ledger_app)


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
        named = []
        for arg, following in pairwise([*args, "--"]):
            alone = arg == "--report" and following.startswith("-")
            named += [arg, "report.html"] if alone else [arg]
        return super().parse_args(ctx, named)


@command(app)
def describe(**asked: Any) -> None:
    """Write a template of the table's description, from its header alone; no cell is read.

    Fill it in without looking at the data: it is public, and other commands take it as --table.
    """
    from gdppca.cli.describe import run

    run(**asked)


@command(app)
def check(**asked: Any) -> None:
    """Tell the owner what is odd about a table: without noise, NOT PRIVATE, never to be published.

    It tells counts and names of columns, never a cell, and ends with the command of the fit.
    """
    from gdppca.cli.check import run

    run(**asked)


@command(app, cls=_ReportByName)
def fit(**asked: Any) -> None:
    """Release private principal components of a file.

    Every run draws new noise and spends its own (ε, δ): run it once.
    """
    from gdppca.cli.fit import run

    run(**asked)


@command(app)
def plan(**asked: Any) -> None:
    """Tell the accuracy before any budget is spent, from public numbers alone.

    The same options as for fit give the plan of that fit.
    """
    from gdppca.cli.planning import show_plan

    show_plan(**asked)


@command(app)
def audit(**asked: Any) -> None:
    """Attack a promise on made-up tables: a lower bound on the true ε. No row of anybody is read.

    With --release the promise is that file's own, by the design behind it.
    """
    from gdppca.cli.audit import list_methods, run_audit

    if asked["method"] == "list":
        list_methods()
    elif run_audit(**asked).refuted:
        raise typer.Exit(1)


@command(app)
def merge(
    releases: list[Path], output: Path, components: int | None, force: bool, as_json: bool
) -> None:
    """Merge releases of different people into one; nothing is spent.

    Nobody may be in two of the groups: then their guarantees would add up.
    """
    from gdppca.cli.summary import summary
    from gdppca.jobs.files import require_writable
    from gdppca.releases import Release

    require_writable(output, force=force, never=releases)
    merged = Release.merge([Release.load(path) for path in releases], components)
    merged.save(output)
    if as_json:
        print_json(file=str(output), **merged.to_dict())
        return
    console.print(summary(merged))
    tell_files(Release=output)


@command(app)
def report(
    release: Path, output: Path, audit: Path | None, force: bool, as_json: bool, **asked: Any
) -> None:
    """Write a page about a release that people can read, print and forward."""
    from gdppca.jobs.files import PAGES, read_audit, require_writable
    from gdppca.releases import Release
    from gdppca.report import Owner, write_report

    said = {OWNED_AS.get(option, option): value for option, value in asked.items()}
    owner = Owner(**{name: value for name, value in said.items() if value not in (None, [])})
    read = [release] if audit is None else [release, audit]
    require_writable(output, force=force, never=read, endings=PAGES)
    found = None if audit is None else read_audit(audit)
    write_report(Release.load(release), output, owner, found)
    if as_json:
        print_json(file=str(output))
        return
    tell_files(Report=output)


@command(app)
def web(folder: Path, port: int, no_browser: bool, ledger: str | None) -> None:
    """Open the workbench in a browser: from a table to a published release, on this machine."""
    from gdppca.web.serve import serve

    def tell(line: str) -> None:
        console.print(line, soft_wrap=True, markup=False, highlight=False)

    serve(folder, port=port, browser=not no_browser, ledger=ledger, tell=tell)


@command(app)
def demo(folder: Path) -> None:
    """Run on made-up visits of 4,000 patients: description, check, release, pictures, report."""
    from gdppca.cli.demo import run

    run(folder)


@command(app)
def study(
    name: str, full: bool, runs: int | None, out: Path, workers: int | None, data: Path | None
) -> None:
    """Run one of the paper's experiments: table, figure and verdict."""
    from gdppca.cli.studies import list_studies, run_study

    if name == "list":
        list_studies()
    else:
        run_study(name, quick=not full, runs=runs, out=out, workers=workers, data=data)
