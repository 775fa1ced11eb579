"""How commands speak: tables, progress, errors."""

from __future__ import annotations

import io
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.table import Column
from typer.core import TyperCommand

from gdppca._errors import DescriptionError, GdppcaError, PrivacyWarning
from gdppca.cli.options import OPTION_OF, options_of, spelt_options

if TYPE_CHECKING:  # the kernels are not loaded to say a word
    from gdppca.kernels import Progress

RIGHT = partial(Column, justify="right")  # heading of a column of numbers
Run = TypeVar("Run", bound=Callable[..., None])

# Names of files and columns are printed as they are: ":heart:" is no picture in them.
console = Console(emoji=False)
errors = Console(stderr=True, emoji=False)

_PATIENCE = 1.0  # seconds before a bar appears
_QUOTES = "'\""
_TYPED = {"None": "none", "[...]": "1,2,..."}  # values as the command line takes them
_options: ContextVar[Mapping[str, str]] = ContextVar("options")


class Command(TyperCommand):
    """A command whose errors are one sentence each, about its own options."""

    def invoke(self, ctx: Any) -> Any:
        """Run it, and tell what goes wrong as a person reads it."""
        spelt = {param.name: max(param.opts, key=len) for param in self.params if param.name}
        # An argument has no dashes, and a sentence about it keeps its name.
        before = _options.set({k: option for k, option in spelt.items() if option[:2] == "--"})
        try:
            with friendly():
                return super().invoke(ctx)
        finally:
            _options.reset(before)


def command(app: typer.Typer, cls: type[Command] = Command) -> Callable[[Run], Run]:
    """Add a command whose options are in the table."""

    def add(run: Run) -> Run:
        run.__signature__ = options_of(run.__name__)  # type: ignore[attr-defined]
        return app.command(cls=cls)(run)

    return add


def in_options(sentence: str, command: str | None = None) -> str:
    """A sentence about parameters of Python, about the options of a command, or of the one at hand.

    `n_components` becomes `--components`, and `scale='private'` becomes `--scale private`.
    Names of files and columns stand in quotes, and stay as they are.
    """
    if command is not None:
        before = _options.set(spelt_options(command))
        try:
            return in_options(sentence)
        finally:
            _options.reset(before)
    return re.sub(r"(?<!')`([\w ]+)(?:=([^`]+))?`(?!')( must be None)?", _spelt, sentence)


def _spelt(found: re.Match[str]) -> str:
    name, value, is_none = found.groups()
    option = _options.get({}).get(OPTION_OF.get(name, name))
    if option is None:
        return found[0]
    typed = "" if value is None else f" {_TYPED.get(value, value.strip(_QUOTES))}"
    return f"`{option}{typed}`" + (" must be left out" if is_none else "")


@contextmanager
def friendly() -> Iterator[None]:
    """Errors as one sentence without a traceback; warnings likewise."""
    _print_anything()
    with warnings.catch_warnings():
        warnings.simplefilter("always", PrivacyWarning)
        warnings.showwarning = lambda message, *_, **__: errors.print(
            f"[yellow]warning:[/] {escape(in_options(str(message)))}", soft_wrap=True
        )
        try:
            yield
        except KeyboardInterrupt as error:
            errors.print("Interrupted.")
            _print_notes(error)
            raise typer.Exit(130) from None
        except (GdppcaError, OSError, UnicodeEncodeError) as error:
            errors.print(f"[red]error:[/] {escape(_said(error))}", soft_wrap=True)
            _print_notes(error)
            raise typer.Exit(2) from None


def tell_files(width: int = 0, **paths: Path | None) -> None:
    """Name the files that were wanted and written, one below the other."""
    for what, path in paths.items():
        if path is not None:
            console.print(f"{what + ':':{width}} {path}", soft_wrap=True, markup=False)


def _said(error: Exception) -> str:
    match error:
        case DescriptionError(file=str()):  # about its keys, which are called as some options are
            return str(error)
        case GdppcaError():
            return in_options(str(error))
        case OSError():
            named = f" '{error.filename}'" if error.filename else ""
            return f"{error.strerror or 'input/output'}{named}"
    # Some libraries take names of letters only.
    return "The name of a file or an address is not valid UTF-8. Rename it."


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
