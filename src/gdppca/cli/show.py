"""How commands speak: tables, progress, errors."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.progress import Progress as Bar
from rich.table import Table

from gdppca._errors import GdppcaError, PrivacyWarning
from gdppca._words import counted
from gdppca.kernels import Progress
from gdppca.privacy import words
from gdppca.releases import Release, heaviest_columns, marked_names, seen_spectrum
from gdppca.releases.words import pairs_in_words, sign_name, standing_in_words

# Names of files and columns are printed as they are: ":heart:" is no picture in them.
console = Console(emoji=False)
errors = Console(stderr=True, emoji=False)

_SHOWN_LOADINGS = 6
_PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def friendly() -> Iterator[None]:
    """Errors as one sentence without a traceback; warnings likewise."""
    _print_anything()
    with warnings.catch_warnings():
        warnings.simplefilter("always", PrivacyWarning)
        warnings.showwarning = lambda message, *_, **__: errors.print(
            f"[yellow]warning:[/] {escape(str(message))}", soft_wrap=True
        )
        try:
            yield
        except GdppcaError as error:
            _tell(str(error), error)
            raise typer.Exit(2) from None
        except OSError as error:
            named = f" '{error.filename}'" if error.filename else ""
            _tell(f"{error.strerror or 'input/output'}{named}", error)
            raise typer.Exit(2) from None
        except KeyboardInterrupt as error:
            errors.print("Interrupted.")
            _print_notes(error)
            raise typer.Exit(130) from None
        except UnicodeEncodeError as error:  # some libraries take names of letters only
            _tell("The name of a file or an address is not valid UTF-8. Rename it.", error)
            raise typer.Exit(2) from None


def _tell(sentence: str, error: Exception) -> None:
    errors.print(f"[red]error:[/] {escape(sentence)}", soft_wrap=True)
    _print_notes(error)


def _print_notes(error: BaseException) -> None:
    for note in getattr(error, "__notes__", ()):  # what was spent before
        errors.print(escape(note), soft_wrap=True)


def _print_anything() -> None:
    """Print what the terminal has no letter for as \\x..: a file's name may be any bytes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def late_progress(what: str) -> Iterator[Progress]:
    """A progress bar that shows up only when the work takes more than a second."""
    started = time.monotonic()
    bar = Bar(console=errors, transient=True)
    task = bar.add_task(what, total=None)

    def progress(done: int, total: int) -> None:
        if time.monotonic() - started > _PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        bar.stop()


def summary(release: Release) -> Group:
    """What was promised, and the directions, as a person reads them."""
    doubts = [f"[yellow]Doubtful:[/] {escape(doubt)}" for doubt in release.doubts]
    return Group(_promise(release), *doubts, _directions(release))


def _promise(release: Release) -> Panel:
    guarantee = release.guarantee
    lines = [
        str(guarantee),
        f"{counted(release.n_samples, 'row')}, {counted(release.n_features, 'column')}; "
        f"{_how(release)}; noise sd {release.noise_sd:.4g}",
    ]
    if guarantee.protects:
        said = words.told(guarantee)
        lines += ["", said.replace("\N{NO-BREAK SPACE}", " ")]  # not every terminal has it
        lines += ["", *(f"Assumed: {assumption}" for assumption in guarantee.assumptions)]
    title = "What is promised" if guarantee.protects else "Nothing is promised"
    return Panel("\n".join(escape(line) for line in lines), title=title, title_align="left")


def _how(release: Release) -> str:
    if release.sign is None or release.scheme is None:
        return release.method
    return f"{sign_name(release)}, comparing {pairs_in_words(release)}"


def _directions(release: Release) -> Table | str:
    m, seen = len(release.components), seen_spectrum(release)
    if not m:
        return standing_in_words(0, 0)
    if seen is None:
        return "The method released directions only."
    names = marked_names(release)
    table = Table(title="Directions", title_justify="left")
    table.add_column("component", justify="right")
    table.add_column("eigenvalue", justify="right")
    table.add_column("above noise?", justify="right")
    table.add_column("largest loadings")
    for k, component in enumerate(release.components):
        heaviest = heaviest_columns(component[None], _SHOWN_LOADINGS)
        named = ", ".join(f"{names[j]} {component[j]:+.2f}" for j in heaviest)
        clear = "yes" if seen.is_clear(k) else "NO"
        table.add_row(
            str(k + 1), f"{seen.values[k]:.4f}", f"{clear} ({seen.high:.4f})", escape(named)
        )
    table.caption = standing_in_words(m, seen.clear)
    return table
