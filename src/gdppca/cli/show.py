"""How commands speak: tables, progress, errors."""

from __future__ import annotations

import io
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.table import Column
from typer.core import TyperCommand

from gdppca._errors import DescriptionError, GdppcaError, ParameterError, PrivacyWarning
from gdppca.cli.config import defaults_from, named_file, require_one_source
from gdppca.cli.logs import log, logged, writable
from gdppca.cli.options import EVERYWHERE, OPTION_OF, options_of, spelt_options
from gdppca.cli.outcomes import as_json, outcome_of

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

    def make_context(
        self, info_name: Any, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read options from the command line, the environment and a file, in that order."""
        in_json = "--json" in args
        words = _words_of(info_name, parent)
        with self._speaking(), friendly(in_json=in_json):
            require_one_source(words, _names(self))
            file = named_file(args)
            if file is not None:
                known = {".".join(path): _names(one) for path, one in _commands(parent)}
                extra["default_map"] = defaults_from(file, words, known)
            try:
                return super().make_context(info_name, args, parent, **extra)
            except Exception as error:
                # What typer says of a wrong option; its own class for that has no public name.
                if not in_json or not hasattr(error, "format_message"):
                    raise
                raise ParameterError(error.format_message()) from None

    def invoke(self, ctx: Any) -> Any:
        """Run it, and tell what goes wrong as a person reads it."""
        in_json = bool(ctx.params.get("as_json"))
        before, console.quiet = console.quiet, bool(ctx.params["quiet"])
        try:
            with (
                self._speaking(),
                friendly(in_json=in_json),  # of a log that cannot be written
                logged(ctx.params["log_file"], ctx.command_path),
                friendly(in_json=in_json),
            ):
                return super().invoke(ctx)
        finally:
            console.quiet = before

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Sentences are about this command's options."""
        spelt = {param.name: max(param.opts, key=len) for param in self.params if param.name}
        # An argument has no dashes, and a sentence about it keeps its name.
        before = _options.set({k: option for k, option in spelt.items() if option[:2] == "--"})
        try:
            yield
        finally:
            _options.reset(before)


def _names(one: Any) -> list[str]:
    """Names of a command's options."""
    return [param.name for param in one.params if max(param.opts, key=len)[:2] == "--"]


def _words_of(name: Any, parent: Any) -> list[str]:
    """The words that a command is called by, without the program's name."""
    above = [] if parent is None or parent.parent is None else [parent.info_name]
    return [*above, str(name)]


def _commands(ctx: Any) -> Iterator[tuple[list[str], Any]]:
    """All commands of the program, by their words."""
    root = None if ctx is None else ctx.find_root().command
    for name, one in getattr(root, "commands", {}).items():
        for inner, command in getattr(one, "commands", {}).items():
            yield [name, inner], command
        if not hasattr(one, "commands"):
            yield [name], one


def command(app: typer.Typer, cls: type[Command] = Command) -> Callable[[Run], Run]:
    """Add a command whose options are in the table."""

    def add(run: Run) -> Run:
        @wraps(run)
        def told(**asked: Any) -> None:
            run(**{name: value for name, value in asked.items() if name not in EVERYWHERE})

        words = [*filter(None, [app.info.name]), run.__name__]
        told.__signature__ = options_of(run.__name__, words)  # type: ignore[attr-defined]
        app.command(cls=cls)(told)
        return run

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
def friendly(*, in_json: bool = False) -> Iterator[None]:
    """Errors as one sentence without a traceback, or as one JSON object; warnings likewise."""
    _print_anything()
    with warnings.catch_warnings():
        warnings.simplefilter("always", PrivacyWarning)
        warnings.showwarning = lambda message, *_, **__: errors.print(
            f"[yellow]warning:[/] {escape(in_options(str(message)))}", soft_wrap=True
        )
        try:
            yield
        except (GdppcaError, OSError, UnicodeEncodeError, KeyboardInterrupt) as error:
            _tell(error, in_json=in_json)
            raise typer.Exit(outcome_of(error)) from None


def print_json(**told: Any) -> None:
    """What came of a command as one JSON object, on one line; JSON has no infinity."""
    typer.echo(json.dumps(told, default=str, allow_nan=False))


def tell_files(width: int = 0, **paths: Path | None) -> None:
    """Name the files that were wanted and written, one below the other."""
    for what, path in paths.items():
        if path is not None:
            console.print(f"{what + ':':{width}} {path}", soft_wrap=True, markup=False)


def _tell(error: BaseException, *, in_json: bool) -> None:
    said = _said(error)
    notes = getattr(error, "__notes__", ())  # what was spent before
    log.error("%s", writable(" ".join([f"{type(error).__name__}: {said}", *notes])))
    if in_json:
        typer.echo(as_json(error, said))
        return
    mark = "" if isinstance(error, KeyboardInterrupt) else "[red]error:[/] "
    errors.print(f"{mark}{escape(said)}", soft_wrap=True)
    for note in notes:
        errors.print(escape(note), soft_wrap=True)


def _said(error: BaseException) -> str:
    match error:
        case KeyboardInterrupt():
            return "Interrupted."
        case DescriptionError(file=str()):  # about its keys, which are called as some options are
            return str(error)
        case GdppcaError():
            return in_options(str(error))
        case OSError():
            named = f" '{error.filename}'" if error.filename else ""
            return f"{error.strerror or 'input/output'}{named}"
    # Some libraries take names of letters only.
    return "The name of a file or an address is not valid UTF-8. Rename it."


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
        if console.quiet:
            return
        if time.monotonic() - started > _PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        if bar.live.is_started:  # else it would print an empty line
            bar.stop()
