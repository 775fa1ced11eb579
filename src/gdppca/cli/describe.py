"""What `gdppca describe` does: a template, and what to do with it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError
from gdppca.cli.options import dialect_of, question_of
from gdppca.cli.show import console, print_json, tell_files
from gdppca.tables.describing import describe


def run(
    *,
    data: str,
    output: Path,
    force: bool,
    person: str | None,
    query: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Describe a table, write the template, and say what comes next."""
    question = question_of([data], query)
    _require_free(output, Path(data), force)
    description = describe(question or data, person=person, **dialect_of(written))
    description.save(output)
    if as_json:
        names = [column.name for column in description.columns]
        print_json(file=str(output), columns=names, to_fill_in=list(description.to_fill_in))
        return
    tell_files(Description=output)
    _say(f"Columns: {', '.join(column.name for column in description.columns)}")
    asked = [question.shown, "--query", question.statement] if question else [data]
    file, table = shlex.join(asked), shlex.quote(str(output))
    gaps = len(description.to_fill_in)
    first = f"1. Fill in what is publicly known, without looking at the data: {table}"
    _say(first + (f" (marked TO BE FILLED IN: {gaps})" if gaps else ""))
    _say(f"2. gdppca check {file} --table {table}")
    _say(f"3. gdppca fit {file} --table {table} --epsilon 1 --delta 1e-6")


def _say(line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)


def _require_free(output: Path, data: Path, force: bool) -> None:
    """Refuse to write over the table, or over what somebody wrote down."""
    if output.resolve() == data.resolve():
        raise ParameterError(f"'{output}' is the data file; it would be overwritten.")
    if output.exists() and not output.is_file():
        raise ParameterError(f"'{output}' is no file; give another name.")
    if output.exists() and not force:
        raise ParameterError(
            f"'{output}' exists already, and somebody may have filled it in. Choose another name, "
            "or use --force."
        )
